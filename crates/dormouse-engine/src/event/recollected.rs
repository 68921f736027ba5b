//! What was looked up before a turn is thought about.

use dormouse_contracts::{EntityId, Seq, Timestamp, Trust};
use dormouse_memory::{RecordId, RecordKind};
use serde::{Deserialize, Serialize};

use super::{LOG_ORIGIN, SEVERAL, Source};

/// What is worth knowing for a turn, as it was looked up then. The prompt shows it; nothing of it is looked up again
/// when the log is replayed.
///
/// In the log a line that was written lately is only named. A turn has whole lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recollected<Item = RecalledItem> {
    /// What is remembered that fits, in the order it is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The people and things it has to do with.
    #[serde(skip_serializing_if = "RecalledBlock::is_empty")]
    pub entities: RecalledBlock,
    /// What people asked for once and for all.
    #[serde(skip_serializing_if = "RecalledBlock::is_empty")]
    pub orders: RecalledBlock,
    /// By what recall went.
    pub mode: RecallMode,
    /// Why nothing was recalled, if that failed. The turn goes on without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<RecallFailure>,
}

/// A remembered line as the log has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecalledItem {
    /// The line with this number in the memory, as it was written last: the state has it
    /// ([`State::recalled`](crate::State::recalled)).
    Again(RecordId),
    /// A line that was not shown lately, or is not what it was then.
    New(RecalledLine),
}

/// A remembered line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecalledLine {
    /// What was said, or its beginning.
    pub text: String,
    /// When.
    pub at: Timestamp,
    /// The name of who said it; `you` for the assistant itself.
    pub from: String,
    /// The id of who said it, if the world named one: names can look alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
    /// How far it is believed.
    pub trust: Trust,
    /// Its number in the memory.
    pub record: RecordId,
    /// What kind of thing it is.
    #[serde(default)]
    pub kind: RecordKind,
    /// Where the memory has it from: `log:42` is event 42 of this log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// How many tokens it takes as it is shown.
    pub tokens: u32,
}

/// A part of a prompt that was put together from what is known. The default is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecalledBlock {
    /// The text as it is shown, with its heading; empty if there is nothing to show.
    pub text: String,
    /// How many tokens it takes.
    pub tokens: u32,
    /// The lowest trust of what it was made of.
    pub trust: Trust,
}

impl Default for RecalledBlock {
    fn default() -> Self {
        Self {
            text: String::new(),
            tokens: 0,
            trust: Trust::FULL,
        }
    }
}

impl RecalledBlock {
    /// Is there nothing in it?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// By what recall went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecallMode {
    /// By words, because that is all there is.
    #[default]
    Words,
    /// By words, because similarity could not be had; the reason in one word (`encoder`).
    WordsBecause(String),
    /// By words and by similarity.
    WordsAndVectors,
}

/// Why nothing was recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecallFailure {
    /// It took longer than it may.
    TimedOut,
    /// The memory could not be read or written.
    Memory,
    /// The log could not be read, so that the memory could not catch up with it.
    Log,
}

impl RecallFailure {
    /// The failure in a few words, for a model or a person to read.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::TimedOut => "remembering took too long",
            Self::Memory => "the memory cannot be read at the moment",
            Self::Log => "the memory cannot catch up with the log at the moment",
        }
    }
}

impl<Item> Default for Recollected<Item> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            entities: RecalledBlock::default(),
            orders: RecalledBlock::default(),
            mode: RecallMode::default(),
            failure: None,
        }
    }
}

impl<Item> Recollected<Item> {
    /// The same with other items.
    pub(crate) fn with_items<Other>(
        self,
        change: impl FnOnce(Vec<Item>) -> Vec<Other>,
    ) -> Recollected<Other> {
        Recollected {
            items: change(self.items),
            entities: self.entities,
            orders: self.orders,
            mode: self.mode,
            failure: self.failure,
        }
    }
}

impl Recollected<RecalledLine> {
    /// Where all of it comes from.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let lines = self.items.iter().map(|line| Source {
            trust: line.trust,
            from: line.from.clone(),
            seq: line.log_seq(),
        });
        let blocks = [&self.entities, &self.orders].into_iter();
        let blocks = blocks
            .filter(|block| !block.is_empty())
            .map(|block| Source {
                trust: block.trust,
                from: SEVERAL.to_owned(),
                seq: None,
            });
        lines.chain(blocks).collect()
    }
}

impl RecalledLine {
    /// The place in the log it goes back to, if it does.
    pub(crate) fn log_seq(&self) -> Option<Seq> {
        let place = self.origin.as_deref()?.strip_prefix(LOG_ORIGIN)?;
        place.parse().ok().map(Seq)
    }
}
