//! Remembering something.

use std::env;

use dormouse_memory::{Added, Derivation, Note, origin_of};
use serde::Serialize;

use super::{Add, CommandError, Place, Teller};
use crate::exit::Exit;

#[derive(Serialize)]
struct AddedLine {
    r#type: &'static str,
    id: String,
    new: bool,
}

/// Adds a record. The same said again by the same at the same time is no second one.
pub(super) async fn add(place: &Place, asked: Add) -> Result<Exit, CommandError> {
    let form = asked.form;
    let note = note(asked);
    note.check()
        .map_err(|error| CommandError::Memory(dormouse_memory::ChangeError::Note(error).into()))?;
    let memory = place.open_or_make().await?;
    let added = memory.add(note, &reason("added")).await?;
    let new = matches!(added, Added::New(_));
    let line = AddedLine {
        r#type: "added",
        id: added.id().to_string(),
        new,
    };
    Teller::new(form.json).tell(&line, || {
        let id = added.id();
        if new {
            format!("{id} added")
        } else {
            format!("{id} says this already")
        }
    })?;
    Ok(Exit::Success)
}

fn note(asked: Add) -> Note {
    let text = asked.text.join(" ");
    let mut note = Note::new(&*text)
        .kind(asked.kind)
        .derived(Derivation::Stored);
    if let Some(at) = asked.at {
        let (by, thread) = (asked.by.as_deref(), asked.thread.as_deref());
        note = note
            .at(at)
            .from_origin(origin_of(by, Some(at), &text, thread));
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

/// What is written down as the reason of a change that somebody makes at the command line.
pub(crate) fn reason(what: &str) -> String {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()));
    match user {
        Some(user) => format!("{what} at the command line by {user}"),
        None => format!("{what} at the command line"),
    }
}
