//! Leaves out records that not all listeners perceived.

use std::sync::PoisonError;

use dormouse_contracts::{Audience, Hit, Timestamp};

use super::{RecallRequest, Similar, Withheld};
use crate::{memory::Inner, projection::Meta, record::RecordId, store::StoreError};

/// How many of the best matches count as relevant: if one of them is left out, it is reported.
const RELEVANT: usize = 3;
/// The least score of a relevant match, as a share of the best.
const RELEVANT_SHARE: f32 = 0.5;

/// Which records may be shown to the listeners of a request: a flag for each number of an audience.
#[derive(Debug)]
pub(crate) struct Hearing(Option<Vec<bool>>);

impl Hearing {
    /// All records.
    pub(super) fn all() -> Self {
        Self(None)
    }

    /// Whether this record may be recalled. An audience that was not known when the request began is not covered.
    pub(crate) fn admits(&self, meta: &Meta) -> bool {
        self.0.as_ref().is_none_or(|covered| {
            let number = usize::try_from(meta.audience).ok();
            number.is_some_and(|number| covered.get(number) == Some(&true))
        })
    }

    fn is_of_all(&self) -> bool {
        self.0
            .as_ref()
            .is_none_or(|covered| !covered.contains(&false))
    }
}

impl Inner {
    /// Which records may be shown to these listeners. Two ids of one person count as one. Takes time in proportion to
    /// the number of different audiences.
    pub(crate) fn hearing(&self, listeners: Option<&Audience>) -> Result<Hearing, StoreError> {
        let Some(listeners) = listeners else {
            return Ok(Hearing::all());
        };
        let entities = self.entities.read().unwrap_or_else(PoisonError::into_inner);
        let projection = self.projection()?;
        let audiences = &projection.metas.audiences;
        Ok(Hearing(Some(
            audiences.that_cover(listeners, |id| entities.survivor(id)),
        )))
    }

    /// How many of the hits may be recalled.
    pub(crate) fn heard_among(&self, hits: &[Hit], hearing: &Hearing) -> Result<usize, StoreError> {
        let projection = self.projection()?;
        let metas = hits
            .iter()
            .filter_map(|hit| projection.metas.get(RecordId::from_number(hit.id)));
        Ok(metas.filter(|meta| hearing.admits(meta)).count())
    }

    /// The relevant matches that may not be shown to the listeners, best first.
    pub(super) fn withheld(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        similar: Similar<'_>,
        hearing: &Hearing,
    ) -> Result<Vec<Withheld>, StoreError> {
        if hearing.is_of_all() {
            return Ok(Vec::new());
        }
        let best = self.search(request, asked_at, similar, &Hearing::all(), RELEVANT)?;
        let least = best.first().map_or(0.0, |one| one.score * RELEVANT_SHARE);
        let projection = self.projection()?;
        let relevant = best.into_iter().filter(|one| one.score >= least);
        let withheld = relevant.filter_map(|one| {
            let record = RecordId::from_number(one.id);
            let meta = projection.metas.get(record)?;
            let audience = projection.metas.audiences.get(meta.audience)?.clone();
            (!hearing.admits(meta)).then_some(Withheld { record, audience })
        });
        Ok(withheld.collect())
    }
}
