//! What all requests share.

use std::{
    collections::{BTreeSet, HashMap},
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_contracts::{AssistantId, Author, Clock, Seq, Timestamp};
use dormouse_engine::{Event, LoggedMemory, State, catch_up};
use dormouse_host::{
    Awake, FolderWorld, Host, HostError, OpenLog, Resident, config::Config, roster::RosterDecision,
};
use dormouse_resilience::{RateLimit, RateLimiter};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    task::JoinSet,
};

use crate::{
    guard::Caller,
    idempotency::Replies,
    looking_back::Prepared,
    mcp::Sessions,
    metrics::Metrics,
    pages::Invitation,
    problem::{Problem, ProblemCode},
    tokens::{StoredToken, TokenStore},
};

/// After this time without anything to send, a stream looks whether its token still holds.
pub(crate) const TOKEN_INTERVAL: Duration = Duration::from_secs(15);

/// What all requests share.
pub(crate) type Shared = Arc<Service>;

/// The bounds of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLimits {
    /// The most bytes of a body.
    pub(crate) body_bytes: usize,
    /// The most bytes of a life that is imported.
    pub(crate) archive_bytes: u64,
    /// How long headers, or a body, may take to arrive.
    pub(crate) patience: Duration,
    /// How long a request waits for an answer of an assistant.
    pub(crate) answer_wait: Duration,
    /// How many requests each token may make.
    pub(crate) rate: RateLimit,
}

/// What all requests share.
pub(crate) struct Service {
    pub(crate) host: Host<FolderWorld>,
    pub(crate) tokens: TokenStore,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: RequestLimits,
    /// The names under which this service may be called.
    pub(crate) hosts: BTreeSet<String>,
    pub(crate) metrics: Metrics,
    pub(crate) replies: Replies,
    /// The sessions of clients of the Model Context Protocol.
    pub(crate) mcp: Sessions,
    /// Places for streams of events.
    pub(crate) streams: Arc<Semaphore>,
    /// How many such places there are.
    most_streams: usize,
    /// Set when the service ends.
    pub(crate) ending: watch::Receiver<bool>,
    /// The remaining requests of each token, and of all callers without one.
    limiters: Mutex<HashMap<String, RateLimiter>>,
    /// Whom the next link signs in.
    pub(crate) invitation: Mutex<Option<Invitation>>,
    /// The name of the cookie of the pages.
    pub(crate) cookie: String,
    /// Requests that are carried out to their end even if the client goes away.
    pub(crate) kept: Mutex<JoinSet<()>>,
    /// The long lives that were folded in advance, so that a look at any moment of them is quick.
    pub(crate) prepared: Prepared,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("hosts", &self.hosts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Service {
    pub(crate) fn new(
        host: Host<FolderWorld>,
        clock: Arc<dyn Clock>,
        (limits, hosts): (RequestLimits, BTreeSet<String>),
        (streams, port): (usize, u16),
        ending: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        Ok(Self {
            replies: Replies::in_folder(host.folder().path(), clock.now())?,
            tokens: TokenStore::in_folder(host.folder().path()),
            host,
            clock,
            limits,
            hosts,
            metrics: Metrics::default(),
            mcp: Sessions::default(),
            streams: Arc::new(Semaphore::new(streams)),
            most_streams: streams,
            ending,
            limiters: Mutex::default(),
            invitation: Mutex::default(),
            // Browsers send a cookie to each port of a host.
            cookie: format!("dormouse_{port}"),
            kept: Mutex::default(),
            prepared: Prepared::default(),
        })
    }

    /// Whether a token still holds: a stream outlives the check at its beginning.
    pub(crate) fn still_holds(&self, token: &StoredToken) -> bool {
        let now = self.now();
        self.tokens.is_valid(&token.id, now).unwrap_or(false)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A place for a stream that the caller keeps as long as it is sent or received.
    pub(crate) fn place_for_stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.streams).try_acquire_owned();
        let why = "all places for streams are taken";
        place.map_err(|_full| ProblemCode::TooManyStreams.because(why).retry_after(5))
    }

    /// Carries out work to its end, even if the client goes away meanwhile.
    pub(crate) async fn to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Problem>> + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        let work = Box::pin(work);
        {
            let mut kept = lock(&self.kept);
            while kept.try_join_next().is_some() {}
            kept.spawn(async move {
                // The send fails if nobody waits any more.
                drop(answer.send(work.await));
            });
        }
        let ended = |_| ProblemCode::Internal.because("the request was not carried out to its end");
        answered.await.unwrap_or_else(|gone| Err(ended(gone)))
    }

