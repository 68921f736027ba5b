//! Reads a cassette from an untrusted file.

use std::{fmt, io};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;

use super::{FILE_VERSION, wire};
use crate::{cassette::Cassette, slices::boundary};

/// The maximum file size: twice the recorder's default.
pub const READ_LIMIT_BYTES: usize = 64 << 20;

/// Why a cassette cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteReadError {
    /// The file cannot be read.
    #[error("the cassette could not be read")]
    Io(#[source] io::Error),
    /// The file is too long.
    #[error(
        "the cassette is longer than {limit_bytes} bytes: record with lower limits, or split it"
    )]
    TooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// The file is JSON, but not a cassette.
    #[error("this is not a cassette: the member `dormouse_cassette` with a version is missing")]
    NoCassette,
    /// The file has another version of the format.
    #[error(
        "the cassette has version {found}, and this program reads {FILE_VERSION}: use the program that wrote it, or record again"
    )]
    Version {
        /// The version.
        found: u64,
    },
    /// The file is truncated.
    #[error("the cassette is truncated at {0}: copy the whole file, or record again")]
    CutOff(Fault),
    /// The file is not JSON, or too deeply nested.
    #[error("the cassette is not valid JSON at {0}: correct it there, or record again")]
    Broken(Fault),
    /// The JSON is not a valid cassette.
    #[error("the cassette has an invalid value at {0}: correct it there, or record again")]
    Meaning(Fault),
}

/// What is wrong in a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    line: usize,
    column: usize,
    explanation: String,
}

impl Fault {
    /// The maximum length of the explanation, in bytes. It quotes the file, which may be large.
    const LONGEST_BYTES: usize = 200;

    fn of(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // The explanation must not repeat the location.
        let text = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(text, _)| text);
        let short = text.get(..boundary(text, Self::LONGEST_BYTES));
        let mut explanation: String = short.unwrap_or_default().escape_debug().collect();
        explanation = explanation.replace("\\\"", "\"").replace("\\'", "'");
        if short.is_some_and(|short| short.len() < text.len()) {
            explanation.push('…');
        }
        Self {
            line: error.line(),
            column: error.column(),
            explanation,
        }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The byte within the line, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            explanation,
        } = self;
        write!(f, "line {line}, column {column} ({explanation})")
    }
}

impl Cassette {
    /// Reads a cassette of at most [`READ_LIMIT_BYTES`]. If the file was edited by hand, use [`Cassette::check`] to
    /// find secrets in it.
    ///
    /// # Errors
    ///
    /// - [`CassetteReadError::Io`]: the reader failed.
    /// - [`CassetteReadError::TooLong`]: the file was not parsed.
    /// - [`CassetteReadError::NoCassette`], [`CassetteReadError::Version`]: another kind of file, or another version.
    /// - [`CassetteReadError::CutOff`], [`CassetteReadError::Broken`], [`CassetteReadError::Meaning`]: a damaged file, with the location.
    pub fn read(from: &mut dyn io::Read) -> Result<Self, CassetteReadError> {
        Self::read_within(from, READ_LIMIT_BYTES)
    }

    /// Like [`Cassette::read`], with another limit in bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Cassette::read`].
    pub fn read_within(
        from: &mut dyn io::Read,
        limit_bytes: usize,
    ) -> Result<Self, CassetteReadError> {
        let mut bytes = Vec::new();
        let most = u64::try_from(limit_bytes)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let mut limited = io::Read::take(from, most);
        io::Read::read_to_end(&mut limited, &mut bytes).map_err(CassetteReadError::Io)?;
        if bytes.len() > limit_bytes {
            return Err(CassetteReadError::TooLong { limit_bytes });
        }
        Self::from_bytes(&bytes)
    }

    /// Parses a cassette in memory.
    ///
    /// # Errors
    ///
    /// Those of [`Cassette::read`], except the first two.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CassetteReadError> {
        // The version is checked first, because a file of another version has other errors, too.
        match serde_json::from_slice::<Version>(bytes) {
            Ok(Version {
                dormouse_cassette: Some(FILE_VERSION),
            }) => {}
            Ok(Version {
                dormouse_cassette: Some(found),
            }) => return Err(CassetteReadError::Version { found }),
            Ok(Version {
                dormouse_cassette: None,
            }) => return Err(CassetteReadError::NoCassette),
            Err(error) => return Err(sorted(bytes, &error)),
        }
        let file: wire::File =
            serde_json::from_slice(bytes).map_err(|error| sorted(bytes, &error))?;
        Ok(file.into())
    }
}

#[derive(Deserialize)]
struct Version {
    dormouse_cassette: Option<u64>,
}

fn sorted(bytes: &[u8], error: &serde_json::Error) -> CassetteReadError {
    let fault = Fault::of(error);
    match error.classify() {
        serde_json::error::Category::Eof => CassetteReadError::CutOff(fault),
        serde_json::error::Category::Data => CassetteReadError::Meaning(fault),
        // serde_json reports a number that is cut off after its sign or point as a syntax error.
        serde_json::error::Category::Syntax if is_at_end(bytes, error) => {
            CassetteReadError::CutOff(fault)
        }
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            CassetteReadError::Broken(fault)
        }
    }
}

fn is_at_end(bytes: &[u8], error: &serde_json::Error) -> bool {
    let mut lines = bytes.rsplit(|byte| *byte == b'\n');
    let last = lines.next().unwrap_or_default();
    error.line() == lines.count() + 1 && error.column() >= last.len()
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
