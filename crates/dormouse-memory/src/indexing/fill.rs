//! Filling an index with the vectors in the store.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dormouse_contracts::{AssistantId, Point, PointPayload};
use tokio::time::Instant;

use super::{
    expected::expected_points,
    progress::{IndexProgress, IndexingError},
};
use crate::{
    change::ChangeSeq,
    fallback::Fallback,
    memory::{Memory, MemoryError, blocking},
    record::{Collection, RecordId},
    spaces::{self, Space},
    store::{Fault, Reading},
    vectors::{CALL_LIMIT, IndexCheck, IndexRefusal, Vectors},
};

/// How many changes are looked at in one step.
const STEP: usize = 128;
/// How long creating or removing a collection may take: a cluster with a dead node takes longer than ten seconds.
const MAKING_LIMIT: Duration = Duration::from_secs(90);

/// The changes of the index that follow from the next changes of the memory.
struct Batch {
    points: BTreeMap<Collection, Vec<Point>>,
    gone: BTreeMap<Collection, Vec<u64>>,
    through: ChangeSeq,
}

impl Memory {
    /// Fills the index from `space` through the last change that is embedded. An index that has lost what was sent
    /// to it is emptied and filled again.
    pub(super) async fn fill_index(
        &self,
        vectors: &Vectors,
        space: &Space,
        progress: &mut IndexProgress,
    ) -> Result<(), IndexingError> {
        let checked = vectors.knowledge.check(space.number);
        let mut complete = matches!(checked, Some(IndexCheck::Complete(_)));
        // True once this call has emptied the index. A second loss is then reported and not repaired, so that the loop
        // ends.
        let mut is_fresh = false;
        if checked == Some(IndexCheck::Lost) {
            self.clear_points(vectors, space).await?;
            is_fresh = true;
        }
        loop {
            match self.send_batches(vectors, space, progress).await {
                Ok(()) if complete => return Ok(()),
                // Points that were just sent are not counted: the index has acknowledged them, so the count adds
                // nothing.
                Ok(()) if is_fresh => break,
                Ok(()) => match self.holds_all(vectors, space).await? {
                    // Records changed meanwhile. A later call counts the points, when everything new has been
                    // sent.
                    None => return Ok(()),
                    Some(true) => break,
                    Some(false) => {}
                },
                Err(IndexingError::Lost) if !is_fresh => {}
                Err(error) => {
                    vectors.knowledge.doubt();
                    return Err(error);
                }
            }
            let index = vectors.index.port.identity();
            tracing::warn!(
                index,
                "the vector index has lost points and is filled again"
            );
            self.clear_points(vectors, space).await?;
            (is_fresh, complete) = (true, false);
        }
        let now = Instant::now();
        vectors
            .knowledge
            .set_check(space.number, IndexCheck::Complete(now));
        Ok(())
    }

    async fn send_batches(
        &self,
        vectors: &Vectors,
        space: &Space,
        progress: &mut IndexProgress,
    ) -> Result<(), IndexingError> {
        let mut checkpoint = self.index_checkpoint(space.number).await?;
        loop {
            let inner = self.inner.clone();
            let (number, after) = (space.number, checkpoint.through);
            let batch = blocking(move || {
                let next = |reading: &Reading| next_batch(reading, &inner.assistant, number, after);
                Ok(inner.store.read(next)?)
            });
            let Some(batch) = batch.await? else {
                return Ok(());
            };
            checkpoint.through = batch.through;
            progress.indexed += self
                .send(vectors, space, batch, &mut checkpoint.made)
                .await?;
            self.save_index_checkpoint(space.number, &checkpoint)
                .await?;
        }
    }

    /// Sends one batch to the index, and makes the collections that are not in `made` yet. Sending it again changes
    /// nothing.
    async fn send(
        &self,
        vectors: &Vectors,
        space: &Space,
        batch: Batch,
        made: &mut BTreeSet<Collection>,
    ) -> Result<u64, IndexingError> {
        let index = &vectors.index;
        let mut sent = 0;
        for (collection, points) in batch.points {
            let name = self.inner.collection_name(collection, space.number)?;
            // A collection that was made is not made again: if it is missing, the upsert must fail, so that the loss is
            // noticed.
            if let (false, Some(first)) = (made.contains(&collection), points.first()) {
                let prepare = index.port.prepare(&name, first.vector.len());
                lost_or(index.write(MAKING_LIMIT, prepare).await)?;
                made.insert(collection);
            }
            let upsert = index.port.upsert(&name, &points);
            lost_or(index.write(CALL_LIMIT, upsert).await)?;
            sent += points.len();
        }
        for (collection, ids) in batch.gone {
            sent += ids.len();
            // A collection that was never made has no point to remove.
            if made.contains(&collection) {
                let name = self.inner.collection_name(collection, space.number)?;
                let remove = index.port.remove(&name, &ids);
                lost_or(index.write(CALL_LIMIT, remove).await)?;
            }
        }
        Ok(u64::try_from(sent).unwrap_or(u64::MAX))
    }

