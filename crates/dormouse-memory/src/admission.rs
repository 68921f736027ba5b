//! Admission: the rule that decides what may become a record.
//!
//! Everything that an assistant hears is in its log; this rule only decides what is worth a record. What was heard is judged
//! mildly, because it is the evidence for everything else. What a model or the assistant made from it is judged strictly,
//! because such texts fill a memory with copies of its own output.
//!
//! | reason | heard | derived | rule |
//! | --- | --- | --- | --- |
//! | no content | yes | yes | only stop words, greetings and emoji |
//! | duplicate | same speaker, within the window | any record of at least its trust | the same text, except for case and spaces |
//! | near duplicate | no | any record of at least its trust | [`AdmissionPolicy::near`] of its words and pairs of words, the same numbers, the same negation |
//! | echo | no | yes | like near duplicate, of a record that was recalled into the prompt |
//! | about itself | no | yes | [`dormouse_redact::is_about_itself`] |
//! | too long | no | yes | more than [`AdmissionPolicy::longest`] bytes |
//! | low trust | no | yes | less than [`AdmissionPolicy::min_trust`] |
//!
//! An existing record refuses a candidate only if everybody who heard the candidate also heard the record.
//!
//! There is no score: weights for importance, novelty or recency each refused records that questions needed later. These
//! rules refuse only texts without content or without anything new.

use std::time::Duration;

use dormouse_contracts::{Attribution, Audience, Timestamp, Trust};
use dormouse_redact::is_about_itself;
use dormouse_retrieval::{ComparableText, terms};
use serde::{Deserialize, Serialize};

use crate::{
    recall::MIN_TRUST,
    record::{Record, RecordId, RecordStatus},
};

/// How strictly a candidate is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdmissionProfile {
    /// What was heard or seen, word for word.
    Heard,
    /// What a model or the assistant made from something else.
    Derived,
}

/// A text that may become a record.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The text.
    pub text: &'a str,
    /// Who said it.
    pub speaker: &'a Attribution,
    /// When it was said.
    pub at: Timestamp,
    /// How far it is believed.
    pub trust: Trust,
    /// Who perceived it.
    pub audience: &'a Audience,
    /// How strictly it is judged.
    pub profile: AdmissionProfile,
}

/// The records and names that a candidate is judged against.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmissionContext<'a> {
    /// Records that may say the same, such as those that recall finds for its text. Only live ones count.
    pub neighbours: &'a [Record],
    /// The records in the prompt that the candidate was made with.
    pub recalled: &'a [Record],
    /// The names of the assistant.
    pub names: &'a [&'a str],
}

/// The bounds of the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AdmissionPolicy {
    /// How long the same words of the same speaker count as a duplicate: 10 minutes. After that they are a new event.
    pub window: Duration,
    /// With at least this share of equal words and pairs of words, two texts say the same, in `0.0..=1.0`: 0.85.
    /// Replacing one word in a sentence of ten leaves 0.73.
    pub near: f32,
    /// The longest derived text, in bytes: 1,000.
    pub longest: usize,
    /// The least trust of a derived text: 0.5, because records of less trust are not recalled.
    pub min_trust: Trust,
}

impl Default for AdmissionPolicy {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(600),
            near: 0.85,
            longest: 1_000,
            min_trust: MIN_TRUST,
        }
    }
}

/// Why a candidate is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IgnoreReason {
    /// It has no content.
    NoContent,
    /// A record has the same text.
    Duplicate,
    /// A record has nearly the same text.
    NearDuplicate,
    /// It repeats a record that was in the prompt.
    Echo,
    /// It is about the assistant itself.
    AboutItself,
    /// It is too long for a derived text.
    TooLong,
    /// Its trust is too low.
    LowTrust,
}

impl IgnoreReason {
    /// The words for it, as stored with the change.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoContent => "no content",
            Self::Duplicate => "duplicate",
            Self::NearDuplicate => "near duplicate",
            Self::Echo => "echo of what was recalled",
            Self::AboutItself => "about the assistant itself",
            Self::TooLong => "too long",
            Self::LowTrust => "low trust",
        }
    }
}

/// The decision about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may become a record.
    Admit,
    /// It is not kept.
    Ignore {
        /// Why.
        reason: IgnoreReason,
        /// The record that already says it, if that is the reason.
        like: Option<RecordId>,
    },
}

