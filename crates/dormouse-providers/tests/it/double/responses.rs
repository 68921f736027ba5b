//! OpenAI's Responses: all content is sent in fragments, then whole, then again at the end.

use dormouse_contracts::{ChatDelta, ChatModel, FinishReason};
use dormouse_providers::{
    Network, OpenAiApi, OpenAiConfig, OpenAiModel, Secret, ServerConfigError,
};
use serde_json::{Value, json};

use super::{
    Counted, Dialect, KEY, Streamed,
    chat_completions::{Accent, ChatCompletions},
};

pub(crate) struct Responses;

impl Dialect for Responses {
    fn name(&self) -> &'static str {
        "OpenAI Responses"
    }

    fn open(&self, network: &Network, url: &str) -> Result<Box<dyn ChatModel>, ServerConfigError> {
        let config = OpenAiConfig {
            provider: "openai".parse().unwrap(),
            base_url: url.to_owned(),
            api_key: Some(Secret::try_new(KEY).unwrap()),
            model: "tiny".parse().unwrap(),
        };
        let model = OpenAiModel::on(network, config)?;
        Ok(Box::new(model.with_api(OpenAiApi::Responses)))
    }

    fn path(&self) -> &'static str {
        "/v1/responses"
    }

    fn version(&self) -> &'static str {
        "/v1"
    }

    fn key_line(&self) -> Option<String> {
        Some(format!("authorization: Bearer {KEY}"))
    }

    fn stream(&self, said: &[ChatDelta], counted: &Counted) -> Streamed {
        let mut items = Items::default();
        said.iter().for_each(|piece| items.take(piece));
        let (shown, output) = items.end();
        let begun = response(&json!({"status": "in_progress", "output": [], "usage": null}));
        let is_cut = said.contains(&ChatDelta::Finished(FinishReason::Length));
        let (status, details) = if is_cut {
            ("incomplete", json!({"reason": "max_output_tokens"}))
        } else {
            ("completed", Value::Null)
        };
        let usage = match counted {
            Counted::Nothing => Value::Null,
            Counted::Tokens(prompt, reply) => json!({
                "input_tokens": prompt, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": reply, "output_tokens_details": {"reasoning_tokens": 0}
            }),
        };
        let whole = response(&json!({
            "status": status, "incomplete_details": details, "output": output, "usage": usage
        }));
        Streamed {
            begun: event("response.created", json!({ "response": begun }))
                + &event("response.in_progress", json!({ "response": begun }))
                + &shown,
            finish: event(&format!("response.{status}"), json!({ "response": whole })),
            end: String::new(),
        }
    }

    fn whole(&self, text: &str) -> Value {
        let content = json!([{"type": "output_text", "text": text}]);
        let message =
            json!({"type": "message", "id": "msg_7", "role": "assistant", "content": content});
        let usage = json!({"input_tokens": 11, "output_tokens": 4});
        response(&json!({"status": "completed", "output": [message], "usage": usage}))
    }

    fn beginning(&self) -> String {
        let item = json!({"type": "message", "id": "msg_8", "role": "assistant", "content": []});
        event(
            "response.output_item.added",
            json!({"output_index": 7, "item": item}),
        )
    }

    fn unknown(&self) -> String {
        event(
            "response.weather",
            json!({"output_index": "x", "item": [7], "delta": {"sun": true}}),
        )
    }

    fn broken_off(&self, words: &str) -> String {
        let error = json!({"code": "server_error", "message": words});
        let failed = response(&json!({"status": "failed", "error": error, "output": []}));
        event("response.failed", json!({ "response": failed }))
    }

    fn error_body(&self, status: u16, words: &str) -> Value {
        ChatCompletions(Accent::OpenAi).error_body(status, words)
    }

    fn too_long(&self) -> (u16, Value) {
        (
            400,
            json!({"error": {
                "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
                "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"
            }}),
        )
    }
}

