//! Turns words into calls of the tools that say them.

use dormouse_contracts::{Arguments, SourceKind, Speech, SpeechKind, ToolSpec};
use serde_json::{Value, json};

use super::{RawCall, parts::parts};
use crate::{
    builtin::{ANSWER_TASK, TASK_RESULT},
    state::{Heard, Trigger},
};

/// The call that answers with a text, if somebody waits for an answer and a tool can say it. In a turn for a promise,
/// the text is said only to the person it was promised to.
pub(super) fn answer(text: &str, trigger: &Trigger, tools: &[&ToolSpec]) -> Option<RawCall> {
    if let Some(message) = trigger.message() {
        return spoken(text, message, tools);
    }
    if let Some(tool) = tools.iter().find(|tool| tool.name.as_str() == ANSWER_TASK) {
        // Only turns for a task of another assistant have this tool: the text is the result of the task.
        let arguments = json!({TASK_RESULT: text});
        return Some(RawCall {
            name: tool.name.as_str().to_owned(),
            arguments: arguments.to_string(),
            continues: false,
        });
    }
    let (to, _) = trigger.promise()?;
    let private = [SpeechKind::Page, SpeechKind::Whisper];
    private
        .into_iter()
        .find_map(|kind| said(text, kind, to, tools))
}

/// The call that says a text in the way the assistant was spoken to, if a tool can do that.
///
/// A private message is never answered in public, and a message on a channel is answered only there.
pub(crate) fn spoken(text: &str, message: &Heard, tools: &[&ToolSpec]) -> Option<RawCall> {
    let attested = &message.perception.attested;
    let (kind, to) = match &attested.source {
        SourceKind::Whisper => (SpeechKind::Whisper, attested.sender.name()),
        SourceKind::Page => (SpeechKind::Page, attested.sender.name()),
        SourceKind::Channel(channel) => (SpeechKind::Channel, channel.as_str()),
        SourceKind::Addressed
        | SourceKind::Say
        | SourceKind::Pose
        | SourceKind::Movement
        | SourceKind::Emit
        | SourceKind::CommandOutput => (SpeechKind::Aloud, attested.sender.name()),
        // This version does not know the kind of source, so it cannot know who would hear the answer.
        _ => return None,
    };
    said(text, kind, to, tools)
}

fn said(text: &str, kind: SpeechKind, to: &str, tools: &[&ToolSpec]) -> Option<RawCall> {
    let mut speeches = tools
        .iter()
        .filter_map(|tool| Some((*tool, tool.speech.as_ref()?)));
    let (tool, speech) = speeches.find(|(_, speech)| speech.kind == kind)?;
    let mut arguments = Arguments::new();
    arguments.insert(speech.words.clone(), text.into());
    if let Some(argument) = &speech.to {
        arguments.insert(argument.clone(), to.into());
    }
    Some(RawCall {
        name: tool.name.as_str().to_owned(),
        arguments: Value::Object(arguments).to_string(),
        continues: false,
    })
}

/// Splits a call that says more than its tool accepts at once into several calls, at most `most`.
pub(crate) fn in_parts(call: RawCall, tool: Option<&ToolSpec>, most: usize) -> Vec<RawCall> {
    divided(&call, tool, most).unwrap_or_else(|| vec![call])
}

fn divided(call: &RawCall, tool: Option<&ToolSpec>, most: usize) -> Option<Vec<RawCall>> {
    let tool = tool?;
    let Speech { words, .. } = tool.speech.as_ref()?;
    let longest = tool.longest_words()?;
    let arguments = object(&call.arguments)?;
    let text = arguments.get(words)?.as_str()?;
    // A text never has more characters than bytes.
    if text.len() <= longest || text.chars().count() <= longest {
        return None;
    }
    let parts = parts(text, longest, most).into_iter().enumerate();
    let calls = parts.map(|(place, part)| {
        let mut arguments = arguments.clone();
        arguments.insert(words.clone(), part.into());
        RawCall {
            name: call.name.clone(),
            arguments: Value::Object(arguments).to_string(),
            continues: call.continues || place > 0,
        }
    });
    let calls: Vec<_> = calls.collect();
    (!calls.is_empty()).then_some(calls)
}

/// The arguments in the form in which the check of the call reads them.
fn object(arguments: &str) -> Option<Arguments> {
    match serde_json::from_str(arguments).ok()? {
        Value::Object(object) => Some(object),
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        _ => None,
    }
}
