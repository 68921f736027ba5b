//! Settings that name something this world does not have: channels, names and senders.

use std::collections::BTreeMap;

use dormouse_classify::ChannelConfig;
use dormouse_contracts::{ChannelId, EntityId};
use dormouse_engine::Privacy;
use dormouse_sandbox::{CHANNELS, ROOMS, check_name};
use serde::{Deserialize, Deserializer, de::Error};

use super::{memory::MemorySection, sections::ClassifySection};

/// Reads the actions for channels. The assistant would never hear a channel that the world does not have.
pub(super) fn channels<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<ChannelId, ChannelConfig>, D::Error> {
    let channels = BTreeMap::<ChannelId, ChannelConfig>::deserialize(deserializer)?;
    let mut names = channels.keys().map(ChannelId::as_str);
    match names.find(|name| !CHANNELS.contains(name)) {
        None => Ok(channels),
        Some(name) => Err(Error::custom(format_args!(
            "the world has no channel {name:?}; expected {}",
            CHANNELS.join(" or ")
        ))),
    }
}

/// Reads the name of a character.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    check_name(&name).map_err(Error::custom)?;
    Ok(Some(name))
}

/// A warning for each id that nobody and nothing in this world can have: characters in `[classify]`, public channels and
/// places in `[memory]`.
pub fn unmatched(classify: &ClassifySection, memory: &MemorySection) -> Vec<String> {
    let mut warnings = unmatched_characters(classify);
    let channels = memory.public_channels.iter().map(|id| id.as_str());
    let channels = channels.filter(|id| !CHANNELS.contains(id));
    warnings.extend(channels.map(|id| {
        let known = CHANNELS.join(", ");
        format!("memory.public_channels names {id:?}, which the world does not have; its channels: {known}")
    }));
    let rooms = || ROOMS.iter().map(|room| room.key);
    let places = memory.public_places.iter().map(|id| id.as_str());
    let places = places.filter(|id| !rooms().any(|room| room == *id));
    warnings.extend(places.map(|id| {
        let known: Vec<_> = rooms().collect();
        let known = known.join(", ");
        format!(
            "memory.public_places names {id:?}, which the world does not have; its places: {known}"
        )
    }));
    warnings
}

/// In one line, what is kept private and what is public.
pub fn privacy(memory: &MemorySection) -> String {
    if memory.privacy == Privacy::Shared {
        return "privacy: shared; everything may be told to everybody".to_owned();
    }
    let channels = memory.public_channels.iter();
    let channels = channels.map(|id| format!("channel {id}"));
    let places = memory.public_places.iter().map(|id| {
        let room = ROOMS.iter().find(|room| room.key == id.as_str());
        format!("place {}", room.map_or(id.as_str(), |room| room.name))
    });
    let public: Vec<_> = channels.chain(places).collect();
    match public.is_empty() {
        true => "privacy: kept; no channel or place is public".to_owned(),
        false => format!("privacy: kept; public: {}", public.join(", ")),
    }
}

fn unmatched_characters(config: &ClassifySection) -> Vec<String> {
    let permitted = config.trigger_permissions.iter();
    let permitted = permitted.map(|id| ("trigger_permissions", id));
    let trusted = config.trust_overrides.keys();
    let trusted = trusted.map(|id| ("trust_overrides", id));
    let all = permitted.chain(trusted).filter(|(_, id)| !is_possible(id));
    all.map(|(field, id)| warning(field, id)).collect()
}

/// Whether a character in this world can have the id. The id of a player has the name in lower case.
fn is_possible(id: &EntityId) -> bool {
    match id.as_str().split_once(':') {
        Some(("player", name)) => !name.is_empty() && name == name.to_lowercase(),
        Some(("assistant", key)) => !key.is_empty(),
        Some(_) | None => false,
    }
}

fn warning(field: &str, id: &EntityId) -> String {
    let id = id.as_str();
    let name = id.strip_prefix("player:").unwrap_or(id);
    format!(
        "classify.{field} names {id:?}, which matches nobody: a player has the id \"player:{}\"",
        name.to_lowercase()
    )
}
