//! The state of an assistant at one moment: a fold over its events.
//!
//! Only [`State::apply`] changes a state, and it reads nothing but the event: no clock, no configuration. So a snapshot
//! and the events after it give the same state as all events with every configuration, and both have the same
//! [hash](State::hash).
//!
//! A state consists of parts. Each part folds the events that concern it and owns its rules.

mod admission;
mod approvals;
mod awaiting;
mod cached_results;
mod changed_settings;
mod compactions;
mod configuration;
mod consultations;
mod cross_talk;
mod delegations;
mod deliveries;
mod derived;
mod errors;
mod finished;
mod goals;
mod heard;
mod heartbeat;
mod history;
mod identities;
mod journal_book;
mod ledger;
mod offered_tools;
mod overheard;
mod pauses;
mod people;
mod projects;
mod promise;
mod promises;
mod reflections;
mod roster;
mod self_notes;
mod service;
mod services;
mod shown_lines;
mod sleep;
mod spent;
mod step;
mod stop;
mod tool_circuits;
mod trigger;
mod turn;
mod turns;
mod undos;
mod window;

use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(crate) use admission::{Judgement, is_output};
pub use admission::{LastRefusal, SenderLoads};
pub use approvals::{Approval, Approvals};
pub use awaiting::Awaiting;
pub(crate) use cached_results::CachedResult;
pub use cached_results::CachedResults;
use cached_results::is_own_query;
pub use changed_settings::{ChangedSetting, ChangedSettings};
pub use compactions::{Compactions, HistorySummary, OpenSpan};
pub use configuration::Configuration;
pub use consultations::Consultations;
pub use cross_talk::CrossTalk;
pub use delegations::{Delegations, GivenTask, TakenTask, TaskEnd};
pub use deliveries::Deliveries;
pub use errors::{ErrorRecord, RECENT_CALLS};
pub use finished::FinishedTurn;
pub(crate) use finished::MessageForm;
pub use goals::{Goal, GoalTurns, Goals};
pub use heard::Heard;
pub use heartbeat::Heartbeat;
pub use history::{HISTORY_KEPT, History};
pub use identities::Identities;
pub use journal_book::JournalBook;
pub use ledger::{Amount, Reservation, SpendingLedger, SpendingWindow};
pub use offered_tools::OfferedTools;
pub use overheard::{OVERHEARD_KEPT, Overheard};
pub use pauses::{Pause, Pauses};
pub use people::People;
pub use projects::{Project, Projects};
pub use promise::{MetCondition, Promise};
use promises::Surroundings;
pub(crate) use promises::{BegunPromise, completion_outcome};
pub use promises::{EndedPromise, Promises};
pub use reflections::Reflections;
pub use roster::{Archived, Roster};
pub use self_notes::{SelfNote, SelfNotes};
pub use service::Service;
pub use services::Services;
pub use shown_lines::ShownLines;
pub(crate) use sleep::ProbedPiece;
pub use sleep::{Night, NightCounts, OperatingMode, Sleep, StepEnd, StepProgress};
pub use spent::{Counts, Spent};
pub use step::{CallState, EffectState, Step, StepKind};
pub use stop::{EmergencyStop, StopNotice, Stopped};
pub use tool_circuits::ToolCircuits;
pub use trigger::{DueGoal, Occasion, OccasionKind, Trigger};
pub use turn::{Phase, Turn, TurnFailures, TurnView, Wait, Widened, WorldReach};
pub use turns::Turns;
pub use undos::Undos;
pub use window::{LearntLimit, Window};

use crate::{
    context::context_of,
    event::{ContextLimit, ContextType, Event, TickStarted},
    privacy::listeners,
    secrets::without_secrets,
};

