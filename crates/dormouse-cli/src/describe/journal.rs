//! Changes of a journal in words.

use dormouse_engine::{JournalChanged, ReflectionRecorded};
use dormouse_journal::{EntryId, JournalChange, PruneReason};

use super::excerpt;

/// The changes of an event, and who decided on them.
pub(super) fn of(changed: &JournalChanged) -> String {
    let changes: Vec<_> = changed.changes.iter().map(change).collect();
    format!("{}, by {}", changes.join("; "), changed.author)
}

/// What the assistant wrote when it looked back.
pub(super) fn looked_back(it: &ReflectionRecorded) -> String {
    match it.entries.as_slice() {
        [] => "nothing was written".to_owned(),
        entries => format!("{} written", ids(entries)),
    }
}

fn change(change: &JournalChange) -> String {
    match change {
        JournalChange::Added { entry, .. } => format!(
            "entry {}, importance {}: {}",
            entry.id,
            entry.importance,
            excerpt(&entry.content)
        ),
        JournalChange::Linked { entry, to } => format!("entry {entry} repeats {to}"),
        JournalChange::Unlinked { entry } => format!("entry {entry} stands alone"),
        JournalChange::Rescored { scores, .. } => {
            let scores = scores.iter();
            let scores = scores.map(|score| format!("{} is {}", score.entry, score.importance));
            let scores: Vec<_> = scores.collect();
            format!("importance of {}", scores.join(", "))
        }
        JournalChange::Consolidated { entries } => format!("{} in memory", ids(entries)),
        JournalChange::Unconsolidated { entries } => {
            format!("{} not in memory any more", ids(entries))
        }
        JournalChange::Pruned { entries, reason } => {
            let why = match reason {
                PruneReason::Overflow => "there were too many",
                PruneReason::Faded => "old and unimportant",
            };
            format!("{} left: {why}", ids(entries))
        }
        JournalChange::Restored { entry } => format!("entry {} is back", entry.id),
        JournalChange::ReflectionBegun { entries, .. } => {
            format!("a reflection on {} begins", ids(entries))
        }
        JournalChange::QuestionsRaised { questions, .. } => {
            format!("questions: {}", excerpt(&questions.join(" ")))
        }
        JournalChange::EvidenceFound { evidence } => {
            let count: usize = evidence.iter().map(Vec::len).sum();
            format!("{count} pieces of evidence")
        }
        JournalChange::ReflectionFailed => "a step of the reflection failed".to_owned(),
        JournalChange::ReflectionGivenUp => "the reflection is given up".to_owned(),
        JournalChange::Reflected { insights } => {
            let said = insights.iter().map(|insight| excerpt(&insight.content));
            let said: Vec<_> = said.collect();
            format!("{} insights: {}", insights.len(), said.join(" "))
        }
        _ => "changed".to_owned(),
    }
}

fn ids(entries: &[EntryId]) -> String {
    match entries {
        [only] => format!("entry {only}"),
        many => {
            let ids: Vec<_> = many.iter().map(EntryId::to_string).collect();
            format!("entries {}", ids.join(", "))
        }
    }
}
