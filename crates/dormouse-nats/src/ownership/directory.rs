//! What hosts tell one another: that they are there, and who should have an assistant. Each is the value of a key.

use std::fmt;

use dormouse_contracts::AssistantId;
use serde::{Deserialize, Serialize};

use crate::log::{from_token, token};

/// The name of a host: 1 to 64 letters, digits, `-` and `_`. Two hosts of one cluster have different names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

/// A text that is not the name of a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host's name is {0:?}; expected 1 to 64 letters, digits, '-' and '_'")]
pub struct HostNameError(String);

impl HostName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`HostNameError`] names the text.
    pub fn try_new(name: impl Into<String>) -> Result<Self, HostNameError> {
        let name = name.into();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if (1..=64).contains(&name.len()) && name.bytes().all(is_allowed) {
            Ok(Self(name))
        } else {
            Err(HostNameError(name))
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HostName {
    type Error = HostNameError;

    fn try_from(name: String) -> Result<Self, HostNameError> {
        Self::try_new(name)
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a host says of itself with each beat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostRecord {
    /// Which process has the name. Drawn at random when it starts.
    pub(crate) incarnation: u64,
    pub(crate) state: HostState,
    /// Its share of the assistants, relative to other hosts.
    pub(crate) weight: u32,
    /// How many assistants it takes.
    pub(crate) capacity: u32,
    /// How many it has.
    pub(crate) hosted: u32,
}

/// Whether a host takes assistants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HostState {
    Serving,
    /// It hands its assistants over.
    Leaving,
    /// It has ended, so nobody need wait for its beats.
    Gone,
}

/// Who should have an assistant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) host: HostName,
    pub(crate) incarnation: u64,
    /// The last process in which the assistant could not begin. It does not get it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unable: Option<u64>,
}

/// What a value is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Host(HostName),
    Life(AssistantId),
}

/// The value of a key of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Host(HostRecord),
    /// Without a holder the lease is free.
    Life(Option<Holder>),
}

/// A value, and the sequence with which the stream has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) revision: u64,
    pub(crate) value: Value,
}

impl Key {
    /// The key's subject in the stream with this name.
    pub(crate) fn subject(&self, stream: &str) -> String {
        match self {
            Self::Host(name) => format!("{stream}.host.{name}"),
            Self::Life(assistant) => format!("{stream}.life.{}", token(assistant)),
        }
    }

    fn of_subject(subject: &str, stream: &str) -> Option<Self> {
        let rest = subject.strip_prefix(stream)?.strip_prefix('.')?;
        match rest.split_once('.')? {
            ("host", name) => HostName::try_new(name).ok().map(Self::Host),
            ("life", token) => from_token(token).map(Self::Life),
            _ => None,
        }
    }
}

impl Value {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::Host(record) => serde_json::to_vec(record),
            Self::Life(holder) => serde_json::to_vec(holder),
        }
    }
}

impl Entry {
    /// Reads a message of the stream. What is not understood is not a value: a later version may have written it.
    pub(crate) fn decode(
        stream: &str,
        subject: &str,
        revision: u64,
        payload: &[u8],
    ) -> Option<Self> {
        let key = Key::of_subject(subject, stream)?;
        let value = match &key {
            Key::Host(_) => Value::Host(serde_json::from_slice(payload).ok()?),
            Key::Life(_) => Value::Life(serde_json::from_slice(payload).ok()?),
        };
        Some(Self {
            key,
            revision,
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_are_one_token_of_a_subject() {
        for name in ["a", "host-1", "A_b", &"x".repeat(64)] {
            assert_eq!(HostName::try_new(name).unwrap().as_str(), name);
        }
        for name in ["", "a.b", "a b", "*", "ä", &"x".repeat(65)] {
            assert!(HostName::try_new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn values_come_back_under_their_keys() {
        let host = HostName::try_new("h-1").unwrap();
        let record = HostRecord {
            incarnation: u64::MAX,
            state: HostState::Leaving,
            weight: 3,
            capacity: 10,
            hosted: 4,
        };
        let holder = Holder {
            host: host.clone(),
            incarnation: 7,
            unable: Some(8),
        };
        let life = Key::Life(AssistantId::try_new("a.b").unwrap());
        for (key, value) in [
            (Key::Host(host), Value::Host(record)),
            (life.clone(), Value::Life(Some(holder))),
            (life, Value::Life(None)),
        ] {
            let (subject, bytes) = (key.subject("S"), value.encode().unwrap());
            let entry = Entry::decode("S", &subject, 5, &bytes).unwrap();
            assert_eq!((entry.key, entry.revision), (key, 5));
            assert_eq!(entry.value, value);
        }
        assert_eq!(Entry::decode("S", "S.host.h-1", 5, b"{}"), None);
        assert_eq!(Entry::decode("S", "S.later.x", 5, b"null"), None);
        assert_eq!(Entry::decode("S", "T.life.x", 5, b"null"), None);
    }
}
