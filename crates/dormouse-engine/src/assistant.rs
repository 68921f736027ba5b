//! The running assistant: one sequential actor.
//!
//! It holds the state, and nobody else does. Every change goes the same way: [decided](crate::decide), written
//! into the log, and folded into the state once it is on disk. At most one call to the outside is under way at a
//! time, and messages are accepted meanwhile.

mod inbox;
mod record;

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc, time::Duration};

use dormouse_contracts::{
    AppendErrorKind, AssistantId, BoxFuture, EffectKey, IdError, Outcome, Seq, Timestamp,
    TokenCounter, ToolSpec, WorldId,
};
use dormouse_resilience::deadline;
use dormouse_tools::{Registry, RegistryError};
use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use crate::{
    Ports,
    config::{AssistantConfig, ConfigError, Switch},
    decide::{self, Answered, Next, View},
    event::{EmergencyStopCleared, Event},
    gate::Skip,
    handle::{ClearError, Command, Handle},
    inward::{barest_tools, inward_tools},
    prompt::{Preamble, PreambleTooLong, leaves_room},
    remembering::{CatchUpError, catch_up},
    replay::{ReplayError, restore},
    state::State,
    status::{Activity, Skipped, Status},
    work::{self, Done, Tending},
};

/// How many commands may wait for the actor.
const MAILBOX: usize = 256;

/// An event that is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its place in the log.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
}

