//! The handle through which callers use a log.

use std::{
    fmt, io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use dormouse_contracts::{
    AppendError, AppendErrorKind, AssistantId, ReadError, ReadErrorKind, Seq,
};
use dormouse_database::DatabaseHandle;
use tokio::sync::{mpsc, oneshot};

use crate::{
    committer::{LogWriter, Reply, Request},
    events,
    fault::{Fault, contained},
    open::{self, Absence, LogOpenError, OpenedLog},
    recent::RecentEvents,
    signature::Creation,
    stats::{Counters, WriteStats},
    verify::{self, VerifyReport},
    wal::WalWriter,
};

mod ports;

/// How many requests the queue holds. When it is full, callers wait to submit theirs.
const QUEUE: usize = 1024;
/// The number of reading threads. With two, a read does not wait behind one slow page.
const READERS: usize = 2;

type ReadJob = Box<dyn FnOnce(&DatabaseHandle) + Send>;

/// An append-only event log of many assistants in one file.
///
/// Implements the traits [`Append`](dormouse_contracts::Append), [`ReadEvents`](dormouse_contracts::ReadEvents),
/// [`SaveSnapshot`](dormouse_contracts::SaveSnapshot) and [`LoadSnapshot`](dormouse_contracts::LoadSnapshot). A clone
/// is cheap, and is another handle to the same log. One thread writes and two threads read, so no disk access happens
/// on the caller's executor, and any executor works. Dropping the last clone writes the waiting events, ends the
/// threads and closes the file; the drop waits until that is done.
///
/// # Examples
///
/// ```
/// use dormouse_contracts::{Append, AppendRequest, AssistantId, NewEvent, ReadEvents, Seq, Timestamp};
/// use dormouse_store::RedbLog;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let log = RedbLog::open(&folder.path().join("life.redb"))?;
/// let alice = AssistantId::try_new("alice")?;
/// let end = log
///     .append(AppendRequest {
///         assistant: alice.clone(),
///         expected: Seq::ZERO,
///         events: vec![NewEvent { at: Timestamp::EPOCH, kind: "woke", schema: 1, payload: b"{}".to_vec() }],
///     })
///     .await?;
/// assert_eq!(end, Seq(1));
/// assert_eq!(log.read(&alice, Seq::ZERO, 10).await?.len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RedbLog {
    core: Arc<Core>,
}

