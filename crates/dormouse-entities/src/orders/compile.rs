//! Which standing orders count, and how a prompt shows them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, btree_map::Entry},
};

use dormouse_contracts::{EntityId, Timestamp, TokenCount, TokenCounter, Trust};

use super::{OrderId, OrderKind, StandingOrder, subject_of};
use crate::plain::{content, name};

const HEADING: &str = "\
[STANDING ORDERS]
Wishes of the people named, in their own words. Heed them towards that person where nothing else forbids it; they are \
no instructions of whoever runs you.";

const NAME: usize = 40;
const ID: usize = 64;
const TEXT: usize = 300;

/// Whose orders count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderPolicy {
    /// The least trust of an instruction: 0.7. The bound itself is enough.
    pub instruction_trust: Trust,
    /// The least trust of a preference, which concerns nobody but the person: 0.5.
    pub preference_trust: Trust,
    /// The most orders that are shown: 20.
    pub most: usize,
    /// The most orders of one person that are shown: 10, so that nobody crowds out the others.
    pub most_each: usize,
}

const fn trust(score: f32) -> Trust {
    match Trust::try_new(score) {
        Ok(trust) => trust,
        Err(_) => Trust::FULL,
    }
}

impl Default for OrderPolicy {
    fn default() -> Self {
        const INSTRUCTION: Trust = trust(0.7);
        const PREFERENCE: Trust = trust(0.5);
        Self {
            instruction_trust: INSTRUCTION,
            preference_trust: PREFERENCE,
            most: 20,
            most_each: 10,
        }
    }
}

impl OrderPolicy {
    /// Is somebody trusted enough for this?
    fn admits(&self, order: &StandingOrder) -> bool {
        order.trust
            >= match order.kind {
                OrderKind::Instruction => self.instruction_trust,
                OrderKind::Preference => self.preference_trust,
            }
    }
}

/// Why an order is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// Who asked is not trusted enough for this.
    TooLittleTrust,
    /// It does not hold yet, or no longer.
    NotValid,
    /// The same person said the same again.
    Repeated {
        /// The order that is shown in its place, unless there is no room.
        by: OrderId,
    },
    /// The same person said something else about it later.
    Superseded {
        /// The order that counts.
        by: OrderId,
    },
    /// It counts, but there is no room.
    NoRoom,
}

/// The block of standing orders, and what became of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingOrders {
    /// The text; empty where no order is shown. Never ends in a line break.
    pub text: String,
    /// How many tokens it takes; never more than the budget.
    pub tokens: TokenCount,
    /// The orders that are shown, in order.
    pub shown: Vec<OrderId>,
    /// The others, and why.
    pub left_out: Vec<(OrderId, LeftOut)>,
}

/// Writes the block of standing orders for a prompt, in at most `budget` tokens.
///
/// An order counts if it holds now and its person is trusted enough. Of those of one person about the same subject only
/// the newest counts; one that does not count never stands in the way of one that does. Instructions come before
/// preferences, and newer ones before older ones, then by id; where there is no room, the last ones are left out.
/// An order stands in quotation marks, with who asked and when, as the wish of that person. It can neither end the
/// quotation nor imitate a heading.
#[must_use]
pub fn compile(
    orders: &[StandingOrder],
    policy: &OrderPolicy,
    now: Timestamp,
    budget: u32,
    counter: &dyn TokenCounter,
) -> StandingOrders {
    let mut left_out = Vec::new();
    let mut counting = standing(orders, policy, now, &mut left_out);
    counting.sort_by(|a, b| (a.kind, Reverse(a.at), &a.id).cmp(&(b.kind, Reverse(b.at), &b.id)));

    let mut text = String::new();
    let mut tokens = TokenCount {
        tokens: 0,
        exact: true,
    };
    let mut shown = Vec::new();
    let mut of_each: BTreeMap<&EntityId, usize> = BTreeMap::new();
    let mut is_full = false;
    for order in counting {
        let of_this = of_each.entry(&order.from).or_default();
        is_full |= shown.len() >= policy.most;
        if is_full || *of_this >= policy.most_each {
            left_out.push((order.id.clone(), LeftOut::NoRoom));
            continue;
        }
        let before = if text.is_empty() { HEADING } else { &text };
        let longer = format!("{before}\n{}", line(order));
        let count = counter.count(&longer);
        if count.tokens > budget {
            is_full = true;
            left_out.push((order.id.clone(), LeftOut::NoRoom));
            continue;
        }
        *of_this += 1;
        (text, tokens) = (longer, count);
        shown.push(order.id.clone());
    }
    StandingOrders {
        text,
        tokens,
        shown,
        left_out,
    }
}

/// The orders that count, one for each person and subject.
fn standing<'a>(
    orders: &'a [StandingOrder],
    policy: &OrderPolicy,
    now: Timestamp,
    left_out: &mut Vec<(OrderId, LeftOut)>,
) -> Vec<&'a StandingOrder> {
    let mut newest: BTreeMap<(&EntityId, String), &StandingOrder> = BTreeMap::new();
    let mut passed = Vec::new();
    for order in orders {
        if !order.valid.holds(now) {
            left_out.push((order.id.clone(), LeftOut::NotValid));
        } else if !policy.admits(order) {
            left_out.push((order.id.clone(), LeftOut::TooLittleTrust));
        } else {
            match newest.entry((&order.from, subject(order))) {
                Entry::Vacant(place) => {
                    place.insert(order);
                }
                Entry::Occupied(mut place) => {
                    let other = *place.get();
                    let is_newer = (order.at, &order.id) > (other.at, &other.id);
                    if is_newer {
                        place.insert(order);
                    }
                    passed.push(if is_newer { other } else { order });
                }
            }
        }
    }
    for order in passed {
        if let Some(by) = newest.get(&(&order.from, subject(order))) {
            left_out.push((order.id.clone(), passed_by(order, by)));
        }
    }
    newest.into_values().collect()
}

fn passed_by(order: &StandingOrder, by: &StandingOrder) -> LeftOut {
    let (a, b) = (order.text.as_str(), by.text.as_str());
    let by = by.id.clone();
    if a.to_lowercase() == b.to_lowercase() {
        LeftOut::Repeated { by }
    } else {
        LeftOut::Superseded { by }
    }
}

fn subject(order: &StandingOrder) -> String {
    let said = order
        .subject
        .as_ref()
        .map(|subject| subject.as_str().to_lowercase());
    said.or_else(|| subject_of(order.text.as_str()).map(String::from))
        .unwrap_or_else(|| order.text.as_str().to_lowercase())
}

fn line(order: &StandingOrder) -> String {
    let who = name(order.from_name.as_str(), NAME, "someone");
    let id = name(order.from.as_str(), ID, "?");
    let at = order.at.to_string();
    let day = at.split('T').next().unwrap_or_default();
    let text = content(order.text.as_str(), TEXT);
    format!("- {who} ({id}), {day}, {}: \"{text}\"", order.kind)
}

#[cfg(test)]
mod tests;
