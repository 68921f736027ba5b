//! Embedding spaces: which encoder made which vectors, and which of them recall uses.

use dormouse_contracts::{EncoderInfo, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    record::Collection,
    store::{Fault, Reading, Writing},
};

/// What a space is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpaceState {
    /// Recall uses it.
    Active,
    /// It is being filled, to replace the active one.
    Building,
    /// It was active and can become active again.
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
    /// When it was made.
    pub begun_at: Timestamp,
}

/// Whether the configured encoder made the vectors that recall uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
#[non_exhaustive]
pub enum EncoderState {
    /// No encoder is configured: recall uses words.
    None,
    /// The configured encoder made them.
    InUse {
        /// The space.
        space: u32,
    },
    /// Another encoder made them, with another model or another length of vectors. Nothing was changed: recall uses
    /// words until the memory is migrated, or the former encoder is configured again.
    Other {
        /// The encoder of the active space.
        active: EncoderInfo,
        /// The configured encoder.
        configured: EncoderInfo,
    },
}

/// Whether vectors of the two encoders can be compared. A length that is not known yet matches any.
pub(crate) fn is_same(a: &EncoderInfo, b: &EncoderInfo) -> bool {
    let lengths = a.dimensions.zip(b.dimensions);
    a.model == b.model && lengths.is_none_or(|(a, b)| a == b)
}

/// All spaces, by number.
pub(crate) fn all(reading: &Reading) -> Result<Vec<Space>, Fault> {
    Ok(numbered(reading.spaces()?))
}

/// All spaces, by number, within a transaction.
pub(crate) fn now(writing: &Writing<'_>) -> Result<Vec<Space>, Fault> {
    Ok(numbered(writing.spaces()?))
}

fn numbered(spaces: Vec<(u32, Space)>) -> Vec<Space> {
    let spaces = spaces.into_iter();
    spaces
        .map(|(number, space)| Space { number, ..space })
        .collect()
}

/// The space in that state; at most one is active and at most one is building.
pub(crate) fn in_state(spaces: &[Space], state: SpaceState) -> Option<&Space> {
    spaces.iter().find(|space| space.state == state)
}

/// Makes a space. Numbers are never reused.
pub(crate) fn begin(
    writing: &mut Writing<'_>,
    encoder: EncoderInfo,
    state: SpaceState,
    now: Timestamp,
) -> Result<Space, Fault> {
    let number = u32::try_from(writing.state(LAST_SPACE)? + 1)
        .map_err(|_too_many| Fault::Inconsistent("there are too many embedding spaces"))?;
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

/// The name of the counter that holds the number of the newest space.
const LAST_SPACE: &str = "last space";

/// The name of the checkpoint: the last change whose records are embedded in a space.
pub(crate) fn embedded_through(space: u32) -> String {
    format!("embedded {space}")
}

/// The name of the flag that says that a collection of a space was made in an index.
pub(crate) fn made(space: u32, collection: Collection, index: &str) -> String {
    format!("made {space} {} {index}", collection.as_str())
}

/// The name of the checkpoint: the last change of a space that is in an index. The word in the file is `fed`.
pub(crate) fn indexed_through(space: u32, index: &str) -> String {
    format!("fed {space} {index}")
}
