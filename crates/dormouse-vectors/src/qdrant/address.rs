//! The address of a server, the key, and the prefix of collection names.

use std::fmt;

use http::Uri;

/// The port on which a server speaks gRPC by default.
const GRPC_PORT: u16 = 6334;

/// The longest prefix in bytes: together with a collection's name it stays within a server's limit of 255.
const LONGEST_PREFIX: usize = 64;

/// The longest key in bytes. Real keys have a few hundred.
const LONGEST_KEY: usize = 4_096;

/// Why a value of a [`QdrantConfig`](crate::QdrantConfig) is invalid. Does not repeat the value, since it may be
/// secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QdrantConfigError {
    /// The address is not valid.
    #[error("a server's address is like http://127.0.0.1:6334 or https://example.com:6334")]
    Url,
    /// The certificate of the authority is missing or unusable.
    #[error(
        "the certificate of an authority is a PEM file that begins with -----BEGIN CERTIFICATE-----"
    )]
    Authority,
    /// The address contains a user or a password.
    #[error("a server's address must not contain a user or a password: pass the key separately")]
    Credentials,
    /// The prefix is empty, longer than 64 bytes, or has characters that a collection's name may not have.
    #[error("a prefix has 1 to 64 letters, digits, '_', '-' or '.'")]
    Prefix,
    /// The key is empty, longer than 4,096 bytes, or cannot be sent in a header.
    #[error("a key has 1 to 4096 visible ASCII characters")]
    Key,
}

/// The address of a server: `http` or `https`, host and port, and nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct QdrantUrl(String);

impl QdrantUrl {
    /// Accepts an address like `http://127.0.0.1:6334`. The port may be left out if it is 6334, the port for gRPC. A
    /// request to 6333, the port for REST, gets no answer.
    ///
    /// # Errors
    ///
    /// [`QdrantConfigError::Url`] or [`QdrantConfigError::Credentials`].
    pub fn try_new(text: &str) -> Result<Self, QdrantConfigError> {
        let uri: Uri = text.parse().map_err(|_not_shown| QdrantConfigError::Url)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(QdrantConfigError::Url);
        };
        if authority.as_str().contains('@') {
            return Err(QdrantConfigError::Credentials);
        }
        let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        if !matches!(scheme, "http" | "https") || authority.host().is_empty() || !is_bare {
            return Err(QdrantConfigError::Url);
        }
        let host = authority.host().to_ascii_lowercase();
        let port = match authority.port_u16() {
            Some(port) => port,
            None if authority.as_str().len() == host.len() => GRPC_PORT,
            None => return Err(QdrantConfigError::Url),
        };
        Ok(Self(format!("{scheme}://{host}:{port}")))
    }

    /// Whether the connection is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// The address with its port.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for QdrantUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QdrantUrl({:?})", self.0)
    }
}

/// The prefix of the names of all collections of one owner, so that several owners can share a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionPrefix(String);

impl CollectionPrefix {
    /// Accepts a prefix of 1 to 64 letters, digits, `_`, `-` or `.`.
    ///
    /// # Errors
    ///
    /// [`QdrantConfigError::Prefix`].
    pub fn try_new(text: &str) -> Result<Self, QdrantConfigError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if (1..=LONGEST_PREFIX).contains(&text.len()) && text.chars().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(QdrantConfigError::Prefix)
        }
    }

    /// The prefix as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for CollectionPrefix {
    fn default() -> Self {
        Self("dormouse".to_owned())
    }
}

/// The key that a server requires. It is sent to the server and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Accepts a key as the server knows it.
    ///
    /// # Errors
    ///
    /// [`QdrantConfigError::Key`] if it is empty, longer than 4,096 bytes, or has characters that a header may not have.
    pub fn try_new(text: impl Into<String>) -> Result<Self, QdrantConfigError> {
        let text = text.into();
        let is_sendable = text.chars().all(|c| c.is_ascii_graphic());
        if (1..=LONGEST_KEY).contains(&text.len()) && is_sendable {
            Ok(Self(text))
        } else {
            Err(QdrantConfigError::Key)
        }
    }

    /// The key itself. The caller must keep it out of logs and errors.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_port() {
        for (text, url) in [
            ("http://127.0.0.1:6334", "http://127.0.0.1:6334"),
            ("http://LocalHost/", "http://localhost:6334"),
            ("https://[::1]:443", "https://[::1]:443"),
        ] {
            assert_eq!(QdrantUrl::try_new(text).unwrap().as_str(), url);
        }
        for text in [
            "",
            "localhost",
            "localhost:6334",
            "ftp://localhost",
            "http://",
            "http://a/b",
            "http://a?key=b",
            "http://a:x",
        ] {
            assert_eq!(
                QdrantUrl::try_new(text),
                Err(QdrantConfigError::Url),
                "{text}"
            );
        }
        assert_eq!(
            QdrantUrl::try_new("http://bob:secret@localhost"),
            Err(QdrantConfigError::Credentials)
        );
    }

    #[test]
    fn a_prefix_leaves_room_for_a_name() {
        for text in ["a", "dormouse-2.x", &"x".repeat(64)] {
            assert_eq!(CollectionPrefix::try_new(text).unwrap().as_str(), text);
        }
        for text in ["", "a~b", "a b", "ä", &"x".repeat(65)] {
            assert_eq!(
                CollectionPrefix::try_new(text),
                Err(QdrantConfigError::Prefix)
            );
        }
    }

    #[test]
    fn a_key_is_sent_and_not_shown() {
        let key = ApiKey::try_new("s3cr3t").unwrap();
        assert_eq!(key.expose(), "s3cr3t");
        assert_eq!(format!("{key:?}"), "ApiKey(***)");
        for text in ["", "two words", "line\n", "schlüssel", &"x".repeat(4_097)] {
            assert_eq!(ApiKey::try_new(text), Err(QdrantConfigError::Key));
        }
    }
}
