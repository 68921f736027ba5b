//! Feeding an index from the vectors in the store.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{CollectionName, Point, PointPayload, VectorErrorKind};

use super::{Feeding, Refusal, STEP, Tended, Trouble, Vectors, forgets};
use crate::{
    change::ChangeSeq,
    memory::{Memory, MemoryError, blocking},
    record::{RecordId, Shelf},
    spaces::{self, Space},
    store::{Fault, Reading},
};

/// What the next changes mean for the index.
struct Batch {
    points: BTreeMap<Shelf, Vec<Point>>,
    gone: BTreeMap<Shelf, Vec<u64>>,
    through: ChangeSeq,
}

impl Memory {
    /// Feeds the index from `space` through the last change that is embedded.
    pub(super) async fn feed(
        &self,
        vectors: &Vectors,
        feeding: &mut Feeding,
        space: &Space,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        loop {
            self.feed_through(vectors, feeding, space, tended).await?;
            if feeding.verified.contains(&space.number) {
                return Ok(());
            }
            match self.holds_all(vectors, space).await? {
                // It is looked at again when nothing is newer than what was fed.
                None => return Ok(()),
                Some(true) => {}
                Some(false) => {
                    tracing::warn!(index = %vectors.index.identity(), "the vector index has lost points and is fed anew");
                    self.start_over(vectors, feeding, space).await?;
                }
            }
            feeding.verified.insert(space.number);
        }
    }

    async fn feed_through(
        &self,
        vectors: &Vectors,
        feeding: &mut Feeding,
        space: &Space,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let checkpoint = spaces::fed_through(space.number, &vectors.index.identity());
        loop {
            let volatile = forgets(vectors.index.as_ref())
                .then(|| vectors.volatile().get(&space.number).copied().unwrap_or(0));
            let inner = self.inner.clone();
            let (number, name) = (space.number, checkpoint.clone());
            let batch = blocking(move || {
                Ok(inner.store.read(|reading| {
                    let after = match volatile {
                        Some(after) => after,
                        None => reading.state(&name)?,
                    };
                    next_batch(reading, &inner.assistant, number, after)
                })?)
            })
            .await?;
            let Some(batch) = batch else {
                return Ok(());
            };
            let through = batch.through;
            tended.fed += self.give(vectors, feeding, space, batch).await?;
            if volatile.is_some() {
                vectors.volatile().insert(space.number, through);
            } else {
                let name = checkpoint.clone();
                self.keep(move |writing, _| writing.set_state(&name, through))
                    .await?;
            }
        }
    }

    /// Gives one batch to the index. Giving it again changes nothing.
    async fn give(
        &self,
        vectors: &Vectors,
        feeding: &mut Feeding,
        space: &Space,
        batch: Batch,
    ) -> Result<u64, Trouble> {
        let mut given = 0;
        for (shelf, points) in batch.points {
            let collection = self.inner.collection(shelf, space.number)?;
            if let (false, Some(first)) = (feeding.prepared.contains(&collection), points.first()) {
                let length = first.vector.len();
                vectors
                    .call(vectors.index.prepare(&collection, length))
                    .await?;
                feeding.prepared.insert(collection.clone());
            }
            let upserted = vectors
                .call(vectors.index.upsert(&collection, &points))
                .await;
            self.or_missing(feeding, &collection, space, upserted)?;
            given += points.len();
        }
        for (shelf, ids) in batch.gone {
            let collection = self.inner.collection(shelf, space.number)?;
            let removed = vectors.call(vectors.index.remove(&collection, &ids)).await;
            match removed {
                // Where there is no collection there is no point to remove.
                Ok(()) | Err(Refusal::Failed(VectorErrorKind::Missing)) => given += ids.len(),
                Err(refusal) => return Err(refusal.into()),
            }
        }
        Ok(u64::try_from(given).unwrap_or(u64::MAX))
    }

