//! The health of a memory: records that repeat others, are out of date, are not believed, or contain secrets.
//!
//! A [`HygieneScan`] reads the records page by page and returns a [`HygieneReport`]. It asks no model and changes nothing.
//! [`survey`] does this for a whole memory. The report proposes which records to fold into which. Applying a proposal is a
//! change like any other and can be taken back.

mod nearby;
mod report;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use dormouse_contracts::{Attribution, Audience, Timestamp, Trust};
use dormouse_redact::{RedactionProfile, scan};
use dormouse_retrieval::ComparableText;
use serde::{Deserialize, Serialize};

use crate::{
    admission::same_speaker,
    memory::{Memory, MemoryError},
    recall::MIN_TRUST,
    record::{Collection, Derivation, Record, RecordId, RecordKind, RecordStatus},
};
use nearby::Nearby;
pub use report::{Example, FoldProposal, HygieneFinding, HygieneReport, KindReport, SameAs};

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// What counts as unhealthy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HygienePolicy {
    /// With at least this share of equal words and pairs of words, two records say the same, in `0.0..=1.0`: 0.85.
    /// Below 0.6 some pairs are missed.
    pub near: f32,
    /// A record that is older than this, has no links, and is no source of another record is stale: 180 days.
    pub stale_after: Duration,
    /// Records of less trust are reported: 0.5.
    pub min_trust: Trust,
    /// Two reports of an event within this time are the same event: 24 hours. Facts are the same at any distance.
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

/// Scans every record of a memory.
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
        scan.add(&page);
    }
}

/// A scan over records, page by page, in the order of their numbers. Takes time and memory nearly linear in the number of
/// records (an estimated 1.5 KB for a record of twenty words).
#[derive(Debug)]
pub struct HygieneScan {
    policy: HygienePolicy,
    now: Timestamp,
    with_text: HashSet<RecordId>,
    /// Records that were erased.
    without_text: HashSet<RecordId>,
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
    collection: Collection,
    at: Timestamp,
    speaker: Attribution,
    trust: Trust,
    known_to: Audience,
    derivation: Derivation,
    derived_from: Vec<RecordId>,
    linked: usize,
    ended: RecordStatus,
    valid_until: Option<Timestamp>,
    secret: usize,
    comparable: ComparableText,
    same_as: Option<(usize, SameAs)>,
}

impl HygieneScan {
    /// A scan at the time `now`.
    #[must_use]
    pub fn new(policy: HygienePolicy, now: Timestamp) -> Self {
        Self {
            policy,
            now,
            with_text: HashSet::new(),
            without_text: HashSet::new(),
            sources: HashSet::new(),
            by_text: HashMap::new(),
            nearby: Nearby::default(),
            seen: Vec::new(),
        }
    }

    /// Reads the next page. Records that were folded, withdrawn or erased count only as sources of others.
    pub fn add(&mut self, page: &[Record]) {
        for record in page {
            // An erased record does not count as an existing source: records made from it have lost their evidence.
            let seen = match record.text.is_empty() {
                true => &mut self.without_text,
                false => &mut self.with_text,
            };
            seen.insert(record.id);
            if !record.is_in_use() || record.text.is_empty() {
                continue;
            }
            self.sources.extend(&record.provenance.derived_from);
            let seen = self.seen_of(record);
            self.seen.push(seen);
        }
    }

    fn seen_of(&mut self, record: &Record) -> Seen {
        let comparable = ComparableText::of(&record.text);
        let place = self.seen.len();
        let same_as = match self.by_text.get(&comparable.normalised_hash()) {
            Some(first) => Some((*first, SameAs::Exactly)),
            None => {
                self.by_text.insert(comparable.normalised_hash(), place);
                let near = self
                    .nearby
                    .find_or_add(place, comparable.shingles(), |other| {
                        self.seen.get(other).is_some_and(|other| {
                            comparable.says_the_same(&other.comparable, self.policy.near)
                        })
                    });
                near.map(|near| (near, SameAs::Nearly))
            }
        };
        Seen {
            id: record.id,
            kind: record.kind,
            collection: record.collection,
            at: record.at,
            speaker: record.speaker.clone(),
            trust: record.trust,
            known_to: record.known_to(),
            derivation: record.provenance.derivation,
            derived_from: record.provenance.derived_from.clone(),
            linked: record.links.len(),
            ended: record.status,
            valid_until: record.valid_until,
            secret: scan(record.text.as_bytes(), RedactionProfile::Memory).len(),
            comparable,
            same_as,
        }
    }

    /// The report of the scan.
    #[must_use]
    pub fn finish(self) -> HygieneReport {
        let mut report = HygieneReport {
            records: count(self.with_text.len()),
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
        let is_gone = |source: &&RecordId| match seen.derivation {
            // Its sources may be events that never were records.
            Derivation::Stored => self.without_text.contains(*source),
            _ => !self.with_text.contains(*source),
        };
        let orphan = seen.derived_from.iter().find(is_gone);
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
            || matches!(seen.ended, RecordStatus::Superseded { .. });
        let unused = seen.linked == 0 && !self.sources.contains(&seen.id);
        ended || (unused && self.now.since(seen.at) > self.policy.stale_after)
    }

    /// The record into which this one may be folded. Both must have the same kind and the same speaker and be valid:
    /// when something was said, and by whom, is content, too. Everyone who perceived this one also perceived the other,
    /// so that nobody loses what they heard.
    fn fold_of(&self, seen: &Seen) -> Option<(RecordId, SameAs)> {
        let (other, how) = seen.same_as?;
        let other = self.seen.get(other)?;
        let apart = seen.at.since(other.at).max(other.at.since(seen.at));
        let one_event = seen.kind != RecordKind::Event || apart <= self.policy.one_event_within;
        let same = seen.kind == other.kind
            && seen.collection == other.collection
            && seen.valid_until == other.valid_until
            && seen.ended == RecordStatus::Live
            && other.ended == RecordStatus::Live
            && seen.trust <= other.trust
            && other.known_to.covers(&seen.known_to)
            && same_speaker(&seen.speaker, &other.speaker);
        (same && one_event).then_some((other.id, how))
    }
}

fn count(of: usize) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
