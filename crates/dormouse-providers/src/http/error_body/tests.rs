use proptest::prelude::*;

use super::*;
use crate::{
    Secret,
    http::redact::{LONGEST, Redact},
};

fn hiding() -> Redact {
    Redact::new(Some(&Secret::try_new("sk-1234").unwrap()))
}

fn kind(status: u16, body: &str) -> ModelErrorKind {
    ErrorBody::read(body.as_bytes(), &Redact::default()).kind(status, None)
}

#[test]
fn every_status_has_a_kind() {
    let pause = Some(Duration::from_secs(7));
    let nothing = ErrorBody::default();
    for (status, expected) in [
        (301, ModelErrorKind::NotFound),
        (400, ModelErrorKind::Refused),
        (401, ModelErrorKind::Auth),
        (402, ModelErrorKind::Auth),
        (403, ModelErrorKind::Refused),
        (404, ModelErrorKind::NotFound),
        (408, ModelErrorKind::TimedOut),
        (413, ModelErrorKind::ContextExceeded),
        (422, ModelErrorKind::Refused),
        (429, ModelErrorKind::RateLimited(pause)),
        (500, ModelErrorKind::Unavailable),
        (501, ModelErrorKind::Refused),
        (502, ModelErrorKind::Unavailable),
        (503, ModelErrorKind::RateLimited(pause)),
        (529, ModelErrorKind::Unavailable),
    ] {
        assert_eq!(nothing.kind(status, pause), expected, "{status}");
    }
    assert_eq!(nothing.kind(503, None), ModelErrorKind::Unavailable);
}

