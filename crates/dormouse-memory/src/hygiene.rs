//! How healthy a memory is: what in it is said twice, out of date, not believed, or should not be there.
//!
//! A [`HygieneScan`] takes the records page by page and answers a [`HygieneReport`]; nothing is asked of a model and
//! nothing is changed. [`survey`] does so for a whole memory. The report proposes which records to fold into which;
//! applying a proposal is a change as any other, and can be taken back.

mod nearby;
mod report;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use dormouse_contracts::{Timestamp, Trust};
use dormouse_redact::{RedactionProfile, scan};
use serde::{Deserialize, Serialize};

use crate::{
    admission::same_speaker,
    likeness::Likeness,
    memory::{Memory, MemoryError},
    recall::MIN_TRUST,
    record::{Derivation, Record, RecordId, RecordKind, Shelf, Speaker, Standing},
};
use nearby::Nearby;
pub use report::{Example, FoldProposal, HygieneFinding, HygieneReport, KindReport, SameAs};

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// What counts as unhealthy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HygienePolicy {
    /// From which share of words and pairs of words on two records say the same, in `0.0..=1.0`: 0.85. Below 0.6 not
    /// all pairs are found.
    pub near: f32,
    /// A record that is older than this, not linked, and that nothing was made of is stale: 180 days.
    pub stale_after: Duration,
    /// Records believed less count as low in trust: 0.5.
    pub min_trust: Trust,
    /// The same event told again within this time is one event: 24 hours. Facts are the same whenever they are told.
    pub one_event_within: Duration,
}

impl Default for HygienePolicy {
    fn default() -> Self {
        Self {
            near: 0.85,
            stale_after: Duration::from_secs(180 * 86_400),
            min_trust: MIN_TRUST,
            one_event_within: Duration::from_secs(86_400),
        }
    }
}

/// Looks over every record of a memory.
///
/// # Errors
///
/// [`MemoryError::Store`] if the file fails.
pub async fn survey(
    memory: &Memory,
    policy: HygienePolicy,
    now: Timestamp,
) -> Result<HygieneReport, MemoryError> {
    let mut scan = HygieneScan::new(policy, now);
    let mut after = None;
    loop {
        let page = memory.records(after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(scan.finish());
        };
        after = Some(last.id);
        scan.take(&page);
    }
}

/// A look over records, page by page, in the order of their numbers. Takes time and memory nearly linear in the number
/// of records (by estimate 1.5 KB for a record of twenty words).
#[derive(Debug)]
pub struct HygieneScan {
    policy: HygienePolicy,
    now: Timestamp,
    there: HashSet<RecordId>,
    sources: HashSet<RecordId>,
    by_text: HashMap<u64, usize>,
    nearby: Nearby,
    seen: Vec<Seen>,
}

/// What is kept of a record that is in use.
#[derive(Debug)]
struct Seen {
    id: RecordId,
    kind: RecordKind,
    shelf: Shelf,
    at: Timestamp,
    speaker: Option<Speaker>,
    trust: Trust,
    derivation: Derivation,
    derived_from: Vec<RecordId>,
    linked: usize,
    ended: Standing,
    valid_until: Option<Timestamp>,
    secret: usize,
    likeness: Likeness,
    same_as: Option<(usize, SameAs)>,
}

impl HygieneScan {
    /// A look at the time `now`.
    #[must_use]
    pub fn new(policy: HygienePolicy, now: Timestamp) -> Self {
        Self {
            policy,
            now,
            there: HashSet::new(),
            sources: HashSet::new(),
            by_text: HashMap::new(),
            nearby: Nearby::default(),
            seen: Vec::new(),
        }
    }

    /// Takes the next page. Records that were folded, withdrawn or erased count only as sources of others.
    pub fn take(&mut self, page: &[Record]) {
        for record in page {
            // An erased record is no source any more: what was made of it has lost its evidence.
            if !record.text.is_empty() {
                self.there.insert(record.id);
            }
            if !record.is_in_use() || record.text.is_empty() {
                continue;
            }
            self.sources.extend(&record.lineage.derived_from);
            let seen = self.seen_of(record);
            self.seen.push(seen);
        }
    }

