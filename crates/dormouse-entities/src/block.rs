//! The entities an assistant has to do with, as its prompt shows them.

mod entry;

use std::cmp::Reverse;

use dormouse_contracts::{EntityId, Timestamp, TokenCount, TokenCounter, Trust};

use crate::{
    conversation::{Conversation, StaleAfter},
    entities::Entities,
    profile::Profile,
};

use entry::Entry;

/// The first line of the block.
pub(crate) const HEADING: &str = "[ACTIVE ENTITIES]";

/// The least trust of what enters a prompt: 0.5.
pub(crate) const LEAST_TRUST: Trust = match Trust::try_new(0.5) {
    Ok(trust) => trust,
    Err(_) => Trust::FULL,
};

/// Whether the block has a line for attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeLine {
    /// As documented: none.
    #[default]
    Omitted,
    /// A line `Attributes:` before the observations.
    Shown,
}

/// What the block shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPolicy {
    /// The most entities: 5.
    pub max_entities: usize,
    /// The most observations of each: 3, the newest first.
    pub max_observations: usize,
    /// Observations and attributes that are believed less are not shown: 0.5. The bound itself is enough.
    pub min_trust: Trust,
    /// When a conversation counts as over, and is not shown: 24 hours.
    pub stale_after: StaleAfter,
    /// Whether attributes are shown: no.
    pub attributes: AttributeLine,
}

impl Default for BlockPolicy {
    fn default() -> Self {
        Self {
            max_entities: 5,
            max_observations: 3,
            min_trust: LEAST_TRUST,
            stale_after: StaleAfter::default(),
            attributes: AttributeLine::default(),
        }
    }
}

/// The block, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityBlock {
    /// The text; empty where nobody is shown. Never ends in a line break.
    pub text: String,
    /// How many tokens it takes; never more than the budget.
    pub tokens: TokenCount,
    /// Who is shown, in order.
    pub shown: Vec<EntityId>,
    /// How many more are known.
    pub left_out: usize,
}

/// Writes the block of entities for a prompt, in at most `budget` tokens.
///
/// Those come first with whom something was said most recently in a conversation that is not stale, then the closer ones,
/// then those with more interactions, then by id. Each is shown with as much as fits: observations go first, then
/// conversation and pending actions; where not even its first line fits, it and those behind it are left out.
///
/// Names and contents come from outside. They are shortened and cannot break a line or imitate a heading; what they say is
/// still only what somebody said.
///
/// Takes time in proportion to the number of profiles; counts a few dozen short texts.
#[must_use]
pub fn entity_block(
    entities: &Entities,
    policy: &BlockPolicy,
    now: Timestamp,
    budget: u32,
    counter: &dyn TokenCounter,
) -> EntityBlock {
    let mut text = String::new();
    let mut tokens = TokenCount {
        tokens: 0,
        exact: true,
    };
    let mut shown = Vec::new();
    for (profile, conversation) in foremost(entities, policy, now) {
        let entry = Entry::new(profile, conversation, policy, now);
        let fitting = entry.forms().into_iter().find_map(|form| {
            let before = if text.is_empty() { HEADING } else { &text };
            let longer = format!("{before}\n{form}");
            let count = counter.count(&longer);
            (count.tokens <= budget).then_some((longer, count))
        });
        let Some((longer, count)) = fitting else {
            break;
        };
        (text, tokens) = (longer, count);
        shown.push(profile.entity_id.clone());
    }
    EntityBlock {
        text,
        tokens,
        left_out: entities.profiles().len().saturating_sub(shown.len()),
        shown,
    }
}

/// The entities to show, in order.
fn foremost<'a>(
    entities: &'a Entities,
    policy: &BlockPolicy,
    now: Timestamp,
) -> Vec<(&'a Profile, Option<&'a Conversation>)> {
    let mut ranked: Vec<_> = entities
        .profiles()
        .map(|profile| {
            let id = &profile.entity_id;
            let conversation = entities.active_conversation(id, now, policy.stale_after);
            let relationship = &profile.relationship;
            let rank = (
                Reverse(conversation.map(|conversation| conversation.last_message_at)),
                Reverse(relationship.state_at(now)),
                Reverse(relationship.interaction_count()),
                id,
            );
            (rank, profile, conversation)
        })
        .collect();
    // Only the first few need to be in order, of however many.
    if let Some(last) = policy.max_entities.checked_sub(1)
        && last < ranked.len()
    {
        ranked.select_nth_unstable_by(last, |a, b| a.0.cmp(&b.0));
    }
    ranked.truncate(policy.max_entities);
    ranked.sort_by(|a, b| a.0.cmp(&b.0));
    ranked
        .into_iter()
        .map(|(_, profile, conversation)| (profile, conversation))
        .collect()
}

#[cfg(test)]
mod tests;
