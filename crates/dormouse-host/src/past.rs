//! Moments of the past. A state of the past is folded from the log; nothing is carried out, and nothing is written.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use dormouse_contracts::{AssistantId, LoadSnapshot, ReadEvents, Seq, each_event};
use dormouse_engine::{ContextType, Event, PreviewError, PromptPreview, ReplayError, State};

use crate::preview::{preview, preview_after};

/// How many events lie between two kept states of a life.
const STEP: u64 = 512;

/// How many states of a life are kept. A state of a long life takes megabytes. Beyond this number, every other state is
/// dropped.
const KEPT: usize = 16;

/// Of how many lives states are kept.
const LIVES: usize = 2;

/// States of the past that were folded lately, so that the next look begins close to its event.
///
/// Words are forgotten only while no host has the log open, so no kept state outlives them.
#[derive(Debug, Default)]
pub(crate) struct Past(Mutex<Vec<Life>>);

/// The kept states of one assistant.
#[derive(Debug)]
struct Life {
    key: AssistantId,
    step: u64,
    states: BTreeMap<Seq, Arc<State>>,
    /// The state that was looked at last: a page looks at it more than once.
    last: Arc<State>,
}

impl Past {
    /// The state after an event, or after the last one if the log ends earlier.
    pub(crate) async fn state<L: ReadEvents + ?Sized>(
        &self,
        log: &L,
        key: &AssistantId,
        at: Seq,
    ) -> Result<Arc<State>, ReplayError> {
        let mut state = self.nearest(key, at);
        let from = state.seq;
        each_event(log, key, from.next()..=at, |stored| {
            let event = Event::decode(stored)?;
            // Copies the state only if it is kept.
            Arc::make_mut(&mut state).apply(stored.seq, stored.at, &event);
            if stored.seq.0.is_multiple_of(STEP) {
                self.keep(key, &state);
            }
            Ok::<_, ReplayError>(())
        })
        .await?;
        if state.seq != from {
            self.keep(key, &state);
        }
        Ok(state)
    }

    /// The last kept state that is not after this event.
    fn nearest(&self, key: &AssistantId, at: Seq) -> Arc<State> {
        let lives = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let life = lives.iter().find(|life| life.key == *key);
        let kept = life.and_then(|life| {
            let states = life.states.range(..=at).next_back();
            let last = Some(&life.last).filter(|last| last.seq <= at);
            let each = states.map(|(_, state)| state).into_iter().chain(last);
            each.max_by_key(|state| state.seq).map(Arc::clone)
        });
        drop(lives);
        kept.unwrap_or_default()
    }

    fn keep(&self, key: &AssistantId, state: &Arc<State>) {
        let mut lives = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = lives.iter().position(|life| life.key == *key);
        let mut life = match place {
            Some(place) => lives.remove(place),
            None => Life {
                key: key.clone(),
                step: STEP,
                states: BTreeMap::new(),
                last: Arc::clone(state),
            },
        };
        if state.seq.0.is_multiple_of(life.step) {
            life.states.insert(state.seq, Arc::clone(state));
        }
        life.last = Arc::clone(state);
        if life.states.len() > KEPT {
            life.step *= 2;
            let step = life.step;
            life.states.retain(|seq, _| seq.0.is_multiple_of(step));
        }
        lives.insert(0, life);
        lives.truncate(LIVES);
    }

    /// The prompt at an event, as [`preview`] shows it.
    pub(crate) async fn preview<L: ReadEvents + LoadSnapshot + ?Sized>(
        &self,
        log: &L,
        key: &AssistantId,
        at: Seq,
        context: Option<ContextType>,
    ) -> Result<PromptPreview, PreviewError> {
        let read = |after: Seq| async move {
            let read = log.read(key, after, 1).await;
            read.map_err(ReplayError::from)
        };
        let event = match at.0.checked_sub(1) {
            Some(before) => read(Seq(before)).await?.into_iter().next(),
            None => None,
        };
        let Some(event) = event else {
            let end = self.state(log, key, at).await?.seq;
            return Err(PreviewError::NoSuchEvent { asked: at, end });
        };
        let Event::Replied(replied) = Event::decode(&event).map_err(ReplayError::from)? else {
            let state = self.state(log, key, at).await?;
            return preview_after(key, State::clone(&state), context);
        };
        // The request was made from the state before the reply, unless a message came meanwhile. The logged hash tells.
        let before = self.state(log, key, Seq(at.0 - 1)).await?;
        let shown = preview_after(key, State::clone(&before), context)?;
        match context.is_some() || shown.hash == replied.prompt_hash {
            true => Ok(shown),
            false => preview(log, key, Some(at), context).await,
        }
    }
}
