//! `create_project`: begins a project.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, object, sources, text},
};
use crate::{
    event::Event,
    projects::{PROJECT_CONTEXT_LIMIT, PROJECT_SUMMARY_LIMIT},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "create_project",
    description: "Begin a project: work over many turns whose context you can leave and take up again.",
    parameters: || {
        object(
            &["summary"],
            &json!({
                "summary": text(PROJECT_SUMMARY_LIMIT),
                "context": text(PROJECT_CONTEXT_LIMIT),
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let provenance = call.provenance(&call.texts(&["summary", "context"]), "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let summary = call.goal_note("summary", provenance);
    let context = call.given_note("context", provenance);
    let settings = &call.state.configuration.settings.own;
    let projects = &call.state.projects;
    let created = projects.create(summary, context, settings, call.author()?);
    let created = created.map_err(|error| error.to_string())?;
    let mut result = provenance.shown();
    if let Some(result) = result.as_object_mut() {
        result.insert("project_key".to_owned(), created.id.to_string().into());
        result.insert("status".to_owned(), created.status.to_string().into());
    }
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::ProjectCreated(created)],
        result,
    })
}