/// The items of the output. Texts and thoughts end where something else begins; calls stay open, so that several may go on at
/// once.
#[derive(Default)]
struct Items {
    shown: String,
    output: Vec<Value>,
    /// The open item.
    open: Option<usize>,
    /// The items of the calls, by their index.
    calls: Vec<usize>,
}

impl Items {
    fn take(&mut self, piece: &ChatDelta) {
        match piece {
            ChatDelta::Text(text) => self.text(text),
            ChatDelta::Reasoning(text) => self.thought(text),
            ChatDelta::CallStart { id, name, .. } => {
                self.close();
                self.calls.push(self.output.len());
                let item = format!("fc_{}", self.output.len());
                self.begin(json!({
                    "type": "function_call", "id": item, "call_id": id, "name": name, "arguments": ""
                }));
            }
            ChatDelta::CallArguments { index, fragment } => {
                let at = self.calls[*index];
                self.delta(at, "response.function_call_arguments.delta", fragment);
                append(&mut self.output[at]["arguments"], fragment);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let part = json!({"type": "output_text", "text": "", "annotations": []});
        let item =
            json!({"type": "message", "id": "msg_7", "role": "assistant", "content": [part]});
        let at = self.opened(item);
        self.delta(at, "response.output_text.delta", text);
        append(&mut self.output[at]["content"][0]["text"], text);
    }

    fn thought(&mut self, text: &str) {
        let part = json!({"type": "summary_text", "text": ""});
        let item = json!({"type": "reasoning", "id": "rs_7", "summary": [part]});
        let at = self.opened(item);
        self.delta(at, "response.reasoning_summary_text.delta", text);
        append(&mut self.output[at]["summary"][0]["text"], text);
    }

    /// The open item if it is of this type, or else this one, which begins.
    fn opened(&mut self, item: Value) -> usize {
        let same = self
            .open
            .filter(|at| self.output[*at]["type"] == item["type"]);
        same.unwrap_or_else(|| {
            self.close();
            self.begin(item);
            self.open = Some(self.output.len() - 1);
            self.output.len() - 1
        })
    }

    fn begin(&mut self, item: Value) {
        let at = self.output.len();
        let mut empty = item.clone();
        if let Some(content) = empty.get_mut("content") {
            *content = json!([]);
        }
        self.shown += &event(
            "response.output_item.added",
            json!({"output_index": at, "item": empty}),
        );
        self.output.push(item);
    }

    fn delta(&mut self, at: usize, kind: &str, delta: &str) {
        let item = &self.output[at]["id"];
        self.shown += &event(
            kind,
            json!({"output_index": at, "item_id": item, "delta": delta}),
        );
    }

    fn close(&mut self) {
        if let Some(at) = self.open.take() {
            self.done(at);
        }
    }

    fn done(&mut self, at: usize) {
        let item = &self.output[at];
        if item["type"] == "message" {
            let text = &item["content"][0]["text"];
            self.shown += &event(
                "response.output_text.done",
                json!({"output_index": at, "text": text}),
            );
        }
        if item["type"] == "function_call" {
            let (id, arguments) = (&item["id"], &item["arguments"]);
            self.shown += &event(
                "response.function_call_arguments.done",
                json!({"output_index": at, "item_id": id, "arguments": arguments}),
            );
        }
        self.shown += &event(
            "response.output_item.done",
            json!({"output_index": at, "item": item}),
        );
    }

    fn end(mut self) -> (String, Value) {
        self.close();
        for at in std::mem::take(&mut self.calls) {
            self.done(at);
        }
        (self.shown, Value::Array(self.output))
    }
}

fn append(value: &mut Value, more: &str) {
    *value = json!(format!("{}{more}", value.as_str().unwrap()));
}

fn response(fields: &Value) -> Value {
    let mut response =
        json!({"id": "resp_7", "object": "response", "model": "tiny-2026-11-01", "error": null});
    let known = response.as_object_mut().unwrap();
    known.extend(fields.as_object().unwrap().clone());
    response
}

fn event(kind: &str, mut fields: Value) -> String {
    fields["type"] = json!(kind);
    format!("event: {kind}\ndata: {fields}\n\n")
}
