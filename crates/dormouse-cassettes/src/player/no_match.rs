//! Why a request has no answer.

use std::fmt;

use crate::{exchange::RecordedRequest, shortened::boundary};

/// No exchange of the cassette fits a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMatch {
    method: String,
    target: Shown,
    nearest: Option<Box<Nearest>>,
}

/// The exchange that is most like a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its place in the cassette, counted from 0.
    pub index: usize,
    /// Where it differs first.
    pub difference: Difference,
    /// In how many places; of other addresses and of bodies that are no JSON, a large number.
    differences: usize,
}

/// Where two requests differ. Values are scrubbed and shortened.
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
        /// The place in the JSON (RFC 6901); empty for the body as a whole.
        pointer: String,
        /// What the recording has there.
        recorded: Shown,
        /// What the request has there.
        asked: Shown,
    },
}

/// A value, shortened to be shown. Displays as the value, or as `nothing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// The longest that is shown of a value, in bytes.
    const LONGEST_BYTES: usize = 80;

    /// What stands around `offset` of a text.
    pub(super) fn text(text: &str, offset: usize) -> Self {
        // Some of what is the same helps to find the place.
        let start = boundary(text, offset.saturating_sub(Self::LONGEST_BYTES / 4));
        let end = boundary(text, start.saturating_add(Self::LONGEST_BYTES));
        let part = text.get(start..end).unwrap_or_default();
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

    /// The exchange that is most like the request, of those that might have been played; `None` if all were played.
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
                write!(f, "its method: recorded {recorded}, asked {asked}")
            }
            Self::Target { recorded, asked } => {
                write!(f, "its path: recorded {recorded}, asked {asked}")
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
                write!(f, "its body, {place}: recorded {recorded}, asked {asked}")
            }
        }
    }
}
