//! Searching the index for what is similar to a question.

use std::{collections::BTreeSet, error::Error, num::NonZeroUsize, time::Duration};

use dormouse_contracts::{Embedder, Embedding, Hit, PointFilter};
use dormouse_resilience::deadline;

use super::progress::IndexingError;
use crate::{
    fallback::Fallback,
    memory::{Memory, blocking},
    recall::RecallRequest,
    record::Collection,
    spaces::{self, Space, SpaceState},
    vectors::{IndexCheck, Vectors, is_usable},
};

/// How many similar records the index is asked for. The number is so large that the records that match by words are
/// usually among them.
const HITS: usize = 1_000;
/// How many it is asked for at most, if the nearest may not be shown to the listeners.
const MOST_HITS: usize = 64_000;
/// How many records recall itself embeds before it searches.
const BEFORE_SEARCH: usize = 16;
/// How long recall spends on bringing vectors up to date.
const BEFORE_SEARCH_LIMIT: Duration = Duration::from_millis(500);
/// How long the encoder may take for a question, and the index for each collection.
const QUESTION_LIMIT: Duration = Duration::from_secs(2);

impl Memory {
    /// The records most similar to a question, best first.
    pub(crate) async fn similar(
        &self,
        vectors: &Vectors,
        request: &RecallRequest,
    ) -> Result<Vec<Hit>, IndexingError> {
        // Records without a vector are found by words alone this time, so recall waits for indexing only briefly, and not
        // at all while another task does it.
        if self.may_index(vectors)
            && let Ok(_indexing) = vectors.indexing.try_lock()
        {
            let indexing = self.index_while_locked(vectors, BEFORE_SEARCH);
            if let Ok(Err(error)) = deadline(BEFORE_SEARCH_LIMIT, indexing).await {
                // Searching needs no room on the disk, so a full disk must not prevent it.
                let error = &error as &dyn Error;
                tracing::warn!(error, "vectors could not be brought up to date");
            }
        }
        self.search_active(vectors, request).await
    }

    /// Whether this memory may fill the index. A view must not change a lasting index, which belongs to the process that
    /// has the file open; a volatile one is its own.
    fn may_index(&self, vectors: &Vectors) -> bool {
        self.inner.store.view().is_none() || vectors.index.is_volatile()
    }

    async fn search_active(
        &self,
        vectors: &Vectors,
        request: &RecallRequest,
    ) -> Result<Vec<Hit>, IndexingError> {
        let spaces = self.spaces().await?;
        let Some(space) = spaces::in_state(&spaces, SpaceState::Active) else {
            return Err(IndexingError::Fallback(Fallback::NotEmbedded));
        };
        if !spaces::is_same(&space.encoder, &vectors.encoder.info()) {
            return Err(IndexingError::Fallback(Fallback::EncoderChanged));
        }
        self.hits(vectors, vectors.encoder.as_ref(), space, request)
            .await
    }

    /// The hits in one space, with the encoder of that space.
    pub(crate) async fn hits(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        request: &RecallRequest,
    ) -> Result<Vec<Hit>, IndexingError> {
        let checkpoint = self.index_checkpoint(space.number).await?;
        if checkpoint.through == 0 {
            return Err(IndexingError::Fallback(Fallback::NotEmbedded));
        }
        let text = vec![request.question().to_owned()];
        let query = vectors.encode(encoder, &text, QUESTION_LIMIT).await?;
        let Some(query) = query.first().filter(|query| is_usable(query)) else {
            return Err(IndexingError::Fallback(Fallback::Encoder));
        };
        let length = space.encoder.dimensions.map(NonZeroUsize::get);
        if length.is_some_and(|length| length != query.len()) {
            return Err(IndexingError::Fallback(Fallback::EncoderChanged));
        }
        let filter = PointFilter {
            assistant: Some(self.inner.assistant.clone()),
            min_trust: Some(request.min_trust),
            from: request.from,
            until: request.until,
        };
        let (inner, listeners) = (self.inner.clone(), request.listeners.clone());
        // The search index may have to be read first.
        let hearing = blocking(move || Ok(inner.hearing(listeners.as_ref())?)).await?;
        let depth = request.depth();
        let mut limit = HITS.max(depth);
        loop {
            let made = &checkpoint.made;
            let hits = self
                .nearest(vectors, space, request, (query, &filter, made), limit)
                .await?;
            // An index does not know audiences, so records that may not be recalled take places among its hits.
            let is_cut = hits.len() >= limit;
            if !is_cut || limit >= MOST_HITS || self.inner.heard_among(&hits, &hearing)? >= depth {
                return Ok(hits);
            }
            limit = limit.saturating_mul(4).min(MOST_HITS);
        }
    }

    /// The nearest `limit` hits of all collections, best first.
    async fn nearest(
        &self,
        vectors: &Vectors,
        space: &Space,
        request: &RecallRequest,
        (query, filter, collections): (&Embedding, &PointFilter, &BTreeSet<Collection>),
        limit: usize,
    ) -> Result<Vec<Hit>, IndexingError> {
        let mut hits = Vec::new();
        for collection in collections.iter().copied() {
            if !request.collections.is_empty() && !request.collections.contains(&collection) {
                continue;
            }
            let name = self.inner.collection_name(collection, space.number)?;
            let search = vectors.index.port.search(&name, query, filter, limit);
            match vectors.index.read(QUESTION_LIMIT, search).await {
                Ok(nearest) => hits.extend(nearest),
                Err(refusal) => {
                    if refusal.is_loss() {
                        let knowledge = &vectors.knowledge;
                        knowledge.set_check(space.number, IndexCheck::Lost);
                    } else {
                        vectors.knowledge.doubt();
                    }
                    return Err(refusal.into());
                }
            }
        }
        if let Some(least) = request.min_score {
            hits.retain(|hit| hit.score >= least);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(limit);
        Ok(hits)
    }
}
