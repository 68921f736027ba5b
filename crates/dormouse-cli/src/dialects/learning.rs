//! Learning from replies while the assistant runs.

use dormouse_contracts::Timestamp;
use dormouse_dialects::{CallingChange, ToolCalling};
use dormouse_engine::Replied;

use super::{
    book::Dialects,
    file::DialectsError,
    wording::{because, way},
};
use crate::exit::Report;

/// Learns from the replies of models. The way in which tools are offered is fixed while an assistant is awake, because
/// its prompts depend on it. What is learnt applies from the next start.
#[derive(Debug)]
pub(crate) struct Learning {
    book: Dialects,
    /// How tools are offered, to every model.
    offered: ToolCalling,
    /// The user's choice of how they are offered, if there is one.
    configured: Option<ToolCalling>,
    trouble: Option<DialectsError>,
}

impl Learning {
    pub(crate) fn new(
        book: Dialects,
        offered: ToolCalling,
        configured: Option<ToolCalling>,
        trouble: Option<DialectsError>,
    ) -> Self {
        Self {
            book,
            offered,
            configured,
            trouble,
        }
    }

    /// Notices for the start.
    pub(crate) fn begun(&mut self) -> Vec<String> {
        notices(self.trouble.take())
    }

    /// Learns from a reply, saves what changed, and returns notices about it.
    pub(crate) fn heard(&mut self, replied: &Replied, at: Timestamp) -> Vec<String> {
        // Names the engine did not parse as a tool call are not counted.
        let was_called = |name: &str| replied.calls.iter().any(|call| call.name == name);
        let change = self
            .book
            .observe(&replied.reply, self.offered, was_called, at);
        let Some(change) = change else {
            return Vec::new();
        };
        let mut texts = vec![self.changed(&change)];
        texts.extend(notices(self.book.save().err()));
        texts
    }

    /// Saves observations that have changed nothing so far.
    pub(crate) fn ended(&mut self) -> Vec<String> {
        notices(self.book.save().err())
    }

    fn changed(&self, change: &CallingChange) -> String {
        let CallingChange {
            provider,
            model,
            to,
            evidence,
            ..
        } = change;
        let next = match self.configured {
            None => format!(
                "From the next start on tools are offered to it {}.",
                way(*to)
            ),
            Some(configured) => format!(
                "Tools are offered {} all the same, as is configured.",
                way(configured)
            ),
        };
        format!(
            "Learnt of {model} of {provider}: {}. {next}",
            because(*evidence)
        )
    }
}

fn notices(error: Option<DialectsError>) -> Vec<String> {
    let notice = error.map(|error| format!("{}.", Report(&error)));
    notice.into_iter().collect()
}
