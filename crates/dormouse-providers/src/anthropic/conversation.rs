//! A conversation in Anthropic's format: system instructions are separate; user and assistant turns alternate.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt::Write,
};

use dormouse_contracts::{CallId, Message, ToolCall, ToolDefinition};
use dormouse_text::beginning;
use serde_json::{Map, Value, json};

/// Inserted as the first user message of a conversation that starts with another role.
const BEGINNING: &str = "(The conversation begins.)";
/// Inserted as the last user message if the model spoke last: newer models reject a conversation that ends with their own text.
const GO_ON: &str = "(Go on.)";

/// A conversation in turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation<'a> {
    system: Vec<(usize, &'a str)>,
    turns: Vec<Turn<'a>>,
}

impl<'a> Conversation<'a> {
    /// Groups messages into turns and drops messages without text.
    ///
    /// All system messages are moved to the start. As part of a user turn, their instructions would carry only the
    /// authority of a user.
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let mut conversation = Self::default();
        let mut times = HashMap::new();
        for (from, message) in messages.iter().enumerate() {
            conversation.add(from, message, &mut times);
        }
        conversation.begin_and_end_with_a_user(messages.len());
        conversation.answer_calls();
        conversation
    }

    /// Returns the names of the tools that were called, each once.
    pub(super) fn called(&self) -> Vec<&'a str> {
        let blocks = self.turns.iter().flat_map(|turn| &turn.blocks);
        let mut names: Vec<&str> = Vec::new();
        for block in blocks {
            if let Part::Call { call, .. } = block.part
                && !names.contains(&call.name.as_str())
            {
                names.push(&call.name);
            }
        }
        names
    }

    /// Returns the system's instructions, one block each. Of the blocks that come from the first `stable` messages, the last
    /// gets the cache mark.
    pub(super) fn system(&self, stable: usize) -> Vec<Value> {
        let blocks = self.system.iter();
        let mut blocks: Vec<_> = blocks.map(|(_, content)| text(content)).collect();
        let kept = self.system.iter().take_while(|(from, _)| *from < stable);
        let last = kept.count().checked_sub(1);
        if let Some(block) = last.and_then(|last| blocks.get_mut(last)) {
            mark(block);
        }
        blocks
    }

    /// Returns the turns. The last block of the first `stable` messages gets the cache mark.
    pub(super) fn messages(&self, names: &ToolNames, stable: usize) -> Vec<Value> {
        let kept = self.turns.iter().flat_map(|turn| &turn.blocks);
        let kept = kept.take_while(|block| block.from < stable).count();
        let mut place = 0;
        let turns = self.turns.iter().map(|turn| {
            let blocks = turn.blocks.iter().map(|block| {
                place += 1;
                let mut json = block.json(names);
                if place == kept {
                    mark(&mut json);
                }
                json
            });
            json!({"role": turn.role.name(), "content": blocks.collect::<Vec<_>>()})
        });
        turns.collect()
    }

    fn add(&mut self, from: usize, message: &'a Message, times: &mut HashMap<&'a CallId, usize>) {
        match message {
            Message::System { content } if !is_blank(content) => {
                self.system.push((from, content));
            }
            Message::User { content } => self.say(Role::User, from, content),
            Message::Assistant {
                content,
                tool_calls,
            } => {
                self.say(Role::Assistant, from, content);
                for call in tool_calls {
                    let earlier = times.entry(&call.id).or_default();
                    let id = call_id(call.id.as_str(), *earlier);
                    *earlier += 1;
                    self.push(Role::Assistant, from, Part::Call { call, id });
                }
            }
            Message::Tool { call_id, content } => {
                let (to, content) = (call_id, content.as_str());
                self.push(Role::User, from, Part::Answer { to, content });
            }
            // An empty system message, or a kind of message that this version does not know.
            _ => {}
        }
    }

    fn say(&mut self, role: Role, from: usize, content: &'a str) {
        if !is_blank(content) {
            self.push(role, from, Part::Text(content.into()));
        }
    }

    fn push(&mut self, role: Role, from: usize, part: Part<'a>) {
        let block = Block { from, part };
        match self.turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.blocks.push(block),
            None => self.turns.push(Turn {
                role,
                blocks: vec![block],
            }),
        }
    }

    fn begin_and_end_with_a_user(&mut self, end: usize) {
        let speaks = |turn: Option<&Turn<'_>>| turn.map(|turn| turn.role);
        if speaks(self.turns.first()) != Some(Role::User) {
            let part = Part::Text(BEGINNING.into());
            let blocks = vec![Block { from: 0, part }];
            let role = Role::User;
            self.turns.insert(0, Turn { role, blocks });
        }
        if let Some(turn) = self.turns.last()
            && turn.role == Role::Assistant
        {
            let waits = turn.calls().next().is_some();
            let go_on = Block {
                from: end,
                part: Part::Text(GO_ON.into()),
            };
            self.turns.push(Turn {
                role: Role::User,
                blocks: if waits { Vec::new() } else { vec![go_on] },
            });
        }
    }

    /// Gives every call exactly one result, at the start of the next turn. Results without a call become text.
    fn answer_calls(&mut self) {
        let mut waiting = Vec::new();
        for turn in &mut self.turns {
            match turn.role {
                Role::Assistant => {
                    turn.blocks
                        .sort_by_key(|block| matches!(block.part, Part::Call { .. }));
                    waiting = turn.calls().collect();
                }
                Role::User => turn.answer(std::mem::take(&mut waiting)),
            }
        }
    }
}

