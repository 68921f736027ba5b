//! `[prompt]`: the parts of prompts, and how they differ between kinds of ticks.

use std::collections::BTreeMap;

use dormouse_engine::{
    ComponentConfig, ContextConfig, ContextType, ExecutionConfig, PartOrder, PromptConfig,
};
use serde::{Deserialize, Deserializer, de::Error};

use super::{section::section, words};

section! {
    /// `[prompt]`: the parts of a prompt.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct PromptSection {
        /// The order of the parts between instructions and event: stable (good for prompt caches), documented, or a list of the parts that come first, by key
        #[schemars(schema_with = "words::order", extend("default" = "stable"))]
        order: PartOrder = PromptConfig::default().order,
        /// Parts by key. An existing part takes enabled, and budget in tokens. A part of your own takes id and text
        #[serde(deserialize_with = "components")]
        #[schemars(schema_with = "words::components", extend("default" = {}, "x-example" = {
            "context_buffer": {"enabled": false},
            "house_rules": {"id": 1200, "text": "{name} never speaks of the cellar."},
        }))]
        components: BTreeMap<String, ComponentConfig> = BTreeMap::new(),
        /// Texts that can take the place of assistant.persona, by name
        #[serde(deserialize_with = "templates")]
        #[schemars(schema_with = "words::templates", extend("default" = {}, "x-example" = {
            "gruff": "You are {name}, a gruff ferryman.",
        }))]
        templates: BTreeMap<String, String> = BTreeMap::new(),
        /// The template to use instead of assistant.persona; default: none of them
        #[schemars(extend("x-alias" = "applied_template"))]
        template: String = PromptConfig::default().template,
        /// The instruction how to act, for models that call tools natively. It may contain {name}, {key}, {tick_rate}, {reflection_interval} and {tool_schemas}
        #[serde(deserialize_with = "native")]
        #[schemars(with = "String", extend(
            "x-alias" = "system_prompt_native", "x-unset" = "the program's own text",
            "x-example" = "Act by calling tools. Call noop when nothing is to be done.",
        ))]
        native: Option<String> = None,
        /// The instruction how to act, for models that write their calls as text. It may contain the same placeholders as native
        #[serde(deserialize_with = "fallback")]
        #[schemars(with = "String", extend(
            "x-unset" = "the program's own text", "x-example" = "Reply with one JSON object. The tools: {tool_schemas}",
        ))]
        fallback: Option<String> = None,
    }
}

impl PromptSection {
    /// The section as the engine's own configuration.
    pub fn config(&self) -> PromptConfig {
        PromptConfig {
            order: self.order.clone(),
            components: self.components.clone(),
            templates: self.templates.clone(),
            template: self.template.clone(),
            native: self.native.clone(),
            fallback: self.fallback.clone(),
        }
    }
}

/// Checks a part of the section by itself.
fn checked<E: Error>(config: PromptConfig) -> Result<PromptConfig, E> {
    config.check().map_err(E::custom)?;
    Ok(config)
}

fn components<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, ComponentConfig>, D::Error> {
    let components = BTreeMap::deserialize(deserializer)?;
    let config = PromptConfig {
        components,
        ..PromptConfig::default()
    };
    Ok(checked::<D::Error>(config)?.components)
}

fn templates<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let templates = BTreeMap::deserialize(deserializer)?;
    let config = PromptConfig {
        templates,
        ..PromptConfig::default()
    };
    Ok(checked::<D::Error>(config)?.templates)
}

fn native<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let config = PromptConfig {
        native: Some(String::deserialize(deserializer)?),
        ..PromptConfig::default()
    };
    Ok(checked::<D::Error>(config)?.native)
}

fn fallback<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let config = PromptConfig {
        fallback: Some(String::deserialize(deserializer)?),
        ..PromptConfig::default()
    };
    Ok(checked::<D::Error>(config)?.fallback)
}

/// Reads the settings that differ between kinds of ticks.
pub(super) fn contexts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<ContextType, ContextConfig>, D::Error> {
    let config = ExecutionConfig {
        contexts: BTreeMap::deserialize(deserializer)?,
        ..ExecutionConfig::default()
    };
    config.check().map_err(D::Error::custom)?;
    Ok(config.contexts)
}
