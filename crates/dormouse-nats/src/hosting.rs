//! Runs the decisions of one host: reads and writes the directory, and lets assistants live.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dormouse_contracts::{AssistantId, BoxError, BoxFuture};
use dormouse_text::error_chain;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::sleep,
};

use crate::{
    api::{ApiError, StreamRequests},
    connect::NatsConnectError,
    frame::WriterId,
    log::Core,
    ownership::{
        Action, Entry, Gone, HostName, Identity, Input, Key, Look, Ownership, Pace, Value, Written,
    },
};

/// How much of the directory is read at once.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 1024 * 1024;
/// The record of a host that is gone stays for so many leases, so that nobody takes it for a new one.
const LEASES_KEPT: u32 = 10;

/// One of the hosts that share assistants.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its name, which no other host has.
    pub name: HostName,
    /// Its share of the assistants, relative to other hosts. With 0 it takes none.
    pub weight: u32,
    /// How many assistants it takes. One that has more hands some over.
    pub capacity: u32,
    /// How long the assistants of a host that does not answer stay its own. Others take them after half as long again. All
    /// hosts of a cluster have the same.
    pub lease: Duration,
}

/// How many assistants a host takes or hands over at once.
const MOVES_AT_ONCE: usize = 16;
/// A shorter lease does not outlast the choice of a leader.
const SHORTEST_LEASE: Duration = Duration::from_secs(3);

impl HostConfig {
    pub(crate) fn check(&self) -> Result<(), HostingError> {
        if self.lease < SHORTEST_LEASE {
            return Err(HostingError::Lease(self.lease));
        }
        Ok(())
    }

    /// The decisions of this host, as the process with this id.
    pub(crate) fn ownership(&self, writer: &WriterId) -> Ownership {
        let (first, _) = writer.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let identity = Identity {
            name: self.name.clone(),
            incarnation: u64::from_le_bytes(*first),
            weight: self.weight,
            capacity: self.capacity,
        };
        let pace = Pace {
            lease: self.lease,
            moves_at_once: MOVES_AT_ONCE,
        };
        Ownership::new(identity, pace)
    }
}

/// A host could not join the others, or had to leave them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostingError {
    /// The lease is too short.
    #[error("the lease is {0:?}; expected at least 3 s, which outlasts the choice of a leader")]
    Lease(Duration),
    /// The stream of hosts and leases cannot be used.
    #[error(transparent)]
    Directory(#[from] NatsConnectError),
    /// Another process has the name.
    #[error(
        "another process is the host {0}: give each host a name of its own, or end that process"
    )]
    NameInUse(HostName),
}

/// What a host does with the assistants that it should have.
pub trait HostAssistants: Send + Sync {
    /// All assistants that there are. It is asked about ten times in each lease.
    fn enrolled(&self) -> BoxFuture<'_, Result<BTreeSet<AssistantId>, BoxError>>;

    /// Lets an assistant live here that was just claimed. Calls [`Stay::began`] once it does, and ends when nothing of it runs any
    /// more: soon after [`Stay::until_let_go`] has ended, or by itself if the log refuses it.
    fn live(&self, assistant: AssistantId, stay: Stay) -> BoxFuture<'_, ()>;
}

/// The time that an assistant lives here.
#[derive(Debug)]
pub struct Stay {
    assistant: AssistantId,
    began: mpsc::UnboundedSender<AssistantId>,
    let_go: oneshot::Receiver<()>,
}

impl Stay {
    /// Says that the assistant is here.
    pub fn began(&self) {
        // Nobody listens if the host has just ended.
        drop(self.began.send(self.assistant.clone()));
    }

    /// Ends when the assistant has to go, for example because another host should have it.
    pub async fn until_let_go(&mut self) {
        // A host that has ended has let everything go.
        drop((&mut self.let_go).await);
    }
}

/// The directory of hosts and leases, as one host reads it.
#[derive(Clone, Debug)]
pub(crate) struct Directory<S> {
    pub(crate) api: S,
    /// How long the servers keep the record of a host.
    lifetime: Duration,
}

impl<S: StreamRequests> Directory<S> {
    pub(crate) fn new(api: S, lease: Duration) -> Self {
        let lifetime = lease * LEASES_KEPT;
        Self { api, lifetime }
    }

    /// Everything after the message `seen`, and the last message.
    async fn look(&self, mut seen: u64) -> Result<(u64, Vec<Entry>), ApiError> {
        let all = format!("{}.>", self.api.stream());
        let mut entries = Vec::new();
        loop {
            let from = seen.saturating_add(1);
            let messages = self.api.batch(&all, from, BATCH, BATCH_BYTES).await?;
            if messages.is_empty() {
                return Ok((seen, entries));
            }
            for message in messages {
                seen = seen.max(message.seq);
                entries.extend(self.decode(message.seq, &message.subject, &message.payload));
            }
        }
    }

    fn decode(&self, revision: u64, subject: &str, payload: &[u8]) -> Option<Entry> {
        Entry::decode(self.api.stream(), subject, revision, payload)
    }

