//! Asking the index.

use std::{error::Error, num::NonZeroUsize, time::Duration};

use dormouse_contracts::{Embedder, Hit, PointFilter};
use dormouse_resilience::deadline;

use super::{Trouble, Vectors, embed::is_usable, fed::Check, forgets};
use crate::{
    memory::Memory,
    recall::{Fallback, RecallRequest},
    spaces::{self, Space, SpaceState},
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
        // What is late is found by words alone this time. A view feeds only what is its own and gone with it.
        if self.may_feed(vectors)
            && let Ok(_feeding) = vectors.feeding.try_lock()
        {
            let tending = self.tend_holding(vectors, ON_THE_WAY);
            if let Ok(Err(error)) = deadline(ON_THE_WAY_LIMIT, tending).await {
                // A disk that is full keeps nobody from asking.
                let error = &error as &dyn Error;
                tracing::warn!(error, "vectors could not be brought up to date");
            }
        }
        self.ask(vectors, request).await
    }

    fn may_feed(&self, vectors: &Vectors) -> bool {
        self.inner.store.view().is_none() || forgets(vectors.index.port.as_ref())
    }

    async fn ask(&self, vectors: &Vectors, request: &RecallRequest) -> Result<Vec<Hit>, Trouble> {
        let spaces = self.spaces().await?;
        let Some(space) = spaces::in_state(&spaces, SpaceState::Active) else {
            return Err(Trouble::Fallback(Fallback::NotEmbedded));
        };
        if !spaces::is_same(&space.encoder, &vectors.encoder.info()) {
            return Err(Trouble::Fallback(Fallback::EncoderChanged));
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
    ) -> Result<Vec<Hit>, Trouble> {
        let fed = self.fed(space.number).await?;
        if fed.through == 0 {
            return Err(Trouble::Fallback(Fallback::NotEmbedded));
        }
        let text = vec![request.question().to_owned()];
        let query = vectors.encode(encoder, &text, QUESTION_LIMIT).await?;
        let Some(query) = query.first().filter(|query| is_usable(query)) else {
            return Err(Trouble::Fallback(Fallback::Encoder));
        };
        let length = space.encoder.dimensions.map(NonZeroUsize::get);
        if length.is_some_and(|length| length != query.len()) {
            return Err(Trouble::Fallback(Fallback::EncoderChanged));
        }
        let filter = PointFilter {
            assistant: Some(self.inner.assistant.clone()),
            min_trust: Some(request.min_trust),
            from: request.from,
            until: request.until,
        };
        let mut hits = Vec::new();
        for shelf in fed.made {
            if !request.shelves.is_empty() && !request.shelves.contains(&shelf) {
                continue;
            }
            let collection = self.inner.collection(shelf, space.number)?;
            let limit = HITS.max(request.depth());
            let search = vectors
                .index
                .port
                .search(&collection, query, &filter, limit);
            match vectors.index.read(QUESTION_LIMIT, search).await {
                Ok(found) => hits.extend(found),
                Err(refusal) => {
                    if refusal.is_loss() {
                        let knowledge = &vectors.knowledge;
                        knowledge.set_check(space.number, Check::Lost);
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
        hits.truncate(HITS.max(request.depth()));
        Ok(hits)
    }
}
