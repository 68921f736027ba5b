//! The one writer of standard output.
//!
//! It is a thread of its own, so that a slow reader delays only the tasks that print. Signals and new messages are
//! still handled.

use std::{
    io::{self, ErrorKind, Write},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::{
    item::Item,
    json,
    plain::{self, Style},
};

/// How many items may wait to be printed.
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
    /// Prints text that ends with a line feed, and flushes it.
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

/// What the writer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// It waits for something to print.
    Idle,
    /// It prints; the number distinguishes this item from the next.
    Printing(u64),
    /// It cannot print any more.
    Failed,
    /// Nobody waits for it any more.
    GivenUp,
}

impl Condition {
    fn is_over(&self) -> bool {
        matches!(self, Self::Failed | Self::GivenUp)
    }
}

/// An item that waits to be printed, and the number to report once it is printed.
#[derive(Debug)]
struct Queued {
    item: Item,
    note: Option<(watch::Sender<u64>, u64)>,
}

impl From<Item> for Queued {
    fn from(item: Item) -> Self {
        Self { item, note: None }
    }
}

/// Room for one more item to be printed.
#[derive(Debug)]
pub(crate) struct Place<'a>(mpsc::Permit<'a, Queued>);

impl Place<'_> {
    /// Prints an item, and sends `number` to `printed` once it is printed. If that fails, or if the reader is given up
    /// before, nothing is sent.
    pub(crate) fn send_noting(self, item: Item, printed: &watch::Sender<u64>, number: u64) {
        let note = Some((printed.clone(), number));
        self.0.send(Queued { item, note });
    }
}

/// A handle to print with. Cloning it is cheap.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    queue: mpsc::Sender<Queued>,
    condition: watch::Receiver<Condition>,
}

/// The writer's thread. It ends when every [`Screen`] is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    ended: oneshot::Receiver<Option<io::Error>>,
    condition: watch::Sender<Condition>,
}

/// The reader of the output, as far as the writer notices it.
#[derive(Debug)]
pub(crate) struct Reader(watch::Sender<Condition>);

impl Screen {
    /// Starts the writer.
    pub(crate) fn open(
        surface: Arc<Mutex<dyn Surface>>,
        format: Format,
    ) -> io::Result<(Self, Writer)> {
        let (queue, items) = mpsc::channel(QUEUE);
        let (condition, seen) = watch::channel(Condition::Idle);
        let (end, ended) = oneshot::channel();
        let own = condition.clone();
        thread::Builder::new()
            .name("screen".to_owned())
            // If the writer was given up, nobody waits for its result.
            .spawn(move || drop(end.send(write_all(items, &surface, format, &own))))?;
        let screen = Self {
            queue,
            condition: seen,
        };
        Ok((screen, Writer { ended, condition }))
    }

    /// Prints an item, after the items before it. Waits while the queue is full. Once the reader is gone, this does
    /// nothing.
    pub(crate) async fn show(&self, item: Item) {
        if let Some(Place(place)) = self.place().await {
            place.send(item.into());
        }
    }

    /// Prints an item if the queue has room for it at once.
    pub(crate) fn try_show(&self, item: Item) {
        drop(self.queue.try_send(item.into()));
    }

    /// Reserves room for one more item, so that the caller need not await between printing an item and recording that.
    /// Returns `None` once the reader is gone.
    pub(crate) async fn place(&self) -> Option<Place<'_>> {
        select! {
            biased;
            () = self.over() => None,
            place = self.queue.reserve() => place.ok().map(Place),
        }
    }

    /// Waits until nothing more will be printed, because printing fails or the reader was given up.
    pub(crate) async fn over(&self) {
        self.reached(Condition::is_over).await;
    }

    /// Waits until printing fails; [`Writer::finish`] says whether that is an error.
    pub(crate) async fn failed(&self) {
        self.reached(|now| *now == Condition::Failed).await;
    }

    async fn reached(&self, condition: impl FnMut(&Condition) -> bool) {
        if self.condition.clone().wait_for(condition).await.is_err() {
            // The writer ended normally, because every [`Screen`] was dropped.
            std::future::pending().await
        }
    }
}

impl Writer {
    /// The reader of the output.
    pub(crate) fn reader(&self) -> Reader {
        Reader(self.condition.clone())
    }

