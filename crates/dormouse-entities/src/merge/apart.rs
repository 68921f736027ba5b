//! Reverting a merge.

use std::collections::BTreeMap;

use super::conversation;
use crate::{
    attributes::{AttributeName, Attributes},
    observation::Observation,
    profile::{Name, Profile},
    relationship::{Relationship, trust_moved},
    removal::EntityState,
};

/// The states of the merged and the remaining entity after reverting, from the remaining one before the merge, after
/// it, and now.
pub(crate) fn separate(
    kept: &EntityState,
    before: &EntityState,
    after: &EntityState,
    now: &EntityState,
) -> (EntityState, EntityState) {
    let (from_conversation, own_conversation) = conversation::separate(
        kept.conversation.as_ref(),
        before.conversation.as_ref(),
        after.conversation.as_ref(),
        now.conversation.as_ref(),
    );
    let from = EntityState {
        profile: kept.profile.clone(),
        conversation: from_conversation,
    };
    let survivor = EntityState {
        profile: profile(&before.profile, &after.profile, &now.profile),
        conversation: own_conversation,
    };
    (from, survivor)
}

/// An entity without the effect of one change, from its states before that change, after it, and now.
pub(crate) fn without(before: &EntityState, after: &EntityState, now: &EntityState) -> EntityState {
    EntityState {
        profile: Profile {
            created_at: now.profile.created_at,
            updated_at: now.profile.updated_at,
            // A log identifies observations by their numbers, so no number is used twice.
            last_number: now.profile.last_number,
            ..profile(&before.profile, &after.profile, &now.profile)
        },
        conversation: conversation::without(
            before.conversation.as_ref(),
            after.conversation.as_ref(),
            now.conversation.as_ref(),
        ),
    }
}

/// A value: the one before the merge, unless it has changed since.
pub(super) fn back<T: PartialEq + Clone>(before: &T, after: &T, now: &T) -> T {
    if now == after { before } else { now }.clone()
}

/// A list: the items before the merge that were not removed since, then the items added since.
pub(super) fn back_list<T: Clone>(
    before: &[T],
    after: &[T],
    now: &[T],
    same: impl Fn(&T, &T) -> bool,
) -> Vec<T> {
    let find = |list: &[T], item: &T| list.iter().find(|other| same(other, item)).cloned();
    let kept = before.iter().filter_map(|item| match find(after, item) {
        Some(_) => find(now, item),
        // The merge itself dropped this item for lack of room.
        None => Some(item.clone()),
    });
    let added = now.iter().filter(|item| find(after, item).is_none());
    kept.chain(added.cloned()).collect()
}

fn profile(before: &Profile, after: &Profile, now: &Profile) -> Profile {
    let mut own = Profile {
        entity_id: now.entity_id.clone(),
        entity_type: back(&before.entity_type, &after.entity_type, &now.entity_type),
        name: back(&before.name, &after.name, &now.name),
        aliases: back_list(&before.aliases, &after.aliases, &now.aliases, |a, b| a == b),
        attributes: attributes(&before.attributes, &after.attributes, &now.attributes),
        observations: observations(&before.observations, &after.observations, &now.observations),
        relationship: relationship(&before.relationship, &after.relationship, &now.relationship),
        created_at: back(&before.created_at, &after.created_at, &now.created_at),
        updated_at: back(&before.updated_at, &after.updated_at, &now.updated_at),
        last_number: back(&before.last_number, &after.last_number, &now.last_number),
    };
    own.aliases.retain(|alias: &Name| *alias != own.name);
    own.drop_surplus_names();
    own.drop_surplus();
    own
}

/// As [`back_list`], by number. An observation that the change repeated gets its former trust and time back.
/// Observations of the other entity that were confirmed since stay, too.
fn observations(
    before: &[Observation],
    after: &[Observation],
    now: &[Observation],
) -> Vec<Observation> {
    let same = |a: &Observation, b: &Observation| a.number == b.number;
    let mut own = back_list(before, after, now, same);
    for own in &mut own {
        let find = |list: &[Observation]| list.iter().find(|item| same(item, own)).cloned();
        if let (Some(was), Some(then)) = (find(before), find(after)) {
            // The stage stays: attributes made from it are set back elsewhere and must not be made again.
            let stage = own.stage;
            *own = Observation {
                stage,
                ..back(&was, &then, own)
            };
        }
    }
    let has = |list: &[Observation], item: &Observation| list.iter().any(|o| same(o, item));
    let noted_again = now.iter().filter(|item| {
        let then = after.iter().find(|o| same(o, item));
        !has(before, item)
            && then.is_some_and(|then| (then.timestamp, then.trust) != (item.timestamp, item.trust))
    });
    own.extend(noted_again.cloned());
    own
}

