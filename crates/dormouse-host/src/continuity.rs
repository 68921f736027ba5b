//! Checks that a world and a log belong together.

use dormouse_contracts::{
    AssistantId, Habitat, IdError, SenseError, SenseErrorKind, WorldError, WorldId,
};
use dormouse_engine::State;

use crate::roster::destination::BEFORE;

/// How an assistant relates to a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldContinuity {
    /// The assistant has never been in this world: it is new, or not the world of the earlier visits.
    NotMet,
    /// The assistant lives in this world, and the world has all deliveries that the log remembers.
    Acquainted,
}

/// A world and a log that cannot be used together. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContinuityError {
    /// The log remembers deliveries that the world has not made. The world's next deliveries would get the same numbers
    /// and would be mistaken for them.
    #[error(
        "the world is older than the log: its last delivery to {assistant} is number {made}, and the log remembers \
         number {remembered}. Restore the world's file and log.redb from the same backup"
    )]
    OldWorld {
        /// The last delivery the world has made.
        made: u64,
        /// To whom.
        assistant: AssistantId,
        /// The last one the log remembers.
        remembered: u64,
    },
    /// The assistant has lived in this world with another log. This log does not contain what the assistant did and
    /// heard here.
    #[error(
        "the world belongs to another log: {assistant} has heard {made} deliveries and acted in it, and this log \
         remembers only other worlds. Restore the world's file and log.redb from the same backup, or move the \
         world's file away to start with a new world"
    )]
    OtherLog {
        /// The last delivery the world has made.
        made: u64,
        /// To whom.
        assistant: AssistantId,
    },
    /// The world did not report its last delivery or its perceptions.
    #[error("the world did not report its last delivery")]
    Senses(#[source] SenseError),
    /// The world did not report whether the assistant has acted in it.
    #[error("the world did not report whether the assistant has acted in it")]
    Acts(#[source] WorldError),
    /// The assistant's key does not make a valid id in the world.
    #[error("the name cannot be used")]
    Id(#[from] IdError),
}

/// Compares what the world has delivered to the assistant with what the assistant's log remembers. It changes nothing.
/// Call it before anybody acts in the world.
///
/// # Errors
///
/// [`ContinuityError`] if the world and the log cannot be used together, or if the world does not answer.
pub async fn check_world<W: Habitat + ?Sized>(
    world: &W,
    assistant: &AssistantId,
    state: &State,
) -> Result<WorldContinuity, ContinuityError> {
    let (made, continuity) = match world.last_delivery(&world.character(assistant)?).await {
        Ok(made) => (made, WorldContinuity::Acquainted),
        Err(error) if error.kind() == SenseErrorKind::NotPresent => (0, WorldContinuity::NotMet),
        Err(error) => return Err(ContinuityError::Senses(error)),
    };
    let remembered = state.delivered.last(world.id());
    // A log that remembers no world at all is accepted: the user may have started a new log after losing the old one.
    // A fork has heard nothing in a world of its own yet.
    let is_fork = WorldId::try_new(BEFORE).is_ok_and(|it| state.delivered.last(&it).is_some());
    if made > 0 && remembered.is_none() && !state.delivered.is_empty() && !is_fork {
        check_history(world, assistant, made).await?;
    }
    let remembered = remembered.unwrap_or_default();
    if made < remembered {
        return Err(ContinuityError::OldWorld {
            made,
            assistant: assistant.clone(),
            remembered,
        });
    }
    Ok(continuity)
}

/// Accepts a world that the log does not know, if the assistant may have entered it a moment ago: the process may have
/// been killed before the log recorded the first delivery. The world keeps each delivery until a log has recorded it.
async fn check_history<W: Habitat + ?Sized>(
    world: &W,
    assistant: &AssistantId,
    made: u64,
) -> Result<(), ContinuityError> {
    let kept = world.perceptions(&world.character(assistant)?, 0, 1).await;
    let kept = kept.map_err(ContinuityError::Senses)?;
    let first = kept.first().map(|it| it.attested.delivery.number);
    if first == Some(1) {
        return Ok(());
    }
    // A log records every act, but not the deliveries that were ignored. So only an act proves that there is another
    // log.
    match world.has_acted(assistant).await {
        Ok(true) => Err(ContinuityError::OtherLog {
            made,
            assistant: assistant.clone(),
        }),
        Ok(false) => Ok(()),
        Err(error) => Err(ContinuityError::Acts(error)),
    }
}
