//! Where something was said, as a name that stays the same.

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

/// What is said in private with somebody.
pub(super) fn with(world: &WorldId, who: &EntityId) -> String {
    bounded(format!("{world}/with/{who}"))
}

/// What is said on a channel.
pub(super) fn on_channel(world: &WorldId, channel: &str) -> String {
    bounded(format!("{world}/channel/{channel}"))
}

/// What is said around the assistant.
pub(super) fn around(world: &WorldId) -> String {
    format!("{world}/around")
}

/// The hash of a long name; only an unusual world has long names.
fn bounded(name: String) -> String {
    if name.len() <= LIMIT {
        return name;
    }
    let digest = Sha256::digest(name.as_bytes());
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("place/{hash}")
}
