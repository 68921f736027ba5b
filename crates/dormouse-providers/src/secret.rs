//! API keys that are never printed.

mod resolve;
mod source;

use std::fmt;

use zeroize::Zeroizing;

pub use self::{
    resolve::ResolveSecretError,
    source::{SecretSource, SecretSourceError},
};

/// An API key. It is never printed: `Debug` shows `***`, there is no `Display`, and no error contains it.
///
/// Its memory is overwritten on drop. Copies in the headers of an HTTP client are not.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Box<str>>);

/// Why a text is not a valid key. The text itself is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// It is empty.
    #[error("the key is empty")]
    Empty,
    /// It is longer than [`Secret::LIMIT`].
    #[error("the key has {length} bytes; at most {} are accepted", Secret::LIMIT)]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// It has a character that is not allowed in an HTTP header.
    #[error(
        "the key contains a character at byte {at} that no key has: only visible ASCII characters are allowed (a line break or a quotation mark may have been copied along)"
    )]
    Character {
        /// The position in bytes.
        at: usize,
    },
}

impl Secret {
    /// The longest key that is accepted, in bytes.
    pub const LIMIT: usize = 4096;

    /// Accepts a text as a key. White space at both ends is removed.
    ///
    /// # Errors
    ///
    /// [`SecretError`] if it is empty, too long, or has characters that are not allowed in an HTTP header.
    pub fn try_new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SecretError::Empty);
        }
        if text.len() > Self::LIMIT {
            return Err(SecretError::TooLong { length: text.len() });
        }
        match text.char_indices().find(|(_, c)| !c.is_ascii_graphic()) {
            Some((at, _)) => Err(SecretError::Character { at }),
            None => Ok(Self(Zeroizing::new(text.into()))),
        }
    }

    /// Returns the key itself. The caller must keep it out of logs and errors.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_printed_nowhere() {
        let secret = Secret::try_new(" sk-123\n").unwrap();
        assert_eq!(secret.expose(), "sk-123");
        assert_eq!(
            format!("{:?} {:#?}", secret, Some(&secret)),
            "*** Some(\n    ***,\n)"
        );
    }

    #[test]
    fn a_key_with_invalid_header_bytes_is_rejected_and_not_printed() {
        assert_eq!(Secret::try_new(" \n"), Err(SecretError::Empty));
        let error = Secret::try_new("sk-1\nsk-2").unwrap_err();
        assert_eq!(error, SecretError::Character { at: 4 });
        assert!(!error.to_string().contains("sk-"), "{error}");
        assert!(Secret::try_new("schlüssel").is_err());
        assert!(Secret::try_new(&"x".repeat(4097)).is_err());
    }
}
