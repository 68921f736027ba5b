//! The environment, as far as providers matter.

use std::{ffi::OsString, fmt};

use crate::{Available, ResolveSecretError, Secret, SecretError, SecretSource};

/// The variables of an environment that say where servers are and which keys they take. A variable that is set and empty
/// counts as not set.
///
/// Nothing is read but what the given function answers; a program passes `std::env::var_os`.
pub struct Environment {
    variables: Box<Variables>,
    keys: Keys,
}

/// What a variable holds.
type Variables = dyn Fn(&str) -> Option<OsString>;

/// Whether keys are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// They are, and are read.
    Needed,
    /// Nobody is asked, so any will do.
    Any,
}

/// A variable cannot be used. No message repeats a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A variable holds bytes that are no text.
    #[error("the environment variable {name} is not UTF-8 text")]
    NotText {
        /// Which.
        name: &'static str,
    },
    /// A variable holds no key.
    #[error("the environment variable {name} holds no usable key")]
    Secret {
        /// Which.
        name: &'static str,
        /// Why not.
        source: SecretError,
    },
    /// A key is in a variable, and the name of a file with one in another.
    #[error("both {name} and {name}_FILE are set; set one of them")]
    TwoKeys {
        /// The first of them.
        name: &'static str,
    },
    /// The file that a variable names holds no key.
    #[error("the environment variable {name}_FILE names no file with a usable key")]
    KeyFile {
        /// Which, without its end.
        name: &'static str,
        /// Why not.
        source: ResolveSecretError,
    },
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys are among the values.
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl Environment {
    /// What this answers of every variable.
    pub fn of(variables: impl Fn(&str) -> Option<OsString> + 'static) -> Self {
        Self {
            variables: Box::new(variables),
            keys: Keys::Needed,
        }
    }

    /// The same with a key for everybody who has none: enough for a replay, in which nobody is asked.
    #[must_use]
    pub fn with_any_key(self) -> Self {
        Self {
            keys: Keys::Any,
            ..self
        }
    }

    /// A variable as it is; nothing if it is empty.
    fn variable(&self, name: &str) -> Option<OsString> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// The text of a variable.
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

    /// The key in the variable, or in the file that the variable with `_FILE` behind its name names.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] if both are set, or if what one of them names is no usable key.
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

    /// The variable that [`secret`](Self::secret) takes the key from.
    #[must_use]
    pub fn place_of(&self, name: &'static str) -> String {
        match self.variable(name) {
            Some(_) => name.to_owned(),
            None => file_variable(name),
        }
    }

    /// The key in this place; nothing if none is needed.
    ///
    /// # Errors
    ///
    /// [`ResolveSecretError`] if there is no usable key.
    pub fn key_from(&self, place: &SecretSource) -> Result<Option<Secret>, ResolveSecretError> {
        if self.keys == Keys::Any {
            return Ok(None);
        }
        place.resolve(|name| (self.variables)(name)).map(Some)
    }
}

impl Available {
    /// What the environment says about the servers of embedders that are asked for by name. Other variables are not read,
    /// so a mistake in one of them fails nothing.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError`] if one of the variables cannot be used.
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
