//! Feeding an index from the vectors in the store.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dormouse_contracts::{Point, PointPayload};
use tokio::time::Instant;

use super::{CALL_LIMIT, STEP, Tended, Trouble, Vectors, fed::Check, forgets, guarded::Refusal};
use crate::{
    change::ChangeSeq,
    memory::{Memory, MemoryError, blocking},
    recall::Fallback,
    record::{RecordId, Shelf},
    spaces::{self, Space},
    store::{Fault, Reading},
};

/// How long making or removing a collection may take: a cluster with a dead node takes longer than ten seconds.
const MAKING_LIMIT: Duration = Duration::from_secs(90);

/// What the next changes mean for the index.
struct Batch {
    points: BTreeMap<Shelf, Vec<Point>>,
    gone: BTreeMap<Shelf, Vec<u64>>,
    through: ChangeSeq,
}

impl Memory {
    /// Feeds the index from `space` through the last change that is embedded. An index that does not hold what it was
    /// given is emptied and fed anew.
    pub(super) async fn feed(
        &self,
        vectors: &Vectors,
        space: &Space,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let checked = vectors.knowledge.check(space.number);
        let mut complete = matches!(checked, Some(Check::Complete(_)));
        let mut is_fresh = false;
        if checked == Some(Check::Lost) {
            self.start_over(vectors, space).await?;
            is_fresh = true;
        }
        loop {
            match self.feed_through(vectors, space, tended).await {
                Ok(()) if complete => return Ok(()),
                // What was fed from the start just now is not counted: it would be no surer.
                Ok(()) if is_fresh => break,
                Ok(()) => match self.holds_all(vectors, space).await? {
                    // It is looked at again when nothing is newer than what was fed.
                    None => return Ok(()),
                    Some(true) => break,
                    Some(false) => {}
                },
                Err(Trouble::Lost) if !is_fresh => {}
                Err(trouble) => {
                    vectors.knowledge.doubt();
                    return Err(trouble);
                }
            }
            let index = vectors.index.port.identity();
            tracing::warn!(index, "the vector index has lost points and is fed anew");
            self.start_over(vectors, space).await?;
            (is_fresh, complete) = (true, false);
        }
        let now = Instant::now();
        vectors
            .knowledge
            .set_check(space.number, Check::Complete(now));
        Ok(())
    }

    async fn feed_through(
        &self,
        vectors: &Vectors,
        space: &Space,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let mut fed = self.fed(space.number).await?;
        loop {
            let inner = self.inner.clone();
            let (number, after) = (space.number, fed.through);
            let batch = blocking(move || {
                let next = |reading: &Reading| next_batch(reading, &inner.assistant, number, after);
                Ok(inner.store.read(next)?)
            });
            let Some(batch) = batch.await? else {
                return Ok(());
            };
            fed.through = batch.through;
            tended.fed += self.give(vectors, space, batch, &mut fed.made).await?;
            self.keep_fed(space.number, &fed).await?;
        }
    }

    /// Gives one batch to the index, in the collections that were made and those it has to make. Giving it again changes
    /// nothing.
    async fn give(
        &self,
        vectors: &Vectors,
        space: &Space,
        batch: Batch,
        made: &mut BTreeSet<Shelf>,
    ) -> Result<u64, Trouble> {
        let index = &vectors.index;
        let mut given = 0;
        for (shelf, points) in batch.points {
            let name = self.inner.collection(shelf, space.number)?;
            // One that was made is not made again: that it is gone must show.
            if let (false, Some(first)) = (made.contains(&shelf), points.first()) {
                let prepare = index.port.prepare(&name, first.vector.len());
                lost_or(index.write(MAKING_LIMIT, prepare).await)?;
                made.insert(shelf);
            }
            lost_or(
                index
                    .write(CALL_LIMIT, index.port.upsert(&name, &points))
                    .await,
            )?;
            given += points.len();
        }
        for (shelf, ids) in batch.gone {
            given += ids.len();
            // Where there is no collection there is no point to remove.
            if made.contains(&shelf) {
                let name = self.inner.collection(shelf, space.number)?;
                lost_or(
                    index
                        .write(CALL_LIMIT, index.port.remove(&name, &ids))
                        .await,
                )?;
            }
        }
        Ok(u64::try_from(given).unwrap_or(u64::MAX))
    }

    /// Whether the index has as many points as it should; `None` if that cannot be told, because records have changed
    /// since it was fed.
    async fn holds_all(&self, vectors: &Vectors, space: &Space) -> Result<Option<bool>, Trouble> {
        let index = &vectors.index;
        if forgets(index.port.as_ref()) {
            return Ok(Some(true));
        }
        let inner = self.inner.clone();
        let number = space.number;
        let expected = blocking(move || {
            Ok(inner.store.read(|reading| {
                let fed = inner.fed(reading, number)?;
                let is_current = fed.through == reading.last_change()?;
                let expected = is_current.then(|| count(reading, number)).transpose()?;
                Ok(expected.map(|expected| (expected, fed.made)))
            })?)
        });
        let Some((expected, made)) = expected.await? else {
            return Ok(None);
        };
        for (shelf, expected) in expected {
            if expected == 0 && !made.contains(&shelf) {
                continue;
            }
            let name = self.inner.collection(shelf, space.number)?;
            let found = index.read(CALL_LIMIT, index.port.count(&name)).await?;
            if found.unwrap_or(0) != expected {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// Empties the index: [`Memory::tend`] feeds it anew from the vectors in the store, and no text is embedded again.
    /// Answers what kept it from that, if anything did. Does nothing without an encoder.
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
                Err(trouble) => return trouble.fallback().map(Some),
            }
        }
        Ok(None)
    }

    /// Removes the collections of a space.
    pub(crate) async fn discard_points(
        &self,
        vectors: &Vectors,
        space: &Space,
    ) -> Result<(), Trouble> {
        let _feeding = vectors.feeding.lock().await;
        self.start_over(vectors, space).await
    }

    /// Removes the points of a space, and then counts it as not fed. In this order, because recall drops this future when it
    /// takes too long, and a key that may only read discards nothing: what is there must still serve. After a restart
    /// the number of points shows what is missing.
    async fn start_over(&self, vectors: &Vectors, space: &Space) -> Result<(), Trouble> {
        vectors.knowledge.set_check(space.number, Check::Lost);
        for shelf in Shelf::ALL {
            let name = self.inner.collection(shelf, space.number)?;
            let discard = vectors.index.port.discard(&name);
            vectors.index.write(MAKING_LIMIT, discard).await?;
        }
        Ok(self.forget_fed(space.number).await?)
    }
}

/// Tells that the index has lost what it was given from other failures.
fn lost_or(answer: Result<(), Refusal>) -> Result<(), Trouble> {
    match answer {
        Err(refusal) if refusal.is_loss() => Err(Trouble::Lost),
        answer => Ok(answer?),
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
pub(super) fn count(reading: &Reading, space: u32) -> Result<BTreeMap<Shelf, u64>, Fault> {
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
