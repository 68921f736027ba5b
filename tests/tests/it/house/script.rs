//! What is asked of the two assistants, and the model that does it: a function of a request alone, the same after each restart.

use dormouse_contracts::{ChatRequest, Message, Purpose};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use dormouse_tests::{BLAST, COUNT, WIND};
use serde_json::{Value, json};

/// Words that fill the window.
const FILLER: &str = "and the boats went out again with the tide past the lamps of the harbour ";
/// How often a message says them.
const FILLED: usize = 16;

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An answer, after a look.
    Greet,
    /// Something dangerous.
    Blast,
    /// Something that the other one is to do.
    HaveCounted,
}

impl Kind {
    /// What the message of this number asks for.
    pub(super) fn of(number: u64) -> Self {
        match number % 4 {
            1 => Self::Blast,
            2 => Self::HaveCounted,
            _ => Self::Greet,
        }
    }

    /// Who is asked for it.
    pub(super) fn whom(number: u64) -> &'static str {
        match number % 8 {
            0 | 5 => "Rat",
            _ => "Mole",
        }
    }

    pub(super) fn message(number: u64) -> String {
        let asked = match Self::of(number) {
            Self::Greet => "good morning",
            Self::Blast => "please blow up",
            Self::HaveCounted => "have the other one count",
        };
        format!("{asked} mark{number}. {}", FILLER.repeat(FILLED))
    }
}

/// The last number that the text marks: what a turn is about comes behind what is remembered.
pub(super) fn marked(text: &str) -> Option<u64> {
    let (_, after) = text.rsplit_once("mark")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

pub(super) fn model() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| match request.purpose {
        Purpose::Consolidation => ScriptedTurn::text("[]"),
        Purpose::Compaction => ScriptedTurn::text("Boats came and went, and Alice was answered."),
        _ => reply(request),
    }))
}

fn call(tool: &str, arguments: Value) -> ScriptedTurn {
    ScriptedTurn::call(tool, arguments)
}

fn page(text: &str) -> ScriptedTurn {
    call("page", json!({"to": "Alice", "message": text}))
}

fn reply(request: &ChatRequest) -> ScriptedTurn {
    let (asked, results) = turn(request);
    let Some(number) = marked(&asked) else {
        return call("noop", json!({}));
    };
    let mark = format!("mark{number}");
    let thing = json!({ "thing": mark });
    // What was only put off is called again.
    let is_first = results
        .iter()
        .all(|result| result.contains("text of low trust"));
    if asked.contains("gives you a task") {
        return match is_first {
            true => call(COUNT, thing),
            false => call("answer_task", json!({"result": format!("counted {mark}")})),
        };
    }
    if asked.contains("The result: ") {
        return page(&format!("result {mark}"));
    }
    if asked.contains("was not done: ") {
        return page(&format!("failed {mark}"));
    }
    if asked.contains("confirmed what you wanted to do") {
        return call(BLAST, thing);
    }
    if asked.contains("refused what you wanted to do") {
        return page(&format!("refused {mark}"));
    }
    match Kind::of(number) {
        _ if !is_first => page(&format!("answer {mark}")),
        Kind::Greet => call(WIND, thing),
        Kind::Blast => call(BLAST, thing),
        Kind::HaveCounted => {
            let task = format!("count {mark}");
            call("delegate_task", json!({"task": task, "to": "rat"}))
        }
    }
}

/// What a turn is about, and the results of its calls so far.
fn turn(request: &ChatRequest) -> (String, Vec<String>) {
    let mut results = Vec::new();
    for message in request.messages.iter().rev() {
        match message {
            Message::User { content } => return (content.clone(), results),
            Message::Tool { content, .. } => results.push(content.clone()),
            _ => {}
        }
    }
    (String::new(), results)
}
