//! Adding records, and changing or undoing what is recorded.

use dormouse::SystemClock;
use dormouse_contracts::{Clock, Timestamp};
use dormouse_memory::{Added, ChangeError, Derivation, Note, RecordId, source_key_of};
use serde::Serialize;

use super::{
    args::{Add, Of},
    show::existing,
};
use crate::{
    command::{CommandError, MemoryFile, Printing, print_change, reason, with_hint},
    exit::Exit,
};

/// What to do if a change cannot be undone.
const UNDO_HINT: &str = "`dormouse memory why ID` lists the changes of a record with their numbers";

#[derive(Serialize)]
struct AddedLine {
    r#type: &'static str,
    id: String,
    new: bool,
}

/// Adds a record. The same text of the same speaker and time is not added twice.
pub(super) async fn add(file: &MemoryFile, asked: Add) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let note = note(asked);
    // Checked before the memory is opened, because opening would create one.
    note.check()
        .map_err(|error| CommandError::Memory(ChangeError::Note(error).into()))?;
    let memory = file.open_or_create().await?;
    let added = memory.add(note, &reason("added")).await?;
    let new = matches!(added, Added::New(_));
    let line = AddedLine {
        r#type: "added",
        id: added.id().to_string(),
        new,
    };
    printing.print(&line, || {
        let id = added.id();
        if new {
            format!("{id} added")
        } else {
            format!("{id} already says this")
        }
    })?;
    Ok(Exit::Success)
}

fn note(asked: Add) -> Note {
    let text = asked.text.join(" ");
    let mut note = Note::new(&*text)
        .kind(asked.kind)
        .derivation(Derivation::Stored);
    if let Some(at) = asked.at {
        let (by, thread) = (asked.by.as_deref(), asked.thread.as_deref());
        note = note
            .at(at)
            .from_source(source_key_of(by, Some(at), &text, thread));
    }
    if let Some(by) = asked.by {
        note = note.said_by(by);
    }
    if let Some(thread) = asked.thread {
        note = note.in_thread(thread);
    }
    if let Some(trust) = asked.trust {
        note = note.trusted(trust);
    }
    asked.tag.into_iter().fold(note, Note::tagged)
}

/// Undoes a change.
pub(super) async fn undo(
    file: &MemoryFile,
    change: u64,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let memory = file.open().await?;
    let undone = memory.revert(change, &reason("undone")).await;
    let by = undone.map_err(|error| with_hint(error, UNDO_HINT))?;
    print_change(printing, by, &format!("change {change} undone"))
}

/// Takes a record out of recall.
pub(super) async fn withdraw(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let memory = file.open().await?;
    let change = memory.withdraw(of.id, &reason("withdrawn")).await?;
    print_change(of.json.printing(), change, &format!("{} withdrawn", of.id))
}

/// Removes a record's text.
pub(super) async fn erase(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let memory = file.open().await?;
    let change = memory.erase(of.id, &reason("erased")).await?;
    print_change(
        of.json.printing(),
        change,
        &format!("{} erased from the memory for good", of.id),
    )
}

/// Marks a record as no longer valid.
pub(super) async fn supersede(
    file: &MemoryFile,
    of: Of,
    by: Option<RecordId>,
    since: Option<Timestamp>,
) -> Result<Exit, CommandError> {
    let memory = file.open().await?;
    let until = match (since, by) {
        (Some(since), _) => since,
        (None, Some(by)) => existing(&memory, by).await?.valid_from,
        (None, None) => SystemClock.now(),
    };
    let reason = reason("superseded");
    let change = memory.supersede(of.id, by, until, &reason).await?;
    print_change(
        of.json.printing(),
        change,
        &format!("{} superseded as of {until}", of.id),
    )
}