/// Decides whether a candidate may become a record. Takes time proportional to the length of the texts it is compared with.
#[must_use]
pub fn admit(
    candidate: &Candidate<'_>,
    context: &AdmissionContext<'_>,
    policy: &AdmissionPolicy,
) -> Admission {
    let refused = match candidate.profile {
        AdmissionProfile::Heard => None,
        AdmissionProfile::Derived => refused_by_itself(candidate, context, policy),
    };
    if let Some(reason) = refused.or_else(|| has_no_content(candidate.text)) {
        return Admission::Ignore { reason, like: None };
    }
    match repetition_of(candidate, context, policy) {
        Some((reason, like)) => Admission::Ignore {
            reason,
            like: Some(like),
        },
        None => Admission::Admit,
    }
}

fn refused_by_itself(
    candidate: &Candidate<'_>,
    context: &AdmissionContext<'_>,
    policy: &AdmissionPolicy,
) -> Option<IgnoreReason> {
    if candidate.text.len() > policy.longest {
        return Some(IgnoreReason::TooLong);
    }
    if candidate.trust < policy.min_trust {
        return Some(IgnoreReason::LowTrust);
    }
    is_about_itself(candidate.text, context.names).then_some(IgnoreReason::AboutItself)
}

fn has_no_content(text: &str) -> Option<IgnoreReason> {
    // Elsewhere these are stop words, but each can be the whole answer to a question.
    const ANSWERS: [&str; 6] = ["yes", "no", "not", "never", "nope", "yep"];
    const GREETINGS: [&str; 34] = [
        "ah", "aha", "bye", "cheer", "goodby", "greet", "ha", "haha", "hahaha", "hello", "hey",
        "hi", "hm", "hmm", "lol", "oh", "ok", "okay", "ooh", "pleas", "oop", "rofl", "sorri",
        "thank", "thx", "uh", "uhm", "um", "welcom", "well", "wow", "yay", "yo", "xd",
    ];
    let has_answer = || {
        let text = text.to_lowercase();
        text.split(|letter: char| !letter.is_alphanumeric())
            .any(|word| ANSWERS.contains(&word))
    };
    let content = terms(dormouse_text::beginning_bytes(text, 4_096))
        .into_iter()
        .any(|term| {
            let word = term.chars().any(char::is_alphanumeric);
            word && !GREETINGS.contains(&term.as_str())
        });
    let long = text.len() > 4_096;
    (!content && !has_answer() && !long).then_some(IgnoreReason::NoContent)
}

fn repetition_of(
    candidate: &Candidate<'_>,
    context: &AdmissionContext<'_>,
    policy: &AdmissionPolicy,
) -> Option<(IgnoreReason, RecordId)> {
    let said = ComparableText::of(candidate.text);
    let derived = candidate.profile == AdmissionProfile::Derived;
    // A record that fewer people heard does not count: otherwise the others would lose what they heard.
    let known = |record: &&Record| record.known_to().covers(candidate.audience);
    let recalled = context.recalled.iter().filter(|_| derived).filter(known);
    for record in recalled {
        if said.says_the_same(&ComparableText::of(&record.text), policy.near) {
            return Some((IgnoreReason::Echo, record.id));
        }
    }
    let live = |record: &&Record| record.status == RecordStatus::Live;
    // A record of less trust does not count: otherwise a rumour would keep the attested fact out.
    let believed = |record: &&Record| !derived || record.trust >= candidate.trust;
    let neighbours = context.neighbours.iter().filter(live).filter(believed);
    let mut near = None;
    for record in neighbours.filter(known) {
        let there = ComparableText::of(&record.text);
        let counts = derived || is_repeated(candidate, record, policy.window);
        if counts && said.normalised_hash() == there.normalised_hash() {
            return Some((IgnoreReason::Duplicate, record.id));
        }
        if derived && near.is_none() && said.says_the_same(&there, policy.near) {
            near = Some((IgnoreReason::NearDuplicate, record.id));
        }
    }
    near
}

/// Whether the same speaker said the record within the window before the candidate.
fn is_repeated(candidate: &Candidate<'_>, record: &Record, window: Duration) -> bool {
    let speaker = same_speaker(candidate.speaker, &record.speaker);
    speaker && record.at <= candidate.at && candidate.at.since(record.at) <= window
}

/// Whether two records have the same speaker, or neither has one.
pub(crate) fn same_speaker(a: &Attribution, b: &Attribution) -> bool {
    a.is_same_as(b) || (*a == Attribution::Unknown && *b == Attribution::Unknown)
}

#[cfg(test)]
mod tests;
