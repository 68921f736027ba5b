//! The units of an index.

use dormouse_contracts::Timestamp;

/// Who said a unit. Speakers with the same name and different ids are different speakers; a query with that name means
/// all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speaker<'a> {
    /// The name that questions use.
    pub name: &'a str,
    /// The id, without control characters, if one is known.
    pub id: Option<&'a str>,
}

impl<'a> From<&'a str> for Speaker<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, id: None }
    }
}

impl<'a> Speaker<'a> {
    /// Joins the id and the name into one text. The id comes first, because it never contains the separator `\0`.
    pub(crate) fn key(self) -> String {
        format!("{}\0{}", self.id.unwrap_or_default(), self.name)
    }

    /// The speaker of a text that [`key`](Self::key) returned.
    pub(crate) fn of_key(key: &'a str) -> Self {
        let (id, name) = key.split_once('\0').unwrap_or(("", key));
        Self {
            name,
            id: (!id.is_empty()).then_some(id),
        }
    }
}

/// A text with its speaker, thread and time: one turn of a conversation, or a single fact.
///
/// Units of one thread are ordered by time, then by id. Neighbouring units belong to one session unless they are
/// further apart than [`Config::session_gap`](crate::Config::session_gap). A unit without a thread has no neighbours
/// and is a session of its own. Units may be inserted in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// The id that the owner of the index gave the unit. A new unit replaces the unit with the same id.
    pub id: u64,
    /// The searchable text, without the speaker's name. The description of a picture, in square brackets at the end, is
    /// searchable, but does not count as something that the speaker said. Of a very long text only the start is
    /// indexed, see [`Config::max_terms_per_unit`](crate::Config::max_terms_per_unit).
    pub text: &'a str,
    /// The speaker.
    pub speaker: Option<Speaker<'a>>,
    /// The conversation that the unit belongs to: a channel, a room, a chat.
    pub thread: Option<&'a str>,
    /// When it was said, or when it happened.
    pub at: Timestamp,
}
