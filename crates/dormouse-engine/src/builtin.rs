//! The engine's own tools, whose calls stay within the assistant: noop, its memory, and whom it knows.
//!
//! This module decides what a call asks for. If that needs the memory, the result is a [`MemoryQuery`], which is
//! carried out like a call to the outside.

mod accounts;
mod memory_query;
mod provenance;
mod shown;
mod tools;

use std::collections::BTreeMap;

use dormouse_contracts::{Arguments, Origin, Timestamp, Trust};
use dormouse_entities::{
    ActionText, AttributeUpdate, ChangeReason, CommunicationStyle, Favorability, Keyword,
    NewObservation, ObservationSource, ObservationText, Phrase, Preference,
};
use dormouse_memory::RecordKind;
use dormouse_text::beginning;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    event::{Event, Remembered},
    privacy::listeners,
    results::named_origin,
    state::{Promises, State, Trigger, Turn},
};
pub(crate) use memory_query::{Basis, Draft, MemoryAnswer, MemoryQuery};
use provenance::{MOST_SOURCES, NotShown, Provenance, provenance};
pub(crate) use provenance::{
    least_trusted, shown_score, sources_of_note, sources_of_reply, trust_in_names, trust_of_reply,
};
pub use tools::builtin_tools;
pub(crate) use tools::{GET_ENTITY_PROFILE, RECALL_MEMORIES, barest_tools, is_look_up, is_own};

/// How many lines a recall returns if the model does not say.
const RECALL_DEFAULT: usize = 5;
/// How much of an id that is not known is repeated, in characters.
const SOURCE_SHOWN: usize = 40;

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
    quote_trust: Trust,
    state: &State,
    turn: &Turn,
) -> BuiltinOutcome {
    let call = Call {
        arguments,
        quote_trust,
        state,
        turn,
    };
    let decided = match name {
        tools::STORE_MEMORY => call.store(),
        tools::RECALL_MEMORIES => Ok(call.recall()),
        tools::GET_ENTITY_PROFILE => {
            let who = call.text("entity").to_owned();
            let listeners = listeners(state, turn);
            Ok(BuiltinOutcome::AskMemory(MemoryQuery::Profile {
                who,
                listeners,
            }))
        }
        tools::ADD_ENTITY_OBSERVATION
        | tools::UPDATE_ENTITY_PROFILE
        | tools::UPDATE_RELATIONSHIP
        | tools::ADD_PENDING_ACTION
        | tools::COMPLETE_PENDING_ACTION => call.change(name),
        _ => Ok(BuiltinOutcome::Decided {
            events: Vec::new(),
            result: json!({}),
        }),
    };
    decided.unwrap_or_else(|NotShown(source)| {
        let source = beginning(&source, SOURCE_SHOWN);
        BuiltinOutcome::Refused(format!(
            "{source:?} is not the id of anything that was shown to you: name ids such as #{}, or leave sources out",
            turn.trigger_seq()
        ))
    })
}

struct Call<'a> {
    arguments: &'a Arguments,
    quote_trust: Trust,
    state: &'a State,
    turn: &'a Turn,
}

