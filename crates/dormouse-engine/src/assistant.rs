//! The running assistant: one sequential actor.
//!
//! Only it holds the state. Every change is first [decided](crate::decide), then folded into the state, and written
//! into the log before anything outside depends on it. A message is written before it is acknowledged, an act before it
//! is carried out, and everything before the assistant comes to rest. At most one call to the outside is under way at a
//! time; messages are accepted meanwhile.

mod asleep;
mod commands;
mod error;
mod inbox;
mod reconfiguring;
mod record;
mod showing;

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, Author, BoxError, BoxFuture, EffectKey, NewEvent, Outcome, Seq, Timestamp,
    TokenCounter, ToolSpec, WorldId,
};
use dormouse_resilience::deadline;
use dormouse_tools::Registry;
use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until},
};

use crate::{
    PROGRAM, Ports,
    beats::Beats,
    builtin::{GO_TO_SLEEP, WAKE_UP, builtin_tools},
    config::AssistantConfig,
    decide::{self, Action, Answered, Asked, Next, OutsideCall, Prepared, View},
    event::{ConfiguredModel, ContextType, Event, FactsBefore},
    execution::compose,
    gate::gate,
    handle::{Command, Handle},
    prompt::leaves_room,
    remembering::{LastPosition, catch_up},
    replay::{Restored, restore_counted},
    state::{Configuration, State},
    status::{Activity, Status},
    work::{self, Called, Done, Indexing, LogEnd, Patience, TakenIn},
};
pub use error::{RunError, WakeError};
use inbox::Dropped;
use reconfiguring::Reconfiguring;
use record::Unwritten;

/// An assistant that is put away saves a snapshot after this many events since the last one.
const WORTH_A_SNAPSHOT: u64 = 32;

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

/// A running assistant. [`Assistant::run`] runs it until it ends; other tasks talk to it through its [`Handle`].
#[derive(Debug)]
pub struct Assistant {
    config: AssistantConfig,
    tools: CompiledTools,
    prepared: Prepared,
    ports: Ports,
    state: State,
    commands: mpsc::Receiver<Command>,
    /// Its own mailbox, for work that asks it to write.
    mailbox: mpsc::WeakSender<Command>,
    status: watch::Sender<Status>,
    /// The ticks that did nothing.
    beats: Arc<Beats>,
    reconfiguring: Reconfiguring,
    progress: Progress,
}

/// What only this process knows.
#[derive(Debug, Default)]
struct Progress {
    /// When it woke, if that is not in the log yet and a decision may depend on it.
    woke: Option<Timestamp>,
    fresh: Option<EffectKey>,
    unwritten: Unwritten,
    /// The last events of an operator of which the log did not say whether it has them, and the event before them.
    doubted: Option<(Seq, Vec<NewEvent>)>,
    since_snapshot: u64,
    /// How many calls to the outside panicked.
    panics: Arc<AtomicU64>,
    activity: Activity,
    /// The time since which people who wait have seen no sign of the assistant.
    silent_since: Option<Timestamp>,
    /// What it is busy with, or was busy with last.
    busy: Busy,
    indexing: Indexing,
    /// How far the memory has come in the log.
    read_by_memory: Arc<LastPosition>,
    /// Lines that were dropped and are not in the log yet.
    dropped: Dropped,
    /// The first delivery of each world that was refused and not accepted since.
    refused: BTreeMap<WorldId, u64>,
    /// When work of a night is repeated whose result could not be written.
    night_after: Option<Timestamp>,
    /// The last delivery of each world that was received. Acts with output wait for it.
    taken_in: TakenIn,
    /// Whether it ends because it is put away, and will be woken again.
    is_put_away: bool,
}

/// What the assistant waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Busy {
    /// Its model.
    Asking,
    /// Its memory.
    Remembering,
    /// Its world.
    #[default]
    Acting,
    /// Its world, to announce that it is stopped.
    Announcing,
}

/// Whether events are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saved {
    Yes,
    /// The disk is full or failing; the state is as before.
    No,
}

