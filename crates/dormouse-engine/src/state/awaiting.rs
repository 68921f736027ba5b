//! Whether a perception meets a condition that the assistant waits for. Only attested facts decide that; words are
//! compared only if the condition names words.

use dormouse_contracts::{
    Attested, Audience, Awaited, AwaitedKind, EntityId, Movement, Perception, Sender, SourceKind,
};

use super::{Identities, State};
use crate::config::Privacy;

/// The conditions that the assistant waits for: all that has to stay in memory while the assistant is unloaded.
#[derive(Clone, Debug)]
pub struct Awaiting {
    /// Each condition, with the entity on whose behalf the assistant waits.
    open: Vec<(Awaited, EntityId)>,
    identities: Identities,
    privacy: Privacy,
}

impl Awaiting {
    /// The conditions that an assistant in this state waits for; `None` if it waits for no event.
    #[must_use]
    pub fn of(state: &State) -> Option<Self> {
        let unmet = state.promises.iter().filter(|it| it.met.is_none());
        let each = unmet.flat_map(|it| it.when.iter().map(|one| (one.clone(), it.entity.clone())));
        let open: Vec<_> = each.collect();
        (!open.is_empty()).then(|| Self {
            open,
            identities: state.identities.clone(),
            privacy: state.configuration.settings.privacy,
        })
    }

    /// Whether the perception meets any of the conditions.
    #[must_use]
    pub fn is_met_by(&self, perception: &Perception) -> bool {
        let Self {
            open,
            identities,
            privacy,
        } = self;
        let fact = Fact {
            perception,
            // Whether the operator marked the place as public is checked when the message is accepted. An unnecessary
            // wake does no harm.
            is_public: *privacy == Privacy::Shared,
            identities,
        };
        open.iter()
            .any(|(awaited, entity)| fact.meets(awaited, entity))
    }
}

/// A perception, with what is known about it.
pub(super) struct Fact<'a> {
    pub(super) perception: &'a Perception,
    /// Whether everybody may learn of it.
    pub(super) is_public: bool,
    pub(super) identities: &'a Identities,
}

impl Fact<'_> {
    /// Whether this meets a condition on behalf of an entity.
    pub(super) fn meets(&self, awaited: &Awaited, on_behalf_of: &EntityId) -> bool {
        let attested = &self.perception.attested;
        let words = self.perception.words.as_claimed();
        let is_here = |place| attested.place.as_ref().map(|it| &it.id) == Some(place);
        self.is_of_kind(awaited, on_behalf_of)
            && awaited.place.as_ref().is_none_or(is_here)
            && (awaited.words.as_ref()).is_none_or(|beginnings| beginnings.are_in(words))
            && self.may_be_known(awaited, on_behalf_of)
    }

    fn is_of_kind(&self, awaited: &Awaited, on_behalf_of: &EntityId) -> bool {
        let attested = &self.perception.attested;
        let is_by = |who: &Option<EntityId>| match (who, attested.sender.id()) {
            (Some(who), Some(sender)) => self.is_one(who, sender),
            (Some(_), None) => false,
            (None, sender) => !sender.is_some_and(|sender| self.is_one(sender, on_behalf_of)),
        };
        let is_own = matches!(attested.sender, Sender::Myself { .. });
        if is_own && attested.source != SourceKind::CommandOutput {
            return false;
        }
        match awaited.kind {
            AwaitedKind::Happens => is_by(&awaited.who),
            AwaitedKind::Arrives => {
                attested.movement == Some(Movement::Arrival) && is_by(&awaited.who)
            }
            AwaitedKind::Leaves => {
                attested.movement == Some(Movement::Departure) && is_by(&awaited.who)
            }
            AwaitedKind::Speaks => speaks(attested) && is_by(&awaited.who),
            AwaitedKind::Present => awaited.who.as_ref().is_some_and(|who| self.is_here(who)),
        }
    }

    /// Whether the world attests that somebody is where the assistant is.
    fn is_here(&self, who: &EntityId) -> bool {
        let attested = &self.perception.attested;
        // A movement may not say whether it was an arrival or a departure, and those who leave are listed as well.
        let leaves = attested.source == SourceKind::Movement
            && attested.movement != Some(Movement::Arrival)
            && attested.sender.id().is_some_and(|id| self.is_one(id, who));
        let does = attested.sender.id().is_some_and(|id| self.is_one(id, who));
        let is_listed = match &attested.audience {
            Some(Audience::Entities(all)) => all.iter().any(|id| self.is_one(id, who)),
            _ => false,
        };
        let perceives = is_listed && is_seen_by_all(&attested.source);
        attested.place.is_some() && !leaves && (does || perceives)
    }

    /// Whether the entity on whose behalf the assistant waits may learn of the fact from the act that follows: it
    /// perceived the fact, or everybody present sees it. Words said to a few people do not count as seen by everybody.
    fn may_be_known(&self, awaited: &Awaited, on_behalf_of: &EntityId) -> bool {
        let attested = &self.perception.attested;
        let is_plain = awaited.words.is_none() && is_seen_by_all(&attested.source);
        let known_to = attested.known_to();
        let known_to = known_to.renamed(|id| self.identities.id_of(id));
        let is_party = known_to.includes(self.identities.id_of(on_behalf_of)) == Some(true);
        self.is_public || is_plain || is_party
    }

    fn is_one(&self, one: &EntityId, other: &EntityId) -> bool {
        self.identities.id_of(one) == self.identities.id_of(other)
    }
}

fn speaks(attested: &Attested) -> bool {
    matches!(
        attested.source,
        SourceKind::Whisper
            | SourceKind::Page
            | SourceKind::Addressed
            | SourceKind::Channel(_)
            | SourceKind::Say
    )
}

/// Whether everybody who is present perceives it.
fn is_seen_by_all(source: &SourceKind) -> bool {
    matches!(
        source,
        SourceKind::Addressed
            | SourceKind::Say
            | SourceKind::Pose
            | SourceKind::Movement
            | SourceKind::Emit
    )
}
