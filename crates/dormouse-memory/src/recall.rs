//! Recall: finding the records that match a question.

mod changed;
mod hearing;
mod packing;
mod repeating;
mod request;

use std::collections::BTreeSet;

use dormouse_contracts::{Hit, Timestamp, Trust};
use dormouse_retrieval::{SearchMatch, SearchQuery, Speaker};

use crate::{
    memory::{Inner, Memory, MemoryError, blocking},
    projection::Meta,
    record::{Record, RecordId},
    store::StoreError,
};
use hearing::Hearing;
use request::parts_of;
pub use request::{
    CALIBRATED_FROM, DEFAULT_LIMIT, MAX_LIMIT, MIN_QUOTE_TRUST, MIN_TRUST, Recall, RecallRequest,
    Recollection, RecordExcerpt, Role, SearchMode, Validity, Withheld,
};

impl Memory {
    /// The records that match a question best: by words, and also by similarity if there is an encoder. Every record that
    /// was acknowledged before is found. Only the records of the answer are read from the file.
    ///
    /// A failing encoder or vector index never makes recall fail: it uses words alone then, and [`Recall::mode`] says so.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn recall(&self, request: impl Into<RecallRequest>) -> Result<Recall, MemoryError> {
        let request = request.into();
        let similar = self.dense(&request).await?;
        let inner = self.inner.clone();
        blocking(move || Ok(inner.recalled(&request, similar)?)).await
    }

    /// The records that the encoder finds similar to a question, by [number](RecordId::to_number), best first; none without an
    /// encoder, and none if it fails. Of a request, its collections, its listeners and its limit count, among others.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn similar_records(&self, request: &RecallRequest) -> Result<Vec<Hit>, MemoryError> {
        let (hits, ..) = self.dense(request).await?;
        Ok(hits)
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
            let now = inner.clock.now();
            let matches = inner.search(&request, now, similar, &Hearing::all(), request.depth())?;
            Ok(matches.iter().any(|one| one.id == record.to_number()))
        })
        .await
    }

    /// Asks the encoder, if there is one.
    pub(crate) async fn dense(&self, request: &RecallRequest) -> Result<DenseHits, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok((Vec::new(), SearchMode::Words, 0));
        };
        if request.lexical_only {
            return Ok((Vec::new(), SearchMode::Words, self.unembedded().await?));
        }
        let (hits, mode) = match self.similar(vectors, request).await {
            Ok(hits) => (hits, SearchMode::WordsAndVectors),
            Err(error) => (Vec::new(), SearchMode::WordsBecause(error.fallback()?)),
        };
        Ok((hits, mode, self.waiting().await?))
    }
}

/// The records that the encoder finds similar, the mode of recall that follows, and how many records wait for a vector.
pub(crate) type DenseHits = (Vec<Hit>, SearchMode, u64);

/// What the encoder says about similarity.
#[derive(Clone, Copy)]
enum Similar<'a> {
    /// It was not asked, or did not answer.
    Unknown,
    /// The records that are similar enough, best first.
    Known(&'a [Hit]),
}

impl Inner {
    /// The answer to a request, after the encoder was asked.
    pub(crate) fn recalled(
        &self,
        request: &RecallRequest,
        (dense, mode, waiting): DenseHits,
    ) -> Result<Recall, StoreError> {
        let asked_at = request.asked_at.unwrap_or_else(|| self.clock.now());
        let similar = match mode {
            SearchMode::WordsAndVectors => Similar::Known(&dense),
            SearchMode::Words | SearchMode::WordsBecause(_) => Similar::Unknown,
        };
        let hearing = self.hearing(request.listeners.as_ref())?;
        let (items, confidence) = self.recall(request, asked_at, similar, &hearing)?;
        let withheld = self.withheld(request, asked_at, similar, &hearing)?;
        let known = self.projection()?.index.len();
        Ok(Recall {
            items,
            confidence,
            is_calibrated: known as u64 >= CALIBRATED_FROM,
            mode,
            waiting,
            withheld,
        })
    }

