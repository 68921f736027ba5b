//! How a journal scores the turns of conversations.

use std::fmt::{self, Display, Formatter};

use dormouse_journal::{
    ImportanceRule, ImportanceScale, Journal, JournalSettings, KeywordMatching, NewEntry,
    SourceType,
};

use crate::dataset::{Conversation, Dataset};

/// The cumulative importance from which an assistant reflects.
const THRESHOLD: f64 = 150.0;

/// How often each importance occurs, by several rules.
#[derive(Debug)]
pub(crate) struct ImportanceReport {
    turns: usize,
    conversations: usize,
    rules: Vec<(&'static str, [u64; 10])>,
}

impl ImportanceReport {
    /// Writes each conversation into a journal of its own, as if said to the assistant.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        use ImportanceScale::{Calibrated, Formula};
        use KeywordMatching::{Substring, WholeWords};
        let rules = [
            ("formula, inside of words", Substring, Formula),
            ("formula, whole words", WholeWords, Formula),
            ("rank, whole words", WholeWords, Calibrated),
        ];
        let rules = rules.map(|(name, matching, scale)| {
            let settings = JournalSettings {
                importance: ImportanceRule {
                    matching,
                    scale,
                    ..ImportanceRule::default()
                },
                ..JournalSettings::default()
            };
            let mut counts = [0; 10];
            for conversation in &dataset.conversations {
                count(conversation, &settings, &mut counts);
            }
            (name, counts)
        });
        Self {
            turns: dataset
                .conversations
                .iter()
                .map(|one| one.turns.len())
                .sum(),
            conversations: dataset.conversations.len(),
            rules: rules.into(),
        }
    }
}

fn count(conversation: &Conversation, settings: &JournalSettings, counts: &mut [u64; 10]) {
    let mut journal = Journal::new();
    for turn in &conversation.turns {
        let new = NewEntry::new(turn.text.as_str(), SourceType::Direct);
        // A blank turn cannot be an entry, and is not counted.
        for change in journal
            .plan_entry(new, turn.at, settings)
            .unwrap_or_default()
        {
            let delta = journal.apply(&change, turn.at).unwrap_or_default();
            let added = delta.added.iter().filter_map(|id| journal.entry(*id));
            for entry in added {
                let place = usize::from(entry.importance.get()).saturating_sub(1);
                if let Some(count) = counts.get_mut(place) {
                    *count += 1;
                }
            }
        }
    }
}

impl Display for ImportanceReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            turns,
            conversations,
            rules,
        } = self;
        writeln!(
            f,
            "{turns} turns of {conversations} conversations, each turn said to the assistant; a journal for each conversation. \
             Percent of entries by importance."
        )?;
        write!(f, "{:<26}", "")?;
        (1..=10).try_for_each(|importance| write!(f, " {importance:>5}"))?;
        writeln!(
            f,
            " {:>6} {:>6} {:>20}",
            "8 up", "mean", "entries a reflection"
        )?;
        for (name, counts) in rules {
            let all: u64 = counts.iter().sum();
            let worth: u64 = (1..)
                .zip(counts)
                .map(|(importance, count)| importance * count)
                .sum();
            let mean = worth as f64 / all.max(1) as f64;
            write!(f, "{name:<26}")?;
            for count in counts {
                write!(f, " {:>5.1}", *count as f64 * 100.0 / all.max(1) as f64)?;
            }
            let high: u64 = counts.iter().skip(7).sum();
            let high = high as f64 * 100.0 / all.max(1) as f64;
            writeln!(
                f,
                " {high:>6.1} {mean:>6.2} {:>20.1}",
                THRESHOLD / mean.max(1.0)
            )?;
        }
        Ok(())
    }
}
