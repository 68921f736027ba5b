//! Why a file of conversations cannot be used.

use std::{fmt, io, path::PathBuf};

use super::Format;

/// Why a file of conversations cannot be used: what, where, and how to mend it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatasetError {
    /// It could not be read.
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error(
        "{} is empty: it must hold a JSON list of conversations, as LoCoMo and LongMemEval are published",
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
        /// Where, and what was found there.
        source: serde_json::Error,
    },
    /// It is JSON of another form.
    #[error(
        "{}: this is neither LoCoMo (a list of objects with `conversation` and `qa`) nor LongMemEval (a list of objects \
         with `haystack_sessions`); say which it should be with --format",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// A part of it is not of the form.
    #[error("{}: {place}: this is not as {} has it", path.display(), format.as_str())]
    Part {
        /// The file.
        path: PathBuf,
        /// The form it should have.
        format: Format,
        /// Where.
        place: Box<Place>,
        /// What is wrong there.
        source: PartError,
    },
    /// There is nothing to measure.
    #[error(
        "{}: no question says by `{}` what answers it, so that nothing can be measured",
        path.display(),
        match format { Format::Locomo => "evidence", Format::LongMemEval => "answer_session_ids" }
    )]
    NoEvidence {
        /// The file.
        path: PathBuf,
        /// The form it has.
        format: Format,
    },
}

/// Where in a file: which conversation, and what of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counts from 1.
    pub(crate) conversation: usize,
    /// A session, or `qa`; empty for the conversation as a whole.
    pub(crate) part: String,
    /// Which turn or question of it, counted from 1.
    pub(crate) entry: Option<usize>,
}

impl fmt::Display for Place {
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
    /// A field is missing or of another kind.
    #[error(transparent)]
    Field(#[from] serde_json::Error),
    /// Lists that belong together have different lengths.
    #[error("`{a}` has {a_length} entries and `{b}` {b_length}: they belong together one by one")]
    Lengths {
        /// The one list.
        a: &'static str,
        /// Its length.
        a_length: usize,
        /// The other.
        b: &'static str,
        /// Its length.
        b_length: usize,
    },
}

/// A part that is wrong, before it is known in which file.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) place: Place,
    pub(super) source: PartError,
}
