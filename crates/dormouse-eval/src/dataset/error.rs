//! Why a file of conversations cannot be used.

use std::{fmt, io, path::PathBuf};

use super::conversation::Format;

/// A file of conversations cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatasetError {
    /// It could not be read.
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It is empty.
    #[error(
        "{} is empty; expected a JSON list of conversations in the format of LoCoMo or LongMemEval",
        path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is not JSON.
    #[error("{} is not valid JSON; was the download complete?", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The error, with its position.
        source: serde_json::Error,
    },
    /// It is JSON in another format.
    #[error(
        "{}: this is neither LoCoMo (a list of objects with `conversation` and `qa`) nor LongMemEval (a list of objects \
         with `haystack_sessions`); name the format with --format",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// A part of it is not in the expected format.
    #[error("{}: {place}: this is not valid {} data", path.display(), format.as_str())]
    Part {
        /// The file.
        path: PathBuf,
        /// The expected format.
        format: Format,
        /// Where.
        place: Box<PartLocation>,
        /// What is wrong there.
        source: PartError,
    },
    /// There is nothing to measure.
    #[error(
        "{}: no question has evidence in `{}`, so nothing can be measured",
        path.display(),
        match format { Format::Locomo => "evidence", Format::LongMemEval => "answer_session_ids" }
    )]
    NoEvidence {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
}

/// A location in a file: a conversation, and a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartLocation {
    /// Counts from 1.
    pub(crate) conversation: usize,
    /// A session, or `qa`; empty for the conversation as a whole.
    pub(crate) part: String,
    /// Which turn or question of it, counted from 1.
    pub(crate) entry: Option<usize>,
}

impl fmt::Display for PartLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conversation {}", self.conversation)?;
        if !self.part.is_empty() {
            write!(f, ", {}", self.part)?;
        }
        if let Some(entry) = self.entry {
            write!(f, ", entry {entry}")?;
        }
        Ok(())
    }
}

/// What is wrong with a part.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartError {
    /// A field is missing or has another type.
    #[error(transparent)]
    Field(#[from] serde_json::Error),
    /// Lists that belong together have different lengths.
    #[error("`{a}` has {a_length} entries and `{b}` has {b_length}; expected the same number")]
    Lengths {
        /// The first list.
        a: &'static str,
        /// Its length.
        a_length: usize,
        /// The second list.
        b: &'static str,
        /// Its length.
        b_length: usize,
    },
}

/// The location of an error in a file, and its cause.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) place: PartLocation,
    pub(super) source: PartError,
}
