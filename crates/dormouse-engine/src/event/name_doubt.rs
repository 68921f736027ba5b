//! What makes the name of a sender suspicious.

use std::fmt;

use dormouse_contracts::EntityId;
use dormouse_text::{NameFlaw, escape_id};
use serde::{Deserialize, Serialize};

/// A reason to suspect the name of a sender. It is determined when a message arrives, shown to the model in the header
/// line, and shown to the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NameDoubt {
    /// The name contains invisible characters.
    HiddenCharacters,
    /// The name is written in scripts that no language mixes.
    MixedScripts,
    /// The name looks like that of the assistant itself.
    LooksLikeYou,
    /// The name looks like the name of another person, who was heard before.
    LooksLike(EntityId),
}

impl From<NameFlaw> for NameDoubt {
    fn from(flaw: NameFlaw) -> Self {
        match flaw {
            NameFlaw::Hidden(_) => Self::HiddenCharacters,
            NameFlaw::MixedScripts => Self::MixedScripts,
        }
    }
}

/// Text for the model and for people: on one line, without brackets and commas, the id escaped.
impl fmt::Display for NameDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HiddenCharacters => f.write_str("the name holds hidden characters"),
            Self::MixedScripts => f.write_str("the name mixes scripts"),
            Self::LooksLikeYou => f.write_str("the name looks like yours and is not you"),
            Self::LooksLike(id) => {
                let id = escape_id(id.as_str());
                write!(f, "not {id} whose name looks the same")
            }
        }
    }
}
