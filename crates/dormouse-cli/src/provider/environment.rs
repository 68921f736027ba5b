//! The environment, as far as providers matter.

use std::{env, ffi::OsString, fmt};

use dormouse_providers::{Secret, SecretSource};

use super::ProviderError;

/// The environment, as far as it matters here. A variable that is set and empty counts as not set.
pub(crate) struct Environment {
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

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys are among the values.
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl Environment {
    /// The environment of this process.
    pub(crate) fn of_process() -> Self {
        Self::of(|name| env::var_os(name))
    }

    /// What this answers of every variable.
    pub(crate) fn of(variables: impl Fn(&str) -> Option<OsString> + 'static) -> Self {
        Self {
            variables: Box::new(variables),
            keys: Keys::Needed,
        }
    }

    /// The same with a key for everybody who has none: enough for a replay, in which nobody is asked.
    pub(crate) fn with_any_key(self) -> Self {
        Self {
            keys: Keys::Any,
            ..self
        }
    }

    /// A variable as it is; nothing if it is empty.
    fn variable(&self, name: &str) -> Option<OsString> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>, ProviderError> {
        match self.variable(name) {
            None => Ok(None),
            Some(value) => value
                .into_string()
                .map(Some)
                .map_err(|_lossy| ProviderError::NotText { name }),
        }
    }

    /// The key in the variable, or in the file that the variable with `_FILE` behind its name tells.
    pub(crate) fn secret(&self, name: &'static str) -> Result<Option<Secret>, ProviderError> {
        let (text, file) = (self.text(name)?, self.variable(&file_variable(name)));
        let text = match (self.keys, text, file) {
            (Keys::Any, text, _) => text.unwrap_or_else(|| "replayed".to_owned()),
            (Keys::Needed, Some(_), Some(_)) => return Err(ProviderError::TwoKeys { name }),
            (Keys::Needed, None, None) => return Ok(None),
            (Keys::Needed, Some(text), None) => text,
            (Keys::Needed, None, Some(path)) => {
                let key = SecretSource::File(path.into()).resolve(|_| None);
                let key = key.map_err(|source| ProviderError::KeyFile { name, source });
                return key.map(Some);
            }
        };
        Secret::try_new(&text)
            .map(Some)
            .map_err(|source| ProviderError::Secret { name, source })
    }

    /// The variable that [`secret`](Self::secret) takes the key from.
    pub(crate) fn place_of(&self, name: &'static str) -> String {
        match self.variable(name) {
            Some(_) => name.to_owned(),
            None => file_variable(name),
        }
    }

    /// The key in this place; nothing if none is needed.
    pub(crate) fn key_from(&self, place: &SecretSource) -> Result<Option<Secret>, ProviderError> {
        if self.keys == Keys::Any {
            return Ok(None);
        }
        let key = place.resolve(|name| (self.variables)(name));
        key.map(Some).map_err(ProviderError::KeyFrom)
    }
}

fn file_variable(name: &str) -> String {
    format!("{name}_FILE")
}