    async fn write(&self, key: &Key, value: &Value, expected: u64) -> Written {
        let subject = key.subject(self.api.stream());
        let lifetime = match value {
            Value::Host(_) => Some(self.lifetime),
            Value::Life(_) => None,
        };
        let Ok(payload) = value.encode() else {
            return Written::Unknown;
        };
        let put = self.api.put(&subject, payload.into(), expected, lifetime);
        match put.await {
            Ok(revision) => Written::Stored { revision },
            Err(error) if error.is_wrong_sequence() => match self.api.last(&subject).await {
                Ok(found) => Written::Refused(
                    found.and_then(|it| self.decode(it.seq, &it.subject, &it.payload)),
                ),
                Err(_) => Written::Unknown,
            },
            Err(_) => Written::Unknown,
        }
    }
}

/// What an operation of the host has found.
enum Done {
    Looked(Look, Result<(u64, Vec<Entry>), ApiError>),
    Enrolled(Result<BTreeSet<AssistantId>, BoxError>),
    Happened(Input),
}

/// One host of the cluster.
pub(crate) struct Hosting<'a, S> {
    pub(crate) core: &'a Core<S>,
    pub(crate) directory: &'a Directory<S>,
    pub(crate) assistants: &'a dyn HostAssistants,
}

impl<'a, S: StreamRequests> Hosting<'a, S> {
    /// Runs the host until it has left or lost its name. Dropping this future is like a crash. `clock` only has to run forward.
    pub(crate) async fn run(
        &self,
        mut machine: Ownership,
        clock: impl Fn() -> Duration,
        leave: impl Future<Output = ()>,
    ) -> Gone {
        let mut leave = std::pin::pin!(leave);
        let (began, mut begins) = mpsc::unbounded_channel();
        let mut stays: BTreeMap<AssistantId, oneshot::Sender<()>> = BTreeMap::new();
        let mut work: FuturesUnordered<BoxFuture<'a, Done>> = FuturesUnordered::new();
        let (mut seen, mut is_leaving, mut is_listing) = (0, false, false);
        let mut input = Input::Time;
        loop {
            for action in machine.step(clock(), input) {
                match action {
                    Action::Gone(why) => return why,
                    Action::Look(what) => {
                        let (directory, assistants) = (self.directory, self.assistants);
                        let after = if what == Look::All { 0 } else { seen };
                        work.push(Box::pin(async move {
                            Done::Looked(what, directory.look(after).await)
                        }));
                        if !is_listing {
                            is_listing = true;
                            work.push(Box::pin(async move {
                                Done::Enrolled(assistants.enrolled().await)
                            }));
                        }
                    }
                    Action::Write {
                        key,
                        value,
                        expected,
                    } => {
                        let directory = self.directory;
                        work.push(Box::pin(async move {
                            let written = directory.write(&key, &value, expected).await;
                            Done::Happened(Input::Written(key, written))
                        }));
                    }
                    Action::Begin(assistant) => {
                        let (let_go, asked) = oneshot::channel();
                        stays.insert(assistant.clone(), let_go);
                        let stay = Stay {
                            assistant: assistant.clone(),
                            began: began.clone(),
                            let_go: asked,
                        };
                        work.push(Box::pin(self.live(assistant, stay)));
                    }
                    Action::LetGo(assistant) => drop(stays.remove(&assistant)),
                }
            }
            let wait = machine.due().map(|due| due.saturating_sub(clock()));
            input = select! {
                biased;
                () = &mut leave, if !is_leaving => {
                    is_leaving = true;
                    Input::Leave
                }
                Some(assistant) = begins.recv() => Input::Began(assistant),
                Some(done) = work.next() => match done {
                    Done::Enrolled(listed) => {
                        is_listing = false;
                        match listed {
                            Ok(all) => Input::Enrolled(all),
                            // Those that were there still are.
                            Err(error) => {
                                tracing::debug!(error = %error_chain(&*error), "the assistants cannot be listed");
                                Input::Time
                            }
                        }
                    }
                    Done::Looked(what, Ok((last, entries))) => {
                        // After this, only what the same server did not have is new.
                        seen = last;
                        Input::Looked { what, entries, last }
                    }
                    Done::Looked(what, Err(error)) => {
                        tracing::debug!(error = %error_chain(&error), "the directory of hosts cannot be read");
                        Input::LookFailed(what)
                    }
                    Done::Happened(input) => input,
                },
                () = sleep(wait.unwrap_or(Duration::ZERO)), if wait.is_some() => Input::Time,
            };
        }
    }

    /// Claims an assistant and lets it live here.
    async fn live_here(&self, assistant: &AssistantId, stay: Stay) {
        match self.core.claim(assistant).await {
            Ok((epoch, last)) => {
                tracing::info!(%assistant, epoch, %last, "the assistant lives here now");
                self.assistants.live(assistant.clone(), stay).await;
            }
            Err(error) => {
                tracing::warn!(%assistant, error = %error_chain(&error), "the assistant cannot be claimed");
            }
        }
    }

    fn live(&self, assistant: AssistantId, stay: Stay) -> impl Future<Output = Done> + Send + 'a {
        let this = Hosting {
            core: self.core,
            directory: self.directory,
            assistants: self.assistants,
        };
        async move {
            this.live_here(&assistant, stay).await;
            Done::Happened(Input::Ended(assistant))
        }
    }
}
