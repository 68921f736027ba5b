//! Requests to do something later: what to wait for, for whom, and what to do then. "When Bob comes, tell him that the vault is
//! open", "remind me tomorrow at eight to bake".
//!
//! Understands a condition before a request or after it. What it does not understand is not made: nothing is guessed, and a
//! pronoun means somebody only if the sentence names them.

use dormouse_contracts::{AwaitedKind, Timestamp};

use crate::{english::later::Does, words::Word};

mod request;
#[cfg(test)]
mod tests;

use request::Request;

/// What somebody wants to be done later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Later {
    /// For whom.
    pub(crate) who: Person,
    /// What is done then.
    pub(crate) does: Does,
    /// What about, in the words of the request; empty if it is only about what has happened.
    pub(crate) what: String,
    pub(crate) when: Vec<LaterEvent>,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    /// What it waits for, in the words of the request.
    pub(crate) said: String,
}

impl Later {
    /// Whether the speaker is to be reminded at a moment, and of nothing that may happen.
    pub(crate) fn is_reminder(&self) -> bool {
        self.when.is_empty() && self.who == Person::Me && self.does == Does::Remind
    }

    /// What is noted to be done. `asker` is the name of the one who asks.
    pub(crate) fn description(&self, asker: &str) -> String {
        let what = match (self.what.is_empty(), self.does) {
            (_, Does::Greet) => "hello",
            (true, Does::Thank) => "thanks",
            (true, _) if self.when.is_empty() => "it is time",
            // Only that it has happened.
            (true, _) => self
                .said
                .split_once(' ')
                .map_or(&*self.said, |(_, fact)| fact),
            (false, _) => &self.what,
        };
        match (&self.who, self.does) {
            (Person::Me, _) => what.to_owned(),
            (_, Does::Ask) => format!("{ASK_FOR}{asker}: {what}"),
            (_, Does::Thank) if what != "thanks" => format!("{PASS_ON}{asker}: thanks for {what}"),
            _ => format!("{PASS_ON}{asker}: {what}"),
        }
    }
}

/// What a description begins with that is said on behalf of somebody else, before their name.
pub(crate) const PASS_ON: &str = "pass on from ";
/// The same of a question.
pub(crate) const ASK_FOR: &str = "ask for ";

/// Something to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaterEvent {
    pub(crate) kind: AwaitedKind,
    pub(crate) who: Person,
    /// What a text has to say; empty if it is about a person.
    pub(crate) words: String,
}

/// Somebody in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    /// The one who asks.
    Me,
    Named(String),
    Anybody,
    /// "he", "her", "them".
    Pronoun,
}

/// Why a request that asks for something later cannot be noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unclear {
    /// Nobody can tell whom it means.
    Person,
}

/// What the words ask to be done later, if they do. `now` is when they were said.
pub(crate) fn later(text: &str, words: &[Word], now: Timestamp) -> Option<Result<Later, Unclear>> {
    let request = Request { text, words, now };
    let found = request
        .condition_first()
        .or_else(|| request.action_first())?;
    Some(found.resolved())
}
