//! What recall searches: the words of every record and the values it is filtered by, in memory. All of it is derived from
//! the records in the store; a copy next to the file only makes starting faster.

mod lazy;
mod meta;

use dormouse_contracts::Attribution;
use dormouse_retrieval::{Config, Index, Speaker, Unit};

use crate::{change::ChangeSeq, record::Record};
pub(crate) use lazy::{LazyProjection, ProjectionSource, ReadingTime};
pub(crate) use meta::{Audiences, Meta, Metas};

/// The words and filter values of all records, as they are after a certain change.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) index: Index,
    pub(crate) metas: Metas,
    /// The last change that was applied.
    pub(crate) through: ChangeSeq,
}

impl Projection {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            index: Index::new(config),
            metas: Metas::default(),
            through: 0,
        }
    }

    /// Applies the present state of a record. Applying the same state twice changes nothing.
    pub(crate) fn apply(&mut self, record: &Record) {
        let had_it = self.metas.get(record.id).is_some_and(|meta| meta.in_use);
        let audience = self.metas.audiences.number_of(record.known_to());
        self.metas.set(record.id, Meta::of(record, audience));
        if !record.is_in_use() {
            if had_it {
                self.index.remove(record.id.to_number());
            }
        } else if !had_it {
            // A record that is in the index stays as it is: its text, time, thread and speaker never change while it is
            // in use.
            self.index.insert(&unit(record));
        }
    }
}

fn unit(record: &Record) -> Unit<'_> {
    Unit {
        id: record.id.to_number(),
        text: &record.text,
        speaker: speaker(&record.speaker),
        thread: record.thread.as_deref(),
        at: record.at,
    }
}

/// The speaker as the search knows people: by name, and by id if there is one. The assistant is known by its role, so that a
/// question finds what "you" said.
pub(crate) fn speaker(from: &Attribution) -> Option<Speaker<'_>> {
    if *from == Attribution::Myself {
        return Some("assistant".into());
    }
    let id = from.id().map(dormouse_contracts::EntityId::as_str);
    from.name().map(|name| Speaker { name, id })
}
