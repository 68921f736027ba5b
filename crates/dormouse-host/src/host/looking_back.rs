//! Looks at moments of a life: states and prompts as they were, and prompts as changed settings would make them.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{ContextType, PreviewError, PromptConfig, PromptPreview, ReplayError, State};

use super::Host;
use crate::preview::{preview, preview_after};

impl<W: ?Sized> Host<W> {
    /// The state of an assistant after an event, or after the last one if the log ends earlier. Only folds the log: nothing is
    /// carried out, and nobody is woken. The first look at a long life takes longer than the next ones.
    ///
    /// # Errors
    ///
    /// [`ReplayError`], which names the first event that could not be read.
    pub async fn state_at(&self, key: &AssistantId, at: Seq) -> Result<Arc<State>, ReplayError> {
        let shared = &self.shared;
        shared.past.state(&shared.log, key, at).await
    }

    /// The prompt at a moment of a life, as [`preview`] shows it.
    ///
    /// # Errors
    ///
    /// [`PreviewError`], which says what is missing.
    pub async fn preview(
        &self,
        key: &AssistantId,
        at: Option<Seq>,
        context: Option<ContextType>,
    ) -> Result<PromptPreview, PreviewError> {
        let shared = &self.shared;
        match at {
            Some(at) => shared.past.preview(&shared.log, key, at, context).await,
            None => preview(&shared.log, key, None, context).await,
        }
    }

    /// The prompt of a tick that would begin in this state, with these parts instead of those that are configured
    /// there.
    ///
    /// # Errors
    ///
    /// [`PreviewError`], which says what is missing.
    pub fn preview_with(
        &self,
        key: &AssistantId,
        state: &State,
        parts: PromptConfig,
        context: ContextType,
    ) -> Result<PromptPreview, PreviewError> {
        let mut state = state.clone();
        state.configuration.settings.prompt = parts;
        preview_after(key, state, Some(context))
    }
}
