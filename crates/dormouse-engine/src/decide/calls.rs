//! The next call of a reply: checked, and turned into an event, a look, or an intention.

use dormouse_contracts::{
    Arguments, AssistantId, EffectKey, Hit, Query, Seq, Timestamp, ToolCall, ToolCategory,
    ToolReach, ToolSpec, Trust, invariant,
};
use dormouse_text::beginning;
use dormouse_tools::CheckedCall;
use serde_json::{Value, json};

use super::{
    action::{Action, Decided, OutsideCall},
    approvals,
    budget::advisory,
    hearing::{self, Speaking},
    offering,
    view::View,
};
use crate::{
    builtin::{self, BuiltinOutcome, ends_a_turn},
    event::{ActSpeech, EffectIntended, Event, ToolAnswered, Verdict},
    privacy::{audience_of_act, listeners, within},
    results::bounded,
    state::{CachedResult, CallState, Step, Turn},
};

const NOT_OFFERED: &str = "not done: this was the last step, in which only speaking was possible";

/// What a dangerous call comes to that is decided for the first time, where it has to be decided twice.
const TWICE: &str =
    "not done yet: it is dangerous; call it again if it is to be done, and do nothing else if not";

pub(super) fn next_call(view: View<'_>, turn: &Turn, call: &CallState) -> Action {
    let raw = ToolCall {
        id: call.id().clone(),
        name: call.call.name.clone(),
        arguments: call.call.arguments.clone(),
    };
    let failed = |why: &str| answer(view, call, Verdict::Failure, failure(why)).into();
    let is_last = turn.steps.last().is_some_and(Step::only_speaks);
    // In the last step no tool is shown but those that speak.
    if !is_last && let Some(not_shown) = offering::not_shown(view, turn, call) {
        return not_shown.into();
    }
    let checked = match view.tools.check(&raw) {
        Ok(checked) => checked,
        Err(error) => return failed(&error.to_string()),
    };
    let spec = checked.spec;
    // In a world in which nobody can speak, acting is all that is left.
    let may_only_speak = is_last && view.tools.specs().any(|tool| tool.speech.is_some());
    if may_only_speak && spec.speech.is_none() && !ends_a_turn(spec.name.as_str()) {
        return skip(view, call, NOT_OFFERED).into();
    }
    if let Some(refused) = of_low_trust(view, turn, call, &checked) {
        return refused.into();
    }
    if view.bounds.confirm_dangerous
        && spec.category == ToolCategory::Dangerous
        && !turn.is_careful()
    {
        return answer(view, call, Verdict::Deferred, failure(TWICE)).into();
    }
    match spec.reach {
        ToolReach::Query => match view
            .state
            .cached
            .find(spec, &checked.arguments, None, view.now)
        {
            Some(known) => used_again(view, call, known).into(),
            None if let Some(not_attempted) = not_attempted(view, call, spec) => {
                not_attempted.into()
            }
            None => Action::Call(OutsideCall::Observe(
                call.id().clone(),
                Query {
                    actor: view.key.clone(),
                    tool: spec.name.clone(),
                    arguments: checked.arguments,
                },
            )),
        },
        ToolReach::Effect if let Some(not_attempted) = not_attempted(view, call, spec) => {
            not_attempted.into()
        }
        ToolReach::Effect => match approvals::approval(view, turn, call, &checked) {
            Err(asked) => asked.into(),
            Ok(approval) => match effect_key(view) {
                Some(key) => intended(view, turn, call, key, checked, approval).into(),
                None => failed("the act could not be named"),
            },
        },
        // Looking into its own journal is a builtin, and its answers may be used again, too.
        _ if let Some(known) = found_before(view, turn, &checked) => {
            used_again(view, call, known).into()
        }
        _ => came_to(
            view,
            call,
            builtin::decide(
                spec.name.as_str(),
                &checked.arguments,
                view.config().quote_trust,
                (view.key, view.state, turn),
                view.now,
            ),
        ),
    }
}

/// The result of the same call of a builtin tool that may be used again, because the same people listen.
fn found_before<'a>(
    view: View<'a>,
    turn: &Turn,
    checked: &CheckedCall<'_>,
) -> Option<&'a CachedResult> {
    let listeners = listeners(view.state, turn);
    let cached = &view.state.cached;
    cached.find(
        checked.spec,
        &checked.arguments,
        listeners.as_ref(),
        view.now,
    )
}

