//! A finished turn, and what is computed from it.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use dormouse_contracts::Audience;
use serde::{Deserialize, Serialize};

use super::turn::Turn;
use crate::{builtin::TurnWords, config::ToolCalling, prompt::ShownMessages};

/// A finished turn. Every step of a later turn reads it for the prompt, so what depends only on the turn is computed
/// once and cached. The cache is not part of the state: a state from a snapshot computes it again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FinishedTurn {
    /// Copies of a state share it: most of a state is turns, and they hardly ever change.
    #[serde(with = "shared")]
    turn: Arc<Turn>,
    #[serde(skip)]
    kept: Kept,
}

/// What was computed from a turn.
#[derive(Default)]
struct Kept {
    words: OnceLock<Arc<TurnWords>>,
    known_to: OnceLock<Audience>,
    messages: Mutex<Option<(MessageForm, Arc<ShownMessages>)>>,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
            known_to: self.known_to.clone(),
            // The next prompt builds the messages again.
            messages: Mutex::default(),
        }
    }
}

/// What the messages of a turn depend on in addition to the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageForm {
    pub(crate) calling: ToolCalling,
    /// Results of at least this many tokens are not shown, if set.
    pub(crate) masked: Option<u32>,
}

impl From<Turn> for FinishedTurn {
    fn from(turn: Turn) -> Self {
        Self {
            turn: Arc::new(turn),
            kept: Kept::default(),
        }
    }
}

impl Deref for FinishedTurn {
    type Target = Turn;

    fn deref(&self) -> &Self::Target {
        &self.turn
    }
}

impl PartialEq for FinishedTurn {
    fn eq(&self, other: &Self) -> bool {
        self.turn == other.turn
    }
}

impl fmt::Debug for FinishedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.turn.fmt(f)
    }
}

impl FinishedTurn {
    /// Changes the turn, and drops what was computed from it.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Turn)) {
        change(Arc::make_mut(&mut self.turn));
        self.kept = Kept::default();
    }

    /// The words of the turn that prompts show, and the assistant's own words in it.
    pub(crate) fn words(&self) -> &TurnWords {
        let words = || Arc::new(TurnWords::of(&self.turn));
        self.kept.words.get_or_init(words)
    }

    /// The messages that show the whole turn in this form. `make` builds them if they are not cached in this form.
    pub(crate) fn messages(
        &self,
        form: MessageForm,
        make: impl FnOnce() -> ShownMessages,
    ) -> Arc<ShownMessages> {
        let kept = self.kept.messages.lock();
        let mut kept = kept.unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((of, messages)) if *of == form => Arc::clone(messages),
            _ => {
                let messages = Arc::new(make());
                *kept = Some((form, Arc::clone(&messages)));
                messages
            }
        }
    }

    /// Who perceived all of it, other than the assistant.
    pub(crate) fn known_to(&self) -> &Audience {
        self.kept.known_to.get_or_init(|| self.turn.known_to())
    }
}