    /// A collection that has gone since it was prepared: the server has been set back, so all is to be looked at again.
    fn or_missing(
        &self,
        feeding: &mut Feeding,
        collection: &CollectionName,
        space: &Space,
        answer: Result<(), Refusal>,
    ) -> Result<(), Trouble> {
        if answer == Err(Refusal::Failed(VectorErrorKind::Missing)) {
            feeding.prepared.remove(collection);
            feeding.verified.remove(&space.number);
        }
        Ok(answer?)
    }

    /// Whether the index has as many points as it should; `None` if that cannot be told, because records have changed
    /// since it was fed.
    async fn holds_all(&self, vectors: &Vectors, space: &Space) -> Result<Option<bool>, Trouble> {
        if forgets(vectors.index.as_ref()) {
            return Ok(Some(true));
        }
        let name = spaces::fed_through(space.number, &vectors.index.identity());
        let inner = self.inner.clone();
        let number = space.number;
        let expected = blocking(move || {
            Ok(inner.store.read(|reading| {
                let is_current = reading.state(&name)? == reading.last_change()?;
                is_current.then(|| count(reading, number)).transpose()
            })?)
        })
        .await?;
        let Some(expected) = expected else {
            return Ok(None);
        };
        for (shelf, expected) in expected {
            let collection = self.inner.collection(shelf, space.number)?;
            let found = vectors.call(vectors.index.count(&collection)).await?;
            if found.unwrap_or(0) != expected {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// Empties the index and feeds it anew from the vectors in the store; no text is embedded again. Does nothing
    /// without an encoder.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`](crate::MemoryError::Store) if the file fails. An index that fails is no error: see
    /// [`Tended::trouble`].
    pub async fn refeed(&self) -> Result<Tended, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(Tended::default());
        };
        for space in self.spaces().await? {
            match self.discard_points(vectors, &space).await {
                Ok(()) => {}
                Err(Trouble::Memory(error)) => return Err(error),
                Err(Trouble::Fallback(fallback)) => {
                    return Ok(Tended {
                        trouble: Some(fallback),
                        ..Tended::default()
                    });
                }
            }
        }
        self.tend(usize::MAX).await
    }

    /// Removes the collections of a space.
    pub(crate) async fn discard_points(
        &self,
        vectors: &Vectors,
        space: &Space,
    ) -> Result<(), Trouble> {
        let mut feeding = vectors.feeding.lock().await;
        self.start_over(vectors, &mut feeding, space).await
    }

    async fn start_over(
        &self,
        vectors: &Vectors,
        feeding: &mut Feeding,
        space: &Space,
    ) -> Result<(), Trouble> {
        // First of all it counts as not fed, so that it is fed again if this is stopped anywhere.
        vectors.volatile().remove(&space.number);
        feeding.verified.remove(&space.number);
        let name = spaces::fed_through(space.number, &vectors.index.identity());
        self.keep(move |writing, _| writing.remove_state(&name))
            .await?;
        for shelf in Shelf::ALL {
            let collection = self.inner.collection(shelf, space.number)?;
            feeding.prepared.remove(&collection);
            vectors.call(vectors.index.discard(&collection)).await?;
        }
        Ok(())
    }
}

/// What the changes after `after` mean for the index; `None` if it has all that is embedded.
fn next_batch(
    reading: &Reading,
    assistant: &dormouse_contracts::AssistantId,
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
                batch.points.entry(record.shelf).or_default().push(Point {
                    id: id.0,
                    vector,
                    payload,
                });
            }
            Some(_) | None => batch.gone.entry(record.shelf).or_default().push(id.0),
        }
    }
    Ok(Some(batch))
}

/// How many points each shelf should have now.
fn count(reading: &Reading, space: u32) -> Result<BTreeMap<Shelf, u64>, Fault> {
    let mut counts: BTreeMap<Shelf, u64> = Shelf::ALL.into_iter().map(|shelf| (shelf, 0)).collect();
    for id in reading.embedded(space)? {
        if let Some(record) = reading.record(id)?
            && record.is_in_use()
        {
            *counts.entry(record.shelf).or_default() += 1;
        }
    }
    Ok(counts)
}