/// What a call of a builtin tool comes to.
fn came_to(view: View<'_>, call: &CallState, outcome: BuiltinOutcome) -> Action {
    match outcome {
        BuiltinOutcome::Decided { events, result } => {
            let answer = answer(view, call, Verdict::Success, success(&result));
            Decided::after(events, answer).into()
        }
        BuiltinOutcome::Listed {
            events,
            result,
            trust,
        } => {
            let content = bounded(success(&result));
            let answer = answer_with(view, call, Verdict::Success, content, Some(trust));
            Decided::after(events, answer).into()
        }
        BuiltinOutcome::AskMemory(query) => {
            Action::Call(OutsideCall::AskMemory(call.id().clone(), Box::new(query)))
        }
        BuiltinOutcome::FindTools(query) => offering::searched(view, call, &query).into(),
        BuiltinOutcome::NotDone { code, why } => {
            let content = json!({"success": false, "error": why, "code": code});
            answer(view, call, Verdict::Skipped, content).into()
        }
        BuiltinOutcome::Refused(why) => answer(view, call, Verdict::Failure, failure(&why)).into(),
    }
}

/// What a search of the journal comes to, once the encoder has said which entries are similar.
pub(super) fn found_similar(view: View<'_>, call: &CallState, hits: &[Hit]) -> Vec<Event> {
    let Some((turn, arguments)) = view.state.turns.current().zip(call.call.object()) else {
        return Vec::new();
    };
    let found = builtin::search_journal(
        &arguments,
        view.config().quote_trust,
        (view.key, view.state, turn),
        view.now,
        hits,
    );
    match came_to(view, call, found) {
        Action::Decide(decided) => decided.into_events(),
        Action::Call(_) => Vec::new(),
    }
}

/// What a call of a tool comes to that gave no answers lately. It was not made, so it is no error. Words are always said:
/// nobody could be told otherwise that something is wrong.
fn not_attempted(view: View<'_>, call: &CallState, spec: &ToolSpec) -> Option<Event> {
    if spec.speech.is_some() {
        return None;
    }
    let open = view
        .state
        .tool_circuits
        .admits(spec.name.as_str(), view.now);
    let why = format!("not done: {}", open.err()?);
    Some(skip(view, call, &why))
}

/// The event that an act is intended.
fn intended(
    view: View<'_>,
    turn: &Turn,
    call: &CallState,
    key: EffectKey,
    checked: CheckedCall<'_>,
    approval: Option<Seq>,
) -> Event {
    let speech = ActSpeech::of(checked.spec.speech.as_ref());
    let said = speech.said(&checked.arguments);
    Event::EffectIntended(EffectIntended {
        key,
        call: call.id().clone(),
        tool: checked.spec.name.clone(),
        category: checked.spec.category,
        trust: said.and(turn.steps.last().map(|step| step.trust)),
        audience: audience_of_act(view.state, turn, said),
        within: within(view.state, turn, is_answer(view, turn, call, &checked)),
        speech,
        approval,
        arguments: checked.arguments,
    })
}

fn is_answer(view: View<'_>, turn: &Turn, call: &CallState, act: &CheckedCall<'_>) -> bool {
    let (Some(message), Some(speech)) = (turn.message(), &act.spec.speech) else {
        return false;
    };
    hearing::is_answer(
        view,
        turn,
        call,
        &Speaking::of(message, speech, &act.arguments),
    )
}

/// The trust that everything needs which was shown when a call was decided, if it needs any.
fn needed_trust(view: View<'_>, spec: &ToolSpec) -> Option<Trust> {
    let of_dangerous = view.config().dangerous_trust;
    match (spec.category, spec.required_trust) {
        (ToolCategory::Dangerous, Some(of_tool)) if of_tool > of_dangerous => Some(of_tool),
        (ToolCategory::Dangerous, _) => Some(of_dangerous),
        (_, of_tool) => of_tool,
    }
}

/// What a call that needs trust comes to if text of low trust was shown when it was decided. The first time the model is asked
/// again without that text, so that what was shown and not used does not decide. If what it answers, or what it looked
/// at since, is itself of low trust, the call is not made.
fn of_low_trust(
    view: View<'_>,
    turn: &Turn,
    call: &CallState,
    checked: &CheckedCall<'_>,
) -> Option<Event> {
    let needed = needed_trust(view, checked.spec)?;
    let why = match checked.spec.category {
        ToolCategory::Dangerous => "it is dangerous",
        _ => "it needs trust",
    };
    let least = turn
        .steps
        .last()
        .map_or(Trust::NONE, |step| step.least_shown);
    let is_of_names = |trust| trust < needed && !turn.is_careful();
    if least >= needed && !is_of_names(trust_in_names(view, turn, call, &checked.arguments)) {
        return None;
    }
    if turn.is_careful() || turn.trigger.trust() < needed {
        let why = format!(
            "not done: {why}, and was decided on text of trust {least}; {needed} is needed"
        );
        return Some(answer(view, call, Verdict::Failure, failure(&why)));
    }
    let why = format!("not done yet: {why}, and text of low trust was shown");
    Some(answer(view, call, Verdict::Deferred, failure(&why)))
}

/// The lowest trust of the names that alone say a word of this call. Without what the memory and others add, only the
/// sender's own name is shown, and senders may ask for what they like.
fn trust_in_names(view: View<'_>, turn: &Turn, call: &CallState, arguments: &Arguments) -> Trust {
    let values = arguments.values().map(ToString::to_string);
    let said: Vec<_> = values.chain([call.call.name.clone()]).collect();
    builtin::trust_in_names(&said.join("\n"), view.state, turn)
}

