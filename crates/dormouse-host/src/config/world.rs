//! Settings that name something in a world: channels, places, and characters.

use dormouse_contracts::{ChannelId, EntityId, Landmarks, PlaceId};
use dormouse_engine::Privacy;
use dormouse_sandbox::check_name;
use serde::{Deserialize, Deserializer, de::Error};

use super::{memory::MemorySection, sections::ClassifySection};

/// Reads the name of a character.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    check_name(&name).map_err(Error::custom)?;
    Ok(Some(name))
}

/// A warning for each id that does not exist in this world: channels and characters in `[classify]`, public channels
/// and places in `[memory]`.
#[must_use]
pub fn unmatched(
    classify: &ClassifySection,
    memory: &MemorySection,
    world: &Landmarks,
) -> Vec<String> {
    let mut warnings = unmatched_characters(classify, world);
    if let Some(known) = &world.channels {
        let is_known = |id: &ChannelId| known.contains(id);
        let known: Vec<_> = known.iter().map(ChannelId::as_str).collect();
        let heard = classify.channels.keys();
        let heard = heard.map(|id| ("classify.channels", id));
        let public = memory.public_channels.iter();
        let public = public.map(|id| ("memory.public_channels", id));
        let unknown = heard.chain(public).filter(|(_, id)| !is_known(id));
        warnings
            .extend(unknown.map(|(setting, id)| missing(setting, id.as_str(), "channels", &known)));
    }
    if let Some(known) = &world.places {
        let is_known = |id: &PlaceId| known.iter().any(|place| place.id == *id);
        let known: Vec<_> = known.iter().map(|place| place.id.as_str()).collect();
        let unknown = memory.public_places.iter().filter(|id| !is_known(id));
        warnings.extend(
            unknown.map(|id| missing("memory.public_places", id.as_str(), "places", &known)),
        );
    }
    warnings
}

fn missing(setting: &str, id: &str, kind: &str, known: &[&str]) -> String {
    let known = known.join(", ");
    format!("{setting} names {id:?}, which the world does not have; its {kind}: {known}")
}

/// One line that says what is private and what is public.
#[must_use]
pub fn privacy(memory: &MemorySection, world: &Landmarks) -> String {
    if memory.privacy == Privacy::Shared {
        return "privacy: shared; everything may be told to everybody".to_owned();
    }
    let channels = memory.public_channels.iter();
    let channels = channels.map(|id| format!("channel {id}"));
    let places = memory.public_places.iter().map(|id| {
        let mut known = world.places.iter().flatten();
        let place = known.find(|place| place.id == *id);
        format!("place {}", place.map_or(id.as_str(), |place| &place.name))
    });
    let public: Vec<_> = channels.chain(places).collect();
    match public.is_empty() {
        true => "privacy: kept; no channel or place is public".to_owned(),
        false => format!("privacy: kept; public: {}", public.join(", ")),
    }
}

fn unmatched_characters(config: &ClassifySection, world: &Landmarks) -> Vec<String> {
    let Some(check) = world.check_character else {
        return Vec::new();
    };
    let permitted = config.trigger_permissions.iter();
    let permitted = permitted.map(|id| ("trigger_permissions", id));
    let trusted = config.trust_overrides.keys();
    let trusted = trusted.map(|id| ("trust_overrides", id));
    let warning = |(setting, id): (&str, &EntityId)| {
        let why = check(id).err()?.reason;
        let id = id.as_str();
        Some(format!(
            "classify.{setting} names {id:?}, which matches nobody: {why}"
        ))
    };
    permitted.chain(trusted).filter_map(warning).collect()
}
