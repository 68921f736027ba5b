//! Which tools prompts offer, if there are more than they have room for.

use dormouse_contracts::{Seq, ToolName};
use serde::{Deserialize, Serialize};

use crate::event::{Event, ToolsOffered};

/// The tools that prompts offer, other than those that are always offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedTools {
    /// The last choice, if there was one.
    last: Option<ToolsOffered>,
    /// Tools of it that no prompt has shown yet, because they were chosen after the last reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unseen: Vec<ToolName>,
}

impl OfferedTools {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::ToolsOffered(offered) => {
                let before = self.tools();
                let new = offered.tools.iter().filter(|it| !before.contains(it));
                let new: Vec<_> = new.cloned().collect();
                self.unseen.extend(new);
                self.unseen.retain(|tool| offered.tools.contains(tool));
                self.last = Some(offered.clone());
            }
            // Its prompt showed all of them.
            Event::Replied(_) => self.unseen.clear(),
            _ => {}
        }
    }

    /// The last choice, if there was one.
    #[must_use]
    pub fn last(&self) -> Option<&ToolsOffered> {
        self.last.as_ref()
    }

    /// The tools, the most needed first.
    pub(crate) fn tools(&self) -> &[ToolName] {
        self.last.as_ref().map_or(&[], |last| &last.tools)
    }

    /// The tools that were searched for in the turn with this trigger.
    pub(crate) fn found_in(&self, trigger: Seq) -> &[ToolName] {
        let last = self.last.as_ref().filter(|last| last.trigger == trigger);
        last.map_or(&[], |last| &last.found)
    }

    /// Whether no prompt has shown this tool since it was chosen.
    pub(crate) fn is_unseen(&self, tool: &str) -> bool {
        self.unseen.iter().any(|unseen| unseen.as_str() == tool)
    }
}
