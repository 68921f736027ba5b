//! Finding what fits a question.

mod packing;
mod request;

use std::{collections::BTreeSet, sync::PoisonError};

use dormouse_contracts::{Hit, Timestamp};
use dormouse_retrieval::{SearchMatch, SearchQuery};

use crate::{
    memory::{Inner, Memory, MemoryError, blocking},
    projection::Meta,
    record::{Record, RecordId},
    store::StoreError,
};
use request::parts_of;
pub use request::{
    DEFAULT_LIMIT, Fallback, MAX_LIMIT, MIN_TRUST, Recall, RecallRequest, Recollection, Role,
    SearchMode, Validity,
};

impl Memory {
    /// What fits a question best: by words, and by similarity too where there is an encoder. What was acknowledged
    /// before is found. Reads from the file only the records it answers.
    ///
    /// Recall by words never fails because of an encoder or a vector index: [`Recall::mode`] tells what it went by.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn recall(&self, request: impl Into<RecallRequest>) -> Result<Recall, MemoryError> {
        let request = request.into();
        let (dense, mode, waiting) = self.dense(&request).await?;
        let inner = self.inner.clone();
        blocking(move || {
            let asked_at = request.asked_at.unwrap_or_else(|| inner.clock.now());
            let similar = match mode {
                SearchMode::WordsAndVectors => Similar::Known(&dense),
                SearchMode::Words | SearchMode::WordsBecause(_) => Similar::Unknown,
            };
            let items = inner.recall(&request, asked_at, similar)?;
            Ok(Recall {
                items,
                mode,
                waiting,
            })
        })
        .await
    }

    /// Whether a record is among the matches of a request with these hits.
    pub(crate) async fn finds(
        &self,
        request: &RecallRequest,
        dense: &[Hit],
        record: RecordId,
    ) -> Result<bool, MemoryError> {
        let inner = self.inner.clone();
        let (request, dense) = (request.clone(), dense.to_vec());
        blocking(move || {
            let similar = Similar::Known(&dense);
            let found = inner.search(&request, inner.clock.now(), similar, &BTreeSet::new());
            Ok(found.iter().any(|found| found.id == record.0))
        })
        .await
    }

    /// What an encoder finds similar, and by what recall goes therefore.
    async fn dense(
        &self,
        request: &RecallRequest,
    ) -> Result<(Vec<Hit>, SearchMode, u64), MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok((Vec::new(), SearchMode::Words, 0));
        };
        if request.lexical_only {
            return Ok((Vec::new(), SearchMode::Words, self.unembedded().await?));
        }
        let (hits, mode) = match self.similar(vectors, request).await {
            Ok(hits) => (hits, SearchMode::WordsAndVectors),
            Err(trouble) => (Vec::new(), SearchMode::WordsBecause(trouble.fallback()?)),
        };
        Ok((hits, mode, self.waiting().await?))
    }
}

/// What is known of similarity.
#[derive(Clone, Copy)]
enum Similar<'a> {
    /// Nothing.
    Unknown,
    /// What is similar enough, best first.
    Known(&'a [Hit]),
}

impl Inner {
    /// The records that fit, in the form that was asked for.
    fn recall(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        similar: Similar<'_>,
    ) -> Result<Vec<Recollection>, StoreError> {
        let without = self.store.read(|reading| {
            let mut without = BTreeSet::new();
            for origin in &request.without {
                without.extend(reading.by_origin(origin)?);
            }
            Ok(without)
        })?;
        let found = self.search(request, asked_at, similar, &without);
        let found = self.read_back(&found)?;
        match request.tokens {
            None => Ok(found),
            Some(budget) => self.packed(request, asked_at, found, budget, &without),
        }
    }

    /// The records that fit best, best first.
    fn search(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        similar: Similar<'_>,
        without: &BTreeSet<RecordId>,
    ) -> Vec<SearchMatch> {
        let (dense, only) = match (similar, request.min_score) {
            (Similar::Unknown, _) => (&[][..], None),
            (Similar::Known(hits), None) => (hits, None),
            (Similar::Known(hits), Some(_)) => {
                let only: BTreeSet<u64> = hits.iter().map(|hit| hit.id).collect();
                (hits, Some(only))
            }
        };
        let projection = self
            .projection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let admit = |id: u64| {
            projection
                .metas
                .get(RecordId(id))
                .is_some_and(|meta| admits(request, asked_at, meta))
                && !without.contains(&RecordId(id))
                && only.as_ref().is_none_or(|only| only.contains(&id))
        };
        let query = SearchQuery::new(request.question())
            .asked_at(asked_at)
            .dense(dense)
            .admit(&admit);
        projection.index.search(&query, request.depth())
    }

    /// The records behind the matches.
    fn read_back(&self, found: &[SearchMatch]) -> Result<Vec<Recollection>, StoreError> {
        let ids: Vec<_> = found.iter().map(|found| RecordId(found.id)).collect();
        let records = self.store.read(|reading| reading.records(&ids))?;
        let matched = found.iter().zip(records);
        Ok(matched
            .filter_map(|(found, record)| Some(recollection(found, record?)))
            .collect())
    }
}

fn recollection(found: &SearchMatch, record: Record) -> Recollection {
    Recollection {
        record,
        role: Role::Match,
        score: found.score,
        parts: parts_of(&found.parts),
        folded: Vec::new(),
        tokens: 0,
    }
}

/// Whether a record may be in the answer.
fn admits(request: &RecallRequest, asked_at: Timestamp, meta: &Meta) -> bool {
    let so_at = |at| meta.valid_from <= at && at < meta.valid_until;
    let valid = match request.validity {
        // What was said to become so later is known already.
        Validity::Now => asked_at < meta.valid_until,
        Validity::At(at) => so_at(at),
        Validity::Any => true,
    };
    valid
        && meta.in_use
        && meta.trust >= request.min_trust
        && (request.kinds.is_empty() || request.kinds.contains(&meta.kind))
        && (request.shelves.is_empty() || request.shelves.contains(&meta.shelf))
        && request.from.is_none_or(|from| meta.at >= from)
        && request.until.is_none_or(|until| meta.at < until)
}
