//! What an operator decides about the parts of prompts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    component::{Block, COMPONENTS, Component, block_of, followed_by},
    placeholders::{Placeholder, UnknownPlaceholder, check_placeholders},
};

/// The most characters of a text of the operator's own.
const LONGEST: usize = 16_384;
/// The most parts of the operator's own.
const MOST: usize = 32;
/// The name of the template that is the configured persona.
const DEFAULT_TEMPLATE: &str = "default";

/// The order of the parts between the system message and the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PartOrder {
    /// An order of the program.
    Preset(OrderPreset),
    /// These keys in this order, and then the others in the stable order.
    Own(Vec<String>),
}

/// An order of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderPreset {
    /// What changes least comes first, so that caches of prompts hit.
    Stable,
    /// By number.
    Documented,
}

/// What an operator decides about one part, or a part of the operator's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentConfig {
    /// Whether it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The most tokens that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// The number of a part of the operator's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u16>,
    /// The text of a part of the operator's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl ComponentConfig {
    /// Whether a part of the operator's own can be put before or behind others.
    #[must_use]
    pub fn is_movable(&self) -> bool {
        self.id.is_some_and(|id| block_of(id) == Block::Middle)
    }
}

/// What an operator decides about the parts of prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptConfig {
    /// Their order.
    pub order: PartOrder,
    /// Deviations from the table of parts, and the operator's own parts, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, ComponentConfig>,
    /// Texts that can replace the persona, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, String>,
    /// The name of the text that does; `default` is the persona.
    pub template: String,
    /// How to act, for a model that calls tools natively; the program's own text if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// The same for a model that writes its calls as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl Default for PromptConfig {
    fn default() -> Self {
        Self {
            order: PartOrder::Preset(OrderPreset::Stable),
            components: BTreeMap::new(),
            templates: BTreeMap::new(),
            template: DEFAULT_TEMPLATE.to_owned(),
            native: None,
            fallback: None,
        }
    }
}

/// The configuration of the parts of prompts is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptConfigError {
    /// A part that every prompt needs is switched off.
    #[error("prompt.components.{0}.enabled is false; no prompt can be read or answered without it")]
    Needed(&'static str),
    /// A part of the program is given a number or a text.
    #[error("prompt.components.{0} is a part of the program; only enabled and budget can be set")]
    NotOwn(&'static str),
    /// The program decides the length of this part.
    #[error(
        "prompt.components.{0}.budget cannot be set; the part is always shown as far as it fits"
    )]
    NoBudget(&'static str),
    /// A part that the program does not have needs a number and a text.
    #[error(
        "prompt.components.{0} is not a part of the program; a part of your own needs id and text"
    )]
    Incomplete(String),
    /// The number of an own part is taken or outside of the free ranges.
    #[error(
        "prompt.components.{key}.id is {id}; expected a free number from 1 to 5999 (0, 1000, 1500, 1600, 2000, 3000, 4000 and 5000 are parts of the program)"
    )]
    Id {
        /// The part.
        key: String,
        /// The number.
        id: u16,
    },
    /// A key of an own part cannot be written in other settings.
    #[error("the key {0:?} is not valid; expected 1 to 64 small letters, digits and _")]
    Key(String),
    /// A text is too long.
    #[error("prompt.{0} has more than {LONGEST} characters")]
    TooLong(String),
    /// Too many parts.
    #[error("prompt.components has more than {MOST} parts of your own")]
    TooMany,
    /// The order names an unknown key, or a key twice.
    #[error(
        "prompt.order names {0:?}; expected each key of a part once, other than of the system's and of the event"
    )]
    Order(String),
    /// The template does not exist.
    #[error("prompt.template is {0:?}; expected default or a name in prompt.templates")]
    NoTemplate(String),
    /// A text has a placeholder that has no value.
    #[error("prompt.{place} has {source}")]
    Placeholder {
        /// The setting.
        place: String,
        /// Which one.
        source: UnknownPlaceholder,
    },
}

/// A part of the operator's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnPart<'a> {
    pub(super) key: &'a str,
    pub(super) id: u16,
    pub(super) text: &'a str,
    pub(super) budget: u32,
}

/// The default of the most tokens of an own part.
const OWN_BUDGET: u32 = 512;

impl PromptConfig {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The parts of the program that are not switched off.
    pub(crate) fn enabled(&self) -> BTreeSet<Component> {
        let is_on = |component: &Component| {
            let config = self.components.get(component.row().key);
            config.is_none_or(|config| config.enabled != Some(false))
        };
        Component::ALL.into_iter().filter(is_on).collect()
    }

    /// The most tokens of a part of the program, if its operator says.
    pub(crate) fn budget(&self, component: Component) -> Option<u32> {
        self.components.get(component.row().key)?.budget
    }

