//! What the game attests, as something that is perceived.

use std::collections::BTreeSet;

use dormouse_bridge::Report;
use dormouse_contracts::{
    Audience, ChannelId, EffectKey, EntityId, Movement, Sender, SourceKind, Timestamp, Words,
};
use dormouse_text::beginning_bytes;
use serde::Deserialize;

use crate::{
    frame::FeedPosition,
    room::{GameEntity, GameRef},
};

/// The game lists at most this many who heard something, so a list of this length may be incomplete.
const AUDIENCE_LISTED: usize = 100;

/// One entry of a resident's feed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct GameEvent {
    pub(crate) seq: u64,
    pub(crate) at: f64,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    /// What the game itself calls it.
    #[serde(default, rename = "type")]
    pub(crate) game_type: Option<String>,
    #[serde(default)]
    pub(crate) from: Vec<GameEntity>,
    #[serde(default, rename = "self")]
    pub(crate) is_own: bool,
    /// Whose input was running.
    #[serde(default)]
    pub(crate) cause: Option<GameEntity>,
    /// The act of the resident that it results from.
    #[serde(default)]
    pub(crate) act: Option<String>,
    pub(crate) plain: String,
    /// The sender's words alone.
    #[serde(default)]
    pub(crate) own: Option<String>,
    #[serde(default)]
    pub(crate) room: Option<GameRef>,
    #[serde(default)]
    pub(crate) audience: Vec<GameEntity>,
    #[serde(default)]
    pub(crate) addressed: bool,
    #[serde(default)]
    pub(crate) channel: Option<GameRef>,
}

/// Whose feed it is.
#[derive(Clone, Debug)]
pub(crate) struct Listener<'a> {
    /// The resident in the game.
    pub(crate) you: &'a GameEntity,
    /// The id under which it perceives.
    pub(crate) character: &'a EntityId,
    /// What its acts' keys begin with in the game.
    pub(crate) acts: &'a str,
}

impl Listener<'_> {
    /// The id of an entity as this listener names it.
    fn id_of(&self, entity: &GameEntity) -> Option<EntityId> {
        if entity.is(self.you) {
            return Some(self.character.clone());
        }
        entity.person().ok()
    }
}

impl GameEvent {
    /// The place of the entry in the feed of this life.
    pub(crate) fn position(&self, life: &str) -> FeedPosition {
        FeedPosition {
            life: life.to_owned(),
            seq: self.seq,
            at: self.at,
        }
    }

    /// What the resident perceives; `None` if there are no words.
    ///
    /// Every fact is one that the game attests. The text decides nothing.
    pub(crate) fn report(&self, listener: &Listener<'_>) -> Option<Report> {
        let source = self.source(listener.you)?;
        let cause = self.act.as_deref().and_then(|act| {
            let key = act.strip_prefix(listener.acts)?;
            EffectKey::try_new(key).ok()
        });
        let movement = match self.kind.as_deref() {
            Some("arrive" | "connect") => Some(Movement::Arrival),
            Some("leave" | "disconnect") => Some(Movement::Departure),
            _ => None,
        };
        // Of speech, only the sender's own words count: the rest of the line is the game's.
        let is_speech = matches!(
            source,
            SourceKind::Say
                | SourceKind::Addressed
                | SourceKind::Whisper
                | SourceKind::Page
                | SourceKind::Channel(_)
        );
        let text = match &self.own {
            Some(own) if is_speech && !own.trim().is_empty() => own,
            _ => &self.plain,
        };
        let sender = self.sender(listener, &source, cause.is_some());
        let at = timestamp(self.at);
        Some(Report {
            place: self.room.as_ref().and_then(|room| room.place().ok()),
            audience: self.audience(listener, &source, &sender),
            cause,
            movement,
            ..Report::new(source, sender, at, words(text)?)
        })
    }