    /// Waits until everything is printed and every [`Screen`] is dropped, or until the reader is given up.
    pub(crate) async fn finish(self) -> io::Result<()> {
        let mut condition = self.condition.subscribe();
        let given_up = condition.wait_for(|now| *now == Condition::GivenUp);
        let ended = select! {
            biased;
            ended = self.ended => ended,
            _ = given_up => Ok(None),
        };
        match ended {
            Ok(None) => Ok(()),
            Ok(Some(error)) => Err(error),
            Err(_panic) => Err(io::Error::other("the thread that prints has panicked")),
        }
    }
}

impl Reader {
    /// Whether it was given up.
    pub(crate) fn is_given_up(&self) -> bool {
        *self.0.borrow() == Condition::GivenUp
    }

    /// Waits until printing one item has taken longer than `patience`, and gives the reader up: from then on printing
    /// does nothing, and nobody waits for it.
    pub(crate) async fn give_up_once_stalled(&self, patience: Duration) {
        let mut condition = self.0.subscribe();
        loop {
            let now = *condition.borrow_and_update();
            if !matches!(now, Condition::Printing(_)) {
                // `self` holds the sender, so only a change ends the wait.
                drop(condition.changed().await);
            } else if timeout(patience, condition.changed()).await.is_err() {
                break;
            }
        }
        self.0.send_replace(Condition::GivenUp);
    }
}

fn write_all(
    mut items: mpsc::Receiver<Queued>,
    surface: &Mutex<dyn Surface>,
    format: Format,
    condition: &watch::Sender<Condition>,
) -> Option<io::Error> {
    let mut printed = 0;
    while let Some(Queued { item, note: noted }) = items.blocking_recv() {
        let text = match format {
            Format::Json => match json::line(&item) {
                Ok(text) => Some(text),
                Err(error) => return fail(condition, error.into()),
            },
            Format::Text(style) => plain::render(&item, style),
        };
        if let Some(text) = text {
            note(condition, Condition::Printing(printed));
            let put = surface
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .put(text);
            if let Err(error) = put {
                return fail(condition, error);
            }
            note(condition, Condition::Idle);
            printed += 1;
        }
        if let Some((to, number)) = noted {
            to.send_replace(number);
        }
    }
    None
}

/// Publishes what the writer is doing, unless the reader was given up.
fn note(condition: &watch::Sender<Condition>, now: Condition) {
    condition.send_if_modified(|condition| {
        let is_awaited = *condition != Condition::GivenUp;
        if is_awaited {
            *condition = now;
        }
        is_awaited
    });
}

/// Publishes that printing fails. A reader that has gone is not an error.
fn fail(condition: &watch::Sender<Condition>, error: io::Error) -> Option<io::Error> {
    note(condition, Condition::Failed);
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
        let expected: String = (0..1_000).map(|number| format!("◊ {number}\n")).collect();
        assert_eq!(*text.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn a_closed_output_is_reported_but_not_an_error() {
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

    /// A surface that blocks until it is released.
    struct Stalled(std::sync::mpsc::Receiver<()>);

    impl Surface for Stalled {
        fn put(&mut self, _: String) -> io::Result<()> {
            self.0.recv().ok();
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_reader_is_given_up_and_does_not_block_the_program() {
        let (release, released) = std::sync::mpsc::channel();
        let surface = Arc::new(Mutex::new(Stalled(released)));
        let (screen, writer) = Screen::open(surface, Format::Json).unwrap();
        let reader = writer.reader();
        let printing = async {
            for number in 0..2 * QUEUE {
                screen.show(notice(&number.to_string())).await;
            }
        };
        tokio::join!(
            printing,
            reader.give_up_once_stalled(Duration::from_millis(300))
        );
        assert!(screen.place().await.is_none());
        drop(screen);
        assert!(writer.finish().await.is_ok());
        drop(release);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_has_nothing_to_read_is_not_given_up() {
        let (_, surface) = page(None);
        let (screen, writer) = Screen::open(surface, Format::Json).unwrap();
        let reader = writer.reader();
        let given_up = reader.give_up_once_stalled(Duration::from_millis(300));
        assert!(timeout(Duration::from_secs(60), given_up).await.is_err());
        assert!(screen.place().await.is_some());
    }
}
