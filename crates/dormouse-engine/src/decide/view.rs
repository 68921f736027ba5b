//! Everything a decision may look at.

use std::{sync::Arc, time::Duration};

use dormouse_contracts::{AssistantId, EffectKey, Timestamp, TokenCounter};
use dormouse_tools::Registry;

use super::prepared::Prepared;
use crate::{
    catalogue::Catalogue, config::Settings, execution::TickBounds, prompt::Preamble, state::State,
};

/// Everything a decision may look at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) key: &'a AssistantId,
    pub(crate) state: &'a State,
    /// The tools that may be called. A prompt that has little room may offer fewer.
    pub(crate) tools: &'a Registry,
    /// What is chosen among them, if the definitions of all take more tokens than they may.
    pub(crate) catalogue: Option<&'a Catalogue>,
    pub(super) prepared: &'a Prepared,
    /// How far the tick may go.
    pub(crate) bounds: TickBounds,
    pub(crate) counter: &'a dyn TokenCounter,
    /// The time of the events that are decided.
    pub(crate) now: Timestamp,
    /// The effect that this process itself intended and has not begun. Any other open effect was left by an earlier
    /// process or tick.
    pub(crate) fresh: Option<&'a EffectKey>,
}

impl<'a> View<'a> {
    /// The operator's settings.
    pub(super) fn config(&self) -> &'a Settings {
        &self.state.configuration.settings
    }

    /// The instructions with the tools that the next prompt has room for. Finding that out can mean counting the whole turn, so
    /// only decisions that need them ask.
    pub(crate) fn preamble(&self) -> Arc<Preamble> {
        self.preamble_within(u32::MAX)
    }

    /// The instructions with the tools that a prompt of so many tokens has room for.
    pub(super) fn preamble_within(&self, tokens: u32) -> Arc<Preamble> {
        self.prepared.preamble_within(self.state, tokens)
    }

    /// Whether the tool of this name speaks.
    pub(super) fn speaks(&self, tool: &str) -> bool {
        self.tools
            .get(tool)
            .is_some_and(|tool| tool.speech.is_some())
    }

    /// How long somebody has waited since then. The time in which the program was off does not count, because the model
    /// was not asked.
    pub(super) fn waited_since(&self, since: Timestamp) -> Duration {
        let awake_since = self.state.configuration.awake_since.unwrap_or(since);
        self.now.since(since.max(awake_since))
    }
}
