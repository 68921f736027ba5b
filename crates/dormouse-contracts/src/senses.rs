//! The ports to what a world delivers, and to a world that assistants live in.

use serde::{Deserialize, Serialize};

use crate::{
    audience::{Audience, Place},
    future::BoxFuture,
    ids::{AssistantId, ChannelId, EntityId, IdError, WorldId},
    perception::Perception,
    port_error::PortError,
    world::{Rejection, ToolSource, WorldError, WorldErrorKind},
};

/// Where an observer is, and who is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The place it is in. Absent if the world has no places, or does not know.
    pub place: Option<Place>,
    /// Who would perceive something that is said aloud there now, the observer included. Absent if the world does not know,
    /// or cannot list them all.
    pub audience: Option<Audience>,
}

/// Checks whether a character of a world can have this id. The rejection says why not, and which id may be meant.
pub type CheckCharacter = fn(&EntityId) -> Result<(), Rejection>;

/// Checks whether an assistant's character can have this name, without regard to the other characters.
pub type CheckName = fn(&str) -> Result<(), Rejection>;

/// What settings can name in a world. If a field is absent, the world has no such list, and any name may be valid.
#[derive(Clone, Debug, Default)]
pub struct Landmarks {
    /// All its channels.
    pub channels: Option<Vec<ChannelId>>,
    /// All its places.
    pub places: Option<Vec<Place>>,
    /// Whether a character can have an id.
    pub check_character: Option<CheckCharacter>,
    /// Whether a character can have a name.
    pub check_name: Option<CheckName>,
}

impl Landmarks {
    /// Checks the name of an assistant's character.
    ///
    /// # Errors
    ///
    /// The [`Rejection`] of the world.
    pub fn check_name(&self, name: &str) -> Result<(), Rejection> {
        self.check_name.map_or(Ok(()), |check| check(name))
    }
}

/// What went wrong with an observer's senses, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SenseErrorKind {
    /// The observer is not in this world, or does not perceive. Asking again fails until it enters.
    #[error("the observer is not in this world")]
    NotPresent,
    /// The world could not be reached, or could not read what it keeps. Nothing is lost, and trying again may succeed.
    #[error("the world did not report its perceptions")]
    Unavailable,
}

/// A call to the senses of an observer failed.
pub type SenseError = PortError<SenseErrorKind>;

/// What a world delivers to those who perceive in it.
///
/// Each observer has a feed of its own: its perceptions in the order in which they happened, numbered from 1 without
/// gaps. A number is never used twice, not even after a restart. The world keeps each delivery until its observer
/// acknowledges it, so a reader acknowledges only what it has stored.
///
/// All calls but [`acknowledge`](Self::acknowledge) only read, and dropping any of the futures has no effect on what is kept.
pub trait Senses: Send + Sync {
    /// The id of this world, which is in all its deliveries. It is the same for the whole life of the world, and never that
    /// of another world.
    fn id(&self) -> &WorldId;

    /// What `observer` perceived after the delivery number `after` and has not acknowledged, oldest first: at most `limit`
    /// and at most [`PERCEPTIONS_PAGE`] entries.
    ///
    /// # Errors
    ///
    /// [`SenseError`].
    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>>;

    /// Waits until [`perceptions`](Self::perceptions) after this number would return something, and returns it: at least one
    /// entry. Waits without a time limit; any number of callers may wait for one observer.
    ///
    /// # Errors
    ///
    /// [`SenseError`].
    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>>;

    /// Acknowledges the deliveries to `observer` up to this number, so that the world may forget them. A number past the last
    /// delivery counts as the last; a number below an earlier one changes nothing. An acknowledgement may be lost in a crash:
    /// then the deliveries are returned again, with the same numbers.
    ///
    /// # Errors
    ///
    /// [`SenseError`].
    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>>;

    /// The number of the last delivery to `observer`, acknowledged or not; 0 without any. A caller that remembers a larger
    /// number knows that the world was restored from an earlier state.
    ///
    /// # Errors
    ///
    /// [`SenseError`].
    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>>;

    /// Where `observer` is now, and who is there.
    ///
    /// # Errors
    ///
    /// [`SenseError`].
    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>>;
}

/// The most perceptions that one call to [`Senses`] returns.
pub const PERCEPTIONS_PAGE: usize = 256;

/// Why a world does not let an assistant's character in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmitError {
    /// The world refuses, and would refuse again.
    #[error("{}", .0.reason)]
    Refused(Rejection),
    /// The world could not be reached.
    #[error("the world could not be asked to let the character in")]
    World(#[source] WorldError),
}

/// An assistant is refused if no valid id can be made from its key.
impl From<IdError> for AdmitError {
    fn from(error: IdError) -> Self {
        Self::Refused(Rejection::new(error.to_string()))
    }
}

/// The id of an assistant's character in a world that has no ids of its own for them.
///
/// # Errors
///
/// [`IdError`] if no valid id can be made from the key.
pub fn character_of(assistant: &AssistantId) -> Result<EntityId, IdError> {
    EntityId::try_new(format!("assistant:{assistant}"))
}

/// A world that assistants live in: they perceive it and act in it with its tools.
pub trait Habitat: ToolSource + Senses {
    /// The id of an assistant's character in this world, which stays the same.
    ///
    /// # Errors
    ///
    /// [`IdError`] if no valid id can be made from the key.
    fn character(&self, assistant: &AssistantId) -> Result<EntityId, IdError> {
        character_of(assistant)
    }

    /// Lets an assistant's character in under this name when the assistant wakes. A character that is there already
    /// stays where it is. The default lets in those who are [there](Senses::presence) already, for worlds whose
    /// characters enter by other means. If the future is dropped, the character may have been let in or not.
    ///
    /// # Errors
    ///
    /// [`AdmitError`].
    fn admit<'a>(
        &'a self,
        assistant: &'a AssistantId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), AdmitError>> {
        Box::pin(async move {
            let character = self.character(assistant)?;
            match self.presence(&character).await {
                Ok(_) => Ok(()),
                Err(error) if error.kind() == SenseErrorKind::NotPresent => {
                    let reason = format!("{character} ({name}) is not in this world");
                    Err(AdmitError::Refused(Rejection::new(reason)))
                }
                Err(error) => {
                    let kind = WorldErrorKind::NotReached;
                    Err(AdmitError::World(WorldError::new(kind, Some(error.into()))))
                }
            }
        })
    }

    /// What settings can name here, so that a wrong name can be reported. By default the world lists nothing.
    fn landmarks(&self) -> Landmarks {
        Landmarks::default()
    }

    /// Whether the world remembers an act of this assistant. If it does, but the assistant's log has no such act, that log is
    /// not the log of this assistant's life in this world. `false` if the world does not know who acted. Only reads.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world could not be asked.
    fn has_acted<'a>(
        &'a self,
        _assistant: &'a AssistantId,
    ) -> BoxFuture<'a, Result<bool, WorldError>> {
        Box::pin(async { Ok(false) })
    }
}
