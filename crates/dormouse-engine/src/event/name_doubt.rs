//! What makes the name of a sender suspicious.

use std::fmt;

use dormouse_contracts::EntityId;
use dormouse_text::{NameFlaw, escape_id};
use serde::{Deserialize, Serialize};

/// What makes the name of a sender suspicious. It is decided when a message comes, shown to the model in the line that is
/// vouched for, and shown to the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NameDoubt {
    /// The name holds characters that are not seen.
    HiddenCharacters,
    /// The name is written in scripts that no language mixes.
    MixedScripts,
    /// The name looks like that of the assistant itself.
    LooksLikeYou,
    /// The name looks like that of somebody else, who was heard before under it.
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

/// In words for the model and for people: on one line, without brackets and commas, the id escaped.
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
