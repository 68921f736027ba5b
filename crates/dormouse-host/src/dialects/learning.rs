//! Learning from replies while the assistant runs.

use dormouse_contracts::Timestamp;
use dormouse_dialects::{CallingChange, ToolCalling};
use dormouse_engine::Replied;

use super::{book::Dialects, file::DialectsError};

/// Learns from the replies of models. The way in which tools are offered is fixed while an assistant is awake, because
/// its prompts depend on it. What is learnt applies from the next start.
#[derive(Debug)]
pub struct Learning {
    book: Dialects,
    /// How tools are offered to every model.
    offered: ToolCalling,
    /// How the user wants them to be offered, if configured.
    configured: Option<ToolCalling>,
    trouble: Option<DialectsError>,
}

impl Learning {
    /// Starts to learn for this book, while tools are offered in this way. `trouble` says why the book is not the one
    /// in the file.
    pub fn new(
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

    /// The notices to report at the start.
    pub fn begun(&mut self) -> Vec<LearningNotice> {
        self.trouble
            .take()
            .map(LearningNotice::File)
            .into_iter()
            .collect()
    }

    /// Learns from a reply, saves changes, and returns the notices to report.
    pub fn heard(&mut self, replied: &Replied, at: Timestamp) -> Vec<LearningNotice> {
        let (book, made) = (&mut self.book, &replied.calls);
        let change = book.observe(&replied.reply, self.offered, made, at);
        let Some(change) = change else {
            return Vec::new();
        };
        let configured = self.configured;
        let mut notices = vec![LearningNotice::Changed { change, configured }];
        notices.extend(self.book.save().err().map(LearningNotice::File));
        notices
    }

    /// Saves observations that have led to no conclusion so far.
    pub fn ended(&mut self) -> Option<LearningNotice> {
        self.book.save().err().map(LearningNotice::File)
    }
}

/// Something about learning to report to people.
#[derive(Debug)]
pub enum LearningNotice {
    /// Something was learnt.
    Changed {
        /// What.
        change: CallingChange,
        /// How the user wants tools to be offered, which takes precedence over what was learnt.
        configured: Option<ToolCalling>,
    },
    /// The file cannot be read or written.
    File(DialectsError),
}
