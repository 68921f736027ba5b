//! Makes the decisions of a log again: every event that the engine decided, from what it knew at that time.
//!
//! Inputs from outside are taken from the log: messages, operators' commands, replies and failures of models, answers
//! of memory and world, and starts of the program. Everything else is decided by the functions that the running
//! assistant uses, and must equal the log byte for byte, its time included.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    sync::Arc,
};

use dormouse_contracts::{
    AssistantId, FORGOTTEN, ReadError, ReadEvents, Seq, Sources, StoredEvent, Timestamp,
    TokenCounter, WorldErrorKind, each_event,
};
use dormouse_entities::EntityChange;
use dormouse_memory::MemoryChange;
use dormouse_tools::RegistryError;

use crate::{
    PROGRAM,
    builtin::{Draft, MemoryQuery},
    compacting::{self, SummaryAsk},
    consolidating::{NightAgain, NightError},
    decide::{self, Action, Answered, Asked, Failed, Next, OutsideCall, Prepared, View},
    event::{
        AssessmentCall, CompactionMode, Configured, ConfiguredModel, Consulted, DecodeError,
        DelayCause, DelegatedTask, DelegationEnded, EntityChanged, Event, GoalId, GoalPursued,
        GoalUpdated, HistorySpan, HistorySummarized, MemoryChanged, StopCause, TaskAssessed,
        TaskOutcome, TickEnded, ToolAnswered, Verdict,
    },
    forgetting::lost_words,
    gate::Skip,
    prompt::{hash as request_hash, is_of_parts, request_tokens},
    sleeping::{self, SleepWish},
    state::State,
    work::WorldFailure,
};

/// How many events are read at a time.
const PAGE: usize = 512;

/// The result if every decision that could be compared was the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecidedAgain {
    /// How many events the log has.
    pub events: u64,
    /// How many of them lost words by forgetting, or belong to a turn whose message did. They are not compared.
    pub forgotten: u64,
    /// How many more differ because words that they depended on were forgotten later. They do not count as differences.
    pub read_forgotten: u64,
}

/// The decisions could not be made again, or one of them differs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecideAgainError {
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The log holds an event that this program cannot read.
    #[error("the log cannot be understood")]
    Decode(#[from] DecodeError),
    /// An event cannot be written as JSON.
    #[error("an event cannot be written as JSON")]
    Encode(#[from] serde_json::Error),
    /// The tools of the log cannot be prepared.
    #[error("the tools in event {at} cannot be used")]
    Tools {
        /// The event that has them.
        at: Seq,
        /// What is wrong with them.
        source: RegistryError,
    },
    /// A consolidation cannot be replayed.
    #[error("a consolidation cannot be replayed")]
    Night(#[from] NightError),
    /// A decision differs.
    #[error(transparent)]
    Different(#[from] Box<FirstDifference>),
}

/// The first event that is decided differently now.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("event {seq} is decided differently now")]
pub struct FirstDifference {
    /// Its place in the log.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// What the log has.
    pub recorded: Event,
    /// What is decided now.
    pub decided: DecidedInstead,
    /// The program that decided it, with its version; empty if the log does not name one.
    pub decided_by: String,
}

impl FirstDifference {
    /// Whether another program, or another version of it, decided the life.
    #[must_use]
    pub fn is_other_program(&self) -> bool {
        self.decided_by != PROGRAM
    }
}

/// What is decided in place of an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DecidedInstead {
    /// This event, at this time.
    Event(Box<Event>, Timestamp),
    /// Nothing, and why.
    Rest(Skip),
    /// A call to the outside, whose result would be another kind of event.
    Call(&'static str),
    /// Nothing: such an event cannot occur here.
    Nothing,
}

impl fmt::Display for DecidedInstead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event, _) => f.write_str(event.kind()),
            Self::Rest(_) => f.write_str("nothing: there is no reason for a tick"),
            Self::Call(call) => write!(f, "a call to {call}"),
            Self::Nothing => f.write_str("nothing: this cannot happen here"),
        }
    }
}

