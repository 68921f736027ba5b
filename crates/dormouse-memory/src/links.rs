//! Links between records that are about the same, made while dreaming.
//!
//! [`propose`] is the rule; [`dream_links`] goes through a memory with it, a batch at a time. A link helps recall to
//! what shares no word with the question, but it costs room in the answer where it is wrong; so the rule is strict, and
//! leaves alone what recall finds by itself.
//!
//! | part of the weight | worth |
//! | --- | --- |
//! | they are about the same ([`LinkPolicy::min_similarity`] at least): cosine of their terms, or of their vectors | up to 0.6 |
//! | the same speaker | 0.1 |
//! | one names the speaker of the other | 0.1 |
//! | a tag in common | 0.1 |
//! | within a day of each other | 0.1 |

use std::time::Duration;

use dormouse_contracts::Timestamp;
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use crate::{
    admission::same_speaker,
    likeness::Likeness,
    memory::{Memory, MemoryError},
    ops::ChangeError,
    recall::{RecallRequest, Validity},
    record::{LinkKind, Record, RecordId},
};

/// How many neighbours are looked at for each record.
const NEIGHBOURS: usize = 12;
/// How much of a record is asked for, in bytes.
const QUESTION: usize = 2_000;

/// The bounds of the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkPolicy {
    /// The most links of a record: 5.
    pub most: usize,
    /// The least similarity, in `0.0..=1.0`: 0.25, a term of each four.
    pub min_similarity: f32,
    /// The least number of terms in common where similarity goes by words: 2.
    pub min_shared_terms: usize,
    /// The least weight, in `0.0..=1.0`: 0.3.
    pub min_weight: f32,
    /// Records of one conversation within this time are neighbours already and not linked: 10 minutes.
    pub neighbours_within: Duration,
    /// From which share of words on two records say the same and should be folded, not linked: 0.85.
    pub same_from: f32,
}

impl Default for LinkPolicy {
    fn default() -> Self {
        Self {
            most: 5,
            min_similarity: 0.25,
            min_shared_terms: 2,
            min_weight: 0.3,
            neighbours_within: Duration::from_secs(600),
            same_from: 0.85,
        }
    }
}

/// A record that may be linked with another.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour<'a> {
    /// The record.
    pub record: &'a Record,
    /// How similar an encoder finds them, as a cosine in `-1.0..=1.0`; `None` where no encoder was asked. Counts where it
    /// is greater than the similarity of their words.
    pub cosine: Option<f32>,
}

/// A link that could be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProposedLink {
    /// The other record.
    pub to: RecordId,
    /// How they hang together.
    pub kind: LinkKind,
    /// How strongly, in `0.0..=1.0`.
    pub weight: f32,
}

/// The links to make from a record to its neighbours: the strongest first, as many as both ends have room for.
#[must_use]
pub fn propose(
    record: &Record,
    neighbours: &[Neighbour<'_>],
    policy: &LinkPolicy,
) -> Vec<ProposedLink> {
    let room = policy.most.saturating_sub(record.links.len());
    if room == 0 || !record.is_in_use() {
        return Vec::new();
    }
    let words = Likeness::of(&record.text);
    let mut links: Vec<ProposedLink> = Vec::new();
    for neighbour in neighbours {
        let to = neighbour.record.id;
        let taken = links.iter().any(|link| link.to == to);
        if taken || !may_be_linked(record, neighbour.record, policy) {
            continue;
        }
        if let Some(weight) = weight(record, &words, neighbour, policy) {
            links.push(ProposedLink {
                to,
                kind: LinkKind::Related,
                weight,
            });
        }
    }
    links.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.to.cmp(&b.to)));
    links.truncate(room);
    links
}

fn may_be_linked(record: &Record, other: &Record, policy: &LinkPolicy) -> bool {
    let linked = record.links.iter().any(|link| link.to == other.id);
    let beside = record.thread.is_some()
        && record.thread == other.thread
        && apart(record.at, other.at) <= policy.neighbours_within;
    // What one was made of is found by its lineage.
    let lineage = record.lineage.derived_from.contains(&other.id)
        || other.lineage.derived_from.contains(&record.id);
    other.id != record.id
        && other.is_in_use()
        && other.links.len() < policy.most
        && !linked
        && !beside
        && !lineage
}

