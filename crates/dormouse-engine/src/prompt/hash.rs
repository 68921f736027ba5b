//! What the log keeps of a request: its hash.
//!
//! The hash of a step's request is made of digests of its parts, so that what is shown again in each step, such as the tools
//! and the earlier turns, is hashed once. The digest of a message follows from the message alone: whether it was kept or is
//! computed anew makes no difference.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    io::{self, BufWriter, Write},
    sync::{Mutex, PoisonError},
};

use dormouse_contracts::{
    ChatRequest, Message, MessageDigest, OutputFormat, Purpose, ReasoningEffort, Task, ToolChoice,
    ToolDefinition, TurnContext, invariant,
};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Before a hash that is made of parts. Older logs have a hash of the whole JSON, without this mark.
const OF_PARTS: &str = "2-";

/// How many bytes of a SHA-256 a hash keeps, and a digest of a part.
const HASH: usize = 8;
const PART: usize = 16;

/// The digest of a part: the beginning of the SHA-256 of its JSON.
pub(super) type PartDigest = [u8; PART];

/// The digest of a message.
pub(crate) fn digest_of(message: &Message) -> MessageDigest {
    MessageDigest(part_digest(message))
}

/// The messages of the last prompt whose digests were computed for it: the turn under way. The next step of the turn shows them
/// again. Which messages are known makes no difference to any digest.
#[derive(Debug, Default)]
pub(super) struct LastDigests(Mutex<VecDeque<(Message, MessageDigest)>>);

impl LastDigests {
    /// Adds the digests that are missing.
    pub(super) fn fill(&self, messages: &[Message], digests: &mut [Option<MessageDigest>]) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *last);
        let missing = messages.iter().zip(digests);
        for (message, digest) in missing.filter(|(_, digest)| digest.is_none()) {
            // Messages keep their order.
            let place = before.iter().position(|(known, _)| known == message);
            let known = place.and_then(|place| before.drain(..=place).next_back());
            let known = known.unwrap_or_else(|| (message.clone(), digest_of(message)));
            *digest = Some(known.1);
            last.push_back(known);
        }
    }
}

/// The digest of the tools of a request.
pub(super) fn tools_digest(tools: &[ToolDefinition]) -> PartDigest {
    part_digest(&tools)
}

fn part_digest(part: &impl Serialize) -> PartDigest {
    let mut beginning = [0; PART];
    for (to, from) in beginning.iter_mut().zip(digest(part)) {
        *to = from;
    }
    beginning
}

/// A request apart from its messages and tools.
#[derive(Serialize)]
struct Rest<'a> {
    tool_choice: &'a ToolChoice,
    temperature: Option<f32>,
    top_p: Option<f32>,
    max_tokens: Option<u32>,
    reasoning_effort: Option<ReasoningEffort>,
    output: &'a OutputFormat,
    stable_messages: usize,
    extra: &'a Map<String, Value>,
    purpose: Purpose,
    turn: Option<&'a TurnContext>,
    task: Option<&'a Task>,
}

impl<'a> From<&'a ChatRequest> for Rest<'a> {
    fn from(request: &'a ChatRequest) -> Self {
        // Each field is named, so that a new one is not forgotten.
        let ChatRequest {
            messages: _,
            digests: _,
            tools: _,
            tool_choice,
            temperature,
            top_p,
            max_tokens,
            reasoning_effort,
            output,
            stable_messages,
            extra,
            purpose,
            turn,
            task,
        } = request;
        Self {
            tool_choice,
            temperature: *temperature,
            top_p: *top_p,
            max_tokens: *max_tokens,
            reasoning_effort: *reasoning_effort,
            output,
            stable_messages: *stable_messages,
            extra,
            purpose: *purpose,
            turn: turn.as_deref(),
            task: task.as_deref(),
        }
    }
}

/// The hash of a request, made of the digests of its messages, its tools and everything else. Uses the digests that the
/// request has, and computes the others.
pub(super) fn hash_of_parts(request: &ChatRequest, tools: PartDigest) -> String {
    let mut sha = Sha256::new();
    sha.update(part_digest(&Rest::from(request)));
    sha.update(tools);
    for (message, known) in request.messages.iter().zip(request.digests.each()) {
        sha.update(known.unwrap_or_else(|| digest_of(message)).0);
    }
    format!("{OF_PARTS}{}", in_hexadecimal(&sha.finalize()))
}

/// Whether a recorded hash is made of parts.
pub(crate) fn is_of_parts(hash: &str) -> bool {
    hash.starts_with(OF_PARTS)
}

/// The hash of a request that is made once: the beginning of the SHA-256 of its JSON.
pub(crate) fn hash(request: &ChatRequest) -> String {
    in_hexadecimal(&digest(request))
}

fn in_hexadecimal(digest: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest.iter().take(HASH) {
        invariant!(write!(text, "{byte:02x}"), "a text takes any text");
    }
    text
}

fn digest(value: &impl Serialize) -> [u8; 32] {
    // A request may be very long, so its JSON is hashed while it is written.
    let mut json = BufWriter::new(Digested::default());
    let written = serde_json::to_writer(&mut json, value);
    invariant!(written, "a request is JSON");
    let digested = invariant!(json.into_inner(), "a digest takes any bytes");
    digested.0.finalize().into()
}

/// The hash of what is written.
#[derive(Default)]
struct Digested(Sha256);

impl Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(texts: &[String]) -> ChatRequest {
        let messages = texts.iter().map(|text| Message::User {
            content: text.clone(),
        });
        ChatRequest {
            messages: messages.collect(),
            ..ChatRequest::default()
        }
    }

    proptest! {
        #[test]
        fn known_digests_change_nothing_and_every_text_counts(
            texts in prop::collection::vec("[a-c\"\n]{0,4}", 0..6),
            others in prop::collection::vec("[a-c\"\n]{0,4}", 0..6),
            known in prop::collection::vec(any::<bool>(), 0..6),
        ) {
            let asked = request(&texts);
            let tools = tools_digest(&asked.tools);
            let mut with_known = asked.clone();
            let digests = asked.messages.iter().zip(known);
            let digests = digests.map(|(it, is_known)| is_known.then(|| digest_of(it)));
            with_known.digests = digests.collect();
            let hash = hash_of_parts(&with_known, tools);
            prop_assert!(is_of_parts(&hash) && !is_of_parts(&super::hash(&asked)));
            prop_assert_eq!(&hash, &hash_of_parts(&asked, tools));
            let other = hash_of_parts(&request(&others), tools);
            prop_assert_eq!(texts == others, hash == other);
        }

        #[test]
        fn missing_digests_are_those_of_their_messages_after_any_prompts(
            prompts in prop::collection::vec(prop::collection::vec(("[a-c]", any::<bool>()), 0..8), 1..6),
        ) {
            let last = LastDigests::default();
            for prompt in prompts {
                let texts: Vec<String> = prompt.iter().map(|(text, _)| text.clone()).collect();
                let messages = request(&texts).messages;
                let right: Vec<_> = messages.iter().map(|it| Some(digest_of(it))).collect();
                let is_known = prompt.iter().map(|(_, is_known)| *is_known);
                let known = right.iter().zip(is_known).map(|(digest, is_known)| digest.filter(|_| is_known));
                let mut digests: Vec<_> = known.collect();
                last.fill(&messages, &mut digests);
                prop_assert_eq!(&digests, &right);
            }
        }
    }
}