/// Makes the decisions in the log of one assistant again, up to and including `up_to`, and compares each with the log.
/// `counter_for` returns the counter that counted tokens when this model was configured.
///
/// Takes one page of events into memory at a time, for a log of any length. The future can be dropped at any moment.
///
/// # Errors
///
/// [`DecideAgainError::Different`] with the first event that is decided differently, or a log that cannot be read.
pub async fn decide_again<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    up_to: Seq,
    counter_for: impl Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>,
) -> Result<DecidedAgain, DecideAgainError> {
    // Boxed, because a state is large and would be part of the caller's future.
    let mut life = Box::new(Life {
        key,
        counter_for,
        state: State::default(),
        prepared: None,
        rest_of_decision: VecDeque::new(),
        under_way: None,
        asked: None,
        last_at: Timestamp::EPOCH,
        gap: Gap::default(),
        night: None,
    });
    while life.state.seq < up_to {
        let page = log.read(key, life.state.seq, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for stored in page.iter().take_while(|stored| stored.seq <= up_to) {
            if lost_words(stored) && !life.gap.is_open_at(stored.seq) {
                life.gap.until = last_forgetting(log, key, stored.seq).await?;
            }
            life.check_consolidation(log, stored).await?;
            life.take(stored)?;
        }
    }
    Ok(DecidedAgain {
        events: life.state.seq.0,
        forgotten: life.gap.forgotten,
        read_forgotten: life.gap.read_forgotten,
    })
}

/// The last forgetting after this event. An event does not record which forgetting removed its words, so it may have
/// been the last one.
async fn last_forgetting<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    after: Seq,
) -> Result<Option<Seq>, ReadError> {
    let mut last = None;
    each_event(log, key, after.next().., |stored| {
        if stored.kind == "forgotten" {
            last = Some(stored.seq);
        }
        Ok::<_, ReadError>(())
    })
    .await?;
    Ok(last)
}

/// The part of a log that is missing because it was forgotten later.
#[derive(Debug, Default)]
struct Gap {
    forgotten: u64,
    read_forgotten: u64,
    /// The event of the last forgetting. Set at the first event that lost words.
    until: Option<Seq>,
    /// The messages that lost their words: their turns are not compared.
    messages: HashSet<Seq>,
    /// The goals that lost their words: their turns are not compared.
    goals: HashSet<GoalId>,
    /// Whether the current turn belongs to such a message or goal.
    is_in_turn: bool,
}

impl Gap {
    /// Whether the decision at `seq` may have read words that were forgotten later.
    fn is_open_at(&self, seq: Seq) -> bool {
        self.until.is_some_and(|until| seq < until)
    }
}

/// A prompt, with the hash that older logs have of it.
struct AskedAgain {
    asked: Asked,
    older_hash: String,
}

impl AskedAgain {
    /// What the log is compared with, in the form of the hash that it has.
    fn as_recorded(&self, hash: &str) -> Asked {
        let mut asked = self.asked.clone();
        if !is_of_parts(hash) {
            asked.hash.clone_from(&self.older_hash);
        }
        asked
    }
}

/// A call to the outside that has no result yet.
enum UnderWay {
    Ask(AskedAgain),
    /// A request how complex a task is: its hash and its tokens.
    Assess(String, u32),
    /// An act that is carried out, or whose outcome is requested. The log does not say which of the two; both end with
    /// the same kind of event.
    Act,
    Observe,
    Recall,
    ExtractFacts,
    Summarize(Box<SummaryAsk>),
    AskMemory {
        query: Box<MemoryQuery>,
        /// Whether it led to a change.
        has_changed: bool,
    },
}

impl UnderWay {
    fn of(call: OutsideCall, counter: &dyn TokenCounter) -> Self {
        match call {
            OutsideCall::Ask(prompt) => Self::Ask(AskedAgain {
                asked: Asked::of(&prompt),
                older_hash: request_hash(&prompt.request),
            }),
            OutsideCall::Assess(request) => {
                Self::Assess(request_hash(&request), request_tokens(&request, counter))
            }
            OutsideCall::Perform(_) | OutsideCall::AskAfter(_) => Self::Act,
            OutsideCall::Observe(..) => Self::Observe,
            OutsideCall::Recall(_) => Self::Recall,
            OutsideCall::ExtractFacts => Self::ExtractFacts,
            OutsideCall::Summarize(ask) => Self::Summarize(ask),
            OutsideCall::AskMemory(_, query) => Self::AskMemory {
                query,
                has_changed: false,
            },
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ask(_) | Self::Assess(..) => "the model",
            Self::Act => "the world, for an act",
            Self::Observe => "the world, for a look",
            Self::Recall | Self::AskMemory { .. } => "the memory",
            Self::ExtractFacts => "the model, for facts",
            Self::Summarize(_) => "the model, for a summary",
        }
    }
}

