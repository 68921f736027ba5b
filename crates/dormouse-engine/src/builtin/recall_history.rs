//! `recall_history`: reads back, word for word, what prompts no longer show.

use dormouse_contracts::{Origin, Seq, ToolCategory, Trust};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, MemoryQuery, NotShown,
    call::Call,
    is_own, pending,
    shown::SURROUNDINGS_TRUST,
    table::{Builtin, object},
};
use crate::{
    privacy::{Shareable, listeners},
    results::named_origin,
};

/// The maximum number of lines that one call returns.
const MOST_LINES: usize = 20;

pub(super) const TOOL: Builtin = Builtin {
    name: super::RECALL_HISTORY,
    description: "Read back earlier events that are not shown any more, word for word: those between two ids, or the old results \
                  of one turn.",
    parameters: || {
        let id = json!({"type": "string", "maxLength": 24, "description": "An id such as #12."});
        object(&[], &json!({"from": id, "to": id, "results_of": id}))
    },
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: false,
    decide,
};

#[expect(clippy::unnecessary_wraps, reason = "the signature of all tools")]
fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let named = |key: &str| named_origin(call.text(key)).map(Origin::seq);
    Ok(match (named("results_of"), named("from"), named("to")) {
        (Some(turn), _, _) => results_of(call, turn),
        (None, Some(from), to) => {
            let to = to.unwrap_or(from);
            BuiltinOutcome::AskMemory(MemoryQuery::History {
                from: from.min(to),
                to: from.max(to),
                limit: MOST_LINES,
                without: pending(call.state, call.turn),
                quote_trust: call.quote_trust,
                listeners: listeners(call.state, call.turn),
            })
        }
        (None, None, _) => {
            let why = "name the first and the last event in from and to, or a turn in results_of";
            BuiltinOutcome::Refused(why.to_owned())
        }
    })
}

/// The results of the world's tools in an earlier turn. Results of built-in tools are left out: their records may have been
/// erased since, so the model has to look them up again.
fn results_of(call: &Call<'_>, seq: Seq) -> BuiltinOutcome {
    let Shareable { turns, dropped, .. } = Shareable::of(call.state, call.turn);
    let mut all = turns.into_iter().chain(dropped);
    let Some(turn) = all.find(|turn| turn.trigger_seq() == seq) else {
        return BuiltinOutcome::Refused(format!(
            "there is no earlier turn #{seq} whose results are kept"
        ));
    };
    let calls = turn.shown_steps().flat_map(|step| &step.calls);
    let results = calls.filter(|call| !is_own(&call.call.name));
    let mut declared: Option<Trust> = None;
    let results = results.filter_map(|call| {
        if let Some(trust) = call.trust {
            declared = Some(declared.map_or(trust, |least| least.lowest(trust)));
        }
        let result = call.result.as_deref()?;
        let read = serde_json::from_str::<Value>(result);
        let result = read.unwrap_or_else(|_| result.into());
        Some(json!({"tool": call.call.name, "result": result}))
    });
    let results: Vec<Value> = results.collect();
    let result = json!({"results": results});
    let events = Vec::new();
    match declared {
        // Reading a result again does not make it more believed.
        Some(trust) => BuiltinOutcome::Listed {
            events,
            result,
            trust: trust.lowest(SURROUNDINGS_TRUST),
        },
        None => BuiltinOutcome::Decided { events, result },
    }
}
