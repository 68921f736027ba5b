//! What the operator decides about classification and trust.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{ChannelId, EntityId, Trust};
use serde::{Deserialize, Serialize};

/// The operator's side of classification. Every value of this type makes sense: ids and trust scores are
/// checked when they are made, also on deserialisation, and unknown fields are refused.
///
/// The field names are those of the configuration file; a field that is not given has its default.
///
/// ```
/// # use dormouse_classify::{ClassifyConfig, RoomPolicy};
/// let config = ClassifyConfig { rooms: RoomPolicy::Ignore, ..ClassifyConfig::default() };
/// assert!(config.interaction_enabled && config.channels.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassifyConfig {
    /// Whether the assistant perceives anything at all. Default: true.
    pub interaction_enabled: bool,
    /// Whether being addressed (rule 2) triggers. Default: true.
    pub enable_addressing: bool,
    /// Senders who trigger from any source (rule 5), by the id their world attests. Default: none.
    pub trigger_permissions: BTreeSet<EntityId>,
    /// What is done with channels (rule 6). A channel that is not listed is ignored. Default: none.
    pub channels: BTreeMap<ChannelId, ChannelConfig>,
    /// What is done with what is said aloud in rooms (rule 6). Default: kept as context.
    pub rooms: RoomPolicy,
    /// Trust in single senders, replacing that of the source, whichever it is. Default: none.
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

/// What is done with a message on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelAction {
    /// It asks for an answer.
    Trigger,
    /// It is kept for the next prompt.
    Context,
    /// It is dropped.
    Ignore,
}

/// What the operator decides about one channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    action: ChannelAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trust: Option<Trust>,
}

impl ChannelConfig {
    /// A channel with this action and the trust of any channel, 0.6.
    #[must_use]
    pub const fn new(action: ChannelAction) -> Self {
        Self {
            action,
            trust: None,
        }
    }

    /// The same with its own trust.
    #[must_use]
    pub const fn with_trust(self, trust: Trust) -> Self {
        Self {
            trust: Some(trust),
            ..self
        }
    }

    /// What is done with its messages.
    #[must_use]
    pub const fn action(&self) -> ChannelAction {
        self.action
    }

    /// Its own trust, if the operator gave it one.
    #[must_use]
    pub const fn trust(&self) -> Option<Trust> {
        self.trust
    }
}

/// What is done with what is said, acted or emitted in a room and not addressed to the assistant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomPolicy {
    /// It is kept for the next prompt (rule 6).
    #[default]
    Context,
    /// Rule 6 speaks of channels only, so that it falls to rule 7 and is dropped.
    Ignore,
    /// It asks for an answer (rule 6).
    Trigger,
}

#[cfg(test)]
mod tests;
