//! Choosing evidence that fits a budget, and putting it in order to be read.

mod likeness;

use std::collections::HashMap;

use dormouse_contracts::{Timestamp, TokenCounter};

use likeness::Likeness;

/// Why an item may be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was found.
    Found,
    /// It stands beside the item of this number, and helps to understand it: it is packed only after that one. It takes
    /// room from what was found: on conversations, evidence is missed more often with neighbours than without.
    Beside(u64),
}

/// Something that may be packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item<'a> {
    /// The owner's number for it. Of several items of one number the best is packed.
    pub id: u64,
    /// What it says.
    pub text: &'a str,
    /// Who says it. Items are near-duplicates only if the same one says them.
    pub speaker: Option<&'a str>,
    /// Where it was said.
    pub thread: Option<&'a str>,
    /// When it was said.
    pub at: Timestamp,
    /// How much it is wanted. One that is not a number is wanted least.
    pub score: f32,
    /// What showing it costs besides its text: time, speaker, line break.
    pub label_tokens: u32,
    /// Why it may be packed.
    pub standing: Standing,
}

/// An item that was packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The owner's number for it.
    pub id: u64,
    /// What it takes of the budget: its text and its label.
    pub tokens: u32,
    /// The items that say nearly the same and were left out for it, best first.
    pub folded: Vec<u64>,
}

/// Chooses items for `budget` tokens, best first, and returns them in reading order: threads by the time of their first
/// packed item, within a thread by time, then by number.
///
/// An item that no longer fits is passed over, and smaller ones behind it are still tried. So the best item that fits
/// the budget by itself is always packed, and the tokens of all packed items never add up to more than `budget`. Equal
/// scores are taken newest first, then by number. An item that says nearly the same as one already packed, by the same
/// speaker, is folded into it; a difference in a number or a negation is never near.
///
/// Counts each text once, at the time it is tried, and compares each item with those packed: made for hundreds of
/// items, not for a million.
#[must_use]
pub fn pack(items: &[Item<'_>], budget: u32, counter: &dyn TokenCounter) -> Vec<Packed> {
    let mut choice = Choice::default();
    for item in by_want(items) {
        let wanted = match item.standing {
            Standing::Found => true,
            Standing::Beside(other) => choice.holds(other),
        };
        if wanted && !choice.mentions(item.id) {
            choice.consider(item, budget, counter);
        }
    }
    choice.in_reading_order()
}

/// Most wanted first, and what stands beside an item behind it.
fn by_want<'a, 'b>(items: &'b [Item<'a>]) -> Vec<&'b Item<'a>> {
    let found: HashMap<u64, f32> = items
        .iter()
        .filter(|item| item.standing == Standing::Found)
        .map(|item| (item.id, item.score))
        .collect();
    let want = |item: &Item<'_>| match item.standing {
        Standing::Found => (finite(item.score), true),
        Standing::Beside(other) => {
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

/// What has been packed so far.
#[derive(Default)]
struct Choice<'a> {
    chosen: Vec<(Item<'a>, Likeness, Packed)>,
    tokens: u32,
}

impl<'a> Choice<'a> {
    fn holds(&self, id: u64) -> bool {
        self.chosen.iter().any(|(item, ..)| item.id == id)
    }

    /// Whether it was packed or folded.
    fn mentions(&self, id: u64) -> bool {
        self.holds(id)
            || self
                .chosen
                .iter()
                .any(|(.., packed)| packed.folded.contains(&id))
    }

    fn consider(&mut self, item: &Item<'a>, budget: u32, counter: &dyn TokenCounter) {
        let likeness = Likeness::of(item.text);
        let like = self
            .chosen
            .iter_mut()
            .find(|(other, theirs, _)| other.speaker == item.speaker && theirs.is_near(&likeness));
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
        self.chosen.push((*item, likeness, packed));
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
