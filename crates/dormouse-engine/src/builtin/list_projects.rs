//! `list_projects`: lists the projects with summary, context and status.

use dormouse_contracts::{ToolCategory, Trust};
use serde_json::json;

use super::{
    BuiltinOutcome, shown_score, swap_project,
    table::{Builtin, object},
};
use crate::privacy::KnownProject;

pub(super) const TOOL: Builtin = Builtin {
    name: "list_projects",
    description: "List your projects.",
    parameters: || object(&[], &json!({})),
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: false,
    decide: |call| {
        let known = call.projects();
        let trusts = known.iter().map(KnownProject::least_trust);
        let trust = trusts.fold(Trust::FULL, Trust::lowest);
        let rows = known.iter().map(|it| {
            let row = json!({
                "project_key": it.project.id.to_string(),
                "status": it.project.status.to_string(),
                "trust": shown_score(it.least_trust()),
            });
            swap_project::with_words(row, it)
        });
        Ok(BuiltinOutcome::Listed {
            events: Vec::new(),
            result: json!({"projects": rows.collect::<Vec<_>>()}),
            trust,
        })
    },
};
