//! What an assistant is at one moment: a fold over its events.
//!
//! Only [`State::apply`] changes a state, and it reads nothing but the event: no clock, no configuration. So a snapshot
//! and the events after it give the same state as all events, whatever the configuration was, and the
//! [hash](State::hash) of both is equal.
//!
//! A state consists of parts. Each part folds the events that concern it and owns its rules.

mod cached_results;
mod changed_settings;
mod configuration;
mod consultations;
mod cross_talk;
mod deliveries;
mod errors;
mod heard;
mod history;
mod identities;
mod overheard;
mod pauses;
mod people;
mod promises;
mod roster;
mod service;
mod services;
mod shown_lines;
mod spent;
mod step;
mod stop;
mod trigger;
mod turn;
mod turns;
mod undos;
mod window;

use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(crate) use cached_results::CachedResult;
pub use cached_results::CachedResults;
pub use changed_settings::{ChangedSetting, ChangedSettings};
pub use configuration::Configuration;
pub use consultations::Consultations;
pub use cross_talk::CrossTalk;
pub use deliveries::Deliveries;
pub use errors::{ErrorRecord, RECENT_CALLS};
pub use heard::Heard;
pub use history::{HISTORY_KEPT, History};
pub use identities::Identities;
pub use overheard::{OVERHEARD_KEPT, Overheard};
pub use pauses::{Pause, Pauses};
pub use people::People;
pub use promises::{Promise, Promises};
pub use roster::{Archived, Roster};
pub use service::Service;
pub use services::Services;
pub use shown_lines::ShownLines;
pub use spent::{Counts, Spent};
pub use step::{CallState, EffectState, Step, StepKind};
pub use stop::{EmergencyStop, Stopped};
pub use trigger::{Occasion, OccasionKind, Trigger};
pub use turn::{Phase, Turn, TurnFailures, Wait, Widened, WorldReach};
pub use turns::Turns;
pub use undos::Undos;
pub use window::{LearntLimit, Window};

use crate::{
    event::{ContextLimit, Event},
    secrets::without_secrets,
};

/// What an assistant is at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last event that is folded in.
    pub seq: Seq,
    /// What it lives under.
    pub configuration: Configuration,
    /// What operators changed in addition to the configuration.
    #[serde(default)]
    pub changed_settings: ChangedSettings,
    /// What an operator decided about it as a whole.
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
    /// Remembered lines that were shown lately.
    pub recalled: ShownLines,
    /// Results of queries that may be used again.
    #[serde(default)]
    pub cached: CachedResults,
    /// What went wrong lately.
    pub errors: ErrorRecord,
    /// The emergency stop.
    pub stop: EmergencyStop,
    /// The services that answer for the model.
    pub services: Services,
    /// How long prompts may be, if that turned out to be less than the configured window allows.
    pub window: Window,
    /// What has been spent.
    pub spent: Spent,
    /// What was done, counted.
    pub counts: Counts,
    /// Replies of a model that nothing has followed from yet.
    #[serde(default)]
    pub consultations: Consultations,
    /// What is to be done for somebody at a moment that is still to come.
    #[serde(default)]
    pub promises: Promises,
    /// What was taken back.
    #[serde(default)]
    pub undos: Undos,
    /// What other assistants said to it since a person said something.
    #[serde(default, skip_serializing_if = "CrossTalk::is_none")]
    pub cross_talk: CrossTalk,
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
        self.stop.apply(at, event);
        self.spent.apply(event);
        self.counts.apply(event);
        self.consultations.apply(seq, event);
        self.promises
            .apply(seq, at, event, &self.identities, &self.undos);
        // A moment that has come waits for its turn only when that begins, so that nothing has to be written when it comes.
        if let Event::TickStarted(started) = event
            && let Some(occasion) = self.promises.take(started.trigger, &self.people)
        {
            self.turns.wait_for(occasion);
        }
        // These look at the turns as they were before the event.
        self.overheard.apply(seq, at, event, &self.turns);
        self.errors.apply(event, &self.turns, &self.services);
        self.window.apply(event, &self.turns);
        let tools = &self.configuration.tools;
        self.cached.apply(at, event, tools, &self.turns);
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
        if self.undos.takes_back_an_undo(event) {
            // What it takes out is named by an event far back. What was looked up can be looked up again.
            self.recalled.clear();
            self.turns.forget_looked_up();
            self.history.forget_looked_up();
        }
        self.undos.apply(seq, event);
        if let Some(closed) = closed {
            self.history.take_in(closed);
        }
    }

    /// Whether anything waits for a service of the model at `now`: a pause, or the turn after a failure.
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
