//! What is to be forgotten.

use std::collections::BTreeSet;

use dormouse_contracts::{EntityId, Origin, Seq, Timestamp};

use super::words;
use crate::event::Selected;

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// What a person said, and what is kept of the person: all ids of one person.
    Person(BTreeSet<EntityId>),
    /// An event, or a part of one.
    Record(Origin),
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
    /// Messages that were heard before a moment and that nothing refers to, with the turns that answered them. What others
    /// say in the same words stays.
    Unreferred {
        /// The moment.
        before: Timestamp,
        /// The messages, from [`unreferred`](super::unreferred).
        messages: BTreeSet<Seq>,
    },
}

impl Selection {
    /// The selection without its words, as the log keeps it.
    #[must_use]
    pub fn selected(&self) -> Selected {
        match self {
            Self::Person(ids) => Selected::Person { ids: ids.clone() },
            Self::Record(record) => Selected::Record { record: *record },
            Self::Span { from, until } => Selected::Span {
                from: *from,
                until: *until,
            },
            Self::Text(_) => Selected::Text,
            Self::Secrets => Selected::Secrets,
            Self::Unreferred { before, .. } => Selected::Unreferred { before: *before },
        }
    }

    pub(super) fn is_person(&self, id: Option<&EntityId>) -> bool {
        match self {
            Self::Person(ids) => id.is_some_and(|id| ids.contains(id)),
            Self::Record(_)
            | Self::Span { .. }
            | Self::Text(_)
            | Self::Secrets
            | Self::Unreferred { .. } => false,
        }
    }

    /// Whether it selects what is at this place of the log and says this.
    pub(super) fn is_here<'a>(
        &self,
        origin: Origin,
        at: Timestamp,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        match self {
            Self::Person(_) | Self::Secrets => false,
            Self::Unreferred { messages, .. } => messages.contains(&origin.seq()),
            // An event is taken with all its parts.
            Self::Record(record) => *record == origin || *record == Origin::event(origin.seq()),
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
