//! A call of one of the engine's own tools.

use dormouse_contracts::{Arguments, Origin, Trust};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    BuiltinOutcome, Draft, MemoryQuery, NotShown, Provenance, accounts, provenance::provenance,
};
use crate::{
    privacy::listeners,
    results::named_origin,
    state::{State, Turn},
};

/// A call whose arguments fit the schema of its tool.
pub(super) struct Call<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) quote_trust: Trust,
    pub(super) state: &'a State,
    pub(super) turn: &'a Turn,
}

impl Call<'_> {
    /// A text of the arguments; empty if it is absent.
    pub(super) fn text(&self, key: &str) -> &str {
        let value = self.arguments.get(key).and_then(Value::as_str);
        value.unwrap_or_default()
    }

    /// An argument of this type; the default if it is absent.
    pub(super) fn read<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        let value = self.arguments.get(key).cloned();
        let read = value.map(serde_json::from_value);
        read.and_then(Result::ok).unwrap_or_default()
    }

    /// The name of whom a note is about. At the beginning of a note it needs no source: it is looked up among those who are
    /// known.
    pub(super) fn subject(&self) -> String {
        let who = self.text("entity");
        let person = self.state.people.attribution(who);
        person.name().unwrap_or(who).to_owned()
    }

    /// How far what this call notes is believed, and whom it comes from. `subject` is the name of whom it is about.
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

    /// The events that the named sources go back to.
    pub(super) fn origins(&self) -> Vec<Origin> {
        let sources = self.sources();
        let origins = sources.iter().filter_map(|source| named_origin(source));
        origins.collect()
    }

    /// Changes what is known of somebody, if there is anything in the draft. `belief` is what the result says of how far it
    /// is believed.
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
