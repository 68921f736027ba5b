//! `list_goals`: lists the goals, also those for which the prompt has no room, and those that were closed lately.

use dormouse_contracts::{Origin, ToolCategory, Trust};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome,
    table::{Builtin, object},
};
use crate::{
    builtin::shown_score,
    privacy::{KnownGoal, Shareable},
    render,
};

pub(super) const TOOL: Builtin = Builtin {
    name: "list_goals",
    description: "List your goals.",
    parameters: || {
        object(
            &[],
            &json!({"status": {"type": "string", "enum": ["open", "closed", "all"]}}),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: false,
    decide: |call| {
        let wanted = call.text("status");
        let is_wanted = |known: &KnownGoal<'_>| match wanted {
            "all" => true,
            "closed" => !known.goal.is_open(),
            _ => known.goal.is_open(),
        };
        let mut goals = Shareable::of(call.state, call.turn).goals;
        goals.retain(is_wanted);
        let trusts = goals.iter().flat_map(|known| {
            let description = Some(known.goal.description.trust);
            description
                .into_iter()
                .chain(known.note.map(|note| note.trust))
        });
        let trust = trusts.fold(Trust::FULL, Trust::lowest);
        let goals: Vec<_> = goals.iter().map(listed).collect();
        Ok(BuiltinOutcome::Listed {
            events: Vec::new(),
            result: json!({"goals": goals, "version": call.state.goals.version()}),
            trust,
        })
    },
};

fn listed(known: &KnownGoal<'_>) -> Value {
    let goal = known.goal;
    let mut row = json!({
        "goal": goal.id.0,
        "description": goal.description.text,
        "status": render::goal_status(&goal.status),
        "priority": goal.priority,
        "trust": shown_score(goal.description.trust),
        "sources": [format!("#{}", Origin::event(goal.seq))],
    });
    let more = [
        ("parent", goal.parent.map(|parent| parent.0.into())),
        (
            "next_at",
            goal.turns.next_at.map(|at| at.to_string().into()),
        ),
        ("note", known.note.map(|note| note.text.clone().into())),
    ];
    for (name, value) in more {
        if let (Some(value), Value::Object(fields)) = (value, &mut row) {
            fields.insert(name.to_owned(), value);
        }
    }
    row
}
