//! Where something comes from: the event it was made from, and who said it.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    ids::{CallId, EntityId},
    log::Seq,
    perception::Sender,
};

/// How many bits of an origin's number say which part of the event it is.
const PART_BITS: u32 = 20;

/// The event of an assistant's log that something was made from, or one part of that event.
///
/// It is written `412` for event 412 and `412.3` for the third part of event 412, in JSON as a string. An event that
/// holds many things at once, such as an import, has one part for each of them, counted from 1. Origins are ordered as
/// the log is. Since the log never changes, an origin always means the same thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin(u64);

/// A text that is not an origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an origin: expected the number of an event (412), or of a part of one (412.3)"
)]
pub struct OriginError(String);

impl Origin {
    /// The maximum number of parts of one event.
    pub const MAX_PART: u32 = (1 << PART_BITS) - 1;
    /// The highest event that an origin can name. A log that grows by 1,000 events a second needs 500 years to reach it.
    pub const MAX_EVENT: Seq = Seq((1 << (u64::BITS - PART_BITS)) - 1);

    /// A whole event. Events above [`Origin::MAX_EVENT`] count as that one.
    #[must_use]
    pub const fn event(seq: Seq) -> Self {
        if seq.0 > Self::MAX_EVENT.0 {
            Self(Self::MAX_EVENT.0 << PART_BITS)
        } else {
            Self(seq.0 << PART_BITS)
        }
    }

    /// A part of the same event, from 1; part 0 is the whole event. `None` above [`Origin::MAX_PART`].
    #[must_use]
    pub const fn part(self, part: u32) -> Option<Self> {
        if part > Self::MAX_PART {
            return None;
        }
        Some(Self(Self::event(self.seq()).0 | part as u64))
    }

    /// The event.
    #[must_use]
    pub const fn seq(self) -> Seq {
        Seq(self.0 >> PART_BITS)
    }

    /// Which part of the event, from 1; 0 is the whole event.
    #[must_use]
    pub const fn part_number(self) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "20 bits are left")]
        let part = (self.0 & Self::MAX_PART as u64) as u32;
        part
    }

    /// The origin as one number for keys of tables and indexes. The numbers have the order of the origins.
    #[must_use]
    pub const fn to_number(self) -> u64 {
        self.0
    }

    /// The origin of such a number.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part_number() {
            0 => f.pad(&self.seq().to_string()),
            part => f.pad(&format!("{}.{part}", self.seq())),
        }
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({self})")
    }
}

impl FromStr for Origin {
    type Err = OriginError;
    fn from_str(text: &str) -> Result<Self, OriginError> {
        let error = || OriginError(text.chars().take(40).collect());
        let (seq, part) = text.split_once('.').unwrap_or((text, "0"));
        let number = |text: &str| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| is_plain)
        };
        let seq = number(seq).filter(|seq| *seq <= Self::MAX_EVENT.0);
        let part = number(part).and_then(|part| u32::try_from(part).ok());
        // "412.0" would be a second way to write "412".
        let is_written_once = part != Some(0) || !text.contains('.');
        let (Some(seq), Some(part), true) = (seq, part, is_written_once) else {
            return Err(error());
        };
        Self::event(Seq(seq)).part(part).ok_or_else(error)
    }
}

impl TryFrom<String> for Origin {
    type Error = OriginError;
    fn try_from(text: String) -> Result<Self, OriginError> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> String {
        origin.to_string()
    }
}

/// What something was made from: origins in the order of the log, each once, and at most [`Sources::MOST`].
///
/// A list that is [full](Sources::is_full) may lack some, so nobody may conclude from it that something was *not* a source.
///
/// In JSON: `["12","40.3"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Origin>", into = "Vec<Origin>")]
pub struct Sources(Vec<Origin>);

impl Sources {
    /// The maximum number of origins in one list.
    pub const MOST: usize = 32;

