//! Builds perceptions in one line of code.

use std::time::Duration;

use dormouse_contracts::{
    Attested, Audience, ChannelId, Delivery, EffectKey, EntityId, Movement, Perception, Place,
    PlaceId, Sender, SourceKind, Timestamp, Words, WorldId,
};

/// Builds a [`Perception`] from what matters to a test.
///
/// By default it is delivery 1 of the world `"fake"`, from an entity with the id `"player:"` plus its name, at noon on
/// 2026-01-01 UTC plus one second per delivery number.
///
/// ```
/// use dormouse_contracts::SourceKind;
/// use dormouse_testing::Perceive;
///
/// let heard = Perceive::whisper("Alice", "Are you awake?").number(4).build();
/// assert_eq!(heard.attested.source, SourceKind::Whisper);
/// assert_eq!(heard.attested.sender.name(), "Alice");
/// assert_eq!(heard.attested.delivery.number, 4);
/// ```
///
/// # Panics
///
/// On an invalid identifier or message, such as an empty one. To test those, call the constructors of
/// `dormouse-contracts`.
#[derive(Clone, Debug)]
#[must_use]
pub struct Perceive {
    world: WorldId,
    number: u64,
    source: SourceKind,
    sender: Sender,
    place: Option<Place>,
    audience: Option<Audience>,
    cause: Option<EffectKey>,
    reply_to: Option<u64>,
    movement: Option<Movement>,
    at: Option<Timestamp>,
    words: Words,
}

/// 2026-01-01T12:00:00Z.
const NOON: Timestamp = Timestamp::from_micros(1_767_268_800_000_000);

impl Perceive {
    /// `name` says `text` aloud to everyone in the room.
    #[track_caller]
    pub fn say(name: &str, text: &str) -> Self {
        Self::new(SourceKind::Say, entity(name), text)
    }

    /// `name` whispers `text` to the assistant.
    #[track_caller]
    pub fn whisper(name: &str, text: &str) -> Self {
        Self::new(SourceKind::Whisper, entity(name), text)
    }

    /// `name` says `text` aloud, directed at the assistant by the server's routing.
    #[track_caller]
    pub fn addressed(name: &str, text: &str) -> Self {
        Self::new(SourceKind::Addressed, entity(name), text)
    }

    /// `name` pages `text` to the assistant from anywhere.
    #[track_caller]
    pub fn page(name: &str, text: &str) -> Self {
        Self::new(SourceKind::Page, entity(name), text)
    }

    /// `name` says `text` on `channel`.
    #[track_caller]
    pub fn channel(name: &str, channel: &str, text: &str) -> Self {
        let channel = ChannelId::try_new(channel).unwrap();
        Self::new(SourceKind::Channel(channel), entity(name), text)
    }

    /// `name` performs the action that `text` describes.
    #[track_caller]
    pub fn pose(name: &str, text: &str) -> Self {
        Self::new(SourceKind::Pose, entity(name), text)
    }

    /// `name` arrives or leaves, which the world describes as `text`.
    #[track_caller]
    pub fn movement(name: &str, text: &str) -> Self {
        Self::new(SourceKind::Movement, entity(name), text)
    }

    /// `text` appears in the room, and the server names no author.
    #[track_caller]
    pub fn emit(text: &str) -> Self {
        Self::new(SourceKind::Emit, Sender::Unattributed, text)
    }

    /// The assistant's own command printed `text`.
    #[track_caller]
    pub fn command_output(text: &str) -> Self {
        Self::new(
            SourceKind::CommandOutput,
            Sender::Myself { marked: false },
            text,
        )
    }

    /// Makes the sender another assistant with the same id and name. A sender without a name becomes `"somebody"`.
    #[track_caller]
    pub fn from_assistant(mut self) -> Self {
        self.sender = match self.sender {
            Sender::Entity { id, name } | Sender::Assistant { id, name } => {
                Sender::Assistant { id, name }
            }
            _ => Sender::Assistant {
                id: entity_id("somebody"),
                name: "somebody".to_owned(),
            },
        };
        self
    }

