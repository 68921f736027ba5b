//! `answer_task`: the result of a task that another assistant gave.

use dormouse_contracts::{Audience, ToolCategory};
use dormouse_text::{beginning, one_line};
use serde_json::json;

use super::{
    ANSWER_TASK, BuiltinOutcome, NotShown,
    call::Call,
    table::{Builtin, object, sources},
};
use crate::{
    event::{DelegatedWords, DelegationFailure, Event, TaskAnswered, TaskOutcome, Verdict},
    state::Turn,
};

/// The longest result, and the longest summary, in characters. Longer ones are cut.
const RESULT_LIMIT: usize = 4_000;
const SUMMARY_LIMIT: usize = 600;

/// The argument with the result.
pub(crate) const RESULT: &str = "result";

pub(super) const TOOL: Builtin = Builtin {
    name: ANSWER_TASK,
    description: "Hand in the result of the task that you were given: what you found out or did, or why it cannot be done. \
                  This ends the task.",
    parameters: || {
        let properties = json!({
            // Words without a call become such a call, too, and may have any length. So the schema has no maximum.
            RESULT: {"type": "string", "minLength": 1},
            "sources": sources(),
        });
        object(&[RESULT], &properties)
    },
    category: ToolCategory::Terminal,
    is_look_up: false,
    is_indispensable: true,
    decide,
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let (state, turn) = (call.state, call.turn);
    let not_done = |failure: DelegationFailure, why: &str| BuiltinOutcome::NotDone {
        code: failure.code(),
        why: why.to_owned(),
    };
    let task = state.delegations.task_of(turn.trigger_seq());
    let Some(taken) = task.filter(|taken| taken.is_open()) else {
        let why = "nobody waits for a result";
        return Ok(not_done(DelegationFailure::Cancelled, why));
    };
    if taken.task.expires_at <= call.now {
        let why = "it is too late: nobody waits for the result any more";
        return Ok(not_done(DelegationFailure::TimedOut, why));
    }
    let result = one_line(call.text(RESULT));
    let limit = match taken.task.summarize {
        true => SUMMARY_LIMIT,
        false => RESULT_LIMIT,
    };
    let length = result.chars().count();
    if taken.task.summarize && length > limit && !was_sent_back(turn) {
        let why = format!(
            "the result has {length} characters; sum it up in at most {limit}, and call answer_task again"
        );
        return Ok(BuiltinOutcome::NotDone {
            code: TOO_LONG,
            why,
        });
    }
    let provenance = call.provenance(&result, "")?;
    let own = || state.identities.own();
    let audience = provenance.audience.clone();
    let answered = TaskAnswered {
        key: taken.task.key.clone(),
        outcome: TaskOutcome::Done(DelegatedWords {
            text: beginning(&result, limit).to_owned(),
            trust: provenance.trust,
            audience: audience.map(|all| own().fold(all, Audience::without)),
        }),
        took: taken.took,
        sources: provenance.sources.clone(),
    };
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::TaskAnswered(answered)],
        result: provenance.shown(),
    })
}

const TOO_LONG: &str = "too_long";

/// Whether a result was sent back in this turn. A second one is cut, so that the task ends.
fn was_sent_back(turn: &Turn) -> bool {
    let mut calls = turn.own_steps().flat_map(|step| &step.calls);
    calls.any(|call| call.call.name == ANSWER_TASK && call.verdict == Some(Verdict::Skipped))
}