    /// Whether the list is empty: there is no origin, or none is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there may be more than it lists.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.len() >= Self::MOST
    }

    /// The origins, in the order of the log.
    #[must_use]
    pub fn as_slice(&self) -> &[Origin] {
        &self.0
    }

    /// The origins of both lists. If they are too many, those of this list are kept first.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).copied().collect()
    }
}

impl FromIterator<Origin> for Sources {
    /// Keeps the first ones, so the caller passes the most important origins first.
    fn from_iter<I: IntoIterator<Item = Origin>>(origins: I) -> Self {
        let mut kept = BTreeSet::new();
        for origin in origins {
            if kept.len() == Self::MOST {
                break;
            }
            kept.insert(origin);
        }
        Self(kept.into_iter().collect())
    }
}

impl From<Vec<Origin>> for Sources {
    fn from(origins: Vec<Origin>) -> Self {
        origins.into_iter().collect()
    }
}

impl From<Sources> for Vec<Origin> {
    fn from(sources: Sources) -> Self {
        sources.0
    }
}

/// Who something comes from.
///
/// In JSON: `"myself"`, `{"entity":{"id":"#7","name":"Alice"}}`, `{"named":"Alice"}`, `"surroundings"`, `"several"` or
/// `"unknown"`. The variants are separate, so that a mere name is never mistaken for the assistant or the surroundings. The
/// id keeps two people with the same name apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribution {
    /// The assistant itself.
    Myself,
    /// A person, character or thing that its world attests.
    Entity {
        /// Its id in its world.
        id: EntityId,
        /// The name it had then, for display only: names can repeat and change.
        name: String,
    },
    /// Somebody of whom only a name is known. Two sources with the same name may be different people.
    Named(String),
    /// The assistant's surroundings: what the world answered, which may hold text that anybody wrote there.
    Surroundings,
    /// More than one source.
    Several,
    /// An unknown source.
    #[default]
    Unknown,
}

impl Attribution {
    /// An entity with this id and name.
    pub fn entity(id: EntityId, name: impl Into<String>) -> Self {
        Self::Entity {
            id,
            name: name.into(),
        }
    }

    /// The id, if the world attests one.
    #[must_use]
    pub fn id(&self) -> Option<&EntityId> {
        match self {
            Self::Entity { id, .. } => Some(id),
            Self::Myself | Self::Named(_) | Self::Surroundings | Self::Several | Self::Unknown => {
                None
            }
        }
    }

    /// The name of a person or thing, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Entity { name, .. } | Self::Named(name) => Some(name),
            Self::Myself | Self::Surroundings | Self::Several | Self::Unknown => None,
        }
    }

    /// Whether both count as the same: the same id, even under two names, or both the assistant itself, or both the
    /// surroundings. Two equal names without an id count as the same, because nothing distinguishes them.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Entity { id, .. }, Self::Entity { id: other, .. }) => id == other,
            (Self::Named(name), Self::Named(other)) => name == other,
            (Self::Myself, Self::Myself) | (Self::Surroundings, Self::Surroundings) => true,
            _ => false,
        }
    }
}

/// Who decided on a change of what an assistant knows.
///
/// In JSON: `{"tool":"call_4_0"}`, `{"sleep":3}`, `{"operator":"florian"}` or `{"import":"florian"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Author {
    /// The assistant, by this call of a tool.
    Tool(CallId),
    /// The assistant in its sleep: the number of the cycle.
    Sleep(u64),
    /// The person of this name, by a command.
    Operator(String),
    /// The assistant, in a compaction, before earlier turns are left out of its prompts: the number of the compaction.
    Compaction(u64),
    /// A file that the person of this name imported.
    Import(String),
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(call) => write!(f, "call {call}"),
            Self::Sleep(cycle) => write!(f, "sleep {cycle}"),
            Self::Compaction(number) => write!(f, "compaction {number}"),
            Self::Operator(name) => write!(f, "{name}"),
            Self::Import(name) => write!(f, "an import by {name}"),
        }
    }
}

