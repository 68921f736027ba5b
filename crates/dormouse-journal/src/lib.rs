//! An assistant's journal: what it wrote down, how important that is, and what it concludes from it.
//!
//! Layer 3. Everything here is a pure function of its arguments: no I/O, no clock, no randomness, no model. A
//! [`Journal`] is a fold over [`JournalChange`]s. A function that decides something returns changes, or a request for a
//! model. The caller stores and applies the changes, and asks the model.
//!
//! Read in this order: [`NewEntry`] (the input) and [`JournalEntry`] (what is kept), [`Journal`] and [`JournalChange`],
//! [`ImportanceRule`] and [`scoring_request`] (importance), [`JournalQuery`] and [`JournalIndex`] (searching),
//! [`ReviewRequest`] (looking back), [`ReflectionState`] (concluding).
//!
//! Stability: experimental. The serialised names of changes are stable, because logs contain them.

mod change;
mod entry;
mod importance;
mod journal;
mod keywords;
mod reflection;
mod reply;
mod request;
mod review;
mod search;
mod settings;
#[cfg(test)]
mod testkit;

pub use change::{JournalChange, JournalChangeError, JournalDelta, PruneReason};
pub use dormouse_retrieval::is_stop_word;
pub use entry::{
    CONTENT_LIMIT, EntryError, EntryId, EntryLabel, EntryLabelError, EntryProvenance, EntryUpkeep,
    Importance, ImportanceError, ImportanceMethod, JournalEntry, LABELS_LIMIT, NewEntry,
    SourceType, SourceTypeError,
};
pub use importance::{
    EntryScore, HIGH_KEYWORDS, ImportanceHistory, ImportanceRule, ImportanceScale, KeywordMatching,
    LOW_KEYWORDS, ReadScores, ScoringPolicy, pending_scores, read_scores, scoring_request,
};
pub use journal::Journal;
pub use keywords::extract_keywords;
pub use reflection::{
    InsightFlaw, Invention, ReadInsights, ReflectionEvidence, ReflectionInterval, ReflectionPolicy,
    ReflectionState, ReflectionStep, ReflectionUnderWay, RefusedInsight, SYNTHESIS_MARK,
    SYNTHESIS_TAGS, choose_evidence, insights_request, questions_request, read_questions,
};
pub use review::{Review, ReviewError, ReviewRequest, SaveSynthesis};
pub use search::{
    EpisodicParts, EpisodicScore, EpisodicScoreError, JournalIndex, JournalMatch, JournalQuery,
    JournalSearch, Recency, WhyMatched,
};
pub use settings::{JournalSettings, NearRule, PruningRule};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
