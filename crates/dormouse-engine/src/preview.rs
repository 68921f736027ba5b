//! Shows a prompt: the one that a model was sent, or the one that it would be sent next.

use std::sync::Arc;

use dormouse_contracts::{
    AssistantId, LoadSnapshot, ReadEvents, Seq, Timestamp, TokenCounter, Trust,
};
use dormouse_tools::RegistryError;

use crate::{
    catalogue::is_core,
    config::Settings,
    decide::{Prepared, offer_for, tools_offered},
    event::{ConfiguredModel, ContextType, DelayCause, Event},
    prompt::{KnownTools, PreviewOf, PromptPreview, findings, preview},
    replay::{ReplayError, replay, restore},
    state::{Occasion, OccasionKind, State},
};

/// How many events before a reply are read at a time.
const PAGE: u64 = 128;

/// A prompt cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// The log could not be folded.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The log ends before the requested event.
    #[error("there is no event {asked}; the log ends at event {end}")]
    NoSuchEvent {
        /// The requested event.
        asked: Seq,
        /// The last event in the log.
        end: Seq,
    },
    /// The log has no configuration of the assistant.
    #[error("{0} has not woken by this event, so there is no configuration to build a prompt with")]
    NeverWoke(AssistantId),
    /// The tools of the log cannot be prepared.
    #[error("the tools in the log cannot be used")]
    Tools(#[from] RegistryError),
}

/// The prompt at a point of a log. If `at` is the event of a reply, it is the prompt of that reply. Otherwise it is the
/// next prompt after that event, or after the end of the log. With `context`, it is the prompt of a tick of that kind
/// that would begin there.
///
/// Reads the log and writes nothing. `counter_for` returns the counter that counts the tokens of a model.
///
/// # Errors
///
/// [`PreviewError`], which says what is missing.
pub async fn preview_prompt<L: ReadEvents + LoadSnapshot + ?Sized>(
    log: &L,
    key: &AssistantId,
    at: Option<Seq>,
    context: Option<ContextType>,
    counter_for: impl Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>,
) -> Result<PromptPreview, PreviewError> {
    let state = match at {
        None => restore(log, key).await?,
        Some(asked) => {
            let from = asked_from(log, key, asked).await?.unwrap_or(asked);
            let state = replay(log, key, from).await?;
            if state.seq < from {
                let end = state.seq;
                return Err(PreviewError::NoSuchEvent { asked, end });
            }
            state
        }
    };
    preview_after(key, state, context, counter_for)
}

/// The next prompt of an assistant in this state, as [`preview_prompt`] shows it.
///
/// # Errors
///
/// [`PreviewError`] if the state has no configuration, or one that cannot be used.
pub fn preview_after(
    key: &AssistantId,
    state: State,
    context: Option<ContextType>,
    counter_for: impl Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>,
) -> Result<PromptPreview, PreviewError> {
    let prepared = prepared(key, &state, counter_for)?;
    let is_ticking = state.turns.current().is_some_and(|turn| turn.is_ticking());
    let (state, of) = match context {
        None if is_ticking => (state, PreviewOf::Call),
        _ => begun(state, context),
    };
    let state = with_offered_tools(key, &prepared, state);
    let view = prepared.view(key, &state, Timestamp::EPOCH, None);
    let turn = state.turns.current();
    let turn = turn.ok_or_else(|| PreviewError::NeverWoke(key.clone()))?;
    let offer = offer_for(view, turn);
    let known = view.tools.specs();
    let (known, unchosen) = match view.catalogue {
        None => (known.collect(), Vec::new()),
        Some(catalogue) => {
            let chosen = catalogue.fitting(state.offered_tools.tools());
            known.partition(|tool| is_core(tool) || chosen.contains(&tool.name))
        }
    };
    let preamble = view.preamble();
    let tools = KnownTools { known, unchosen };
    Ok(preview((&state, of), turn, &preamble, offer, &tools))
}

/// What seems to be wrong with the prompts of an assistant: empty parts, overrun budgets, contradictions.
///
/// # Errors
///
/// [`PreviewError`] if the log has no configuration of the assistant.
pub fn prompt_findings(
    key: &AssistantId,
    state: &State,
    counter_for: impl Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>,
) -> Result<Vec<String>, PreviewError> {
    let prepared = prepared(key, state, counter_for)?;
    let settings: &Settings = &state.configuration.settings;
    Ok(findings(settings, &prepared.preamble()))
}

fn prepared(
    key: &AssistantId,
    state: &State,
    counter_for: impl Fn(&ConfiguredModel) -> Arc<dyn TokenCounter>,
) -> Result<Prepared, PreviewError> {
    let model = state.configuration.model.as_ref();
    let model = model.ok_or_else(|| PreviewError::NeverWoke(key.clone()))?;
    Ok(Prepared::of(key, &state.configuration, counter_for(model))?)
}

/// The state after the tools of the next prompt were chosen.
fn with_offered_tools(key: &AssistantId, prepared: &Prepared, mut state: State) -> State {
    let view = prepared.view(key, &state, Timestamp::EPOCH, None);
    let turn = state.turns.current();
    if let Some(offered) = turn.and_then(|turn| tools_offered(view, turn)) {
        let at = state.seq;
        state.apply(at, Timestamp::EPOCH, &offered);
    }
    state
}

/// The state once the next tick has begun: for the trigger that waits, or for an imagined occasion.
fn begun(mut state: State, context: Option<ContextType>) -> (State, PreviewOf) {
    let imagined = Occasion {
        task: None,
        seq: state.seq.next(),
        at: Timestamp::EPOCH,
        kind: OccasionKind::Wake,
        text: "(what calls for the turn)".to_owned(),
        trust: Trust::FULL,
        tokens: 5,
        audience: None,
        promise: None,
        goal: None,
        name: String::new(),
    };
    let is_waiting = state.begin_next(context, imagined);
    let of = match is_waiting {
        true => PreviewOf::NextTick,
        false => PreviewOf::Imagined,
    };
    (state, of)
}

/// The last event that the request for the reply at `at` was based on; `None` if `at` is not a reply. It need not be
/// the event before: during a model call, messages and commands may come, and the sender may be asked to wait.
async fn asked_from<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    at: Seq,
) -> Result<Option<Seq>, ReplayError> {
    let (mut upper, mut known) = (at.0, None);
    let mut is_reply = false;
    while upper > 0 {
        let lower = upper.saturating_sub(PAGE);
        let page = usize::try_from(upper - lower).unwrap_or(usize::MAX);
        for stored in log.read(key, Seq(lower), page).await?.iter().rev() {
            let (seq, event) = (stored.seq, Event::decode(stored)?);
            match event {
                _ if seq > at => {}
                Event::Replied(_) if seq == at => is_reply = true,
                _ if !is_reply => return Ok(None),
                Event::Perceived(_) | Event::RetryRequested(_) | Event::Forgotten(_) => {}
                command if command.is_by_operator() => {}
                // The effects after this event only asked the sender to wait.
                Event::Delayed(delayed) if delayed.cause == DelayCause::Slow => known = None,
                Event::EffectIntended(_) | Event::EffectSettled(_) | Event::WorldFailed(_) => {
                    known = known.or(Some(seq));
                }
                _ => return Ok(Some(known.unwrap_or(seq))),
            }
        }
        upper = lower;
    }
    Ok(known)
}