/// An assistant could not be woken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeError {
    /// Its configuration is one that no assistant can live by.
    #[error("the assistant's configuration is not possible")]
    Config(#[from] ConfigError),
    /// Its log could not be folded.
    #[error("the assistant's log could not be folded into its state")]
    Replay(#[from] ReplayError),
    /// Its memory and its log do not belong together. A memory that merely cannot be read is no such error: the
    /// assistant lives on without it.
    #[error("the assistant's memory and its log cannot be used together")]
    Memory(#[source] CatchUpError),
    /// Its tools make no registry.
    #[error("the assistant's tools cannot be offered")]
    Tools(#[from] RegistryError),
    /// Persona and tools leave no room in the context window.
    #[error("the assistant's prompt leaves no room for a conversation")]
    Preamble(#[from] PreambleTooLong),
    /// A name of the engine's own tools is none.
    #[error("a tool's name is not acceptable")]
    Name(#[from] IdError),
}

/// An assistant ended although nobody asked it to. What was accepted is on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Somebody else writes the same log.
    #[error(
        "the log ends at event {actual} where {expected} was expected: another writer is at work on it"
    )]
    Conflict {
        /// Where it should have ended.
        expected: Seq,
        /// Where it ends.
        actual: Seq,
    },
    /// The log is closed, or refuses an event for good.
    #[error("the log does not take events any more: {0}")]
    Log(AppendErrorKind),
    /// An event could not be put into JSON.
    #[error("an event could not be written down")]
    Encode(#[from] serde_json::Error),
}

/// A running assistant. [`Assistant::run`] is its life; the [`Handle`] is how to talk to it.
#[derive(Debug)]
pub struct Assistant {
    config: AssistantConfig,
    tools: Registry,
    preamble: Preamble,
    ports: Ports,
    state: State,
    commands: mpsc::Receiver<Command>,
    status: watch::Sender<Status>,
    watchers: Vec<mpsc::Sender<Arc<Recorded>>>,
    progress: Progress,
}

/// What only this process knows.
#[derive(Debug, Default)]
struct Progress {
    fresh: Option<EffectKey>,
    /// Events that came of a call to the outside and could not be written yet.
    unsaved: Vec<Event>,
    since_snapshot: u64,
    skipped: Skipped,
    activity: Activity,
    tending: Tending,
    /// The first delivery of each world that was refused and not accepted since.
    refused: BTreeMap<WorldId, u64>,
}

/// Whether events are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saved {
    Yes,
    /// The disk is full or failing; the state is as before.
    No,
}

impl Assistant {
    /// Wakes the assistant: folds its log into its state, lets its memory catch up with the log, and makes ready to go on
    /// where it was.
    ///
    /// Reads the log, and all of it where the memory is new; calls neither model nor world. `world_tools` are what its world offers.
    ///
    /// Where the context window is too small for all tools, those that note things about people are left out.
    ///
    /// # Errors
    ///
    /// [`WakeError`] if the log cannot be folded, the memory belongs to another log, two tools have one name, or persona and tools take more than half
    /// of the context window.
    pub async fn wake(
        config: AssistantConfig,
        world_tools: Vec<ToolSpec>,
        ports: Ports,
    ) -> Result<(Self, Handle), WakeError> {
        config.check()?;
        let counter = &ports.counter;
        let (tools, preamble) = match offered(&config, &world_tools, inward_tools()?, counter)? {
            (tools, Ok(preamble)) => (tools, preamble),
            (_, Err(_too_long)) => {
                let (tools, preamble) = offered(&config, &world_tools, barest_tools()?, counter)?;
                let preamble = preamble?;
                tracing::warn!(
                    "the context window is too small for tools to note things about people"
                );
                (tools, preamble)
            }
        };
        let state = restore(&*ports.log, &config.key).await?;
        remember(&ports, &config.key).await?;
        let (commands_in, commands) = mpsc::channel(MAILBOX);
        let (status, status_out) = watch::channel(Status::default());
        let progress = Progress::default();
        let watchers = Vec::new();
        let assistant = Self {
            config,
            tools,
            preamble,
            ports,
            state,
            commands,
            status,
            watchers,
            progress,
        };
        assistant.publish();
        Ok((
            assistant,
            Handle {
                commands: commands_in,
                status: status_out,
            },
        ))
    }

    /// Sends every event from now on to `watcher`, once it is on disk. A watcher that does not keep up slows the
    /// assistant down; one that is gone is forgotten.
    #[must_use]
    pub fn watched_by(mut self, watcher: mpsc::Sender<Arc<Recorded>>) -> Self {
        self.watchers.push(watcher);
        self
    }

    /// The state the assistant woke with.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Lives until every handle is dropped or one asks it to shut down. Saves a snapshot at the end.
    ///
    /// Dropping the future is a crash: nothing accepted is lost, and the next start goes on from the log.
    ///
    /// # Errors
    ///
    /// [`RunError`] if its log does not take events any more.
    pub async fn run(mut self) -> Result<(), RunError> {
        let mut ticks = interval(self.config.limits.tick_rate());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut work: Option<BoxFuture<'static, Done>> = None;
        let mut tending: Option<BoxFuture<'static, Tending>> = None;
        loop {
            if work.is_none() {
                work = self.advance().await?;
            }
            // Whoever waits for an answer goes first: what is dropped here is begun anew later.
            tending = match work {
                Some(_) => None,
                None => tending.or_else(|| self.tend()),
            };
            self.publish();
            let wake_at = self.wake_at();
            select! {
                command = self.commands.recv() => match command {
                    None => break,
                    Some(command) => {
                        if self.obey(command).await?.is_break() {
                            break;
                        }
                    }
                },
                tended = finished(&mut tending) => {
                    tending = None;
                    self.progress.tending = tended;
                }
                done = finished(&mut work) => {
                    work = None;
                    self.take_in(done).await?;
                }
                () = wake(wake_at) => {}
                _ = ticks.tick() => self.tick(),
            }
        }
        self.save_snapshot().await;
        // So that others who look into the memory find all of it; the next start would do it too.
        let limit = self.config.recall_timeout;
        let caught_up = catch_up(&*self.ports.log, &self.config.key, &self.ports.memory);
        if let Ok(Err(error)) = deadline(limit, caught_up).await {
            warn_of(&error);
        }
        Ok(())
    }

    /// Lets the memory bring its vectors up to date while nobody waits, if there is something new.
    fn tend(&self) -> Option<BoxFuture<'static, Tending>> {
        let is_idle = self.progress.activity == Activity::Idle;
        let is_due = is_idle && self.progress.tending == Tending::Due;
        let memory = self.ports.memory.clone();
        is_due.then(|| Box::pin(work::tend(memory)) as BoxFuture<'static, Tending>)
    }

    /// Does everything that needs nobody outside, and answers the next call to the outside if one is due.
    async fn advance(&mut self) -> Result<Option<BoxFuture<'static, Done>>, RunError> {
        loop {
            if self.flush().await? == Saved::No {
                return Ok(None);
            }
            match decide::next(self.view()) {
                Next::Rest(skip) => {
                    self.rest(skip);
                    return Ok(None);
                }
                Next::Decided(events) => {
                    if self.commit(events).await? == Saved::No {
                        return Ok(None);
                    }
                }
                next => return Ok(Some(self.begin(next))),
            }
        }
    }

    fn begin(&mut self, next: Next) -> BoxFuture<'static, Done> {
        let ports = self.ports.clone();
        let key = self.config.key.clone();
        let recall_limit = self.config.recall_timeout;
        self.progress.activity = match next {
            Next::Ask(_) | Next::Recollect(_) | Next::Consult(..) => Activity::Thinking,
            _ => Activity::Acting,
        };
        match next {
            Next::Ask(prompt) => {
                let (limit, budget) = (self.config.model_timeout, &self.config.retry_budget);
                Box::pin(work::ask(ports, *prompt, limit, budget.clone()))
            }
            Next::Perform(effect) => {
                let limit = self.tool_timeout(effect.tool.as_str());
                // From here on it may have happened: if it comes up again, it is asked after.
                self.progress.fresh = None;
                Box::pin(work::perform(ports, effect, limit))
            }
            Next::AskAfter(effect) => {
                let limit = self.tool_timeout(effect.tool.as_str());
                Box::pin(work::ask_after(ports, effect, limit))
            }
            Next::Observe(call, query) => {
                let limit = self.tool_timeout(query.tool.as_str());
                Box::pin(work::observe(ports, call, query, limit))
            }
            Next::Recollect(ask) => Box::pin(work::recollect(ports, key, *ask, recall_limit)),
            Next::Consult(call, ask) => {
                Box::pin(work::consult(ports, key, call, *ask, recall_limit))
            }
            Next::Rest(_) | Next::Decided(_) => Box::pin(std::future::pending()),
        }
    }

    fn tool_timeout(&self, tool: &str) -> Duration {
        self.tools
            .get(tool)
            .map_or(ToolSpec::DEFAULT_TIMEOUT, |spec| spec.timeout)
    }

    fn view(&self) -> View<'_> {
        View {
            state: &self.state,
            config: &self.config,
            tools: &self.tools,
            preamble: &self.preamble,
            counter: &*self.ports.counter,
            now: self.ports.clock.now(),
            fresh: self.progress.fresh.as_ref(),
        }
    }

    /// Takes in how a call to the outside ended. If its events cannot be written they are kept, and tried again.
    async fn take_in(&mut self, done: Done) -> Result<(), RunError> {
        let view = self.view();
        self.progress.unsaved = match done {
            Done::Replied {
                reply,
                model,
                prompt_tokens,
                duration,
            } => decide::on_reply(
                view,
                reply,
                Answered {
                    model,
                    prompt_tokens,
                    duration,
                },
            ),
            Done::Failed {
                error,
                prompt,
                duration,
            } => {
                let cause = std::error::Error::source(&error.error).map(ToString::to_string);
                tracing::warn!(error = %error, cause = cause.as_deref(), "the model gave no reply");
                let failed = decide::Failed {
                    kind: error.error.kind(),
                    attempts: error.attempts,
                    prompt: Some(prompt),
                    duration,
                    reason: cause,
                };
                decide::on_failure(view, &failed)
            }
            Done::Settled { key, outcome } => {
                if outcome == Outcome::Unknown {
                    tracing::warn!(%key, "the outcome of an effect is unknown; it will not be repeated");
                }
                decide::on_settled(view, key, outcome)
            }
            Done::Observed { call, seen } => decide::on_observed(view, &call, seen),
            Done::Recollected(found) => decide::on_recollected(view, *found),
            Done::Consulted { call, consulted } => decide::on_consulted(view, &call, consulted),
        };
        self.flush().await.map(drop)
    }

    /// Does as a command says, and as those say that were taken from the mailbox with it.
    async fn obey(&mut self, mut command: Command) -> Result<ControlFlow<()>, RunError> {
        loop {
            let next = match command {
                Command::Perceive(perception, reply) => self.hear((*perception, reply)).await?,
                Command::ClearStop(by, reply) => {
                    let cleared = self.clear_stop(by).await?;
                    self.publish();
                    answer(reply, cleared);
                    None
                }
                Command::Inspect(reply) => {
                    answer(reply, self.state.clone());
                    None
                }
                Command::Shutdown => return Ok(ControlFlow::Break(())),
            };
            match next {
                Some(next) => command = next,
                None => return Ok(ControlFlow::Continue(())),
            }
        }
    }

    async fn clear_stop(&mut self, cleared_by: String) -> Result<Result<(), ClearError>, RunError> {
        if self.state.stopped.is_none() {
            return Ok(Err(ClearError::NotActive));
        }
        let event = Event::EmergencyStopCleared(EmergencyStopCleared { cleared_by });
        Ok(match self.commit(vec![event]).await? {
            Saved::Yes => {
                self.progress.activity = Activity::Idle;
                Ok(())
            }
            Saved::No => Err(ClearError::Storage),
        })
    }

    fn tick(&mut self) {
        // What a tick may do was done when its reason came up; the timer only counts the ticks that do nothing.
        let skip = match &self.progress.activity {
            Activity::Thinking | Activity::Acting => Skip::Collision,
            Activity::Waiting(at) => Skip::Waiting(*at),
            Activity::Stopped(_) => Skip::EmergencyStop,
            Activity::Disabled => Skip::Disabled,
            Activity::Stalled => Skip::Waiting(self.ports.clock.now()),
            Activity::Idle => Skip::Idle,
        };
        self.progress.skipped.count(skip);
    }

    fn rest(&mut self, skip: Skip) {
        self.progress.activity = match skip {
            Skip::EmergencyStop => match &self.state.stopped {
                Some(stopped) => Activity::Stopped(stopped.cause.clone()),
                None => Activity::Idle,
            },
            Skip::Disabled => Activity::Disabled,
            Skip::Waiting(at) => Activity::Waiting(at),
            Skip::Collision | Skip::Idle => Activity::Idle,
        };
    }

    fn wake_at(&self) -> Option<Instant> {
        match self.progress.activity {
            Activity::Waiting(at) => Some(Instant::now() + at.since(self.ports.clock.now())),
            _ => None,
        }
    }

    fn publish(&self) {
        let state = &self.state;
        let activity = match (&state.stopped, self.config.switch) {
            (Some(stopped), _) => Activity::Stopped(stopped.cause.clone()),
            (None, Switch::Disabled) => Activity::Disabled,
            (None, Switch::Enabled) => self.progress.activity.clone(),
        };
        let unsaved = usize::from(!self.progress.unsaved.is_empty());
        let status = Status {
            activity,
            waiting: state.inbox.len() + usize::from(state.turn.is_some()).max(unsaved),
            seq: state.seq,
            ticks: state.ticks,
            skipped: self.progress.skipped,
            prompt_tokens: state.prompt_tokens,
            max_context_tokens: self.config.limits.max_context_tokens(),
            spent: state.spent,
            memories: state.remembered,
        };
        self.status.send_if_modified(|current| {
            // Ticks that did nothing wake nobody.
            current.skipped = status.skipped;
            let changed = *current != status;
            *current = status;
            changed
        });
    }
}

