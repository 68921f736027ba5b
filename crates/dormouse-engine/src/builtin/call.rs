//! A call of one of the engine's own tools.

use dormouse_contracts::{
    Arguments, AssistantId, Audience, Author, CallId, EffectKey, Origin, Timestamp, Trust,
};
use dormouse_text::one_line;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    BuiltinOutcome, Draft, MemoryQuery, NotShown, Provenance, accounts, provenance::provenance,
};
use crate::{
    decide::effect_key_of,
    event::{GoalMoment, GoalNote},
    privacy::{KnownProject, Shareable, listeners},
    recurrence::Recurrence,
    results::named_origin,
    state::{Goal, State, Turn},
};

/// A call whose arguments fit the schema of its tool.
pub(super) struct Call<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) quote_trust: Trust,
    pub(super) state: &'a State,
    pub(super) turn: &'a Turn,
    /// When it is decided.
    pub(super) now: Timestamp,
    /// The assistant itself.
    pub(super) own: &'a AssistantId,
}

impl Call<'_> {
    /// A unique key for what this call does.
    pub(super) fn effect_key(&self) -> Option<EffectKey> {
        effect_key_of(self.own, self.state.seq.next(), self.now)
    }

    /// A text of the arguments; empty if it is absent.
    pub(super) fn text(&self, key: &str) -> &str {
        let value = self.arguments.get(key).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    /// The moment in an argument, if there is one.
    pub(super) fn moment(&self, key: &str) -> Result<Option<Timestamp>, String> {
        let text = self.text(key);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_invalid| {
            format!("{key} is {text:?}; expected a date and time such as 2026-11-23T18:00:00Z")
        })
    }

    /// An argument of this type; the default if it is absent.
    pub(super) fn read<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        let value = self.arguments.get(key).cloned();
        let read = value.map(serde_json::from_value);
        read.and_then(Result::ok).unwrap_or_default()
    }

    /// The name of the person that a note is about. It needs no source, because it is looked up among known people.
    pub(super) fn subject(&self) -> String {
        let who = self.text("entity");
        let person = self.state.people.attribution(who);
        person.name().unwrap_or(who).to_owned()
    }

    /// The trust and the origin of what this call notes. `subject` is the name of the person it is about.
    pub(super) fn provenance(&self, text: &str, subject: &str) -> Result<Provenance, NotShown> {
        provenance(text, subject, &self.sources(), self.state, self.turn)
    }

    /// The same for a claim, which independent accounts may make more credible.
    pub(super) fn claim(&self, text: &str, subject: &str) -> Result<Provenance, NotShown> {
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

    /// The events of the named sources.
    pub(super) fn origins(&self) -> Vec<Origin> {
        let sources = self.sources();
        let origins = sources.iter().filter_map(|source| named_origin(source));
        origins.collect()
    }

    /// How important something is, if the call says so.
    pub(super) fn priority(&self) -> Option<u8> {
        let priority = self.arguments.get("priority").and_then(Value::as_u64);
        priority.and_then(|priority| u8::try_from(priority).ok())
    }

    /// The goal with the number in an argument, if there is one. A goal that not everybody who listens perceived is not known
    /// here.
    pub(super) fn goal(&self, key: &str) -> Result<Option<&Goal>, String> {
        let Some(number) = self.arguments.get(key).and_then(Value::as_u64) else {
            return Ok(None);
        };
        let goals = Shareable::of(self.state, self.turn).goals;
        let mut goals = goals.iter().map(|known| known.goal);
        let goal = goals.find(|goal| u64::from(goal.id.0) == number);
        goal.map(Some)
            .ok_or_else(|| format!("there is no goal {number}"))
    }

    /// The texts of these arguments, one in a line.
    pub(super) fn texts(&self, keys: &[&str]) -> String {
        let texts: Vec<_> = keys.iter().map(|key| self.text(key)).collect();
        texts.join("\n")
    }

    /// The projects that everybody who listens perceived.
    pub(super) fn projects(&self) -> Vec<KnownProject<'_>> {
        Shareable::of(self.state, self.turn).projects
    }

    /// When a goal is due, if the call says so.
    pub(super) fn goal_moment(&self) -> Result<Option<GoalMoment>, String> {
        let repeats = match self.text("repeats") {
            "" => None,
            text => Some(
                text.parse::<Recurrence>()
                    .map_err(|error| error.to_string())?,
            ),
        };
        let due_at = self.moment("due_at")?;
        if due_at.is_none() && repeats.is_none() {
            return Ok(None);
        }
        let moment = GoalMoment::of(due_at, repeats, self.now);
        moment.map(Some).map_err(|error| error.to_string())
    }

    /// The words in an argument, with where they come from.
    pub(super) fn goal_note(&self, key: &str, provenance: &Provenance) -> GoalNote {
        GoalNote {
            text: one_line(self.text(key)),
            trust: provenance.trust,
            audience: provenance.audience.clone().unwrap_or(Audience::nobody()),
            sources: provenance.sources.clone(),
        }
    }

    /// The same, if the argument is there.
    pub(super) fn given_note(&self, key: &str, provenance: &Provenance) -> Option<GoalNote> {
        (!self.text(key).is_empty()).then(|| self.goal_note(key, provenance))
    }

    /// The id of this call.
    pub(super) fn id(&self) -> Result<CallId, String> {
        let open = self.turn.open_call().map(|call| call.id().clone());
        open.ok_or_else(|| "no call is open".to_owned())
    }

    /// The assistant, by this call.
    pub(super) fn author(&self) -> Result<Author, String> {
        Ok(Author::Tool(self.id()?))
    }

    /// Changes what is known about somebody, unless the draft is empty. `belief` is the part of the result about its
    /// trust.
    pub(super) fn change(&self, draft: Option<Draft>, belief: Option<Value>) -> BuiltinOutcome {
        let Some(draft) = draft else {
            let why = "there is nothing in it that could be noted";
            return BuiltinOutcome::Refused(why.to_owned());
        };
        BuiltinOutcome::AskMemory(MemoryQuery::Change {
            who: self.text("entity").to_owned(),
            draft: Box::new(draft),
            sources: self.origins(),
            belief,
            listeners: listeners(self.state, self.turn),
        })
    }
}
