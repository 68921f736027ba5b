//! The report of an evaluation.

use std::{path::Path, time::Duration};

use dormouse_contracts::EncoderInfo;
use serde::Serialize;

use crate::{contender::Ranking, dataset::Dataset, metrics::Marks};

/// All measurements of one file.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(rename = "type")]
    kind: &'static str,
    file: String,
    format: &'static str,
    /// What is ranked: turns or sessions.
    pub(super) unit: &'static str,
    /// The maximum number of turns or sessions ranked for each question.
    pub(super) limit: usize,
    pub(super) conversations: usize,
    pub(super) turns: usize,
    /// The number of questions with known evidence. The others are skipped.
    pub(super) questions: usize,
    pub(super) questions_without_evidence: usize,
    /// The number of evidence entries that name a missing turn or session.
    pub(super) dangling_evidence: usize,
    pub(super) undated_sessions: usize,
    pub(super) encoder: Option<EncoderInfo>,
    pub(super) rankings: Vec<Block>,
}

impl Report {
    pub(super) fn of(
        path: &Path,
        dataset: &Dataset,
        limit: usize,
        encoder: Option<EncoderInfo>,
    ) -> Self {
        let conversations = &dataset.conversations;
        let questions = || conversations.iter().flat_map(|one| &one.questions);
        let known = questions().filter(|question| !question.gold.is_empty());
        let questions_known = known.count();
        Self {
            kind: "evaluation",
            file: path.display().to_string(),
            format: dataset.format.as_str(),
            unit: dataset.grain.as_str(),
            limit,
            conversations: conversations.len(),
            turns: conversations.iter().map(|one| one.turns.len()).sum(),
            questions: questions_known,
            questions_without_evidence: questions().count() - questions_known,
            dangling_evidence: questions().map(|question| question.dangling).sum(),
            undated_sessions: dataset.undated_sessions,
            encoder,
            rankings: Vec::new(),
        }
    }
}

/// One ranking.
#[derive(Debug, Serialize)]
pub(super) struct Block {
    pub(super) ranking: Ranking,
    pub(super) total: Marks,
    pub(super) categories: Vec<Row>,
    pub(super) conversations: Vec<ConversationRow>,
    pub(super) time_per_query: Times,
    /// The memory that all indexes use together.
    pub(super) index_bytes: u64,
    /// How long it took to index the conversations, including embedding.
    pub(super) preparing_seconds: f64,
}

/// The questions of one category.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) marks: Marks,
}

/// The questions about one conversation.
#[derive(Debug, Serialize)]
pub(super) struct ConversationRow {
    pub(super) name: String,
    pub(super) turns: usize,
    #[serde(flatten)]
    pub(super) marks: Marks,
}

/// How long a query for ten answers took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Times {
    pub(super) p50_micros: u64,
    pub(super) p95_micros: u64,
    pub(super) p99_micros: u64,
}

impl Times {
    /// The percentiles of these times, by nearest rank.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
            let time = times.get(place).copied().unwrap_or_default();
            u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
        };
        Self {
            p50_micros: at(50),
            p95_micros: at(95),
            p99_micros: at(99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let times = (1..=200).rev().map(Duration::from_micros).collect();
        let expected = Times {
            p50_micros: 100,
            p95_micros: 190,
            p99_micros: 198,
        };
        assert_eq!(Times::of(times), expected);
        assert_eq!(Times::of(vec![Duration::from_micros(7)]).p99_micros, 7);
        assert_eq!(Times::of(Vec::new()), Times::default());
    }
}
