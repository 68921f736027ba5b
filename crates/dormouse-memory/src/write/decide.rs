//! The decision about a fact: the pure rule.

use dormouse_contracts::{Attribution, Audience, Timestamp, Trust};
use dormouse_retrieval::ComparableText;
use serde::{Deserialize, Serialize};

use super::source::is_raw;
use crate::{
    admission::{Admission, AdmissionContext, AdmissionPolicy, AdmissionProfile, Candidate, admit},
    record::{Derivation, LinkKind, Record, RecordId, RecordKind, RecordStatus},
};

/// The least similarity with which a record is about the same subject as a fact: the cosine of their sets of terms. Two
/// sentences of four terms then share two.
const ABOUT_THE_SAME: f32 = 0.5;
/// The least similarity with which two texts that differ in numbers or negation contradict each other.
const CONTRADICTS: f32 = 0.75;

/// A fact that a model made from sources.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extracted {
    /// Its text, in the third person.
    pub text: String,
    /// Its kind.
    pub kind: RecordKind,
    /// The names of the people and things it is about.
    pub about: Vec<String>,
    /// The time of its latest source.
    pub at: Timestamp,
    /// Its trust, by [`dormouse_retrieval::support`]: at most that of its sources, and of every other shown line that
    /// supplies what these lack.
    pub trust: Trust,
    /// Since when it is true, if that is known.
    pub valid_from: Option<Timestamp>,
    /// Why the model thinks it matters.
    pub reason: Option<String>,
    /// The records it was made from.
    pub sources: Vec<RecordId>,
    /// Who perceived everything that the model was shown.
    pub audience: Audience,
    /// How it was made.
    pub derivation: Derivation,
}

/// What happens to a fact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It becomes a record.
    Add,
    /// It becomes a record that replaces another.
    Supersede {
        /// The record that is no longer true.
        old: RecordId,
    },
    /// It becomes a record that is linked with another.
    Link {
        /// The other record.
        to: RecordId,
        /// How they are related.
        kind: LinkKind,
        /// How strongly, in `0.0..=1.0`.
        weight: f32,
    },
    /// It is not kept.
    Ignore {
        /// The record that already says it, if that is the reason.
        like: Option<RecordId>,
    },
}

/// A decision with its reason and the records that make it doubtful.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// The records about the same subject that make it doubtful, most similar first; empty if the rule is sure.
    pub doubtful: Vec<Record>,
}

impl Decided {
    pub(super) fn sure(decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
            doubtful: Vec::new(),
        }
    }
}

/// Decides by words alone what happens to a fact, given the records that recall finds for it.
///
/// A fact that the admission rule refuses is ignored. A fact is added if no record is about the same subject. Otherwise it is
/// added and linked with the most similar record: as a contradiction if they differ in numbers or negation. This is doubtful,
/// because only a reader who understands both can say whether one replaces the other. The rule itself never supersedes.
#[must_use]
pub fn decide(
    fact: &Extracted,
    neighbours: &[Record],
    names: &[&str],
    policy: &AdmissionPolicy,
) -> Decided {
    let candidate = Candidate {
        text: &fact.text,
        speaker: &Attribution::Unknown,
        at: fact.at,
        trust: fact.trust,
        audience: &fact.audience,
        profile: AdmissionProfile::Derived,
    };
    let context = AdmissionContext {
        neighbours,
        recalled: &[],
        names,
    };
    if let Admission::Ignore { reason, like } = admit(&candidate, &context, policy) {
        return Decided::sure(Decision::Ignore { like }, reason.as_str());
    }
    let mut related = about_the_same(fact, neighbours);
    let Some((similarity, nearest)) = related.first().copied() else {
        return Decided::sure(Decision::Add, "nothing is known about it");
    };
    let disagrees = !ComparableText::of(&fact.text).agrees(&ComparableText::of(&nearest.text));
    let kind = if disagrees && similarity >= CONTRADICTS {
        LinkKind::Contradicts
    } else {
        LinkKind::Related
    };
    let decision = Decision::Link {
        to: nearest.id,
        kind,
        weight: similarity,
    };
    related.truncate(3);
    Decided {
        decision,
        reason: format!("about the same subject as {} ({similarity:.2})", nearest.id),
        doubtful: related
            .into_iter()
            .map(|(_, record)| record.clone())
            .collect(),
    }
}

/// The records about the same subject, most similar first. What was heard word for word is left out: it is evidence,
/// and no fact that a model makes removes it from recall.
fn about_the_same<'a>(fact: &Extracted, neighbours: &'a [Record]) -> Vec<(f32, &'a Record)> {
    let words = ComparableText::of(&fact.text);
    let known = |record: &&Record| {
        !is_raw(record)
            && record.kind != RecordKind::Event
            && record.status == RecordStatus::Live
            && !fact.sources.contains(&record.id)
    };
    let mut related: Vec<_> = neighbours
        .iter()
        .filter(known)
        .filter_map(|record| {
            let others = ComparableText::of(&record.text);
            let similarity = words.about_the_same(&others);
            let enough = similarity >= ABOUT_THE_SAME && words.shared_terms(&others) >= 2;
            enough.then_some((similarity, record))
        })
        .collect();
    related.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.id.cmp(&second.id)));
    related
}
