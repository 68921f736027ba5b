//! The requests of a check, and the conclusions from the replies.

use std::time::Duration;

use dormouse_contracts::{
    Allowance, ChatReply, ChatRequest, FinishReason, Message, OutputFormat, ReplyInfo,
    RequestField, ToolChoice,
};
use dormouse_dialects::ProbeVerdict;
use dormouse_engine::ToolCalling;
use dormouse_providers::Tally;
use serde::Deserialize;
use serde_json::{Value, json};

use super::report::Check;
use crate::{
    dialects,
    exit::Exit,
    finding::Finding,
    grammar::counted,
    provider::asking::{Answer, Probed},
};

/// Room for a short answer, and for the reasoning of a model.
const ROOM: u32 = 1_024;

fn question(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: text.to_owned(),
        }],
        tool_choice: ToolChoice::None,
        max_tokens: Some(ROOM),
        ..ChatRequest::default()
    }
}

/// A question whose answer takes several pieces.
pub(super) fn words() -> ChatRequest {
    question("Count from one to ten, in words. Say nothing else.")
}

/// The checks of that answer.
pub(super) fn answer(answer: &Answer) -> Vec<Check> {
    let reply = match &answer.outcome {
        Ok(reply) => reply,
        Err(silence) => {
            let finding = Finding::Wrong(format!("it does not answer: {silence}"), Exit::Failure);
            return vec![Check::new("answer", finding).with("whole_ms", millis(answer.whole))];
        }
    };
    let mut checks = vec![spoken(answer, reply)];
    if !reply.content.is_empty() || !reply.reasoning.is_empty() {
        checks.push(streaming(answer));
    }
    checks.extend(reply.info.as_deref().map(served));
    checks.extend(reply.info.as_deref().and_then(left_out));
    checks
}

fn spoken(answer: &Answer, reply: &ChatReply) -> Check {
    let first = answer.first.unwrap_or(answer.whole);
    let usage = reply.usage.map(|usage| {
        let (prompt, completion) = (usage.prompt_tokens, usage.completion_tokens);
        format!("; {prompt} tokens in, {completion} out")
    });
    let usage = usage.unwrap_or_else(|| "; it does not say how many tokens that took".to_owned());
    let text = format!(
        "it answers: first piece after {} ms, all of it after {} ms{usage}",
        millis(first),
        millis(answer.whole)
    );
    let finding = match (reply.content.trim().is_empty(), &reply.finish) {
        (false, _) => Finding::Fine(text),
        (true, FinishReason::Length) => Finding::Doubtful(format!(
            "{text}; nothing was said within {ROOM} tokens, which may all have been thoughts"
        )),
        (true, _) if reply.reasoning.is_empty() => {
            Finding::Wrong("it answers, and says nothing".to_owned(), Exit::Failure)
        }
        (true, _) => Finding::Doubtful(format!("{text}; it thought, and said nothing")),
    };
    Check::new("answer", finding)
        .with("first_ms", millis(first))
        .with("whole_ms", millis(answer.whole))
        .with("usage", json!(reply.usage))
}

fn streaming(answer: &Answer) -> Check {
    let pieces = counted(answer.pieces, "piece", "pieces");
    let finding = match answer.pieces {
        0 | 1 => Finding::Doubtful(format!("streaming: the reply came in {pieces}")),
        _ => Finding::Fine(format!("streaming: the reply came in {pieces}")),
    };
    Check::new("streaming", finding).with("pieces", answer.pieces)
}

fn served(info: &ReplyInfo) -> Check {
    let mut text = match &info.served_model {
        Some(model) => format!("served by the model {model}"),
        None => "the server does not say which model served it".to_owned(),
    };
    if let Some(id) = &info.request_id {
        text += &format!(", request {id}");
    }
    let limits = [
        ("requests", info.rate_limits.requests),
        ("tokens", info.rate_limits.tokens),
    ];
    for (what, allowance) in limits {
        text += &allowance.map(|it| allowed(it, what)).unwrap_or_default();
    }
    Check::new("served", Finding::Fine(text))
        .with("served_model", info.served_model.clone())
        .with("request_id", info.request_id.clone())
        .with("requests", info.rate_limits.requests.map(allowance))
        .with("tokens", info.rate_limits.tokens.map(allowance))
}

fn allowed(allowance: Allowance, what: &str) -> String {
    match (allowance.remaining, allowance.limit) {
        (Some(left), Some(limit)) => format!("; {left} of {limit} {what} left"),
        (Some(left), None) => format!("; {left} {what} left"),
        (None, Some(limit)) => format!("; at most {limit} {what}"),
        (None, None) => String::new(),
    }
}