/// The part of a running assistant that decides.
struct Life<'k, F> {
    key: &'k AssistantId,
    counter_for: F,
    state: State,
    prepared: Option<Prepared>,
    /// The events that were decided together with the last one, and not compared yet.
    rest_of_decision: VecDeque<Event>,
    under_way: Option<UnderWay>,
    /// The model call that goes on while its sender is asked to wait.
    asked: Option<AskedAgain>,
    last_at: Timestamp,
    gap: Gap,
    /// The replay of the memory; present from the first consolidation on.
    night: Option<NightAgain>,
}

impl<F: Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>> Life<'_, F> {
    /// Rebuilds a consolidation's request and what it made of the reply, and compares both with the event.
    async fn check_consolidation<L: ReadEvents + ?Sized>(
        &mut self,
        log: &L,
        stored: &StoredEvent,
    ) -> Result<(), DecideAgainError> {
        // Older logs do not record the rules of a consolidation.
        let open = &self.state.consultations;
        let Some(rules) = &open.under_way else {
            return Ok(());
        };
        let recorded = Event::decode(stored)?;
        let night = match &mut self.night {
            Some(night) => night,
            none => none.insert(NightAgain::new(self.key)?),
        };
        let decided = match &recorded {
            Event::Consulted(consulted) => {
                let asked = night.asked(log, stored.seq, open, consulted).await?;
                let Some((about, prompt_hash)) = asked else {
                    return Ok(());
                };
                Some(Event::Consulted(Consulted {
                    about,
                    prompt_hash,
                    ..consulted.clone()
                }))
            }
            Event::MemoryChanged(changed) => {
                if !matches!(changed.change, MemoryChange::Extracted { .. }) {
                    return Ok(());
                }
                let settings = &rules.extraction;
                let made = night.made_of_records(log, stored.seq, settings, &changed.change);
                made.await?.map(|change| {
                    Event::MemoryChanged(MemoryChanged {
                        change,
                        ..changed.clone()
                    })
                })
            }
            Event::EntityChanged(changed) => {
                let EntityChange::Consolidated { .. } = &changed.change else {
                    return Ok(());
                };
                let made = night.made_of_person(log, stored.seq, &changed.change);
                made.await?.map(|change| {
                    Event::EntityChanged(EntityChanged {
                        change,
                        ..changed.clone()
                    })
                })
            }
            Event::ConsultationFailed(failed) if night.is_readable(failed, open) => None,
            _ => return Ok(()),
        };
        if decided.as_ref() == Some(&recorded) {
            return Ok(());
        }
        if self.gap.is_open_at(stored.seq) {
            self.gap.read_forgotten += 1;
            return Ok(());
        }
        let decided = match decided {
            Some(event) => DecidedInstead::Event(Box::new(event), stored.at),
            None => DecidedInstead::Nothing,
        };
        Err(self.difference(stored, recorded, decided))
    }

    fn take(&mut self, stored: &StoredEvent) -> Result<(), DecideAgainError> {
        let event = Event::decode(stored)?;
        if let Event::Configured(_) | Event::Woke(_) = event {
            // The previous process ended or was killed, so its calls under way are lost.
            self.rest_of_decision.clear();
            self.under_way = None;
            self.asked = None;
            self.apply(stored, &event);
            return match event {
                Event::Configured(configured) => self.prepare(stored, configured),
                _ => Ok(()),
            };
        }
        if self.is_forgotten(stored, &event) {
            self.gap.forgotten += 1;
            self.rest_of_decision.clear();
            // Only the event of a forgetting explains words that are missing.
            if lost_words(stored) && !self.gap.is_open_at(stored.seq) {
                return Err(self.difference(stored, event, DecidedInstead::Nothing));
            }
        } else if !matches!(event, Event::Forgotten(_)) {
            let decided = match self.rest_of_decision.pop_front() {
                Some(next) => DecidedInstead::Event(Box::new(next), self.last_at),
                None => self.decide(&event, stored.at),
            };
            let decided = self.without_unnoted_end(decided, &event, stored.at);
            let decided = match decided {
                DecidedInstead::Event(decided, at) => {
                    DecidedInstead::Event(Box::new(self.state.accounted(at, *decided)), at)
                }
                other => other,
            };
            let decided = as_it_was_recorded(decided, &event);
            let decided = match self.gap.is_open_at(stored.seq) {
                true => with_forgotten_prompt(decided, &event),
                false => decided,
            };
            if !is_recorded(&decided, stored)? {
                if !self.gap.is_open_at(stored.seq) {
                    return Err(self.difference(stored, event, decided));
                }
                self.gap.read_forgotten += 1;
                self.rest_of_decision.clear();
            }
        }
        match &event {
            Event::Delayed(delayed) if delayed.cause == DelayCause::Slow => {
                if let Some(UnderWay::Ask(asked)) = self.under_way.take() {
                    self.asked = Some(asked);
                }
            }
            Event::EmergencyStopTriggered(_) => {
                self.under_way = None;
                self.asked = None;
            }
            Event::TickEnded(_) => self.asked = None,
            Event::Perceived(_) | Event::Forgotten(_) => {}
            // Any summary ends the turn's own request for one, even if an operator asked first.
            Event::HistorySummarized(_) | Event::SummaryFailed(_) => {
                self.under_way
                    .take_if(|call| matches!(call, UnderWay::Summarize(_)));
            }
            command if command.is_by_operator() => {}
            // The result of the call follows.
            Event::EntityChanged(_) | Event::Remembered(_) => {
                if let Some(UnderWay::AskMemory { has_changed, .. }) = &mut self.under_way {
                    *has_changed = true;
                }
            }
            // Any other event is the result of the call under way.
            _ => self.under_way = None,
        }
        self.apply(stored, &event);
        Ok(())
    }

    /// Skips the end of a commitment if the log does not record it, as logs of older programs do not.
    fn without_unnoted_end(
        &mut self,
        decided: DecidedInstead,
        recorded: &Event,
        at: Timestamp,
    ) -> DecidedInstead {
        let is_unnoted = matches!(recorded, Event::TickEnded(_))
            && matches!(&decided, DecidedInstead::Event(event, _) if matches!(**event, Event::CommitmentEnded(_)));
        let next = is_unnoted.then(|| self.rest_of_decision.pop_front());
        match next.flatten() {
            Some(next) => DecidedInstead::Event(Box::new(next), at),
            None => decided,
        }
    }

    /// Whether the event lost words, or is part of a turn whose message did. Messages and commands come at any time.
    fn is_forgotten(&mut self, stored: &StoredEvent, event: &Event) -> bool {
        let lost_words = lost_words(stored);
        match event {
            Event::Perceived(perceived) if perceived.perception.words.is_forgotten() => {
                self.gap.messages.insert(stored.seq);
                return lost_words;
            }
            Event::EntityChanged(changed) if is_forgotten_action(&changed.change) => {
                self.gap.messages.insert(stored.seq);
            }
            Event::GoalCreated(created) if created.description.text == FORGOTTEN => {
                self.gap.goals.insert(created.id);
                self.gap.messages.insert(stored.seq);
            }
            Event::TaskReceived(received) if is_forgotten_task(&received.task) => {
                self.gap.messages.insert(stored.seq);
            }
            Event::DelegationEnded(ended) if self.is_forgotten_end(ended) => {
                self.gap.messages.insert(stored.seq);
            }
            Event::GoalUpdated(GoalUpdated { id, .. })
            | Event::GoalPursued(GoalPursued { id, .. })
                if self.gap.goals.contains(id) =>
            {
                self.gap.messages.insert(stored.seq);
            }
            Event::TickStarted(started) => {
                self.gap.is_in_turn = self.gap.messages.contains(&started.trigger);
            }
            Event::TickEnded(_) => return std::mem::take(&mut self.gap.is_in_turn),
            Event::Perceived(_) | Event::EmergencyStopCleared(_) | Event::Forgotten(_) => {
                return lost_words;
            }
            command if command.is_by_operator() => return lost_words,
            _ => {}
        }
        lost_words || self.gap.is_in_turn
    }

    /// Whether the turn for this end of a task showed words that were forgotten: the task's or the result's.
    fn is_forgotten_end(&self, ended: &DelegationEnded) -> bool {
        let given = self.state.delegations.given_task(&ended.key);
        let task = given.map(|given| &given.delegated.task.task);
        let result = match &ended.outcome {
            TaskOutcome::Done(words) => Some(words),
            TaskOutcome::Failed(_) => None,
        };
        let mut shown = task.into_iter().chain(result);
        shown.any(|words| words.text == FORGOTTEN)
    }

    fn apply(&mut self, stored: &StoredEvent, event: &Event) {
        self.state.apply(stored.seq, stored.at, event);
        self.last_at = stored.at;
    }

    /// Prepares the configuration that begins with this event. The length of its instructions depends on the counter.
    fn prepare(
        &mut self,
        stored: &StoredEvent,
        recorded: Configured,
    ) -> Result<(), DecideAgainError> {
        let configuration = &self.state.configuration;
        let Some(model) = &configuration.model else {
            let decided = DecidedInstead::Nothing;
            return Err(self.difference(stored, Event::Configured(recorded), decided));
        };
        let prepared = Prepared::of(self.key, configuration, (self.counter_for)(model));
        let at = stored.seq;
        let prepared = prepared.map_err(|source| DecideAgainError::Tools { at, source })?;
        let tokens = prepared.preamble().tokens;
        if tokens != configuration.preamble_tokens {
            let decided = Event::Configured(Configured {
                preamble_tokens: Some(tokens),
                ..recorded.clone()
            });
            let decided = DecidedInstead::Event(Box::new(decided), stored.at);
            return Err(self.difference(stored, Event::Configured(recorded), decided));
        }
        self.prepared = Some(prepared);
        Ok(())
    }

    /// What is decided in place of an event at `at`. Only the parts of the event that came from outside are used.
    fn decide(&mut self, event: &Event, at: Timestamp) -> DecidedInstead {
        let Some(prepared) = self.prepared.take() else {
            // An operator can change the memory, or stop the assistant, before it wakes for the first time.
            let is_command = event.is_by_operator()
                || matches!(
                    event,
                    Event::EmergencyStopTriggered(_) | Event::EmergencyStopCleared(_)
                );
            let events = is_command.then(|| event.clone()).into_iter().collect();
            return self.first_of(events, at);
        };
        let state = std::mem::take(&mut self.state);
        if self.under_way.is_none() {
            // The call that begins right after the last event. Events that come meanwhile do not change it.
            let view = prepared.view(self.key, &state, self.last_at, None);
            self.under_way = match (decide::next(view), &mut self.asked) {
                (Next::Act(Action::Call(OutsideCall::Ask(_))), Some(_)) => {
                    self.asked.take().map(UnderWay::Ask)
                }
                (Next::Act(Action::Call(call)), _) => Some(UnderWay::of(call, view.counter)),
                (Next::Act(Action::Decide(_)) | Next::Rest(_), _) => None,
            };
        }
        let view = prepared.view(self.key, &state, at, None);
        let from_outside = match &self.under_way {
            Some(call) => result_of(view, call, event),
            None => None,
        };
        let decided = from_outside.or_else(|| input(view, self.under_way.as_ref(), event));
        let decided = match decided {
            Some(events) => self.first_of(events, at),
            None => match decide::next(view) {
                Next::Act(Action::Decide(decided)) => self.first_of(decided.into_events(), at),
                Next::Rest(skip) => DecidedInstead::Rest(skip),
                Next::Act(Action::Call(call)) => {
                    DecidedInstead::Call(UnderWay::of(call, view.counter).name())
                }
            },
        };
        self.state = state;
        self.prepared = Some(prepared);
        decided
    }

    /// The first event of a decision; the others have to follow it.
    fn first_of(&mut self, events: Vec<Event>, at: Timestamp) -> DecidedInstead {
        self.rest_of_decision = events.into();
        let first = self.rest_of_decision.pop_front();
        first.map_or(DecidedInstead::Nothing, |event| {
            DecidedInstead::Event(Box::new(event), at)
        })
    }

    fn difference(
        &self,
        stored: &StoredEvent,
        recorded: Event,
        decided: DecidedInstead,
    ) -> DecideAgainError {
        DecideAgainError::Different(Box::new(FirstDifference {
            seq: stored.seq,
            at: stored.at,
            recorded,
            decided,
            decided_by: self.state.configuration.program.clone(),
        }))
    }
}

