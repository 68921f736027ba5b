//! From the events of Anthropic's messages to the pieces of a reply.

use dormouse_contracts::FinishReason;
use dormouse_text::beginning;
use serde_json::Value;

use super::{
    event::{ContentBlock, Delta, Message, Said},
    names::ToolNames,
};
use crate::{
    http::{Complaint, Failure},
    stream::{self, Counts, Decoder, Draft, Event},
};

/// The most blocks of one message. Each is remembered until its end, and a server need not say anything in them.
const BLOCK_LIMIT: usize = 1024;

/// Reads the events of one message.
#[derive(Debug, Default)]
pub(super) struct MessageDecoder {
    names: ToolNames,
    blocks: Vec<Block>,
    prompt: Prompt,
}

/// A block that has begun.
#[derive(Debug)]
struct Block {
    /// The server's index, where it gave one.
    index: Option<u64>,
    /// The call that it is, if it is one of ours.
    call: Option<Call>,
}

#[derive(Debug)]
struct Call {
    index: usize,
    /// The arguments as they stood at its beginning, until others come.
    input: Option<String>,
}

/// The parts that make up the prompt; the largest that was told, since counts only grow.
#[derive(Clone, Copy, Debug, Default)]
struct Prompt {
    input: Option<u32>,
    cache_read: Option<u32>,
    cache_creation: Option<u32>,
}

impl Decoder for MessageDecoder {
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        let said = stream::read::<Said>(event.data);
        let said = said.map_err(|error| draft.unreadable(&error.to_string()))?;
        let kind = match said.kind.as_str() {
            "" => event.name.to_owned(),
            kind => kind.to_owned(),
        };
        self.event(&kind, said, draft)
    }

    fn whole(&mut self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        let said = stream::read::<Said>(body);
        let said = said.map_err(|error| draft.unreadable(&error.to_string()))?;
        broken_off(&said.kind, &said.error, draft)?;
        if said.kind != "message" {
            return Err(stream::no_reply(body, draft));
        }
        let message = stream::read::<Message>(body);
        let message = message.map_err(|error| draft.unreadable(&error.to_string()))?;
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
    /// For a reply to a request with tools of these names.
    pub(super) fn new(names: ToolNames) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    fn event(&mut self, kind: &str, said: Said, draft: &mut Draft) -> Result<(), Failure> {
        broken_off(kind, &said.error, draft)?;
        // What is said behind the end is not part of the reply.
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
            // Signs of life, and what did not exist when this was written.
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
            // Among them are calls of tools that the server has itself carried out.
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

    /// The block ends: if its arguments have not come in pieces, they are what stood at its beginning.
    fn end(&mut self, index: Option<u64>, draft: &mut Draft) -> Result<(), Failure> {
        let call = self.block(index).and_then(|block| block.call.as_mut());
        call.map_or(Ok(()), |call| call.settle(draft))
    }

    /// The block with this index that began last; without an index, the last one.
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
        let tokens = |path: &str| Counts::tokens(usage.pointer(path));
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
        draft.count(Counts {
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

/// What the server itself says went wrong.
fn broken_off(kind: &str, error: &Value, draft: &Draft) -> Result<(), Failure> {
    if kind == "error" || !error.is_null() {
        let complaint = Complaint::from_json(error, draft.redact());
        return Err(Failure::BrokenOff(complaint));
    }
    Ok(())
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::ContentFilter,
        other => FinishReason::Other(beginning(other, 64).to_owned()),
    }
}

#[cfg(test)]
mod tests;
