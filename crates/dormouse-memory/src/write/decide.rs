//! What becomes of a fact: the pure rule, and the plan for a batch of them.

use dormouse_contracts::{Timestamp, Trust};
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{SourceKey, WriterSettings};
use crate::{
    admission::{Admission, AdmissionContext, AdmissionPolicy, AdmissionProfile, Candidate, admit},
    likeness::Likeness,
    memory::{Memory, MemoryError},
    recall::{RecallRequest, Validity},
    record::{LinkKind, Record, RecordId, RecordKind, Standing},
};

/// From which similarity on a record is about the same as a fact: the cosine of their sets of terms. Two sentences of four
/// terms share two.
const ABOUT_THE_SAME: f32 = 0.5;
/// From which similarity on two that disagree in numbers or negation contradict each other.
const CONTRADICTS: f32 = 0.75;
/// How many records are looked at for each fact.
const NEIGHBOURS: usize = 8;
/// How much of a fact is asked for, in bytes.
const QUESTION: usize = 1_000;

/// A fact that a model made of sources.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extracted {
    /// What it says, in the third person.
    pub text: String,
    /// What kind of thing.
    pub kind: RecordKind,
    /// Whom or what it is about, by name.
    pub about: Vec<String>,
    /// When the latest of its sources was said.
    pub at: Timestamp,
    /// The lowest trust of its sources.
    pub trust: Trust,
    /// Since when it is so, where that is known.
    pub valid_from: Option<Timestamp>,
    /// Why the model thinks it matters.
    pub reason: Option<String>,
    /// The sources that are records.
    pub records: Vec<RecordId>,
    /// All its sources.
    pub keys: Vec<SourceKey>,
}

/// What becomes of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It becomes a record.
    Add,
    /// It becomes a record that takes the place of another.
    Supersede {
        /// The record that is not so any more.
        old: RecordId,
    },
    /// It becomes a record that is linked with another.
    Link {
        /// The other record.
        to: RecordId,
        /// How they hang together.
        kind: LinkKind,
        /// How strongly, in `0.0..=1.0`.
        weight: f32,
    },
    /// It is not kept.
    Ignore {
        /// The record that says it already, if that is why.
        like: Option<RecordId>,
    },
}

/// A decision with its reason, and how sure the rule is of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// What becomes of the fact.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// The records about the same that make it doubtful, most similar first; empty where the rule is sure.
    pub doubtful: Vec<Record>,
}

impl Decided {
    fn sure(decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
            doubtful: Vec::new(),
        }
    }
}

/// Decides by words alone what becomes of a fact, given the records that recall finds for it.
///
/// What the admission rule refuses is ignored. What no record is about is added. Where one is, the fact is added and
/// linked with it, as contradicting it where they differ only in numbers or in negation; that is doubtful, since only who
/// understands both can say whether the one takes the other's place. The rule itself never supersedes.
#[must_use]
pub fn decide(
    fact: &Extracted,
    neighbours: &[Record],
    names: &[&str],
    policy: &AdmissionPolicy,
) -> Decided {
    let candidate = Candidate {
        text: &fact.text,
        speaker: None,
        at: fact.at,
        trust: fact.trust,
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
    let mut alike = about_the_same(fact, neighbours);
    let Some((similarity, nearest)) = alike.first().copied() else {
        return Decided::sure(Decision::Add, "nothing is known about it");
    };
    let disagrees = !Likeness::of(&fact.text).agrees(&Likeness::of(&nearest.text));
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
    alike.truncate(3);
    Decided {
        decision,
        reason: format!("about the same as {} ({similarity:.2})", nearest.id),
        doubtful: alike
            .into_iter()
            .map(|(_, record)| record.clone())
            .collect(),
    }
}

/// The records that say something about the same, most similar first. What was heard word for word is evidence, and
/// takes no part: it is neither wrong later nor superseded.
fn about_the_same<'a>(fact: &Extracted, neighbours: &'a [Record]) -> Vec<(f32, &'a Record)> {
    let words = Likeness::of(&fact.text);
    let known = |record: &&Record| {
        record.kind != RecordKind::Event
            && record.standing == Standing::Live
            && !fact.records.contains(&record.id)
    };
    let mut alike: Vec<_> = neighbours
        .iter()
        .filter(known)
        .filter_map(|record| {
            let others = Likeness::of(&record.text);
            let similarity = words.about_the_same(&others);
            let enough = similarity >= ABOUT_THE_SAME && words.shared_terms(&others) >= 2;
            enough.then_some((similarity, record))
        })
        .collect();
    alike.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.id.cmp(&second.id)));
    alike
}

/// A fact and what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) fact: Extracted,
    pub(super) decided: Decided,
}

/// Decides for every fact of a reply.
pub(super) async fn plan(
    memory: &Memory,
    facts: Vec<Extracted>,
    settings: &WriterSettings,
) -> Result<Vec<Planned>, MemoryError> {
    let names: Vec<&str> = settings.names.iter().map(String::as_str).collect();
    let mut plan: Vec<Planned> = Vec::with_capacity(facts.len());
    for fact in facts {
        let decided = if said_in(&plan, &fact, settings.admission.near) {
            Decided::sure(Decision::Ignore { like: None }, "said twice in one reply")
        } else {
            let neighbours = neighbours(memory, &fact).await?;
            decide(&fact, &neighbours, &names, &settings.admission)
        };
        plan.push(Planned { fact, decided });
    }
    Ok(plan)
}

fn said_in(plan: &[Planned], fact: &Extracted, near: f32) -> bool {
    let words = Likeness::of(&fact.text);
    plan.iter().any(|planned| {
        let kept = !matches!(planned.decided.decision, Decision::Ignore { .. });
        kept && words.says_the_same(&Likeness::of(&planned.fact.text), near)
    })
}

async fn neighbours(memory: &Memory, fact: &Extracted) -> Result<Vec<Record>, MemoryError> {
    let question = RecallRequest::new(beginning_bytes(&fact.text, QUESTION))
        .limit(NEIGHBOURS)
        .min_trust(Trust::NONE)
        .valid(Validity::Any);
    let recall = memory.recall(question).await?;
    Ok(recall.items.into_iter().map(|item| item.record).collect())
}
