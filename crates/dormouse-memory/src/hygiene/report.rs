//! The report of a scan, and the folds that it proposes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    change::MemoryChange,
    note::LIST_LIMIT,
    record::{RecordId, RecordKind},
};

/// The most examples of one finding.
const EXAMPLES: usize = 10;
/// The most proposals of one report.
const PROPOSALS: usize = 1_000;

/// The health of a memory. A record may count in several findings. Of several records that say the same, the first counts as
/// healthy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HygieneReport {
    /// Records that have a text, of any status.
    pub records: u64,
    /// Records that can be recalled. All rates are shares of these.
    pub in_use: u64,
    /// Records with the text of an older one, except for case and spaces.
    pub exact_duplicates: HygieneFinding,
    /// Records with nearly the text of an older one.
    pub near_duplicates: HygieneFinding,
    /// Records made by the assistant or a model that repeat an older one: a recalled record came back as a new one.
    pub echoes: HygieneFinding,
    /// Records that are no longer valid, or are old and neither linked nor a source.
    pub stale: HygieneFinding,
    /// Records that contain something like a secret.
    pub secret_shaped: HygieneFinding,
    /// Records whose trust is too low for recall.
    pub low_trust: HygieneFinding,
    /// Records whose source no longer exists.
    pub orphans: HygieneFinding,
    /// Counts for each kind of record.
    pub by_kind: BTreeMap<RecordKind, KindReport>,
    /// The proposed folds.
    pub proposals: Vec<FoldProposal>,
    /// How many further proposals there are; a report holds at most 1,000. Apply these and scan again.
    pub proposals_left_out: u64,
}

/// Counts for one kind of record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindReport {
    /// Records that can be recalled.
    pub in_use: u64,
    /// How often one of them appears in a finding.
    pub unhealthy: u64,
}

/// The records with one kind of defect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HygieneFinding {
    /// How many records.
    pub count: u64,
    /// Their share of all records in use, in `0.0..=1.0`.
    pub rate: f32,
    /// The first ten of them.
    pub examples: Vec<Example>,
}

/// A record of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The record.
    pub record: RecordId,
    /// The record that it repeats, or the source that is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<RecordId>,
}

/// How two records say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameAs {
    /// In the same words.
    Exactly,
    /// In nearly the same words.
    Nearly,
}

/// A proposal to fold records into one that says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldProposal {
    /// The record that stays.
    pub into: RecordId,
    /// The records that become part of it, at most 256. They have the same kind and speaker and no higher trust.
    pub records: Vec<RecordId>,
    /// How they say the same.
    pub same: SameAs,
}

impl FoldProposal {
    /// The change that folds the records, and its reason.
    #[must_use]
    pub fn change(&self) -> (MemoryChange, &'static str) {
        let reason = match self.same {
            SameAs::Exactly => "hygiene: the same words",
            SameAs::Nearly => "hygiene: nearly the same words",
        };
        let (records, into) = (self.records.clone(), self.into);
        (MemoryChange::Folded { records, into }, reason)
    }
}

impl HygieneFinding {
    pub(super) fn add(&mut self, record: RecordId, other: Option<RecordId>) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(Example { record, other });
        }
    }
}

impl HygieneReport {
    /// The findings with their names, in the order of the report.
    #[must_use]
    pub fn findings(&self) -> [(&'static str, &HygieneFinding); 7] {
        [
            ("same text as an older record", &self.exact_duplicates),
            ("nearly the same text", &self.near_duplicates),
            ("repeated by the assistant itself", &self.echoes),
            ("outdated, or old and used by nothing", &self.stale),
            ("look like secrets", &self.secret_shaped),
            ("not trusted enough for recall", &self.low_trust),
            ("without their source", &self.orphans),
        ]
    }

    pub(super) fn close(&mut self, folds: BTreeMap<(RecordId, SameAs), Vec<RecordId>>) {
        let in_use = self.in_use;
        for finding in [
            &mut self.exact_duplicates,
            &mut self.near_duplicates,
            &mut self.echoes,
            &mut self.stale,
            &mut self.secret_shaped,
            &mut self.low_trust,
            &mut self.orphans,
        ] {
            finding.rate = rate(finding.count, in_use);
        }
        for ((into, same), records) in folds {
            for records in records.chunks(LIST_LIMIT) {
                if self.proposals.len() >= PROPOSALS {
                    self.proposals_left_out += 1;
                    continue;
                }
                self.proposals.push(FoldProposal {
                    into,
                    records: records.to_vec(),
                    same,
                });
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate is read to three digits")]
fn rate(part: u64, whole: u64) -> f32 {
    if whole == 0 {
        return 0.0;
    }
    part as f32 / whole as f32
}