/// Whether the turn for this task showed words that were forgotten.
fn is_forgotten_task(task: &DelegatedTask) -> bool {
    let mut shown = [&task.task].into_iter().chain(&task.briefing);
    shown.any(|words| words.text == FORGOTTEN)
}

/// What was decided, without what an older program did not record.
fn as_it_was_recorded(mut decided: DecidedInstead, recorded: &Event) -> DecidedInstead {
    if let (DecidedInstead::Event(event, _), Event::Replied(recorded)) = (&mut decided, recorded)
        && let Event::Replied(replied) = &mut **event
        && recorded.sources.is_none()
    {
        replied.sources = None;
    }
    if let (DecidedInstead::Event(event, _), Event::TickEnded(recorded)) = (&mut decided, recorded)
        && let Event::TickEnded(ended) = &mut **event
        && recorded.tick.is_none()
    {
        *ended = TickEnded::new(ended.reason, ended.resume_at);
    }
    if let (DecidedInstead::Event(event, _), Event::TaskAnswered(recorded)) =
        (&mut decided, recorded)
        && let Event::TaskAnswered(answered) = &mut **event
        && recorded.sources.is_empty()
    {
        answered.sources = Sources::default();
    }
    if let (DecidedInstead::Event(event, _), Event::TaskDelegated(recorded)) =
        (&mut decided, recorded)
        && let Event::TaskDelegated(delegated) = &mut **event
        && recorded.briefing_sources.is_empty()
    {
        delegated.briefing_sources = Sources::default();
    }
    if let (DecidedInstead::Event(event, _), Event::CallReserved(recorded)) =
        (&mut decided, recorded)
        && let Event::CallReserved(reserved) = &mut **event
        && recorded.ahead.is_none()
    {
        reserved.ahead = None;
    }
    // The memory found out whom the commitment waits for, so that comes from the log.
    if let (DecidedInstead::Event(event, _), Event::EntityChanged(recorded)) =
        (&mut decided, recorded)
        && let Event::EntityChanged(decided) = &mut **event
        && let EntityChange::ActionAdded { when, .. } = &mut decided.change
        && let EntityChange::ActionAdded { when: found, .. } = &recorded.change
    {
        for (one, found) in when.iter_mut().zip(found) {
            one.who.clone_from(&found.who);
        }
    }
    decided
}

