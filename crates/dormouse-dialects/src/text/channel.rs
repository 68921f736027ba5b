//! The harmony format: a text that says of each of its parts which channel it belongs to.

use super::{Certainty, Effort, Found, json};
use crate::Form;

/// The longest head of a part, in bytes.
const HEAD_LIMIT: usize = 256;
/// What the head of a part begins with.
const BEGINNINGS: [&str; 2] = ["<|start|>", "<|channel|>"];
/// What stands between the head of a part and its body.
const MESSAGE: &str = "<|message|>";

/// What the parts of a text are.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    /// What is to be said.
    pub(crate) text: String,
    /// What was thought.
    pub(crate) thoughts: String,
    /// The calls, in order.
    pub(crate) calls: Vec<Found>,
    pub(crate) ending: Ending,
}

/// How such a text ends. A model stops behind a call; what goes on there was quoted, or made up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a call that is whole.
    Call,
    /// With anything else that is whole.
    #[default]
    Words,
    /// In the middle of a head or a call.
    Broken,
}

/// Divides a text that is in this format; `None` if it is not.
pub(crate) fn channels(text: &str, effort: &mut Effort) -> Option<Channels> {
    let mut rest = text.trim();
    if !begins_part(rest) {
        return None;
    }
    let mut channels = Channels::default();
    while !rest.is_empty() {
        let Some((head, inner)) = head(rest) else {
            channels.ending = Ending::Broken;
            break;
        };
        let (body, end, behind) = body(inner);
        channels.take(head, body.trim(), end, effort);
        if channels.ending == Ending::Broken {
            break;
        }
        rest = behind.trim_start();
    }
    Some(channels)
}

impl Channels {
    fn take(&mut self, head: &str, body: &str, end: End, effort: &mut Effort) {
        self.ending = Ending::Words;
        if let Some(name) = recipient(head) {
            match call(name, body, end, effort) {
                Some(found) => {
                    self.calls.push(found);
                    self.ending = Ending::Call;
                }
                None => self.ending = Ending::Broken,
            }
            return;
        }
        let channel = head.split_once("<|channel|>").map(|(_, name)| name.trim());
        let to = match channel {
            Some(name) if name.starts_with("analysis") => &mut self.thoughts,
            _ => &mut self.text,
        };
        if !to.is_empty() {
            to.push('\n');
        }
        to.push_str(body);
    }
}

fn begins_part(text: &str) -> bool {
    BEGINNINGS.iter().any(|token| text.starts_with(token))
}

/// The head of the part a text begins with, and what stands behind it.
fn head(text: &str) -> Option<(&str, &str)> {
    if !begins_part(text) {
        return None;
    }
    let near = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|end| *end <= HEAD_LIMIT)
        .last()?;
    let end = text.get(..near)?.find(MESSAGE)?;
    Some((text.get(..end)?, text.get(end + MESSAGE.len()..)?))
}

/// What the body of a part ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Token,
    /// The text ends there, or another part begins: more of it may have been to come.
    Open,
}

/// The body of a part, up to the token that ends it or begins another one, and what stands behind it.
fn body(text: &str) -> (&str, End, &str) {
    let ends = ["<|end|>", "<|call|>", "<|return|>"];
    for (at, _) in text.match_indices("<|") {
        let (body, rest) = text.split_at(at);
        if let Some(behind) = ends.iter().find_map(|end| rest.strip_prefix(end)) {
            return (body, End::Token, behind);
        }
        if begins_part(rest) {
            return (body, End::Open, rest);
        }
    }
    (text, End::Open, "")
}

/// The function a part is for, if it is for one. Whatever a model lets a user or a tool say is no call of its own.
fn recipient(head: &str) -> Option<&str> {
    if let Some(role) = head.strip_prefix("<|start|>")
        && !(role.starts_with("assistant") || role.starts_with('<'))
    {
        return None;
    }
    let (_, to) = head.split_once("to=")?;
    let end = to
        .find(|c: char| c.is_whitespace() || c == '<')
        .unwrap_or(to.len());
    let name = to.get(..end)?;
    let name = name.strip_prefix("functions.").unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

fn call(name: &str, body: &str, end: End, effort: &mut Effort) -> Option<Found> {
    if body.is_empty() && end == End::Token {
        return Some(Found::new(name, None, Form::Channel, Certainty::Explicit));
    }
    let (value, syntax, behind) = json::leading(body, effort)?;
    let found = Found::new(name, Some(&value), Form::Channel, Certainty::Explicit);
    behind.is_empty().then(|| found.mended(syntax))
}
