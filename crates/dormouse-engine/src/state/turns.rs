//! The triggers that wait for a turn, and the open turns.

use std::collections::VecDeque;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    heard::Heard,
    services::Services,
    shown_lines::ShownLines,
    trigger::{Occasion, Trigger},
    turn::Turn,
};
use crate::{
    config::Privacy,
    event::{Event, Perceived, TickEnded},
};

/// The triggers that wait for a turn, and the open turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    waiting: VecDeque<Trigger>,
    current: Option<Turn>,
    aside: Vec<Turn>,
}

impl Turns {
    /// Folds one event in. Returns the turn that it closes, if it closes one.
    pub(super) fn apply(
        &mut self,
        seq: Seq,
        at: Timestamp,
        event: &Event,
        services: &Services,
        recalled: &ShownLines,
        privacy: Privacy,
    ) -> Option<Turn> {
        match event {
            Event::Perceived(perceived) => self.perceive(seq, at, perceived),
            Event::TickStarted(started) => {
                // A tick for an unknown trigger works on nothing.
                if self.take_up(started.trigger) {
                    self.on_current(|turn| turn.begin_tick(started.context));
                }
            }
            Event::TaskAssessed(assessed) => {
                self.on_current(|turn| turn.assessment = Some(assessed.assessment));
            }
            Event::Replied(replied) => {
                self.aside.iter_mut().for_each(Turn::another_was_answered);
                self.on_current(|turn| turn.replied(replied, privacy));
            }
            Event::ParseFailed(failed) => self.on_current(|turn| turn.parse_failed(failed)),
            Event::ModelFailed(failed) => {
                let blame = services.blame(failed);
                self.on_current(|turn| turn.model_failed(failed, blame, at));
            }
            Event::ToolAnswered(answered) => self.on_current(|turn| turn.answered(answered)),
            Event::Recollected(found) => {
                let found = found.clone().with_items(|items| recalled.lines(items));
                self.on_current(|turn| turn.recollect(found));
            }
            Event::EffectIntended(intended) => self.on_current(|turn| turn.intended(intended)),
            Event::EffectSettled(settled) => self.on_current(|turn| turn.settled(seq, settled)),
            Event::WorldFailed(failed) => self.on_current(|turn| turn.unreached(failed)),
            Event::Unanswered(it) => self.on(it.trigger, |turn| turn.unanswered(it)),
            Event::Delayed(it) => self.on(it.trigger, |turn| turn.delayed(it)),
            Event::TickEnded(ended) => return self.end_tick(ended),
            Event::EmergencyStopTriggered(_) => self.on_current(Turn::interrupt),
            Event::EmergencyStopCleared(_) => self.open_mut().for_each(Turn::resume_now),
            Event::RetryRequested(_) => self.open_mut().for_each(Turn::wait_no_longer),
            Event::Configured(change) if change.settings.is_some() => {
                self.open_mut().for_each(Turn::wait_for_no_budget);
                // Earlier look-ups may not be meant for the present listeners.
                if privacy == Privacy::Kept {
                    self.open_mut().for_each(Turn::forget_recollected);
                }
            }
            // Turns that the history leaves out from now on may be found in the memory.
            Event::Compacted(_) => self.open_mut().for_each(Turn::forget_recollected),
            // A change by a call of the turn itself is in its steps.
            Event::EntityChanged(changed) if !changed.is_by_call() => {
                self.open_mut().for_each(|turn| {
                    turn.forget_recollected();
                    if changed.takes_away() {
                        turn.forget_profiles();
                    }
                });
            }
            Event::MemoryChanged(changed) => self.open_mut().for_each(|turn| {
                turn.forget_recollected();
                turn.forget_records(|record| changed.takes_out(record));
                if changed.may_take_away() {
                    turn.forget_profiles();
                }
            }),
            Event::Configured(_)
            | Event::LinesDropped(_)
            | Event::ToolsOffered(_)
            | Event::Woke(_)
            | Event::SettingChanged(_)
            | Event::StopNoticeIntended(_)
            | Event::StopNoticeSettled(_)
            | Event::HistoryReset(_)
            | Event::CallReserved(_)
            | Event::ApprovalRequested(_)
            | Event::ApprovalAnswered(_)
            | Event::Remembered(_)
            | Event::EntityChanged(_)
            | Event::Consulted(_)
            | Event::ConsultationFailed(_)
            | Event::ConsolidationBegan(_)
            | Event::ConsolidationEnded(_)
            | Event::HistorySummarized(_)
            | Event::SummaryFailed(_)
            | Event::Forgotten(_)
            | Event::RosterChanged(_)
            | Event::GoalCreated(_)
            | Event::GoalUpdated(_)
            | Event::GoalCompleted(_)
            | Event::GoalPursued(_) => {}
            Event::CommitmentEnded(_)
            | Event::ProjectCreated(_)
            | Event::ProjectUpdated(_)
            | Event::ProjectSwapped(_)
            | Event::SelfNoted(_)
            | Event::SelfNoteDropped(_)
            | Event::JournalChanged(_)
            | Event::ReflectionRequested(_)
            | Event::ReflectionRecorded(_)
            | Event::FellAsleep(_)
            | Event::NightStepped(_)
            | Event::NightProbed(_)
            | Event::WokeUp(_)
            | Event::TaskDelegated(_)
            | Event::DelegateChosen(_)
            | Event::TaskReceived(_)
            | Event::TaskAnswered(_)
            | Event::TaskCancelled(_)
            | Event::DelegationEnded(_) => {}
        }
        None
    }

