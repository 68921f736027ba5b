//! What may become a record: the rule that keeps junk out.
//!
//! What an assistant hears is in its log whatever this rule says; it only decides what is worth a record. What was heard
//! is judged mildly, since it is the evidence everything else rests on. What a model or the assistant itself made of it
//! is judged strictly: that is what fills other memories with copies of their own output.
//!
//! | reason | heard | derived | rule |
//! | --- | --- | --- | --- |
//! | nothing said | yes | yes | only stop words, greetings and emoji |
//! | duplicate | same speaker, within the window | any record believed as much | the same text but for case and spaces |
//! | near duplicate | no | any record believed as much | [`AdmissionPolicy::near`] of its words and pairs of words, the same numbers, the same negation |
//! | echo | no | yes | as near duplicate, of what was recalled into the prompt |
//! | about itself | no | yes | [`dormouse_redact::is_about_itself`]: a phrase, or the assistant's name first |
//! | too long | no | yes | more than [`AdmissionPolicy::longest`] bytes |
//! | low trust | no | yes | less than [`AdmissionPolicy::min_trust`] |
//!
//! There is no score: weights for importance, novelty or recency were left out, since each of them refused records
//! that questions needed later, while these rules refuse only what says nothing, or says nothing new.

use std::time::Duration;

use dormouse_contracts::{Timestamp, Trust};
use dormouse_redact::is_about_itself;
use dormouse_retrieval::terms;
use serde::{Deserialize, Serialize};

use crate::{
    likeness::Likeness,
    recall::MIN_TRUST,
    record::{Record, RecordId, Speaker, Standing},
};

/// How strictly a candidate is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdmissionProfile {
    /// Word for word what was heard or seen.
    Heard,
    /// Made of something else, by a model or the assistant.
    Derived,
}

/// What asks to become a record.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What it says.
    pub text: &'a str,
    /// Who said it.
    pub speaker: Option<&'a Speaker>,
    /// When it was said.
    pub at: Timestamp,
    /// How far it is believed.
    pub trust: Trust,
    /// How strictly it is judged.
    pub profile: AdmissionProfile,
}

/// What a candidate is judged against.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmissionContext<'a> {
    /// Records that may say the same, such as what recall finds for its text. Only live ones count.
    pub neighbours: &'a [Record],
    /// What was recalled into the prompt that the candidate was made with.
    pub recalled: &'a [Record],
    /// The names the assistant goes by.
    pub names: &'a [&'a str],
}

/// The bounds of the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdmissionPolicy {
    /// How long a speaker's own words count as said already: 10 minutes. Later, saying it again is an event of its own.
    pub window: Duration,
    /// From which share of words and pairs of words on two texts say the same, in `0.0..=1.0`: 0.85. One word exchanged
    /// in a sentence of ten leaves 0.73.
    pub near: f32,
    /// The longest derived text, in bytes: 1,000.
    pub longest: usize,
    /// The least trust of a derived text: 0.5, since less is not recalled.
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
    NothingSaid,
    /// A record says it in the same words.
    Duplicate,
    /// A record says it in nearly the same words.
    NearDuplicate,
    /// It repeats what was recalled for it.
    Echo,
    /// It is about the assistant itself.
    AboutItself,
    /// It is longer than a derived text may be.
    TooLong,
    /// It is not believed enough.
    LowTrust,
}

impl IgnoreReason {
    /// The words for it, as they are kept with the change.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NothingSaid => "nothing said",
            Self::Duplicate => "duplicate",
            Self::NearDuplicate => "near duplicate",
            Self::Echo => "echo of what was recalled",
            Self::AboutItself => "about the assistant itself",
            Self::TooLong => "too long",
            Self::LowTrust => "low trust",
        }
    }
}

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may become a record.
    Admit,
    /// It is not kept.
    Ignore {
        /// Why.
        reason: IgnoreReason,
        /// The record that says it already, where that is why.
        like: Option<RecordId>,
    },
}

/// Decides whether a candidate may become a record. Takes time in the length of the texts it is compared with.
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
    if let Some(reason) = refused.or_else(|| says_nothing(candidate.text)) {
        return Admission::Ignore { reason, like: None };
    }
    match said_already(candidate, context, policy) {
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

fn says_nothing(text: &str) -> Option<IgnoreReason> {
    // A yes or a no is an answer to something.
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
    (!content && !has_answer() && !long).then_some(IgnoreReason::NothingSaid)
}

fn said_already(
    candidate: &Candidate<'_>,
    context: &AdmissionContext<'_>,
    policy: &AdmissionPolicy,
) -> Option<(IgnoreReason, RecordId)> {
    let said = Likeness::of(candidate.text);
    let derived = candidate.profile == AdmissionProfile::Derived;
    let recalled = context.recalled.iter().filter(|_| derived);
    for record in recalled {
        if said.says_the_same(&Likeness::of(&record.text), policy.near) {
            return Some((IgnoreReason::Echo, record.id));
        }
    }
    let live = |record: &&Record| record.standing == Standing::Live;
    // What is believed less cannot speak for it: a rumour would keep the truth out.
    let believed = |record: &&Record| !derived || record.trust >= candidate.trust;
    let mut near = None;
    for record in context.neighbours.iter().filter(live).filter(believed) {
        let there = Likeness::of(&record.text);
        let counts = derived || is_repeated(candidate, record, policy.window);
        if counts && said.exact() == there.exact() {
            return Some((IgnoreReason::Duplicate, record.id));
        }
        if derived && near.is_none() && said.says_the_same(&there, policy.near) {
            near = Some((IgnoreReason::NearDuplicate, record.id));
        }
    }
    near
}

/// Whether the same speaker said the record within the window before.
fn is_repeated(candidate: &Candidate<'_>, record: &Record, window: Duration) -> bool {
    let speaker = same_speaker(candidate.speaker, record.speaker.as_ref());
    speaker && record.at <= candidate.at && candidate.at.since(record.at) <= window
}

/// Whether two speakers are one: by their ids where both have one, otherwise by name.
pub(crate) fn same_speaker(a: Option<&Speaker>, b: Option<&Speaker>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => match (&a.entity, &b.entity) {
            (Some(a), Some(b)) => a == b,
            _ => a.name == b.name,
        },
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