    /// Makes the sender the perceiving assistant itself, marked as such by the server.
    pub fn myself(mut self) -> Self {
        self.sender = Sender::Myself { marked: true };
        self
    }

    /// Replaces the sender.
    pub fn sender(mut self, sender: Sender) -> Self {
        self.sender = sender;
        self
    }

    /// Sets the delivery number.
    pub fn number(mut self, number: u64) -> Self {
        self.number = number;
        self
    }

    /// Sets the world that delivers it.
    #[track_caller]
    pub fn world(mut self, world: &str) -> Self {
        self.world = WorldId::try_new(world).unwrap();
        self
    }

    /// Sets the room in which it happened. The name is also the room's id.
    #[track_caller]
    pub fn in_room(mut self, room: &str) -> Self {
        self.place = Some(Place {
            id: PlaceId::try_new(room).unwrap(),
            name: room.to_owned(),
        });
        self
    }

    /// Lets the world attest which movement it is, such as an arrival.
    pub fn moving(mut self, movement: Movement) -> Self {
        self.movement = Some(movement);
        self
    }

    /// Sets who could perceive it.
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = Some(audience);
        self
    }

    /// Marks it as a result of the perceiving assistant's effect with this key.
    #[track_caller]
    pub fn caused_by(mut self, key: &str) -> Self {
        self.cause = Some(EffectKey::try_new(key).unwrap());
        self
    }

    /// Marks it as a reply to the earlier delivery with this number.
    pub fn reply_to(mut self, number: u64) -> Self {
        self.reply_to = Some(number);
        self
    }

    /// Sets the time at which the world saw it.
    pub fn at(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// Whether the sender is the perceiving assistant itself.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.sender, Sender::Myself { .. })
    }

    /// The perception.
    #[must_use]
    pub fn build(self) -> Perception {
        let delivery = |number| Delivery {
            world: self.world.clone(),
            number,
        };
        let at = self.at;
        let at = at.unwrap_or_else(|| NOON.plus(Duration::from_secs(self.number)));
        Perception {
            attested: Attested {
                place: self.place,
                audience: self.audience,
                cause: self.cause,
                reply_to: self.reply_to.map(delivery),
                movement: self.movement,
                ..Attested::new(delivery(self.number), self.source, self.sender, at)
            },
            words: self.words,
        }
    }

    #[track_caller]
    fn new(source: SourceKind, sender: Sender, text: &str) -> Self {
        Self {
            world: WorldId::try_new("fake").unwrap(),
            number: 1,
            source,
            sender,
            place: None,
            audience: None,
            cause: None,
            reply_to: None,
            movement: None,
            at: None,
            words: Words::try_new(text).unwrap(),
        }
    }
}

impl From<Perceive> for Perception {
    fn from(perceive: Perceive) -> Perception {
        perceive.build()
    }
}

#[track_caller]
fn entity(name: &str) -> Sender {
    Sender::Entity {
        id: entity_id(name),
        name: name.to_owned(),
    }
}

#[track_caller]
fn entity_id(name: &str) -> EntityId {
    EntityId::try_new(format!("player:{name}")).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_fields_have_sensible_defaults() {
        let heard = Perceive::say("Alice", "Hello!").number(3).build();
        assert_eq!(heard.attested.delivery.world.as_str(), "fake");
        assert_eq!(heard.attested.at.to_string(), "2026-01-01T12:00:03Z");
        assert_eq!(
            heard.attested.sender.id().map(EntityId::as_str),
            Some("player:Alice")
        );
        assert_eq!(heard.words.as_claimed(), "Hello!");
    }

    #[test]
    fn the_sender_can_be_turned_into_an_assistant_or_the_listener() {
        let other = Perceive::pose("Bob", "waves.").from_assistant().build();
        let expected = Sender::Assistant {
            id: entity_id("Bob"),
            name: "Bob".to_owned(),
        };
        assert_eq!(other.attested.sender, expected);
        let own = Perceive::say("Bob", "Hm.").myself().build();
        assert_eq!(own.attested.sender, Sender::Myself { marked: true });
        let output = Perceive::command_output("You wave.").build();
        assert_eq!(output.attested.sender, Sender::Myself { marked: false });
    }
}
