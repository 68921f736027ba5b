//! The one writer of standard output.
//!
//! A thread of its own, so that a reader who does not keep up holds back whoever prints, and nobody else: signals
//! and the assistant's acceptance of messages go on.

use std::{
    io::{self, ErrorKind, Write},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use tokio::sync::{mpsc, watch};

use crate::{
    item::Item,
    json,
    plain::{self, Style},
};

/// How many things may wait to be printed.
const QUEUE: usize = 256;

/// How things are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One JSON object per line.
    Json,
    /// Text for people.
    Text(Style),
}

/// Where text goes.
pub(crate) trait Surface: Send {
    /// Prints text that ends with a line feed, and sees to it that it is seen at once.
    fn put(&mut self, text: String) -> io::Result<()>;
}

/// Standard output itself.
#[derive(Debug)]
pub(crate) struct Stdout;

impl Surface for Stdout {
    fn put(&mut self, text: String) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// How the writer fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// It prints.
    Open,
    /// It cannot print any more.
    Failed,
}

/// A handle to print with. Cloning it is cheap.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    queue: mpsc::Sender<Item>,
    condition: watch::Receiver<Condition>,
}

/// The writer's thread. It ends when every [`Screen`] is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    thread: JoinHandle<Option<io::Error>>,
    done: watch::Receiver<Condition>,
}

impl Screen {
    /// Starts the writer.
    pub(crate) fn open(
        surface: Arc<Mutex<dyn Surface>>,
        format: Format,
    ) -> io::Result<(Self, Writer)> {
        let (queue, items) = mpsc::channel(QUEUE);
        let (condition, seen) = watch::channel(Condition::Open);
        let done = seen.clone();
        let thread = thread::Builder::new()
            .name("screen".to_owned())
            .spawn(move || write_all(items, &surface, format, &condition))?;
        let screen = Self {
            queue,
            condition: seen,
        };
        Ok((screen, Writer { thread, done }))
    }

    /// Prints a thing, after those before it. Waits while too many are waiting. Once the reader is gone, this does
    /// nothing.
    pub(crate) async fn show(&self, item: Item) {
        drop(self.queue.send(item).await);
    }

    /// Prints a thing if there is room for it at once.
    pub(crate) fn try_show(&self, item: Item) {
        drop(self.queue.try_send(item));
    }

    /// A place for one more thing, so that nothing has to be awaited between printing it and noting that.
    pub(crate) async fn place(&self) -> Option<mpsc::Permit<'_, Item>> {
        self.queue.reserve().await.ok()
    }

    /// Waits until printing has become impossible; [`Writer::finish`] says whether that is an error.
    pub(crate) async fn failed(&self) {
        let mut condition = self.condition.clone();
        if condition
            .wait_for(|now| *now == Condition::Failed)
            .await
            .is_err()
        {
            // The writer ended well, which it does when nobody prints any more.
            std::future::pending().await
        }
    }
}

impl Writer {
    /// Waits until everything is printed, every [`Screen`] having been dropped.
    pub(crate) async fn finish(mut self) -> io::Result<()> {
        // Closed when the thread is at its end; the value does not matter.
        while self.done.changed().await.is_ok() {}
        match self.thread.join() {
            Ok(None) => Ok(()),
            Ok(Some(error)) => Err(error),
            Err(_panic) => Err(io::Error::other("the thread that prints has panicked")),
        }
    }
}

fn write_all(
    mut items: mpsc::Receiver<Item>,
    surface: &Mutex<dyn Surface>,
    format: Format,
    condition: &watch::Sender<Condition>,
) -> Option<io::Error> {
    while let Some(item) = items.blocking_recv() {
        let text = match format {
            Format::Json => match json::line(&item) {
                Ok(text) => Some(text),
                Err(error) => return fail(condition, error.into()),
            },
            Format::Text(style) => plain::render(&item, style),
        };
        if let Some(text) = text {
            let put = surface
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .put(text);
            if let Err(error) = put {
                return fail(condition, error);
            }
        }
    }
    None
}

/// Says that printing has become impossible. A reader who has gone is no error.
fn fail(condition: &watch::Sender<Condition>, error: io::Error) -> Option<io::Error> {
    condition.send_replace(Condition::Failed);
    (error.kind() != ErrorKind::BrokenPipe).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Page(Arc<Mutex<String>>, Option<ErrorKind>);

    impl Surface for Page {
        fn put(&mut self, text: String) -> io::Result<()> {
            self.0.lock().unwrap().push_str(&text);
            self.1.map_or(Ok(()), |kind| Err(kind.into()))
        }
    }

    fn page(failing: Option<ErrorKind>) -> (Arc<Mutex<String>>, Arc<Mutex<dyn Surface>>) {
        let text = Arc::new(Mutex::new(String::new()));
        (Arc::clone(&text), Arc::new(Mutex::new(Page(text, failing))))
    }

    fn notice(text: &str) -> Item {
        Item::Notice {
            text: text.to_owned(),
        }
    }

    #[tokio::test]
    async fn everything_is_printed_in_order_before_the_writer_ends() {
        let (text, surface) = page(None);
        let (screen, writer) = Screen::open(surface, Format::Text(Style::Plain)).unwrap();
        for number in 0..1_000 {
            screen.show(notice(&number.to_string())).await;
        }
        drop(screen);
        writer.finish().await.unwrap();
        let expected: String = (0..1_000).map(|number| format!("{number}\n")).collect();
        assert_eq!(*text.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn a_reader_who_has_gone_is_no_error_and_is_told() {
        let (_, surface) = page(Some(ErrorKind::BrokenPipe));
        let (screen, writer) = Screen::open(surface, Format::Json).unwrap();
        screen.show(notice("one")).await;
        screen.failed().await;
        screen.show(notice("two")).await;
        drop(screen);
        assert!(writer.finish().await.is_ok());
    }

    #[tokio::test]
    async fn a_full_disk_is_an_error() {
        let (_, surface) = page(Some(ErrorKind::StorageFull));
        let (screen, writer) = Screen::open(surface, Format::Json).unwrap();
        screen.show(notice("one")).await;
        screen.failed().await;
        drop(screen);
        assert!(writer.finish().await.is_err());
    }
}
