//! What servers refuse, in their own words.

use dormouse_contracts::ModelErrorKind;

use crate::{
    double::{Answer, Dialect, KEY},
    matrix::{cell::Row, outcome::Outcome, scene::Scene},
};

pub(super) fn rows() -> Vec<Row> {
    let refused = Outcome::Fails(ModelErrorKind::Refused);
    vec![
        by_status::<400>("400: an invalid field", ModelErrorKind::Refused),
        row(
            "400: the prompt is longer than the context",
            too_long,
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the same, in vLLM's words behind a gateway",
            |d| {
                said(
                    d,
                    "This model's maximum context length is 8192 tokens, however you requested 9001 tokens.",
                )
            },
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the same, in Anthropic's words behind a gateway",
            |d| {
                said(
                    d,
                    "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
                )
            },
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the same, in Gemini's words behind a gateway",
            |d| {
                said(
                    d,
                    "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
                )
            },
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the same, in Groq's words behind a gateway",
            |d| said(d, "Please reduce the length of the messages or completion."),
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the same, in llama-server's words and without its code",
            |d| {
                said(
                    d,
                    "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
                )
            },
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the same, in TGI's words behind a gateway",
            |d| {
                said(
                    d,
                    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192.",
                )
            },
            ModelErrorKind::ContextExceeded,
        ),
        row(
            "400: the requested reply is too long",
            |d| {
                said(
                    d,
                    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
                )
            },
            ModelErrorKind::Refused,
        ),
        by_status::<401>("401: the key is wrong", ModelErrorKind::Auth),
        by_status::<402>("402: no credit left", ModelErrorKind::Auth),
        by_status::<403>("403: the key lacks the permission", ModelErrorKind::Auth)
            // They have no code for it.
            .but("OpenRouter", refused)
            .but("Ollama", refused),
        row(
            "403 in HTML, by a firewall",
            |_| {
                Scene::of(Answer::status(
                    403,
                    "content-type: text/html\r\n",
                    "<h1>Forbidden</h1>",
                ))
            },
            ModelErrorKind::Refused,
        ),
        by_status::<404>("404: no such model", ModelErrorKind::NotFound),
        by_status::<408>("408: too slow", ModelErrorKind::TimedOut),
        by_status::<413>(
            "413: the request is too large, although it is short",
            ModelErrorKind::Refused,
        ),
        by_status::<422>("422: the request is invalid", ModelErrorKind::Refused),
        by_status::<429>("429: too many requests", ModelErrorKind::RateLimited(None)),
        by_status::<500>("500", ModelErrorKind::Unavailable),
        by_status::<501>("501: not implemented", ModelErrorKind::Refused),
        by_status::<503>("503", ModelErrorKind::Unavailable),
        row(
            "504 in HTML, by a proxy",
            |_| {
                Scene::of(Answer::status(
                    504,
                    "content-type: text/html\r\n",
                    "<h1>Timeout</h1>",
                ))
            },
            ModelErrorKind::Unavailable,
        ),
        by_status::<529>("529: overloaded", ModelErrorKind::Unavailable),
        row(
            "an error body of 100 MB with 500",
            |_| {
                let head = Answer::raw("HTTP/1.1 500 Said\r\nconnection: close\r\n\r\n");
                Scene::of(head.then(crate::double::Step::Flood(b"no ".repeat(20_000), 1_700)))
            },
            ModelErrorKind::Unavailable,
        ),
    ]
}

fn row(what: &'static str, scene: fn(&dyn Dialect) -> Scene, kind: ModelErrorKind) -> Row {
    Row::new("Error bodies", what, scene, Outcome::Fails(kind))
}

/// A row of an error that the server answers with this status, in each dialect's own words.
fn by_status<const CODE: u16>(what: &'static str, kind: ModelErrorKind) -> Row {
    row(what, |d| status(d, CODE), kind)
}

fn status(dialect: &dyn Dialect, status: u16) -> Scene {
    let words = format!("this is not possible, {KEY}");
    Scene::of(error_body(status, &dialect.error_body(status, &words)))
}

fn said(dialect: &dyn Dialect, words: &str) -> Scene {
    Scene::of(error_body(400, &dialect.error_body(400, words)))
}

fn too_long(dialect: &dyn Dialect) -> Scene {
    let (status, body) = dialect.too_long();
    Scene::of(error_body(status, &body))
}

fn error_body(status: u16, body: &serde_json::Value) -> Answer {
    Answer::status(
        status,
        "content-type: application/json\r\n",
        body.to_string(),
    )
}
