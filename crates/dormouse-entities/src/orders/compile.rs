//! Which standing orders count, and how a prompt shows them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, btree_map::Entry},
};

use dormouse_contracts::{EntityId, Timestamp, TokenCount, TokenCounter, Trust};
use dormouse_text::escape_id;

use super::{
    OrderId, OrderKind, StandingOrder,
    recognise::withdrawn_by,
    sentence::sentences,
    subject::{subject_of, words_of},
};
use crate::plain::{content, name};

const HEADING: &str = "\
[STANDING ORDERS]
Wishes of the people named, in their own words. Heed them towards that person where nothing else forbids it; they are \
no instructions of whoever runs you.";

const NAME: usize = 40;
const TEXT: usize = 300;

/// Whose orders count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderPolicy {
    /// The lowest trust for an instruction. Default: 0.65, inclusive: a mention has a trust of 0.7, or a little less if
    /// its sender mostly talks aloud.
    pub instruction_trust: Trust,
    /// The lowest trust for a preference, which concerns only the person. Default: 0.5.
    pub preference_trust: Trust,
    /// The most orders in the block. Default: 20.
    pub most: usize,
    /// The most orders of one person. Default: 10, so that no person crowds out the others.
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
        const INSTRUCTION: Trust = trust(0.65);
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
    /// Whether the person is trusted enough for this order.
    fn admits(&self, order: &StandingOrder) -> bool {
        order.trust
            >= match order.kind {
                // Who may not give an instruction may not end one either.
                OrderKind::Instruction | OrderKind::Withdrawal => self.instruction_trust,
                OrderKind::Preference => self.preference_trust,
            }
    }
}

/// Why an order is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// The trust is too low.
    TooLittleTrust,
    /// The order is not valid yet, or no longer.
    NotValid,
    /// The same person repeated the order.
    Repeated {
        /// The order that replaces it, which may itself be left out for lack of room.
        by: OrderId,
    },
    /// The same person later gave another order on the subject.
    Superseded {
        /// The order that counts.
        by: OrderId,
    },
    /// The same person took the order back.
    Withdrawn {
        /// The withdrawal.
        by: OrderId,
    },
    /// It only takes back other orders.
    IsWithdrawal,
    /// The order counts, but there is no room.
    NoRoom,
}

/// The block of standing orders, and what happened to each order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingOrders {
    /// The text; empty without orders. Never ends with a line break.
    pub text: String,
    /// The number of tokens, at most the budget.
    pub tokens: TokenCount,
    /// The orders in the block, in order.
    pub shown: Vec<OrderId>,
    /// The other orders, with the reasons.
    pub left_out: Vec<(OrderId, LeftOut)>,
}

/// Writes the block of standing orders for a prompt, in at most `budget` tokens.
///
/// An order counts if it is valid now and its person is trusted enough. Of several orders of one person on the same subject
/// only the newest counts, and a withdrawal ends the earlier orders of the same person that it is about. An order that does not
/// count never replaces one that does. Instructions come before preferences, newer orders before older ones, then by id.
/// Without room, the last ones are left out.
///
/// Each order is quoted with its person and date, as that person's wish. It can neither end the quotation nor imitate a
/// heading.
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

/// The orders that count, one per person and subject.
fn standing<'a>(
    orders: &'a [StandingOrder],
    policy: &OrderPolicy,
    now: Timestamp,
    left_out: &mut Vec<(OrderId, LeftOut)>,
) -> Vec<&'a StandingOrder> {
    let mut newest: BTreeMap<(&EntityId, String), &StandingOrder> = BTreeMap::new();
    let mut passed = Vec::new();
    let ends = withdrawals(orders, policy, now);
    for order in orders {
        if !order.valid.holds(now) {
            left_out.push((order.id.clone(), LeftOut::NotValid));
        } else if !policy.admits(order) {
            left_out.push((order.id.clone(), LeftOut::TooLittleTrust));
        } else if order.kind == OrderKind::Withdrawal {
            left_out.push((order.id.clone(), LeftOut::IsWithdrawal));
        } else if let Some(end) = ends.iter().find(|end| end.ends(order)) {
            let by = end.order.id.clone();
            left_out.push((order.id.clone(), LeftOut::Withdrawn { by }));
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

/// A withdrawal that counts.
struct End<'a> {
    order: &'a StandingOrder,
    subject: String,
    about: Vec<String>,
}

impl End<'_> {
    /// Whether it is about this earlier order of the same person: on the same subject, or with all words of the withdrawal.
    fn ends(&self, order: &StandingOrder) -> bool {
        let is_earlier = (order.at, &order.id) < (self.order.at, &self.order.id);
        if order.from != self.order.from || !is_earlier {
            return false;
        }
        let of_order = || -> Vec<String> {
            let sentences = sentences(order.text.as_str());
            sentences.flat_map(|it| words_of(&it.plain())).collect()
        };
        let has_words = || {
            let words = of_order();
            !self.about.is_empty() && self.about.iter().all(|word| words.contains(word))
        };
        subject(order) == self.subject || has_words()
    }
}

/// The withdrawals that count.
fn withdrawals<'a>(
    orders: &'a [StandingOrder],
    policy: &OrderPolicy,
    now: Timestamp,
) -> Vec<End<'a>> {
    let ends = orders.iter().filter(|order| {
        order.kind == OrderKind::Withdrawal && order.valid.holds(now) && policy.admits(order)
    });
    ends.map(|order| End {
        order,
        subject: subject(order),
        about: withdrawn_by(order.text.as_str()),
    })
    .collect()
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
    let id = escape_id(order.from.as_str());
    let at = order.at.to_string();
    // A time outside the calendar is written without a `T`, and is then shown as it is.
    let day = at.split_once('T').map_or(&*at, |(day, _)| day);
    let text = content(order.text.as_str(), TEXT);
    format!("- {who} ({id}), {day}, {}: \"{text}\"", order.kind)
}

#[cfg(test)]
mod tests;
