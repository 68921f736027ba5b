//! `delegate_task`: gives a task to another assistant.

use dormouse_contracts::{Audience, ToolCategory};
use dormouse_text::one_line;
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, DELEGATE_TASK, NotShown, Provenance,
    call::Call,
    table::{Builtin, LINE_LIMIT, object, sources, text},
};
use crate::{
    delegating::{briefing, chain, room},
    event::{DelegatedTask, DelegatedWords, DelegationFailure, Event, TaskDelegated},
};

/// The longest name of a delegate, in characters.
const NAME_LIMIT: usize = 128;

pub(super) const TOOL: Builtin = Builtin {
    name: DELEGATE_TASK,
    description: "Give a task to another assistant of this host. Name one by its key, a tag or its name in \"to\", or leave it out. \
                  You are called again when there is a result: do not wait for it, and do not say that it is done.",
    parameters: || {
        let properties = json!({
            "task": text(LINE_LIMIT),
            "to": text(NAME_LIMIT),
            "sources": sources(),
        });
        object(&["task"], &properties)
    },
    category: ToolCategory::AsyncRequired,
    is_look_up: false,
    is_indispensable: false,
    decide,
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let provenance = call.provenance(call.text("task"), "")?;
    Ok(match delegated(call, &provenance) {
        Ok(delegated) => {
            let until = delegated.task.expires_at;
            let mut result = provenance.shown();
            if let Value::Object(fields) = &mut result {
                let status = format!(
                    "handed over; you are called when there is a result, at {until} at the latest"
                );
                fields.insert("status".to_owned(), status.into());
            }
            BuiltinOutcome::Decided {
                events: vec![Event::TaskDelegated(delegated)],
                result,
            }
        }
        Err((failure, why)) => BuiltinOutcome::NotDone {
            code: failure.code(),
            why: why.to_owned(),
        },
    })
}

fn delegated(
    call: &Call<'_>,
    provenance: &Provenance,
) -> Result<TaskDelegated, (DelegationFailure, &'static str)> {
    let (state, turn) = (call.state, call.turn);
    let room = room(state, turn, call.now)?;
    let chain = chain(state, turn, call.own);
    let to = one_line(call.text("to"));
    if chain.iter().any(|key| key.as_str() == to) {
        let why =
            "the task comes from there, or is yours: do it yourself, or give it to somebody else";
        return Err((DelegationFailure::Cycle, why));
    }
    let open = turn.open_call().map(|open| open.id().clone());
    let (Some(key), Some(call_id)) = (call.effect_key(), open) else {
        return Err((DelegationFailure::NotAllowed, "the task could not be named"));
    };
    let settings = &state.configuration.settings;
    let (execution, limits) = (&settings.execution, settings.delegation);
    let above = state.delegations.task_of(turn.trigger_seq());
    let latest = call.now.plus(limits.timeout());
    let audience = provenance.audience.clone();
    let briefing = briefing(state, turn, execution.personality_insulation);
    let (briefing, briefing_sources) = briefing.unzip();
    Ok(TaskDelegated {
        call: call_id,
        to: Some(to).filter(|to| !to.is_empty()),
        tag: execution.delegate_assistant_tag.clone(),
        task: DelegatedTask {
            key,
            chain,
            task: DelegatedWords {
                text: one_line(call.text("task")),
                trust: provenance.trust,
                audience: audience.map(|all| state.identities.own().fold(all, Audience::without)),
            },
            briefing,
            insulation: execution.personality_insulation,
            summarize: execution.result_summarization,
            tokens: room.tokens,
            quota: room.quota,
            // A part of a task expires no later than the task.
            expires_at: above.map_or(latest, |above| latest.min(above.task.expires_at)),
        },
        sources: provenance.sources.clone(),
        briefing_sources: briefing_sources.unwrap_or_default(),
        root: state.delegations.root_of(turn.trigger_seq()),
        part_of: above.map(|above| above.task.key.clone()),
        cost: room.cost,
    })
}
