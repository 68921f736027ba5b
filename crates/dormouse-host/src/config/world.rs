//! Settings that name something in a world: channels, places, and characters.

use dormouse_contracts::{ChannelId, EntityId, Landmarks, PlaceId};
use dormouse_engine::Privacy;
use serde::{Deserialize, Deserializer, de::Error};

use super::{memory::MemorySection, section::section, sections::ClassifySection, words};

section! {
    /// `[world]`: where the assistants of the folder live.
    pub struct WorldSection {
        /// "sandbox": in the rooms of this program; "evennia": in the game of `[evennia]`, see evennia.md; "http": in a world of your own that speaks HTTP with `dormouse serve`, see rest-api.md
        #[schemars(schema_with = "words::world_kind", extend("default" = "sandbox"))]
        kind: WorldKind = WorldKind::Sandbox,
    }
}

/// The world of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorldKind {
    /// The rooms of this program.
    Sandbox,
    /// A world outside of this process.
    Http,
    /// A game of Evennia.
    Evennia,
}

/// The longest name of a character, in characters. A world may allow fewer.
const LONGEST_NAME: usize = 200;

/// Reads the name of a character. Whether its world allows the name is checked with the world.
pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let is_blank = name.trim().is_empty();
    if is_blank || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(Error::custom(format_args!(
            "expected 1 to {LONGEST_NAME} characters in one line, not only spaces"
        )));
    }
    Ok(Some(name))
}

/// Each id that does not exist in this world, with the setting that names it: channels and characters in `[classify]`, public
/// channels and places in `[memory]`.
pub(super) fn unmatched(
    classify: &ClassifySection,
    memory: &MemorySection,
    world: &Landmarks,
) -> Vec<(&'static str, String)> {
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

fn missing(setting: &'static str, id: &str, kind: &str, known: &[&str]) -> (&'static str, String) {
    let known = known.join(", ");
    let problem =
        format!("{setting} names {id:?}, which the world does not have; its {kind}: {known}");
    (setting, problem)
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

fn unmatched_characters(
    config: &ClassifySection,
    world: &Landmarks,
) -> Vec<(&'static str, String)> {
    let Some(check) = world.check_character else {
        return Vec::new();
    };
    let permitted = config.trigger_permissions.iter();
    let permitted = permitted.map(|id| ("classify.trigger_permissions", id));
    let trusted = config.trust_overrides.keys();
    let trusted = trusted.map(|id| ("classify.trust_overrides", id));
    let warning = |(setting, id): (&'static str, &EntityId)| {
        let why = check(id).err()?.reason;
        let id = id.as_str();
        let problem = format!("{setting} names {id:?}, which matches nobody: {why}");
        Some((setting, problem))
    };
    permitted.chain(trusted).filter_map(warning).collect()
}
