//! Messages that end without an answer: when, why, and what their sender hears instead.

use dormouse_contracts::{Arguments, ModelErrorKind};
use dormouse_tools::{LoopEffect, after};

use super::{
    action::{Action, Decided},
    calls, commitment, hearing, naming,
    view::View,
};
use crate::{
    builtin,
    event::{Call, Event, Refusal, StopReason, TickEnded, Unanswered, UnansweredCause, Verdict},
    state::{CallState, Turn},
};

/// How many ticks one message may take. More than this is not an outage, and its cost would go unnoticed.
const TICKS_PER_TURN: u32 = 20;
const GIVEN_UP: &str = "not done: the message is given up after too many errors";

/// Why the message has to be given up, if it does.
pub(super) fn hopeless(view: View<'_>, turn: &Turn) -> Option<UnansweredCause> {
    if let Some(cause) = turn.message().and_then(|message| message.refused) {
        return Some(UnansweredCause::NotAdmitted(cause));
    }
    if turn.failures.errors >= view.config().limits.max_consecutive_errors() {
        return Some(UnansweredCause::Failures(turn.failures.errors));
    }
    (turn.ticks > TICKS_PER_TURN).then_some(UnansweredCause::EndlessTurn(turn.ticks))
}

/// Why the message has to be given up after another such failure, if it does. It does if for a long time it has failed
/// in a way that it may have caused, and no other message was answered or failed meanwhile.
pub(super) fn outlasted(view: View<'_>, kind: ModelErrorKind) -> Option<UnansweredCause> {
    let turn = view
        .state
        .turns
        .current()
        .filter(|turn| may_be_its_own(view, turn))?;
    let lasted = view.waited_since(turn.failures.since?);
    // A server that was hardly called in that time, because its circuit was open, shows little.
    let calls = turn.failures.calls.saturating_add(1);
    let is_over = kind.may_depend_on_the_prompt()
        && calls >= view.config().limits.max_consecutive_errors()
        && view
            .config()
            .limits
            .give_up_after()
            .is_some_and(|limit| lasted >= limit);
    is_over.then(|| UnansweredCause::NoReply(u32::try_from(lasted.as_secs()).unwrap_or(u32::MAX)))
}

/// Whether the message will be given up if it keeps failing like this.
pub(super) fn may_be_its_own(view: View<'_>, turn: &Turn) -> bool {
    let is_alone = view
        .state
        .services
        .recent
        .fails_only_for(turn.trigger_seq());
    is_alone && turn.failures.since.is_some() && view.config().limits.give_up_after().is_some()
}

/// Why the turn would end without an answer, if it ends for this reason. An act that the world carried out and that ends
/// the loop answers, too.
pub(super) fn silent(view: View<'_>, turn: &Turn, ended: &TickEnded) -> Option<UnansweredCause> {
    if ended.resume_at.is_some() || turn.message().is_none() {
        return None;
    }
    match (said(view, turn), ended.reason) {
        (Said::Answer, _) => None,
        (Said::Beginning, _) => Some(UnansweredCause::BrokenOff),
        (Said::Unknown, _) => Some(UnansweredCause::Unknown),
        (Said::Elsewhere, _) if has_acted_instead(view, turn) => None,
        (Said::Elsewhere, _) => Some(UnansweredCause::NotHeard),
        (Said::Nothing, StopReason::MaxIterations) => Some(UnansweredCause::NoMoreSteps),
        (Said::Nothing, StopReason::CriticalTokens) => Some(UnansweredCause::NoMoreRoom),
        (Said::Nothing, StopReason::RepeatedCall) => Some(UnansweredCause::RepeatedCall),
        (Said::Nothing, StopReason::Noop) => Some(UnansweredCause::Silence),
        (Said::Nothing, _) if is_act_unknown(turn) => Some(UnansweredCause::Unknown),
        (Said::Nothing, _) => None,
    }
}

/// How much of an answer was said in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// Nothing, or only words before a look-up ("Let me look"), which only announce an answer.
    Nothing,
    /// Words that the one who asked did not hear.
    Elsewhere,
    /// The beginning. The world did not accept the rest.
    Beginning,
    /// Words of which nobody knows whether they were heard.
    Unknown,
    /// All of it.
    Answer,
}

