//! How far ticks may go and which layer decides that, and what tools did.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use dormouse_engine::{
    CONTEXTS, ContextSignals, Execution, ExecutionFilter, ModelMetrics, ToolMetrics, Verdict,
    compose, execution_metrics, newest_executions,
};
use dormouse_host::config::{EXECUTION_FIELDS, find};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    assistants::limit, config::SettingView, contexts::PatternView, json, status::SignalsView,
};
use crate::{
    extract::{Asked, Key},
    guard::Caller,
    problem::Problem,
    service::Shared,
    tokens::Right,
};

/// How many calls an answer has: at most, and by default.
const PAGE: (u32, u32) = (1_000, 50);

/// How far ticks may go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecutionView {
    /// What the operator allows.
    settings: Vec<SettingView>,
    /// How each kind of tick restricts these settings.
    patterns: Vec<PatternView>,
    /// How many tokens the last prompt took.
    prompt_tokens: u32,
    consecutive_errors: u32,
    signals: SignalsView,
    /// The kind of the tick whose turn is open.
    context: Option<&'static str>,
    /// How the task of that turn was assessed.
    #[schema(value_type = Option<Value>)]
    assessment: Option<Value>,
}

/// Calls of tools.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CallList {
    /// The newest ones, oldest first.
    calls: Vec<CallView>,
}

/// A call of a tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CallView {
    /// The event that has the result.
    event: u64,
    tick: u64,
    at: String,
    /// The tool, as the model named it.
    tool: String,
    /// What calling it does to the loop; absent if there is no such tool.
    #[schema(value_type = Option<String>)]
    category: Option<Value>,
    /// The arguments, as the model wrote them.
    parameters: String,
    /// What the model thought, if it said so.
    reasoning: Option<String>,
    /// `success`, `failure` or another ending.
    #[schema(value_type = Value)]
    verdict: Value,
    success: bool,
    error: Option<String>,
    duration_ms: f64,
    /// Whether it is the result of an earlier call, used again.
    cached: bool,
    /// The model that decided it.
    model: Option<String>,
}

/// Which calls.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindCalls {
    /// Only those of this tool.
    tool: Option<String>,
    /// Only those that failed.
    #[serde(default)]
    failed: bool,
    /// How many at most, the newest ones: 1 to 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// What a life has called.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CallMetrics {
    /// By the name of the tool.
    tools: BTreeMap<String, ToolCounts>,
    /// By the name of the model.
    models: BTreeMap<String, ModelCounts>,
    /// How many ticks had a reason.
    ticks: u64,
    /// How many turns are over.
    turns: u64,
    /// How many of them ended without an answer.
    unanswered: u64,
}

/// The calls of a tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolCounts {
    calls: u64,
    successes: u64,
    errors: u64,
    /// How many of the errors were calls without an answer.
    unanswered: u64,
    /// How many calls were decided and not made.
    not_made: u64,
    /// How many were answered from earlier results.
    cached: u64,
    total_ms: f64,
    longest_ms: f64,
}

/// The requests to a model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelCounts {
    replies: u64,
    failures: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    total_ms: f64,
    longest_ms: f64,
}

/// Show how far ticks may go, and which layer decides each value.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/execution/", tag = "execution",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = ExecutionView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<ExecutionView>, Problem> {
    caller.may(Right::Read, &key)?;
    let (config, state) = service.config(&key).await?;
    let settings = config.pattern_settings(&key);
    let settings = settings.map_err(|error| Problem::internal(&error))?;
    let fields = EXECUTION_FIELDS.iter().filter_map(|name| find(name).ok());
    let patterns = CONTEXTS.iter().map(|row| {
        let assessment = state.assessment_in(row.context);
        PatternView::of(row, &compose(&settings, row.context, assessment))
    });
    let turn = state.turns.current();
    let assessment = turn.and_then(|turn| turn.assessment.as_ref());
    Ok(Json(ExecutionView {
        settings: fields.map(|it| SettingView::of(&config, it)).collect(),
        patterns: patterns.collect(),
        prompt_tokens: state.counts.prompt_tokens,
        consecutive_errors: state.errors.consecutive,
        signals: ContextSignals::of(&state, service.now()).into(),
        context: turn.map(|turn| turn.context.row().name),
        assessment: assessment.map(json),
    }))
}

/// List the newest calls of tools, oldest first.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/execution/log/", tag = "execution",
    params(("key" = String, Path, description = "Its key"), FindCalls),
    responses((status = OK, body = CallList)))]
pub(crate) async fn log(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<FindCalls>,
) -> Result<Json<CallList>, Problem> {
    caller.may(Right::Read, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    service.exists(&key)?;
    let filter = ExecutionFilter {
        tool: asked.tool,
        is_failed: asked.failed,
    };
    let newest = newest_executions(service.host.log(), &key, &filter, limit).await?;
    Ok(Json(CallList {
        calls: newest.into_iter().map(call).collect(),
    }))
}

/// Count the calls of each tool and of each model in the assistant's whole life.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/execution/metrics/", tag = "execution",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = CallMetrics)))]
pub(crate) async fn metrics(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<CallMetrics>, Problem> {
    caller.may(Right::Read, &key)?;
    service.exists(&key)?;
    let counted = execution_metrics(service.host.log(), &key).await?;
    let tools = counted.tools.iter();
    let models = counted.models.iter();
    Ok(Json(CallMetrics {
        tools: tools
            .map(|(name, it)| (name.to_string(), tool(it)))
            .collect(),
        models: models
            .map(|(name, it)| (name.to_string(), model(it)))
            .collect(),
        ticks: counted.tasks.ticks,
        turns: counted.tasks.closed,
        unanswered: counted.tasks.failed,
    }))
}

fn call(it: Execution) -> CallView {
    CallView {
        event: it.seq.0,
        tick: it.tick,
        at: it.at.to_string(),
        tool: it.tool,
        category: it.category.as_ref().map(json),
        parameters: it.parameters,
        reasoning: it.reasoning,
        verdict: json(&it.verdict),
        success: it.verdict == Verdict::Success,
        error: it.error,
        duration_ms: it.duration_ms,
        cached: it.cached,
        model: it.model.map(|model| model.to_string()),
    }
}

fn tool(it: &ToolMetrics) -> ToolCounts {
    ToolCounts {
        calls: it.calls,
        successes: it.successes,
        errors: it.errors,
        unanswered: it.unanswered,
        not_made: it.not_made,
        cached: it.cached,
        total_ms: it.total_ms,
        longest_ms: it.longest_ms,
    }
}

fn model(it: &ModelMetrics) -> ModelCounts {
    ModelCounts {
        replies: it.replies,
        failures: it.failures,
        prompt_tokens: it.prompt_tokens,
        completion_tokens: it.completion_tokens,
        total_ms: it.total_ms,
        longest_ms: it.longest_ms,
    }
}
