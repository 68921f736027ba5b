//! Saying in the world that the assistant is stopped: the only act while the emergency stop is on, done at most once.

use dormouse_contracts::{
    Arguments, Effect, EffectKey, Outcome, Rejection, SpeechKind, ToolSpec, WorldErrorKind,
};
use dormouse_text::beginning;

use super::{
    action::{Action, OutsideCall},
    calls::effect_key,
    outcomes::bounded,
    view::View,
};
use crate::{
    event::{Event, StopNoticeIntended, StopNoticeSettled},
    state::StopNotice,
    work::WorldFailure,
};

/// What is next to be done about it while the emergency stop is on, if anything is.
pub(super) fn next(view: View<'_>) -> Option<Action> {
    match &view.state.stop.stopped()?.notice {
        StopNotice::Due => intended(view).map(|it| Event::StopNoticeIntended(it).into()),
        StopNotice::Intended(intended) => Some(Action::Call(call(view, intended))),
        StopNotice::Over => None,
    }
}

/// Whether the notice is still to be said, or its outcome to be found out.
pub(crate) fn is_due(view: View<'_>) -> bool {
    next(view).is_some()
}

/// The act, if the operator wants it and a tool speaks to everybody in the room.
fn intended(view: View<'_>) -> Option<StopNoticeIntended> {
    let text = view.config().stop_notice.trim();
    let speaks_aloud = |tool: &&ToolSpec| {
        let speech = tool.speech.as_ref();
        speech.is_some_and(|speech| speech.kind == SpeechKind::Aloud && speech.to.is_none())
    };
    let tool = view.tools.specs().find(speaks_aloud)?;
    let words = &tool.speech.as_ref()?.words;
    let text = beginning(text, tool.longest_words().unwrap_or(usize::MAX));
    if text.is_empty() {
        return None;
    }
    Some(StopNoticeIntended {
        key: effect_key(view)?,
        tool: tool.name.clone(),
        arguments: Arguments::from_iter([(words.clone(), text.into())]),
    })
}

fn call(view: View<'_>, intended: &StopNoticeIntended) -> OutsideCall {
    let effect = Effect {
        key: intended.key.clone(),
        actor: view.key.clone(),
        tool: intended.tool.clone(),
        arguments: intended.arguments.clone(),
        reply_to: None,
        within: None,
    };
    match view.fresh == Some(&effect.key) {
        true => OutsideCall::Perform(effect),
        false => OutsideCall::AskAfter(effect),
    }
}

/// The event that follows when the outcome is known, if this is the key of the notice.
pub(super) fn on_settled(view: View<'_>, key: &EffectKey, outcome: &Outcome) -> Option<Event> {
    let open = view.state.stop.open_notice()?;
    (open.key == *key).then(|| settled(key, outcome.clone()))
}

/// The event that follows when the world could not be reached. The notice is not worth a further try.
pub(super) fn on_world_failure(view: View<'_>, failure: &WorldFailure) -> Option<Event> {
    let open = view.state.stop.open_notice()?;
    let outcome = match failure.kind {
        WorldErrorKind::Unanswered => Outcome::Unknown,
        _ => Outcome::Rejected(Rejection::new(failure.to_string())),
    };
    Some(settled(&open.key, outcome))
}

fn settled(key: &EffectKey, outcome: Outcome) -> Event {
    Event::StopNoticeSettled(StopNoticeSettled {
        key: key.clone(),
        outcome: bounded(outcome),
    })
}
