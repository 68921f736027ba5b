//! `add_goal`: sets a goal.

use std::time::Duration;

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, due, goal, object, priority, sources, text},
};
use crate::{
    event::{Event, GoalMoment},
    goals::{GOAL_TEXT_LIMIT, NewGoal, USUAL_PRIORITY},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "add_goal",
    description: "Set yourself a goal beyond this answer. With due_at or repeats you are called at that moment to pursue it, \
                  also if nobody speaks.",
    parameters: || {
        let mut properties = json!({
            "description": text(GOAL_TEXT_LIMIT),
            "priority": priority(),
            "parent": goal(),
            "sources": sources(),
        });
        if let Some(properties) = properties.as_object_mut() {
            properties.extend(due().map(|(name, parameter)| (name.to_owned(), parameter)));
        }
        object(&["description"], &properties)
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let provenance = call.provenance(call.text("description"), "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let mut moment = call.goal_moment()?.unwrap_or_default();
    let settings = &call.state.configuration.settings.goals;
    if let (GoalMoment::At(at), Some(_)) = (&mut moment, call.turn.trigger.goal()) {
        // Without a pause, goals could call for one another endlessly.
        let pause = Duration::from_secs(settings.retry_after_seconds.into());
        *at = (*at).max(call.now.plus(pause));
    }
    let divided = call.turn.divides();
    let parent = call.goal("parent")?.map(|goal| goal.id).or(divided);
    let goal = NewGoal {
        description: call.goal_note("description", provenance),
        priority: call.priority().unwrap_or(USUAL_PRIORITY),
        parent,
        moment,
    };
    let goals = &call.state.goals;
    let created = goals.create(goal, call.author()?);
    let created = created.map_err(|error| error.to_string())?;
    let is_pursued = moment == GoalMoment::Never || provenance.trust >= settings.pursue_trust;
    let why_not = (!is_pursued).then(|| {
        let floor = settings.pursue_trust;
        let why_not = format!("no: a goal needs a trust of {floor} to call for turns by itself");
        ("pursued".to_owned(), why_not.into())
    });
    let mut result = provenance.shown();
    if let Some(result) = result.as_object_mut() {
        result.insert("goal".to_owned(), created.id.0.into());
        result.extend(why_not);
    }
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::GoalCreated(created)],
        result,
    })
}
