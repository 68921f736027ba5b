//! The block of a prompt that describes the active entities.

mod entry;

use std::cmp::Reverse;

use dormouse_contracts::{Audience, EntityId, Sources, Timestamp, TokenCount, TokenCounter, Trust};

use crate::{
    conversation::{Conversation, StaleAfter},
    entities::Entities,
    profile::Profile,
    relationship::RelationshipState,
};

use entry::BlockEntry;

/// The first line of the block.
pub(crate) const HEADING: &str = "[ACTIVE ENTITIES]";

/// The lowest trust of anything in a prompt: 0.5.
pub(crate) const LEAST_TRUST: Trust = match Trust::try_new(0.5) {
    Ok(trust) => trust,
    Err(_) => Trust::FULL,
};

/// Whether the block contains a line with attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeLine {
    /// No such line.
    #[default]
    Omitted,
    /// A line `Attributes:` before the observations.
    Shown,
}

/// What the block contains.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockPolicy {
    /// The most entities. Default: 5.
    pub max_entities: usize,
    /// The most observations per entity, newest first. Default: 3.
    pub max_observations: usize,
    /// Observations and attributes with less trust are left out. Default: 0.5, inclusive.
    pub min_trust: Trust,
    /// A conversation that is silent for longer is left out. Default: 24 hours.
    pub stale_after: StaleAfter,
    /// Whether attributes are included. Default: no.
    pub attributes: AttributeLine,
    /// Who hears what the block says. By default it says everything. Otherwise it describes only the listeners that are
    /// listed, with what all listeners perceived. Relationship and conversation are shown only for a listener who is
    /// alone with the assistant, because they also come from what was said in private.
    pub listeners: Option<Audience>,
}

impl Default for BlockPolicy {
    fn default() -> Self {
        Self {
            max_entities: 5,
            max_observations: 3,
            min_trust: LEAST_TRUST,
            stale_after: StaleAfter::default(),
            attributes: AttributeLine::default(),
            listeners: None,
        }
    }
}

/// The block and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityBlock {
    /// The text; empty without entities. Never ends with a line break.
    pub text: String,
    /// The number of tokens, at most the budget.
    pub tokens: TokenCount,
    /// The entities in the block, in order.
    pub shown: Vec<EntityId>,
    /// Who perceived everything that the block may say about them. Names are known to everyone.
    pub audience: Audience,
    /// Parts of the text, each with what it was made from, as far as that is known.
    pub parts: Vec<(String, Sources)>,
    /// The number of known entities that are not in the block.
    pub left_out: usize,
}

/// Writes the block of entities for a prompt, in at most `budget` tokens.
///
/// The order is: most recent message in a conversation that is not stale, then closer relationships, then more
/// interactions, then id. Each entity is shown with as much as fits: first its observations are dropped, then its
/// conversation and pending actions. If even its first line does not fit, it and all later entities are left out.
///
/// Names and contents come from outside. They are shortened, and cannot break a line or imitate a heading; they are
/// still only claims.
///
/// Takes time linear in the number of profiles, and counts the tokens of a few dozen short texts.
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
    let mut audience = Audience::Public;
    let mut parts = Vec::new();
    let hearing = BlockHearing::of(entities, policy);
    for (profile, conversation) in foremost(entities, policy, &hearing, now) {
        let entry = BlockEntry::new(profile, conversation, policy, &hearing, now);
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
        audience = audience.intersection(&entry.audience);
        parts.extend(entry.parts);
    }
    // Parts that did not fit are not shown.
    parts.retain(|(part, _)| text.contains(part.as_str()));
    EntityBlock {
        text,
        tokens,
        audience,
        parts,
        left_out: entities.profiles().len().saturating_sub(shown.len()),
        shown,
    }
}

/// What the listeners may learn.
pub(super) struct BlockHearing<'a> {
    entities: &'a Entities,
    /// The listeners, each by the id that represents them; `None` if everything may be said.
    listeners: Option<Audience>,
}

impl<'a> BlockHearing<'a> {
    fn of(entities: &'a Entities, policy: &BlockPolicy) -> Self {
        let listeners = policy.listeners.as_ref();
        let listeners = listeners.map(|all| all.renamed(|id| entities.survivor(id)));
        Self {
            entities,
            listeners,
        }
    }

    /// Whether the block may name somebody. Listeners perceive each other.
    fn may_name(&self, id: &EntityId) -> bool {
        let listeners = self.listeners.as_ref();
        listeners.is_none_or(|all| *all != Audience::Public && all.includes(id) == Some(true))
    }

    /// Whether this entity is the only listener, or everything may be said.
    fn is_alone(&self, id: &EntityId) -> bool {
        let alone = || Audience::from_iter([id.clone()]);
        self.listeners.as_ref().is_none_or(|all| *all == alone())
    }

    /// Whether the listeners may learn what was made from something with this audience.
    fn may_learn(&self, audience: Option<&Audience>) -> bool {
        let Some(listeners) = &self.listeners else {
            return true;
        };
        audience.is_some_and(|known_to| self.one_id_each(known_to).covers(listeners))
    }

    /// How close somebody is, as far as the listeners may learn it.
    fn state(&self, profile: &Profile, now: Timestamp) -> RelationshipState {
        let relationship = &profile.relationship;
        relationship.state_for(now, |audience| self.may_learn(Some(audience)))
    }

    /// The same audience with each person by the id that represents them.
    fn one_id_each(&self, audience: &Audience) -> Audience {
        audience.renamed(|id| self.entities.survivor(id))
    }
}

/// The entities for the block, in order.
fn foremost<'a>(
    entities: &'a Entities,
    policy: &BlockPolicy,
    hearing: &BlockHearing<'_>,
    now: Timestamp,
) -> Vec<(&'a Profile, Option<&'a Conversation>)> {
    let mut ranked: Vec<_> = entities
        .profiles()
        .filter(|profile| hearing.may_name(&profile.entity_id))
        .map(|profile| {
            let id = &profile.entity_id;
            let conversation = entities.active_conversation(id, now, policy.stale_after);
            let relationship = &profile.relationship;
            let rank = (
                Reverse(conversation.map(|conversation| conversation.last_message_at)),
                Reverse(hearing.state(profile, now)),
                Reverse(relationship.interaction_count()),
                id,
            );
            (rank, profile, conversation)
        })
        .collect();
    // Only the entities that are shown must be sorted, however many there are.
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
