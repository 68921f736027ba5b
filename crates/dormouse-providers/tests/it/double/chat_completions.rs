//! OpenAI's chat completions, with the differences of compatible servers.

use dormouse_contracts::{ChatDelta, ChatModel, FinishReason};
use dormouse_providers::{
    Network, OpenAiConfig, OpenAiModel, OpenRouterConfig, OpenRouterModel, Secret,
    ServerConfigError,
};
use serde_json::{Map, Value, json};

use super::{Counted, Dialect, KEY, Streamed};

/// The server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accent {
    OpenAi,
    OpenRouter,
    /// llama-server and others of one's own, without a key.
    LlamaServer,
}

pub(crate) struct ChatCompletions(pub(crate) Accent);

impl ChatCompletions {
    fn chunk(&self, choices: &Value, usage: &Value) -> String {
        let mut chunk = json!({
            "id": "chatcmpl-7", "object": "chat.completion.chunk", "created": 1_795_244_400, "model": "tiny-2026-11-01",
            "choices": choices,
        });
        let fields = chunk.as_object_mut().unwrap();
        match self.0 {
            Accent::OpenAi => {
                fields.insert("system_fingerprint".to_owned(), json!("fp_1"));
                fields.insert("usage".to_owned(), usage.clone());
            }
            Accent::OpenRouter => {
                fields.insert("id".to_owned(), json!("gen-1795244400-7"));
                fields.insert("provider".to_owned(), json!("Somebody"));
                if !usage.is_null() {
                    fields.insert("usage".to_owned(), usage.clone());
                }
            }
            Accent::LlamaServer => {
                if !usage.is_null() {
                    fields.insert("usage".to_owned(), usage.clone());
                    fields.insert("timings".to_owned(), json!({"prompt_n": 11, "cache_n": 0}));
                }
            }
        }
        format!("data: {chunk}\n\n")
    }

    fn delta(&self, delta: &Value, finish: &Value) -> String {
        let mut choice =
            json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        if self.0 == Accent::OpenRouter {
            choice["native_finish_reason"] = finish.clone();
        }
        self.chunk(&json!([choice]), &Value::Null)
    }

    fn piece(&self, piece: &ChatDelta) -> Option<Value> {
        Some(match piece {
            ChatDelta::Text(text) => json!({ "content": text }),
            ChatDelta::Reasoning(text) if self.0 == Accent::OpenRouter => {
                let details = json!([{"type": "reasoning.text", "text": text, "index": 0}]);
                json!({"content": "", "reasoning": text, "reasoning_details": details})
            }
            ChatDelta::Reasoning(text) => json!({ "reasoning_content": text }),
            ChatDelta::CallStart { index, id, name } => json!({"tool_calls": [{
                "index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}
            }]}),
            ChatDelta::CallArguments { index, fragment } => {
                json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})
            }
            _ => return None,
        })
    }
}

