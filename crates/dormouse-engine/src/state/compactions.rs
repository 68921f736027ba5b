//! Summaries of earlier turns that prompts no longer show.

use std::collections::VecDeque;

use dormouse_contracts::{Audience, FORGOTTEN, Seq, Sources, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::event::{
    Compacted, Event, HistorySpan, HistorySummarized, SummaryFailed, SummaryFailure,
};

/// How many summaries a state keeps. The turns of older ones can be recalled.
const SUMMARIES_KEPT: usize = 50;
/// How many spans may wait for a summary.
const OPEN_KEPT: usize = 20;
/// After how many failures a span is skipped.
const MOST_FAILURES: u32 = 3;

/// How often earlier turns were left out of prompts, and what is shown in their place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compactions {
    /// How often turns were left out.
    pub count: u64,
    /// When turns were left out last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
    /// How many spans have no summary because making it failed three times.
    pub skipped: u64,
    open: VecDeque<OpenSpan>,
    summaries: VecDeque<HistorySummary>,
}

/// Turns that are left out and have no summary yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSpan {
    /// The turns.
    pub span: HistorySpan,
    /// How often making the summary failed.
    pub failures: u32,
    /// When the summary is tried next at the earliest.
    pub due: Timestamp,
}

/// A summary of turns that are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistorySummary {
    /// The event that made it.
    pub seq: Seq,
    /// The turns.
    pub span: HistorySpan,
    /// The text.
    pub text: String,
    /// How many tokens it takes in a prompt.
    pub tokens: u32,
    /// Its trust.
    pub trust: Trust,
    /// Who perceived all of it, other than the assistant.
    pub audience: Audience,
    /// What it was made from.
    pub sources: Sources,
}

impl Compactions {
    /// Whether nothing was ever left out.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::Compacted(compacted) => self.compacted(at, compacted),
            Event::HistorySummarized(made) => self.summarized(seq, made),
            Event::SummaryFailed(failed) => self.failed(failed),
            _ => {}
        }
    }

    fn compacted(&mut self, at: Timestamp, compacted: &Compacted) {
        self.count = self.count.saturating_add(1);
        self.last_at = Some(at);
        let spans = compacted.dropped.iter();
        for span in spans.filter(|span| span.is_to_be_summarized) {
            if self.open.len() >= OPEN_KEPT && self.open.pop_front().is_some() {
                self.skipped = self.skipped.saturating_add(1);
            }
            self.open.push_back(OpenSpan {
                span: span.clone(),
                failures: 0,
                due: at,
            });
        }
    }

    fn summarized(&mut self, seq: Seq, made: &HistorySummarized) {
        self.open.retain(|open| open.span.from != made.span.from);
        let mut summaries = self.summaries.iter();
        let is_known = summaries.any(|summary| summary.span.from == made.span.from);
        // A summary that was forgotten is not shown; its turns can be recalled.
        if made.text == FORGOTTEN || is_known {
            return;
        }
        if self.summaries.len() >= SUMMARIES_KEPT {
            self.summaries.pop_front();
        }
        self.summaries.push_back(HistorySummary {
            seq,
            span: made.span.clone(),
            text: made.text.clone(),
            tokens: made.shown_tokens,
            trust: made.trust,
            audience: made.audience.clone(),
            sources: made.sources.clone(),
        });
    }

    fn failed(&mut self, failed: &SummaryFailed) {
        for open in &mut self.open {
            if open.span.from == failed.from {
                open.failures = match failed.cause {
                    SummaryFailure::NothingToShow => MOST_FAILURES,
                    _ => open.failures.saturating_add(1),
                };
                open.due = failed.retry_at;
            }
        }
        let before = self.open.len();
        self.open.retain(|open| open.failures < MOST_FAILURES);
        let gone = before.saturating_sub(self.open.len());
        self.skipped = self.skipped.saturating_add(gone as u64);
    }

    /// The first span whose summary is to be made at `now`.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> Option<&OpenSpan> {
        self.open.iter().find(|open| open.due <= now)
    }

    /// The spans that have no summary yet, oldest first.
    pub fn open(&self) -> impl ExactSizeIterator<Item = &OpenSpan> {
        self.open.iter()
    }

    /// The summaries, oldest first.
    pub fn summaries(
        &self,
    ) -> impl DoubleEndedIterator<Item = &HistorySummary> + ExactSizeIterator {
        self.summaries.iter()
    }
}
