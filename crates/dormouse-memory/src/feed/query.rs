//! Asking the index.

use std::time::Duration;

use dormouse_contracts::{Embedder, Hit, PointFilter, VectorErrorKind};
use dormouse_resilience::deadline;

use super::{Refusal, Trouble, Vectors, embed::is_usable};
use crate::{
    memory::{Memory, MemoryError, blocking},
    recall::{Fallback, RecallRequest},
    record::Shelf,
    spaces::{self, SpaceState},
};

/// How many similar records are asked for, so that those that words find too are among them.
const HITS: usize = 1_000;
/// How many records recall itself embeds before it asks.
const ON_THE_WAY: usize = 16;
/// How long recall spends on bringing vectors up to date.
const ON_THE_WAY_LIMIT: Duration = Duration::from_millis(500);
/// How long the encoder has for a question, and the index for each shelf.
const QUESTION_LIMIT: Duration = Duration::from_secs(2);

impl Memory {
    /// The records most similar to a question, best first.
    pub(crate) async fn similar(
        &self,
        vectors: &Vectors,
        request: &RecallRequest,
    ) -> Result<Vec<Hit>, Trouble> {
        // What is late is found by words alone this time.
        if let Ok(mut feeding) = vectors.feeding.try_lock() {
            let tending = self.tend_holding(vectors, &mut feeding, ON_THE_WAY);
            if let Ok(Err(error)) = deadline(ON_THE_WAY_LIMIT, tending).await {
                // A disk that is full keeps nobody from asking.
                tracing::warn!(%error, "vectors could not be brought up to date");
            }
        }
        self.ask(vectors, request).await
    }

    async fn ask(&self, vectors: &Vectors, request: &RecallRequest) -> Result<Vec<Hit>, Trouble> {
        let spaces = self.spaces().await?;
        let Some(space) = spaces::in_state(&spaces, SpaceState::Active) else {
            return Err(Trouble::Fallback(Fallback::NotEmbedded));
        };
        if !spaces::is_same(&space.encoder, &vectors.encoder.info()) {
            return Err(Trouble::Fallback(Fallback::EncoderChanged));
        }
        if !self.has_vectors(space.number).await? {
            return Err(Trouble::Fallback(Fallback::NotEmbedded));
        }
        self.hits(vectors, vectors.encoder.as_ref(), space.number, request)
            .await
    }

    /// Whether anything has been embedded in a space.
    async fn has_vectors(&self, space: u32) -> Result<bool, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || {
            let checkpoint = spaces::embedded_through(space);
            Ok(inner.store.read(|reading| reading.state(&checkpoint))? > 0)
        })
        .await
    }

    /// The hits in one space, with the encoder of that space.
    pub(crate) async fn hits(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: u32,
        request: &RecallRequest,
    ) -> Result<Vec<Hit>, Trouble> {
        let text = vec![request.question().to_owned()];
        let query = vectors.encode(encoder, &text, QUESTION_LIMIT).await?;
        let Some(query) = query.first().filter(|query| is_usable(query)) else {
            return Err(Trouble::Fallback(Fallback::Encoder));
        };
        let filter = PointFilter {
            assistant: Some(self.inner.assistant.clone()),
            min_trust: Some(request.min_trust),
            from: request.from,
            until: request.until,
        };
        let mut hits = Vec::new();
        for shelf in Shelf::ALL {
            if !request.shelves.is_empty() && !request.shelves.contains(&shelf) {
                continue;
            }
            let collection = self.inner.collection(shelf, space)?;
            let limit = HITS.max(request.depth());
            let found = vectors
                .call_within(
                    QUESTION_LIMIT,
                    vectors.index.search(&collection, query, &filter, limit),
                )
                .await;
            match found {
                Ok(found) => hits.extend(found),
                // Nothing was put on that shelf yet, or the server has been set back.
                Err(Refusal::Failed(VectorErrorKind::Missing)) => {
                    if let Ok(mut feeding) = vectors.feeding.try_lock()
                        && feeding.prepared.remove(&collection)
                    {
                        feeding.verified.remove(&space);
                    }
                }
                Err(Refusal::Failed(VectorErrorKind::Dimension { .. })) => {
                    return Err(Trouble::Fallback(Fallback::EncoderChanged));
                }
                Err(refusal) => return Err(refusal.into()),
            }
        }
        if let Some(least) = request.min_score {
            hits.retain(|hit| hit.score >= least);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(HITS.max(request.depth()));
        Ok(hits)
    }
}