impl Dialect for ChatCompletions {
    fn name(&self) -> &'static str {
        match self.0 {
            Accent::OpenAi => "OpenAI",
            Accent::OpenRouter => "OpenRouter",
            Accent::LlamaServer => "local",
        }
    }

    fn open(&self, network: &Network, url: &str) -> Result<Box<dyn ChatModel>, ServerConfigError> {
        let (provider, model) = (self.name().to_lowercase(), "tiny".parse().unwrap());
        let provider = provider.parse().unwrap();
        let key = Secret::try_new(KEY).unwrap();
        if self.0 == Accent::OpenRouter {
            let config = OpenRouterConfig {
                base_url: url.to_owned(),
                ..OpenRouterConfig::new(provider, key, model)
            };
            return Ok(Box::new(OpenRouterModel::on(network, config)?));
        }
        let config = OpenAiConfig {
            provider,
            base_url: url.to_owned(),
            api_key: (self.0 != Accent::LlamaServer).then_some(key),
            model,
        };
        Ok(Box::new(OpenAiModel::on(network, config)?))
    }

    fn path(&self) -> &'static str {
        "/v1/chat/completions"
    }

    fn version(&self) -> &'static str {
        "/v1"
    }

    fn key_line(&self) -> Option<String> {
        (self.0 != Accent::LlamaServer).then(|| format!("authorization: Bearer {KEY}"))
    }

    fn request_id_header(&self) -> &'static str {
        match self.0 {
            Accent::OpenRouter => "x-generation-id",
            _ => "x-request-id",
        }
    }

    fn stream(&self, said: &[ChatDelta], counted: &Counted) -> Streamed {
        // Keep-alives before the first text.
        let waiting = match self.0 {
            Accent::OpenRouter => ": OPENROUTER PROCESSING\n\n",
            _ => "",
        };
        let role = self.delta(&json!({"role": "assistant", "content": null}), &Value::Null);
        let pieces = said.iter().filter_map(|piece| self.piece(piece));
        let pieces = pieces.map(|piece| self.delta(&piece, &Value::Null));
        let usage = match counted {
            Counted::Nothing => String::new(),
            Counted::Tokens(prompt, reply) => self.chunk(&json!([]), &usage(prompt, reply)),
        };
        Streamed {
            begun: waiting.to_owned() + &role + &pieces.collect::<String>(),
            finish: self.delta(&Value::Object(Map::new()), &finish_reason(said)),
            end: usage + "data: [DONE]\n\n",
        }
    }

    fn whole(&self, text: &str) -> Value {
        json!({"object": "chat.completion", "choices": [{
            "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"
        }], "usage": usage(&json!(11), &json!(4))})
    }

    fn beginning(&self) -> String {
        let call =
            json!({"index": 7, "id": "call_7", "type": "function", "function": {"arguments": ""}});
        self.delta(
            &json!({"role": "assistant", "tool_calls": [call]}),
            &Value::Null,
        )
    }

    fn unknown(&self) -> String {
        "event: weather\ndata: {\"object\":\"weather\",\"sunny\":[true,{\"choices\":7}]}\n\n"
            .to_owned()
    }

    fn broken_off(&self, words: &str) -> String {
        if self.0 == Accent::OpenRouter {
            let choice = json!({"index": 0, "delta": {"content": ""}, "finish_reason": "error"});
            let error = json!({"code": 502, "message": words});
            let chunk = json!({"id": "gen-1795244400-7", "error": error, "choices": [choice]});
            return format!("data: {chunk}\n\n");
        }
        let error = json!({"error": {"message": words, "type": "server_error", "param": null, "code": null}});
        format!("data: {error}\n\n")
    }

    fn error_body(&self, status: u16, words: &str) -> Value {
        match self.0 {
            Accent::OpenAi => {
                let (kind, code) = match status {
                    401 => ("invalid_request_error", "invalid_api_key"),
                    402 | 429 => ("requests", "rate_limit_exceeded"),
                    403 => ("request_forbidden", "unsupported_country_region_territory"),
                    404 => ("invalid_request_error", "model_not_found"),
                    500.. => ("server_error", "server_error"),
                    _ => ("invalid_request_error", "invalid_value"),
                };
                json!({"error": {"message": words, "type": kind, "param": null, "code": code}})
            }
            Accent::OpenRouter => {
                json!({"error": {"code": status, "message": words}, "user_id": "user_7"})
            }
            Accent::LlamaServer => {
                let kind = match status {
                    401 => "authentication_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    503 => "unavailable_error",
                    500.. => "server_error",
                    _ => "invalid_request_error",
                };
                json!({"error": {"code": status, "message": words, "type": kind}})
            }
        }
    }

    fn too_long(&self) -> (u16, Value) {
        let error = match self.0 {
            Accent::OpenAi => json!({
                "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"
            }),
            Accent::OpenRouter => json!({
                "code": 400, "metadata": {"provider_name": null},
                "message": "This endpoint's maximum context length is 8192 tokens. However, you requested about 9001 tokens."
            }),
            Accent::LlamaServer => json!({
                "code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error",
                "n_prompt_tokens": 9001, "n_ctx": 8192
            }),
        };
        (400, json!({ "error": error }))
    }
}

fn usage(prompt: &Value, reply: &Value) -> Value {
    json!({"prompt_tokens": prompt, "completion_tokens": reply, "prompt_tokens_details": {"cached_tokens": 0}})
}

fn finish_reason(said: &[ChatDelta]) -> Value {
    let reason = said.iter().find_map(|piece| match piece {
        ChatDelta::Finished(reason) => Some(reason),
        _ => None,
    });
    match reason {
        Some(FinishReason::ToolCalls) => json!("tool_calls"),
        Some(FinishReason::Length) => json!("length"),
        _ => json!("stop"),
    }
}