fn attributes(before: &Attributes, after: &Attributes, now: &Attributes) -> Attributes {
    let mut own = Attributes {
        communication_style: back(
            &before.communication_style,
            &after.communication_style,
            &now.communication_style,
        ),
        interests: back_list(
            &before.interests,
            &after.interests,
            &now.interests,
            |a, b| a == b,
        ),
        temperament: back(&before.temperament, &after.temperament, &now.temperament),
        preferences: back_map(&before.preferences, &after.preferences, &now.preferences),
        trust: BTreeMap::new(),
        audience: now.audience.clone(),
        sources: now.sources.clone(),
    };
    own.trust = [
        (
            AttributeName::CommunicationStyle,
            own.communication_style == before.communication_style,
        ),
        (AttributeName::Interests, own.interests == before.interests),
        (
            AttributeName::Temperament,
            own.temperament == before.temperament,
        ),
        (
            AttributeName::Preferences,
            own.preferences == before.preferences,
        ),
    ]
    .into_iter()
    .filter_map(|(name, is_as_before)| {
        let as_before = before.trust_in(name).filter(|_| is_as_before);
        let trust = match (as_before, is_as_before, now.trust_in(name)) {
            (Some(then), _, Some(now)) if after.trust_in(name) != Some(now) => then.lowest(now),
            (Some(then), ..) => then,
            (None, true, _) => return None,
            (None, false, now) => now?,
        };
        Some((name, trust))
    })
    .collect();
    let is_as_before = Attributes {
        trust: before.trust.clone(),
        audience: before.audience.clone(),
        sources: before.sources.clone(),
        ..own.clone()
    } == *before;
    if is_as_before || own.is_empty() {
        own.audience.clone_from(&before.audience);
        own.sources.clone_from(&before.sources);
    } else if !before.is_empty() {
        own.narrow_to(before.audience.as_ref());
        own.rest_on(&before.sources);
    }
    own
}

fn back_map<K: Ord + Clone, V: PartialEq + Clone>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    now: &BTreeMap<K, V>,
) -> BTreeMap<K, V> {
    let keys = before.keys().chain(now.keys());
    keys.filter_map(|key| {
        let value = back(&before.get(key), &after.get(key), &now.get(key));
        Some((key.clone(), value?.clone()))
    })
    .collect()
}

fn relationship(before: &Relationship, after: &Relationship, now: &Relationship) -> Relationship {
    let favorability = if now.favorability == after.favorability {
        before.favorability
    } else {
        let by = now.favorability.value() - after.favorability.value();
        before.favorability.moved(by)
    };
    // Judgements that the merge combined to stay within the limit count for fewer people, never for more.
    let since_merge = now
        .judgements
        .iter()
        .filter(|one| !after.judgements.contains(one));
    let judgements = match now.favorability == after.favorability {
        true => before.judgements.clone(),
        false => before
            .judgements
            .iter()
            .chain(since_merge)
            .cloned()
            .collect(),
    };
    let trust = if now.trust == after.trust {
        before.trust
    } else {
        trust_moved(before.trust, now.trust.score() - after.trust.score())
    };
    let (rapport, rapport_at) =
        if (now.rapport, now.rapport_at) == (after.rapport, after.rapport_at) {
            (before.rapport, before.rapport_at)
        } else {
            let by = now.rapport.value() - after.rapport.value();
            (before.rapport.moved(by), now.rapport_at)
        };
    let since = now
        .interaction_count
        .saturating_sub(after.interaction_count);
    let mut own = Relationship {
        favorability,
        trust,
        rapport,
        interaction_count: before.interaction_count.saturating_add(since),
        rapport_at,
        last_interaction_at: back(
            &before.last_interaction_at,
            &after.last_interaction_at,
            &now.last_interaction_at,
        ),
        today: back(&before.today, &after.today, &now.today),
        judgements,
    };
    own.drop_surplus();
    own
}