/// What was decided, with the hash and the length that its prompt had with the words that were forgotten after it.
fn with_forgotten_prompt(decided: DecidedInstead, recorded: &Event) -> DecidedInstead {
    match (decided, recorded) {
        (DecidedInstead::Event(mut event, at), Event::Replied(recorded)) => {
            if let Event::Replied(replied) = &mut *event {
                replied.prompt_hash.clone_from(&recorded.prompt_hash);
                replied.prompt_tokens = recorded.prompt_tokens;
                replied.least_shown = recorded.least_shown;
                replied.trust = recorded.trust;
                replied.omitted.clone_from(&recorded.omitted);
                replied.sources.clone_from(&recorded.sources);
            }
            DecidedInstead::Event(event, at)
        }
        (decided, _) => decided,
    }
}

/// Whether the log has exactly this event, at this time.
fn is_recorded(decided: &DecidedInstead, stored: &StoredEvent) -> Result<bool, serde_json::Error> {
    let DecidedInstead::Event(event, at) = decided else {
        return Ok(false);
    };
    let encoded = event.encode(*at)?;
    Ok(encoded.at == stored.at
        && encoded.kind == stored.kind
        && encoded.schema == stored.schema
        && encoded.payload == stored.payload)
}

/// What follows from a message, or from an operator's command; `None` if the event is neither. Both come at any time.
fn input(view: View<'_>, under_way: Option<&UnderWay>, event: &Event) -> Option<Vec<Event>> {
    let state = view.state;
    let accepted =
        |is_possible: bool| Some(is_possible.then(|| event.clone()).into_iter().collect());
    match event {
        Event::Perceived(perceived) => {
            let perception = perceived.perception.clone();
            let classification = decide::classification(view, &perception, state.cross_talk);
            let before = decide::Before {
                admission: &state.admission,
                waiting: None,
            };
            let attested = &perception.attested;
            let decide::Admitted::Kept {
                classification,
                refused,
            } = decide::admit(view, attested, classification, before)
            else {
                return Some(Vec::new());
            };
            let perceived = decide::perceived(
                view,
                state.seq.next(),
                perception,
                (classification, refused),
                &state.people,
            );
            Some(vec![Event::Perceived(perceived)])
        }
        // Whether a wait is long enough depends on what people saw of the assistant, which is not in the log.
        Event::Delayed(delayed) if delayed.cause == DelayCause::Slow => {
            let is_asking = matches!(under_way, Some(UnderWay::Ask(_)));
            Some(if is_asking {
                decide::on_delay(view)
            } else {
                Vec::new()
            })
        }
        Event::EmergencyStopTriggered(triggered) => match triggered.cause {
            StopCause::Operator(_) => accepted(!state.stop.is_on()),
            _ => None,
        },
        Event::EmergencyStopCleared(_) => accepted(state.stop.is_on()),
        Event::RetryRequested(_) => accepted(state.waits_for_a_model(view.now)),
        Event::Compacted(it) if it.mode == CompactionMode::Planned => {
            Some(compacting::planned_again(view.state, &view.preamble(), it))
        }
        Event::NightStepped(it) => accepted(sleeping::follows(state, it)),
        Event::NightProbed(it) => accepted(sleeping::may_be_probed(state, it)),
        Event::FellAsleep(it) if event.is_by_operator() => {
            let asleep = state.fall_asleep(view.now, SleepWish::of(it)).ok();
            Some(asleep.map(Event::FellAsleep).into_iter().collect())
        }
        Event::WokeUp(it) if event.is_by_operator() => {
            let woken = state.wake_up(it.cause.clone()).ok();
            Some(woken.map(Event::WokeUp).into_iter().collect())
        }
        // If no turn waits for a summary, a command requested it.
        Event::HistorySummarized(it) => summary_of(view, &it.span, it),
        // Commands are given while the assistant sleeps.
        command if command.is_by_operator() => accepted(true),
        _ => None,
    }
}