fn said(view: View<'_>, turn: &Turn) -> Said {
    let mut said = Said::Nothing;
    for step in turn.own_steps() {
        for call in &step.calls {
            let tool = view.tools.get(&call.call.name);
            let speaks = view.speaks(&call.call.name);
            if speaks && call.verdict == Some(Verdict::Success) {
                if hearing::reaches_the_sender(view, turn, call) {
                    said = Said::Answer;
                } else if said == Said::Nothing {
                    said = Said::Elsewhere;
                }
            } else if speaks && call.is_unknown() && said != Said::Answer {
                said = Said::Unknown;
            } else if matches!(said, Said::Answer | Said::Unknown | Said::Elsewhere)
                // In the last step no look-up is made.
                && !step.only_speaks()
                && tool.is_some_and(builtin::is_look_up)
            {
                said = Said::Nothing;
            }
        }
        // After a lost part, the same step says nothing else.
        if step.has_hole() {
            said = Said::Beginning;
        }
    }
    said
}

/// Whether an act that ends the loop, other than speech, was done.
fn has_acted_instead(view: View<'_>, turn: &Turn) -> bool {
    let mut calls = turn.own_steps().flat_map(|step| &step.calls);
    calls.any(|call| {
        let ends = |category| after(category) != LoopEffect::Continue;
        let is_done = call.effect.is_some() && call.verdict == Some(Verdict::Success);
        is_done && !view.speaks(&call.call.name) && call.category.is_some_and(ends)
    })
}

/// Whether nobody knows if the last act of the turn happened.
fn is_act_unknown(turn: &Turn) -> bool {
    let last = turn.own_steps().next_back();
    let mut calls = last.into_iter().flat_map(|step| &step.calls);
    calls
        .rfind(|call| call.effect.is_some())
        .is_some_and(CallState::is_unknown)
}

/// The events that end a message without an answer. The words for its sender are said after them.
pub(super) fn end(view: View<'_>, turn: &Turn, cause: UnansweredCause) -> Decided {
    let skipped = calls::skipped(view, turn.steps.last(), GIVEN_UP);
    let Some(message) = turn.message() else {
        // Nobody waits for an answer.
        return Decided::all(skipped, commitment::closed(view, turn, closing(cause)));
    };
    let apology = match cause {
        // The model chose silence, no tool speaks, or a second attempt could say the same thing twice.
        UnansweredCause::NoSpeech | UnansweredCause::Silence | UnansweredCause::Unknown => "",
        UnansweredCause::NotAdmitted(Refusal::Exchanges) => &view.config().admission.farewell,
        UnansweredCause::NotAdmitted(_) => &view.config().admission.refusal_notice,
        _ if said(view, turn) == Said::Beginning => &view.config().broken_off,
        _ => &view.config().apology,
    };
    let (calls, tokens) = naming::said(view, message, apology);
    let is_in_vain = cause == UnansweredCause::NotHeard
        && calls.iter().any(|call| was_not_heard(view, turn, call));
    let (calls, tokens) = match is_in_vain {
        true => (Vec::new(), 0),
        false => (calls, tokens),
    };
    let unanswered = Event::Unanswered(Unanswered {
        trigger: turn.trigger_seq(),
        from: message.perception.attested.sender.name().to_owned(),
        cause,
        calls,
        tokens,
    });
    Decided::after(skipped, unanswered)
}

/// Whether words were said in this way and to the same listener in this turn, and the one who asked did not hear them.
fn was_not_heard(view: View<'_>, turn: &Turn, notice: &Call) -> bool {
    let to = |arguments: &Arguments| {
        let tool = view.tools.get(&notice.name)?;
        let to = tool.speech.as_ref()?.to.as_ref()?;
        arguments.get(to).cloned()
    };
    let arguments = serde_json::from_str(&notice.arguments).unwrap_or_default();
    let mut said = turn.own_steps().flat_map(|step| &step.calls);
    said.any(|call| {
        let effect = call.effect.as_ref();
        call.call.name == notice.name
            && call.verdict == Some(Verdict::Success)
            && effect.is_some_and(|effect| to(&effect.arguments) == to(&arguments))
    })
}

/// What comes next if a message ends without an answer: its sender is notified, once, and the turn closes.
pub(super) fn conclude(view: View<'_>, turn: &Turn, cause: UnansweredCause) -> Action {
    match (turn.open_call(), turn.steps.last()) {
        (Some(call), Some(step)) if step.is_broken_off() => {
            calls::skip_the_rest(view, step, call, GIVEN_UP).into()
        }
        (Some(call), _) => calls::next_call(view, turn, call),
        (None, _) => commitment::closed(view, turn, closing(cause)).into(),
    }
}

fn closing(cause: UnansweredCause) -> TickEnded {
    TickEnded::new(cause.stop_reason(), None)
}
