//! The engine's own tools, whose calls stay within the assistant: noop, its memory, and whom it knows. Each has a file of its
//! own, and a row in the [`table`].
//!
//! This module decides what a call asks for. If that needs the memory, the result is a [`MemoryQuery`], which is
//! carried out like a call to the outside.

mod accounts;
mod call;
mod journal;
mod memory_query;
mod provenance;
mod shown;
mod table;

mod add_entity_observation;
mod add_goal;
mod add_journal_entry;
mod add_pending_action;
mod answer_task;
mod complete_pending_action;
mod create_project;
mod delegate_task;
mod drop_note;
mod end_conversation;
mod get_entity_profile;
mod go_to_sleep;
mod keep_note;
mod list_goals;
mod list_projects;
mod noop;
mod recall_history;
mod recall_memories;
mod review_journal;
mod search_journal;
mod set_topic;
mod store_memory;
mod swap_project;
mod tool_search;
mod tool_set;
mod update_entity_profile;
mod update_goal;
mod update_project;
mod update_relationship;
mod wake_up;

use dormouse_contracts::{Arguments, AssistantId, Hit, Origin, Timestamp, Trust};
use dormouse_text::beginning;
use serde_json::Value;

use crate::{
    event::Event,
    state::{State, Trigger, Turn},
};
pub(crate) use answer_task::RESULT as TASK_RESULT;
use call::Call;
pub(crate) use memory_query::{AwaitedName, Basis, Draft, MemoryAnswer, MemoryQuery, NewAction};
use provenance::{MOST_SOURCES, NotShown, Provenance};
pub(crate) use provenance::{shown_score, sources_of_note, support_of_reply, trust_in_names};
pub(crate) use shown::{OwnWords, ShownPart, ShownParts, TurnWords, least_trusted, spoken};
pub use table::builtin_tools;
pub(crate) use table::{is_look_up, is_note, is_own};
pub(crate) use tool_set::{TOOL_SETS, ToolSet, ends_a_turn};

/// Tools whose results change when a record that they show is withdrawn or forgotten.
pub(crate) const RECALL_MEMORIES: &str = "recall_memories";
pub(crate) const RECALL_HISTORY: &str = "recall_history";
pub(crate) const GET_ENTITY_PROFILE: &str = "get_entity_profile";

/// The tools that note pending actions for people.
pub(crate) const ADD_PENDING_ACTION: &str = "add_pending_action";
pub(crate) const COMPLETE_PENDING_ACTION: &str = "complete_pending_action";

/// The tools by which assistants give tasks to each other.
pub(crate) const DELEGATE_TASK: &str = "delegate_task";
/// The tool by which an assistant decides that it sleeps.
pub(crate) const GO_TO_SLEEP: &str = "go_to_sleep";
/// The tool by which a sleeping assistant decides that it wakes.
pub(crate) const WAKE_UP: &str = "wake_up";
pub(crate) const ANSWER_TASK: &str = "answer_task";
/// The tool that finds tools which are not offered.
pub(crate) const TOOL_SEARCH: &str = "tool_search";

/// Whether the result of a tool lists remembered lines.
pub(crate) fn lists_lines(tool: &str) -> bool {
    matches!(tool, RECALL_MEMORIES | RECALL_HISTORY)
}

/// How many characters of an unknown id an error repeats.
const SOURCE_SHOWN: usize = 40;

/// The result of a call of a built-in tool.
pub(crate) enum BuiltinOutcome {
    /// These events and the result.
    Decided { events: Vec<Event>, result: Value },
    /// These events, and a result that holds words of this trust.
    Listed {
        events: Vec<Event>,
        result: Value,
        trust: Trust,
    },
    /// A look into the memory.
    AskMemory(MemoryQuery),
    /// A search for tools with these words.
    FindTools(String),
    /// Nothing was done, but the model made no error: a limit is reached, or nobody wants the act any more.
    NotDone { code: &'static str, why: String },
    /// Nothing was done: an argument is invalid, for this reason.
    Refused(String),
}

/// Decides a call of a built-in tool at `now`. `arguments` fit the tool's schema.
pub(crate) fn decide(
    name: &str,
    arguments: &Arguments,
    quote_trust: Trust,
    (own, state, turn): (&AssistantId, &State, &Turn),
    now: Timestamp,
) -> BuiltinOutcome {
    let Some(tool) = table::find(name) else {
        return BuiltinOutcome::Refused(format!("{name} is not one of your own tools any more"));
    };
    let call = Call {
        arguments,
        quote_trust,
        state,
        turn,
        now,
        own,
    };
    (tool.decide)(&call).unwrap_or_else(|NotShown(source)| {
        let source = beginning(&source, SOURCE_SHOWN);
        BuiltinOutcome::Refused(format!(
            "{source:?} is not the id of anything that was shown to you: name ids such as #{}, or leave sources out",
            turn.trigger_seq()
        ))
    })
}

/// Decides a call of `search_journal`, once the encoder has said which memory records are similar.
pub(crate) fn search_journal(
    arguments: &Arguments,
    quote_trust: Trust,
    (own, state, turn): (&AssistantId, &State, &Turn),
    now: Timestamp,
    similar: &[Hit],
) -> BuiltinOutcome {
    let call = Call {
        arguments,
        quote_trust,
        state,
        turn,
        now,
        own,
    };
    search_journal::with_similar(&call, similar).unwrap_or_else(BuiltinOutcome::Refused)
}

/// The message under way, waiting messages and messages that were given up. They are not recalled: the first two will
/// be answered, and what made the last ones fail could make others fail.
pub(crate) fn pending(state: &State, turn: &Turn) -> Vec<Origin> {
    let waiting = state.turns.waiting().map(Trigger::seq);
    let aside = state.turns.aside().map(Turn::trigger_seq);
    let given_up = state.history.given_up();
    let all = waiting
        .chain(aside)
        .chain(given_up)
        .chain([turn.trigger_seq()]);
    all.map(Origin::event).collect()
}
