//! Decodes Anthropic's stream events into a reply.
//!
//! Fields of an unexpected type count as absent: servers that are not Anthropic's leave things out.

use dormouse_contracts::FinishReason;
use serde::Deserialize;
use serde_json::Value;

use super::conversation::ToolNames;
use crate::{
    http::Failure,
    stream::{self, Decoder, Draft, Event, TokenCounts, or_default},
};

/// The most blocks of one message. Each is kept until its end, so empty blocks would otherwise grow without bound.
const BLOCK_LIMIT: usize = 1024;

/// Decodes the events of one message.
#[derive(Debug, Default)]
pub(super) struct MessageDecoder {
    names: ToolNames,
    blocks: Vec<Block>,
    prompt: Prompt,
}

/// A block that has begun.
#[derive(Debug)]
struct Block {
    /// The server's index, if it sent one.
    index: Option<u64>,
    /// The tool call, if the block is one.
    call: Option<Call>,
}

#[derive(Debug)]
struct Call {
    index: usize,
    /// The arguments in the block's start event, until fragments arrive.
    input: Option<String>,
}

/// Token counts of the parts of the prompt. Each is the largest reported one, since counts only grow.
#[derive(Clone, Copy, Debug, Default)]
struct Prompt {
    input: Option<u32>,
    cache_read: Option<u32>,
    cache_creation: Option<u32>,
}

impl Decoder for MessageDecoder {
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        let said = draft.parse::<MessageEvent>(event.data)?;
        let kind = match said.kind.as_str() {
            "" => event.name.to_owned(),
            kind => kind.to_owned(),
        };
        self.event(&kind, said, draft)
    }

    fn whole(&mut self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        let said = draft.parse::<MessageEvent>(body)?;
        broken_off(&said.kind, &said.error, draft)?;
        if said.kind != "message" {
            return Err(stream::no_reply(body, draft));
        }
        let message = draft.parse::<Message>(body)?;
        draft.served_by(&message.model);
        draft.request_id(&message.id);
        self.count(&message.usage, draft);
        for (index, block) in (0..).zip(message.content) {
            self.begin(Some(index), block, draft)?;
        }
        let reason = match (message.stop_reason.as_str(), draft.calls()) {
            ("", 0) => "end_turn",
            ("", _) => "tool_use",
            (reason, _) => reason,
        };
        self.stop(reason, draft)?;
        draft.close();
        Ok(())
    }
}