impl Assistant {
    /// Wakes the assistant: folds its log into its state, lets its memory catch up with the log, and prepares to
    /// continue where it stopped.
    ///
    /// Reads what is new in the log, or the whole log if the memory is new; calls neither model nor world.
    /// `world_tools` are what its world offers.
    ///
    /// If the context window is too small for all tools, prompts offer fewer.
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
        let restored = restore_counted(&*ports.log, &config.key).await?;
        let tools = CompiledTools::try_new(world_tools)?;
        // The state and the configuration are large. Without the box, each future around this one would be large, too.
        Box::pin(Self::wake_restored(config, restored, tools, ports)).await
    }

    /// Wakes an assistant whose configuration depends on its log, for example on settings that operators changed.
    /// `configure` is called with the state that its log folds to, and again after each event
    /// [`setting_changed`](crate::SettingChanged). What it returns then applies from the next tick on; that an assistant is
    /// switched on or off applies at once, and interrupts the call under way. Assistants of the same world
    /// can share `tools`.
    ///
    /// # Errors
    ///
    /// The error of `configure`, or a [`WakeError`] as for [`Assistant::wake`].
    pub async fn wake_as<E>(
        key: &AssistantId,
        configure: impl Fn(&State) -> Result<AssistantConfig, E> + Send + Sync + 'static,
        tools: CompiledTools,
        ports: Ports,
    ) -> Result<(Self, Handle), E>
    where
        E: From<WakeError> + Into<BoxError>,
    {
        let restored = restore_counted(&*ports.log, key).await;
        let restored = restored.map_err(WakeError::from)?;
        let config = AssistantConfig {
            key: key.clone(),
            ..configure(&restored.state)?
        };
        let woken = Box::pin(Self::wake_restored(config, restored, tools, ports)).await;
        let (assistant, handle) = woken?;
        let reconfiguring = Reconfiguring::by(configure);
        let assistant = Self {
            reconfiguring,
            ..assistant
        };
        Ok((assistant, handle))
    }

    async fn wake_restored(
        config: AssistantConfig,
        restored: Restored,
        tools: CompiledTools,
        ports: Ports,
    ) -> Result<(Self, Handle), WakeError> {
        let prepared = prepare(&config, &tools, &ports.counter)?;
        let Restored { state, folded } = restored;
        remember(&ports, &config.key).await?;
        let (commands_in, commands) = mpsc::channel(MAILBOX);
        let (status, status_out) = watch::channel(Status::default());
        let progress = Progress {
            since_snapshot: folded,
            taken_in: TakenIn::new(state.delivered.numbers().clone()),
            ..Progress::default()
        };
        let beats = Arc::new(Beats::new(config.limits.tick_rate()));
        let mut assistant = Self {
            config,
            tools,
            prepared,
            ports,
            state,
            commands,
            mailbox: commands_in.downgrade(),
            status,
            beats: Arc::clone(&beats),
            reconfiguring: Reconfiguring::default(),
            progress,
        };
        let now = assistant.ports.clock.now();
        assistant.configure(now);
        // A status read before the first tick must already say what the assistant waits for.
        if let Err(skip) = gate(&assistant.state, now) {
            assistant.rest(skip);
        }
        assistant.publish();
        Ok((
            assistant,
            Handle {
                commands: commands_in,
                status: status_out,
                beats,
            },
        ))
    }

    /// The configuration that applies.
    #[must_use]
    pub fn config(&self) -> &AssistantConfig {
        &self.config
    }

    /// The state the assistant woke with.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Runs until every handle is dropped or one asks it to shut down. Saves a snapshot at the end, unless the log has
    /// not grown since the last one.
    ///
    /// Dropping the future is like a crash: nothing accepted is lost, and the next start continues from the log.
    ///
    /// # Errors
    ///
    /// [`RunError`] if its log no longer accepts events.
    pub async fn run(mut self) -> Result<(), RunError> {
        let mut work: Option<BoxFuture<'static, Done>> = None;
        // A model call under way. It is not polled while the engine asks the sender to wait.
        let mut asked: Option<BoxFuture<'static, Done>> = None;
        let mut indexing: Option<BoxFuture<'static, Indexing>> = None;
        let mut night: Option<BoxFuture<'static, bool>> = None;
        loop {
            if self.state.stop.is_on() != (self.progress.busy == Busy::Announcing) {
                // An operator must not wait for a model. Work that was begun is resumed as after a crash.
                work = None;
                asked = None;
            }
            if self.is_called_awake() {
                // A message that needs an answer must not wait for a turn in its sleep.
                work = None;
                asked = None;
            }
            if self.is_switched() {
                // What was begun continues as after a crash, once it is switched on again.
                work = None;
                asked = None;
            }
            if self.asks_to_wait() {
                asked = work.take();
            }
            if work.is_none() {
                work = self.advance(&mut asked).await?;
            }
            // A person who waits for an answer has priority. Indexing that is dropped here starts again later.
            indexing = match work {
                Some(_) => None,
                None => indexing.or_else(|| self.index_pending()),
            };
            night = match work {
                None if self.goes_on_sleeping() => night.or_else(|| self.night_work()),
                _ => None,
            };
            self.works_at_night(night.is_some());
            self.publish();
            let wake_at = self.wake_at();
            select! {
                command = self.commands.recv() => match command {
                    None => break,
                    Some(command) => {
                        // As always, a call that was decided before the log failed begins before another message is
                        // accepted.
                        if work.is_none() && self.progress.unwritten.is_stuck() {
                            work = self.advance(&mut asked).await?;
                        }
                        if self.obey(command).await?.is_break() {
                            break;
                        }
                    }
                },
                indexed = finished(&mut indexing) => {
                    indexing = None;
                    self.progress.indexing = indexed;
                }
                is_in_log = finished(&mut night) => {
                    night = None;
                    self.night_worked(is_in_log);
                }
                done = finished(&mut work) => {
                    work = None;
                    self.take_in(done);
                }
                () = wake(self.progress.unwritten.due()) => {
                    self.flush().await?;
                }
                () = wake(self.progress.dropped.due()) => {
                    self.note_dropped(self.ports.clock.now());
                }
                () = wake(wake_at) => {}
            }
        }
        self.note_dropped(self.ports.clock.now());
        // A snapshot of events that are not on disk would describe a life that never happened.
        let is_written = self.flush().await? == Saved::Yes;
        let is_away = self.progress.is_put_away;
        // A snapshot has all of the life that prompts show. Folding a few events takes no longer than writing it and reading it.
        if is_written && !(is_away && self.progress.since_snapshot < WORTH_A_SNAPSHOT) {
            self.save_snapshot().await;
        }
        if is_away {
            return Ok(());
        }
        // So other readers of the memory find everything. Otherwise the next start would catch up.
        let limit = self.config.recall_timeout;
        let caught_up = catch_up(&*self.ports.log, &self.config.key, &self.ports.memory);
        if let Ok(Err(error)) = deadline(limit, caught_up).await {
            error.warn();
        }
        Ok(())
    }

    /// Lets the memory bring its vectors up to date while nobody waits, if there is something new.
    fn index_pending(&self) -> Option<BoxFuture<'static, Indexing>> {
        let is_idle = self.progress.activity == Activity::Idle;
        let is_due = is_idle && self.progress.indexing == Indexing::Due;
        let memory = self.ports.memory.clone();
        is_due.then(|| Box::pin(work::index_pending(memory)) as BoxFuture<'static, Indexing>)
    }

    /// Does everything that needs no call to the outside, and returns the next such call if one is due. If that is a
    /// model call and one is already under way, the one under way continues.
    async fn advance(
        &mut self,
        asked: &mut Option<BoxFuture<'static, Done>>,
    ) -> Result<Option<BoxFuture<'static, Done>>, RunError> {
        if self.progress.unwritten.is_stuck() && self.flush().await? == Saved::No {
            return Ok(None);
        }
        loop {
            let now = self.ports.clock.now();
            self.reconfigure(now);
            match decide::next(self.view(now)) {
                Next::Rest(skip) => {
                    // The tick ended meanwhile; the next tick asks again.
                    *asked = None;
                    if self.flush().await? == Saved::Yes {
                        self.rest(skip);
                    }
                    return Ok(None);
                }
                // The time of waking is logged before the first decision that may depend on it.
                Next::Act(_) if self.note_waking() => {}
                Next::Act(Action::Decide(decided)) => self.note(now, decided.into_events()),
                Next::Act(Action::Call(OutsideCall::Ask(_))) if asked.is_some() => {
                    self.busy_with(Busy::Asking);
                    return Ok(asked.take());
                }
                Next::Act(Action::Call(call)) => {
                    let saved = self.write_before(&call).await?;
                    return Ok((saved == Saved::Yes).then(|| self.begin(call)));
                }
            }
        }
    }

    fn begin(&mut self, call: OutsideCall) -> BoxFuture<'static, Done> {
        let ports = self.ports.clone();
        let recall_limit = self.config.recall_timeout;
        self.busy_with(match call {
            _ if self.state.stop.is_on() => Busy::Announcing,
            OutsideCall::Ask(_) => Busy::Asking,
            // The sender is asked to wait only for the answer itself.
            OutsideCall::Recall(_)
            | OutsideCall::AskMemory(..)
            | OutsideCall::Assess(_)
            | OutsideCall::ExtractFacts
            | OutsideCall::Summarize(_) => Busy::Remembering,
            OutsideCall::Perform(_) | OutsideCall::AskAfter(_) | OutsideCall::Observe(..) => {
                Busy::Acting
            }
        });
        let (called, work): (_, BoxFuture<'static, Done>) = match call {
            OutsideCall::Ask(prompt) => {
                let asked = Asked::of(&prompt);
                let mut request = prompt.request;
                request.extra.clone_from(&self.config.extra_params);
                // With a budget, one attempt is reserved. A later tick makes the next one.
                let reserved = self.state.ledger.of_turn();
                let bounds = work::Bounds {
                    attempt: self.config.model_timeout,
                    retry_for: reserved.map_or(self.config.retry_for, |_| Duration::ZERO),
                };
                let budget = self.config.retry_budget.clone();
                let provider = ports.model.identity().0.clone();
                let called = Called::Model(Box::new(asked.clone()), provider);
                let ask = work::ask(ports, request, asked, bounds, budget);
                (called, Box::pin(ask))
            }
            OutsideCall::Assess(request) => {
                let mut request = *request;
                let asked = work::unassessed(&request, &*ports.counter);
                // Further parameters of the provider may be secret, and are not part of what decisions know.
                request.extra.clone_from(&self.config.extra_params);
                // Rules assess the task if the one attempt fails.
                let bounds = work::Bounds {
                    attempt: self.config.model_timeout,
                    retry_for: Duration::ZERO,
                };
                let budget = self.config.retry_budget.clone();
                let called = Called::Assessment(Box::new(asked.clone()));
                let assess = work::assess(ports, request, asked, bounds, budget);
                (called, Box::pin(assess))
            }
            OutsideCall::Perform(effect) => {
                let patience = self.patience(effect.tool.as_str());
                // From here on the act may have happened. If it comes up again, the world is asked for its outcome.
                self.progress.fresh = None;
                let taken_in = self.progress.taken_in.clone();
                let perform = work::perform(ports, effect, taken_in, patience);
                (Called::Act, Box::pin(perform))
            }
            OutsideCall::AskAfter(effect) => {
                let patience = self.patience(effect.tool.as_str());
                let taken_in = self.progress.taken_in.clone();
                let ask_after = work::ask_after(ports, effect, taken_in, patience);
                (Called::Act, Box::pin(ask_after))
            }
            OutsideCall::Observe(id, query) => {
                let patience = self.patience(query.tool.as_str());
                let called = Called::Query(id.clone());
                (called, Box::pin(work::observe(ports, id, query, patience)))
            }
            OutsideCall::Recall(ask) => {
                let recall = work::recall(ports, self.log_end(), *ask, recall_limit);
                (Called::Recall, Box::pin(recall))
            }
            OutsideCall::ExtractFacts => (Called::Extraction, self.extract_facts(ports)),
            OutsideCall::Summarize(ask) => {
                let called = Called::Summary(ask.clone());
                let summarize = work::summarize(ports, ask, self.config.model_timeout);
                (called, Box::pin(summarize))
            }
            OutsideCall::AskMemory(id, ask) => {
                let called = Called::Memory(id.clone());
                let ask = work::ask_memory(ports, self.log_end(), id, *ask, recall_limit);
                (called, Box::pin(ask))
            }
        };
        work::caught(called, work, Arc::clone(&self.progress.panics))
    }

    /// What the memory has to have read before it is asked now.
    fn log_end(&self) -> LogEnd {
        LogEnd {
            last: Arc::clone(&self.progress.read_by_memory),
            written: self.written(),
        }
    }

    /// Extracts facts from what was heard. The resulting events are appended like those of an operator.
    fn extract_facts(&self, ports: Ports) -> BoxFuture<'static, Done> {
        let Some(handle) = self.own_handle() else {
            // There is no handle left, so nobody waits for an answer.
            return Box::pin(async { Done::FactsExtracted(FactsBefore::Failed) });
        };
        let names = self.own_names();
        let number = self.state.compactions.count.saturating_add(1);
        let timeout = self.config.model_timeout;
        let context = compose(
            &self.state.configuration.settings,
            ContextType::PreCompaction,
            None,
        );
        let requests = context.pattern.bounds.max_iterations.into();
        let by = (Author::Compaction(number), requests);
        Box::pin(work::extract_facts(ports, handle, names, by, timeout))
    }

    /// A handle to itself, for work that asks it to write; `None` if nobody else has one any more.
    fn own_handle(&self) -> Option<Handle> {
        Some(Handle {
            commands: self.mailbox.upgrade()?,
            status: self.status.subscribe(),
            beats: Arc::clone(&self.beats),
        })
    }

    /// Its names.
    fn own_names(&self) -> Vec<String> {
        let names = self.config.name.iter().cloned();
        names.chain([self.config.key.to_string()]).collect()
    }

    fn busy_with(&mut self, busy: Busy) {
        let now = self.ports.clock.now();
        self.progress.silent_since.get_or_insert(now);
        self.progress.busy = busy;
        self.progress.activity = match busy {
            Busy::Asking | Busy::Remembering => Activity::Thinking,
            Busy::Acting | Busy::Announcing => Activity::Acting,
        };
    }

    /// Decides whether to ask the sender of the message to wait for the model, and notes the decision.
    fn asks_to_wait(&mut self) -> bool {
        let is_asking =
            self.progress.activity == Activity::Thinking && self.progress.busy == Busy::Asking;
        if !is_asking || self.slow_since().is_none() {
            return false;
        }
        let now = self.ports.clock.now();
        let events = decide::on_delay(self.view(now));
        let asks = !events.is_empty();
        self.note(now, events);
        asks
    }

    fn patience(&self, tool: &str) -> Patience {
        let spec = self.prepared.tools().get(tool);
        Patience {
            limit: spec.map_or(ToolSpec::DEFAULT_TIMEOUT, |spec| spec.timeout),
            retries: self.config.tool_retries.of(tool).clone(),
        }
    }

    /// What a decision at `now` may look at. The events that it decides have the same time.
    fn view(&self, now: Timestamp) -> View<'_> {
        let fresh = self.progress.fresh.as_ref();
        self.prepared
            .view(&self.config.key, &self.state, now, fresh)
    }

    /// Logs the configuration with which it wakes, if it differs from the one in the log.
    fn configure(&mut self, now: Timestamp) {
        if !self.note_configuration(now) {
            // The time before a message does not count as waiting for its sender.
            let expired = self.state.promises.expired(now);
            let is_due = self.state.due(now).is_some() || expired.is_some();
            // Cached results of an earlier process must not be used again.
            let is_cached = !self.state.cached.is_empty();
            let is_needed = !self.state.turns.is_empty() || is_due || is_cached;
            self.progress.woke = is_needed.then_some(now);
        }
    }

    /// Logs the configuration that applies from `now` on. Returns whether it differs from the one in the log.
    fn note_configuration(&mut self, now: Timestamp) -> bool {
        let (provider, name) = self.ports.model.identity();
        let tools: Vec<_> = self.prepared.tools().specs().collect();
        let configuration = Configuration {
            program: PROGRAM.to_owned(),
            persona: self.config.persona.clone(),
            settings: self.config.settings(),
            model: Some(ConfiguredModel {
                provider: provider.clone(),
                name: name.clone(),
            }),
            services: self.ports.model.services(),
            tools: Vec::new(),
            preamble_tokens: self.prepared.preamble().tokens,
            awake_since: None,
        };
        let change = self.state.configuration.change_to(&configuration, &tools);
        let differs = change.is_some();
        self.note(now, change.map(Event::Configured).into_iter().collect());
        differs
    }

    /// Handles the result of a call to the outside.
    fn take_in(&mut self, done: Done) {
        let now = self.ports.clock.now();
        let view = self.view(now);
        let events = match self.config.secrets_in_log.done(decide::within_limits(done)) {
            Done::Replied {
                reply,
                model,
                asked,
                duration_ms,
            } => {
                let answered = Answered {
                    model,
                    asked,
                    duration_ms,
                };
                decide::on_reply(view, reply, answered)
            }
            Done::Assessed(call) => decide::on_assessed(view, call),
            Done::Failed {
                error,
                service,
                asked,
                duration_ms,
            } => {
                let cause = std::error::Error::source(&error.error).map(ToString::to_string);
                tracing::warn!(error = %error, cause = cause.as_deref(), "the model gave no reply");
                let failed = decide::Failed {
                    kind: error.error.kind(),
                    attempts: error.attempts,
                    prompt: Some(asked.length),
                    duration_ms,
                    service,
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
            Done::WorldFailed(failure) => {
                tracing::warn!(%failure, "the world gave no answer; trying again later");
                decide::on_world_failure(view, &failure)
            }
            Done::Recollected(found) => decide::on_recollected(view, *found),
            Done::MemoryAnswered { call, answer } => decide::on_memory_answer(view, &call, answer),
            Done::FactsExtracted(facts) => decide::on_extracted(view, facts),
            Done::Summarized {
                ask,
                outcome,
                duration_ms,
            } => decide::on_summary(view, &ask, outcome, duration_ms),
        };
        self.note(now, events);
    }
}

/// The tools of a world and those of the engine, with their compiled schemas. Compiling takes milliseconds and a clone does not,
/// so assistants of one world share them.
#[derive(Clone, Debug)]
pub struct CompiledTools {
    world: Registry,
    own: Registry,
}

impl CompiledTools {
    /// Compiles the tools of a world.
    ///
    /// # Errors
    ///
    /// [`WakeError::Tools`] if one of them is not valid, or two have the same name.
    pub fn try_new(world: Vec<ToolSpec>) -> Result<Self, WakeError> {
        Ok(Self {
            world: Registry::try_new(world)?,
            own: Registry::try_new(builtin_tools()?)?,
        })
    }
}

/// The offered tools with the instructions, for a configuration with which the assistant can run.
fn prepare(
    config: &AssistantConfig,
    tools: &CompiledTools,
    counter: &Arc<dyn TokenCounter>,
) -> Result<Prepared, WakeError> {
    config.check()?;
    let settings = config.settings();
    // Without a schedule it does not sleep by itself, and without turns in its sleep it cannot decide to wake.
    let is_offered = |tool: &ToolSpec| match tool.name.as_str() {
        GO_TO_SLEEP => config.sleep.enabled,
        WAKE_UP => config.sleep.turns > 0,
        _ => true,
    };
    let prepared = Prepared::new(
        &config.key,
        &config.persona,
        &settings,
        tools.world.and(&tools.own.only(is_offered))?,
        Arc::clone(counter),
    );
    leaves_room(config.limits.max_context_tokens(), &prepared.preamble())?;
    let named = config.tool_retries.each.keys();
    for tool in named.filter(|tool| prepared.tools().get(tool).is_none()) {
        tracing::warn!(tool, "tools.retry names a tool that there is not");
    }
    Ok(prepared)
}

/// Lets the memory catch up with the log before the assistant runs. If that fails, each message tries again.
async fn remember(ports: &Ports, key: &AssistantId) -> Result<(), WakeError> {
    match catch_up(&*ports.log, key, &ports.memory).await {
        Ok(caught_up) => tracing::debug!(?caught_up, "the memory has caught up with the log"),
        Err(error) if error.is_mismatch() => return Err(WakeError::Memory(error)),
        Err(error) => error.warn(),
    }
    Ok(())
}

/// Answers a command; the caller may have stopped waiting.
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