/// The text of an inserted result.
const NO_RESULT: &str = "(There is no result.)";

/// The role of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// One part of a turn.
#[derive(Clone, Debug)]
enum Part<'a> {
    Text(Cow<'a, str>),
    Call {
        call: &'a ToolCall,
        id: String,
    },
    /// A result that is not matched to a call yet.
    Answer {
        to: &'a CallId,
        content: &'a str,
    },
    Result {
        id: String,
        content: Option<&'a str>,
    },
}

/// A part, with the index of the message it comes from.
#[derive(Clone, Debug)]
struct Block<'a> {
    from: usize,
    part: Part<'a>,
}

#[derive(Clone, Debug)]
struct Turn<'a> {
    role: Role,
    blocks: Vec<Block<'a>>,
}

/// A call without a result so far.
#[derive(Clone, Debug)]
struct PendingCall<'a> {
    from: usize,
    call: &'a CallId,
    id: String,
}

impl<'a> Turn<'a> {
    fn calls(&self) -> impl Iterator<Item = PendingCall<'a>> + use<'a, '_> {
        self.blocks.iter().filter_map(|block| match &block.part {
            Part::Call { call, id } => Some(PendingCall {
                from: block.from,
                call: &call.id,
                id: id.clone(),
            }),
            _ => None,
        })
    }

    /// Gives each of these calls exactly one result and moves the results to the start of this turn.
    fn answer(&mut self, mut waiting: Vec<PendingCall<'a>>) {
        for block in &mut self.blocks {
            let Part::Answer { to, content } = block.part else {
                continue;
            };
            let place = waiting.iter().position(|waiting| waiting.call == to);
            block.part = match place.map(|place| waiting.remove(place)) {
                Some(PendingCall { id, .. }) => Part::Result {
                    id,
                    content: Some(content),
                },
                None => Part::Text(format!("(The result of a call: {content})").into()),
            };
        }
        self.blocks.extend(waiting.into_iter().map(|waiting| Block {
            from: waiting.from,
            part: Part::Result {
                id: waiting.id,
                content: None,
            },
        }));
        self.blocks
            .sort_by_key(|block| !matches!(block.part, Part::Result { .. }));
    }
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Block<'_> {
    fn json(&self, names: &ToolNames) -> Value {
        match &self.part {
            Part::Text(content) => text(content),
            Part::Call { call, id } => json!({
                "type": "tool_use", "id": id, "name": names.written(&call.name), "input": input(&call.arguments)
            }),
            // Not reached: `answer` has replaced every unmatched result.
            Part::Answer { content, .. } => text(content),
            Part::Result { id, content: None } => json!({
                "type": "tool_result", "tool_use_id": id, "content": NO_RESULT, "is_error": true
            }),
            Part::Result {
                id,
                content: Some(content),
            } => {
                let content = if is_blank(content) {
                    NO_RESULT
                } else {
                    *content
                };
                json!({"type": "tool_result", "tool_use_id": id, "content": content})
            }
        }
    }
}

