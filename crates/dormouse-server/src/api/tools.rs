//! What an assistant can do.

use axum::{Json, extract::State};
use dormouse_engine::builtin_tools;
use dormouse_host::{ListedTool, TOOL_CATEGORIES};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::json;
use crate::{extract::Key, guard::Caller, problem::Problem, service::Shared, tokens::Right};

/// The tools of an assistant by category.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolList {
    /// How many there are.
    count: u64,
    categories: Vec<ToolCategoryView>,
}

/// A category of tools.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolCategoryView {
    /// `safe_chain`, `async_required`, `terminal` or `dangerous`.
    #[schema(value_type = String)]
    category: Value,
    /// What it means.
    meaning: &'static str,
    /// How many tools it has.
    count: u64,
    tools: Vec<ToolView>,
}

/// A tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolView {
    name: String,
    /// Where it comes from: `engine`, `world`, or the name of another source.
    source: String,
    /// What it does, as the model reads it.
    description: String,
    /// The JSON Schema of its arguments.
    #[schema(value_type = Value)]
    parameters: Value,
    /// What a call can affect.
    #[schema(value_type = String)]
    reach: Value,
    /// The lowest trust that texts in the prompt may have for a call of this tool; absent if any trust is enough.
    trust: Option<f64>,
    timeout_seconds: f64,
}

/// List the tools of an assistant by category.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/tools/", tag = "tools",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ToolList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ToolList>, Problem> {
    caller.may(Right::Read, &key)?;
    let dangerous = service.config(&key).await?.0.memory.dangerous_trust;
    let tools = service.host.tools();
    let world = tools.iter().map(|tool| {
        let source = tool
            .source
            .as_ref()
            .map_or("world", |source| source.as_str());
        ListedTool::new(source, tool.spec.clone(), dangerous)
    });
    let own = builtin_tools().map_err(|error| Problem::internal(&error))?;
    let own = own
        .into_iter()
        .map(|spec| ListedTool::new("engine", spec, dangerous));
    let all: Vec<_> = world.chain(own).collect();
    let categories = TOOL_CATEGORIES.iter().map(|(category, _, meaning)| {
        let here = all.iter().filter(|tool| tool.spec.category == *category);
        let tools: Vec<_> = here.map(view).collect();
        ToolCategoryView {
            category: json(category),
            meaning,
            count: tools.len() as u64,
            tools,
        }
    });
    Ok(Json(ToolList {
        count: all.len() as u64,
        categories: categories.collect(),
    }))
}

fn view(tool: &ListedTool) -> ToolView {
    let spec = &tool.spec;
    ToolView {
        name: spec.name.to_string(),
        source: tool.source.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
        reach: json(&spec.reach),
        trust: tool.trust.map(|trust| trust.score().into()),
        timeout_seconds: spec.timeout.as_secs_f64(),
    }
}
