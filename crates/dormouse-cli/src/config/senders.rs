//! Senders whom the configuration names and nobody in this world can be.

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::EntityId;

/// What is to be said about the ids in `[classify]`, one sentence for each that matches nobody.
pub(crate) fn unmatched(config: &ClassifyConfig) -> Vec<String> {
    let permitted = config.trigger_permissions.iter();
    let permitted = permitted.map(|id| ("trigger_permissions", id));
    let trusted = config.trust_overrides.keys();
    let trusted = trusted.map(|id| ("trust_overrides", id));
    let all = permitted.chain(trusted).filter(|(_, id)| !is_possible(id));
    all.map(|(field, id)| told(field, id)).collect()
}

/// Whether somebody in this world can have the id. Players have their name in lower case, so that it is one player's.
fn is_possible(id: &EntityId) -> bool {
    match id.as_str().split_once(':') {
        Some(("player", name)) => !name.is_empty() && name == name.to_lowercase(),
        Some(("assistant", key)) => !key.is_empty(),
        Some(_) | None => false,
    }
}

fn told(field: &str, id: &EntityId) -> String {
    let id = id.as_str();
    let name = id.strip_prefix("player:").unwrap_or(id);
    format!(
        "classify.{field} names {id:?}, which matches nobody: a player has the id \"player:{}\"",
        name.to_lowercase()
    )
}
