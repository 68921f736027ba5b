//! What an assistant is at one moment: a fold over its events.
//!
//! Only [`State::apply`] changes a state, and it reads nothing but the event: no clock, no configuration. So a snapshot
//! and the events after it give the same state as all events, whatever the configuration was, and the
//! [hash](State::hash) of both is equal.

mod errors;
mod pauses;
mod people;
mod service;
mod shown_lines;
mod sources;
mod step;
mod turn;
mod window;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dormouse_classify::MessageVerdict as Classified;
use dormouse_contracts::{ModelErrorKind, Perception, Seq, ServiceName, Timestamp, Trust, WorldId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use errors::{ErrorRecord, RECENT_CALLS};
pub use pauses::{Pause, Pauses};
pub use people::People;
use service::Blame;
pub use service::Service;
pub use shown_lines::ShownLines;
pub use sources::Sources;
pub use step::{CallState, EffectState, Step};
pub use turn::Turn;
pub use window::LearntLimit;

use crate::event::{
    ContextLimit, Event, ModelFailed, NOOP, NameDoubt, Perceived, Replied, StopCause, StopReason,
    TickEnded, Unanswered, Verdict,
};

/// How many finished turns a state keeps; a prompt may show fewer.
pub const HISTORY_KEPT: usize = 200;
/// How many tokens of finished turns a state keeps, so that long replies do not make it grow without bound.
const HISTORY_TOKENS_KEPT: u64 = 1_000_000;
/// How many of the messages that were given up a state remembers.
const GIVEN_UP_KEPT: usize = 100;
/// How many services a state remembers. The number grows only with the services that the operator configures.
const SERVICES_KNOWN: usize = 64;
/// How many overheard lines a state keeps.
pub const AMBIENT_KEPT: usize = 50;

/// A message that was accepted: one that waits for its turn, is being answered, or was overheard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Its place in the log.
    pub seq: Seq,
    /// When it was accepted.
    pub heard_at: Timestamp,
    /// What the world delivered.
    pub perception: Perception,
    /// How far it is believed.
    pub trust: Trust,
    /// How many tokens it takes as it is shown, with the header line about its sender.
    pub tokens: u32,
    /// What makes the name of its sender suspicious.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<NameDoubt>,
}

impl Heard {
    /// The person who sent the message: an id, or a name if the world gives no id.
    pub(crate) fn person(&self) -> &str {
        let sender = &self.perception.attested.sender;
        sender.id().map_or(sender.name(), |id| id.as_str())
    }
}

/// Why and when the emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub cause: StopCause,
}

/// What has been spent, over the whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls that were answered.
    pub replies: u64,
    /// Model calls that failed.
    pub failures: u64,
    /// Tokens of all prompts, as the provider counted them, or as the engine counted them if the provider did not
    /// report any.
    pub prompt_tokens: u64,
    /// Tokens of all replies, counted in the same way.
    pub completion_tokens: u64,
}

impl Spent {
    fn reply(&mut self, prompt_tokens: u32, completion_tokens: u32) {
        self.replies = self.replies.saturating_add(1);
        self.prompt_tokens = self.prompt_tokens.saturating_add(prompt_tokens.into());
        self.completion_tokens = self
            .completion_tokens
            .saturating_add(completion_tokens.into());
    }
}

/// What an assistant is at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last event that is folded in.
    pub seq: Seq,
    /// The last delivery accepted from each world; what duplicates are known by.
    pub delivered: BTreeMap<WorldId, u64>,
    /// Who was heard lately, and under which name.
    pub people: People,
    /// Messages that wait for an answer, oldest first.
    pub inbox: VecDeque<Heard>,
    /// Lines overheard lately, oldest first.
    pub ambient: VecDeque<Heard>,
    /// The turn that is under way, if one is.
    pub turn: Option<Turn>,
    /// Turns that have failed and are taken up again, while others are dealt with.
    pub aside: Vec<Turn>,
    /// Finished turns, oldest first.
    pub history: VecDeque<Turn>,
    /// The sequence numbers of the last messages that were given up, because every prompt with them failed. No later
    /// prompt shows them.
    pub given_up: VecDeque<Seq>,
    /// Remembered lines that were shown lately.
    pub recalled: ShownLines,
    /// How many messages ended without an answer, those that were given up included.
    pub unanswered: u64,
    /// How many lines it has kept on purpose. The lines themselves are in its memory.
    pub remembered: u64,
    /// What went wrong lately.
    pub errors: ErrorRecord,
    /// The services of models that asked to be left alone.
    #[serde(default)]
    pub pauses: Pauses,
    /// The services that have answered before. If one of them reports that it has no such model, it counts as
    /// temporarily away; the operator need not change the configuration.
    pub known_services: BTreeSet<ServiceName>,
    /// How the model's service was lately.
    pub service: Service,
    /// The emergency stop, if it is on.
    pub stopped: Option<Stopped>,
    /// How many ticks found a reason to think.
    pub ticks: u64,
    /// How many tokens the last prompt took.
    pub prompt_tokens: u32,
    /// How long prompts may be, if that turned out to be less than the configured window allows.
    pub window: Option<LearntLimit>,
    /// What has been spent.
    pub spent: Spent,
}

