//! The rule by which two entities become one, and the one two again.
//!
//! Together: the survivor keeps its id, kind and name; it is also known by the other's names. Observations and messages of
//! both stand side by side, attributes that the survivor lacks are taken over, interactions add up. Favorability is the
//! mean, weighted by interactions; trust is the lower one, since what is derived is believed no further than its
//! sources; rapport is the higher one.
//!
//! Apart: a comparison of three states of the survivor, before the merge, after it and now. What is now as it was after
//! becomes what it was before; what has changed since stays with the survivor; a number keeps the difference.

mod apart;
mod conversation;

use dormouse_contracts::Timestamp;

use crate::{
    attributes::{AttributeName, Attributes},
    entities::Held,
    observation::Observation,
    profile::Profile,
    relationship::Relationship,
};

pub(crate) use apart::separate;

/// What `into` is with `from` merged into it. A conversation that only `from` had gets the number `next_conversation`.
pub(crate) fn combine(from: &Held, into: &Held, next_conversation: u64, at: Timestamp) -> Held {
    Held {
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
    // Numbers count on, so that every observation can be told by its number on the way back.
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
    Relationship {
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
    }
}