/// A shared turn in JSON is the turn.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::state::turn::Turn;

    pub(super) fn serialize<S: Serializer>(turn: &Arc<Turn>, to: S) -> Result<S::Ok, S::Error> {
        (**turn).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Turn>, D::Error> {
        Turn::deserialize(from).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use dormouse_classify::{Classification, MessageVerdict, Rule};
    use dormouse_contracts::{Author, CallId, Origin, Seq, Timestamp, ToolCategory, Trust};
    use dormouse_memory::MemoryChange;
    use dormouse_testing::Perceive;
    use proptest::prelude::*;
    use serde_json::json;

    use super::{super::State, *};
    use crate::event::{
        Call, Compacted, CompactionMode, Event, MemoryChanged, Perceived, Replied, StopReason,
        TickEnded, TickStarted, ToolAnswered, Verdict,
    };

    /// Something that happens to the assistant.
    #[derive(Clone, Debug)]
    enum Step {
        /// Somebody whispers; the assistant looks something up and answers.
        Turn(u8, String, String),
        /// A line that was looked up is removed from the memory.
        Withdrawn(u64),
        /// Results of a turn are shown as one line.
        Masked(u64),
        /// The next prompt reads all turns.
        Looked,
    }

    fn step() -> impl Strategy<Value = Step> {
        let text = || "[a-c][a-c ?]{0,12}";
        prop_oneof![
            4 => (0_u8..3, text(), text()).prop_map(|(who, said, found)| Step::Turn(who, said, found)),
            1 => (1_u64..20).prop_map(Step::Withdrawn),
            1 => (1_u64..20).prop_map(Step::Masked),
            3 => Just(Step::Looked),
        ]
    }

    fn perceived(who: u8, said: &str, number: u64) -> Event {
        Event::Perceived(Perceived {
            perception: Perceive::whisper(&format!("Person{who}"), said)
                .number(number)
                .build(),
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

    fn turn(state: &State, who: u8, said: &str, found: &str) -> Vec<Event> {
        let trigger = state.seq.next();
        let id = CallId::try_new(format!("c{trigger}")).unwrap();
        let memory =
            json!({"id": "#1", "trust": 0.5, "from": "Person1", "text": found, "at": "now"});
        let call = Call {
            id: id.clone(),
            name: "recall_memories".to_owned(),
            arguments: json!({"query": said}).to_string(),
            continues: false,
        };
        let replied = json!({
            "model": "tiny", "reply": {"content": said, "reasoning": "", "tool_calls": [], "finish": "stop"}, "calls": [call],
            "tokens": 3, "prompt_tokens": 5, "prompt_hash": "", "duration_ms": 1.0, "trust": 0.5, "least_shown": 0.5,
        });
        let replied: Replied = serde_json::from_value(replied).unwrap();
        vec![
            perceived(who, said, trigger.0),
            Event::TickStarted(TickStarted {
                tick: trigger.0,
                context: crate::event::ContextType::TickEvent,
                trigger,
            }),
            Event::Replied(replied),
            Event::ToolAnswered(ToolAnswered {
                call: id,
                tool: "recall_memories".to_owned(),
                category: Some(ToolCategory::SafeChain),
                verdict: Verdict::Success,
                content: json!({"success": true, "result": {"memories": [memory]}}).to_string(),
                tokens: 4,
                trust: Some(Trust::FULL),
                cached: None,
                is_unanswered: false,
            }),
            Event::TickEnded(TickEnded::new(StopReason::TerminalTool, None)),
        ]
    }

    fn events(state: &State, step: &Step) -> Vec<Event> {
        match step {
            Step::Turn(who, said, found) => turn(state, *who, said, found),
            Step::Withdrawn(seq) => vec![Event::MemoryChanged(MemoryChanged {
                change: MemoryChange::Withdrawn {
                    record: Origin::event(Seq(*seq)),
                },
                author: Author::Operator("florian".to_owned()),
                reason: "it was wrong".to_owned(),
            })],
            Step::Masked(seq) => vec![Event::Compacted(Compacted {
                mode: CompactionMode::Planned,
                before: 2,
                after: 1,
                window: 3,
                masked: vec![Seq(*seq)],
                dropped: Vec::new(),
                extraction: None,
            })],
            Step::Looked => Vec::new(),
        }
    }

    fn look(state: &State) {
        for turn in state.history.turns() {
            let _words = (turn.words(), turn.known_to());
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_of_a_finished_turn_is_what_is_worked_out_anew_whatever_happens_later(
            steps in prop::collection::vec(step(), 1..30),
        ) {
            let mut state = State::default();
            for step in &steps {
                if matches!(step, Step::Looked) {
                    look(&state);
                }
                for event in events(&state, step) {
                    state.apply(state.seq.next(), Timestamp::EPOCH, &event);
                }
            }
            let turns = steps.iter().filter(|step| matches!(step, Step::Turn(..)));
            prop_assert_eq!(state.history.turns().len(), turns.count());
            for turn in state.history.turns() {
                prop_assert_eq!(turn.words(), &TurnWords::of(turn));
                prop_assert!(turn.words().has_least_of_parts());
                prop_assert_eq!(turn.known_to(), &Turn::known_to(turn));
            }
            // The cache is not part of the state.
            let stored = serde_json::to_string(&state).unwrap();
            let restored: State = serde_json::from_str(&stored).unwrap();
            prop_assert_eq!(restored.hash().unwrap(), state.hash().unwrap());
            for (one, other) in restored.history.turns().zip(state.history.turns()) {
                prop_assert_eq!((one.words(), one.known_to()), (other.words(), other.known_to()));
            }
        }
    }
}
