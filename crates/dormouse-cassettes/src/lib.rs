//! Records and replays HTTP exchanges, so that a bug report and a test can be the same file.
//!
//! Layer 1. It depends on no HTTP client, runtime or vendor: the program passes exchanges and time in. The result is a
//! file that people can read.
//!
//! Read in this order: [`Cassette`] (the file) and [`Exchange`] (its content), [`Recorder`] (creates one),
//! [`ScrubRules`] and [`Scrubber`] (what is removed), [`Finding`] (sensitive text that may remain), [`Player`] (replays
//! it).
//!
//! Stability: files of this version stay readable. The detector grows, so [`Cassette::check`] may find more later.

mod cassette;
mod check;
mod exchange;
mod file;
mod headers;
mod player;
mod recorder;
mod scrub;
mod slices;

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
