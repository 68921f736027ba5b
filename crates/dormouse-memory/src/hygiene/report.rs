//! What was found in a memory, and what could be done about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    change::ChangeSeq,
    memory::{Memory, MemoryError},
    note::LIST_LIMIT,
    record::{RecordId, RecordKind},
};

/// The most examples of one finding.
const EXAMPLES: usize = 10;
/// The most proposals of one report.
const PROPOSALS: usize = 1_000;

/// The health of a memory. A record may count in several findings; of records that say the same, the first one counts
/// as healthy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HygieneReport {
    /// Records whose text is there, whatever their standing.
    pub records: u64,
    /// Records that can be recalled. All rates are shares of these.
    pub in_use: u64,
    /// Records with the text of an older one, but for case and spaces.
    pub exact_duplicates: HygieneFinding,
    /// Records with nearly the text of an older one.
    pub near_duplicates: HygieneFinding,
    /// Records made by the assistant or a model that say what an older one says: what was recalled came back as new.
    pub echoes: HygieneFinding,
    /// Records that are not so any more, or are old and of no use to another.
    pub stale: HygieneFinding,
    /// Records in which something looks like a secret.
    pub secret_shaped: HygieneFinding,
    /// Records that are not believed enough to be recalled.
    pub low_trust: HygieneFinding,
    /// Records made of one that is not there any more.
    pub orphans: HygieneFinding,
    /// Counts for each kind of record.
    pub by_kind: BTreeMap<RecordKind, KindReport>,
    /// What could be folded.
    pub proposals: Vec<FoldProposal>,
    /// How many proposals there were beyond the most that are kept (1,000). Apply these, and look again.
    pub proposals_left_out: u64,
}

/// Counts for one kind of record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindReport {
    /// Records that can be recalled.
    pub in_use: u64,
    /// How often one of them is in a finding.
    pub unhealthy: u64,
}

/// How often something was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HygieneFinding {
    /// In how many records.
    pub count: u64,
    /// Of all that are in use, in `0.0..=1.0`.
    pub rate: f32,
    /// The first of them, at most ten.
    pub examples: Vec<Example>,
}

/// A record in which something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The record.
    pub record: RecordId,
    /// The other one: what it repeats, or the source that it misses.
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

/// Records that could be folded into one that says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldProposal {
    /// The record that stays.
    pub into: RecordId,
    /// Those that become part of it: of the same kind, by the same speaker, and believed no more; at most 256.
    pub records: Vec<RecordId>,
    /// How they say the same.
    pub same: SameAs,
}

impl FoldProposal {
    /// Folds the records. [`Memory::revert`] takes it back.
    ///
    /// # Errors
    ///
    /// As [`Memory::fold`]: the records may have changed since the report.
    pub async fn apply(&self, memory: &Memory) -> Result<ChangeSeq, MemoryError> {
        let reason = match self.same {
            SameAs::Exactly => "hygiene: the same words",
            SameAs::Nearly => "hygiene: nearly the same words",
        };
        memory.fold(self.records.clone(), self.into, reason).await
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
            ("exact duplicates", &self.exact_duplicates),
            ("near duplicates", &self.near_duplicates),
            ("echoes", &self.echoes),
            ("stale", &self.stale),
            ("secret-shaped", &self.secret_shaped),
            ("low trust", &self.low_trust),
            ("orphans", &self.orphans),
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
