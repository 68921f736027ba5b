//! Words were forgotten.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{EntityId, Origin, Timestamp};
use serde::{Deserialize, Serialize};

/// An operator had words forgotten: the events before this one were rewritten without them.
///
/// It holds no word of what was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// What was selected.
    pub selected: Selected,
    /// Who had it forgotten.
    pub by: String,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How many events lost words.
    pub events: u64,
    /// How many events of each kind of thing lost words.
    pub taken: BTreeMap<String, u64>,
    /// The SHA-256 of all events before this one as they were, in hexadecimal.
    pub log_before: String,
    /// The SHA-256 of the same events as they are now.
    pub log_after: String,
}

/// What an operator selected to be forgotten, without its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Selected {
    /// What one person said, and what is kept of them.
    Person {
        /// All ids of the person.
        ids: BTreeSet<EntityId>,
    },
    /// One event, or one part of an event.
    Record {
        /// Which.
        record: Origin,
        /// The messages that it was made from, if they were selected as well.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        messages: BTreeSet<Origin>,
    },
    /// What was heard and noted in a span of time.
    Span {
        /// The first moment of it; the beginning of the log if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Timestamp>,
        /// The first moment after it; the end of the log if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Everything that contains a text.
    Text,
    /// Keys, passwords and card numbers, which were masked.
    Secrets,
    /// Old messages that nothing referred to.
    Unreferred {
        /// They were heard before this moment.
        before: Timestamp,
    },
    /// Words that tasks carried here from another log, which lost them.
    Carried,
}

impl Selected {
    /// The ids of the person, if a person was selected.
    pub fn ids(&self) -> impl Iterator<Item = &EntityId> {
        let ids = match self {
            Self::Person { ids } => Some(ids),
            Self::Record { .. }
            | Self::Span { .. }
            | Self::Text
            | Self::Secrets
            | Self::Unreferred { .. }
            | Self::Carried => None,
        };
        ids.into_iter().flatten()
    }
}