impl MessageDecoder {
    /// Creates a decoder for a reply to a request with these tools.
    pub(super) fn new(names: ToolNames) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    fn event(&mut self, kind: &str, said: MessageEvent, draft: &mut Draft) -> Result<(), Failure> {
        broken_off(kind, &said.error, draft)?;
        // Text after the finish does not belong to the reply.
        let open = !draft.is_finished();
        match kind {
            "message_start" => {
                draft.served_by(&said.message.model);
                draft.request_id(&said.message.id);
                self.count(&said.message.usage, draft);
            }
            "content_block_start" if open => self.begin(said.index, said.content_block, draft)?,
            "content_block_delta" if open => self.more(said.index, said.delta, draft)?,
            "content_block_stop" if open => self.end(said.index, draft)?,
            "message_delta" => {
                self.count(&said.usage, draft);
                self.stop(&said.delta.stop_reason, draft)?;
            }
            "message_stop" => {
                let reason = match draft.calls() {
                    0 => "end_turn",
                    _ => "tool_use",
                };
                self.stop(reason, draft)?;
                draft.close();
            }
            // `ping`, and events that this version does not know.
            _ => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        index: Option<u64>,
        block: ContentBlock,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        if self.blocks.len() >= BLOCK_LIMIT {
            return Err(Failure::TooMuch {
                what: "blocks",
                limit: BLOCK_LIMIT,
            });
        }
        let call = match block.kind.as_str() {
            "tool_use" => Some(self.call(block, draft)?),
            "text" => {
                draft.text(block.text)?;
                None
            }
            "thinking" => {
                draft.reasoning(block.thinking)?;
                None
            }
            // Includes calls of tools that the server ran itself.
            _ => None,
        };
        self.blocks.push(Block { index, call });
        Ok(())
    }

    fn call(&self, block: ContentBlock, draft: &mut Draft) -> Result<Call, Failure> {
        if block.name.is_empty() {
            return Err(Failure::NamelessCall);
        }
        let name = self.names.original(block.name);
        let input = match block.input {
            Value::Null => "{}".to_owned(),
            input => input.to_string(),
        };
        Ok(Call {
            index: draft.begin_call(&block.id, name)?,
            input: Some(input),
        })
    }

    fn more(&mut self, index: Option<u64>, delta: Delta, draft: &mut Draft) -> Result<(), Failure> {
        match delta.kind.as_str() {
            "text_delta" => draft.text(delta.text),
            "thinking_delta" => draft.reasoning(delta.thinking),
            "input_json_delta" if !delta.partial_json.is_empty() => {
                let block = self.block(index).ok_or(Failure::NamelessCall)?;
                let Some(call) = &mut block.call else {
                    return Ok(());
                };
                call.input = None;
                draft.arguments(call.index, delta.partial_json)
            }
            _ => Ok(()),
        }
    }

    /// Ends a block: without fragments, the arguments of its start event are used.
    fn end(&mut self, index: Option<u64>, draft: &mut Draft) -> Result<(), Failure> {
        let call = self.block(index).and_then(|block| block.call.as_mut());
        call.map_or(Ok(()), |call| call.settle(draft))
    }

    /// Returns the latest block with this index, or the latest block if there is no index.
    fn block(&mut self, index: Option<u64>) -> Option<&mut Block> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|block| index.is_none() || block.index == index)
    }

    fn stop(&mut self, reason: &str, draft: &mut Draft) -> Result<(), Failure> {
        if reason.is_empty() || draft.is_finished() {
            return Ok(());
        }
        let calls = self
            .blocks
            .iter_mut()
            .filter_map(|block| block.call.as_mut());
        for call in calls {
            call.settle(draft)?;
        }
        draft.finish(finish_reason(reason));
        Ok(())
    }

    fn count(&mut self, usage: &Value, draft: &mut Draft) {
        let tokens = |path: &str| TokenCounts::tokens(usage.pointer(path));
        let prompt = Prompt {
            input: self.prompt.input.max(tokens("/input_tokens")),
            cache_read: self
                .prompt
                .cache_read
                .max(tokens("/cache_read_input_tokens")),
            cache_creation: self
                .prompt
                .cache_creation
                .max(tokens("/cache_creation_input_tokens")),
        };
        self.prompt = prompt;
        let (cached, cache_write) = (prompt.cache_read, prompt.cache_creation);
        draft.count(TokenCounts {
            prompt: prompt
                .input
                .map(|input| input + cached.unwrap_or(0) + cache_write.unwrap_or(0)),
            completion: tokens("/output_tokens"),
            cached,
            cache_write,
            reasoning: tokens("/output_tokens_details/thinking_tokens"),
            cost: None,
        });
    }
}

impl Call {
    fn settle(&mut self, draft: &mut Draft) -> Result<(), Failure> {
        let input = self.input.take().unwrap_or_default();
        draft.arguments(self.index, input)
    }
}

/// Returns the error that the server reported, if any.
fn broken_off(kind: &str, error: &Value, draft: &Draft) -> Result<(), Failure> {
    if kind == "error" || !error.is_null() {
        return Err(draft.broken_off(error));
    }
    Ok(())
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_owned()),
    }
}

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageEvent {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    message: Message,
    #[serde(deserialize_with = "or_default")]
    content_block: ContentBlock,
    #[serde(deserialize_with = "or_default")]
    delta: Delta,
    usage: Value,
    error: Value,
}

/// The reply at its start.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    #[serde(deserialize_with = "or_default")]
    id: String,
    #[serde(deserialize_with = "or_default")]
    model: String,
    usage: Value,
    /// The complete content, if the server does not stream.
    #[serde(deserialize_with = "or_default")]
    content: Vec<ContentBlock>,
    #[serde(deserialize_with = "or_default")]
    stop_reason: String,
}

/// A content block at its start.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContentBlock {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    text: String,
    #[serde(deserialize_with = "or_default")]
    thinking: String,
    #[serde(deserialize_with = "or_default")]
    id: String,
    #[serde(deserialize_with = "or_default")]
    name: String,
    input: Value,
}

/// New content of a block or of the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    text: String,
    #[serde(deserialize_with = "or_default")]
    thinking: String,
    #[serde(deserialize_with = "or_default")]
    partial_json: String,
    #[serde(deserialize_with = "or_default")]
    stop_reason: String,
}

#[cfg(test)]
mod tests;
