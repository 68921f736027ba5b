//! Showing prompts, with tokens counted as their models count them.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, LoadSnapshot, ReadEvents, Seq, TokenCounter};
use dormouse_engine::{
    ConfiguredModel, ContextType, PreviewError, PromptPreview, State, preview_prompt,
};
use dormouse_providers::token_counter_for;

/// The prompt at a moment of a life, as [`preview_prompt`] shows it.
///
/// # Errors
///
/// [`PreviewError`], which says what is missing.
pub async fn preview<L: ReadEvents + LoadSnapshot + ?Sized>(
    log: &L,
    key: &AssistantId,
    at: Option<Seq>,
    context: Option<ContextType>,
) -> Result<PromptPreview, PreviewError> {
    preview_prompt(log, key, at, context, counter_for).await
}

/// The next prompt of an assistant in this state.
pub(crate) fn preview_after(
    key: &AssistantId,
    state: State,
    context: Option<ContextType>,
) -> Result<PromptPreview, PreviewError> {
    dormouse_engine::preview_after(key, state, context, counter_for)
}

fn counter_for(model: &ConfiguredModel) -> Arc<dyn TokenCounter> {
    token_counter_for(&model.provider, &model.name)
}