    /// The records that match, in the requested form, and how likely it is that there is an answer among all records.
    fn recall(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        similar: Similar<'_>,
        hearing: &Hearing,
    ) -> Result<(Vec<Recollection>, f32), StoreError> {
        let depth = request.depth();
        let spare = repeating::with_spare(depth);
        let found = self.search(request, asked_at, similar, hearing, spare)?;
        // What stays in the answer is compared, not what is folded into it.
        let matches = repeating::folded(self.read_back(&found)?, depth);
        let (matches, confidence) = {
            let projection = self.projection()?;
            let hits = match similar {
                Similar::Unknown => &[][..],
                Similar::Known(hits) => hits,
            };
            let query = SearchQuery::new(request.question()).asked_at(asked_at);
            let query = query.dense(hits);
            let confidence = projection.index.confidence(&query, &found);
            let question = request.question();
            let matches = changed::newest_first(matches, question, &projection.index);
            (matches, confidence)
        };
        if confidence < request.min_confidence {
            return Ok((Vec::new(), confidence));
        }
        let items = match request.tokens {
            None => matches,
            Some(budget) => self.packed(request, asked_at, hearing, matches, budget)?,
        };
        Ok((items, confidence))
    }

    /// The `depth` records that match best, best first.
    fn search(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        similar: Similar<'_>,
        hearing: &Hearing,
        depth: usize,
    ) -> Result<Vec<SearchMatch>, StoreError> {
        let (dense, only) = match (similar, request.min_score) {
            (Similar::Unknown, _) => (&[][..], None),
            (Similar::Known(hits), None) => (hits, None),
            // A least similarity excludes records that match by words alone, too.
            (Similar::Known(hits), Some(_)) => {
                let only: BTreeSet<u64> = hits.iter().map(|hit| hit.id).collect();
                (hits, Some(only))
            }
        };
        let projection = self.projection()?;
        let admit = |id: u64| {
            projection
                .metas
                .get(RecordId::from_number(id))
                .is_some_and(|meta| admits(request, asked_at, meta) && hearing.admits(meta))
                && !request.without.contains(&RecordId::from_number(id))
                && only.as_ref().is_none_or(|only| only.contains(&id))
        };
        let mut query = SearchQuery::new(request.question())
            .asked_at(asked_at)
            .dense(dense)
            .admit(&admit);
        if let Some(asker) = &request.asked_by {
            query = query.asked_by(Speaker {
                name: "",
                id: Some(asker.as_str()),
            });
        }
        Ok(projection.index.search(&query, depth))
    }

    /// The records behind the matches.
    fn read_back(&self, matches: &[SearchMatch]) -> Result<Vec<Recollection>, StoreError> {
        let ids: Vec<_> = matches
            .iter()
            .map(|one| RecordId::from_number(one.id))
            .collect();
        let records = self.store.read(|reading| reading.records(&ids))?;
        let pairs = matches.iter().zip(records);
        Ok(pairs
            .filter_map(|(one, record)| Some(recollection(one, record?)))
            .collect())
    }
}

fn recollection(one: &SearchMatch, record: Record) -> Recollection {
    Recollection {
        record,
        role: Role::Match,
        score: one.score,
        parts: parts_of(&one.parts),
        folded: Vec::new(),
        updated_by: None,
        passage: one.passage,
        excerpt: None,
        tokens: 0,
    }
}

/// The trust that a record needs to be in the answer.
fn least_trust(request: &RecallRequest, meta: &Meta) -> Trust {
    if meta.is_quotation {
        request.min_quote_trust
    } else {
        request.min_trust
    }
}

/// Whether a record may be in the answer.
fn admits(request: &RecallRequest, asked_at: Timestamp, meta: &Meta) -> bool {
    let valid_at = |at| meta.valid_from <= at && at < meta.valid_until;
    let valid = match request.validity {
        // The beginning is not compared: a plan for next week is known before it begins.
        Validity::Now => asked_at < meta.valid_until,
        Validity::At(at) => valid_at(at),
        Validity::Any => true,
    };
    valid
        && meta.in_use
        && meta.trust >= least_trust(request, meta)
        && (request.kinds.is_empty() || request.kinds.contains(&meta.kind))
        && (request.collections.is_empty() || request.collections.contains(&meta.collection))
        && request.from.is_none_or(|from| meta.at >= from)
        && request.until.is_none_or(|until| meta.at < until)
}
