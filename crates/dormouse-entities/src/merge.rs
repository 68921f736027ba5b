//! How two entities are merged, and how a merge is reverted.
//!
//! Merging: the remaining entity keeps its id, kind and name, and gets the other's names as aliases. Observations and
//! messages of both are kept, missing attributes are taken over, and interactions are added up. Favorability is the
//! mean weighted by interactions. Trust is the lower one, because derived data must not be trusted more than their
//! sources. Rapport is the higher one.
//!
//! Reverting compares three states of the remaining entity: before the merge, after it, and now. A value that has not
//! changed since the merge is set back to its value before the merge. A value that has changed stays; of a number, the
//! difference is kept.

mod apart;
mod conversation;

use dormouse_contracts::Timestamp;

use crate::{
    attributes::{AttributeName, Attributes},
    observation::Observation,
    profile::Profile,
    relationship::{Relationship, part_of},
    removal::EntityState,
};

pub(crate) use apart::{separate, without};

/// The state of `into` with `from` merged into it. A conversation that only `from` had gets the number
/// `next_conversation`.
pub(crate) fn combine(
    from: &EntityState,
    into: &EntityState,
    next_conversation: u64,
    at: Timestamp,
) -> EntityState {
    EntityState {
        profile: profiles(&from.profile, &into.profile, at),
        conversation: conversation::combine(
            from.conversation.as_ref(),
            into.conversation.as_ref(),
            next_conversation,
        ),
    }
}

fn profiles(from: &Profile, into: &Profile, at: Timestamp) -> Profile {
    let mut both = into.clone();
    both.created_at = into.created_at.min(from.created_at);
    both.updated_at = into.updated_at.max(at);
    from.names().for_each(|name| both.add_alias(name.clone()));
    attributes(&from.attributes, &mut both.attributes);
    // Numbers continue, so that reverting can identify every observation by its number.
    let shifted = from.observations.iter().map(|observation| Observation {
        number: observation.number.saturating_add(into.last_number),
        ..observation.clone()
    });
    both.observations.extend(shifted);
    both.last_number = into.last_number.saturating_add(from.last_number);
    both.drop_surplus();
    both.relationship = relationships(&from.relationship, &into.relationship, at);
    both
}

fn attributes(from: &Attributes, both: &mut Attributes) {
    use AttributeName::{CommunicationStyle, Interests, Preferences, Temperament};
    if !from.is_empty() {
        both.narrow(from.audience.as_ref());
        both.rest_on(&from.sources);
    }
    let mut taken = Vec::new();
    if both.communication_style.is_none() && from.communication_style.is_some() {
        both.communication_style = from.communication_style.clone();
        taken.push(CommunicationStyle);
    }
    if both.temperament.is_none() && from.temperament.is_some() {
        both.temperament = from.temperament.clone();
        taken.push(Temperament);
    }
    for interest in &from.interests {
        if both.interests.len() < Attributes::MOST && !both.interests.contains(interest) {
            both.interests.push(interest.clone());
            taken.push(Interests);
        }
    }
    for (subject, value) in &from.preferences {
        if both.preferences.len() < Attributes::MOST && !both.preferences.contains_key(subject) {
            both.preferences.insert(subject.clone(), value.clone());
            taken.push(Preferences);
        }
    }
    for name in taken {
        if let Some(trust) = from.trust_in(name) {
            both.lower(name, trust);
        }
    }
}

fn relationships(from: &Relationship, into: &Relationship, at: Timestamp) -> Relationship {
    let at = at.max(from.rapport_at).max(into.rapport_at);
    let (a, b) = (from.rapport_at(at), into.rapport_at(at));
    let part = part_of(into.interaction_count, from.interaction_count);
    let own = into.judgements.iter().map(|one| one.scaled(part));
    let others = from.judgements.iter().map(|one| one.scaled(1.0 - part));
    let mut both = Relationship {
        favorability: into.favorability.weighted(
            into.interaction_count,
            from.favorability,
            from.interaction_count,
        ),
        trust: into.trust.lowest(from.trust),
        rapport: if a > b { a } else { b },
        interaction_count: into
            .interaction_count
            .saturating_add(from.interaction_count),
        rapport_at: at,
        last_interaction_at: into.last_interaction_at.max(from.last_interaction_at),
        today: into.today.strictest(from.today),
        judgements: own.chain(others).collect(),
    };
    both.drop_surplus();
    both
}
