//! The handle through which callers use a log.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex as Lock, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, BoxFuture, LoadSnapshot,
    ReadError, ReadEvents, SaveSnapshot, Seq, Snapshot, StoredEvent,
};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    sync::{Mutex, oneshot},
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    api::{ApiError, StreamApi, StreamRequests},
    chain::{ChainBreak, Link},
    config::NatsConfig,
    connect::{self, NatsConnectError},
    fault::Fault,
    frame::WriterId,
    hosting::{Directory, HostAssistants, HostConfig, Hosting, HostingError},
    life::Life,
    outcome::pause,
    ownership::Gone,
    snapshots,
};

/// An append-only event log of many assistants in one stream of a JetStream cluster, with a subject for each.
///
/// Implements the traits [`Append`], [`ReadEvents`], [`SaveSnapshot`] and [`LoadSnapshot`]. A clone is cheap, and is another
/// handle to the same log. It needs a tokio runtime with timers and I/O.
///
/// One connection owns an assistant from its first append on, or from [`NatsLog::claim`], until another one writes. Then every
/// append fails, with [`NatsFault::Fenced`](crate::NatsFault::Fenced) as the source of the error.
#[derive(Clone)]
pub struct NatsLog {
    core: Arc<Core<StreamApi>>,
    config: Arc<NatsConfig>,
}

/// What the handles of a log share. The requests are a parameter, so that the simulation runs the same code.
pub(crate) struct Core<S> {
    pub(crate) api: S,
    pub(crate) snapshots: S,
    pub(crate) writer: WriterId,
    pub(crate) patience: Duration,
    lives: Lock<HashMap<AssistantId, Arc<Mutex<Life>>>>,
    appends: Lock<JoinSet<()>>,
}

/// What is in one assistant's log, after all of it was read and verified. Returned by [`NatsLog::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LifeReport {
    /// The last event that is intact and follows from all before it.
    pub last: Seq,
    /// How many messages they are in, one for each append.
    pub messages: u64,
    /// How many owners wrote them, one after another.
    pub owners: u64,
    /// What is wrong with the events after those.
    pub broken: Option<ChainBreak>,
}

impl NatsLog {
    /// Connects to a cluster, and makes the streams if they do not exist.
    ///
    /// # Errors
    ///
    /// [`NatsConnectError`]: no server answers, or the servers or the streams could lose events.
    pub async fn connect(config: &NatsConfig) -> Result<Self, NatsConnectError> {
        let client = Box::pin(connect::open(config)).await?;
        let mut writer = WriterId::default();
        getrandom::fill(&mut writer).map_err(|error| NatsConnectError::JetStream {
            stream: config.stream.clone(),
            reason: error.to_string(),
        })?;
        let api = |stream: String| StreamApi {
            client: client.clone(),
            stream,
        };
        let streams = (
            api(config.stream.clone()),
            api(snapshots::stream_of(&config.stream)),
        );
        let core = Core::new(streams, writer, config.patience);
        Ok(Self {
            core: Arc::new(core),
            config: Arc::new(config.clone()),
        })
    }

    /// Takes an assistant over: the next append begins a new epoch, after which every append of the owner before fails. Returns
    /// that epoch, and the event after which it begins.
    ///
    /// Until that append, the owner before may still write; then the append conflicts, and the assistant has to be claimed again.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the log is broken or the cluster does not answer.
    pub async fn claim(&self, assistant: &AssistantId) -> Result<(u64, Seq), ReadError> {
        self.core.claim(assistant).await
    }

    /// Joins the hosts that share the assistants of this log, and lets those live here that this host should have, until `leave`
    /// ends and everything is handed over. Makes the stream of hosts and leases if it does not exist.
    ///
    /// Dropping the future is like a crash: other hosts take the assistants after one and a half leases.
    ///
    /// # Errors
    ///
    /// [`HostingError`]. Nothing lives here any more.
    pub async fn host(
        &self,
        host: &HostConfig,
        assistants: &dyn HostAssistants,
        leave: impl Future<Output = ()>,
    ) -> Result<(), HostingError> {
        host.check()?;
        let client = &self.core.api.client;
        let api = Box::pin(connect::open_hosts(&self.config, client)).await?;
        let directory = Directory::new(api, host.lease);
        let machine = host.ownership(&self.core.writer);
        let hosting = Hosting {
            core: &self.core,
            directory: &directory,
            assistants,
        };
        let started = Instant::now();
        let run = hosting.run(machine, || started.elapsed(), leave);
        match Box::pin(run).await {
            Gone::Left => Ok(()),
            Gone::NameInUse => Err(HostingError::NameInUse(host.name.clone())),
        }
    }

    /// Reads a whole log, and verifies that each message follows from the one before.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the cluster does not answer. A broken log is not an error here: the report describes it.
    pub async fn verify(&self, assistant: &AssistantId) -> Result<LifeReport, ReadError> {
        let subject = self.core.subject(assistant);
        let last = self.core.patiently(|| self.core.api.last(&subject)).await;
        let last = last.map_err(|error| Fault::from(error).into_read_error())?;
        let Some(last) = last else {
            return Ok(LifeReport::default());
        };
        let mut report = LifeReport::default();
        let walked = self
            .core
            .walk(assistant, Link::default(), last.seq, |before, link, _| {
                report.last = link.last;
                report.messages += 1;
                report.owners += u64::from(before.writer != link.writer);
                true
            })
            .await;
        match walked {
            Ok(()) => Ok(report),
            Err(Fault::Broken(broken)) => {
                report.broken = Some(broken);
                Ok(report)
            }
            Err(error @ Fault::Api(_)) => Err(error.into_read_error()),
        }
    }

