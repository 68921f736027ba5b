//! Where something happened, and who could perceive it there.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use crate::ids::{ChannelId, EntityId, PlaceId};

/// A room or another location of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its id in the world. It stays the same while the name may change.
    pub id: PlaceId,
    /// Its name in the world, for display only.
    pub name: String,
}

/// Who could perceive something at the moment when it happened. The entity that caused it and the perceiving assistant
/// itself are included.
///
/// Each variant is a set of entities, so audiences can be [intersected](Self::intersection): [`Public`](Self::Public)
/// contains everyone, [`Entities`](Self::Entities) contains exactly those that it lists, and the members of a
/// [`Channel`](Self::Channel) are unknown, so only the same channel is known to be a part of it. A world that knows the
/// members of a channel lists them.
///
/// Something that was made from several things may be shown only to the intersection of their audiences: to those who
/// perceived all of them. It may be shown or said if its audience [covers](Self::covers) everyone who may hear it.
///
/// | what happened | who is listed |
/// | --- | --- |
/// | something said or done aloud in a room | everyone in the room at that moment who perceives |
/// | somebody leaves a room | everyone in the room that they leave, and the one who leaves |
/// | somebody enters a room | everyone in the room that they enter, and the one who enters |
/// | a whisper, a page | the speaker and the listener |
/// | a message on a channel | the members who could hear it, the speaker included |
/// | output of a command | the one who gave the command |
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Audience {
    /// Everyone in the world, and everyone who ever enters it: nothing about it is private.
    Public,
    /// The members of this channel, whom the world does not list.
    Channel(ChannelId),
    /// Exactly these entities.
    Entities(BTreeSet<EntityId>),
    /// The members of a channel, whom the world does not list, and these entities, which are known to be in the
    /// audience. There is at least one: use [`Audience::with`], which gives equal audiences the same variant.
    ChannelAnd {
        /// The channel.
        channel: ChannelId,
        /// The entities that are known to be in the audience.
        entities: BTreeSet<EntityId>,
    },
}

impl Audience {
    /// The most entities that are listed.
    pub const LIMIT: usize = 256;

    /// The audience of exactly these entities. `None` if they are more than [`Audience::LIMIT`]: an incomplete list
    /// would be wrong, and a complete one would fill logs, so such an audience counts as unknown.
    pub fn of(entities: impl IntoIterator<Item = EntityId>) -> Option<Self> {
        let entities: BTreeSet<_> = entities.into_iter().take(Self::LIMIT + 1).collect();
        (entities.len() <= Self::LIMIT).then_some(Self::Entities(entities))
    }

