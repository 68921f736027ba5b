//! What a caller knows that must not get in, and what may.

use std::fmt;

use dormouse_redact::KnownSecrets;
use http::HeaderName;

use crate::headers;

/// What is scrubbed besides what has the shape of a secret, and which headers are kept besides the usual ones.
///
/// Its `Debug` tells no secret.
#[derive(Clone, Default)]
pub struct ScrubRules {
    known: KnownSecrets,
    headers: Vec<HeaderName>,
}

/// Why a rule was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// So short a text stands in many places by chance, and a cassette without it would make no sense.
    #[error(
        "a secret of {bytes} bytes is too short to be scrubbed: at least {} are needed",
        ScrubRules::SHORTEST_SECRET_BYTES
    )]
    SecretTooShort {
        /// Its length.
        bytes: usize,
    },
    /// The header holds what lets somebody in, or says who it is.
    #[error("this header is never recorded")]
    HeaderNeverRecorded,
}

impl ScrubRules {
    /// The shortest secret that can be scrubbed, in bytes.
    pub const SHORTEST_SECRET_BYTES: usize = 6;

    /// The rules that go by shape alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Scrubs this secret wherever it stands: as it is, in JSON, in an address, in base64, and cut off at the end of
    /// a body. White space around it does not belong to it.
    ///
    /// # Errors
    ///
    /// - [`RuleError::SecretTooShort`]: record without it, and look through the cassette.
    pub fn with_secret(mut self, secret: &str) -> Result<Self, RuleError> {
        let secret = secret.trim();
        if secret.len() < Self::SHORTEST_SECRET_BYTES {
            let bytes = secret.len();
            return Err(RuleError::SecretTooShort { bytes });
        }
        self.known.add(secret);
        Ok(self)
    }

    /// Records this header, too, of requests and responses. Its value is scrubbed like everything else.
    ///
    /// # Errors
    ///
    /// - [`RuleError::HeaderNeverRecorded`]: credentials, cookies and organisations are not recorded by anybody's wish.
    pub fn with_header(mut self, name: HeaderName) -> Result<Self, RuleError> {
        if headers::is_never_recorded(name.as_str()) {
            return Err(RuleError::HeaderNeverRecorded);
        }
        self.headers.push(name);
        Ok(self)
    }

    pub(crate) fn headers(&self) -> &[HeaderName] {
        &self.headers
    }

    pub(crate) fn known(&self) -> &KnownSecrets {
        &self.known
    }
}

impl fmt::Debug for ScrubRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScrubRules")
            .field("secrets", &self.known.len())
            .field("headers", &self.headers)
            .finish()
    }
}