/// The tools of the world and those of the engine, and what stands before every conversation with them, if that leaves
/// room for one.
fn offered(
    config: &AssistantConfig,
    world: &[ToolSpec],
    own: Vec<ToolSpec>,
    counter: &Arc<dyn TokenCounter>,
) -> Result<(Registry, Result<Preamble, PreambleTooLong>), RegistryError> {
    let tools = Registry::try_new(world.iter().cloned().chain(own))?;
    let preamble = Preamble::new(config, &tools, Arc::clone(counter));
    let preamble = leaves_room(config, &preamble).map(|()| preamble);
    Ok((tools, preamble))
}

/// Lets the memory catch up with the log before a life begins. One that cannot is tried again with each message.
async fn remember(ports: &Ports, key: &AssistantId) -> Result<(), WakeError> {
    match catch_up(&*ports.log, key, &ports.memory).await {
        Ok(caught_up) => tracing::debug!(?caught_up, "the memory has caught up with the log"),
        Err(error @ CatchUpError::Ahead { .. }) => return Err(WakeError::Memory(error)),
        Err(error) => warn_of(&error),
    }
    Ok(())
}

fn warn_of(error: &CatchUpError) {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the memory did not catch up with the log"
    );
}

/// Answers a command; whoever asked may have stopped waiting.
fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    drop(reply.send(value));
}

async fn finished<T>(work: &mut Option<BoxFuture<'static, T>>) -> T {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

async fn wake(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