impl State {
    /// Folds one event in. `seq` is its place in the log and `at` its time.
    ///
    /// Folding never fails: an event that makes no sense in this state changes what it can, and nothing else.
    pub fn apply(&mut self, seq: Seq, at: Timestamp, event: Event) {
        self.seq = seq;
        match event {
            Event::Perceived(perceived) => self.perceive(seq, at, perceived),
            Event::TickStarted(started) => {
                self.ticks = started.tick;
                self.take_up(started.trigger);
                self.on_turn(Turn::begin_tick);
            }
            Event::Replied(replied) => self.reply(replied),
            Event::ParseFailed(parse_failed) => {
                self.on_turn(|turn| turn.parse_failed(parse_failed))
            }
            Event::ModelFailed(failed) => self.fail(failed, at),
            Event::ToolAnswered(answered) => {
                // A tool that does not exist has no failure rate to watch.
                if answered.category.is_some() && answered.tool != NOOP {
                    self.note(&answered.tool, answered.verdict);
                }
                self.on_turn(|turn| turn.answered(answered));
            }
            Event::Remembered(_) => self.remembered = self.remembered.saturating_add(1),
            // Its memory takes this in, from the same log.
            Event::EntityChanged(_) => {}
            Event::Recollected(recollected) => {
                let whole = recollected.with_items(|items| self.recalled.take_in(items));
                self.on_turn(|turn| turn.recollect(whole));
            }
            Event::EffectIntended(intended) => self.on_turn(|turn| turn.intended(intended)),
            Event::EffectSettled(settled) => {
                if let Some(tool) = self
                    .turn
                    .as_ref()
                    .and_then(|turn| turn.effect_tool(&settled.key))
                {
                    let verdict = match settled.outcome {
                        dormouse_contracts::Outcome::Done(_) => Verdict::Success,
                        dormouse_contracts::Outcome::Rejected(_)
                        | dormouse_contracts::Outcome::Unknown => Verdict::Failure,
                    };
                    self.note(&tool, verdict);
                }
                self.on_turn(|turn| turn.settled(seq, settled));
            }
            Event::WorldFailed(failed) => self.on_turn(|turn| turn.unreached(failed)),
            Event::Unanswered(unanswered) => self.end_unanswered(unanswered),
            Event::Delayed(delayed) => self.on_turn(|turn| turn.delayed(delayed)),
            Event::TickEnded(ended) => {
                if ended.reason == StopReason::LlmError {
                    self.service.rests_until(ended.resume_at);
                }
                if ended.resume_at.is_some() {
                    self.on_turn(|turn| turn.suspend(&ended));
                } else if let Some(turn) = self.turn.take() {
                    self.close(turn, &ended);
                }
            }
            Event::EmergencyStopTriggered(triggered) => {
                self.stopped = Some(Stopped {
                    at,
                    cause: triggered.cause,
                });
                self.on_turn(|turn| turn.ticking = false);
            }
            Event::EmergencyStopCleared(_) => {
                self.stopped = None;
                self.errors.clear();
                self.service = Service::default();
                let turns = self.turn.iter_mut().chain(&mut self.aside);
                turns.for_each(Turn::resume_now);
            }
            Event::RetryRequested(_) => {
                self.pauses.end();
                self.service = Service::default();
                let turns = self.turn.iter_mut().chain(&mut self.aside);
                turns.for_each(Turn::wait_no_longer);
            }
        }
    }

