//! `dormouse note`: what the assistant keeps for itself: session memory and guidelines.

use clap::{Subcommand, ValueEnum};
use dormouse_contracts::Author;
use dormouse_engine::{Event, GoalNote, SelfNote, SelfNoteError, SelfNoteId, SelfNoteKind};
use serde_json::{Value, json};

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, Places, Printing, Whose, author, say,
        view_state, whole,
    },
    exit::Exit,
};

/// What an assistant keeps for itself.
#[derive(Debug, Subcommand)]
pub(crate) enum NoteCommand {
    /// List facts, patterns and guidelines, with who noted them
    List {
        #[command(flatten)]
        of: Whose,
        /// Only those of this kind
        #[arg(long, value_name = "KIND")]
        kind: Option<Kind>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Note something that each prompt shows from now on. The assistant may tell everybody about it
    Add {
        #[command(flatten)]
        of: Whose,
        /// What it is
        #[arg(value_name = "KIND")]
        kind: Kind,
        /// The words
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Drop a note, even one that the assistant set itself
    Drop {
        #[command(flatten)]
        of: Whose,
        /// Its number
        #[arg(value_name = "NOTE", value_parser = whole::<u32>(1..=u32::MAX.into()))]
        note: u32,
    },
}

/// The kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Something to know in every turn
    Fact,
    /// Something that recurs
    Pattern,
    /// How the assistant is to behave
    Guideline,
}

impl From<Kind> for SelfNoteKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Fact => Self::Fact,
            Kind::Pattern => Self::Pattern,
            Kind::Guideline => Self::Guideline,
        }
    }
}

impl CommandFailure for SelfNoteError {
    fn exit(&self) -> Exit {
        match self {
            // The note already exists, so nothing has to be done.
            Self::Known(_) => Exit::Success,
            _ => Exit::Usage,
        }
    }
}

/// Prints the notes, or changes them by an event that says who did it.
pub(crate) fn run(places: &Places, command: NoteCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    match command {
        NoteCommand::List { of, kind, json } => {
            let printing = json.printing();
            let (_, state) = view_state(places, &data, of.assistant, printing)?;
            let kind = kind.map(SelfNoteKind::from);
            let is_wanted = |note: &&SelfNote| kind.is_none_or(|kind| note.kind == kind);
            let mut any = false;
            for note in state.self_notes.iter().filter(is_wanted) {
                any = true;
                printing.print(&as_json(note), || text(note))?;
            }
            if !any && printing == Printing::Text {
                say("no note")?;
            }
        }
        NoteCommand::Add { of, kind, text } => {
            let log = AssistantLog::open(places, &data, of.assistant)?;
            let kind = SelfNoteKind::from(kind);
            let noted = log.append_decided(|state| {
                let note = (kind, GoalNote::by_operator(&text));
                let noted = state.keep_note(&log.key, note, author())?;
                Ok::<_, SelfNoteError>(vec![Event::SelfNoted(noted)])
            })??;
            if let [Event::SelfNoted(noted)] = &*noted.events {
                say(&format!("note {} is kept", noted.id))?;
            }
        }
        NoteCommand::Drop { of, note } => {
            let log = AssistantLog::open(places, &data, of.assistant)?;
            let id = SelfNoteId(note);
            log.append_decided(|state| {
                let dropped = state.self_notes.drop_note(id, author())?;
                Ok::<_, SelfNoteError>(vec![Event::SelfNoteDropped(dropped)])
            })??;
            say(&format!("note {id} is dropped"))?;
        }
    }
    Ok(Exit::Success)
}

fn text(note: &SelfNote) -> String {
    let by = match &note.author {
        Author::Tool(_) => "the assistant".to_owned(),
        author => author.to_string(),
    };
    format!(
        "{} [{}] {} (event {}, trust {}, by {by})",
        note.id, note.kind, note.note.text, note.seq, note.note.trust,
    )
}

fn as_json(note: &SelfNote) -> Value {
    json!({
        "type": "note",
        "note": note.id,
        "event": note.seq,
        "at": note.at.to_string(),
        "kind": note.kind,
        "words": note.note,
        "author": note.author,
    })
}
