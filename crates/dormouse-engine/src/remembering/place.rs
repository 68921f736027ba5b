//! Stable names for the places where something was said.

use dormouse_contracts::{Attested, EntityId, SourceKind, WorldId};
use sha2::{Digest, Sha256};

/// The longest name of a place that is kept unchanged, in bytes.
const LIMIT: usize = 256;

/// The conversation that a message belongs to: a channel, a private conversation of two, or everything said around the
/// assistant. Worlds do not say in which room something was said.
pub(super) fn heard_in(attested: &Attested) -> String {
    let world = &attested.delivery.world;
    match &attested.source {
        SourceKind::Channel(channel) => on_channel(world, channel.as_str()),
        SourceKind::Whisper | SourceKind::Page => match attested.sender.id() {
            Some(id) => with(world, id),
            None => around(world),
        },
        _ => around(world),
    }
}

/// The name of the private conversation with somebody.
pub(super) fn with(world: &WorldId, who: &EntityId) -> String {
    bounded(format!("{world}/with/{who}"))
}

/// The name of the conversation on a channel.
pub(super) fn on_channel(world: &WorldId, channel: &str) -> String {
    bounded(format!("{world}/channel/{channel}"))
}

/// The name of everything that is said around the assistant.
pub(super) fn around(world: &WorldId) -> String {
    format!("{world}/around")
}

/// Replaces a long name by its hash. Only unusual worlds have such names.
fn bounded(name: String) -> String {
    if name.len() <= LIMIT {
        return name;
    }
    let digest = Sha256::digest(name.as_bytes());
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("place/{hash}")
}