/// Parses the arguments of a call, which must be an object in this API. Other text is wrapped in an object, so that the
/// model sees what it wrote.
fn input(arguments: &str) -> Value {
    if is_blank(arguments) {
        return json!({});
    }
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(input) => Value::Object(input),
        Err(_) => json!({ "arguments": arguments }),
    }
}

/// Returns a text block.
fn text(content: &str) -> Value {
    json!({"type": "text", "text": content})
}

/// Adds the cache mark to a block: the server caches everything up to it.
pub(super) fn mark(block: &mut Value) {
    if let Value::Object(block) = block {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Whether the text is blank. This API rejects blank blocks.
fn is_blank(content: &str) -> bool {
    content.trim().is_empty()
}

/// Prefix of every rewritten id.
const MARK: &str = "dm";

/// The longest tool name, in bytes. Newer models accept 128, some servers only 64.
const NAME_LIMIT: usize = 64;

/// Returns the id to send for a call with this `id`, which `earlier` previous calls of the conversation already used.
///
/// The API accepts letters, digits, `_` and `-`. A valid id is sent unchanged. An id that is invalid, was used
/// before, or starts with the prefix of rewritten ids is rewritten: prefix, number of earlier calls if any, and the id
/// with every byte except letters, digits and `-` in hexadecimal. So no two calls share an id, and a call has the same
/// id in every request.
pub(super) fn call_id(id: &str, earlier: usize) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let may_stay = id.bytes().all(|byte| is_plain(byte) || byte == b'_');
    if may_stay && earlier == 0 && !id.is_empty() && !id.starts_with(MARK) {
        return id.to_owned();
    }
    let mut written = MARK.to_owned();
    if earlier > 0 {
        written.push_str(&earlier.to_string());
    }
    written.push('_');
    for byte in id.bytes() {
        if is_plain(byte) {
            written.push(char::from(byte));
        } else if write!(written, "_{byte:02x}").is_err() {
            break; // Writing to a `String` cannot fail.
        }
    }
    written
}

/// The names of a request's tools, as sent and as defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolNames(Vec<(String, String)>);

impl ToolNames {
    /// Chooses the names to send: `world.say` becomes `world_say`, or `world_say_2` if that is taken.
    pub(super) fn of(tools: &[ToolDefinition]) -> Self {
        let mut taken: HashSet<String> = HashSet::new();
        let mut names = Vec::new();
        // Valid names go first, so that they stay unchanged in any order of the tools.
        let (fit, other): (Vec<_>, Vec<_>) = tools
            .iter()
            .map(|tool| tool.name.as_str())
            .partition(|name| fitting(name) == **name);
        for name in fit.into_iter().chain(other) {
            let written = free(fitting(name), &taken);
            taken.insert(written.clone());
            names.push((written, name.to_owned()));
        }
        Self(names)
    }

    /// Returns the name to send. In an undefined name, which the model may have invented, only invalid characters are
    /// replaced.
    pub(super) fn written(&self, name: &str) -> String {
        let mut names = self.0.iter();
        let known = names.find(|(_, original)| original == name);
        known.map_or_else(|| fitting(name), |(written, _)| written.clone())
    }

    /// Returns the defined name of a tool that the model called.
    pub(super) fn original(&self, written: String) -> String {
        let mut names = self.0.iter();
        let known = names.find(|(name, _)| *name == written);
        known.map_or(written, |(_, original)| original.clone())
    }
}

/// Replaces the characters that the API does not accept.
fn fitting(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fit = |c| if allowed(c) { c } else { '_' };
    let written: String = name.chars().map(fit).take(NAME_LIMIT).collect();
    if written.is_empty() {
        "_".to_owned()
    } else {
        written
    }
}

/// Returns the name, with a number appended if it is taken.
fn free(name: String, taken: &HashSet<String>) -> String {
    let numbered = |number: usize| {
        let number = format!("_{number}");
        beginning(&name, NAME_LIMIT - number.len()).to_owned() + &number
    };
    if !taken.contains(&name) {
        return name;
    }
    let mut names = (2..).map(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests;