    /// How many streams of events are open.
    pub(crate) fn open_streams(&self) -> usize {
        self.most_streams
            .saturating_sub(self.streams.available_permits())
    }

    /// The rate limiter of this token. All callers without a token share one.
    pub(crate) fn limiter(&self, token: &str) -> RateLimiter {
        let mut limiters = lock(&self.limiters);
        let new = || RateLimiter::new(self.limits.rate);
        limiters.entry(token.to_owned()).or_insert_with(new).clone()
    }

    /// The state of an assistant as it is now. Nobody is woken.
    pub(crate) async fn state(&self, key: &AssistantId) -> Result<State, Problem> {
        Ok(self.host.state(key).await?)
    }

    /// Its configuration, with what was changed for it.
    pub(crate) async fn config(&self, key: &AssistantId) -> Result<(Config, State), Problem> {
        let state = self.state(key).await?;
        let config = self.host.config().read_for(key, &state).0;
        Ok((config, state))
    }

    /// Wakes the assistant. It stays awake while the result is kept.
    pub(crate) async fn awake(&self, key: &AssistantId) -> Result<Resident, Problem> {
        self.exists(key)?;
        Ok(self.host.wake(key).await?)
    }

    /// The assistant, awake as long as this is kept, with a memory that has taken in its whole log.
    pub(crate) async fn remembering(&self, key: &AssistantId) -> Result<Resident, Problem> {
        let resident = self.awake(key).await?;
        let caught_up = catch_up(self.host.log(), key, resident.memory()).await;
        caught_up.map_err(|error| Problem::internal(&error))?;
        Ok(resident)
    }

    /// Its memory with its log, to change it.
    pub(crate) async fn memory(&self, key: &AssistantId) -> Result<LoggedMemory<OpenLog>, Problem> {
        let awake = Awake::from(self.awake(key).await?);
        let memory = awake.logged_memory(self.host.log(), Arc::clone(&self.clock));
        memory.await.map_err(|error| Problem::internal(&error))
    }

    /// Checks that an assistant exists. Waking an unknown assistant would create it.
    pub(crate) fn exists(&self, key: &AssistantId) -> Result<Seq, Problem> {
        match self.host.log().end_of(key)? {
            Seq::ZERO => {
                Err(ProblemCode::UnknownAssistant.because(format!("there is no assistant {key}")))
            }
            last => Ok(last),
        }
    }

    /// Appends the events that `decide` makes of the state, all or none, in order with the assistant's own. Returns the last
    /// event; without events nothing is written, and nobody is woken.
    pub(crate) async fn change(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Result<Vec<Event>, Problem>,
    ) -> Result<Option<Seq>, Problem> {
        let decide = |state: &State| match &state.roster.archived {
            None => decide(state),
            Some(archived) => Err(Problem::from(HostError::Archived {
                assistant: key.clone(),
                archived: archived.clone(),
            })),
        };
        self.host.change(key, decide).await
    }
}

impl Caller {
    /// The caller as the author of a change.
    pub(crate) fn author(&self) -> Author {
        Author::Operator(self.token.name.clone())
    }

    /// The same with a reason.
    pub(crate) fn decision(&self, reason: Option<String>, what: &str) -> RosterDecision {
        RosterDecision {
            author: self.author(),
            reason: reason.unwrap_or_else(|| over_http(what)),
        }
    }
}

/// The reason of a change for which nobody gives another one.
pub(crate) fn over_http(what: &str) -> String {
    format!("{what} over HTTP")
}

/// Waits until the service ends.
pub(crate) async fn over(ending: &mut watch::Receiver<bool>) {
    // If the sender is gone, the service has ended.
    drop(ending.wait_for(|ends| *ends).await);
}

/// No change under a lock can be left half done, so a poisoned lock does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
