//! The tools that the world offers.

use std::time::Duration;

use axum::{Json, extract::State};
use dormouse_contracts::{
    CachePolicy, CacheScope, IdError, Speech, SpeechKind, ToolCategory, ToolName, ToolReach,
    ToolSpec, Trust,
};
use dormouse_host::http_world::OfferError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::door;
use crate::{
    extract::JsonBody,
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The tools of the world.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldTools {
    /// At most 64.
    #[schema(max_items = 64)]
    tools: Vec<WorldTool>,
}

/// Something that an assistant can do in the world.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldTool {
    /// Its name, as a model calls it.
    name: String,
    /// What it does, for the model to read.
    #[schema(min_length = 1)]
    description: String,
    /// The JSON Schema of its arguments: that of an object.
    #[schema(value_type = Value)]
    parameters: Value,
    /// `effect`: it changes the world; `query`: it only reads.
    #[serde(default)]
    reach: WorldToolReach,
    /// `safe_chain`: another call may follow; `terminal`: it ends the turn; `dangerous`: it changes something important;
    /// `async_required`: it waits for an outside result.
    #[serde(default = "safe_chain")]
    #[schema(value_type = String)]
    category: ToolCategory,
    /// How long a call may take, in seconds.
    #[serde(default = "patience")]
    #[schema(minimum = 1, maximum = 600)]
    timeout_seconds: u32,
    /// How it speaks; absent if nobody hears it.
    speech: Option<WorldToolSpeech>,
    /// The lowest trust, 0 to 1, that texts in the prompt may have for a call of this tool; absent if any trust is
    /// enough.
    #[schema(minimum = 0, maximum = 1)]
    required_trust: Option<f64>,
    /// For a query: for how many seconds its answer may be used again within a tick.
    #[schema(maximum = 3600)]
    cache_seconds: Option<u32>,
}

/// What a tool of the world can affect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorldToolReach {
    /// It changes the world.
    #[default]
    Effect,
    /// It only reads.
    Query,
}

/// How a tool speaks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldToolSpeech {
    /// `aloud`, `whisper`, `page` or `channel`.
    #[schema(value_type = String)]
    kind: SpeechKind,
    /// The argument with the words, a text.
    words: String,
    /// The argument with the listener or the channel, if there is one.
    to: Option<String>,
}

fn safe_chain() -> ToolCategory {
    ToolCategory::SafeChain
}

fn patience() -> u32 {
    30
}

/// Show the tools that the world offers.
#[utoipa::path(get, path = "/api/ai/world/tools/", tag = "world",
    responses((status = OK, body = WorldTools)))]
pub(crate) async fn tools(
    State(service): State<Shared>,
    caller: Caller,
) -> Result<Json<WorldTools>, Problem> {
    caller.may_everywhere(Right::World)?;
    let tools = door(&service)?.tools();
    let tools = tools.into_iter().map(WorldTool::from).collect();
    Ok(Json(WorldTools { tools }))
}

/// Declare the tools that the world offers, in place of those before.
///
/// They are kept, so a world need not declare them again unless they change. Assistants that are awake wake again with them.
#[utoipa::path(post, path = "/api/ai/world/tools/", tag = "world", request_body = WorldTools,
    responses((status = OK, body = WorldTools)))]
pub(crate) async fn offer(
    State(service): State<Shared>,
    caller: Caller,
    JsonBody(offered): JsonBody<WorldTools>,
) -> Result<Json<WorldTools>, Problem> {
    caller.may_everywhere(Right::World)?;
    let specs = offered.tools.into_iter().map(ToolSpec::try_from);
    let specs: Vec<_> = specs.collect::<Result<_, _>>()?;
    service.host.offer_tools(specs).await?;
    let tools = door(&service)?.tools();
    tracing::info!(
        by = caller.token.name,
        count = tools.len(),
        "the world offers its tools"
    );
    let tools = tools.into_iter().map(WorldTool::from).collect();
    Ok(Json(WorldTools { tools }))
}

impl TryFrom<WorldTool> for ToolSpec {
    type Error = Problem;

    fn try_from(tool: WorldTool) -> Result<Self, Problem> {
        let invalid = |why: String| ProblemCode::InvalidValue.because(why);
        let name = ToolName::try_new(tool.name)
            .map_err(|error: IdError| invalid(format!("name: {error}")))?;
        let seconds = tool.timeout_seconds;
        if !(1..=600).contains(&seconds) {
            return Err(invalid(format!(
                "{name}: timeout_seconds is {seconds}; expected 1 to 600"
            )));
        }
        let required_trust = tool
            .required_trust
            .map(|score| Trust::try_new(score as f32));
        let required_trust = required_trust
            .transpose()
            .map_err(|error| invalid(format!("{name}: required_trust: {error}")))?;
        let cache = tool.cache_seconds.map(|seconds| CachePolicy {
            scope: CacheScope::Tick,
            ttl: Some(Duration::from_secs(seconds.min(3_600).into())),
        });
        Ok(Self {
            name,
            description: tool.description,
            parameters: tool.parameters,
            category: tool.category,
            reach: match tool.reach {
                WorldToolReach::Effect => ToolReach::Effect,
                WorldToolReach::Query => ToolReach::Query,
            },
            timeout: Duration::from_secs(seconds.into()),
            speech: tool.speech.map(|speech| Speech {
                kind: speech.kind,
                words: speech.words,
                to: speech.to,
            }),
            required_trust,
            cache,
            result_trust: None,
        })
    }
}

impl From<ToolSpec> for WorldTool {
    fn from(spec: ToolSpec) -> Self {
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        Self {
            name: spec.name.into(),
            description: spec.description,
            parameters: spec.parameters,
            reach: match spec.reach {
                ToolReach::Query => WorldToolReach::Query,
                _ => WorldToolReach::Effect,
            },
            category: spec.category,
            timeout_seconds: seconds(spec.timeout),
            speech: spec.speech.map(|speech| WorldToolSpeech {
                kind: speech.kind,
                words: speech.words,
                to: speech.to,
            }),
            required_trust: spec.required_trust.map(|trust| trust.score().into()),
            cache_seconds: spec.cache.and_then(|cache| cache.ttl).map(seconds),
        }
    }
}

impl From<OfferError> for Problem {
    fn from(error: OfferError) -> Self {
        match error {
            OfferError::TooMany(_) | OfferError::Tool(_) => {
                ProblemCode::InvalidValue.because(dormouse_text::error_chain(&error))
            }
            OfferError::Host(error) => error.into(),
            OfferError::File(error) => {
                tracing::error!(cause = %dormouse_text::error_chain(&error), "the tools of the world were not stored");
                ProblemCode::Storage.because("the tools were not stored: send them again later")
            }
            error => Self::internal(&error),
        }
    }
}
