//! A list of exchanges, and where it comes from.

use dormouse_contracts::Timestamp;

use crate::exchange::Exchange;

/// What was recorded, in the order the requests were begun.
///
/// Made by a [`Recorder`](crate::Recorder) or read from a file; answered from by a [`Player`](crate::Player).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cassette {
    /// Where it comes from.
    pub about: About,
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
    /// How many further exchanges there were, for which there was no room.
    pub left_out_exchanges: u64,
}

/// Where a cassette comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// When the recording began. A file keeps it to the second.
    pub recorded_at: Timestamp,
    /// Name and version of the program that recorded.
    pub program: String,
    /// What a person says about it. Scrubbed by the recorder like everything else.
    pub note: String,
}