/// What follows from the result of a call; `None` if the event is not a result of it.
fn result_of(view: View<'_>, call: &UnderWay, event: &Event) -> Option<Vec<Event>> {
    match (call, event) {
        (UnderWay::Ask(asked), Event::Replied(replied)) => Some(decide::on_reply(
            view,
            replied.reply.clone(),
            Answered {
                model: replied.model.clone(),
                asked: asked.as_recorded(&replied.prompt_hash),
                duration_ms: replied.duration_ms,
            },
        )),
        (UnderWay::Ask(asked), Event::ModelFailed(failed)) => {
            let failed = Failed {
                kind: failed.kind,
                attempts: failed.attempts,
                prompt: Some(asked.asked.length),
                duration_ms: failed.duration_ms,
                service: failed.service.clone(),
                reason: failed.reason.clone(),
            };
            Some(decide::on_failure(view, &failed))
        }
        (UnderWay::Assess(hash, tokens), Event::TaskAssessed(TaskAssessed { asked, .. })) => {
            let asked = asked.clone()?;
            Some(decide::on_assessed(
                view,
                AssessmentCall {
                    prompt_hash: hash.clone(),
                    prompt_tokens: *tokens,
                    ..asked
                },
            ))
        }
        (UnderWay::Act, Event::EffectSettled(settled)) => {
            let open = view
                .state
                .turns
                .current()
                .and_then(|turn| turn.open_effect());
            let key = open.map(|effect| effect.key.clone())?;
            Some(decide::on_settled(view, key, settled.outcome.clone()))
        }
        // The outcome also covers a world that could not be reached.
        (UnderWay::Act, Event::StopNoticeSettled(settled)) => {
            let (key, outcome) = (settled.key.clone(), settled.outcome.clone());
            Some(decide::on_settled(view, key, outcome))
        }
        (UnderWay::Act | UnderWay::Observe, Event::WorldFailed(failed)) => {
            let kind = match failed.silent {
                true => WorldErrorKind::Unanswered,
                false => WorldErrorKind::NotReached,
            };
            let reason = failed.reason.clone();
            Some(decide::on_world_failure(
                view,
                &WorldFailure { kind, reason },
            ))
        }
        (UnderWay::ExtractFacts, Event::Compacted(it)) => {
            it.extraction.map(|facts| decide::on_extracted(view, facts))
        }
        (UnderWay::Summarize(ask), Event::HistorySummarized(it)) => Some(decide::on_summary(
            view,
            ask,
            Ok((it.model.clone(), it.reply.clone())),
            it.duration_ms,
        )),
        (UnderWay::Summarize(ask), Event::SummaryFailed(it)) => Some(vec![compacting::failed(
            view.state, view.now, &ask.span, it.cause,
        )]),
        (UnderWay::Recall, Event::Recollected(found)) => {
            let found = found.clone();
            let found = found.with_items(|items| view.state.recalled.lines(items));
            Some(decide::on_recollected(view, found))
        }
        (UnderWay::AskMemory { query, has_changed }, Event::ToolAnswered(answered)) => {
            let changes = matches!(
                **query,
                MemoryQuery::Change { .. } | MemoryQuery::Store { .. }
            );
            let is_noted = changes && answered.verdict == Verdict::Success;
            let answer = answer(view, answered).filter(|_| is_noted == *has_changed);
            Some(answer.into_iter().collect())
        }
        (UnderWay::Observe, Event::ToolAnswered(answered)) => {
            answer(view, answered).map(|answer| vec![answer])
        }
        (
            UnderWay::AskMemory {
                query,
                has_changed: false,
            },
            Event::EntityChanged(changed),
        ) => drafted(view, query, &changed.change),
        (
            UnderWay::AskMemory {
                query,
                has_changed: false,
            },
            Event::Remembered(_),
        ) => match &**query {
            MemoryQuery::Store { remembered, .. } => {
                Some(vec![Event::Remembered(remembered.as_ref().clone())])
            }
            _ => None,
        },
        _ => None,
    }
}

