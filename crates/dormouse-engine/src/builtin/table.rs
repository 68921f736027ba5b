//! The table of the engine's own tools.

use dormouse_contracts::{IdError, ToolCategory, ToolName, ToolReach, ToolSpec};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, MOST_SOURCES, NotShown, add_entity_observation, add_goal, add_journal_entry,
    add_pending_action, answer_task, call::Call, complete_pending_action, create_project,
    delegate_task, drop_note, end_conversation, get_entity_profile, go_to_sleep, keep_note,
    list_goals, list_projects, noop, recall_history, recall_memories, review_journal,
    search_journal, set_topic, store_memory, swap_project, tool_search, update_entity_profile,
    update_goal, update_project, update_relationship, wake_up,
};

/// A tool of the engine's own. All of them affect only the assistant.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    /// What it does, for the model to read.
    pub(super) description: &'static str,
    pub(super) parameters: fn() -> Value,
    pub(super) category: ToolCategory,
    /// Whether it is called to look something up, so that an answer can only follow the result.
    pub(super) is_look_up: bool,
    /// Whether it is offered even if a prompt has little room.
    pub(super) is_indispensable: bool,
    /// Decides a call whose arguments fit.
    pub(super) decide: fn(&Call<'_>) -> Result<BuiltinOutcome, NotShown>,
}

/// All of them, in the order in which they are offered.
static TABLE: [&Builtin; 29] = [
    &store_memory::TOOL,
    &recall_memories::TOOL,
    &recall_history::TOOL,
    &get_entity_profile::TOOL,
    &add_entity_observation::TOOL,
    &update_entity_profile::TOOL,
    &update_relationship::TOOL,
    &add_pending_action::TOOL,
    &complete_pending_action::TOOL,
    &add_goal::TOOL,
    &update_goal::TOOL,
    &list_goals::TOOL,
    &delegate_task::TOOL,
    &answer_task::TOOL,
    &create_project::TOOL,
    &list_projects::TOOL,
    &swap_project::TOOL,
    &update_project::TOOL,
    &keep_note::TOOL,
    &drop_note::TOOL,
    &set_topic::TOOL,
    &end_conversation::TOOL,
    &add_journal_entry::TOOL,
    &search_journal::TOOL,
    &review_journal::TOOL,
    &go_to_sleep::TOOL,
    &wake_up::TOOL,
    &tool_search::TOOL,
    &noop::TOOL,
];

pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    TABLE.into_iter().find(|tool| tool.name == name)
}

/// Whether the results of this tool have no text from outside, or list the sources of such text.
pub(crate) fn is_own(tool: &str) -> bool {
    find(tool).is_some()
}

/// Whether a tool is called to look something up, so that an answer can only follow its result.
pub(crate) fn is_look_up(tool: &ToolSpec) -> bool {
    let own = find(tool.name.as_str()).filter(|_| tool.reach == ToolReach::Builtin);
    tool.reach == ToolReach::Query || own.is_some_and(|own| own.is_look_up)
}

/// Whether a tool of the engine stores something permanently.
pub(crate) fn is_note(tool: &str) -> bool {
    let plans = [
        noop::TOOL.name,
        add_pending_action::TOOL.name,
        complete_pending_action::TOOL.name,
        answer_task::TOOL.name,
        go_to_sleep::TOOL.name,
        wake_up::TOOL.name,
    ];
    find(tool).is_some_and(|own| !own.is_look_up && !plans.contains(&own.name))
}

/// The tools that every assistant has in every world.
///
/// # Errors
///
/// Cannot happen: the names are constants.
pub fn builtin_tools() -> Result<Vec<ToolSpec>, IdError> {
    TABLE.into_iter().map(spec).collect()
}

fn spec(tool: &Builtin) -> Result<ToolSpec, IdError> {
    Ok(ToolSpec {
        name: ToolName::try_new(tool.name)?,
        description: tool.description.to_owned(),
        parameters: (tool.parameters)(),
        category: tool.category,
        reach: ToolReach::Builtin,
        timeout: ToolSpec::DEFAULT_TIMEOUT,
        speech: None,
        required_trust: None,
        cache: (tool.name == search_journal::TOOL.name).then_some(search_journal::CACHE),
    })
}

/// The longest line that is remembered or looked for, in characters.
pub(super) const LINE_LIMIT: usize = 2_000;

pub(super) fn object(required: &[&str], properties: &Value) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

pub(super) fn text(longest: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": longest})
}

/// The parameter by which a note names what it was made from.
pub(super) fn sources() -> Value {
    json!({
        "type": "array",
        "maxItems": MOST_SOURCES,
        "items": {"type": "string", "maxLength": 24},
        "description": "The ids (#12) of what it comes from. Without it: what you are answering.",
    })
}

/// The parameter that says how important something is.
pub(super) fn priority() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 10})
}

/// The parameter that names a goal by its number.
pub(super) fn goal() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": u32::MAX})
}

/// The parameters that say when something is due.
pub(super) fn due() -> [(&'static str, Value); 2] {
    [
        (
            "due_at",
            json!({"type": "string", "maxLength": 40, "description": "A moment: 2026-11-23T18:00:00Z."}),
        ),
        (
            "repeats",
            json!({"type": "string", "maxLength": 40, "description": "In UTC: daily 20:00, weekly mon 08:00, every 2 hours."}),
        ),
    ]
}

/// The parameter that says whom something is about.
pub(super) fn entity() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 128, "description": "A name or an id."})
}
