//! Which tools are offered where a prompt has little room.

use dormouse_contracts::{ToolReach, ToolSpec};

use super::{
    ANSWER_TASK, add_journal_entry, create_project, drop_note, end_conversation, keep_note,
    list_projects, noop, review_journal, search_journal, set_topic, swap_project, table::find,
    update_project,
};

/// A set of tools. Each has fewer than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolSet {
    /// All there are.
    All,
    /// All but those by which an assistant keeps projects, notes, topics and its journal.
    NoRecords,
    /// Those of the world, and of its own those to remember, to answer a task and to do nothing.
    Indispensable,
    /// Those that speak, and those that end a turn.
    Ending,
}

/// All of them, in the order in which they are tried.
pub(crate) const TOOL_SETS: [ToolSet; 4] = [
    ToolSet::All,
    ToolSet::NoRecords,
    ToolSet::Indispensable,
    ToolSet::Ending,
];

/// The tools that [`ToolSet::NoRecords`] lacks.
const RECORDS: [&str; 11] = [
    create_project::TOOL.name,
    list_projects::TOOL.name,
    swap_project::TOOL.name,
    update_project::TOOL.name,
    keep_note::TOOL.name,
    drop_note::TOOL.name,
    set_topic::TOOL.name,
    end_conversation::TOOL.name,
    add_journal_entry::TOOL.name,
    search_journal::TOOL.name,
    review_journal::TOOL.name,
];

/// Whether a tool is offered in the last step of a turn, although it does not speak in the world.
pub(crate) fn ends_a_turn(tool: &str) -> bool {
    tool == noop::TOOL.name || tool == ANSWER_TASK
}

impl ToolSet {
    /// Whether the set has this tool.
    pub(crate) fn has(self, tool: &ToolSpec) -> bool {
        let name = tool.name.as_str();
        let own = find(name).filter(|_| tool.reach == ToolReach::Builtin);
        match self {
            Self::All => true,
            Self::NoRecords => own.is_none() || !RECORDS.contains(&name),
            Self::Indispensable => own.is_none_or(|own| own.is_indispensable),
            Self::Ending => tool.speech.is_some() || ends_a_turn(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin_tools;

    #[test]
    fn each_set_has_fewer_tools_and_each_can_end_a_turn() {
        let tools = builtin_tools().unwrap();
        let of = |set: ToolSet| -> Vec<&str> {
            let has = tools.iter().filter(|tool| set.has(tool));
            has.map(|tool| tool.name.as_str()).collect()
        };
        for sets in TOOL_SETS.windows(2) {
            let (more, fewer) = (of(sets[0]), of(sets[1]));
            assert!(fewer.len() < more.len(), "{sets:?}");
            assert!(fewer.iter().all(|tool| more.contains(tool)), "{sets:?}");
        }
        assert!(of(ToolSet::Ending).into_iter().all(ends_a_turn));
        let records = tools
            .iter()
            .filter(|it| RECORDS.contains(&it.name.as_str()));
        assert_eq!(records.count(), RECORDS.len());
    }
}
