//! Anthropic's Messages API: named events, and blocks that begin and end.

use dormouse_contracts::{ChatDelta, ChatModel, FinishReason};
use dormouse_providers::{AnthropicConfig, AnthropicModel, Network, Secret, ServerConfigError};
use serde_json::{Value, json};

use super::{Counted, Dialect, KEY, Streamed};

pub(crate) struct Anthropic;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        "Anthropic"
    }

    fn open(&self, network: &Network, url: &str) -> Result<Box<dyn ChatModel>, ServerConfigError> {
        let config = AnthropicConfig {
            provider: "anthropic".parse().unwrap(),
            base_url: url.to_owned(),
            api_key: Some(Secret::try_new(KEY).unwrap()),
            model: "tiny".parse().unwrap(),
            output_limit: None,
        };
        Ok(Box::new(AnthropicModel::on(network, config)?))
    }

    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn version(&self) -> &'static str {
        "/v1"
    }

    fn key_line(&self) -> Option<String> {
        Some(format!("x-api-key: {KEY}"))
    }

    fn request_id_header(&self) -> &'static str {
        "request-id"
    }

    fn stream(&self, said: &[ChatDelta], counted: &Counted) -> Streamed {
        let mut blocks = Blocks::default();
        said.iter().for_each(|piece| blocks.take(piece));
        let (prompt, reply) = match counted {
            Counted::Nothing => (json!({}), json!({})),
            Counted::Tokens(prompt, reply) => (
                json!({"input_tokens": prompt, "cache_read_input_tokens": 0, "output_tokens": 1}),
                json!({ "output_tokens": reply }),
            ),
        };
        let start = json!({"type": "message_start", "message": {
            "id": "msg_7", "type": "message", "role": "assistant", "model": "tiny-20261101", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": prompt
        }});
        let delta = json!({"stop_reason": stop_reason(said), "stop_sequence": null});
        Streamed {
            begun: event(&start) + &event(&json!({"type": "ping"})) + &blocks.end(),
            finish: event(&json!({"type": "message_delta", "delta": delta, "usage": reply})),
            end: event(&json!({"type": "message_stop"})),
        }
    }

    fn whole(&self, text: &str) -> Value {
        json!({"id": "msg_7", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 11, "output_tokens": 4}})
    }

    fn beginning(&self) -> String {
        event(
            &json!({"type": "content_block_start", "index": 7, "content_block": {"type": "text", "text": ""}}),
        )
    }

    fn unknown(&self) -> String {
        event(&json!({"type": "weather", "delta": {"type": "sun", "text": [7]}, "index": "x"}))
    }

    fn broken_off(&self, words: &str) -> String {
        event(&json!({"type": "error", "error": {"type": "overloaded_error", "message": words}}))
    }

    fn error_body(&self, status: u16, words: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            504 => "timeout_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_7"})
    }

    fn too_long(&self) -> (u16, Value) {
        let body = self.error_body(400, "prompt is too long: 215000 tokens > 200000 maximum");
        (400, body)
    }
}

/// The blocks of a message. Texts and thoughts end where something else begins; calls stay open, so that several may go on at
/// once.
#[derive(Default)]
struct Blocks {
    shown: String,
    begun: usize,
    /// The kind of text that is open.
    open: Option<&'static str>,
    /// The blocks of the calls, by their index.
    calls: Vec<usize>,
}

impl Blocks {
    fn take(&mut self, piece: &ChatDelta) {
        match piece {
            ChatDelta::Text(text) => self.words("text", text),
            ChatDelta::Reasoning(text) => self.words("thinking", text),
            ChatDelta::CallStart { id, name, .. } => {
                self.close();
                self.calls.push(self.begun);
                self.begin(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
            }
            ChatDelta::CallArguments { index, fragment } => {
                let block = self.calls[*index];
                self.delta(
                    block,
                    &json!({"type": "input_json_delta", "partial_json": fragment}),
                );
            }
            _ => {}
        }
    }

    fn words(&mut self, kind: &'static str, text: &str) {
        if self.open != Some(kind) {
            self.close();
            self.begin(&json!({"type": kind, kind: ""}));
            self.open = Some(kind);
        }
        self.delta(
            self.begun - 1,
            &json!({"type": format!("{kind}_delta"), kind: text}),
        );
    }

    fn begin(&mut self, block: &Value) {
        let start =
            json!({"type": "content_block_start", "index": self.begun, "content_block": block});
        self.shown += &event(&start);
        self.begun += 1;
    }

    fn delta(&mut self, index: usize, delta: &Value) {
        self.shown +=
            &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.stop(self.begun - 1);
        }
    }

    fn stop(&mut self, index: usize) {
        self.shown += &event(&json!({"type": "content_block_stop", "index": index}));
    }

    fn end(mut self) -> String {
        self.close();
        for index in std::mem::take(&mut self.calls) {
            self.stop(index);
        }
        self.shown
    }
}

fn event(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}

fn stop_reason(said: &[ChatDelta]) -> &'static str {
    if said.contains(&ChatDelta::Finished(FinishReason::ToolCalls)) {
        "tool_use"
    } else if said.contains(&ChatDelta::Finished(FinishReason::Length)) {
        "max_tokens"
    } else {
        "end_turn"
    }
}
