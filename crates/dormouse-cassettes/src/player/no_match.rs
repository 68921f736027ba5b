//! Why a request has no recorded answer.

use std::fmt;

use dormouse_contracts::invariant;

use crate::{exchange::RecordedRequest, slices::boundary};

/// No exchange of the cassette matches a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMatch {
    method: String,
    target: Shown,
    nearest: Option<Box<Nearest>>,
}

/// The most similar exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its index, from 0.
    pub index: usize,
    /// The first difference.
    pub difference: Difference,
    /// The number of differences. Another address or another type of body counts as more than any number of differences
    /// within JSON.
    differences: usize,
}

/// A difference between two requests. Values are scrubbed and shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// In the method.
    Method {
        /// Of the recording.
        recorded: String,
        /// Of the request.
        asked: String,
    },
    /// In path or query.
    Target {
        /// Of the recording.
        recorded: Shown,
        /// Of the request.
        asked: Shown,
    },
    /// In the body.
    Body {
        /// The location in the JSON (RFC 6901); empty for the whole body.
        pointer: String,
        /// The recorded value.
        recorded: Shown,
        /// The value in the request.
        asked: Shown,
    },
}

/// A shortened value. Displays as the value, or as `nothing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// The maximum displayed length of a value, in bytes.
    const LONGEST_BYTES: usize = 80;

    /// Returns the part of a text around `offset`.
    pub(super) fn text(text: &str, offset: usize) -> Self {
        // Some equal text before the difference helps to find it.
        let start = boundary(text, offset.saturating_sub(Self::LONGEST_BYTES / 4));
        let end = boundary(text, start.saturating_add(Self::LONGEST_BYTES));
        let part = invariant!(text.get(start..end), "both ends are boundaries");
        let (before, after) = (start > 0, end < text.len());
        let mark = |cut| if cut { "…" } else { "" };
        Self(format!("{}{part:?}{}", mark(before), mark(after)))
    }

    pub(super) fn json(value: &impl fmt::Display) -> Self {
        let mut text = value.to_string();
        let end = boundary(&text, Self::LONGEST_BYTES);
        if end < text.len() {
            text.truncate(end);
            text.push('…');
        }
        Self(text)
    }

    pub(super) fn nothing() -> Self {
        Self("nothing".to_owned())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Nearest {
    pub(super) fn new(index: usize, difference: Difference, differences: usize) -> Self {
        Self {
            index,
            difference,
            differences,
        }
    }

    pub(super) fn is_nearer_than(&self, other: &Self) -> bool {
        self.differences < other.differences
    }
}

impl NoMatch {
    pub(super) fn new(asked: &RecordedRequest, nearest: Option<Nearest>) -> Self {
        Self {
            method: asked.method.clone(),
            target: Shown::text(&asked.target, 0),
            nearest: nearest.map(Box::new),
        }
    }

    /// Returns the most similar exchange that was not played yet.
    #[must_use]
    pub fn nearest(&self) -> Option<&Nearest> {
        self.nearest.as_deref()
    }
}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the cassette has no answer to {} {}",
            self.method, self.target
        )?;
        match &self.nearest {
            None => write!(f, ": all its exchanges were played"),
            Some(nearest) => {
                let number = nearest.index + 1;
                write!(f, ": exchange {number} differs in {}", nearest.difference)
            }
        }
    }
}

impl std::error::Error for NoMatch {}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method { recorded, asked } => {
                write!(f, "its method: recorded {recorded}, requested {asked}")
            }
            Self::Target { recorded, asked } => {
                write!(f, "its path: recorded {recorded}, requested {asked}")
            }
            Self::Body {
                pointer,
                recorded,
                asked,
            } => {
                let place = if pointer.is_empty() {
                    "as a whole"
                } else {
                    pointer
                };
                write!(
                    f,
                    "its body, {place}: recorded {recorded}, requested {asked}"
                )
            }
        }
    }
}
