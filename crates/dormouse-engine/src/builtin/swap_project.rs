//! `swap_project`: leaves the active project and takes up another one.

use dormouse_contracts::{Origin, ToolCategory};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, object, sources, text},
};
use crate::{
    event::{Event, ProjectId, ProjectStatus},
    privacy::KnownProject,
    projects::{PROJECT_CONTEXT_LIMIT, ProjectError},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "swap_project",
    description: "Take up another project. The active one is paused; current_project_update says where it stands.",
    parameters: || {
        object(
            &["project_key"],
            &json!({
                "project_key": text(24),
                "current_project_update": text(PROJECT_CONTEXT_LIMIT),
                "reasoning": text(PROJECT_CONTEXT_LIMIT),
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let words = call.texts(&["current_project_update", "reasoning"]);
        let provenance = call.provenance(&words, "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let known = call.projects();
    let asked = call.text("project_key");
    let id = asked.parse::<ProjectId>().ok();
    let found = id.and_then(|id| known.iter().find(|it| it.project.id == id));
    let next = found.ok_or_else(|| {
        let asked = dormouse_text::beginning(asked, super::SOURCE_SHOWN);
        let known = known.iter().map(|it| it.project.id);
        ProjectError::unknown(asked, known).to_string()
    })?;
    let before = known
        .iter()
        .find(|it| it.project.status == ProjectStatus::Active);
    let update = call.given_note("current_project_update", provenance);
    // An active project that the listeners do not know is paused, and keeps its words.
    if update.is_some() && before.is_none() {
        return Err(ProjectError::NoneActive.to_string());
    }
    let projects = &call.state.projects;
    let reasoning = call.given_note("reasoning", provenance);
    let swapped = projects.swap(next.project.id, update, reasoning, call.author()?);
    let swapped = swapped.map_err(|error| error.to_string())?;
    let result = json!({
        "old_key": before.map(|before| before.project.id.to_string()),
        "new_key": next.project.id.to_string(),
    });
    Ok(BuiltinOutcome::Listed {
        events: vec![Event::ProjectSwapped(swapped)],
        result: with_words(result, next),
        trust: next.least_trust(),
    })
}

/// Adds the words about a project, with their sources.
pub(super) fn with_words(mut row: Value, known: &KnownProject<'_>) -> Value {
    let project = known.project;
    let more = [
        ("summary", Some(project.summary.text.clone().into())),
        ("context", known.context.map(|it| it.text.clone().into())),
        (
            "sources",
            Some(json!([format!("#{}", Origin::event(project.seq))])),
        ),
    ];
    for (name, value) in more {
        if let (Some(value), Value::Object(fields)) = (value, &mut row) {
            fields.insert(name.to_owned(), value);
        }
    }
    row
}
