//! What decisions need of a configuration in a prepared form.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, EffectKey, Timestamp, TokenCounter, ToolSpec};
use dormouse_tools::{Registry, RegistryError};

use super::View;
use crate::{
    config::Settings,
    prompt::Preamble,
    state::{Configuration, State},
};

/// The tools of a configuration with their compiled schemas, and the instructions with their length. Follows from the
/// configuration and the counter alone.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    tools: Registry,
    preamble: Preamble,
}

impl Prepared {
    pub(crate) fn new(
        persona: &str,
        settings: &Settings,
        tools: impl IntoIterator<Item = ToolSpec>,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, RegistryError> {
        let tools = Registry::try_new(tools)?;
        let preamble = Preamble::new(persona, settings, &tools, counter);
        Ok(Self { tools, preamble })
    }

    /// Prepares a configuration of the log.
    pub(crate) fn of(
        configuration: &Configuration,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<Self, RegistryError> {
        let Configuration {
            persona,
            settings,
            tools,
            ..
        } = configuration;
        Self::new(persona, settings, tools.iter().cloned(), counter)
    }

    pub(crate) fn tools(&self) -> &Registry {
        &self.tools
    }

    pub(crate) fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// Everything that a decision at `now` may look at.
    pub(crate) fn view<'a>(
        &'a self,
        key: &'a AssistantId,
        state: &'a State,
        now: Timestamp,
        fresh: Option<&'a EffectKey>,
    ) -> View<'a> {
        View {
            key,
            state,
            tools: &self.tools,
            preamble: &self.preamble,
            counter: &*self.preamble.counter,
            now,
            fresh,
        }
    }
}
