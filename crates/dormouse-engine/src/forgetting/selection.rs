//! What is to be forgotten.

use std::collections::BTreeSet;

use dormouse_contracts::{Attribution, Audience, EntityId, Origin, Seq, Timestamp};

use super::{people::Person, words};
use crate::event::Selected;

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// What a person said, and what is stored about them.
    Person(Person),
    /// An event, or a part of one.
    Record(Origin),
    /// A record, and the messages that it was made from.
    WithMessages {
        /// The record.
        record: Origin,
        /// The messages, from [`messages_behind`](super::messages_behind).
        messages: BTreeSet<Origin>,
    },
    /// What was heard, said and noted from the first moment to just before the second one.
    Span {
        /// The first moment; the beginning of the log if absent.
        from: Option<Timestamp>,
        /// The first moment after it; the end of the log if absent.
        until: Option<Timestamp>,
    },
    /// Everything that holds this text, compared word by word.
    Text(String),
    /// Keys, passwords and card numbers. They are masked, and the words around them stay.
    Secrets,
    /// Messages that were heard before a moment and that nothing refers to, with the turns that answered them. The same
    /// words of other people stay.
    Unreferred {
        /// The moment.
        before: Timestamp,
        /// The messages, from [`unreferred`](super::unreferred).
        messages: BTreeSet<Seq>,
    },
    /// What tasks of assistants carried here from another log of the folder, which loses these words.
    Carried,
}

impl Selection {
    /// The selection without its words, as the log keeps it.
    #[must_use]
    pub fn selected(&self) -> Selected {
        match self {
            Self::Person(person) => Selected::Person {
                ids: person.ids.clone(),
            },
            Self::Record(record) => Selected::Record {
                record: *record,
                messages: BTreeSet::new(),
            },
            Self::WithMessages { record, messages } => Selected::Record {
                record: *record,
                messages: messages.clone(),
            },
            Self::Span { from, until } => Selected::Span {
                from: *from,
                until: *until,
            },
            Self::Text(_) => Selected::Text,
            Self::Secrets => Selected::Secrets,
            Self::Unreferred { before, .. } => Selected::Unreferred { before: *before },
            Self::Carried => Selected::Carried,
        }
    }

    /// The person, if one is selected.
    pub(super) fn person(&self) -> Option<&Person> {
        match self {
            Self::Person(person) => Some(person),
            Self::Record(_)
            | Self::WithMessages { .. }
            | Self::Span { .. }
            | Self::Text(_)
            | Self::Secrets
            | Self::Unreferred { .. }
            | Self::Carried => None,
        }
    }

    pub(super) fn is_person(&self, id: Option<&EntityId>) -> bool {
        let ids = self.person().map(|person| &person.ids);
        ids.zip(id).is_some_and(|(ids, id)| ids.contains(id))
    }

    /// Whether it selects the person whom something comes from, or is about.
    pub(super) fn is_of(&self, who: &Attribution) -> bool {
        self.person().is_some_and(|person| person.is(who))
    }

    /// Whether it selects a person who is not among these listeners. If everybody may hear something, it leaves nobody
    /// out.
    pub(super) fn is_left_out_of(&self, audience: Option<&Audience>) -> bool {
        match (self, audience) {
            (Self::Person(person), Some(audience)) => person
                .ids
                .iter()
                .all(|id| audience.includes(id) == Some(false)),
            _ => false,
        }
    }

    /// Whether it selects this record, or the event with all its parts.
    fn is_record(&self, origin: Origin) -> bool {
        let selects = |record: Origin| record == origin || record == Origin::event(origin.seq());
        match self {
            Self::Record(record) => selects(*record),
            Self::WithMessages { record, messages } => {
                selects(*record) || messages.iter().any(|message| selects(*message))
            }
            _ => false,
        }
    }

    /// Whether it selects an event at this place of the log with this text.
    pub(super) fn is_here<'a>(
        &self,
        origin: Origin,
        at: Timestamp,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        match self {
            Self::Person(_) | Self::Secrets | Self::Carried => false,
            Self::Unreferred { messages, .. } => messages.contains(&origin.seq()),
            Self::Record(_) | Self::WithMessages { .. } => self.is_record(origin),
            Self::Span { from, until } => {
                from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until)
            }
            Self::Text(text) => texts.into_iter().any(|here| holds(here, text)),
        }
    }
}

/// Whether a text holds another one, word by word.
pub(super) fn holds(text: &str, part: &str) -> bool {
    let (text, part) = (words::hashes(text), words::hashes(part));
    !part.is_empty() && text.windows(part.len()).any(|here| here == part)
}
