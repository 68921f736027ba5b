//! Sources of keys, as users write them.

use std::{fmt, path::PathBuf, str::FromStr};

/// The source of a key: `env:NAME`, `file:PATH` or `keyring:SERVICE/USER`. `Display` prints it in this form. It does
/// not contain the key.
///
/// ```
/// # use dormouse_providers::SecretSource;
/// let source: SecretSource = "keyring:dormouse/openai".parse()?;
/// let (service, user) = ("dormouse".to_owned(), "openai".to_owned());
/// assert_eq!(source, SecretSource::Keyring { service, user });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretSource {
    /// The environment variable with this name.
    Environment(String),
    /// The file with this path, which contains only the key.
    File(PathBuf),
    /// The system's keyring. Needs the feature `keyring`.
    Keyring {
        /// The service. It may contain slashes.
        service: String,
        /// The user. It has no slash.
        user: String,
    },
}

/// Why a text is not a source of a key. The text is not repeated: it may be the key itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretSourceError {
    /// The form is unknown.
    #[error(
        "write where the key is, not the key itself: env:NAME, file:PATH or keyring:SERVICE/USER"
    )]
    Unknown,
    /// The variable name is invalid.
    #[error("env: needs a variable name of letters, digits and _, as in env:OPENAI_API_KEY")]
    Variable,
    /// The path is missing.
    #[error("file: needs the path of a file, as in file:/run/secrets/openai")]
    Path,
    /// The service or the user is missing.
    #[error("keyring: needs a service and a user, as in keyring:dormouse/openai")]
    Entry,
}

impl FromStr for SecretSource {
    type Err = SecretSourceError;

    fn from_str(text: &str) -> Result<Self, SecretSourceError> {
        let text = text.trim();
        match text.split_once(':') {
            Some(("env", name)) if is_name(name) => Ok(Self::Environment(name.to_owned())),
            Some(("env", _)) => Err(SecretSourceError::Variable),
            Some(("file", path)) if path.is_empty() || path.contains('\0') => {
                Err(SecretSourceError::Path)
            }
            Some(("file", path)) => Ok(Self::File(path.into())),
            Some(("keyring", entry)) => {
                let (service, user) = entry.rsplit_once('/').unwrap_or_default();
                if service.is_empty() || user.is_empty() || entry.contains('\0') {
                    return Err(SecretSourceError::Entry);
                }
                Ok(Self::Keyring {
                    service: service.to_owned(),
                    user: user.to_owned(),
                })
            }
            _ => Err(SecretSourceError::Unknown),
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Keyring { service, user } => write!(f, "keyring:{service}/{user}"),
        }
    }
}

/// Accepts only the common form of variable names. Most keys contain a `-`, so a key is not accepted as a name.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_secret_source_round_trips() {
        let keyring = |service: &str, user: &str| SecretSource::Keyring {
            service: service.to_owned(),
            user: user.to_owned(),
        };
        for (text, source) in [
            (
                "env:OPENAI_API_KEY",
                SecretSource::Environment("OPENAI_API_KEY".to_owned()),
            ),
            (
                "file:/run/secrets/x",
                SecretSource::File("/run/secrets/x".into()),
            ),
            ("file:C:\\key.txt", SecretSource::File("C:\\key.txt".into())),
            ("keyring:dormouse/openai", keyring("dormouse", "openai")),
            (
                "keyring:https://example.com/a@b.example",
                keyring("https://example.com", "a@b.example"),
            ),
        ] {
            assert_eq!(text.parse(), Ok(source.clone()), "{text}");
            assert_eq!(source.to_string(), text);
        }
    }

    #[test]
    fn a_key_instead_of_its_source_is_rejected_and_not_printed() {
        for (text, error) in [
            ("", SecretSourceError::Unknown),
            ("sk-secret-key", SecretSourceError::Unknown),
            ("http://sk-secret-key", SecretSourceError::Unknown),
            ("env:", SecretSourceError::Variable),
            ("env:sk-secret-key", SecretSourceError::Variable),
            ("env:9", SecretSourceError::Variable),
            ("file:", SecretSourceError::Path),
            ("keyring:", SecretSourceError::Entry),
            ("keyring:sk-secret-key", SecretSourceError::Entry),
            ("keyring:/openai", SecretSourceError::Entry),
            ("keyring:dormouse/", SecretSourceError::Entry),
        ] {
            assert_eq!(text.parse::<SecretSource>(), Err(error), "{text}");
            assert!(
                !format!("{error} {error:?}").contains("sk-secret"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_accepted_source_round_trips(text in "(env|file|keyring):[!-~]{0,20}") {
            if let Ok(source) = text.parse::<SecretSource>() {
                prop_assert_eq!(source.to_string().parse(), Ok(source));
            }
        }
    }
}
