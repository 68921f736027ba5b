//! The environment variables of providers.

use std::{ffi::OsString, fmt};

use crate::{Available, ResolveSecretError, Secret, SecretError, SecretSource};

/// The environment variables with servers and keys. An empty variable counts as not set.
///
/// Variables are read through the given function only; a program passes `std::env::var_os`.
pub struct Environment {
    variables: Box<Variables>,
    keys: Keys,
}

/// Returns the value of a variable.
type Variables = dyn Fn(&str) -> Option<OsString>;

/// Whether keys are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// Keys are read.
    Needed,
    /// No server is contacted, so any key will do.
    Any,
}

/// Why a variable cannot be used. No message repeats a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The variable is not UTF-8 text.
    #[error("the environment variable {name} is not UTF-8 text")]
    NotText {
        /// The variable.
        name: &'static str,
    },
    /// The variable has no valid key.
    #[error("the environment variable {name} has no valid key")]
    Secret {
        /// The variable.
        name: &'static str,
        /// Why the key is invalid.
        source: SecretError,
    },
    /// Both the variable and its `_FILE` variant are set.
    #[error("both {name} and {name}_FILE are set; set one of them")]
    TwoKeys {
        /// The variable.
        name: &'static str,
    },
    /// The file in the `_FILE` variable has no valid key.
    #[error("the environment variable {name}_FILE does not name a file with a valid key")]
    KeyFile {
        /// The variable, without `_FILE`.
        name: &'static str,
        /// Why there is no valid key.
        source: ResolveSecretError,
    },
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values include keys.
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl Environment {
    /// Reads variables with this function.
    pub fn of(variables: impl Fn(&str) -> Option<OsString> + 'static) -> Self {
        Self {
            variables: Box::new(variables),
            keys: Keys::Needed,
        }
    }

    /// Uses a placeholder for every missing key. A replay needs no more, because it contacts no server.
    #[must_use]
    pub fn with_any_key(self) -> Self {
        Self {
            keys: Keys::Any,
            ..self
        }
    }

    /// Returns a variable that is not empty.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// Returns the text of a variable.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::NotText`] if it is not UTF-8.
    pub fn text(&self, name: &'static str) -> Result<Option<String>, EnvironmentError> {
        match self.variable(name) {
            None => Ok(None),
            Some(value) => value
                .into_string()
                .map(Some)
                .map_err(|_lossy| EnvironmentError::NotText { name }),
        }
    }

    /// Returns the key in the variable, or in the file named by the variable with `_FILE` appended.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] if both are set, or there is no valid key.
    pub fn secret(&self, name: &'static str) -> Result<Option<Secret>, EnvironmentError> {
        let (text, file) = (self.text(name)?, self.variable(&file_variable(name)));
        let text = match (self.keys, text, file) {
            (Keys::Any, text, _) => text.unwrap_or_else(|| "replayed".to_owned()),
            (Keys::Needed, Some(_), Some(_)) => return Err(EnvironmentError::TwoKeys { name }),
            (Keys::Needed, None, None) => return Ok(None),
            (Keys::Needed, Some(text), None) => text,
            (Keys::Needed, None, Some(path)) => {
                let key = SecretSource::File(path.into()).resolve(|_| None);
                let key = key.map_err(|source| EnvironmentError::KeyFile { name, source });
                return key.map(Some);
            }
        };
        Secret::try_new(&text)
            .map(Some)
            .map_err(|source| EnvironmentError::Secret { name, source })
    }

    /// Returns the name of the variable that [`secret`](Self::secret) reads.
    #[must_use]
    pub fn variable_for(&self, name: &'static str) -> String {
        match self.variable(name) {
            Some(_) => name.to_owned(),
            None => file_variable(name),
        }
    }

    /// Returns the key from this source; `None` if no key is needed.
    ///
    /// # Errors
    ///
    /// [`ResolveSecretError`] if there is no valid key.
    pub fn key_from(&self, source: &SecretSource) -> Result<Option<Secret>, ResolveSecretError> {
        if self.keys == Keys::Any {
            return Ok(None);
        }
        source.resolve(|name| (self.variables)(name)).map(Some)
    }
}

impl Available {
    /// Reads the servers and keys that an embedder can use from the environment. It ignores all other variables, so
    /// they may be invalid.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] if one of the variables is invalid.
    pub fn for_embedder(environment: &Environment) -> Result<Self, EnvironmentError> {
        Ok(Self {
            dormouse_base_url: environment.text("DORMOUSE_BASE_URL")?,
            dormouse_api_key: environment.secret("DORMOUSE_API_KEY")?,
            openai_api_key: environment.secret("OPENAI_API_KEY")?,
            openai_base_url: environment.text("OPENAI_BASE_URL")?,
            ..Self::default()
        })
    }
}

fn file_variable(name: &str) -> String {
    format!("{name}_FILE")
}