    /// Whether it lists more entities than [`Audience::LIMIT`], so that it must not be kept.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.entities().is_some_and(|all| all.len() > Self::LIMIT)
    }

    /// The audience of something that nobody is known to have perceived, other than the perceiving assistant.
    #[must_use]
    pub const fn nobody() -> Self {
        Self::Entities(BTreeSet::new())
    }

    /// Whether this entity could perceive it; `None` if the world does not list the members of the channel.
    #[must_use]
    pub fn includes(&self, entity: &EntityId) -> Option<bool> {
        match self {
            Self::Public => Some(true),
            Self::Channel(_) => None,
            Self::Entities(entities) => Some(entities.contains(entity)),
            Self::ChannelAnd { entities, .. } => entities.contains(entity).then_some(true),
        }
    }

    /// The same audience and this entity.
    #[must_use]
    pub fn with(self, entity: EntityId) -> Self {
        let (everyone, channel, mut entities) = self.into_parts();
        entities.insert(entity);
        Self::of_parts(everyone, channel, entities)
    }

    /// The same audience without this entity.
    #[must_use]
    pub fn without(self, entity: &EntityId) -> Self {
        let (everyone, channel, mut entities) = self.into_parts();
        entities.remove(entity);
        Self::of_parts(everyone, channel, entities)
    }

    /// Those who are known to be in both audiences.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Public, all) | (all, Self::Public) => all.clone(),
            (one, other) => {
                let channel = one
                    .channel()
                    .filter(|channel| other.channel() == Some(channel));
                let entities = one.entities().into_iter().flatten();
                let entities =
                    entities.filter(|id| other.entities().is_some_and(|all| all.contains(id)));
                Self::of_parts(false, channel.cloned(), entities.cloned().collect())
            }
        }
    }

    /// A set that contains everyone who is in either audience. For two different channels it is
    /// [everyone](Self::Public), because no smaller audience is known to contain the members of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let channels = [self.channel(), other.channel()];
        let everyone = [self, other].contains(&&Self::Public)
            || matches!(channels, [Some(one), Some(another)] if one != another);
        let entities = [self.entities(), other.entities()];
        let entities = entities.into_iter().flatten().flatten().cloned();
        let channel = channels.into_iter().flatten().next().cloned();
        Self::of_parts(everyone, channel, entities.collect())
    }

    /// Whether every listener is in this audience. Then they learn nothing new if it is repeated to them.
    #[must_use]
    pub fn covers(&self, listeners: &Self) -> bool {
        match (self, listeners) {
            (Self::Public, _) => true,
            (_, Self::Public) => false,
            (known, listeners) => {
                let has_channel =
                    listeners.channel().is_none() || listeners.channel() == known.channel();
                let mut entities = listeners.entities().into_iter().flatten();
                has_channel
                    && entities.all(|id| known.entities().is_some_and(|all| all.contains(id)))
            }
        }
    }

    /// The same audience under other ids: two ids of one person become one.
    #[must_use]
    pub fn renamed<'a>(&'a self, id_of: impl Fn(&'a EntityId) -> &'a EntityId) -> Self {
        let entities = self.entities().into_iter().flatten();
        let entities = entities.map(|id| id_of(id).clone()).collect();
        Self::of_parts(*self == Self::Public, self.channel().cloned(), entities)
    }

    fn channel(&self) -> Option<&ChannelId> {
        match self {
            Self::Channel(channel) | Self::ChannelAnd { channel, .. } => Some(channel),
            Self::Public | Self::Entities(_) => None,
        }
    }

    fn entities(&self) -> Option<&BTreeSet<EntityId>> {
        match self {
            Self::Entities(entities) | Self::ChannelAnd { entities, .. } => Some(entities),
            Self::Public | Self::Channel(_) => None,
        }
    }

    /// The parts of the audience: whether it is everyone, its channel, and the entities that it lists.
    fn into_parts(self) -> (bool, Option<ChannelId>, BTreeSet<EntityId>) {
        match self {
            Self::Public => (true, None, BTreeSet::new()),
            Self::Channel(channel) => (false, Some(channel), BTreeSet::new()),
            Self::Entities(entities) => (false, None, entities),
            Self::ChannelAnd { channel, entities } => (false, Some(channel), entities),
        }
    }

    fn of_parts(everyone: bool, channel: Option<ChannelId>, entities: BTreeSet<EntityId>) -> Self {
        match channel {
            _ if everyone => Self::Public,
            None => Self::Entities(entities),
            Some(channel) if entities.is_empty() => Self::Channel(channel),
            Some(channel) => Self::ChannelAnd { channel, entities },
        }
    }
}

/// In a few words, for people: `everyone`, `nobody else`, or the ids of those in it.
impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::Public {
            return f.write_str("everyone");
        }
        let channel = self.channel().map(|channel| format!("channel {channel}"));
        let entities = self.entities().into_iter().flatten();
        let entities = entities.map(ToString::to_string);
        let all: Vec<_> = channel.into_iter().chain(entities).collect();
        match all.is_empty() {
            true => f.write_str("nobody else"),
            false => f.write_str(&all.join(", ")),
        }
    }
}