impl From<&Sender> for Attribution {
    fn from(sender: &Sender) -> Self {
        match sender {
            Sender::Entity { id, name } | Sender::Assistant { id, name } => {
                Self::entity(id.clone(), &**name)
            }
            Sender::Myself { .. } => Self::Myself,
            Sender::Unattributed => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_reads_as_it_is_written_and_keeps_the_order_of_the_log() {
        let third = Origin::event(Seq(412)).part(3).unwrap();
        for (origin, text) in [
            (Origin::event(Seq(412)), "412"),
            (third, "412.3"),
            (Origin::event(Origin::MAX_EVENT), "17592186044415"),
        ] {
            assert_eq!(origin.to_string(), text);
            assert_eq!(text.parse(), Ok(origin));
            let json = serde_json::to_string(&origin).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<Origin>(&json).unwrap(), origin);
            assert_eq!(Origin::from_number(origin.to_number()), origin);
        }
        assert!(Origin::event(Seq(412)) < third && third < Origin::event(Seq(413)));
        assert_eq!((third.seq(), third.part_number()), (Seq(412), 3));
    }

    #[test]
    fn each_origin_is_written_in_one_way_only() {
        for text in [
            "",
            "m42",
            "log:42",
            "412.0",
            "412.",
            ".3",
            "+4",
            "-1",
            "4.+3",
            "412.1048576",
            "1.2.3",
            "17592186044416",
        ] {
            assert!(text.parse::<Origin>().is_err(), "{text}");
        }
        assert_eq!(
            "mouse".parse::<Origin>().unwrap_err().to_string(),
            "\"mouse\" is not an origin: expected the number of an event (412), or of a part of one (412.3)"
        );
    }

    #[test]
    fn a_list_of_sources_holds_each_once_and_says_when_it_may_lack_some() {
        let event = |seq| Origin::event(Seq(seq));
        let few: Sources = [event(9), event(2), event(9)].into_iter().collect();
        assert_eq!(few.as_slice(), [event(2), event(9)]);
        assert_eq!(serde_json::to_string(&few).unwrap(), r#"["2","9"]"#);
        assert_eq!(
            serde_json::from_str::<Sources>(r#"["9","2"]"#).unwrap(),
            few
        );
        assert!(!few.is_full() && !few.is_empty() && Sources::default().is_empty());
        let many: Sources = (100..200).map(event).collect();
        assert!(many.is_full());
        assert_eq!(many.as_slice().len(), Sources::MOST);
        assert_eq!(few.union(&many).as_slice().first(), Some(&event(2)));
        assert!(few.union(&many).is_full());
        let short = many.union(&few);
        assert_eq!(short, many, "the list that comes first is kept");
    }

    #[test]
    fn people_are_told_apart_by_id_and_nobody_is_the_assistant_by_name() {
        let alice = |id: &str, name: &str| Attribution::entity(id.parse().unwrap(), name);
        assert!(alice("#7", "Alice").is_same_as(&alice("#7", "Lady Alice")));
        assert!(!alice("#7", "Alice").is_same_as(&alice("#8", "Alice")));
        assert!(!Attribution::Named("you".to_owned()).is_same_as(&Attribution::Myself));
        assert!(!Attribution::Unknown.is_same_as(&Attribution::Unknown));
        assert!(!Attribution::Several.is_same_as(&Attribution::Several));
    }

    #[test]
    fn an_attribution_is_short_in_json() {
        for (from, json) in [
            (Attribution::Myself, r#""myself""#),
            (
                Attribution::entity("#7".parse().unwrap(), "Alice"),
                r##"{"entity":{"id":"#7","name":"Alice"}}"##,
            ),
            (
                Attribution::Named("Alice".to_owned()),
                r#"{"named":"Alice"}"#,
            ),
            (Attribution::Surroundings, r#""surroundings""#),
            (Attribution::Several, r#""several""#),
            (Attribution::Unknown, r#""unknown""#),
        ] {
            assert_eq!(serde_json::to_string(&from).unwrap(), json);
            assert_eq!(serde_json::from_str::<Attribution>(json).unwrap(), from);
        }
    }
}