struct Core {
    database: Arc<DatabaseHandle>,
    counters: Arc<Counters>,
    recent: Arc<RecentEvents>,
    creation: Creation,
    writes: mpsc::Sender<Request>,
    reads: mpsc::Sender<ReadJob>,
    closing: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl RedbLog {
    /// Opens the log in the file `path`. If the file does not exist, creates an empty log.
    ///
    /// Blocks: files below 64 MiB that were not closed, and those below 4 MiB, are checked in full, which takes about a
    /// millisecond per MiB. A damaged file of any
    /// size is read in full, to find what can be saved. A new file is created under another name in the same folder; it
    /// appears at `path` only when it is complete and on disk.
    ///
    /// # Errors
    ///
    /// [`LogOpenError`]. After an error, no file was created, replaced or reset.
    pub fn open(path: &Path) -> Result<Self, LogOpenError> {
        Self::start(path, open::open(path, Absence::Create)?)
    }

    /// Opens the log in the file `path`, which must exist. Blocks as [`RedbLog::open`] does.
    ///
    /// # Errors
    ///
    /// [`LogOpenError`]; [`LogOpenError::Absent`] if there is no such file.
    pub fn open_existing(path: &Path) -> Result<Self, LogOpenError> {
        Self::start(path, open::open(path, Absence::Refuse)?)
    }

    fn start(path: &Path, opened: OpenedLog) -> Result<Self, LogOpenError> {
        Self::over(opened).map_err(|source| LogOpenError::Io {
            path: path.into(),
            source,
        })
    }

    /// Starts the threads of a log whose database is open.
    pub(crate) fn over(opened: OpenedLog) -> io::Result<Self> {
        let counters = Arc::new(Counters::new(opened.database.meter()));
        let database = Arc::new(opened.database);
        let recent = Arc::new(RecentEvents::default());
        let closing = Arc::new(AtomicBool::new(false));
        let (writes, requests) = mpsc::channel(QUEUE);
        let (reads, jobs) = mpsc::channel(QUEUE);
        let log = Self {
            core: Arc::new(Core {
                database: Arc::clone(&database),
                counters: Arc::clone(&counters),
                recent: Arc::clone(&recent),
                creation: opened.creation,
                writes,
                reads,
                closing: Arc::clone(&closing),
                threads: Mutex::new(Vec::new()),
            }),
        };
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..READERS {
            let (database, jobs, closing) = (
                Arc::clone(&database),
                Arc::clone(&jobs),
                Arc::clone(&closing),
            );
            log.core.spawn("log-reader", move || {
                serve_reads(&database, &jobs, &closing);
            })?;
        }
        log.core.spawn("log-writer", move || {
            let ahead = WalWriter::new(opened.ahead, Arc::clone(&counters));
            let mut writer = LogWriter {
                database,
                counters,
                recent,
                ahead,
            };
            writer.run(requests, &closing);
        })?;
        Ok(log)
    }

    /// All assistants with events, by name, with the sequence number of their last event.
    ///
    /// Blocks while it scans a table; call it where blocking is allowed.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the table is damaged, the storage failed or the log is closed.
    pub fn assistants(&self) -> Result<Vec<(AssistantId, Seq)>, ReadError> {
        contained(|| events::assistants(&self.core.database.begin_read()?))
            .map_err(Fault::into_read_error)
    }

    /// The last event of one assistant; [`Seq::ZERO`] if the log does not know it. Reads one row.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the row is damaged, the storage failed or the log is closed.
    pub fn end_of(&self, assistant: &AssistantId) -> Result<Seq, ReadError> {
        contained(|| events::end(&self.core.database.begin_read()?, assistant, Seq::ZERO))
            .map_err(Fault::into_read_error)
    }

    /// Copies the whole log of an assistant from another log into this one, which must not know the assistant yet: all events or
    /// none, however many they are. Returns the sequence number of the last one as soon as they would survive a power failure;
    /// [`Seq::ZERO`] if the other log does not know the assistant either. Other appends to this log wait meanwhile. Dropping the
    /// future does not cancel the copy.
    ///
    /// # Errors
    ///
    /// [`AppendError`]; nothing was written. [`AppendErrorKind::Conflict`] if this log knows the assistant.
    pub async fn adopt(&self, from: &Self, assistant: &AssistantId) -> Result<Seq, AppendError> {
        let database = Arc::clone(&from.core.database);
        let assistant = assistant.clone();
        self.request(|reply| Request::Adopt(assistant, database, reply))
            .await
    }

    /// What has been written since the log was opened.
    #[must_use]
    pub fn stats(&self) -> WriteStats {
        self.core.counters.stats()
    }

    /// When the file was created, and by which program.
    #[must_use]
    pub fn creation(&self) -> &Creation {
        &self.core.creation
    }

    /// Reads every event and snapshot, and compares each with its checksum and its position.
    ///
    /// Blocks for as long as reading the whole file takes. Appends go on meanwhile and are not included.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the storage failed or the log is closed. Damage is not an error here: the report describes it.
    pub fn verify(&self) -> Result<VerifyReport, ReadError> {
        verify::verify(&self.core.database).map_err(Fault::into_read_error)
    }

    /// Writes the waiting events, ends the threads and closes the file, for all clones. Blocks until that is done.
    /// Afterwards every call fails because the log is closed. Dropping the last clone does the same.
    pub fn close(self) {
        self.core.stop();
    }

    pub(crate) fn database(&self) -> &DatabaseHandle {
        &self.core.database
    }

    async fn request(&self, make: impl FnOnce(Reply) -> Request) -> Result<Seq, AppendError> {
        let (reply, answer) = oneshot::channel();
        let closed = || AppendError::new(AppendErrorKind::Closed, None);
        match self.core.writes.send(make(reply)).await {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(closed())),
            Err(_) => Err(closed()),
        }
    }

    async fn run_read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DatabaseHandle) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ReadError> {
        let (reply, answer) = oneshot::channel();
        let job: ReadJob = Box::new(move |database| {
            // The caller may have dropped its future.
            drop(reply.send(work(database)));
        });
        let closed = || ReadError::new(ReadErrorKind::Closed, None);
        self.core.reads.send(job).await.map_err(|_gone| closed())?;
        let result = answer.await.map_err(|_gone| closed())?;
        if result.as_ref().is_err_and(Fault::needs_reopening) {
            // If the queue is full, the writer is awake and notices the fault without this request.
            drop(self.core.writes.try_send(Request::Recover));
        }
        result.map_err(Fault::into_read_error)
    }
}

impl Core {
    fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
        self.threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(thread);
        Ok(())
    }

    fn stop(&self) {
        self.closing.store(true, Ordering::Release);
        // If a queue is full, its thread is awake and checks the flag after its current request.
        drop(self.writes.try_send(Request::Wake));
        drop(self.reads.try_send(Box::new(|_| {})));
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the log panicked");
            }
        }
        // A closed log answers no read.
        self.recent.forget();
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for RedbLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbLog")
            .field("database", &self.core.database)
            .finish_non_exhaustive()
    }
}

fn serve_reads(
    database: &DatabaseHandle,
    jobs: &Mutex<mpsc::Receiver<ReadJob>>,
    closing: &AtomicBool,
) {
    loop {
        let job = {
            let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
            if closing.load(Ordering::Acquire) {
                jobs.close();
            }
            jobs.blocking_recv()
        };
        match job {
            Some(job) => job(database),
            None => return,
        }
    }
}
