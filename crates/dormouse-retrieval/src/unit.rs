//! The units of an index.

use dormouse_contracts::Timestamp;

/// A text with its speaker, thread and time: one turn of a conversation, or a single fact.
///
/// Units of one thread are ordered by time, then by id. Neighbouring units belong to one session unless they are
/// further apart than [`Config::session_gap`](crate::Config::session_gap). A unit without a thread has no neighbours
/// and is a session of its own. Units may be inserted in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// The owner's id of the unit. A unit replaces the one with the same id.
    pub id: u64,
    /// The searchable text, without the speaker's name. A picture description in square brackets at the end is
    /// searchable, but does not count as said. Of a very long text only the start is indexed, see
    /// [`Config::max_terms_per_unit`](crate::Config::max_terms_per_unit).
    pub text: &'a str,
    /// The speaker, by the name that questions use.
    pub speaker: Option<&'a str>,
    /// The conversation it belongs to: a channel, a room, a chat.
    pub thread: Option<&'a str>,
    /// When it was said, or when it happened.
    pub at: Timestamp,
}