impl FromIterator<EntityId> for Audience {
    /// Exactly these entities, however many they are.
    fn from_iter<I: IntoIterator<Item = EntityId>>(entities: I) -> Self {
        Self::Entities(entities.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entities(count: usize) -> impl Iterator<Item = EntityId> {
        (0..count).map(|number| EntityId::try_new(format!("player:{number:04}")).unwrap())
    }

    #[test]
    fn an_audience_is_listed_completely_or_not_at_all() {
        let full = Audience::of(entities(Audience::LIMIT)).unwrap();
        assert!(entities(Audience::LIMIT).all(|one| full.includes(&one) == Some(true)));
        assert_eq!(Audience::of(entities(Audience::LIMIT + 1)), None);
        assert!(!full.is_too_long());
        assert!(
            full.with(entities(Audience::LIMIT + 1).last().unwrap())
                .is_too_long()
        );
    }

    #[test]
    fn an_audience_has_one_form_in_json() {
        let channel = Audience::Channel(ChannelId::try_new("guild").unwrap());
        for (audience, json) in [
            (Some(Audience::Public), r#""public""#),
            (Some(channel), r#"{"channel":"guild"}"#),
            (
                Audience::of(entities(2)),
                r#"{"entities":["player:0000","player:0001"]}"#,
            ),
        ] {
            let audience = audience.unwrap();
            assert_eq!(serde_json::to_string(&audience).unwrap(), json);
            assert_eq!(serde_json::from_str::<Audience>(json).unwrap(), audience);
        }
    }

    #[test]
    fn an_audience_reads_as_who_is_in_it() {
        let channel = Audience::Channel(ChannelId::try_new("guild").unwrap());
        let one = entities(1).next().unwrap();
        for (audience, text) in [
            (Audience::Public, "everyone"),
            (Audience::nobody(), "nobody else"),
            (channel.clone(), "channel guild"),
            (channel.with(one.clone()), "channel guild, player:0000"),
            (Audience::from_iter([one]), "player:0000"),
        ] {
            assert_eq!(audience.to_string(), text);
        }
    }

    fn any_audience() -> impl Strategy<Value = Audience> {
        let entities = prop::collection::btree_set(0_usize..6, 0..5);
        let channel = prop::option::of(prop::sample::select(vec!["guild", "public"]));
        (prop::bool::weighted(0.1), channel, entities).prop_map(|(everyone, channel, members)| {
            let all: Vec<_> = entities_of_six();
            let members = members.into_iter().map(|place| all[place].clone());
            let channel = channel.map(|name| ChannelId::try_new(name).unwrap());
            Audience::of_parts(everyone, channel, members.collect())
        })
    }

    fn entities_of_six() -> Vec<EntityId> {
        entities(6).collect()
    }

    /// Whether the audience is known to contain an entity or all members of a channel.
    fn contains(audience: &Audience, entity: &EntityId) -> bool {
        audience.includes(entity) == Some(true)
    }

    proptest! {
        #[test]
        fn intersecting_is_associative_commutative_and_idempotent(
            a in any_audience(), b in any_audience(), c in any_audience(),
        ) {
            let both = a.intersection(&b);
            prop_assert_eq!(&both, &b.intersection(&a));
            prop_assert_eq!(both.intersection(&c), a.intersection(&b.intersection(&c)));
            prop_assert_eq!(&a.intersection(&a), &a);
            prop_assert_eq!(&a.intersection(&Audience::Public), &a);
            prop_assert_eq!(a.intersection(&Audience::nobody()), Audience::nobody());
        }

        #[test]
        fn an_intersection_never_grows_and_holds_everyone_who_is_known_to_be_in_both(
            a in any_audience(), b in any_audience(), listeners in any_audience(),
        ) {
            let both = a.intersection(&b);
            prop_assert!(a.covers(&both) && b.covers(&both));
            for entity in entities_of_six() {
                prop_assert_eq!(contains(&both, &entity), contains(&a, &entity) && contains(&b, &entity));
            }
            prop_assert_eq!(both.covers(&listeners), a.covers(&listeners) && b.covers(&listeners));
        }

        #[test]
        fn a_union_holds_everyone_who_is_in_one_of_them(
            a in any_audience(), b in any_audience(), known_to in any_audience(),
        ) {
            let either = a.union(&b);
            prop_assert_eq!(&either, &b.union(&a));
            prop_assert!(either.covers(&a) && either.covers(&b));
            prop_assert_eq!(&a.union(&a), &a);
            prop_assert_eq!(&a.union(&Audience::nobody()), &a);
            if known_to.covers(&either) {
                prop_assert!(known_to.covers(&a) && known_to.covers(&b));
            }
        }

        #[test]
        fn covering_is_that_nothing_is_lost_by_intersecting(a in any_audience(), b in any_audience()) {
            prop_assert_eq!(a.covers(&b), a.intersection(&b) == b);
            prop_assert!(a.covers(&a) && a.covers(&Audience::nobody()));
        }

        #[test]
        fn who_is_added_is_in_it_and_nobody_leaves(a in any_audience(), place in 0_usize..6) {
            let one = entities_of_six()[place].clone();
            let more = a.clone().with(one.clone());
            prop_assert!(contains(&more, &one) && more.covers(&a));
            prop_assert_eq!(more.clone().with(one.clone()), more.clone());
            let less = more.clone().without(&one);
            prop_assert!(more.covers(&less) && a.covers(&less));
            prop_assert!(less == Audience::Public || !contains(&less, &one));
        }

        #[test]
        fn two_ids_of_one_person_count_as_one(a in any_audience(), b in any_audience()) {
            let all = entities_of_six();
            let id_of = |id: &EntityId| if *id == all[1] { all[0].clone() } else { id.clone() };
            let ids: Vec<_> = all.iter().map(id_of).collect();
            let same = |id| all.iter().position(|one| one == id).map_or(id, |place| &ids[place]);
            let (a, b) = (&a, &b);
            prop_assert!(!a.covers(b) || a.renamed(same).covers(&b.renamed(same)));
            prop_assert_eq!(a.renamed(|id| id), a.clone());
            let first = |audience: &Audience| contains(audience, &all[0]) || contains(audience, &all[1]);
            prop_assert_eq!(contains(&a.renamed(same), &all[0]), first(a));
        }

        #[test]
        fn every_audience_reads_as_it_is_written(a in any_audience()) {
            let json = serde_json::to_string(&a).unwrap();
            prop_assert_eq!(serde_json::from_str::<Audience>(&json).unwrap(), a);
        }
    }
}
