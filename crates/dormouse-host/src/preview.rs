//! Showing prompts, with tokens counted as their models count them.

use dormouse_contracts::{AssistantId, LoadSnapshot, ReadEvents, Seq};
use dormouse_engine::{ConfiguredModel, ContextType, PreviewError, PromptPreview, preview_prompt};
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
    let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
    preview_prompt(log, key, at, context, counter_for).await
}