    /// Drops the words of what was looked up.
    pub(super) fn forget_looked_up(&mut self) {
        self.open_mut().for_each(Turn::forget_looked_up);
    }

    fn perceive(&mut self, seq: Seq, at: Timestamp, perceived: &Perceived) {
        // Nobody waits for an answer to words that were forgotten, and no prompt shows the turn that answered them.
        if perceived.perception.words.is_forgotten() {
            return;
        }
        match perceived.classification.verdict {
            MessageVerdict::Trigger => {
                let heard = Heard::new(seq, at, perceived);
                self.waiting.push_back(Trigger::Message(Box::new(heard)));
            }
            MessageVerdict::Capture => {
                let perception = &perceived.perception;
                if let Some(cause) = &perception.attested.cause {
                    self.on_current(|turn| turn.capture(cause, &perception.words));
                }
            }
            MessageVerdict::Context | MessageVerdict::Ignore => {}
        }
    }

    /// Adds an occasion that became due.
    pub(super) fn wait_for(&mut self, occasion: Occasion) {
        self.waiting.push_back(Trigger::Occasion(occasion));
    }

    /// Removes a waiting trigger that no longer needs a turn.
    pub(super) fn drop_waiting(&mut self, trigger: Seq) {
        self.waiting.retain(|waiting| waiting.seq() != trigger);
    }

    /// Starts or continues the turn for this trigger; the turn under way steps aside. Returns whether there is such a
    /// trigger.
    fn take_up(&mut self, trigger: Seq) -> bool {
        let is_it = |turn: &Turn| turn.trigger.seq() == trigger;
        if self.current.as_ref().is_some_and(is_it) {
            return true;
        }
        let next = match self.aside.iter().position(is_it) {
            Some(place) => Some(self.aside.remove(place)),
            None => {
                let place = self.waiting.iter().position(|it| it.seq() == trigger);
                let waiting = place.and_then(|place| self.waiting.remove(place));
                waiting.map(Turn::new)
            }
        };
        let Some(next) = next else { return false };
        if let Some(before) = self.current.replace(next) {
            self.aside.push(before.step_aside());
        }
        true
    }

    fn end_tick(&mut self, ended: &TickEnded) -> Option<Turn> {
        if let Some(resume_at) = ended.resume_at {
            self.on_current(|turn| turn.suspend(ended.reason, resume_at));
            return None;
        }
        Some(self.current.take()?.closed(ended.reason))
    }

    fn on_current(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = &mut self.current {
            change(turn);
        }
    }

    /// Changes the turn under way, if it is the one for this trigger.
    fn on(&mut self, trigger: Seq, change: impl FnOnce(&mut Turn)) {
        let turn = self.current.as_mut();
        if let Some(turn) = turn.filter(|turn| turn.trigger.seq() == trigger) {
            change(turn);
        }
    }

