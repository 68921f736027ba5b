//! The operator's settings for classification and trust.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{ChannelId, EntityId, Trust};
use serde::{Deserialize, Serialize};

/// The operator's settings for classification. Deserialisation checks ids and trust scores and rejects unknown fields,
/// so every value of this type is valid.
///
/// The field names are those of the configuration file. A missing field has its default.
///
/// ```
/// # use dormouse_classify::{ClassifyConfig, RoomPolicy};
/// let config = ClassifyConfig { rooms: RoomPolicy::Ignore, ..ClassifyConfig::default() };
/// assert!(config.interaction_enabled && config.channels.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassifyConfig {
    /// Whether the assistant perceives messages at all. Default: true.
    pub interaction_enabled: bool,
    /// Whether a message addressed to the assistant (rule 2) triggers it. Default: true.
    pub enable_addressing: bool,
    /// Senders who trigger the assistant from any source (rule 5), by the id that their world attests. Default: none.
    pub trigger_permissions: BTreeSet<EntityId>,
    /// The action for each channel (rule 6). A channel without an entry is ignored. Default: none.
    pub channels: BTreeMap<ChannelId, ChannelConfig>,
    /// The action for speech in rooms (rule 6). Default: keep it as context.
    pub rooms: RoomPolicy,
    /// Trust scores of individual senders. An entry replaces the trust of the source. Default: none.
    pub trust_overrides: BTreeMap<EntityId, Trust>,
}

impl Default for ClassifyConfig {
    fn default() -> Self {
        Self {
            interaction_enabled: true,
            enable_addressing: true,
            trigger_permissions: BTreeSet::new(),
            channels: BTreeMap::new(),
            rooms: RoomPolicy::default(),
            trust_overrides: BTreeMap::new(),
        }
    }
}

/// The action for a message on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelAction {
    /// The message asks for an answer.
    Trigger,
    /// The message is kept for the next prompt.
    Context,
    /// The message is dropped.
    Ignore,
}

/// The operator's settings for one channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    action: ChannelAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trust: Option<Trust>,
}

impl ChannelConfig {
    /// A channel with this action and the default trust of channels, 0.6.
    #[must_use]
    pub const fn new(action: ChannelAction) -> Self {
        Self {
            action,
            trust: None,
        }
    }

    /// The same channel with its own trust score.
    #[must_use]
    pub const fn with_trust(self, trust: Trust) -> Self {
        Self {
            trust: Some(trust),
            ..self
        }
    }

    /// The action for the channel's messages.
    #[must_use]
    pub const fn action(&self) -> ChannelAction {
        self.action
    }

    /// The channel's own trust score, if the operator set one.
    #[must_use]
    pub const fn trust(&self) -> Option<Trust> {
        self.trust
    }
}

/// The action for a message in a room (say, pose or emit) that is not addressed to the assistant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomPolicy {
    /// The message is kept for the next prompt (rule 6).
    #[default]
    Context,
    /// Rule 6 does not apply to rooms; rule 7 drops the message.
    Ignore,
    /// The message asks for an answer (rule 6).
    Trigger,
}

#[cfg(test)]
mod tests;
