//! Embedding spaces: which encoder made which vectors, and which of them recall goes by.

use dormouse_contracts::{EncoderInfo, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    record::Shelf,
    store::{Fault, Reading, Writing},
};

/// What a space is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpaceState {
    /// Recall goes by it.
    Active,
    /// It is being filled, to take the active one's place.
    Building,
    /// It was active, and can be again.
    Retired,
}

/// The vectors of one encoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Its number, from 1.
    #[serde(skip)]
    pub number: u32,
    /// The encoder that makes its vectors.
    pub encoder: EncoderInfo,
    /// What it is for.
    pub state: SpaceState,
    /// When it was begun.
    pub begun_at: Timestamp,
}

/// Whether the encoder that is configured is the one whose vectors recall goes by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
#[non_exhaustive]
pub enum EncoderState {
    /// None is configured: recall goes by words.
    None,
    /// It is.
    InUse {
        /// The space.
        space: u32,
    },
    /// It is another one, by model or by the length of its vectors. Nothing was touched: recall goes by words until the
    /// memory is migrated, or the former encoder is configured again.
    Other {
        /// The encoder of the active space.
        active: EncoderInfo,
        /// The one that is configured.
        configured: EncoderInfo,
    },
}

/// Whether vectors of the two can be compared. A length that is not known yet fits any.
pub(crate) fn is_same(a: &EncoderInfo, b: &EncoderInfo) -> bool {
    let lengths = a.dimensions.zip(b.dimensions);
    a.model == b.model && lengths.is_none_or(|(a, b)| a == b)
}

/// All spaces, by number.
pub(crate) fn all(reading: &Reading) -> Result<Vec<Space>, Fault> {
    Ok(numbered(reading.spaces()?))
}

/// All spaces, by number, as a transaction finds them.
pub(crate) fn now(writing: &Writing<'_>) -> Result<Vec<Space>, Fault> {
    Ok(numbered(writing.spaces()?))
}

fn numbered(spaces: Vec<(u32, Space)>) -> Vec<Space> {
    let spaces = spaces.into_iter();
    spaces
        .map(|(number, space)| Space { number, ..space })
        .collect()
}

/// The space of that state; there is at most one active and one building.
pub(crate) fn in_state(spaces: &[Space], state: SpaceState) -> Option<&Space> {
    spaces.iter().find(|space| space.state == state)
}

/// Begins a space. A number is never used twice.
pub(crate) fn begin(
    writing: &mut Writing<'_>,
    encoder: EncoderInfo,
    state: SpaceState,
    now: Timestamp,
) -> Result<Space, Fault> {
    let number = u32::try_from(writing.state(LAST_SPACE)? + 1)
        .map_err(|_too_many| Fault::Refers("there are too many embedding spaces"))?;
    writing.set_state(LAST_SPACE, u64::from(number))?;
    let space = Space {
        number,
        encoder,
        state,
        begun_at: now,
    };
    writing.put_space(number, &space)?;
    Ok(space)
}

/// The number given to the newest space.
const LAST_SPACE: &str = "last space";

/// The name of the checkpoint that says through which change a space has its vectors.
pub(crate) fn embedded_through(space: u32) -> String {
    format!("embedded {space}")
}

/// The name of the mark that says that an index has a collection for a shelf of a space.
pub(crate) fn made(space: u32, shelf: Shelf, index: &str) -> String {
    format!("made {space} {} {index}", shelf.as_str())
}

/// The name of the checkpoint that says through which change an index has been fed from a space.
pub(crate) fn fed_through(space: u32, index: &str) -> String {
    format!("fed {space} {index}")
}