    /// All assistants with events, by name.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the cluster does not answer.
    pub async fn assistants(&self) -> Result<Vec<AssistantId>, ReadError> {
        let found = self.core.assistants().await;
        found.map_err(|error| Fault::from(error).into_read_error())
    }

    /// The largest append that the servers accept, in bytes. It is their `max_payload`, without room for headers.
    #[must_use]
    pub fn max_append_bytes(&self) -> usize {
        self.core.max_message_bytes()
    }
}

impl<S: StreamRequests> Core<S> {
    /// A log in the first of these streams, with its snapshots in the second.
    pub(crate) fn new((api, snapshots): (S, S), writer: WriterId, patience: Duration) -> Self {
        Self {
            api,
            snapshots,
            writer,
            patience,
            lives: Lock::default(),
            appends: Lock::default(),
        }
    }

    /// Takes an assistant over, as [`NatsLog::claim`] does.
    pub(crate) async fn claim(&self, assistant: &AssistantId) -> Result<(u64, Seq), ReadError> {
        let life = self.life(assistant);
        let mut life = life.lock().await;
        if let Some(broken) = life.broken {
            return Err(Fault::Broken(broken).into_read_error());
        }
        let caught_up = self.catch_up(assistant, &mut life).await;
        caught_up.map_err(Fault::into_read_error)?;
        Ok(life.claim())
    }

    pub(crate) fn life(&self, assistant: &AssistantId) -> Arc<Mutex<Life>> {
        let mut lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner);
        match lives.get(assistant) {
            Some(life) => Arc::clone(life),
            None => Arc::clone(lives.entry(assistant.clone()).or_default()),
        }
    }

    /// The subject of an assistant's events.
    pub(crate) fn subject(&self, assistant: &AssistantId) -> String {
        format!("{}.{}", self.api.stream(), token(assistant))
    }

    /// Makes a request again while its failure may pass, until the patience has ended.
    pub(crate) async fn patiently<T, F>(&self, ask: impl Fn() -> F) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let deadline = Instant::now() + self.patience;
        let mut attempt = 1;
        loop {
            match ask().await {
                Err(error) if error.is_transient() && Instant::now() < deadline => {
                    sleep(pause(attempt)).await;
                    attempt += 1;
                }
                answer => return answer,
            }
        }
    }
}

impl Core<StreamApi> {
    async fn assistants(&self) -> Result<Vec<AssistantId>, ApiError> {
        #[derive(Deserialize)]
        struct Info {
            #[serde(default)]
            total: usize,
            state: State,
        }
        #[derive(Deserialize)]
        struct State {
            #[serde(default)]
            subjects: Option<HashMap<String, u64>>,
        }
        let prefix = format!("{}.", self.api.stream);
        let (mut found, mut seen) = (Vec::new(), 0);
        loop {
            let query = json!({ "subjects_filter": format!("{prefix}>"), "offset": seen });
            let info: Info = self.patiently(|| self.api.info(&query)).await?;
            let subjects = info.state.subjects.unwrap_or_default();
            seen += subjects.len();
            let is_last = subjects.is_empty() || seen >= info.total;
            let names = subjects.keys().filter_map(|s| s.strip_prefix(&prefix));
            found.extend(names.filter_map(from_token));
            if is_last {
                found.sort();
                return Ok(found);
            }
        }
    }
}

/// An assistant's key as one token of a subject, in which `.` separates tokens.
pub(crate) fn token(assistant: &AssistantId) -> String {
    assistant.as_str().replace('.', "/")
}

pub(crate) fn from_token(token: &str) -> Option<AssistantId> {
    AssistantId::try_new(token.replace('/', ".")).ok()
}

impl Append for NatsLog {
    /// The events of one request are one message: more than [`NatsLog::max_append_bytes`] is
    /// [`Unacceptable`](AppendErrorKind::Unacceptable). A failure is repeated for the patience of the configuration. If the
    /// outcome is still unknown then, the error is [`Unknown`](AppendErrorKind::Unknown).
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let core = Arc::clone(&self.core);
            // In a task of its own, since dropping this future must not take the append back.
            {
                let appends = &self.core.appends;
                let mut appends = appends.lock().unwrap_or_else(PoisonError::into_inner);
                while appends.try_join_next().is_some() {}
                appends.spawn(async move {
                    // The caller may have dropped its future.
                    drop(reply.send(core.append(request).await));
                });
            }
            let closed = |_gone| AppendError::new(AppendErrorKind::Closed, None);
            answer.await.map_err(closed)?
        })
    }
}

impl ReadEvents for NatsLog {
    /// A page holds at most about 16 MiB, so it may be shorter than `limit`; only an empty one means the end.
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        Box::pin(self.core.page(assistant, after, limit))
    }
}

impl SaveSnapshot for NatsLog {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        Box::pin(self.core.save(assistant, snapshot))
    }
}

impl LoadSnapshot for NatsLog {
    /// A snapshot of an event that the log does not have means that the log was shortened: an error, and nothing more is
    /// written.
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        Box::pin(self.core.load(assistant, up_to))
    }
}

impl fmt::Debug for NatsLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsLog")
            .field("stream", &self.core.api.stream)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_token_and_comes_back() {
        for key in ["alice", "a.b", "a-b_c.1", "."] {
            let assistant = AssistantId::try_new(key).unwrap();
            let token = token(&assistant);
            assert!(!token.contains(['.', ' ', '*', '>']), "{token}");
            assert_eq!(from_token(&token), Some(assistant));
        }
    }
}
