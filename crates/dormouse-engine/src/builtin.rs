//! The engine's own tools, whose calls stay within the assistant: noop, its memory, and whom it knows.
//!
//! This module decides what a call asks for. If that needs the memory, the result is a [`MemoryQuery`], which is
//! carried out like a call to the outside.

mod memory_query;
mod provenance;
mod tools;

use dormouse_contracts::{Arguments, Origin};
use dormouse_entities::{
    ActionText, AttributeUpdate, ChangeReason, CommunicationStyle, Favorability, Keyword,
    NewObservation, ObservationSource, ObservationText, Phrase, Preference,
};
use dormouse_memory::RecordKind;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    event::{Event, Remembered},
    state::{State, Trigger, Turn},
};
pub(crate) use memory_query::{Draft, MemoryAnswer, MemoryQuery};
pub(crate) use provenance::{Provenance, SURROUNDINGS_TRUST, provenance};
pub use tools::builtin_tools;
pub(crate) use tools::{barest_tools, is_look_up};

/// How many lines a recall returns if the model does not say.
const RECALL_DEFAULT: usize = 5;

/// What a call of a built-in tool leads to.
pub(crate) enum BuiltinOutcome {
    /// These events and the result.
    Decided { events: Vec<Event>, result: Value },
    /// A look into the memory.
    AskMemory(MemoryQuery),
    /// Nothing: an argument is invalid, for this reason.
    Refused(String),
}

/// Decides a call of a built-in tool. `arguments` fit the tool's schema.
pub(crate) fn decide(
    name: &str,
    arguments: &Arguments,
    state: &State,
    turn: &Turn,
) -> BuiltinOutcome {
    let call = Call {
        arguments,
        state,
        turn,
    };
    let drafted = match name {
        tools::STORE_MEMORY => return call.store(),
        tools::RECALL_MEMORIES => return call.recall(),
        tools::GET_ENTITY_PROFILE => {
            let who = call.text("entity").to_owned();
            return BuiltinOutcome::AskMemory(MemoryQuery::Profile { who });
        }
        tools::ADD_ENTITY_OBSERVATION => call.observation(),
        tools::UPDATE_ENTITY_PROFILE => call.attributes(),
        tools::UPDATE_RELATIONSHIP => call.judgement(),
        tools::ADD_PENDING_ACTION => call.action(),
        tools::COMPLETE_PENDING_ACTION => call.completion(),
        _ => {
            return BuiltinOutcome::Decided {
                events: Vec::new(),
                result: json!({}),
            };
        }
    };
    match drafted {
        Some(draft) => BuiltinOutcome::AskMemory(MemoryQuery::Change {
            who: call.text("entity").to_owned(),
            draft,
        }),
        None => BuiltinOutcome::Refused("there is nothing in it that could be noted".to_owned()),
    }
}

struct Call<'a> {
    arguments: &'a Arguments,
    state: &'a State,
    turn: &'a Turn,
}

impl Call<'_> {
    fn text(&self, key: &str) -> &str {
        let value = self.arguments.get(key).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    fn provenance(&self, text: &str) -> Provenance {
        provenance(text, self.state, self.turn)
    }

    fn store(&self) -> BuiltinOutcome {
        let text = self.text("text");
        if text.trim().is_empty() {
            return BuiltinOutcome::Refused("the text is blank".to_owned());
        }
        let Provenance {
            trust,
            from,
            origin,
        } = self.provenance(text);
        let kind = self.text("kind").parse().unwrap_or(RecordKind::Fact);
        let about = Some(self.text("about").trim()).filter(|about| !about.is_empty());
        let event = Event::Remembered(Remembered {
            text: text.to_owned(),
            from,
            trust,
            origin,
            kind,
            about: about.map(|about| self.state.people.attribution(about)),
        });
        BuiltinOutcome::Decided {
            events: vec![event],
            result: json!({"stored": text}),
        }
    }

    fn recall(&self) -> BuiltinOutcome {
        let limit = self.arguments.get("limit").and_then(Value::as_u64);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        BuiltinOutcome::AskMemory(MemoryQuery::Recall {
            query: self.text("query").to_owned(),
            limit: limit.unwrap_or(RECALL_DEFAULT),
            without: pending(self.state, self.turn),
            through: self.state.seq,
        })
    }

    fn observation(&self) -> Option<Draft> {
        let text = self.text("content");
        let Provenance { trust, origin, .. } = self.provenance(text);
        Some(Draft::Observe(NewObservation {
            content: ObservationText::shortened(text)?,
            source: ObservationSource::shortened("observation")?,
            trust,
            origin: Some(origin),
        }))
    }

    fn attributes(&self) -> Option<Draft> {
        let style = Phrase::shortened(self.text("communication_style"));
        let style = style.map(|style| CommunicationStyle::try_from(style.as_str().to_owned()));
        let interests: Vec<String> = self.read("interests");
        let preferences: std::collections::BTreeMap<String, String> = self.read("preferences");
        let said = [self.text("communication_style"), self.text("temperament")];
        let said = said.into_iter().filter(|text| !text.is_empty());
        let said = said.chain(interests.iter().map(String::as_str));
        let said = said.chain(preferences.keys().map(String::as_str));
        let said = said.chain(preferences.values().map(String::as_str));
        let trusts = said.map(|text| self.provenance(text).trust);
        let trust = trusts.reduce(dormouse_contracts::Trust::lowest)?;
        let preferences = preferences.iter().filter_map(|(subject, value)| {
            Some((Keyword::shortened(subject)?, Preference::shortened(value)?))
        });
        let update = AttributeUpdate {
            communication_style: style.and_then(Result::ok),
            temperament: Phrase::shortened(self.text("temperament")),
            interests: interests
                .iter()
                .filter_map(|interest| Keyword::shortened(interest))
                .collect(),
            preferences: preferences.collect(),
            ..AttributeUpdate::default()
        };
        (!update.is_empty()).then_some(Draft::Attributes(update, trust))
    }

    fn judgement(&self) -> Option<Draft> {
        let change = self.arguments.get("change").and_then(Value::as_f64)?;
        #[expect(clippy::cast_possible_truncation, reason = "a step of at most 0.2")]
        let step = Favorability::try_new(change as f32).ok()?;
        let reason = ChangeReason::shortened(self.text("reason"))?;
        Some(Draft::Judge(step, reason))
    }

    fn action(&self) -> Option<Draft> {
        let priority = self.arguments.get("priority").and_then(Value::as_u64);
        let priority = priority.and_then(|priority| u8::try_from(priority).ok());
        let description = ActionText::shortened(self.text("description"))?;
        Some(Draft::AddAction(description, priority.unwrap_or(1)))
    }

    fn completion(&self) -> Option<Draft> {
        let action = self.arguments.get("action").and_then(Value::as_u64)?;
        Some(Draft::CompleteAction(action))
    }

    fn read<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        let value = self.arguments.get(key).cloned();
        let read = value.map(serde_json::from_value);
        read.and_then(Result::ok).unwrap_or_default()
    }
}

/// The message that is worked on and those that wait: they are dealt with, and not recalled. Those
/// that were given up are not either, or what made them fail would make others fail.
pub(crate) fn pending(state: &State, turn: &Turn) -> Vec<Origin> {
    let waiting = state.turns.waiting().map(Trigger::seq);
    let aside = state.turns.aside().map(Turn::trigger_seq);
    let given_up = state.history.given_up();
    let all = waiting
        .chain(aside)
        .chain(given_up)
        .chain([turn.trigger_seq()]);
    all.map(Origin::event).collect()
}