/// The summary of these turns that follows from a recorded reply.
fn summary_of(view: View<'_>, span: &HistorySpan, made: &HistorySummarized) -> Option<Vec<Event>> {
    let ask = SummaryAsk::of(view.state, view.counter, span)?;
    let reply = (made.model.clone(), made.reply.clone());
    Some(decide::on_summary(view, &ask, Ok(reply), made.duration_ms))
}

/// Whether it adds a pending action whose words were forgotten. Its turn is not compared, like that of a forgotten message.
fn is_forgotten_action(change: &EntityChange) -> bool {
    matches!(change, EntityChange::ActionAdded { description, .. } if description.as_str() == FORGOTTEN)
}

/// The changes that a call asks for. The memory only finds out whom the call means.
fn drafted(view: View<'_>, query: &MemoryQuery, recorded: &EntityChange) -> Option<Vec<Event>> {
    let MemoryQuery::Change { draft, .. } = query else {
        return None;
    };
    let (EntityChange::Observed { entity, .. }
    | EntityChange::AttributesUpdated { entity, .. }
    | EntityChange::Judged { entity, .. }
    | EntityChange::ConversationStarted { entity, .. }
    | EntityChange::TopicChanged { entity, .. }
    | EntityChange::ConversationEnded { entity }
    | EntityChange::ActionCompleted { entity, .. }) = recorded
    else {
        return None;
    };
    let call = view.state.turns.current()?.open_call()?;
    let mut draft = draft.clone();
    // When an action was noted is an answer of the memory.
    if let (Draft::CompleteAction(_, found, _), EntityChange::ActionCompleted { noted_at, .. }) =
        (&mut *draft, recorded)
    {
        *found = *noted_at;
    }
    Some(decide::noted(call, draft.changes(entity)))
}

/// The event for an answer of the world or the memory to a query. The answer itself, and its sources, are taken from
/// the log.
fn answer(view: View<'_>, answered: &ToolAnswered) -> Option<Event> {
    let open = view
        .state
        .turns
        .current()
        .and_then(|turn| turn.open_call())?;
    let text = decide::without_advice(&answered.content);
    if answered.is_unanswered {
        return Some(decide::call_unanswered(view, open, text));
    }
    Some(decide::answer_with(
        view,
        open,
        answered.verdict,
        text,
        answered.trust,
    ))
}
