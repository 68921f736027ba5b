//! `update_goal`: says how a goal stands, or changes it.

use dormouse_contracts::ToolCategory;
use serde_json::{Value, json};

use super::{
    BuiltinOutcome,
    call::Call,
    table::{Builtin, due, goal, object, priority, sources, text},
};
use crate::{
    event::{Event, GoalBlock, GoalId, GoalNote, GoalStatus, GoalUpdated},
    goals::GOAL_TEXT_LIMIT,
};

pub(super) const TOOL: Builtin = Builtin {
    name: "update_goal",
    description: "Record how a goal stands. Waiting needs until or for: nothing is done until then. Blocked needs a note: why.",
    parameters: || {
        let mut properties = json!({
            "goal": goal(),
            "status": {"type": "string", "enum": ["open", "waiting", "blocked", "done", "dropped"]},
            "until": {"type": "string", "maxLength": 40, "description": "A moment: 2026-11-23T18:00:00Z."},
            "for": {"type": "string", "maxLength": 128, "description": "Somebody, by name or id: until they are next heard."},
            "note": text(GOAL_TEXT_LIMIT),
            "priority": priority(),
            "parent": {"type": "integer", "minimum": 0, "maximum": u32::MAX, "description": "0: none."},
            "sources": sources(),
        });
        if let Some(properties) = properties.as_object_mut() {
            properties.extend(due().map(|(name, parameter)| (name.to_owned(), parameter)));
        }
        object(&["goal"], &properties)
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let note = match call.text("note") {
            "" => None,
            text => Some(call.goal_note("note", &call.provenance(text, "")?)),
        };
        Ok(decide(call, note).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, note: Option<GoalNote>) -> Result<BuiltinOutcome, String> {
    let goal = call.goal("goal")?;
    let id = goal.map(|goal| goal.id).unwrap_or_default();
    let refused = |error: crate::goals::GoalError| error.to_string();
    let goals = &call.state.goals;
    if call.text("status") == "done" {
        let completed = goals.complete(id, note, &call.author()?).map_err(refused)?;
        let done: Vec<_> = completed.iter().map(|completed| completed.id.0).collect();
        return Ok(BuiltinOutcome::Decided {
            events: completed.into_iter().map(Event::GoalCompleted).collect(),
            result: json!({"done": done}),
        });
    }
    let status = status(call, note.is_some())?;
    let parent = call.arguments.get("parent").and_then(Value::as_u64);
    let parent = match parent {
        Some(0) => Some(GoalId(0)),
        _ => call.goal("parent")?.map(|goal| goal.id),
    };
    let updated = GoalUpdated {
        status,
        priority: call.priority(),
        parent_id: parent,
        moment: call.goal_moment()?,
        note,
        ..GoalUpdated::of(id, call.author()?)
    };
    let updated = goals.update(updated).map_err(refused)?;
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::GoalUpdated(updated)],
        result: json!({"goal": id.0}),
    })
}

fn status(call: &Call<'_>, has_note: bool) -> Result<Option<GoalStatus>, String> {
    Ok(Some(match call.text("status") {
        "" => return Ok(None),
        "open" => GoalStatus::Open,
        "dropped" => GoalStatus::Dropped,
        "blocked" if has_note => GoalStatus::Blocked(GoalBlock::Reported),
        "blocked" => return Err("status blocked needs a note that says why".to_owned()),
        _ => match (call.moment("until")?, call.text("for")) {
            (Some(until), "") => {
                GoalStatus::waiting_until(until, call.now).map_err(|error| error.to_string())?
            }
            (None, who) if !who.is_empty() => {
                let known = call.state.people.attribution(who);
                let id = known.id().cloned();
                GoalStatus::waiting_for(id.ok_or_else(|| {
                    format!("{who:?} is not the name or id of one person you have heard lately")
                })?)
            }
            _ => return Err("status waiting needs either until or for".to_owned()),
        },
    }))
}
