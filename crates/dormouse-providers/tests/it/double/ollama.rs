//! Ollama's own API: lines of JSON, and each call whole in one of them.

use dormouse_contracts::{ChatDelta, ChatModel, FinishReason};
use dormouse_providers::{Network, OllamaConfig, OllamaModel, Secret, ServerConfigError};
use serde_json::{Value, json};

use super::{Counted, Dialect, KEY, Streamed};

pub(crate) struct Ollama;

impl Dialect for Ollama {
    fn name(&self) -> &'static str {
        "Ollama"
    }

    fn open(&self, network: &Network, url: &str) -> Result<Box<dyn ChatModel>, ServerConfigError> {
        let config = OllamaConfig {
            base_url: url.to_owned(),
            api_key: Some(Secret::try_new(KEY).unwrap()),
            model: "tiny".parse().unwrap(),
        };
        Ok(Box::new(OllamaModel::on(network, config.into())?))
    }

    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn version(&self) -> &'static str {
        "/api"
    }

    /// Ollama wants none; a proxy before it may.
    fn key_line(&self) -> Option<String> {
        Some(format!("authorization: Bearer {KEY}"))
    }

    fn media_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn stream(&self, said: &[ChatDelta], counted: &Counted) -> Streamed {
        let begun = said.iter().filter_map(|piece| self.piece(piece, said));
        let begun = begun.map(|message| line(&message)).collect();
        let mut finish = json!({
            "model": "tiny", "created_at": "2026-11-21T10:15:00.5Z", "message": {"role": "assistant", "content": ""},
            "done": true, "done_reason": done_reason(said), "total_duration": 5_191_566_416_u64, "load_duration": 2_154_458,
        });
        if let Counted::Tokens(prompt, reply) = counted {
            finish["prompt_eval_count"] = prompt.clone();
            finish["eval_count"] = reply.clone();
        }
        Streamed {
            begun,
            finish: format!("{finish}\n"),
            end: String::new(),
        }
    }

    fn whole(&self, text: &str) -> Value {
        json!({"model": "tiny", "created_at": "2026-11-21T10:15:00.5Z", "message": {"role": "assistant", "content": text},
            "done": true, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 4})
    }

    fn nothing(&self, length: usize) -> String {
        format!("{}\n", " ".repeat(length.saturating_sub(1)))
    }

    fn event(&self, data: &[u8]) -> Vec<u8> {
        [data, b"\n"].concat()
    }

    fn beginning(&self) -> String {
        line(&json!({"role": "assistant", "content": "", "tool_calls": []}))
    }

    fn unknown(&self) -> String {
        "{\"weather\":\"fine\",\"message\":{\"role\":\"assistant\",\"mood\":[true,{\"done\":7}]}}\n"
            .to_owned()
    }

    fn broken_off(&self, words: &str) -> String {
        format!("{}\n", json!({ "error": words }))
    }

    fn error_body(&self, _: u16, words: &str) -> Value {
        json!({ "error": words })
    }

    fn too_long(&self) -> (u16, Value) {
        (
            400,
            json!({"error": "prompt too long; exceeded max context length by 809 tokens"}),
        )
    }
}

impl Ollama {
    fn piece(&self, piece: &ChatDelta, said: &[ChatDelta]) -> Option<Value> {
        Some(match piece {
            ChatDelta::Text(text) => json!({"role": "assistant", "content": text}),
            ChatDelta::Reasoning(text) => {
                json!({"role": "assistant", "content": "", "thinking": text})
            }
            ChatDelta::CallStart { index, id, name } => {
                let arguments = arguments(*index, said);
                json!({"role": "assistant", "content": "", "tool_calls": [{
                    "id": id, "function": {"index": index, "name": name, "arguments": arguments}
                }]})
            }
            _ => return None,
        })
    }
}

/// The arguments of a call, put together.
fn arguments(of: usize, said: &[ChatDelta]) -> Value {
    let fragments = said.iter().filter_map(|piece| match piece {
        ChatDelta::CallArguments { index, fragment } if *index == of => Some(fragment.as_str()),
        _ => None,
    });
    serde_json::from_str(&fragments.collect::<String>()).unwrap()
}

fn line(message: &Value) -> String {
    let line = json!({
        "model": "tiny", "created_at": "2026-11-21T10:15:00.5Z", "message": message, "done": false
    });
    format!("{line}\n")
}

/// The same where the model called tools.
fn done_reason(said: &[ChatDelta]) -> &'static str {
    if said.contains(&ChatDelta::Finished(FinishReason::Length)) {
        "length"
    } else {
        "stop"
    }
}