/// The state of an assistant at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last event that is folded in.
    pub seq: Seq,
    /// The configuration that is in force.
    pub configuration: Box<Configuration>,
    /// Settings that operators changed in addition to the configuration.
    #[serde(default)]
    pub changed_settings: ChangedSettings,
    /// What an operator decided about the assistant as a whole, such as its tags.
    #[serde(default)]
    pub roster: Roster,
    /// Which deliveries were accepted.
    pub delivered: Deliveries,
    /// Who was heard lately, and under which name.
    pub people: People,
    /// Which ids belong to one person, and which to the assistant itself.
    #[serde(default)]
    pub identities: Identities,
    /// Lines overheard lately.
    pub overheard: Overheard,
    /// What waits for a turn, and the turns that are open.
    pub turns: Turns,
    /// Turns that are over.
    pub history: History,
    /// Summaries of turns that prompts no longer show.
    #[serde(default, skip_serializing_if = "Compactions::is_none")]
    pub compactions: Compactions,
    /// Remembered lines that were shown lately.
    pub recalled: ShownLines,
    /// Cached results of queries.
    #[serde(default)]
    pub cached: CachedResults,
    /// What went wrong lately.
    pub errors: ErrorRecord,
    /// The emergency stop.
    pub stop: EmergencyStop,
    /// The services that answer for the model.
    pub services: Services,
    /// The limit on the length of prompts, if it turned out to be lower than the configured window allows.
    pub window: Window,
    /// What has been spent.
    pub spent: Spent,
    /// What was spent lately, for the budgets.
    #[serde(default)]
    pub ledger: SpendingLedger,
    /// Counts of what was done.
    pub counts: Counts,
    /// Replies of a model whose results are not recorded yet.
    #[serde(default)]
    pub consultations: Consultations,
    /// What it promised to do for somebody later.
    #[serde(default)]
    pub promises: Promises,
    /// Its goals.
    #[serde(default)]
    pub goals: Goals,
    /// Acts that wait for a person's confirmation.
    #[serde(default)]
    pub approvals: Approvals,
    /// Changes that were taken back.
    #[serde(default)]
    pub undos: Undos,
    /// How much each sender has asked of it lately, and what was refused.
    #[serde(default, skip_serializing_if = "SenderLoads::is_none")]
    pub admission: SenderLoads,
    /// What other assistants said to it since a person said something.
    #[serde(default, skip_serializing_if = "CrossTalk::is_none")]
    pub cross_talk: CrossTalk,
    /// Tasks that it gave to other assistants, and tasks that they gave to it.
    #[serde(default, skip_serializing_if = "Delegations::are_none")]
    pub delegations: Delegations,
    /// Its projects.
    #[serde(default, skip_serializing_if = "Projects::is_empty")]
    pub projects: Projects,
    /// Notes that it keeps for itself.
    #[serde(default, skip_serializing_if = "SelfNotes::is_empty")]
    pub self_notes: SelfNotes,
    /// Its journal.
    #[serde(default, skip_serializing_if = "JournalBook::is_empty")]
    pub journal: JournalBook,
    /// When it reflects on its journal.
    #[serde(default, skip_serializing_if = "Reflections::are_none")]
    pub reflections: Reflections,
    /// Tools that are not called for a while because they gave no answers.
    #[serde(default, skip_serializing_if = "ToolCircuits::is_none")]
    pub tool_circuits: ToolCircuits,
    /// Which tools prompts offer, if there are more than they have room for.
    #[serde(default, skip_serializing_if = "OfferedTools::is_none")]
    pub offered_tools: OfferedTools,
    /// The tick under way, or the last one.
    #[serde(default, skip_serializing_if = "Heartbeat::is_none")]
    pub heartbeat: Heartbeat,
    /// Whether it is asleep, and its nights.
    #[serde(default, skip_serializing_if = "Sleep::is_none")]
    pub sleep: Sleep,
}

