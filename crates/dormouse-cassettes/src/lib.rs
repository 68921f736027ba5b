//! Record and replay of HTTP exchanges, so that a bug report and a test are the same file.
//!
//! Layer 1. It knows no HTTP client, no runtime and no vendor: exchanges are pushed in as they happen, time is passed in, and
//! what it makes is a file that people can read.
//!
//! Read in this order: [`Cassette`] (the file) and [`Exchange`] (what is in it), [`Recorder`] (makes one),
//! [`ScrubRules`] and [`Scrubber`] (what never gets in), [`Finding`] (what may have got in all the same), [`Player`]
//! (answers like the server did).
//!
//! Stability: files of this version stay readable. The shapes that are recognised, and so what [`Cassette::check`]
//! finds, grow with time.

mod cassette;
mod check;
mod exchange;
mod file;
mod headers;
mod player;
mod recorder;
mod scrub;
mod shortened;

pub use cassette::{About, Cassette};
pub use check::{AcceptedFindings, Finding, FindingKind, Part};
pub use exchange::{Body, Chunk, Ending, Exchange, Header, RecordedRequest, RecordedResponse};
pub use file::{CassetteReadError, FILE_VERSION, Fault, READ_LIMIT_BYTES, SaveError};
pub use player::{
    Difference, IgnoredPath, IgnoredPathError, Mode, Nearest, NoMatch, Playback, Player,
    PlayerConfig, Shown,
};
pub use recorder::{
    Hosts, Recorder, RecorderConfig, RecorderLimits, RecordingExchange, RequestParts,
};
pub use scrub::{RuleError, ScrubRules, Scrubber};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
