//! Making vectors, into the store.

use std::collections::BTreeSet;

use dormouse_contracts::Embedder;
use dormouse_text::beginning_bytes;

use super::{CALL_LIMIT, STEP, TEXT_LIMIT, Tended, Trouble, Vectors};
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

/// A text that every encoder has a vector for.
const WITNESS: &str = "The tea is on the table.";

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
            let seconds = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            let limit = CALL_LIMIT + TEXT_LIMIT * seconds;
            made = vectors.encode(encoder, &texts, limit).await?;
            asked_again(vectors, encoder, &texts, &mut made).await?;
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
        let number = space.number;
        self.keep(move |writing, _| {
            // Much may have happened while the encoder worked.
            let spaces = spaces::now(writing)?;
            let Some(mut space) = spaces.into_iter().find(|space| space.number == number) else {
                return Ok(());
            };
            for (id, vector) in ids.iter().zip(&made) {
                let record = writing.record(*id)?;
                if record.is_some_and(|record| !record.text.is_empty()) {
                    let vector = if is_usable(vector) { vector } else { &[][..] };
                    writing.put_vector(number, *id, vector)?;
                }
            }
            space.encoder.dimensions = expected.and_then(std::num::NonZeroUsize::new);
            writing.put_space(number, &space)?;
            writing.set_state(&spaces::embedded_through(number), batch.through)
        })
        .await?;
        Ok(())
    }
}

/// Asks once more for the vectors that are of no use, with a text beside them that any encoder understands. If that one
/// is of no use either, the encoder ails; if it is, the texts are what no vector can be had for, and the rest goes on.
async fn asked_again(
    vectors: &Vectors,
    encoder: &dyn Embedder,
    texts: &[String],
    made: &mut [Vec<f32>],
) -> Result<(), Trouble> {
    let useless = |vector: &&mut Vec<f32>| !is_usable(vector);
    let places = texts.iter().zip(made.iter_mut());
    let (mut again, missing): (Vec<String>, Vec<&mut Vec<f32>>) = places
        .filter(|(_, vector)| useless(vector))
        .map(|(text, vector)| (text.clone(), vector))
        .unzip();
    if missing.is_empty() {
        return Ok(());
    }
    again.push(WITNESS.to_owned());
    let mut answered = vectors.encode(encoder, &again, CALL_LIMIT).await?;
    if !answered.pop().is_some_and(|witness| is_usable(&witness)) {
        tracing::warn!("the encoder answered no vector that has a direction");
        return Err(Trouble::Fallback(Fallback::Encoder));
    }
    for (vector, second) in missing.into_iter().zip(answered) {
        *vector = second;
    }
    Ok(())
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
    let text = beginning_bytes(&record.text, TEXT_BYTES);
    match &record.speaker {
        Some(speaker) => format!("{}: {text}", speaker.name),
        None => text.to_owned(),
    }
}
