//! Notes that the assistant keeps for itself, set by a call or by an operator.

use dormouse_contracts::{AssistantId, Author, Trust};
use dormouse_redact::is_about_itself;
use dormouse_text::is_blank;

use crate::{
    config::SelfSettings,
    event::{GoalNote, SelfNoteDropped, SelfNoteId, SelfNoteKind, SelfNoted},
    state::{SelfNote, SelfNotes, State},
};

/// The longest note, in characters.
pub const SELF_NOTE_LIMIT: usize = 200;

/// Why a note cannot be kept or dropped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelfNoteError {
    /// There is no such note.
    #[error("there is no note {0}")]
    Unknown(SelfNoteId),
    /// The text is blank or too long.
    #[error("the text is blank or too long; expected 1 to {SELF_NOTE_LIMIT} characters")]
    Text,
    /// The same note is already kept.
    #[error("this is note {0} already")]
    Known(SelfNoteId),
    /// Too many notes of its kind are kept.
    #[error("{most} of the kind {kind} are kept already; drop some first")]
    TooMany {
        /// The kind of note.
        kind: SelfNoteKind,
        /// How many notes of this kind may be kept.
        most: u32,
    },
    /// Its trust is too low for a note that is shown in every prompt.
    #[error("this is believed {trust}; expected {least} at least")]
    Trust {
        /// Its trust.
        trust: Trust,
        /// The lowest allowed trust.
        least: Trust,
    },
    /// It is about the assistant itself.
    #[error(
        "this is about yourself; a fact or a pattern is about the world and those in it (a guideline says how you mean to behave)"
    )]
    AboutItself,
    /// An operator set the note, so only an operator may drop it.
    #[error("note {0} was set by an operator, and only an operator can drop it")]
    OfOperator(SelfNoteId),
}

impl State {
    /// The event that keeps a note for this assistant.
    ///
    /// # Errors
    ///
    /// [`SelfNoteError`], and nothing happens.
    pub fn keep_note(
        &self,
        key: &AssistantId,
        note: (SelfNoteKind, GoalNote),
        author: Author,
    ) -> Result<SelfNoted, SelfNoteError> {
        let settings = &self.configuration.settings;
        let names = settings.name.as_deref().into_iter();
        let names: Vec<_> = names.chain([key.as_str()]).collect();
        self.self_notes.keep(note, &names, &settings.own, author)
    }
}

impl SelfNotes {
    /// The event that keeps a note. `names` are those of the assistant.
    ///
    /// # Errors
    ///
    /// [`SelfNoteError`]; no event is returned.
    pub fn keep(
        &self,
        (kind, note): (SelfNoteKind, GoalNote),
        names: &[&str],
        settings: &SelfSettings,
        author: Author,
    ) -> Result<SelfNoted, SelfNoteError> {
        if is_blank(&note.text) || note.text.chars().count() > SELF_NOTE_LIMIT {
            return Err(SelfNoteError::Text);
        }
        if kind != SelfNoteKind::Guideline && is_about_itself(&note.text, names) {
            return Err(SelfNoteError::AboutItself);
        }
        let (trust, least) = (note.trust, settings.least_trust);
        if trust < least {
            return Err(SelfNoteError::Trust { trust, least });
        }
        let is_same = |it: &&SelfNote| {
            // Notes for different audiences are different notes, even with the same text.
            let says_it = it.note.text.to_lowercase() == note.text.to_lowercase();
            it.kind == kind && says_it && it.note.audience == note.audience
        };
        if let Some(known) = self.iter().find(is_same) {
            return Err(SelfNoteError::Known(known.id));
        }
        let most = settings.most(kind);
        if self.iter().filter(|it| it.kind == kind).count() >= most as usize {
            return Err(SelfNoteError::TooMany { kind, most });
        }
        Ok(SelfNoted {
            id: self.next_id(),
            kind,
            note,
            author,
        })
    }

    /// The event that drops a note. A call drops only what a call noted.
    ///
    /// # Errors
    ///
    /// [`SelfNoteError`]; no event is returned.
    pub fn drop_note(
        &self,
        id: SelfNoteId,
        author: Author,
    ) -> Result<SelfNoteDropped, SelfNoteError> {
        let kept = self.get(id).ok_or(SelfNoteError::Unknown(id))?;
        let by_call = |author: &Author| matches!(author, Author::Tool(_));
        match by_call(&author) && !by_call(&kept.author) {
            true => Err(SelfNoteError::OfOperator(id)),
            false => Ok(SelfNoteDropped { id, author }),
        }
    }
}