    /// Starts a turn for the message with this sequence number, or continues the turn that it has. The turn that was
    /// under way steps aside.
    fn take_up(&mut self, trigger: Seq) {
        let is_it = |turn: &Turn| turn.trigger_seq() == trigger;
        if self.turn.as_ref().is_some_and(is_it) {
            return;
        }
        let next = match self.aside.iter().position(is_it) {
            Some(place) => Some(self.aside.remove(place)),
            None => {
                let waits = self.inbox.iter().position(|heard| heard.seq == trigger);
                let heard = waits.and_then(|place| self.inbox.remove(place));
                heard.map(Turn::new)
            }
        };
        if let Some(next) = next
            && let Some(before) = self.turn.replace(next)
        {
            self.aside.push(before.step_aside());
        }
    }

    /// Counts how a tool call ended, except for a call that speaks instead of an answer (an apology) or before one (a
    /// wait notice).
    fn note(&mut self, tool: &str, verdict: Verdict) {
        let Some(turn) = &self.turn else { return };
        let is_notice = turn.steps.last().is_some_and(|step| step.is_notice);
        match verdict {
            _ if turn.unanswered.is_some() || is_notice => {}
            Verdict::Success => self.errors.tool_succeeded(tool),
            Verdict::Failure => self.errors.tool_failed(tool, turn.trigger.person()),
            Verdict::Skipped => {}
        }
    }

    fn end_unanswered(&mut self, unanswered: Unanswered) {
        self.unanswered = self.unanswered.saturating_add(1);
        let Some(turn) = &mut self.turn else { return };
        if unanswered.cause.is_error() {
            self.errors.gave_up(turn.trigger.person());
        }
        turn.unanswered(unanswered);
    }

    fn reply(&mut self, mut replied: Replied) {
        let services = std::mem::take(&mut replied.services);
        if self.known_services.len() + services.len() > SERVICES_KNOWN {
            self.known_services.clear();
        }
        self.known_services.extend(services);
        self.service = Service::default();
        self.aside.iter_mut().for_each(Turn::another_was_answered);
        self.prompt_tokens = replied.prompt_tokens;
        let usage = replied.reply.usage;
        self.spent.reply(
            usage.map_or(replied.prompt_tokens, |u| u.prompt_tokens),
            usage.map_or(replied.tokens, |u| u.completion_tokens),
        );
        let learnt = self
            .turn
            .as_mut()
            .and_then(|turn| turn.context_limit.take());
        self.window = match learnt {
            Some(context_limit) => {
                // The prompt may be longer than the learnt limit: some parts are never left out. The model took it, so
                // the limit is at least its length.
                let tokens = context_limit.tokens.max(replied.prompt_tokens);
                let context_limit = ContextLimit {
                    tokens,
                    ..context_limit
                };
                Some(LearntLimit::new(context_limit, &replied.model))
            }
            None => self
                .window
                .take()
                .and_then(|learnt| learnt.after_reply(&replied.model)),
        };
        self.on_turn(|turn| turn.replied(replied));
    }

    fn fail(&mut self, failed: ModelFailed, at: Timestamp) {
        self.spent.failures = self.spent.failures.saturating_add(1);
        if let Some(context_limit) = failed.context_limit {
            self.on_turn(|turn| turn.limit_context(context_limit));
            return;
        }
        if let (Some(by), Some(until)) = (failed.service.clone(), failed.paused_until) {
            self.pauses.add(Pause { by, until }, at);
        }
        self.on_turn(|turn| turn.waits_for.clone_from(&failed.service));
        if failed.kind.refuses_the_prompt() {
            self.on_turn(|turn| turn.refusals = turn.refusals.saturating_add(1));
            return;
        }
        self.on_turn(Turn::got_no_reply);
        let service = failed.service.as_ref();
        let has_answered = service.is_some_and(|service| self.known_services.contains(service));
        // A gateway whose backend is away reports that the model does not exist, perhaps for one prompt only.
        let is_away = failed.kind == ModelErrorKind::NotFound && has_answered;
        let blame = match failed.kind.may_depend_on_the_prompt() || is_away {
            true => Blame::ServiceOrMessage,
            false => Blame::Service,
        };
        match (failed.kind, &mut self.turn) {
            // No call was sent, so this does not count as a failure: a long outage ends by itself.
            (ModelErrorKind::NotAttempted(_), _) | (_, None) => {}
            // Every prompt fails like this until somebody changes the configuration.
            (ModelErrorKind::Auth, _) => self.errors.failed(),
            (ModelErrorKind::NotFound, _) if !is_away => self.errors.failed(),
            (kind, Some(turn)) => turn.model_failed(kind, blame, at),
        }
        if let Some(turn) = &self.turn {
            let trigger = turn.trigger_seq();
            self.service
                .failed(failed.kind, failed.service, trigger, blame);
        }
    }

