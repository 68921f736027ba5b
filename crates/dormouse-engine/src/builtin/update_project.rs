//! `update_project`: says where the active project stands, or that it is over.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, object, sources, text},
};
use crate::{
    event::{Event, ProjectStatus, ProjectUpdated},
    projects::{PROJECT_CONTEXT_LIMIT, PROJECT_SUMMARY_LIMIT, ProjectError},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "update_project",
    description: "Record where the active project stands. This replaces its context.",
    parameters: || {
        object(
            &[],
            &json!({
                "context": text(PROJECT_CONTEXT_LIMIT),
                "summary": text(PROJECT_SUMMARY_LIMIT),
                "status": {"enum": ["completed"]},
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
    let refused = |error: ProjectError| error.to_string();
    // Only projects that all listeners perceived are known here.
    let mut known = call.projects().into_iter();
    let active = known.find(|known| known.project.status == ProjectStatus::Active);
    let active = active.ok_or(ProjectError::NoneActive).map_err(refused)?;
    let id = active.project.id;
    let updated = ProjectUpdated {
        summary: call.given_note("summary", provenance),
        context: call.given_note("context", provenance),
        status: (call.text("status") == "completed").then_some(ProjectStatus::Completed),
        ..ProjectUpdated::of(id, call.author()?)
    };
    let updated = call.state.projects.update(updated).map_err(refused)?;
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::ProjectUpdated(updated)],
        result: json!({"project_key": id.to_string()}),
    })
}