    fn source(&self, you: &GameEntity) -> Option<SourceKind> {
        let aloud = |kind| match self.addressed {
            true => SourceKind::Addressed,
            false => kind,
        };
        Some(match self.kind.as_deref() {
            Some("whisper") => SourceKind::Whisper,
            Some("page") => SourceKind::Page,
            Some("say") => aloud(SourceKind::Say),
            Some("pose") => aloud(SourceKind::Pose),
            Some("channel") => {
                let channel = self.channel.as_ref()?;
                let name = ChannelId::try_new(channel.key.to_lowercase());
                // A name that is too long for an id.
                let id = || ChannelId::try_new(format!("channel:{}", channel.id));
                SourceKind::Channel(name.or_else(|_| id()).ok()?)
            }
            Some("arrive" | "leave" | "move" | "connect" | "disconnect") => SourceKind::Movement,
            _ if self.is_output(you) => SourceKind::CommandOutput,
            // The act of somebody, in words of the game.
            _ if !self.from.is_empty() => SourceKind::Pose,
            _ => SourceKind::Emit,
        })
    }

    /// Whether it is what a command of the resident printed.
    fn is_output(&self, you: &GameEntity) -> bool {
        let is_mine = self.cause.as_ref().is_some_and(|cause| cause.is(you));
        // The game also describes a room to a character that is put there.
        let is_printed = matches!(
            self.game_type.as_deref(),
            Some("look" | "inventory" | "help" | "examine")
        );
        let is_for_it = is_mine || self.act.is_some() || (is_printed && self.cause.is_none());
        self.is_own || (self.from.is_empty() && is_for_it)
    }

    fn sender(&self, listener: &Listener<'_>, source: &SourceKind, is_act: bool) -> Sender {
        if self.is_own {
            // Words that somebody else put into its mouth, or that a person typed for it, are not its own message.
            let marked = is_act && *source != SourceKind::CommandOutput;
            return Sender::Myself { marked };
        }
        let [from] = &*self.from else {
            return Sender::Unattributed;
        };
        let Some(id) = listener.id_of(from) else {
            return Sender::Unattributed;
        };
        let name = from.name().to_owned();
        match from.resident {
            true => Sender::Assistant { id, name },
            false => Sender::Entity { id, name },
        }
    }

    fn audience(
        &self,
        listener: &Listener<'_>,
        source: &SourceKind,
        sender: &Sender,
    ) -> Option<Audience> {
        let is_listed = !self.audience.is_empty() && self.audience.len() < AUDIENCE_LISTED;
        let listed = match is_listed {
            true => {
                let ids = self.audience.iter().map(|one| listener.id_of(one));
                let ids: Option<BTreeSet<_>> = ids.collect();
                Audience::of(ids?)
            }
            false => None,
        };
        let known = match (listed, source) {
            // Those who are offline read a channel later.
            (Some(listed), SourceKind::Channel(channel)) => {
                Some(listed.union(&Audience::Channel(channel.clone())))
            }
            (None, SourceKind::Channel(channel)) => Some(Audience::Channel(channel.clone())),
            (None, SourceKind::CommandOutput) => Some(Audience::nobody()),
            (listed, _) => listed,
        };
        let known = known?.with(listener.character.clone());
        Some(match sender.id() {
            Some(id) => known.with(id.clone()),
            None => known,
        })
    }
}

/// A time in seconds, as the game writes it.
pub(crate) fn timestamp(seconds: f64) -> Timestamp {
    // Numbers that are no time become the nearest one that is.
    #[expect(clippy::cast_possible_truncation, reason = "saturates, which is meant")]
    let micros = (seconds * 1e6) as i64;
    Timestamp::from_micros(micros.max(0))
}

/// As many of these words as a message may have; `None` for a text without words.
pub(crate) fn words(text: &str) -> Option<Words> {
    Words::try_new(beginning_bytes(text, Words::LIMIT)).ok()
}

#[cfg(test)]
mod tests;
