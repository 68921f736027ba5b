//! Texts for common uses, which a person chooses in a client.

use std::collections::BTreeMap;

use dormouse_mcp::{OfferedPrompt, SurfaceError};

use super::Visit;
use crate::tokens::Right;

const ASSISTANT: (&str, &str, bool) = (
    "assistant",
    "The key of the assistant; not needed if there is only one",
    false,
);

/// The prompts whose tools the token allows.
pub(super) fn offered(visit: &Visit) -> Vec<OfferedPrompt> {
    let all = [
        (
            Right::Talk,
            OfferedPrompt {
                name: "ask",
                description: "Ask an assistant something, and report its answer",
                arguments: vec![("question", "What you want to know", true), ASSISTANT],
            },
        ),
        (
            Right::Read,
            OfferedPrompt {
                name: "catch_up",
                description: "What an assistant has been doing, and what it means to do",
                arguments: vec![ASSISTANT],
            },
        ),
        (
            Right::Read,
            OfferedPrompt {
                name: "what_is_known",
                description: "What an assistant remembers about something, and how it knows",
                arguments: vec![("topic", "What it is about", true), ASSISTANT],
            },
        ),
    ];
    let allowed = all.into_iter().filter(|(right, _)| visit.has(*right));
    allowed.map(|(_, prompt)| prompt).collect()
}

/// The text of a prompt.
pub(super) fn text(
    visit: &Visit,
    name: &str,
    arguments: &BTreeMap<String, String>,
) -> Result<String, SurfaceError> {
    let offered = offered(visit);
    let Some(prompt) = offered.iter().find(|it| it.name == name) else {
        return Err(SurfaceError::Arguments(format!(
            "there is no prompt {name:?}"
        )));
    };
    for (argument, _, is_required) in &prompt.arguments {
        if *is_required && !arguments.contains_key(*argument) {
            let why = format!("the prompt {name:?} needs the argument {argument:?}");
            return Err(SurfaceError::Arguments(why));
        }
    }
    let known = |name: &String| prompt.arguments.iter().any(|(its, ..)| its == name);
    if let Some(other) = arguments.keys().find(|name| !known(name)) {
        let why = format!("the prompt {name:?} has no argument {other:?}");
        return Err(SurfaceError::Arguments(why));
    }
    let given = |name: &str| arguments.get(name).map(String::as_str).unwrap_or_default();
    let whom = match arguments.get("assistant") {
        Some(key) => format!("the assistant {key:?}"),
        None => "the assistant".to_owned(),
    };
    Ok(match name {
        "ask" => format!(
            "Ask {whom} with the tool `talk`: {:?}\nReport the answer in its own words. If the outcome is \"waiting\", ask again with `outcome` before you report that none came.",
            given("question")
        ),
        "catch_up" => format!(
            "Use `status`, `goals` and `journal` for {whom}, and summarise in at most ten lines: how it is, what it did lately, what it means to do next, and what needs a person."
        ),
        _ => format!(
            "Use `recall` for {whom} with the query {:?}. For what matters, use `why`. Report what is known, from whom, and how far it is believed; name the ids. Say what is not known.",
            given("topic")
        ),
    })
}