fn weight(
    record: &Record,
    words: &Likeness,
    neighbour: &Neighbour<'_>,
    policy: &LinkPolicy,
) -> Option<f32> {
    let other = neighbour.record;
    let others = Likeness::of(&other.text);
    if words.says_the_same(&others, policy.same_from) {
        return None;
    }
    let by_words = if words.shared_terms(&others) >= policy.min_shared_terms {
        words.about_the_same(&others)
    } else {
        0.0
    };
    let cosine = neighbour.cosine.filter(|cosine| cosine.is_finite());
    let similarity = by_words.max(cosine.unwrap_or(0.0)).min(1.0);
    if similarity < policy.min_similarity {
        return None;
    }
    let same =
        record.speaker.is_some() && same_speaker(record.speaker.as_ref(), other.speaker.as_ref());
    let named = names_speaker_of(record, other) || names_speaker_of(other, record);
    let tagged = !record.tags.is_disjoint(&other.tags);
    let near = apart(record.at, other.at) <= Duration::from_secs(86_400);
    let mut weight = 0.6 * similarity;
    for shared in [same, named, tagged, near] {
        weight += if shared { 0.1 } else { 0.0 };
    }
    let weight = weight.min(1.0);
    (weight >= policy.min_weight).then_some(weight)
}

/// Whether a record's text names who said the other, as a whole word.
fn names_speaker_of(record: &Record, other: &Record) -> bool {
    let Some(name) = other.speaker.as_ref().map(|speaker| speaker.name.trim()) else {
        return false;
    };
    let text = beginning_bytes(&record.text, QUESTION);
    !name.is_empty()
        && text.match_indices(name).any(|(start, _)| {
            let letter = |found: Option<char>| found.is_some_and(char::is_alphanumeric);
            let before = text
                .get(..start)
                .and_then(|before| before.chars().next_back());
            let after = text
                .get(start + name.len()..)
                .and_then(|after| after.chars().next());
            !letter(before) && !letter(after)
        })
}

fn apart(a: Timestamp, b: Timestamp) -> Duration {
    a.since(b).max(b.since(a))
}

/// How far linking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkProgress {
    /// How many records were looked at.
    pub looked_at: u64,
    /// How many links were made.
    pub linked: u64,
    /// The last record that was looked at: give it to the next call. `None` if there is no record yet.
    pub checkpoint: Option<RecordId>,
    /// Whether there are more.
    pub rest: LinkRest,
}

/// Whether something is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRest {
    /// There may be more.
    More,
    /// That was all there is for now.
    Nothing,
}

/// Links the next `batch` records after `from` with what recall finds for them. No model is asked; an encoder is where
/// there is one.
///
/// Every link is a change of its own, so that dropping the future, or a crash, loses nothing but the way since the last
/// checkpoint; going it again makes no link twice.
///
/// # Errors
///
/// [`MemoryError::Store`] if the file fails.
pub async fn dream_links(
    memory: &Memory,
    from: Option<RecordId>,
    batch: usize,
    policy: &LinkPolicy,
) -> Result<LinkProgress, MemoryError> {
    let page = memory.records(from, batch).await?;
    let checkpoint = page.last().map(|record| record.id).or(from);
    // Very long records make a page short without being the last ones.
    let is_last = page.len() < batch && memory.records(checkpoint, 1).await?.is_empty();
    let mut progress = LinkProgress {
        looked_at: 0,
        linked: 0,
        checkpoint,
        rest: if is_last {
            LinkRest::Nothing
        } else {
            LinkRest::More
        },
    };
    for record in page {
        progress.looked_at += 1;
        if record.is_in_use() {
            progress.linked += link_one(memory, record.id, policy).await?;
        }
    }
    Ok(progress)
}

async fn link_one(memory: &Memory, id: RecordId, policy: &LinkPolicy) -> Result<u64, MemoryError> {
    // As it is now: a record before it in the batch may have been linked with it.
    let Some(record) = memory.record(id).await? else {
        return Ok(0);
    };
    if record.links.len() >= policy.most {
        return Ok(0);
    }
    let question = RecallRequest::new(beginning_bytes(&record.text, QUESTION))
        .limit(NEIGHBOURS)
        .min_trust(record.trust)
        .on_shelf(record.shelf)
        .asked_at(record.at)
        .valid(Validity::Any);
    let recall = memory.recall(question).await?;
    let neighbours: Vec<_> = recall
        .items
        .iter()
        .map(|item| Neighbour {
            record: &item.record,
            cosine: None,
        })
        .collect();
    let mut linked = 0;
    for link in propose(&record, &neighbours, policy) {
        let reason = format!("dreamt: about the same ({:.2})", link.weight);
        match memory
            .link(id, link.to, link.kind, link.weight, &reason)
            .await
        {
            Ok(_) => linked += 1,
            // One of them was folded or withdrawn meanwhile.
            Err(MemoryError::Change(ChangeError::NotInUse { .. } | ChangeError::Unknown(_))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(linked)
}

#[cfg(test)]
mod tests;
