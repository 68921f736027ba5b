//! Requests to do something later: what to wait for, for whom, and what to do then. "When Bob comes, tell him that the vault is
//! open", "remind me tomorrow at eight to bake".
//!
//! Understands a condition before a request or after it. It never guesses: a request that it does not understand is not
//! noted, and a pronoun means somebody only if the sentence names them.

use dormouse_contracts::{AwaitedKind, Timestamp};

use crate::{
    english::later::Does,
    promise::{IT_IS_TIME, Unclear},
    words::Word,
};

mod request;
#[cfg(test)]
pub(crate) mod tests;

use request::Request;

/// What somebody wants to be done later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Later {
    /// For whom.
    pub(crate) who: Person,
    /// What is done then.
    pub(crate) does: Does,
    /// What to say about it, in the words of the request; empty if only the event itself is to be reported.
    pub(crate) what: String,
    pub(crate) when: Vec<LaterEvent>,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    /// What it waits for, in the words of the request.
    pub(crate) said: String,
}

impl Later {
    /// Whether it is a plain reminder of the speaker: it waits for a moment and for no event.
    pub(crate) fn is_reminder(&self) -> bool {
        self.when.is_empty() && self.who == Person::Me && self.does == Does::Remind
    }

    /// The text of the pending action. `asker` is the name of the one who asks.
    pub(crate) fn description(&self, asker: &str) -> String {
        let what = match (self.what.is_empty(), self.does) {
            (_, Does::Greet) => "hello",
            (true, Does::Thank) => "thanks",
            (true, _) if self.when.is_empty() => IT_IS_TIME,
            // Only the event is reported.
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

/// Begins a description of something to say on somebody's behalf. Their name follows.
pub(crate) const PASS_ON: &str = "pass on from ";
/// Begins a description of a question to ask on somebody's behalf. Their name follows.
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

/// Returns what the words ask for, if they ask for something later. `now` is when they were said.
pub(crate) fn later(text: &str, words: &[Word], now: Timestamp) -> Option<Result<Later, Unclear>> {
    let request = Request { text, words, now };
    let found = request
        .condition_first()
        .or_else(|| request.action_first())?;
    Some(found.resolved())
}