    fn open_mut(&mut self) -> impl Iterator<Item = &mut Turn> {
        self.current.iter_mut().chain(&mut self.aside)
    }

    /// The triggers that wait for a turn, oldest first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Trigger> {
        self.waiting.iter()
    }

    /// The turn under way, if any.
    #[must_use]
    pub fn current(&self) -> Option<&Turn> {
        self.current.as_ref()
    }

    /// Turns that failed and will be tried again, while others go first.
    pub fn aside(&self) -> impl ExactSizeIterator<Item = &Turn> {
        self.aside.iter()
    }

    /// All open turns, the one under way first.
    pub fn open(&self) -> impl Iterator<Item = &Turn> {
        self.current.iter().chain(&self.aside)
    }

    /// Whether a turn for this trigger is open or waits.
    pub(super) fn has(&self, trigger: Seq) -> bool {
        let mut open = self.open().map(Turn::trigger_seq);
        open.any(|it| it == trigger) || self.waiting.iter().any(|it| it.seq() == trigger)
    }

    /// How many triggers wait or have an open turn.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len() + self.open().count()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Since when the oldest waiting or open trigger waits.
    #[must_use]
    pub fn since(&self) -> Option<Timestamp> {
        let begun = self.open().map(|turn| &turn.trigger);
        begun.chain(&self.waiting).map(Trigger::since).min()
    }
}

#[cfg(test)]
mod tests {
    use dormouse_classify::{Classification, Rule};
    use dormouse_contracts::Trust;
    use dormouse_testing::Perceive;

    use super::super::{OccasionKind, State};
    use super::*;
    use crate::event::{ContextType, StopReason, TickStarted};

    fn heard(number: u64) -> Event {
        Event::Perceived(Perceived {
            perception: Perceive::whisper("Alice", "hello").number(number).build(),
            classification: Classification {
                verdict: MessageVerdict::Trigger,
                rule: Rule::DirectMessage,
            },
            trust: Trust::FULL,
            tokens: 1,
            doubts: Vec::new(),
            moved: None,
            refused: None,
            is_public: false,
        })
    }

    fn tick(tick: u64, trigger: u64) -> Event {
        Event::TickStarted(TickStarted {
            tick,
            context: ContextType::TickEvent,
            trigger: Seq(trigger),
        })
    }

    fn ended() -> Event {
        let ended = TickEnded::new(StopReason::ParseError, Some(Timestamp::EPOCH));
        Event::TickEnded(ended)
    }

    fn folded(events: &[Event]) -> Turns {
        let mut state = State::default();
        for event in events {
            state.apply(state.seq.next(), Timestamp::EPOCH, event);
        }
        state.turns
    }

    #[test]
    fn a_tick_works_on_the_trigger_that_it_names_and_on_no_other() {
        let events = [heard(1), heard(2), tick(1, 2)];
        let turns = folded(&events);
        let current = turns.current().unwrap();
        assert_eq!((current.trigger_seq(), current.ticks), (Seq(2), 1));
        assert_eq!(
            turns.waiting().map(Trigger::seq).collect::<Vec<_>>(),
            [Seq(1)]
        );

        // The trigger of the last tick is unknown, so the waiting turn keeps waiting.
        let events = [heard(1), tick(1, 1), ended(), tick(2, 7)];
        let turns = folded(&events);
        let current = turns.current().unwrap();
        assert_eq!((current.ticks, current.is_ticking()), (1, false));
    }

    #[test]
    fn what_became_due_gets_a_turn_in_which_nobody_waits_for_an_answer() {
        let occasion = Occasion {
            task: None,
            seq: Seq(1),
            at: Timestamp::EPOCH,
            kind: OccasionKind::GoalDue,
            text: "(The roses want water.)".to_owned(),
            trust: Trust::FULL,
            tokens: 6,
            promise: None,
            goal: None,
            name: String::new(),
            audience: None,
        };
        let mut turns = Turns {
            waiting: VecDeque::from([Trigger::Occasion(occasion)]),
            ..Turns::default()
        };
        assert!(turns.take_up(Seq(1)));
        let current = turns.current().unwrap();
        assert!(current.is_ticking() && current.message().is_none());
        assert_eq!((current.tokens(), turns.len()), (6, 1));
    }
}
