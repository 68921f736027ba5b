//! A key, kept out of every text.

mod keyring;
mod resolve;
mod source;

use std::fmt;

use zeroize::Zeroizing;

pub use self::{
    resolve::ResolveSecretError,
    source::{SecretSource, SecretSourceError},
};

/// An API key. It is printed nowhere: `Debug` shows `***`, there is no `Display`, and no error holds it.
///
/// Its memory is overwritten when it goes away. What an HTTP client keeps of it for its headers is not.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Box<str>>);

/// Why a text is no key. The text itself is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// There is nothing in it.
    #[error("the key is empty")]
    Empty,
    /// It is longer than [`Secret::LIMIT`].
    #[error("the key has {length} bytes; at most {} are accepted", Secret::LIMIT)]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// It could not travel in an HTTP header.
    #[error(
        "the key contains a character at byte {at} that no key has: only visible ASCII characters are allowed (a line break or a quotation mark may have been copied along)"
    )]
    Character {
        /// Where it stands, in bytes from the start.
        at: usize,
    },
}

impl Secret {
    /// The longest key that is accepted, in bytes.
    pub const LIMIT: usize = 4096;

    /// Takes a text as a key. White space around it, as left by copying, is removed.
    ///
    /// # Errors
    ///
    /// [`SecretError`] if it is empty, too long, or could not travel in an HTTP header.
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

    /// The key itself. Whoever calls this sees to it that it ends up in no log and no error.
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
    fn what_cannot_travel_in_a_header_is_no_key_and_is_not_repeated() {
        assert_eq!(Secret::try_new(" \n"), Err(SecretError::Empty));
        let error = Secret::try_new("sk-1\nsk-2").unwrap_err();
        assert_eq!(error, SecretError::Character { at: 4 });
        assert!(!error.to_string().contains("sk-"), "{error}");
        assert!(Secret::try_new("schlüssel").is_err());
        assert!(Secret::try_new(&"x".repeat(4097)).is_err());
    }
}
