//! Parses the harmony format, in which each part of the text names its channel.

use super::{Certainty, PrintedCall, ScanBudget, json};
use crate::CallFormat;

/// The longest header of a part, in bytes.
const HEAD_LIMIT: usize = 256;
/// The tokens that start a header.
const BEGINNINGS: [&str; 2] = ["<|start|>", "<|channel|>"];
/// The token between a part's header and its body.
const MESSAGE: &str = "<|message|>";

/// The parts of a text, by purpose.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    /// The text to be shown.
    pub(crate) text: String,
    /// The thoughts.
    pub(crate) thoughts: String,
    /// The calls, in order.
    pub(crate) calls: Vec<PrintedCall>,
    pub(crate) ending: ChannelEnding,
}

/// How the text ends. A model stops after a call; if more text follows, the call was quoted or invented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChannelEnding {
    /// The text ends with a complete call.
    Call,
    /// The text ends with any other complete part.
    #[default]
    Words,
    /// The text ends in the middle of a header or a call.
    Broken,
}

/// Splits a text in the harmony format; `None` for any other text.
pub(crate) fn channels(text: &str, budget: &mut ScanBudget) -> Option<Channels> {
    let mut rest = text.trim();
    if !begins_part(rest) {
        return None;
    }
    let mut channels = Channels::default();
    while !rest.is_empty() {
        let Some((head, inner)) = head(rest) else {
            channels.ending = ChannelEnding::Broken;
            break;
        };
        let (body, end, behind) = body(inner);
        channels.take(head, body.trim(), end, budget);
        // The text after a broken part may belong to that part, so it is not parsed.
        if channels.ending == ChannelEnding::Broken {
            break;
        }
        rest = behind.trim_start();
    }
    Some(channels)
}

impl Channels {
    fn take(&mut self, head: &str, body: &str, end: PartEnd, budget: &mut ScanBudget) {
        self.ending = ChannelEnding::Words;
        if let Some(name) = recipient(head) {
            match call(name, body, end, budget) {
                Some(found) => {
                    self.calls.push(found);
                    self.ending = ChannelEnding::Call;
                }
                None => self.ending = ChannelEnding::Broken,
            }
            return;
        }
        let channel = head.split_once("<|channel|>").map(|(_, name)| name.trim());
        // `analysis` is the channel for thoughts; `final`, `commentary` and unknown channels are shown.
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

/// The header of the part at the start of a text, and the text after it.
fn head(text: &str) -> Option<(&str, &str)> {
    if !begins_part(text) {
        return None;
    }
    // The search for the end of the header is bounded, so that a text with many unclosed headers takes linear time.
    // `near` ends at a character boundary, as `get` requires.
    let near = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|end| *end <= HEAD_LIMIT)
        .last()?;
    let end = text.get(..near)?.find(MESSAGE)?;
    Some((text.get(..end)?, text.get(end + MESSAGE.len()..)?))
}

/// How the body of a part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartEnd {
    Token,
    /// The text ends there, or another part starts; the body may be incomplete.
    Open,
}

/// The body of a part, up to the token that ends it or starts another part, and the text after it.
fn body(text: &str) -> (&str, PartEnd, &str) {
    let ends = ["<|end|>", "<|call|>", "<|return|>"];
    for (at, _) in text.match_indices("<|") {
        let (body, rest) = text.split_at(at);
        if let Some(behind) = ends.iter().find_map(|end| rest.strip_prefix(end)) {
            return (body, PartEnd::Token, behind);
        }
        if begins_part(rest) {
            return (body, PartEnd::Open, rest);
        }
    }
    (text, PartEnd::Open, "")
}

/// The function that a part is addressed to, if any. A part with the role of a user or a tool is not a call by the
/// model.
fn recipient(head: &str) -> Option<&str> {
    // A header that names no role is the model's own, like one of the role `assistant`.
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

fn call(name: &str, body: &str, end: PartEnd, budget: &mut ScanBudget) -> Option<PrintedCall> {
    // An empty body is a call without arguments, but only if the body is complete.
    if body.is_empty() && end == PartEnd::Token {
        return Some(PrintedCall::new(
            name,
            None,
            CallFormat::Channel,
            Certainty::Explicit,
        ));
    }
    let (value, syntax, behind) = json::leading(body, budget)?;
    let found = PrintedCall::new(name, Some(&value), CallFormat::Channel, Certainty::Explicit);
    // Text after the JSON would make the arguments ambiguous.
    behind.is_empty().then(|| found.mended(syntax))
}
