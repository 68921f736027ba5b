//! Adding records, and changing or undoing what is recorded.

use dormouse_contracts::{Clock, Seq, Timestamp, invariant};
use dormouse_host::SystemClock;
use dormouse_memory::{Added, ChangeError, MemoryChange, Note, OperatorNote, RecordId};
use serde::Serialize;

use super::{
    args::{Add, Of},
    show::{existing, lost_words},
};
use crate::{
    command::{
        CommandError, CommandFailure, MemoryFile, Missing, Printing, author, print_change, reason,
    },
    exit::Exit,
};

/// What to do if the record does not allow a change.
const CHANGE_HINT: &str =
    "`dormouse memory why ID` lists the changes of a record with their events";

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
    let mut memory = file.open_to_change(Missing::Create).await?;
    let change = MemoryChange::Added { notes: vec![note] };
    let (_, added) = memory.change(change, author(), &reason("added")).await?;
    let added = invariant!(
        added.first().copied(),
        "one note has one result",
        Added::AlreadyThere(RecordId::event(Seq::ZERO))
    );
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
            format!("record {id} already has this text; nothing was added")
        }
    })?;
    Ok(Exit::Success)
}

fn note(asked: Add) -> Note {
    let asked = OperatorNote {
        text: asked.text.join(" "),
        kind: asked.kind,
        by: asked.by,
        thread: asked.thread,
        at: asked.at,
        tags: asked.tag,
        trust: asked.trust,
    };
    asked.note()
}

/// The event concerns a record whose words are gone.
#[derive(Debug, thiserror::Error)]
#[error("event {event} cannot be undone: {lost}")]
struct NoWords {
    event: u64,
    lost: String,
}

impl CommandFailure for NoWords {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Undoes what an event did. If the event was an undo, its changes are made again.
pub(super) async fn undo(
    file: &MemoryFile,
    event: u64,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let mut memory = file.open_to_change(Missing::Fail).await?;
    let added = memory.memory().why(RecordId::event(Seq(event))).await?;
    if let Some(lost) = added.as_ref().and_then(lost_words) {
        return Err(NoWords { event, lost }.into());
    }
    let undone = memory.undo(Seq(event), author(), &reason("undone")).await;
    let undone = undone.map_err(CommandError::from);
    let by = undone.map_err(|error| error.with_hint(CHANGE_HINT))?;
    print_change(printing, by, &format!("event {event} is undone"))
}

/// Excludes a record from recall.
pub(super) async fn withdraw(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let change = MemoryChange::Withdrawn { record: of.id };
    let what = format!("record {} is withdrawn", of.id);
    changed(file, of, change, "withdrawn", &what).await
}

/// Makes a record known to everyone.
pub(super) async fn publish(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let change = MemoryChange::Published { record: of.id };
    let what = format!("record {} is public knowledge now", of.id);
    changed(file, of, change, "published", &what).await
}

/// Removes a record's text.
pub(super) async fn erase(file: &MemoryFile, of: Of) -> Result<Exit, CommandError> {
    let change = MemoryChange::Erased { record: of.id };
    let what = format!("record {} is erased from the memory", of.id);
    changed(file, of, change, "erased", &what).await
}

async fn changed(
    file: &MemoryFile,
    of: Of,
    change: MemoryChange,
    why: &str,
    what: &str,
) -> Result<Exit, CommandError> {
    let mut memory = file.open_to_change(Missing::Fail).await?;
    let made = memory.change(change, author(), &reason(why)).await;
    let made = made.map_err(CommandError::from);
    let (event, _) = made.map_err(|error| error.with_hint(CHANGE_HINT))?;
    print_change(of.json.printing(), event, what)
}

/// Marks a record as no longer valid.
pub(super) async fn supersede(
    file: &MemoryFile,
    of: Of,
    by: Option<RecordId>,
    since: Option<Timestamp>,
) -> Result<Exit, CommandError> {
    let mut memory = file.open_to_change(Missing::Fail).await?;
    if let Some(by) = by {
        existing(memory.memory(), by).await?;
    }
    let record = of.id;
    let reason = reason("superseded");
    let made = memory.supersede(record, (by, since), author(), &reason);
    let made = made.await.map_err(CommandError::from);
    let (event, until) = made.map_err(|error| error.with_hint(CHANGE_HINT))?;
    let what = match until > SystemClock.now() {
        true => format!("record {record} is valid until {until}"),
        false => format!("record {record} is superseded since {until}"),
    };
    print_change(of.json.printing(), event, &what)
}
