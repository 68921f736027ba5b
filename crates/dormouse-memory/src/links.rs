//! Links between records about the same subject, made while the assistant dreams.
//!
//! [`propose`] is the rule; [`dream_links`] applies it to a memory, a batch at a time. A link helps recall to find records that
//! share no word with the question. A wrong link costs room in the answer. So the rule is strict and does not link records
//! that recall finds without a link.
//!
//! | part of the weight | worth |
//! | --- | --- |
//! | similarity of subject ([`LinkPolicy::min_similarity`] at least): cosine of their terms or of their vectors | up to 0.6 |
//! | the same speaker | 0.1 |
//! | one contains the name of the other's speaker | 0.1 |
//! | a tag in common | 0.1 |
//! | within a day of each other | 0.1 |

use std::time::Duration;

use dormouse_contracts::Timestamp;
use dormouse_retrieval::ComparableText;
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use crate::{
    memory::{Memory, MemoryError},
    ops::ChangeError,
    recall::{RecallRequest, Validity},
    record::{LinkKind, Record, RecordId},
};

/// How many neighbours are compared with each record.
const NEIGHBOURS: usize = 12;
/// How much of a record is used as a query, in bytes.
const QUESTION: usize = 2_000;

/// The bounds of the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkPolicy {
    /// The highest number of links of a record: 5.
    pub most: usize,
    /// The least similarity, in `0.0..=1.0`: 0.25, one shared term in four.
    pub min_similarity: f32,
    /// The least number of shared terms for a similarity by words: 2.
    pub min_shared_terms: usize,
    /// The least weight, in `0.0..=1.0`: 0.3.
    pub min_weight: f32,
    /// Records of one conversation within this time are neighbours already and are not linked: 10 minutes.
    pub neighbours_within: Duration,
    /// The share of words from which two records say the same, and should be folded instead of linked: 0.85.
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
    /// The cosine of their vectors in `-1.0..=1.0`; `None` if no encoder was asked. It counts if it is greater than the
    /// similarity of their words.
    pub cosine: Option<f32>,
}

/// A proposed link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProposedLink {
    /// The other record.
    pub to: RecordId,
    /// How they are related.
    pub kind: LinkKind,
    /// How strongly, in `0.0..=1.0`.
    pub weight: f32,
}

/// The links to make from a record to its neighbours, strongest first, as many as both ends have room for.
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
    let words = ComparableText::of(&record.text);
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
    let adjacent = record.thread.is_some()
        && record.thread == other.thread
        && apart(record.at, other.at) <= policy.neighbours_within;
    // A source is already found by the provenance of the record.
    let provenance = record.provenance.derived_from.contains(&other.id)
        || other.provenance.derived_from.contains(&record.id);
    other.id != record.id
        && other.is_in_use()
        && other.links.len() < policy.most
        && !linked
        && !adjacent
        && !provenance
}

fn weight(
    record: &Record,
    words: &ComparableText,
    neighbour: &Neighbour<'_>,
    policy: &LinkPolicy,
) -> Option<f32> {
    let other = neighbour.record;
    let others = ComparableText::of(&other.text);
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
    let same = record.speaker.is_same_as(&other.speaker);
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

/// Whether a record's text contains the name of the other's speaker as a whole word.
fn names_speaker_of(record: &Record, other: &Record) -> bool {
    let Some(name) = other.speaker.name().map(str::trim) else {
        return false;
    };
    let text = beginning_bytes(&record.text, QUESTION);
    !name.is_empty()
        && text.match_indices(name).any(|(start, _)| {
            let letter = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
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
    /// How many records were examined.
    pub looked_at: u64,
    /// How many links were made.
    pub linked: u64,
    /// The last record that was examined: pass it to the next call. `None` if there is no record yet.
    pub checkpoint: Option<RecordId>,
    /// Whether there are more.
    pub rest: LinkRest,
}

/// Whether there are more records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRest {
    /// There may be more.
    More,
    /// All records were examined.
    Nothing,
}

/// Links the next `batch` records after `from` with the records that recall finds for them. Asks no language model; uses the
/// encoder if there is one.
///
/// Every link is a change of its own. Dropping the future, or a crash, loses only the progress since the last checkpoint, and
/// repeating that part makes no link twice.
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
    // A page of very long records is short although more follow.
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
        progress.linked += link_one(memory, record.id, policy).await?;
    }
    Ok(progress)
}

/// The links to make from a record to the records that recall finds for it; none if it is not in use. Changes nothing.
///
/// # Errors
///
/// [`MemoryError::Store`] if the file fails.
pub async fn proposals(
    memory: &Memory,
    id: RecordId,
    policy: &LinkPolicy,
) -> Result<Vec<ProposedLink>, MemoryError> {
    // Read again: an earlier record of this batch may have been linked with it.
    let Some(record) = memory.record(id).await? else {
        return Ok(Vec::new());
    };
    if !record.is_in_use() || record.links.len() >= policy.most {
        return Ok(Vec::new());
    }
    let question = RecallRequest::new(beginning_bytes(&record.text, QUESTION))
        .limit(NEIGHBOURS)
        .min_trust(record.trust)
        .in_collection(record.collection)
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
    Ok(propose(&record, &neighbours, policy))
}

async fn link_one(memory: &Memory, id: RecordId, policy: &LinkPolicy) -> Result<u64, MemoryError> {
    let mut linked = 0;
    for link in proposals(memory, id, policy).await? {
        let reason = format!("dreaming: about the same subject ({:.2})", link.weight);
        match memory
            .link(id, link.to, link.kind, link.weight, &reason)
            .await
        {
            Ok(_) => linked += 1,
            // Another task folded or withdrew one of them meanwhile.
            Err(MemoryError::Change(ChangeError::NotInUse { .. } | ChangeError::Unknown(_))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(linked)
}

#[cfg(test)]
mod tests;
