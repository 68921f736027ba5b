//! Changes of a journal outside of turns: by a command, or in sleep. Every decision is one event.

use std::collections::BTreeSet;

use dormouse_contracts::{
    AssistantId, Attribution, Audience, Author, Hit, Origin, ReadEvents, Timestamp, Trust,
    each_event,
};
use dormouse_journal::{
    EntryError, EntryId, EntryProvenance, JournalChange, JournalChangeError, JournalEntry,
    JournalSettings, NewEntry,
};
use dormouse_memory::{Collection, Memory, MemoryError, RecallRequest};

use crate::{
    event::{Event, JournalChanged},
    replay::ReplayError,
    secrets,
    state::JournalBook,
};

/// How many more similar entries are asked for than are wanted, because some are not within the bounds of a search.
const SPARE: usize = 3;

impl JournalBook {
    /// The event of these changes.
    pub(crate) fn changed(
        &self,
        changes: Vec<JournalChange>,
        (author, reason): (Author, &str),
    ) -> JournalChanged {
        JournalChanged {
            withdrawn: self.withdrawn(&changes),
            changes,
            author,
            reason: reason.to_owned(),
        }
    }

    /// The event by which an operator writes an entry, without the secrets in it. Everybody may learn of it.
    ///
    /// # Errors
    ///
    /// [`EntryError`] if the entry is not allowed.
    pub fn write_for_operator(
        &self,
        new: NewEntry,
        at: Timestamp,
        settings: &JournalSettings,
        by: (Author, &str),
    ) -> Result<JournalChanged, EntryError> {
        let new = NewEntry {
            content: secrets::prose(new.content.trim()),
            provenance: EntryProvenance {
                audience: Audience::Public,
                ..EntryProvenance::default()
            },
            ..new
        };
        let changes = self.journal().plan_entry(new, at, settings)?;
        Ok(self.changed(changes, by))
    }

    /// The event that puts back an entry that left the journal. After that, neither the limit nor the pruning rule
    /// removes it.
    ///
    /// # Errors
    ///
    /// [`JournalChangeError`] if it is there already, or was never written.
    pub fn restore(
        &self,
        entry: JournalEntry,
        at: Timestamp,
        by: (Author, &str),
    ) -> Result<JournalChanged, JournalChangeError> {
        let restored = JournalChange::Restored {
            entry: Box::new(entry),
        };
        self.journal().clone().apply(&restored, at)?;
        Ok(self.changed(vec![restored], by))
    }

    /// The event that marks entries from which facts were made, and removes the mark from those whose facts were taken
    /// back; `None` if all marks are correct. `read` are the records from which facts were made.
    pub(crate) fn mark_consolidated(
        &self,
        read: &BTreeSet<Origin>,
        by: (Author, &str),
    ) -> Option<JournalChanged> {
        let is_read = |entry: &JournalEntry| {
            let record = self.record(entry.id);
            record.is_some_and(|record| read.contains(&record))
        };
        let wrong = self.journal().entries();
        let wrong = wrong.filter(|entry| is_read(entry) != entry.upkeep.consolidated);
        let (read, unread): (Vec<_>, Vec<_>) = wrong.partition(|entry| is_read(entry));
        let ids = |entries: Vec<&JournalEntry>| -> Vec<EntryId> {
            entries.into_iter().map(|entry| entry.id).collect()
        };
        let mut changes = Vec::new();
        if !read.is_empty() {
            changes.push(JournalChange::Consolidated { entries: ids(read) });
        }
        if !unread.is_empty() {
            let entries = ids(unread);
            changes.push(JournalChange::Unconsolidated { entries });
        }
        (!changes.is_empty()).then(|| self.changed(changes, by))
    }

    /// The event that takes out the oldest of the entries that are old and unimportant; `None` if no entry is.
    #[must_use]
    pub fn prune(
        &self,
        now: Timestamp,
        settings: &JournalSettings,
        by: (Author, &str),
    ) -> Option<JournalChanged> {
        let pruned = self.journal().plan_pruning(now, &settings.pruning)?;
        Some(self.changed(vec![pruned], by))
    }
}

/// The source that an operator names for an entry. No world attests it.
#[must_use]
pub fn named_source(name: Option<&str>) -> Attribution {
    name.map_or(Attribution::Unknown, |name| {
        Attribution::Named(name.to_owned())
    })
}

/// The memory records of entries that the encoder of a memory finds similar to a text, best first, for a search that is to find
/// `limit` entries ([`JournalBook::hits_on_entries`]). Empty without an encoder, or if it fails.
///
/// # Errors
///
/// [`MemoryError`] if the memory cannot be read.
pub async fn similar_entries(
    memory: &Memory,
    text: &str,
    limit: usize,
    listeners: Option<Audience>,
    now: Timestamp,
) -> Result<Vec<Hit>, MemoryError> {
    let mut request = RecallRequest::new(text)
        .limit(limit.saturating_mul(SPARE))
        .in_collection(Collection::Journal)
        .min_trust(Trust::NONE)
        .min_quote_trust(Trust::NONE)
        .asked_at(now);
    if let Some(listeners) = listeners {
        request = request.for_listeners(listeners);
    }
    memory.similar_records(&request).await
}

/// The entry with this number as it was when it left the journal last, by its log; `None` if it never left, or was forgotten.
/// Takes time linear in the log.
///
/// # Errors
///
/// [`ReplayError`], which names the first event that could not be read.
pub async fn left_entry<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    id: EntryId,
) -> Result<Option<JournalEntry>, ReplayError> {
    let mut book = JournalBook::default();
    let mut found = None;
    each_event(log, key, .., |stored| {
        if stored.kind == "journal_changed"
            && let Event::JournalChanged(changed) = Event::decode(stored)?
        {
            book.fold(stored.seq, stored.at, &changed, |entry| {
                if entry.id == id {
                    found = Some(entry);
                }
            });
        }
        Ok::<_, ReplayError>(())
    })
    .await?;
    Ok(found)
}
