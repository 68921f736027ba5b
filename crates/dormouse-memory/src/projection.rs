//! What recall looks at: the words of every record and what it is filtered by, in memory. All of it is made of the
//! store's records; a copy beside the store only makes starting faster.

mod file;
mod meta;

use dormouse_retrieval::{Config, Index, Unit};

use crate::{change::ChangeSeq, record::Record};
#[cfg(test)]
pub(crate) use file::{CopyDisk, Files};
pub(crate) use file::{IndexCopy, Loaded, encode};
pub(crate) use meta::{Meta, Metas};

/// The words and filters of all records, as they are after a certain change.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) index: Index,
    pub(crate) metas: Metas,
    /// The last change that is in it.
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

    /// Takes in a record as it is now. Taking in the same state twice changes nothing.
    pub(crate) fn take(&mut self, record: &Record) {
        let had_it = self.metas.get(record.id).is_some_and(|meta| meta.in_use);
        self.metas.set(record.id, Meta::of(record));
        if !record.is_in_use() {
            if had_it {
                self.index.remove(record.id.0);
            }
        } else if !had_it {
            // A record's text, time, thread and speaker never change while it is in use.
            self.index.insert(&unit(record));
        }
    }
}

fn unit(record: &Record) -> Unit<'_> {
    Unit {
        id: record.id.0,
        text: &record.text,
        speaker: record.speaker.as_ref().map(|speaker| speaker.name.as_str()),
        thread: record.thread.as_deref(),
        at: record.at,
    }
}