impl Call<'_> {
    fn text(&self, key: &str) -> &str {
        let value = self.arguments.get(key).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    /// How far what this call notes is believed, and whom it comes from. `subject` is the name of whom it is about.
    fn provenance(&self, text: &str, subject: &str) -> Result<Provenance, NotShown> {
        provenance(text, subject, &self.sources(), self.state, self.turn)
    }

    /// The same for a claim, which independent accounts may make more credible.
    fn claim(&self, text: &str, subject: &str) -> Result<Provenance, NotShown> {
        let mut provenance = self.provenance(text, subject)?;
        let settings = &self.state.configuration.settings;
        let needed = settings.independent_accounts as usize;
        if needed > 1 && provenance.trust < accounts::CORROBORATED {
            let floor = self.quote_trust;
            let found = accounts::independent(text, subject, self.state, self.turn, floor);
            if found.len() >= needed {
                provenance.corroborate(&found);
            }
        }
        Ok(provenance)
    }

    /// The sources that the model names.
    fn sources(&self) -> Vec<String> {
        self.read("sources")
    }

    fn store(&self) -> Result<BuiltinOutcome, NotShown> {
        let text = self.text("text");
        if text.trim().is_empty() {
            return Ok(BuiltinOutcome::Refused("the text is blank".to_owned()));
        }
        let about = Some(self.text("about").trim()).filter(|about| !about.is_empty());
        let kind = self.text("kind").parse().unwrap_or(RecordKind::Fact);
        // What it is about is searched like its text, so it is noted with it.
        let noted = [text, about.unwrap_or_default()].join("\n");
        let mut provenance = self.claim(&noted, "")?;
        if kind == RecordKind::Insight {
            provenance.infer();
        }
        let belief = provenance.belief();
        let remembered = Remembered {
            text: text.to_owned(),
            from: provenance.from,
            trust: provenance.trust,
            origin: provenance.origin,
            sources: provenance.sources,
            kind,
            about: about.map(|about| self.state.people.attribution(about)),
            audience: provenance.audience,
        };
        let mut result = json!({"stored": text});
        if let (Value::Object(fields), Value::Object(belief)) = (&mut result, belief) {
            fields.extend(belief);
        }
        let sources = self.origins();
        if sources.is_empty() {
            return Ok(BuiltinOutcome::Decided {
                events: vec![Event::Remembered(remembered)],
                result,
            });
        }
        Ok(BuiltinOutcome::AskMemory(MemoryQuery::Store {
            remembered: Box::new(remembered),
            sources,
            result,
        }))
    }

    /// The events that the named sources go back to.
    fn origins(&self) -> Vec<Origin> {
        let sources = self.sources();
        let origins = sources.iter().filter_map(|source| named_origin(source));
        origins.collect()
    }

    /// A note about somebody. At its beginning, the name that it is noted under needs no source: it is looked up among
    /// those who are known.
    fn change(&self, name: &str) -> Result<BuiltinOutcome, NotShown> {
        let who = self.text("entity");
        let person = self.state.people.attribution(who);
        let subject = person.name().unwrap_or(who);
        let (draft, belief) = match name {
            tools::ADD_ENTITY_OBSERVATION => {
                let provenance = self.claim(self.text("content"), subject)?;
                (self.observation(&provenance), Some(provenance.belief()))
            }
            tools::UPDATE_ENTITY_PROFILE => {
                let provenance = self.claim(&self.attributes_as_text(), subject)?;
                (self.attributes(&provenance), Some(provenance.belief()))
            }
            tools::UPDATE_RELATIONSHIP => {
                // Whom it is about needs a source here: "be kind to him" does not say to whom.
                let judged = [subject, self.text("reason")].join("\n");
                let provenance = self.provenance(&judged, "")?;
                (self.judgement(&provenance), Some(provenance.applied()))
            }
            tools::ADD_PENDING_ACTION => {
                let due_at = match self.moment("due_at") {
                    Ok(due_at) => due_at,
                    Err(refusal) => return Ok(BuiltinOutcome::Refused(refusal)),
                };
                let provenance = self.provenance(self.text("description"), subject)?;
                (self.action(due_at, &provenance), Some(provenance.shown()))
            }
            _ => (self.completion(), None),
        };
        Ok(match draft {
            Some(draft) => BuiltinOutcome::AskMemory(MemoryQuery::Change {
                who: who.to_owned(),
                draft: Box::new(draft),
                sources: self.origins(),
                belief,
                listeners: listeners(self.state, self.turn),
            }),
            None => {
                BuiltinOutcome::Refused("there is nothing in it that could be noted".to_owned())
            }
        })
    }

    fn attributes_as_text(&self) -> String {
        let interests: Vec<String> = self.read("interests");
        let preferences: BTreeMap<String, String> = self.read("preferences");
        let preferences = preferences
            .iter()
            .map(|(subject, value)| format!("{subject} {value}"));
        let said = [self.text("communication_style"), self.text("temperament")];
        let said = said.into_iter().map(str::to_owned);
        let said = said.chain(interests).chain(preferences);
        said.collect::<Vec<_>>().join("\n")
    }

    fn recall(&self) -> BuiltinOutcome {
        let limit = self.arguments.get("limit").and_then(Value::as_u64);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        BuiltinOutcome::AskMemory(MemoryQuery::Recall {
            query: self.text("query").to_owned(),
            limit: limit.unwrap_or(RECALL_DEFAULT),
            without: pending(self.state, self.turn),
            through: self.state.seq,
            quote_trust: self.quote_trust,
            listeners: listeners(self.state, self.turn),
        })
    }

    fn observation(&self, provenance: &Provenance) -> Option<Draft> {
        let text = self.text("content");
        Some(Draft::Observe(NewObservation {
            content: ObservationText::shortened(text)?,
            source: ObservationSource::shortened("observation")?,
            trust: provenance.trust,
            origin: Some(provenance.origin),
            sources: provenance.sources.clone(),
            audience: provenance.audience.clone(),
        }))
    }

    fn attributes(&self, provenance: &Provenance) -> Option<Draft> {
        let style = Phrase::shortened(self.text("communication_style"));
        let style = style.map(|style| CommunicationStyle::try_from(style.as_str().to_owned()));
        let interests: Vec<String> = self.read("interests");
        let preferences: BTreeMap<String, String> = self.read("preferences");
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
        (!update.is_empty()).then(|| Draft::Attributes(update, Basis::of(provenance)))
    }

    fn judgement(&self, provenance: &Provenance) -> Option<Draft> {
        let change = self.arguments.get("change").and_then(Value::as_f64)?;
        #[expect(clippy::cast_possible_truncation, reason = "a step of at most 0.2")]
        let step = Favorability::try_new(change as f32).ok()?;
        let reason = ChangeReason::shortened(self.text("reason"))?;
        Some(Draft::Judge(step, reason, Basis::of(provenance)))
    }

    fn action(&self, due_at: Option<Timestamp>, provenance: &Provenance) -> Option<Draft> {
        let priority = self.arguments.get("priority").and_then(Value::as_u64);
        let priority = priority.and_then(|priority| u8::try_from(priority).ok());
        let description = ActionText::shortened(self.text("description"))?;
        Some(Draft::AddAction(
            description,
            priority.unwrap_or(1),
            due_at,
            Basis::of(provenance),
        ))
    }

    /// The moment in an argument, if there is one.
    fn moment(&self, key: &str) -> Result<Option<Timestamp>, String> {
        let text = self.text(key);
        if text.is_empty() {
            return Ok(None);
        }
        if self.state.promises.iter().len() >= Promises::MOST {
            return Err("too many things are to be done at a moment already".to_owned());
        }
        text.parse().map(Some).map_err(|_invalid| {
            format!("{key} is {text:?}; expected a date and time such as 2026-11-23T18:00:00Z")
        })
    }

    fn completion(&self) -> Option<Draft> {
        let action = self.arguments.get("action").and_then(Value::as_u64)?;
        // The memory knows when it was noted.
        Some(Draft::CompleteAction(action, None))
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