/// The key of the next effect. Its sequence number makes it unique in the life of the assistant. The time makes it
/// unique among all its lives, so that a log restored from a backup does not meet the receipts of what it forgot.
pub(super) fn effect_key(view: View<'_>) -> Option<EffectKey> {
    effect_key_of(view.key, view.state.seq.next(), view.now)
}

/// The key of what an assistant does at this place of its log, at this time.
pub(crate) fn effect_key_of(
    assistant: &AssistantId,
    place: Seq,
    at: Timestamp,
) -> Option<EffectKey> {
    let key = EffectKey::try_new(format!("{assistant}/{}/{place}", at.as_micros()));
    invariant!(key.map(Some), "a key and two numbers are an effect's key")
}

/// Results for `call` and all open calls after it, which are not made, and why.
pub(super) fn skip_the_rest(view: View<'_>, step: &Step, call: &CallState, why: &str) -> Decided {
    let mut skipped = skipped(view, Some(step), why);
    let last = skipped.pop().unwrap_or_else(|| skip(view, call, why));
    Decided::after(skipped, last)
}

/// Results for the open calls of a step, if there are any; they are not made.
pub(super) fn skipped(view: View<'_>, step: Option<&Step>, why: &str) -> Vec<Event> {
    let calls = step.into_iter().flat_map(|step| &step.calls);
    let open = calls.filter(|call| call.result.is_none());
    open.map(|call| skip(view, call, why)).collect()
}

/// The result for a call that is not made, and why.
pub(super) fn skip(view: View<'_>, call: &CallState, why: &str) -> Event {
    answer(view, call, Verdict::Skipped, failure(why))
}

pub(super) fn success(result: &Value) -> Value {
    json!({"success": true, "result": result})
}

pub(super) fn failure(error: &str) -> Value {
    json!({"success": false, "error": error})
}

/// The event that records the result of a call.
pub(super) fn answer(view: View<'_>, call: &CallState, verdict: Verdict, content: Value) -> Event {
    answer_with(view, call, verdict, bounded(content), None)
}

/// The same for a result that is bounded and safe already.
pub(crate) fn answer_with(
    view: View<'_>,
    call: &CallState,
    verdict: Verdict,
    content: String,
    trust: Option<Trust>,
) -> Event {
    Event::ToolAnswered(answered(view, call, verdict, content, trust))
}

/// The event that a call got no answer.
pub(crate) fn unanswered(view: View<'_>, call: &CallState, content: String) -> Event {
    Event::ToolAnswered(ToolAnswered {
        is_unanswered: true,
        ..answered(view, call, Verdict::Failure, content, None)
    })
}

fn answered(
    view: View<'_>,
    call: &CallState,
    verdict: Verdict,
    content: String,
    trust: Option<Trust>,
) -> ToolAnswered {
    let spec = view.tools.get(&call.call.name);
    let (content, tokens) = with_advice(view, content);
    ToolAnswered {
        call: call.id().clone(),
        tool: beginning(&call.call.name, 64).to_owned(),
        category: spec.map(|spec| spec.category),
        verdict,
        content,
        tokens,
        trust,
        cached: None,
        is_unanswered: false,
    }
}

/// The event that a call has the result of an earlier one.
fn used_again(view: View<'_>, call: &CallState, known: &CachedResult) -> Event {
    Event::ToolAnswered(ToolAnswered {
        cached: Some(known.at),
        ..answered(
            view,
            call,
            Verdict::Success,
            known.content.clone(),
            known.trust,
        )
    })
}

/// A result as JSON text, word for word as the model will see it, and how many tokens it takes.
pub(super) fn content_for_model(view: View<'_>, content: Value) -> (String, u32) {
    with_advice(view, bounded(content))
}

/// What precedes and follows an advice. It is the first field of a result: nobody else writes one there.
const ADVICE: (&str, &str) = ("{\"advisory\":\"", "\",");

/// A result and its tokens. If it fills the context window, it contains advice to finish.
fn with_advice(view: View<'_>, content: String) -> (String, u32) {
    let tokens = view.counter.count(&content).tokens;
    let fields = content.strip_prefix('{');
    let (Some(advice), Some(fields)) = (advisory(view, tokens), fields) else {
        return (content, tokens);
    };
    let (before, after) = ADVICE;
    let advised = format!("{before}{advice}{after}{fields}");
    let tokens = view.counter.count(&advised).tokens;
    (advised, tokens)
}

/// The result without the advice that it contains, if it contains one.
pub(crate) fn without_advice(content: &str) -> String {
    let (before, after) = ADVICE;
    let advised = content.strip_prefix(before);
    let fields = advised.and_then(|advised| advised.split_once(after));
    fields.map_or_else(|| content.to_owned(), |(_, fields)| format!("{{{fields}"))
}
