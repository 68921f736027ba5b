//! Showing the prompts of a resident.

use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{ConfiguredModel, ContextType, PreviewError, PromptPreview, preview_prompt};
use dormouse_providers::token_counter_for;

use super::Host;

impl<W> Host<W> {
    /// The prompt at a moment of a life, as [`preview_prompt`] has it, with the counter of the model that the log names. Nobody is
    /// woken.
    ///
    /// # Errors
    ///
    /// [`PreviewError`], which says what is missing.
    pub async fn preview_prompt(
        &self,
        key: &AssistantId,
        at: Option<Seq>,
        context: Option<ContextType>,
    ) -> Result<PromptPreview, PreviewError> {
        let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
        preview_prompt(self.log(), key, at, context, counter_for).await
    }
}
