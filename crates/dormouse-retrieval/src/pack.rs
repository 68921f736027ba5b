//! Chooses evidence that fits a token budget, and puts it in reading order.

mod similarity;

use std::collections::HashMap;

use dormouse_contracts::{Timestamp, TokenCounter};

use crate::Speaker;
use similarity::TextSimilarity;

/// The reason why an item is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemRole {
    /// The search found the item.
    Found,
    /// The item is a neighbour of the item with this id and helps to understand it. It is packed only after that item.
    /// Neighbours take room from found items: for conversations, evidence was missed more often with neighbours than
    /// without them.
    Neighbour(u64),
}

/// A candidate for packing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PackItem<'a> {
    /// The id that the caller gave the item. If several items have the same id, the best one is packed.
    pub id: u64,
    /// The text.
    pub text: &'a str,
    /// The speaker. Only items of the same speaker can be near-duplicates.
    pub speaker: Option<Speaker<'a>>,
    /// The thread in which it was said.
    pub thread: Option<&'a str>,
    /// When it was said.
    pub at: Timestamp,
    /// The priority of the item. NaN is the lowest.
    pub score: f32,
    /// The tokens of the item's label: time, speaker, line break.
    pub label_tokens: u32,
    /// The reason why the item is a candidate.
    pub role: ItemRole,
}

/// An item that was packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The id that the caller gave the item.
    pub id: u64,
    /// The tokens used: text and label.
    pub tokens: u32,
    /// The near-duplicates that were left out for this item, best first.
    pub folded: Vec<u64>,
}

/// Chooses items for `budget` tokens, best first, and returns them in reading order. Threads are ordered by the time of
/// their first packed item; the items of a thread are ordered by time, then by id.
///
/// An item that does not fit is skipped, and smaller items after it are still tried. So the best item that fits the
/// budget by itself is always packed, and the tokens of all packed items never exceed `budget`. Items with equal scores
/// are tried newest first, then by id. A near-duplicate of a packed item by the same speaker is folded into that item;
/// texts that differ in a number or a negation are never near-duplicates.
///
/// Counts the tokens of each text once, and compares each item with all packed ones. So it is fast enough for hundreds
/// of items, but not for a million.
#[must_use]
pub fn pack(items: &[PackItem<'_>], budget: u32, counter: &dyn TokenCounter) -> Vec<Packed> {
    let mut choice = Packing::default();
    for item in by_want(items) {
        let wanted = match item.role {
            ItemRole::Found => true,
            ItemRole::Neighbour(other) => choice.mentions(other),
        };
        if wanted && !choice.mentions(item.id) {
            choice.consider(item, budget, counter);
        }
    }
    choice.in_reading_order()
}

/// Highest priority first; a neighbour comes after its item.
fn by_want<'a, 'b>(items: &'b [PackItem<'a>]) -> Vec<&'b PackItem<'a>> {
    let found: HashMap<u64, f32> = items
        .iter()
        .filter(|item| item.role == ItemRole::Found)
        .map(|item| (item.id, item.score))
        .collect();
    let want = |item: &PackItem<'_>| match item.role {
        ItemRole::Found => (finite(item.score), true),
        ItemRole::Neighbour(other) => {
            let other = found.get(&other).copied().unwrap_or(f32::MIN);
            (finite(item.score).min(finite(other)), false)
        }
    };
    let mut sorted: Vec<_> = items.iter().map(|item| (want(item), item)).collect();
    sorted.sort_by(|((a, a_found), x), ((b, b_found), y)| {
        b.total_cmp(a)
            .then_with(|| b_found.cmp(a_found))
            .then_with(|| y.at.cmp(&x.at))
            .then_with(|| x.id.cmp(&y.id))
    });
    sorted.into_iter().map(|(_, item)| item).collect()
}

fn finite(score: f32) -> f32 {
    if score.is_nan() { f32::MIN } else { score }
}

/// The items packed so far.
#[derive(Default)]
struct Packing<'a> {
    chosen: Vec<(PackItem<'a>, TextSimilarity, Packed)>,
    tokens: u32,
}

impl<'a> Packing<'a> {
    fn holds(&self, id: u64) -> bool {
        self.chosen.iter().any(|(item, ..)| item.id == id)
    }

    /// Whether the item was packed or folded.
    fn mentions(&self, id: u64) -> bool {
        self.holds(id)
            || self
                .chosen
                .iter()
                .any(|(.., packed)| packed.folded.contains(&id))
    }

    fn consider(&mut self, item: &PackItem<'a>, budget: u32, counter: &dyn TokenCounter) {
        let similarity = TextSimilarity::of(item.text);
        let like = self.chosen.iter_mut().find(|(other, theirs, _)| {
            other.speaker == item.speaker && theirs.is_near(&similarity)
        });
        if let Some((.., packed)) = like {
            packed.folded.push(item.id);
            return;
        }
        let tokens = counter.count(item.text).tokens;
        let tokens = tokens.saturating_add(item.label_tokens);
        let Some(sum) = self.tokens.checked_add(tokens).filter(|sum| *sum <= budget) else {
            return;
        };
        self.tokens = sum;
        let packed = Packed {
            id: item.id,
            tokens,
            folded: Vec::new(),
        };
        self.chosen.push((*item, similarity, packed));
    }

    fn in_reading_order(mut self) -> Vec<Packed> {
        let mut begins: HashMap<&str, (Timestamp, u64)> = HashMap::new();
        for (item, ..) in &self.chosen {
            if let Some(thread) = item.thread {
                let first = begins.entry(thread).or_insert((item.at, item.id));
                *first = (*first).min((item.at, item.id));
            }
        }
        self.chosen.sort_by_key(|(item, ..)| {
            let own = (item.at, item.id);
            let thread = item.thread.and_then(|thread| begins.get(thread));
            (thread.copied().unwrap_or(own), own)
        });
        self.chosen.into_iter().map(|(.., packed)| packed).collect()
    }
}

#[cfg(test)]
mod tests;
