//! What the memory returned for a turn, before the model is asked.

use dormouse_contracts::{Attribution, Audience, SourceKind, Sources, Timestamp, Trust};
use dormouse_memory::{RecordId, RecordKind, Withheld};
use serde::{Deserialize, Serialize};

/// What the memory returned for a turn. The prompt shows it; a replay of the log does not search again.
///
/// In the log, a line that was written recently is only referenced by its id. A turn has whole lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recollected<Item = RecalledItem> {
    /// The remembered lines that fit, in the order in which they are shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// What is known about the people and things that the turn involves.
    #[serde(skip_serializing_if = "RecalledBlock::is_empty")]
    pub entities: RecalledBlock,
    /// Standing orders: what people asked for once and for all.
    #[serde(skip_serializing_if = "RecalledBlock::is_empty")]
    pub orders: RecalledBlock,
    /// Who perceived all of it, other than the assistant; absent if that was not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Relevant lines that were left out because not everybody who hears the answer perceived them. The prompt only
    /// says that there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
    /// How the memory was searched.
    pub mode: RecallMode,
    /// Why nothing was recalled, if that failed. The turn goes on without memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<RecallFailure>,
}

/// A remembered line as the log has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecalledItem {
    /// The line with this id in the memory, unchanged since it was last written to the log: the state has it
    /// ([`State::recalled`](crate::State::recalled)).
    Again(RecordId),
    /// A line that was not shown recently, or has changed since.
    New(RecalledLine),
}

/// A remembered line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecalledLine {
    /// What was said, or its beginning.
    pub text: String,
    /// When.
    pub at: Timestamp,
    /// Who said it.
    #[serde(default)]
    pub from: Attribution,
    /// How it was said, if it is a quotation, word for word. Then it is certain that it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<SourceKind>,
    /// The name of the place where it was said, if its world attests one. The name is outside text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How far it is believed.
    pub trust: Trust,
    /// Its id in the memory: the event of this log, or the part of one, that it was made from.
    pub record: RecordId,
    /// What kind of thing it is.
    #[serde(default)]
    pub kind: RecordKind,
    /// How many tokens it takes as it is shown.
    pub tokens: u32,
}

/// A part of a prompt that was composed from profiles. The default is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecalledBlock {
    /// The text as it is shown, with its heading; empty if there is nothing to show.
    pub text: String,
    /// How many tokens it takes.
    pub tokens: u32,
    /// The lowest trust of its parts, names excepted.
    pub trust: Trust,
    /// The names that it shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The known sources of its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RecalledPart>,
}

/// A part of a block, and what it was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecalledPart {
    /// Where it begins in the text, in bytes.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// What it was made of.
    pub sources: Sources,
}

impl RecalledPart {
    /// The first occurrence of `part` in the text of a block; `None` if it does not occur, or has no known sources.
    pub(crate) fn find(text: &str, part: &str, sources: &Sources) -> Option<Self> {
        let from = text
            .find(part)
            .filter(|_| !part.is_empty() && !sources.is_empty())?;
        Some(Self {
            from: u32::try_from(from).ok()?,
            to: u32::try_from(from + part.len()).ok()?,
            sources: sources.clone(),
        })
    }

    /// The words of this part in `text`. If words of the text were forgotten since, the whole text.
    pub(crate) fn of<'a>(&self, text: &'a str) -> &'a str {
        let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        text.get(place(self.from)..place(self.to)).unwrap_or(text)
    }
}

impl Default for RecalledBlock {
    fn default() -> Self {
        Self {
            text: String::new(),
            tokens: 0,
            trust: Trust::FULL,
            names: Vec::new(),
            parts: Vec::new(),
        }
    }
}

impl RecalledBlock {
    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// How the memory was searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecallMode {
    /// By words only; no other search is available.
    #[default]
    Words,
    /// By words, because search by similarity failed; the reason in one word (`encoder`).
    WordsBecause(String),
    /// By words and by similarity.
    WordsAndVectors,
}

/// Why nothing was recalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecallFailure {
    /// It took longer than the limit.
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
            audience: None,
            withheld: Vec::new(),
            mode: RecallMode::default(),
            failure: None,
        }
    }
}

impl<Item> Recollected<Item> {
    /// The same data with other items.
    pub(crate) fn with_items<Other>(
        self,
        change: impl FnOnce(Vec<Item>) -> Vec<Other>,
    ) -> Recollected<Other> {
        Recollected {
            items: change(self.items),
            entities: self.entities,
            orders: self.orders,
            audience: self.audience,
            withheld: self.withheld,
            mode: self.mode,
            failure: self.failure,
        }
    }
}