    fn seen_of(&mut self, record: &Record) -> Seen {
        let likeness = Likeness::of(&record.text);
        let place = self.seen.len();
        let same_as = match self.by_text.get(&likeness.exact()) {
            Some(first) => Some((*first, SameAs::Exactly)),
            None => {
                self.by_text.insert(likeness.exact(), place);
                let near = self.nearby.take(place, likeness.shingles(), |other| {
                    self.seen.get(other).is_some_and(|other| {
                        likeness.says_the_same(&other.likeness, self.policy.near)
                    })
                });
                near.map(|near| (near, SameAs::Nearly))
            }
        };
        Seen {
            id: record.id,
            kind: record.kind,
            shelf: record.shelf,
            at: record.at,
            speaker: record.speaker.clone(),
            trust: record.trust,
            derivation: record.lineage.derivation,
            derived_from: record.lineage.derived_from.clone(),
            linked: record.links.len(),
            ended: record.standing,
            valid_until: record.valid_until,
            secret: scan(record.text.as_bytes(), RedactionProfile::Memory).len(),
            likeness,
            same_as,
        }
    }

    /// What was found.
    #[must_use]
    pub fn finish(self) -> HygieneReport {
        let mut report = HygieneReport {
            records: count(self.there.len()),
            in_use: count(self.seen.len()),
            ..HygieneReport::default()
        };
        let mut folds: BTreeMap<(RecordId, SameAs), Vec<RecordId>> = BTreeMap::new();
        for seen in &self.seen {
            self.judge(seen, &mut report);
            if let Some((into, how)) = self.fold_of(seen) {
                folds.entry((into, how)).or_default().push(seen.id);
            }
        }
        report.close(folds);
        report
    }

    fn judge(&self, seen: &Seen, report: &mut HygieneReport) {
        let same = seen
            .same_as
            .and_then(|(other, how)| Some((self.seen.get(other)?, how)));
        let like = same.map(|(other, _)| other.id);
        let how = same.map(|(_, how)| how);
        let of_output = matches!(
            seen.derivation,
            Derivation::Stored | Derivation::Extracted | Derivation::Consolidated
        );
        let orphan = seen
            .derived_from
            .iter()
            .find(|source| !self.there.contains(source));
        let mut found = |is: bool, pick: fn(&mut HygieneReport) -> &mut HygieneFinding, like| {
            if is {
                pick(report).add(seen.id, like);
                report.by_kind.entry(seen.kind).or_default().unhealthy += 1;
            }
        };
        found(
            how == Some(SameAs::Exactly),
            |r| &mut r.exact_duplicates,
            like,
        );
        found(
            how == Some(SameAs::Nearly),
            |r| &mut r.near_duplicates,
            like,
        );
        found(like.is_some() && of_output, |r| &mut r.echoes, like);
        found(self.is_stale(seen), |r| &mut r.stale, None);
        found(seen.secret > 0, |r| &mut r.secret_shaped, None);
        found(
            seen.trust < self.policy.min_trust,
            |r| &mut r.low_trust,
            None,
        );
        found(orphan.is_some(), |r| &mut r.orphans, orphan.copied());
        report.by_kind.entry(seen.kind).or_default().in_use += 1;
    }

    fn is_stale(&self, seen: &Seen) -> bool {
        let ended = seen.valid_until.is_some_and(|until| until <= self.now)
            || matches!(seen.ended, Standing::Superseded { .. });
        let unused = seen.linked == 0 && !self.sources.contains(&seen.id);
        ended || (unused && self.now.since(seen.at) > self.policy.stale_after)
    }

    /// Into which record this one may be folded. Only what the same speaker said of the same kind is, and only while
    /// both are so: when something was said, and by whom, is content, too.
    fn fold_of(&self, seen: &Seen) -> Option<(RecordId, SameAs)> {
        let (other, how) = seen.same_as?;
        let other = self.seen.get(other)?;
        let apart = seen.at.since(other.at).max(other.at.since(seen.at));
        let one_event = seen.kind != RecordKind::Event || apart <= self.policy.one_event_within;
        let same = seen.kind == other.kind
            && seen.shelf == other.shelf
            && seen.valid_until == other.valid_until
            && seen.ended == Standing::Live
            && other.ended == Standing::Live
            && seen.trust <= other.trust
            && same_speaker(seen.speaker.as_ref(), other.speaker.as_ref());
        (same && one_event).then_some((other.id, how))
    }
}

fn count(of: usize) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
