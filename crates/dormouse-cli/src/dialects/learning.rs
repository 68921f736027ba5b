//! Learning while the assistant lives.

use dormouse_contracts::Timestamp;
use dormouse_dialects::{CallingChange, ToolCalling};
use dormouse_engine::Replied;

use super::{
    book::Dialects,
    file::DialectsError,
    wording::{because, way},
};
use crate::exit::Report;

/// Learns from the replies of models. How tools are offered is settled when an assistant wakes, since its prompts are built
/// by it; what is learnt is for the next start.
#[derive(Debug)]
pub(crate) struct Learning {
    book: Dialects,
    /// How tools are offered, to every model.
    offered: ToolCalling,
    /// How the user wants them offered, if that was said.
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

    /// What there is to tell of the book at the start.
    pub(crate) fn begun(&mut self) -> Vec<String> {
        told(self.trouble.take())
    }

    /// Learns from a reply, keeps what changes, and answers what there is to tell.
    pub(crate) fn heard(&mut self, replied: &Replied, at: Timestamp) -> Vec<String> {
        // The engine has decided what is a call; a name that it took for none is none here.
        let was_called = |name: &str| replied.calls.iter().any(|call| call.name == name);
        let change = self
            .book
            .observe(&replied.reply, self.offered, was_called, at);
        let Some(change) = change else {
            return Vec::new();
        };
        let mut texts = vec![self.changed(&change)];
        texts.extend(told(self.book.save().err()));
        texts
    }

    /// Keeps what was seen and has changed nothing yet.
    pub(crate) fn ended(&mut self) -> Vec<String> {
        told(self.book.save().err())
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

fn told(error: Option<DialectsError>) -> Vec<String> {
    let told = |error| format!("{}.", Report(&error));
    error.map(told).into_iter().collect()
}