#[test]
fn every_servers_error_for_a_long_prompt_is_recognised() {
    for body in [
        r#"{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        r#"{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":2048}}"#,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000"}}"#,
        // Older llama-server, also forwarded by Ollama as a string.
        r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"invalid_request_error"}}"#,
        r#"{"error":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"}"#,
        r#"{"error":"the input length exceeds the context length"}"#,
        // vLLM.
        r#"{"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.","type":"BadRequestError","param":null,"code":400}}"#,
        // OpenAI: too many messages, a message that is too long.
        r#"{"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead.","type":"invalid_request_error","param":"messages","code":"array_above_max_length"}}"#,
        r#"{"error":{"message":"Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1200000 instead.","type":"invalid_request_error","param":"messages[1].content","code":"string_above_max_length"}}"#,
        // OpenRouter forwards upstream errors as text, and as JSON within text.
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}"#,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}","provider_name":"Azure"}}}"#,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"ERROR: maximum context length is 8192","provider_name":"x"}}}"#,
        // Google, in a list; xAI, with a code next to it; Moonshot; Text Generation Inference.
        r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}"#,
        r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`","error_type":"validation"}"#,
    ] {
        assert_eq!(kind(400, body), ModelErrorKind::ContextExceeded, "{body}");
    }
    assert_eq!(
        kind(500, r#"{"error":"context window"}"#),
        ModelErrorKind::Unavailable
    );
}

#[test]
fn only_a_long_prompt_can_be_compacted() {
    for body in [
        r#"{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.","param":"tools","code":"array_above_max_length"}}"#,
        r#"{"error":{"message":"Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40.","param":"messages[2].tool_calls[0].id","code":"string_above_max_length"}}"#,
        r#"{"error":{"message":"max_tokens is too large: 200000. This model supports at most 16384 completion tokens.","param":"max_tokens"}}"#,
    ] {
        assert_eq!(kind(400, body), ModelErrorKind::Refused, "{body}");
    }
}

#[test]
fn a_request_larger_than_the_limit_per_minute_fails_at_once() {
    let body = r#"{"error":{"message":"Request too large for gpt-4o in organization x on tokens per min (TPM): Limit 30000, Requested 32000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#;
    assert_eq!(kind(429, body), ModelErrorKind::ContextExceeded);
    let body = r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.","type":"tokens","code":"rate_limit_exceeded"}}"#;
    assert_eq!(kind(429, body), ModelErrorKind::RateLimited(None));
}

#[test]
fn an_invalid_key_is_auth_with_every_status() {
    for (status, body) in [
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
        ),
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. You can obtain one from the console."}"#,
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"Key limit exceeded (total limit). Manage it in the settings."}}"#,
        ),
        (
            403,
            r#"[{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}]"#,
        ),
    ] {
        assert_eq!(kind(status, body), ModelErrorKind::Auth, "{body}");
    }
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"Flagged: 'API key not valid, said Bob'"}}"#,
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"Flagged: key limit exceeded","metadata":{"reasons":["x"],"flagged_input":"key limit exceeded"}}}"#,
        ),
    ] {
        assert_eq!(kind(status, body), ModelErrorKind::Refused, "{body}");
    }
}

#[test]
fn the_upstream_provider_is_logged_once_and_without_the_key() {
    let body = r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"sk-1234 is rate-limited upstream","provider_name":"x"}}}"#;
    let shown = ErrorBody::read(body.as_bytes(), &hiding()).to_string();
    assert_eq!(
        shown,
        "Provider returned error: *** is rate-limited upstream"
    );
    let nested = (0..8).fold("deep".to_owned(), |raw, _| {
        serde_json::json!({"error": {"message": "m", "metadata": {"raw": raw}}}).to_string()
    });
    let shown = ErrorBody::read(nested.as_bytes(), &hiding()).to_string();
    assert_eq!(shown, format!("{}deep", "m: ".repeat(8)));
}

#[test]
fn only_403_about_the_key_is_auth() {
    for (body, expected) in [
        (
            r#"{"error":{"code":"invalid_api_key","message":"no"}}"#,
            ModelErrorKind::Auth,
        ),
        (
            r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#,
            ModelErrorKind::Auth,
        ),
        (
            r#"{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no"}}"#,
            ModelErrorKind::Auth,
        ),
        (
            r#"{"error":{"code":"unsupported_country_region_territory","type":"request_forbidden"}}"#,
            ModelErrorKind::Auth,
        ),
        (
            r#"{"error":{"code":403,"message":"Your input was flagged: invalid_api_key","metadata":{"reasons":["violence"],"flagged_input":"invalid_api_key"}}}"#,
            ModelErrorKind::Refused,
        ),
        (
            r#"{"error":{"code":403,"type":"permission_error","message":"flagged","metadata":{"reasons":[]}}}"#,
            ModelErrorKind::Refused,
        ),
        (
            r#"{"error":{"code":"content_policy_violation","message":"no"}}"#,
            ModelErrorKind::Refused,
        ),
        ("<h1>Forbidden</h1>", ModelErrorKind::Refused),
        ("", ModelErrorKind::Refused),
    ] {
        assert_eq!(kind(403, body), expected, "{body}");
    }
}

#[test]
fn a_used_up_quota_is_not_retryable() {
    let body = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert_eq!(kind(429, body), ModelErrorKind::Auth);
    for message in [
        "Your credit balance is too low to access the Anthropic API.",
        "You have reached your specified API usage limits.",
    ] {
        let body = format!(
            r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"{message}"}}}}"#
        );
        assert_eq!(kind(400, &body), ModelErrorKind::Auth, "{message}");
    }
}

#[test]
fn an_error_inside_a_stream_gives_the_same_kinds() {
    for (json, expected) in [
        (
            r#"{"error":{"code":502,"message":"upstream"}}"#,
            ModelErrorKind::Unavailable,
        ),
        (
            r#"{"error":{"code":"rate_limit_exceeded","message":"slow"}}"#,
            ModelErrorKind::RateLimited(None),
        ),
        (
            r#"{"error":{"type":"server_error","message":"oops"}}"#,
            ModelErrorKind::Unavailable,
        ),
        (
            r#"{"error":{"type":"exceed_context_size_error","code":400}}"#,
            ModelErrorKind::ContextExceeded,
        ),
        (
            r#"{"error":{"type":"authentication_error","message":"revoked"}}"#,
            ModelErrorKind::Auth,
        ),
        (
            r#"{"error":{"code":403,"message":"flagged","metadata":{"reasons":["x"]}}}"#,
            ModelErrorKind::Refused,
        ),
        (
            r#"{"error":{"code":429,"message":"too many tokens per minute"}}"#,
            ModelErrorKind::RateLimited(None),
        ),
        (
            r#"{"error":{"code":"rate_limit_exceeded","message":"Request too large for gpt-x: Limit 30000, Requested 32000."}}"#,
            ModelErrorKind::ContextExceeded,
        ),
        (r#"{"error":"broken"}"#, ModelErrorKind::Interrupted),
        (r#"{"error":{"code":7}}"#, ModelErrorKind::Interrupted),
    ] {
        let error_body = ErrorBody::read(json.as_bytes(), &Redact::default());
        assert_eq!(error_body.kind_in_stream(), expected, "{json}");
    }
}

#[test]
fn an_error_body_is_rendered_in_one_line() {
    let shown = |body: &str| ErrorBody::read(body.as_bytes(), &hiding()).to_string();
    assert_eq!(
        shown(
            r#"{"error":{"message":"Incorrect key: sk-1234\u001b[2J","code":"invalid_api_key"}}"#
        ),
        "Incorrect key: *** [2J (invalid_api_key)"
    );
    assert_eq!(
        shown(r#"{"error":"model 'x' not found"}"#),
        "model 'x' not found"
    );
    assert_eq!(
        shown("<html>\n<h1>Not found</h1>"),
        "<html> <h1>Not found</h1>"
    );
    assert_eq!(shown(""), "nothing");
}

proptest! {
    #[test]
    fn an_error_body_is_always_short_and_never_contains_the_key(
        before in any::<String>(), after in "[ -~]{0,400}", in_json in any::<bool>(),
    ) {
        let text = format!("{before}sk-1234{after}");
        let body = if in_json {
            serde_json::json!({"error": {"message": text, "code": text}}).to_string()
        } else {
            text
        };
        let shown = ErrorBody::read(body.as_bytes(), &hiding()).to_string();
        prop_assert!(!shown.contains("sk-1234"));
        prop_assert!(!shown.contains(char::is_control));
        prop_assert!(shown.chars().count() <= 2 * LONGEST + 5);
    }
}
