//! The caller's rules for scrubbing.

use std::fmt;

use dormouse_redact::KnownSecrets;
use http::HeaderName;

use crate::headers;

/// The caller's secrets, and headers to record in addition to the usual ones.
///
/// `Debug` shows no secret.
#[derive(Clone, Default)]
pub struct ScrubRules {
    known: KnownSecrets,
    headers: Vec<HeaderName>,
}

/// Why a rule is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The secret is too short. Such a text also occurs by chance, and removing it everywhere would make the cassette
    /// unreadable.
    #[error(
        "a secret of {bytes} bytes is too short to be scrubbed: expected at least {}",
        ScrubRules::SHORTEST_SECRET_BYTES
    )]
    SecretTooShort {
        /// Its length.
        bytes: usize,
    },
    /// The header contains credentials or identifies a user.
    #[error("this header is never recorded")]
    HeaderNeverRecorded,
}

impl ScrubRules {
    /// The minimum length of a secret, in bytes.
    pub const SHORTEST_SECRET_BYTES: usize = 6;

    /// Rules without any secret of the caller. Only known forms of secrets are scrubbed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Scrubs this secret in every form: plain, in JSON, in URLs, in base64, and cut off at the end of a body. White
    /// space around the secret is removed first.
    ///
    /// # Errors
    ///
    /// - [`RuleError::SecretTooShort`]: the secret is too short. Record without this rule, and then look for the secret
    ///   in the cassette.
    pub fn with_secret(mut self, secret: &str) -> Result<Self, RuleError> {
        let secret = secret.trim();
        if secret.len() < Self::SHORTEST_SECRET_BYTES {
            let bytes = secret.len();
            return Err(RuleError::SecretTooShort { bytes });
        }
        self.known.add(secret);
        Ok(self)
    }

    /// Records this header of requests and responses, too. Its value is scrubbed.
    ///
    /// # Errors
    ///
    /// - [`RuleError::HeaderNeverRecorded`]: credentials, cookies and organisations are never recorded.
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
