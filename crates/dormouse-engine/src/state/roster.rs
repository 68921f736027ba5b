//! What an operator decided about the assistant as a whole.

use std::collections::BTreeSet;

use dormouse_contracts::{Author, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{Beginning, Event, RosterChange, Tag};

/// What an operator decided about the assistant as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roster {
    /// The description with which it was created. Empty for an assistant from the configuration file, and in older
    /// logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beginning: Option<Box<Beginning>>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// Its archiving, if it is archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<Archived>,
}

/// Since when, by whom and why an assistant is archived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Archived {
    /// Since when.
    pub at: Timestamp,
    /// Who archived it.
    pub by: Author,
    /// Why, in words.
    pub reason: String,
}

impl Roster {
    pub(super) fn apply(&mut self, at: Timestamp, event: &Event) {
        let Event::RosterChanged(changed) = event else {
            return;
        };
        match &changed.change {
            RosterChange::Created(beginning) => self.beginning = Some(beginning.clone()),
            RosterChange::Tagged(tags) => self.tags.clone_from(tags),
            RosterChange::Archived => {
                self.archived = Some(Archived {
                    at,
                    by: changed.author.clone(),
                    reason: changed.reason.clone(),
                });
            }
            RosterChange::Restored => self.archived = None,
        }
    }

    /// Whether a change would have an effect.
    #[must_use]
    pub fn has_effect(&self, change: &RosterChange) -> bool {
        match change {
            RosterChange::Created(_) => true,
            RosterChange::Tagged(tags) => *tags != self.tags,
            RosterChange::Archived => self.archived.is_none(),
            RosterChange::Restored => self.archived.is_some(),
        }
    }
}
