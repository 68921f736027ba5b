//! What a model is shown, part by part.

use axum::{Json, extract::State};
use dormouse_contracts::Seq;
use dormouse_engine::{PreviewError, PreviewPart, PromptPreview};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{contexts::context, json};
use crate::{
    extract::{Asked, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// A prompt, part by part.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviewView {
    /// The event up to which the log is read.
    event: u64,
    /// The kind of tick.
    context_type: &'static str,
    /// `call`, `next_tick` or `imagined`: which prompt it is.
    #[schema(value_type = String)]
    of: Value,
    /// How many tokens it takes.
    total: u32,
    /// The size of the context window.
    window: u32,
    /// The hash of the request, as in the event `replied`.
    hash: String,
    /// Its parts, in their order.
    messages: Vec<PartView>,
    /// The tools that it offers.
    tools: Vec<String>,
    /// What is left out or withheld, and why.
    left_out: Vec<OmittedView>,
    /// What seems to be wrong with it.
    findings: Vec<String>,
}

/// A part of a prompt.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PartView {
    number: u32,
    /// Its name.
    component: String,
    /// `system`, `user` or `turns`: who speaks in it.
    #[schema(value_type = String)]
    role: Value,
    /// Whether it is the same in each prompt until the configuration changes.
    is_static: bool,
    tokens: u32,
    /// Why it is there.
    why: String,
    text: String,
}

/// Something that a prompt does not show.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OmittedView {
    /// The part that it belongs to.
    component: String,
    /// What, and why.
    why: String,
}

/// Which prompt.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichPrompt {
    /// The kind of tick for which the prompt is made, such as `tick_event`.
    context_type: Option<String>,
    /// The event after which the prompt is made; if it is a reply, the prompt that the reply answered. The end of the
    /// log if absent.
    at: Option<u64>,
}

/// Show what a model is shown, part by part, with the reason for each.
///
/// Nothing is sent.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/prompt/preview/", tag = "prompt",
    params(("key" = String, Path, description = "Its key"), WhichPrompt),
    responses((status = OK, body = PreviewView)))]
pub(crate) async fn preview_prompt(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<WhichPrompt>,
) -> Result<Json<PreviewView>, Problem> {
    caller.may(Right::Read, &key)?;
    let context = asked.context_type.as_deref().map(context).transpose()?;
    service.exists(&key)?;
    let at = asked.at.map(Seq);
    let shown = service.host.preview(&key, at, context);
    let PromptPreview {
        seq,
        context,
        of,
        tokens,
        window,
        hash,
        parts,
        tools,
        left_out,
        findings,
    } = Box::pin(shown).await?;
    let left_out = left_out.into_iter().map(|it| OmittedView {
        component: it.part,
        why: it.why,
    });
    Ok(Json(PreviewView {
        event: seq.0,
        context_type: context.row().name,
        of: json(&of),
        total: tokens,
        window,
        hash,
        messages: parts.into_iter().map(part).collect(),
        tools: tools.iter().map(ToString::to_string).collect(),
        left_out: left_out.collect(),
        findings,
    }))
}

fn part(part: PreviewPart) -> PartView {
    PartView {
        number: part.id.into(),
        component: part.key,
        role: json(&part.role),
        is_static: part.is_static,
        tokens: part.tokens,
        why: part.why,
        text: part.text,
    }
}

impl From<PreviewError> for Problem {
    fn from(error: PreviewError) -> Self {
        match error {
            PreviewError::NoSuchEvent { .. } => ProblemCode::UnknownItem.because(error.to_string()),
            PreviewError::NeverWoke(_) => ProblemCode::Conflict.because(error.to_string()),
            error => Self::internal(&error),
        }
    }
}
