//! Changing one entry of a setting that is a table: a template, a part of prompts, a kind of ticks. Each returns the value of the
//! whole setting, as somebody would write it at a command line.

use dormouse_contracts::AssistantId;
use dormouse_engine::{
    AssistantConfig, ComponentConfig, ContextConfig, ContextType, OutOfRange, PartOrder, Settings,
};
use serde::Serialize;

use super::{Config, inline};

/// The name of the template that is the persona.
pub const DEFAULT_TEMPLATE: &str = "default";

/// The documented fields of the execution configuration, by the settings that hold them.
pub const EXECUTION_FIELDS: [&str; 10] = [
    "execution.multi_action_enabled",
    "limits.max_iterations_per_tick",
    "execution.task_assessment_enabled",
    "execution.use_quick_assessment",
    "execution.sub_agents_enabled",
    "execution.sub_agent_budget",
    "execution.personality_insulation",
    "execution.delegate_assistant_tag",
    "execution.result_summarization",
    "execution.trusted_api",
];

/// A template cannot be changed so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is no such template.
    #[error("there is no template {0:?}; `dormouse prompt template list` prints all of them")]
    Unknown(String),
    /// The name is in use.
    #[error("there is a template {0:?} already; choose another name, or change prompt.templates")]
    Taken(String),
}

impl Config {
    /// Every template by name, the persona first.
    pub fn templates(&self, key: &AssistantId) -> impl Iterator<Item = (&str, String)> {
        let persona = self.assistant.persona.clone();
        let persona = persona.unwrap_or_else(|| AssistantConfig::new(key.clone()).persona);
        let kept = self.prompt.templates.iter();
        let kept = kept.map(|(name, text)| (name.as_str(), text.clone()));
        std::iter::once((DEFAULT_TEMPLATE, persona)).chain(kept)
    }

    /// `prompt.templates` with a text under a new name.
    ///
    /// # Errors
    ///
    /// [`TemplateError::Taken`].
    pub fn with_template(&self, name: &str, text: String) -> Result<String, TemplateError> {
        let mut templates = self.prompt.templates.clone();
        if name == DEFAULT_TEMPLATE || templates.contains_key(name) {
            return Err(TemplateError::Taken(name.to_owned()));
        }
        templates.insert(name.to_owned(), text);
        Ok(written(&templates))
    }

    /// `prompt.templates` with a copy of a template, or of the persona, under a new name.
    ///
    /// # Errors
    ///
    /// [`TemplateError`].
    pub fn with_copy_of(
        &self,
        key: &AssistantId,
        from: &str,
        name: &str,
    ) -> Result<String, TemplateError> {
        let found = self.templates(key).find(|(known, _)| *known == from);
        let unknown = || TemplateError::Unknown(from.to_owned());
        let (_, text) = found.ok_or_else(unknown)?;
        self.with_template(name, text)
    }

    /// `prompt.components` with another decision about one part.
    #[must_use]
    pub fn with_component(&self, key: &str, part: ComponentConfig) -> String {
        let mut components = self.prompt.components.clone();
        match part == ComponentConfig::default() {
            true => components.remove(key),
            false => components.insert(key.to_owned(), part),
        };
        written(&components)
    }

    /// `prompt.order` with these parts first, in this order.
    #[must_use]
    pub fn order_of(keys: Vec<String>) -> String {
        written(&PartOrder::Own(keys))
    }

    /// `execution.contexts` with another decision about one kind of ticks.
    #[must_use]
    pub fn with_context(&self, context: ContextType, decided: ContextConfig) -> String {
        let mut contexts = self.execution.contexts.clone();
        match decided == ContextConfig::default() {
            true => contexts.remove(&context),
            false => contexts.insert(context, decided),
        };
        written(&contexts)
    }

    /// What decisions read of the configuration, as far as patterns of ticks depend on it.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if a limit is.
    pub fn pattern_settings(&self, key: &AssistantId) -> Result<Settings, OutOfRange> {
        let assistant = AssistantConfig {
            pattern: self.execution.pattern(),
            execution: self.execution.config(),
            prompt: self.prompt.config(),
            limits: self.limits.limits(None)?,
            ..AssistantConfig::new(key.clone())
        };
        Ok(assistant.settings())
    }
}

/// A value as somebody would write it.
fn written(value: &impl Serialize) -> String {
    // These types are JSON in the log, too.
    inline(&serde_json::to_value(value).unwrap_or_default())
}
