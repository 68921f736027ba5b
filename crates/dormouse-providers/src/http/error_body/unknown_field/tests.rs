use proptest::prelude::*;

use super::*;
use crate::http::{Failure, Redact};

fn sent() -> Vec<(String, RequestField)> {
    [
        ("stream_options", RequestField::StreamUsage),
        ("tools", RequestField::Tools),
        ("tool_choice", RequestField::ToolChoice),
        ("temperature", RequestField::Temperature),
        ("top_p", RequestField::TopP),
        ("max_tokens", RequestField::MaxTokens),
        ("reasoning_effort", RequestField::ReasoningEffort),
        ("response_format", RequestField::Output),
        ("seed", RequestField::Extra("seed".to_owned())),
    ]
    .map(|(name, field)| (name.to_owned(), field))
    .to_vec()
}

fn unknown(status: u16, body: &str) -> Option<RequestField> {
    let failure = Failure::Status {
        sent: crate::http::RequestSize::Short,
        status,
        pause: None,
        request_id: None,
        error_body: ErrorBody::read(body.as_bytes(), &Redact::default()),
    };
    failure.unknown_field(&sent())
}

#[test]
fn every_servers_error_for_an_unknown_field_is_recognised() {
    let seed = RequestField::Extra("seed".to_owned());
    for (status, body, field) in [
        // OpenAI.
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            RequestField::MaxTokens,
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
            RequestField::Temperature,
        ),
        (
            400,
            r#"{"error":{"message":"Unrecognized request argument supplied: reasoning_effort","type":"invalid_request_error","param":null,"code":null}}"#,
            RequestField::ReasoningEffort,
        ),
        (
            400,
            r#"{"error":{"message":"Unknown parameter: 'seed'.","type":"invalid_request_error","param":"seed","code":"unknown_parameter"}}"#,
            seed.clone(),
        ),
        (
            400,
            r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","type":"invalid_request_error","param":null,"code":null}}"#,
            RequestField::Output,
        ),
        // vLLM.
        (
            400,
            r#"{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted', 'input': 7}]","type":"BadRequestError","param":null,"code":400}"#,
            seed.clone(),
        ),
        (
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}"#,
            RequestField::Tools,
        ),
        // llama-server, without its own chat templates.
        (
            500,
            r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
            RequestField::Tools,
        ),
        // Mistral.
        (
            422,
            r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]},"type":"invalid_request_error","param":null,"code":null}"#,
            RequestField::StreamUsage,
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","top_p"],"msg":"Extra inputs are not permitted","input":"temperature"}]}"#,
            RequestField::TopP,
        ),
        // Ollama.
        (
            400,
            r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}"#,
            RequestField::Tools,
        ),
        // Groq, serde.
        (
            400,
            r#"{"error":{"message":"property 'seed' is unsupported, did you mean 'temperature'?"}}"#,
            seed.clone(),
        ),
        (
            422,
            "unknown field `seed`, expected one of `model`, `temperature`, `top_p`",
            seed,
        ),
        // OpenRouter.
        (
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unsupported parameter: 'top_p' is not supported with this model.\",\"param\":\"top_p\",\"code\":\"unsupported_parameter\"}}"}}}"#,
            RequestField::TopP,
        ),
        (
            404,
            r#"{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit the site","code":404}}"#,
            RequestField::Tools,
        ),
    ] {
        assert_eq!(unknown(status, body), Some(field), "{body}");
    }
}

#[test]
fn an_error_about_something_else_drops_no_field() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid schema for response_format 'x': 'oneOf' is not permitted.","param":"response_format","code":null}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid schema for function 'f': unknown type","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"tools.0.custom.strict: Extra inputs are not permitted"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid value for temperature: must be at most 2","param":"temperature"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"The maximum context length is 4096; unexpected max_tokens","code":"context_length_exceeded"}}"#,
        ),
        (
            404,
            r#"{"error":{"message":"This model is only supported in v1/responses; temperature is not supported in /v1/chat/completions","param":"model"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please use /v1/responses instead.","param":"reasoning_effort"}}"#,
        ),
        (
            401,
            r#"{"error":{"message":"temperature is not supported"}}"#,
        ),
        (
            429,
            r#"{"error":{"message":"temperature is not supported"}}"#,
        ),
        (500, r#"{"error":{"message":"unexpected end of tools"}}"#),
    ] {
        assert_eq!(unknown(status, body), None, "{body}");
    }
}

#[test]
fn only_errors_that_name_the_path_point_to_it() {
    let points =
        |message: &str| ErrorBody::of(message, &Redact::default()).points_to("v1/responses");
    assert!(points(
        "This model is only supported in v1/responses and not in v1/chat/completions."
    ));
    assert!(points("Please use /v1/responses instead."));
    assert!(!points("POST /v1/responses failed"));
}

proptest! {
    #[test]
    fn an_error_that_points_to_another_api_drops_no_field(
        place in "(messages|model|input|metadata)(\\[[0-9]\\]|\\.[a-z]{1,8}){0,2}",
        words in prop::sample::select(UNKNOWN_WORDS.to_vec()),
        named in prop::sample::select(sent()),
        status in prop::sample::select(vec![400_u16, 404, 422]),
    ) {
        let message = format!("{words}: {} at {place}", named.0);
        let body = serde_json::json!({"error": {"message": message, "param": place}}).to_string();
        prop_assert_eq!(unknown(status, &body), None);
        let detail = serde_json::json!({"detail": [{"loc": ["body", place], "msg": message}]}).to_string();
        prop_assert_eq!(unknown(status, &detail), None);
    }

    #[test]
    fn only_errors_about_unknown_fields_drop_a_field(
        named in prop::sample::select(sent()), before in "[ a-jz.:']{0,30}", behind in "[ a-jz.:']{0,30}",
        status in 400_u16..600,
    ) {
        let body = serde_json::json!({"error": {"message": format!("{before}{}{behind}", named.0)}});
        prop_assert_eq!(unknown(status, &body.to_string()), None);
    }

    #[test]
    fn only_fields_that_were_sent_are_dropped(message in "(unknown|unsupported) [a-z_' ]{0,40}", status in any::<u16>()) {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        if let Some(field) = unknown(status, &body) {
            prop_assert!(sent().iter().any(|(_, sent)| *sent == field));
        }
    }
}
