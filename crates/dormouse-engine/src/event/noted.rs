//! The notes in an event: about goals, about projects, or of the assistant for itself.

use dormouse_contracts::Author;

use super::{Event, GoalNote};

impl Event {
    /// The notes in an event, and who wrote them. If the source of one of them is forgotten, all of them are.
    #[must_use]
    pub fn noted(&self) -> Option<(Author, Vec<&GoalNote>)> {
        let (author, notes) = match self {
            Self::WokeUp(it) => {
                let author = it.cause.author()?;
                return Some((author, it.reason.iter().collect()));
            }
            Self::GoalCreated(it) => (&it.author, [Some(&it.description), None]),
            Self::GoalUpdated(it) => (&it.author, [it.note.as_ref(), None]),
            Self::GoalCompleted(it) => (&it.author, [it.outcome.as_ref(), None]),
            Self::ProjectCreated(it) => (&it.author, [Some(&it.summary), it.context.as_ref()]),
            Self::ProjectUpdated(it) => (&it.author, [it.summary.as_ref(), it.context.as_ref()]),
            Self::ProjectSwapped(it) => (&it.author, [it.update.as_ref(), it.reasoning.as_ref()]),
            Self::SelfNoted(it) => (&it.author, [Some(&it.note), None]),
            Self::SelfNoteDropped(it) => (&it.author, [None, None]),
            Self::FellAsleep(it) => (&it.author, [it.reason.as_ref(), None]),
            _ => return None,
        };
        Some((author.clone(), notes.into_iter().flatten().collect()))
    }
}