impl State {
    /// Folds one event in. `seq` is its place in the log and `at` its time.
    ///
    /// Folding never fails: an event that makes no sense in this state changes what it can, and nothing else.
    pub fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        let event = &*without_secrets(event);
        self.seq = seq;
        self.configuration.apply(at, event);
        self.changed_settings.apply(seq, at, event);
        self.roster.apply(at, event);
        self.delivered.apply(event);
        self.people.apply(at, event);
        self.identities.apply(event);
        self.cross_talk.apply(event);
        let settings = &self.configuration.settings.admission;
        self.admission
            .apply((seq, at), event, settings, &self.identities, &self.turns);
        self.stop.apply(at, event);
        self.spent.apply(event);
        let budgets = &self.configuration.settings.budgets;
        self.ledger.apply(at, event, budgets);
        self.counts.apply(event);
        self.consultations.apply(seq, event);
        self.promises.apply(
            seq,
            at,
            event,
            &Surroundings {
                identities: &self.identities,
                undos: &self.undos,
                privacy: self.configuration.settings.privacy,
                overheard: &self.overheard,
                turns: &self.turns,
            },
        );
        self.goals.apply(seq, at, event, &self.identities);
        self.projects.apply(seq, at, event);
        self.self_notes.apply(seq, at, event);
        self.journal.apply(seq, at, event);
        self.reflections.apply(seq, at, event);
        self.sleep.apply(seq, at, event);
        self.offered_tools.apply(event);
        // A promise whose moment has come takes effect only when its turn begins, so that nothing has to be written at
        // that moment.
        if let Event::TickStarted(TickStarted {
            trigger, context, ..
        }) = event
        {
            let promised = self.promises.take(*trigger, &self.people);
            let settings = &self.configuration.settings.journal;
            let next = self.journal.journal().next_id();
            let looked_back = || self.reflections.take(*trigger, at, next, settings);
            let due = promised.or_else(|| self.goals.take(*trigger, seq, *context));
            let sleep = &self.configuration.settings.sleep;
            let dreams = || self.sleep.take(*trigger, at, sleep);
            if let Some(occasion) = due.or_else(looked_back).or_else(dreams) {
                self.turns.wait_for(occasion);
                self.heartbeat.begin_by_itself(at);
            }
        }
        let closing = matches!(event, Event::TickEnded(ended) if ended.resume_at.is_none());
        if let Some(turn) = self.turns.current().filter(|_| closing) {
            self.promises.close(turn.trigger_seq());
        }
        if let Some(occasion) = self.approvals.apply(seq, at, event) {
            self.turns.wait_for(occasion);
        }
        let settings = &self.configuration.settings;
        let lived_under = (settings.budgets.price, settings.privacy);
        let stirred = (self.delegations).apply((seq, at), event, &self.turns, lived_under);
        stirred
            .over
            .into_iter()
            .for_each(|it| self.turns.drop_waiting(it));
        stirred
            .due
            .into_iter()
            .for_each(|it| self.turns.wait_for(it));
        // These read the turns as they were before the event.
        self.heartbeat.apply(at, event, &self.turns);
        self.overheard.apply(seq, at, event, &self.turns);
        self.errors.apply(event, &self.turns, &self.services);
        self.window.apply(event, &self.turns);
        let breaker = &self.configuration.settings.tool_breaker;
        self.tool_circuits.apply(at, event, &self.turns, breaker);
        let tools = &self.configuration.tools;
        let heard_by = match (event, self.turns.current()) {
            (Event::ToolAnswered(it), Some(turn)) if is_own_query(tools, &it.tool) => {
                listeners(self, turn)
            }
            _ => None,
        };
        self.cached.apply(at, event, tools, &self.turns, heard_by);
        let answering = &self.configuration.services;
        self.services.apply(at, event, answering, &self.turns);
        let privacy = self.configuration.settings.privacy;
        // A turn looks up the lines that the event only references, so this comes before the lines themselves.
        let closed = self
            .turns
            .apply(seq, at, event, &self.services, &self.recalled, privacy);
        self.recalled.apply(event);
        self.overheard.refresh(event, &self.turns);
        self.history.apply(event);
        self.history.clear_after_reset(&self.turns);
        self.compactions.apply(seq, at, event);
        if self.undos.takes_back_an_undo(event) {
            // The change refers to an event far back, so all shown lines are dropped. They can be looked up again.
            self.recalled.clear();
            self.turns.forget_looked_up();
            self.history.forget_looked_up();
        }
        self.undos.apply(seq, event);
        if let Some(closed) = closed {
            self.history.take_in(closed);
        }
    }

    /// Begins the next tick: for an open turn or a waiting occasion, or for `imagined` if there is neither. Returns
    /// whether there was one.
    pub(crate) fn begin_next(&mut self, context: Option<ContextType>, imagined: Occasion) -> bool {
        let open = self.turns.open().next().map(Turn::trigger_seq);
        let next = open.or_else(|| self.turns.waiting().next().map(Trigger::seq));
        let trigger = next.unwrap_or(imagined.seq);
        if next.is_none() {
            self.turns.wait_for(imagined);
        }
        let started = Event::TickStarted(TickStarted {
            tick: self.counts.ticks.saturating_add(1),
            context: context.unwrap_or_else(|| context_of(self, trigger)),
            trigger,
        });
        let at = self.seq;
        self.apply(at, Timestamp::EPOCH, &started);
        next.is_some()
    }

    /// What is due at `now`, other than messages, as the event that identifies its turn. Promises to somebody come
    /// first.
    pub(crate) fn due(&self, now: Timestamp) -> Option<Seq> {
        let goal = || self.goals.due(now, &self.configuration.settings.goals);
        let promise = self.promises.due(now).map(|promise| promise.seq);
        let promise = promise.or_else(|| goal().map(|goal| goal.turns.trigger));
        promise.or_else(|| {
            let settings = &self.configuration.settings.journal;
            self.reflections.due(now, settings)
        })
    }

    /// Like [`due`](Self::due), but `None` while it has to wait: turns that nobody asked for begin at least one tick
    /// rate apart.
    pub(crate) fn due_at_beat(&self, now: Timestamp) -> Option<Seq> {
        let due = self.due(now);
        due.filter(|_| self.next_beat(now).is_none())
    }

    fn next_beat(&self, now: Timestamp) -> Option<Timestamp> {
        let limits = &self.configuration.settings.limits;
        let is_paced = limits.are_beats_apart();
        is_paced.then(|| self.heartbeat.next(now, limits.tick_rate()))?
    }

    /// The next moment after `now` at which a turn begins by itself, because something is due.
    pub(crate) fn next_due_after(&self, now: Timestamp) -> Option<Timestamp> {
        let settings = &self.configuration.settings.goals;
        let goal = self.goals.next_after(now, settings);
        let settings = &self.configuration.settings.journal;
        let goal = goal
            .into_iter()
            .chain(self.reflections.next_after(now, settings));
        let next = self.promises.next_after(now).into_iter().chain(goal).min();
        let own = match self.next_beat(now) {
            Some(beat) if self.due(now).is_some() => Some(beat),
            Some(beat) => next.map(|next| next.max(beat)),
            None => next,
        };
        // Deadlines of tasks hold independently of the tick rate.
        own.into_iter()
            .chain(self.delegations.next_deadline(now))
            .min()
    }

    /// An event in the form in which it is recorded: the end of a tick gets the tick's number, its duration and what it
    /// did.
    pub(crate) fn accounted(&self, at: Timestamp, event: Event) -> Event {
        match event {
            Event::TickEnded(ended) => {
                Event::TickEnded(self.heartbeat.account(at, self.counts.ticks, &ended))
            }
            other => other,
        }
    }

    /// Whether anything waits for a model service at `now`: a pause is in force, or a turn is retried after a failure.
    #[must_use]
    pub fn waits_for_a_model(&self, now: Timestamp) -> bool {
        let waits = |wait: &Wait| wait.service.is_some() && wait.until > now;
        let mut waiting = self.turns.open().filter_map(Turn::wait);
        self.services.pauses.at(now).next().is_some() || waiting.any(waits)
    }

    /// The learnt limits on the length of prompts, if any are known for a context window of `window` tokens.
    #[must_use]
    pub fn context_limit(&self, window: u32) -> Option<ContextLimit> {
        let here = self.turns.current().and_then(|turn| turn.context_limit);
        let learnt = self.window.learnt().map(|learnt| learnt.context_limit);
        let known = [here, learnt].into_iter().flatten();
        known
            .filter(|context_limit| context_limit.window == window)
            .reduce(|one, other| ContextLimit {
                tokens: one.tokens.min(other.tokens),
                reply: one.reply.into_iter().chain(other.reply).min(),
                window,
            })
    }

    /// The SHA-256 of the state's canonical JSON, in hexadecimal. Equal states have equal hashes, on every
    /// machine.
    ///
    /// # Errors
    ///
    /// An error of serde_json, which only a broken implementation of a type in the state can cause.
    pub fn hash(&self) -> Result<String, serde_json::Error> {
        let digest = Sha256::digest(serde_json::to_vec(self)?);
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
