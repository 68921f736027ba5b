//! Replies of a model whose results are not recorded yet.

use std::collections::VecDeque;

use dormouse_contracts::Seq;
use dormouse_entities::EntityChange;
use dormouse_journal::JournalChange;
use dormouse_memory::{MemoryChange, write::Attempts};
use serde::{Deserialize, Serialize};

use crate::event::{ConsolidationRules, Consultation, ConsultationFailure, Event};

/// The events with replies whose results are not recorded yet. The next consolidation begins with them. Each is the
/// last of its kind: a later reply of the same kind replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Consultations {
    /// The reply with the facts in some records.
    pub extraction: Option<Seq>,
    /// The reply with the verdicts on these facts.
    pub judgement: Option<Seq>,
    /// The reply with the attributes of an entity.
    pub entity: Option<Seq>,
    /// The reply with the importance of journal entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Seq>,
    /// The reply of the last step of the reflection under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reflection: Option<Seq>,
    /// The rules of the consolidation under way, if any.
    pub under_way: Option<ConsolidationRules>,
    /// The failed attempts since it began.
    pub attempts: Attempts,
    /// The last records that a model refused too often. No night asks about them again, but an operator may.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub given_up: VecDeque<String>,
}

/// How many refused records are kept.
const GIVEN_UP_KEPT: usize = 1_000;

impl Consultations {
    pub(super) fn apply(&mut self, seq: Seq, event: &Event) {
        match event {
            Event::Consulted(consulted) => match &consulted.about {
                Consultation::Extraction { .. } => {
                    self.extraction = Some(seq);
                    self.judgement = None;
                }
                Consultation::Judgement { extraction, .. } => {
                    self.judgement = (self.extraction == Some(*extraction)).then_some(seq);
                }
                Consultation::EntityConsolidation { .. } => self.entity = Some(seq),
                Consultation::Scoring { .. } => self.scoring = Some(seq),
                Consultation::Questions { .. } | Consultation::Insights { .. } => {
                    self.reflection = Some(seq);
                }
            },
            Event::ConsultationFailed(failed) => match failed.cause {
                ConsultationFailure::Unanswered(_) => {}
                ConsultationFailure::Refused(_) | ConsultationFailure::Unreadable => {
                    self.failed(&failed.about);
                }
            },
            Event::ConsolidationBegan(began) => {
                self.under_way = Some(began.settings.clone());
                // Skipped records are tried again.
                self.attempts = Attempts::default();
            }
            Event::ConsolidationEnded(_) => {
                self.under_way = None;
                self.attempts = Attempts::default();
            }
            Event::MemoryChanged(changed) => {
                if let MemoryChange::Extracted { records, .. } = &changed.change {
                    self.extraction = None;
                    self.judgement = None;
                    for record in records {
                        self.attempts.succeeded(&record.to_string());
                    }
                    let is_read = |key: &String| records.iter().any(|it| it.to_string() == *key);
                    self.given_up.retain(|key| !is_read(key));
                }
            }
            Event::JournalChanged(changed) => self.written(&changed.changes),
            Event::EntityChanged(changed) => {
                if let EntityChange::Consolidated { entity, .. } = &changed.change {
                    self.entity = None;
                    self.attempts.succeeded(entity.as_str());
                }
            }
            _ => {}
        }
    }

    /// Drops the replies about the journal whose changes are now recorded.
    fn written(&mut self, changes: &[JournalChange]) {
        for change in changes {
            match change {
                JournalChange::Rescored { .. } => self.scoring = None,
                JournalChange::QuestionsRaised { .. }
                | JournalChange::Reflected { .. }
                | JournalChange::ReflectionBegun { .. }
                | JournalChange::ReflectionFailed
                | JournalChange::ReflectionGivenUp => self.reflection = None,
                _ => {}
            }
        }
    }

    /// Counts a failure for the subject of a request, and drops the earlier reply about it.
    pub(crate) fn failed(&mut self, about: &Consultation) {
        match about {
            Consultation::Extraction { records } => {
                self.extraction = None;
                self.judgement = None;
                for record in records {
                    let key = record.to_string();
                    self.attempts.failed(&key);
                    if self.attempts.gave_up(&key) && !self.given_up.contains(&key) {
                        self.given_up.push_back(key);
                    }
                }
                let surplus = self.given_up.len().saturating_sub(GIVEN_UP_KEPT);
                self.given_up.drain(..surplus);
            }
            // Without a verdict, the fixed rule decides.
            Consultation::Judgement { .. } => {}
            Consultation::EntityConsolidation { entity, .. } => {
                self.entity = None;
                self.attempts.failed(entity.as_str());
            }
            // The journal's change for it follows.
            Consultation::Scoring { .. } => self.scoring = None,
            Consultation::Questions { .. } | Consultation::Insights { .. } => {
                self.reflection = None;
            }
        }
    }
}
