//! Tasks of assistants in words.

use dormouse_engine::{DelegatedTask, EndedBy, Event, TaskCost, TaskOutcome};

use super::excerpt;
use crate::grammar::counted;

/// An event about a task; empty for any other event.
pub(super) fn of(event: &Event) -> String {
    match event {
        Event::TaskDelegated(it) => {
            let to = it.to.as_deref().or(it.tag.as_deref()).unwrap_or("anybody");
            format!("{} to {}: {}", it.task.key, excerpt(to), task(&it.task))
        }
        Event::DelegateChosen(it) => format!("{} goes to {}", it.key, it.delegate),
        Event::TaskReceived(it) => {
            let from = it.task.chain.last();
            let from = from.map_or_else(String::new, |from| format!(" from {from}"));
            format!("{}{from}: {}", it.task.key, task(&it.task))
        }
        Event::TaskAnswered(it) => {
            format!("{}: {}{}", it.key, outcome(&it.outcome), cost(&it.took))
        }
        Event::TaskCancelled(it) => format!("{}: {} [{}]", it.key, it.cause, it.cause.code()),
        Event::DelegationEnded(it) => {
            let by = match it.by {
                EndedBy::Carrier => "",
                EndedBy::Itself => ", by itself",
            };
            let took = it.took.as_ref().map(cost).unwrap_or_default();
            format!("{}{by}: {}{took}", it.key, outcome(&it.outcome))
        }
        _ => String::new(),
    }
}

fn task(task: &DelegatedTask) -> String {
    let tokens = counted(task.tokens, "token", "tokens");
    let words = excerpt(&task.task.text);
    format!(
        "{words} (trust {}, until {}, {tokens} at most)",
        task.task.trust, task.expires_at
    )
}

fn outcome(outcome: &TaskOutcome) -> String {
    match outcome {
        TaskOutcome::Done(words) => format!("{} (trust {})", excerpt(&words.text), words.trust),
        TaskOutcome::Failed(failure) => format!("{failure} [{}]", failure.code()),
    }
}

fn cost(took: &TaskCost) -> String {
    format!(", {}", counted(took.tokens, "token", "tokens"))
}
