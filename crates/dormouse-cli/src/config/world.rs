//! Settings that name something this world does not have: channels, names and senders.

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::EntityId;
use dormouse_sandbox::{CHANNELS, check_name};
use serde::{Deserialize, Deserializer, de::Error};

/// Reads `[classify]`. The assistant would never hear a channel that the world does not have.
pub(super) fn classify<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ClassifyConfig, D::Error> {
    let config = ClassifyConfig::deserialize(deserializer)?;
    let mut names = config.channels.keys().map(|channel| channel.as_str());
    match names.find(|name| !CHANNELS.contains(name)) {
        None => Ok(config),
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

/// A warning for each id in `[classify]` that no character in this world can have.
pub(crate) fn unmatched(config: &ClassifyConfig) -> Vec<String> {
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
