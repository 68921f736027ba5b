//! Making vectors, into the store.

use std::collections::BTreeSet;

use dormouse_contracts::Embedder;

use super::{STEP, Tended, Trouble, Vectors};
use crate::{
    change::ChangeSeq,
    memory::{Memory, blocking},
    recall::Fallback,
    record::{Record, RecordId},
    spaces::{self, Space},
    store::{Fault, Reading},
};

/// How much of a text an encoder is given, in bytes. Encoders read a few hundred words.
const TEXT_BYTES: usize = 8 * 1024;

/// The next records to embed, and the checkpoint that is reached with them.
struct Batch {
    records: Vec<(RecordId, String)>,
    through: ChangeSeq,
}

impl Memory {
    /// Embeds what has no vector in `space` yet, in the order of changes, until about `most` records are done.
    pub(super) async fn embed(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        most: usize,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let mut done = 0;
        while done < most {
            let inner = self.inner.clone();
            let number = space.number;
            let room = (most - done).min(STEP);
            let batch =
                blocking(move || Ok(inner.store.read(|r| next_batch(r, number, room))?)).await?;
            let Some(batch) = batch else {
                return Ok(());
            };
            done += batch.records.len();
            self.embed_batch(vectors, encoder, space, batch, tended)
                .await?;
        }
        Ok(())
    }

    async fn embed_batch(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        batch: Batch,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let (ids, texts): (Vec<_>, Vec<_>) = batch.records.into_iter().unzip();
        let mut made = Vec::new();
        if !texts.is_empty() {
            made = vectors.encode(encoder, &texts).await?;
            if made.iter().all(|vector| !is_usable(vector)) {
                tracing::warn!("the encoder answered no vector that has a direction");
                return Err(Trouble::Fallback(Fallback::Encoder));
            }
        }
        let length = made.iter().find(|vector| is_usable(vector)).map(Vec::len);
        let expected = space.encoder.dimensions.map(usize::from).or(length);
        if made
            .iter()
            .any(|vector| is_usable(vector) && Some(vector.len()) != expected)
        {
            tracing::warn!(?expected, "the encoder answers vectors of another length");
            return Err(Trouble::Fallback(Fallback::EncoderChanged));
        }
        tended.embedded += u64::try_from(ids.len()).unwrap_or(u64::MAX);
        let mut space = space.clone();
        space.encoder.dimensions = expected.and_then(std::num::NonZeroUsize::new);
        self.keep(move |writing, _| {
            for (id, vector) in ids.iter().zip(&made) {
                let vector = if is_usable(vector) { vector } else { &[][..] };
                writing.put_vector(space.number, *id, vector)?;
            }
            writing.put_space(space.number, &space)?;
            writing.set_state(&spaces::embedded_through(space.number), batch.through)?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}

/// Whether a vector has a direction.
pub(super) fn is_usable(vector: &[f32]) -> bool {
    vector.iter().all(|n| n.is_finite()) && vector.iter().any(|n| *n != 0.0)
}

/// The records of the next changes that have no vector yet; `None` if there is no further change.
fn next_batch(reading: &Reading, space: u32, room: usize) -> Result<Option<Batch>, Fault> {
    let after = reading.state(&spaces::embedded_through(space))?;
    let changes = reading.changes(after, room)?;
    let Some(last) = changes.last() else {
        return Ok(None);
    };
    let through = last.seq;
    let ids: BTreeSet<RecordId> = changes
        .iter()
        .flat_map(|stored| stored.change.records())
        .collect();
    let mut records = Vec::new();
    for id in ids {
        if reading.vector(space, id)?.is_none()
            && let Some(record) = reading.record(id)?
            && record.is_in_use()
        {
            records.push((id, text_of(&record)));
        }
    }
    Ok(Some(Batch { records, through }))
}

/// What an encoder reads of a record: who said it, and what.
pub(crate) fn text_of(record: &Record) -> String {
    let mut end = record.text.len().min(TEXT_BYTES);
    while !record.text.is_char_boundary(end) {
        end -= 1;
    }
    let text = record.text.get(..end).unwrap_or_default();
    match &record.speaker {
        Some(speaker) => format!("{}: {text}", speaker.name),
        None => text.to_owned(),
    }
}
