//! A life that goes on in another place.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, Outcome, Timestamp, TokenCounter};
use dormouse_tools::RegistryError;

use crate::{
    decide::{self, Prepared},
    event::{ConfiguredModel, Event},
    state::{State, Turn},
};

/// The events that settle the act that is under way, if there is one, as unknown: the world in which it was begun cannot be asked in
/// another place, and another world would carry it out again.
///
/// # Errors
///
/// [`RegistryError`] if the tools of the life cannot be used.
pub fn acts_left_behind(
    key: &AssistantId,
    state: &State,
    counter_for: impl Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>,
) -> Result<Vec<Event>, RegistryError> {
    let notice = state.stop.open_notice().map(|notice| &notice.key);
    let act = state.turns.current().and_then(Turn::open_effect);
    let open: Vec<_> = notice.into_iter().chain(act.map(|act| &act.key)).collect();
    let Some(model) = state
        .configuration
        .model
        .as_ref()
        .filter(|_| !open.is_empty())
    else {
        return Ok(Vec::new());
    };
    let prepared = Prepared::of(key, &state.configuration, counter_for(model))?;
    let view = prepared.view(key, state, Timestamp::EPOCH, None);
    let settled = |key| decide::on_settled(view, key, Outcome::Unknown);
    Ok(open.into_iter().cloned().flat_map(settled).collect())
}