    /// Whether the index has as many points as it should. `None` if records have changed since it was filled: then the
    /// numbers cannot be compared.
    async fn holds_all(
        &self,
        vectors: &Vectors,
        space: &Space,
    ) -> Result<Option<bool>, IndexingError> {
        let index = &vectors.index;
        if index.is_volatile() {
            return Ok(Some(true));
        }
        let inner = self.inner.clone();
        let number = space.number;
        let expected = blocking(move || {
            Ok(inner.store.read(|reading| {
                let checkpoint = inner.index_checkpoint(reading, number)?;
                let is_current = checkpoint.through == reading.last_change()?;
                let expected = is_current
                    .then(|| expected_points(reading, number))
                    .transpose()?;
                Ok(expected.map(|expected| (expected, checkpoint.made)))
            })?)
        });
        let Some((expected, made)) = expected.await? else {
            return Ok(None);
        };
        for (collection, expected) in expected {
            if expected == 0 && !made.contains(&collection) {
                continue;
            }
            let name = self.inner.collection_name(collection, space.number)?;
            let counted = index.read(CALL_LIMIT, index.port.count(&name)).await?;
            if counted.unwrap_or(0) != expected {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// Empties the index. [`Memory::index_pending`] fills it again from the vectors in the store; no text is embedded again.
    /// Returns what prevented it, if anything did. Does nothing without an encoder.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`](crate::MemoryError::Store) if the file fails.
    pub async fn empty_index(&self) -> Result<Option<Fallback>, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(None);
        };
        for space in self.spaces().await? {
            match self.discard_points(vectors, &space).await {
                Ok(()) => {}
                Err(error) => return error.fallback().map(Some),
            }
        }
        Ok(None)
    }

    /// Removes the collections of a space from the index.
    pub(crate) async fn discard_points(
        &self,
        vectors: &Vectors,
        space: &Space,
    ) -> Result<(), IndexingError> {
        let _indexing = vectors.indexing.lock().await;
        self.clear_points(vectors, space).await
    }

    /// Removes the points of a space, and then counts it as not indexed. The order matters, because recall drops this
    /// future when it takes too long, and because a read-only key cannot discard anything. Points that are left must
    /// stay searchable. After a restart the number of points shows that some are missing.
    async fn clear_points(&self, vectors: &Vectors, space: &Space) -> Result<(), IndexingError> {
        // Set first: if this future is dropped below, the next call empties the index.
        vectors.knowledge.set_check(space.number, IndexCheck::Lost);
        for collection in Collection::ALL {
            let name = self.inner.collection_name(collection, space.number)?;
            let discard = vectors.index.port.discard(&name);
            vectors.index.write(MAKING_LIMIT, discard).await?;
        }
        Ok(self.clear_index_checkpoint(space.number).await?)
    }
}

/// Distinguishes the loss of points or collections that were sent from other failures.
fn lost_or(answer: Result<(), IndexRefusal>) -> Result<(), IndexingError> {
    match answer {
        Err(refusal) if refusal.is_loss() => Err(IndexingError::Lost),
        answer => Ok(answer?),
    }
}

/// What the index needs because of the changes after `after`; `None` if it already has everything that is embedded.
fn next_batch(
    reading: &Reading,
    assistant: &AssistantId,
    space: u32,
    after: ChangeSeq,
) -> Result<Option<Batch>, Fault> {
    let embedded = reading.state(&spaces::embedded_through(space))?;
    let room = usize::try_from(embedded.saturating_sub(after)).unwrap_or(usize::MAX);
    let changes = reading.changes(after, room.min(STEP))?;
    let Some(last) = changes.last() else {
        return Ok(None);
    };
    let ids: BTreeSet<RecordId> = changes
        .iter()
        .flat_map(|stored| stored.change.records())
        .collect();
    let mut batch = Batch {
        points: BTreeMap::new(),
        gone: BTreeMap::new(),
        through: last.seq,
    };
    // The record is read in its present state, which may include later changes. Those changes send it again, without
    // effect.
    for id in ids {
        let Some(record) = reading.record(id)? else {
            continue;
        };
        let vector = reading
            .vector(space, id)?
            .filter(|vector| !vector.is_empty());
        match vector {
            Some(vector) if record.is_in_use() => {
                let payload = PointPayload {
                    assistant: assistant.clone(),
                    trust: record.trust,
                    at: record.at,
                };
                batch
                    .points
                    .entry(record.collection)
                    .or_default()
                    .push(Point {
                        id: id.to_number(),
                        vector,
                        payload,
                    });
            }
            Some(_) | None => batch
                .gone
                .entry(record.collection)
                .or_default()
                .push(id.to_number()),
        }
    }
    Ok(Some(batch))
}
