//! Where something happened, and who could perceive it there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{ChannelId, EntityId, PlaceId};

/// A room or another location of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its id in the world. It stays the same while the name may change.
    pub id: PlaceId,
    /// Its name in the world, for display only.
    pub name: String,
}

/// Who could perceive something at the moment when it happened. The entity that caused it and the perceiving assistant
/// itself are included.
///
/// Each variant is a set of entities, so audiences can be intersected: [`Public`](Self::Public) contains everyone,
/// [`Entities`](Self::Entities) contains exactly those that it lists, and of a [`Channel`](Self::Channel) only that
/// channel itself is known to be a part. A world that knows the members of a channel lists them.
///
/// | what happened | who is listed |
/// | --- | --- |
/// | something said or done aloud in a room | everyone in the room at that moment who perceives |
/// | somebody leaves a room | everyone in the room that they leave, and the one who leaves |
/// | somebody enters a room | everyone in the room that they enter, and the one who enters |
/// | a whisper, a page | the speaker and the listener |
/// | a message on a channel | the members who could hear it, the speaker included |
/// | output of a command | the one whose command it was |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Audience {
    /// Everyone in the world, and everyone who ever enters it: nothing about it is private.
    Public,
    /// The members of this channel, whom the world does not list.
    Channel(ChannelId),
    /// Exactly these entities.
    Entities(BTreeSet<EntityId>),
}

impl Audience {
    /// The most entities that are listed.
    pub const LIMIT: usize = 256;

    /// The audience of exactly these entities. `None` if they are more than [`Audience::LIMIT`]: an incomplete list
    /// would be wrong, and a complete one would fill logs, so such an audience counts as unknown.
    pub fn of(entities: impl IntoIterator<Item = EntityId>) -> Option<Self> {
        let entities: BTreeSet<_> = entities.into_iter().take(Self::LIMIT + 1).collect();
        (entities.len() <= Self::LIMIT).then_some(Self::Entities(entities))
    }

    /// Whether this entity could perceive it; `None` if the world does not list the members of the channel.
    #[must_use]
    pub fn includes(&self, entity: &EntityId) -> Option<bool> {
        match self {
            Self::Public => Some(true),
            Self::Channel(_) => None,
            Self::Entities(entities) => Some(entities.contains(entity)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entities(count: usize) -> impl Iterator<Item = EntityId> {
        (0..count).map(|number| EntityId::try_new(format!("player:{number:04}")).unwrap())
    }

    #[test]
    fn an_audience_is_listed_completely_or_not_at_all() {
        let full = Audience::of(entities(Audience::LIMIT)).unwrap();
        assert!(entities(Audience::LIMIT).all(|one| full.includes(&one) == Some(true)));
        assert_eq!(Audience::of(entities(Audience::LIMIT + 1)), None);
    }

    #[test]
    fn an_audience_has_one_form_in_json() {
        let channel = Audience::Channel(ChannelId::try_new("guild").unwrap());
        for (audience, json) in [
            (Some(Audience::Public), r#""public""#),
            (Some(channel), r#"{"channel":"guild"}"#),
            (
                Audience::of(entities(2)),
                r#"{"entities":["player:0000","player:0001"]}"#,
            ),
        ] {
            let audience = audience.unwrap();
            assert_eq!(serde_json::to_string(&audience).unwrap(), json);
            assert_eq!(serde_json::from_str::<Audience>(json).unwrap(), audience);
        }
    }
}
