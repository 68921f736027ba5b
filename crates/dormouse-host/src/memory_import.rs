//! Records from a file of JSON lines, taken into the memory of an assistant.

use dormouse_contracts::{Audience, Author};
use dormouse_engine::{LoggedChangeError, LoggedMemory};
use dormouse_memory::{Added, ImportBatch, Imported, LineError, MemoryChange};

use crate::host::OpenLog;

/// An import that is under way. Each batch of lines is one event of the log.
#[derive(Debug)]
pub struct MemoryImport {
    author: Author,
    /// Who may learn what a line says that does not name an audience.
    unnamed: Audience,
    /// What came of it so far.
    pub imported: Imported,
    /// The events that added records.
    pub events: Vec<u64>,
}

impl MemoryImport {
    /// Nothing was imported yet. What a line says without an audience may be told to everyone if it `is_public`, as somebody says, and
    /// to nobody otherwise.
    #[must_use]
    pub fn new(author: Author, is_public: bool) -> Self {
        Self {
            author,
            unnamed: match is_public {
                true => Audience::Public,
                false => Audience::nobody(),
            },
            imported: Imported::default(),
            events: Vec::new(),
        }
    }

    /// Takes in the next lines, and returns those that were refused.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`]; what was imported before is kept, and importing the same lines again adds the rest.
    pub async fn take(
        &mut self,
        memory: &mut LoggedMemory<OpenLog>,
        batch: ImportBatch,
    ) -> Result<Vec<(u64, LineError)>, LoggedChangeError> {
        self.imported.lines += batch.read;
        self.imported.refused += batch.refused.len() as u64;
        if !batch.notes.is_empty() {
            let notes = batch.notes.into_iter();
            let notes = notes.map(|note| note.known_to_unless_set(self.unnamed.clone()));
            let change = MemoryChange::Added {
                notes: notes.collect(),
            };
            let author = self.author.clone();
            let (event, added) = memory.change(change, author, "imported").await?;
            self.events.extend(event.map(|event| event.0));
            let new = added.iter().filter(|it| matches!(it, Added::New(_)));
            let new = new.count() as u64;
            self.imported.added += new;
            self.imported.known += added.len() as u64 - new;
        }
        Ok(batch.refused)
    }
}
