//! What is put into the index.

use dormouse_contracts::Timestamp;

/// A record and its surroundings: one turn of a conversation, or a fact that stands alone.
///
/// Units of one thread are ordered by time, then by id, and are neighbours unless more than
/// [`Config::session_gap`](crate::Config::session_gap) lies between two of them: there a new session begins. A unit
/// without a thread has no neighbours and is its own session. Units may be given in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// The owner's number for it. A unit replaces the one of the same number.
    pub id: u64,
    /// What is searched. What stands in square brackets at its end is searched too but not taken for said: there belongs
    /// the description of a picture. The speaker's name does not belong here. Of a very long text only the beginning, see
    /// [`Config::max_terms_per_unit`](crate::Config::max_terms_per_unit).
    pub text: &'a str,
    /// Who said it, by the name that questions would use.
    pub speaker: Option<&'a str>,
    /// The conversation it belongs to: a channel, a room, a chat.
    pub thread: Option<&'a str>,
    /// When it was said or happened.
    pub at: Timestamp,
}