    /// The parts of the operator's own that are not switched off, by number.
    pub(super) fn own(&self) -> Vec<OwnPart<'_>> {
        let parts = self.components.iter().filter_map(|(key, config)| {
            let (id, text) = (config.id?, config.text.as_deref()?);
            (config.enabled != Some(false)).then(|| OwnPart {
                key,
                id,
                text,
                budget: config.budget.unwrap_or(OWN_BUDGET),
            })
        });
        let mut parts: Vec<_> = parts.collect();
        parts.sort_by_key(|part| part.id);
        parts
    }

    /// The text that says who the assistant is.
    pub(super) fn character<'a>(&'a self, persona: &'a str) -> &'a str {
        self.templates.get(&self.template).map_or(persona, |it| it)
    }

    /// The sort key of a part within its block.
    pub(super) fn place(&self, key: &str, id: u16) -> (usize, usize, u16) {
        let base = followed_by(id);
        let stable = base.stable_place().unwrap_or_default();
        match &self.order {
            PartOrder::Preset(OrderPreset::Documented) => (0, 0, id),
            PartOrder::Preset(OrderPreset::Stable) => (0, stable, id),
            PartOrder::Own(keys) => {
                let listed = keys.iter().position(|listed| listed == key);
                (listed.unwrap_or(keys.len()), stable, id)
            }
        }
    }

    /// Checks what the types of the fields alone cannot enforce.
    ///
    /// # Errors
    ///
    /// [`PromptConfigError`] with the first thing that is wrong.
    pub fn check(&self) -> Result<(), PromptConfigError> {
        let mut ids: BTreeSet<u16> = COMPONENTS.iter().map(|row| row.id).collect();
        let own = |key: &&String| Component::of_key(key).is_none();
        if self.components.keys().filter(own).count() > MOST {
            return Err(PromptConfigError::TooMany);
        }
        for (key, config) in &self.components {
            match Component::of_key(key) {
                Some(component) => check_part(component, config)?,
                None => check_own(key, config, &mut ids)?,
            }
        }
        self.check_order()?;
        self.check_texts()
    }

    fn check_order(&self) -> Result<(), PromptConfigError> {
        let PartOrder::Own(keys) = &self.order else {
            return Ok(());
        };
        let mut seen = BTreeSet::new();
        let is_movable = |key: &str| match self.components.get(key).filter(|own| own.id.is_some()) {
            Some(own) => own.is_movable(),
            None => Component::of_key(key).is_some_and(Component::is_movable),
        };
        let wrong = keys
            .iter()
            .find(|key| !seen.insert(*key) || !is_movable(key));
        wrong.map_or(Ok(()), |key| Err(PromptConfigError::Order(key.clone())))
    }

    fn check_texts(&self) -> Result<(), PromptConfigError> {
        if self.template != DEFAULT_TEMPLATE && !self.templates.contains_key(&self.template) {
            return Err(PromptConfigError::NoTemplate(self.template.clone()));
        }
        let templates = self.templates.iter();
        let templates = templates.map(|(name, text)| (format!("templates.{name}"), Some(text)));
        let acting = [("native", &self.native), ("fallback", &self.fallback)];
        let acting = acting.map(|(name, text)| (name.to_owned(), text.as_ref()));
        for (place, text) in templates.chain(acting) {
            let known: &[_] = match place.starts_with("templates.") {
                true => &Placeholder::OF_TEXTS,
                false => &Placeholder::ALL,
            };
            check_text(&place, text.map_or("", |text| text), known)?;
        }
        Ok(())
    }
}

fn check_part(component: Component, config: &ComponentConfig) -> Result<(), PromptConfigError> {
    let key = component.row().key;
    if config.id.is_some() || config.text.is_some() {
        return Err(PromptConfigError::NotOwn(key));
    }
    if config.enabled == Some(false) && component.is_needed() {
        return Err(PromptConfigError::Needed(key));
    }
    if config.budget.is_some() && block_of(component.row().id) != Block::Middle {
        return Err(PromptConfigError::NoBudget(key));
    }
    Ok(())
}

fn check_own(
    key: &str,
    config: &ComponentConfig,
    ids: &mut BTreeSet<u16>,
) -> Result<(), PromptConfigError> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if !(1..=64).contains(&key.len()) || !key.bytes().all(fits) {
        return Err(PromptConfigError::Key(key.to_owned()));
    }
    let (Some(id), Some(text)) = (config.id, &config.text) else {
        return Err(PromptConfigError::Incomplete(key.to_owned()));
    };
    if block_of(id) == Block::Terminal || !ids.insert(id) {
        let key = key.to_owned();
        return Err(PromptConfigError::Id { key, id });
    }
    let place = format!("components.{key}.text");
    check_text(&place, text, &Placeholder::OF_TEXTS)
}

fn check_text(place: &str, text: &str, known: &[Placeholder]) -> Result<(), PromptConfigError> {
    if text.chars().count() > LONGEST {
        return Err(PromptConfigError::TooLong(place.to_owned()));
    }
    check_placeholders(text, known).map_err(|source| PromptConfigError::Placeholder {
        place: place.to_owned(),
        source,
    })
}