fn allowance(allowance: Allowance) -> Value {
    json!({
        "limit": allowance.limit,
        "remaining": allowance.remaining,
        "resets_in_ms": allowance.resets_in.map(millis),
    })
}

fn left_out(info: &ReplyInfo) -> Option<Check> {
    let names: Vec<_> = info.left_out.iter().map(field).collect();
    let text = format!(
        "left out, because the server does not know it: {}",
        names.join(", ")
    );
    (!names.is_empty())
        .then(|| Check::new("left_out", Finding::Doubtful(text)).with("fields", names))
}

fn field(field: &RequestField) -> String {
    match (field, json!(field)) {
        (RequestField::Extra(name), _) => name.clone(),
        (_, Value::String(name)) => name,
        (_, other) => other.to_string(),
    }
}

/// The check of its tool calls.
pub(super) fn tools(probed: &Probed) -> Check {
    let finding = match (probed.verdict, probed.failure()) {
        (ProbeVerdict::Inconclusive, failure) => {
            let why = failure.unwrap_or_else(|| "it said nothing".to_owned());
            Finding::Doubtful(format!("tools: nothing could be learnt: {why}"))
        }
        (verdict, _) => Finding::Fine(format!("tools: it {}", dialects::showed(verdict))),
    };
    Check::new("tools", finding).with("shown", json!(probed.verdict))
}

/// How tools will be offered.
pub(super) fn offered(learnt: ToolCalling, configured: Option<ToolCalling>, is_new: bool) -> Check {
    let way = dialects::way(learnt);
    let finding = match configured {
        Some(other) if other != learnt => Finding::Doubtful(format!(
            "remembered; tools are offered {} all the same, as is configured",
            dialects::way(other)
        )),
        _ if is_new => Finding::Fine(format!("remembered: from now on tools are offered {way}")),
        _ => Finding::Fine(format!("remembered: tools are offered {way}")),
    };
    Check::new("remembered", finding).with("calling", json!(learnt))
}

/// The object that the request asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "whether it can be read is all that is asked")]
struct Animal {
    animal: String,
    legs: i64,
}

/// A question whose answer has to fit a schema.
pub(super) fn json_request() -> ChatRequest {
    ChatRequest {
        output: OutputFormat::Schema {
            name: "animal".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"animal": {"type": "string"}, "legs": {"type": "integer"}},
                "required": ["animal", "legs"],
                "additionalProperties": false,
            }),
        },
        ..question(
            "How many legs has a cat? Answer with one JSON object and nothing else: the animal's name in \"animal\", \
             the number in \"legs\".",
        )
    }
}

/// Whether the answer fits the schema.
pub(super) fn json(answer: &Answer) -> Check {
    let reply = match &answer.outcome {
        Ok(reply) => reply,
        Err(silence) => {
            let text = format!("JSON: no answer to a question with a schema: {silence}");
            return Check::new("json", Finding::Doubtful(text)).with("fits", Value::Null);
        }
    };
    let fits = serde_json::from_str::<Animal>(reply.content.trim()).is_ok();
    let info = reply.info.as_deref();
    let is_left_out = info.is_some_and(|info| info.left_out.contains(&RequestField::Output));
    let finding = match (fits, is_left_out) {
        (true, false) => Finding::Fine("JSON: the answer fits the schema".to_owned()),
        (true, true) => Finding::Doubtful(
            "JSON: the server does not enforce the schema; the answer fits it anyway".to_owned(),
        ),
        (false, false) => Finding::Doubtful("JSON: the answer does not fit the schema".to_owned()),
        (false, true) => Finding::Doubtful(
            "JSON: the server does not enforce the schema, and the answer does not fit it"
                .to_owned(),
        ),
    };
    Check::new("json", finding)
        .with("fits", fits)
        .with("schema_left_out", is_left_out)
}

/// The cost of all requests.
pub(super) fn cost(total: &Tally) -> Check {
    let requests = counted(total.requests, "request", "requests");
    let text = format!("cost of {requests}: {total}");
    let finding = if total.is_complete() {
        Finding::Fine(text)
    } else {
        Finding::Doubtful(text)
    };
    Check::new("cost", finding)
        .with(
            "dollars",
            (total.unknown < total.requests).then(|| total.known.dollars()),
        )
        .with("complete", total.is_complete())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