    /// Whether anything waits for a service of the model at `now`: a pause, or the turn after a failure.
    #[must_use]
    pub fn waits_for_a_model(&self, now: Timestamp) -> bool {
        let waits =
            |turn: &Turn| turn.waits_for.is_some() && turn.resume_at.is_some_and(|at| at > now);
        let mut turns = self.turn.iter().chain(&self.aside);
        self.pauses.at(now).next().is_some() || turns.any(waits)
    }

    /// The learnt limits on the length of prompts, if any are known for a context window of `window` tokens.
    #[must_use]
    pub fn context_limit(&self, window: u32) -> Option<ContextLimit> {
        let here = self.turn.as_ref().and_then(|turn| turn.context_limit);
        let learnt = self.window.as_ref().map(|learnt| learnt.context_limit);
        let known = [here, learnt].into_iter().flatten();
        known
            .filter(|context_limit| context_limit.window == window)
            .reduce(|one, other| ContextLimit {
                tokens: one.tokens.min(other.tokens),
                reply: one.reply.into_iter().chain(other.reply).min(),
                window,
            })
    }

    fn close(&mut self, mut turn: Turn, ended: &TickEnded) {
        turn.suspend(ended);
        turn.recollected = None;
        turn.context_limit = None;
        if ended.reason == StopReason::GivenUp {
            // The provider refused this message, so no later prompt shows it.
            push_bounded(&mut self.given_up, turn.trigger_seq(), GIVEN_UP_KEPT);
            return;
        }
        push_bounded(&mut self.history, turn, HISTORY_KEPT);
        let mut tokens = self
            .history
            .iter()
            .fold(0_u64, |sum, turn| sum + u64::from(turn.tokens()));
        while tokens > HISTORY_TOKENS_KEPT
            && let Some(oldest) = self.history.pop_front()
        {
            tokens = tokens.saturating_sub(u64::from(oldest.tokens()));
        }
    }

    fn perceive(&mut self, seq: Seq, at: Timestamp, perceived: Perceived) {
        let Perceived {
            perception,
            classification,
            trust,
            tokens,
            doubts,
        } = perceived;
        self.people.meet(&perception.attested, &doubts);
        let delivery = &perception.attested.delivery;
        let last = self.delivered.entry(delivery.world.clone()).or_default();
        *last = (*last).max(delivery.number);
        let heard = Heard {
            seq,
            heard_at: at,
            perception,
            trust,
            tokens,
            doubts,
        };
        match classification.verdict {
            Classified::Trigger => self.inbox.push_back(heard),
            Classified::Context => push_bounded(&mut self.ambient, heard, AMBIENT_KEPT),
            Classified::Capture => self.on_turn(|turn| turn.capture(&heard.perception.words)),
            Classified::Ignore => {}
        }
    }

    /// How many messages wait for an answer, those that are being worked on included.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inbox.len() + self.aside.len() + usize::from(self.turn.is_some())
    }

    /// When the oldest message that waits for an answer was accepted.
    #[must_use]
    pub fn waiting_since(&self) -> Option<Timestamp> {
        let open = self.turn.iter().chain(&self.aside);
        let heard = open.map(|turn| &turn.trigger).chain(&self.inbox);
        heard.map(|heard| heard.heard_at).min()
    }

    fn on_turn(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = &mut self.turn {
            change(turn);
        }
    }

    /// Whether this delivery was accepted before.
    #[must_use]
    pub fn has_heard(&self, perception: &Perception) -> bool {
        let delivery = &perception.attested.delivery;
        self.delivered
            .get(&delivery.world)
            .is_some_and(|last| delivery.number <= *last)
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

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
