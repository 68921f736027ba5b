//! Making the vectors of records and keeping them in the store.

use std::{collections::BTreeSet, time::Duration};

use dormouse_contracts::Embedder;
use dormouse_text::beginning_bytes;

use super::progress::{IndexProgress, IndexingError};
use crate::{
    change::ChangeSeq,
    fallback::Fallback,
    memory::{Memory, blocking},
    record::{Record, RecordId},
    spaces::{self, Space},
    store::{Fault, Reading},
    vectors::{CALL_LIMIT, Vectors, is_usable},
};

/// How many records are embedded in one call.
const STEP: usize = 128;
/// How much longer a call may take for each text: large encoders on small machines need that.
const PER_TEXT: Duration = Duration::from_secs(1);
/// How much of a text an encoder is given, in bytes. Encoders read a few hundred words.
const TEXT_BYTES: usize = 8 * 1024;

/// A text that every encoder can embed.
const WITNESS: &str = "The tea is on the table.";

/// The next records to embed, and the checkpoint that is reached with them.
struct Batch {
    records: Vec<(RecordId, String)>,
    through: ChangeSeq,
}

impl Memory {
    /// Embeds the records that have no vector in `space` yet, in the order of changes, until about `most` are done.
    pub(super) async fn embed(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        most: usize,
        progress: &mut IndexProgress,
    ) -> Result<(), IndexingError> {
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
            self.embed_batch(vectors, encoder, space, batch, progress)
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
        progress: &mut IndexProgress,
    ) -> Result<(), IndexingError> {
        let (ids, texts): (Vec<_>, Vec<_>) = batch.records.into_iter().unzip();
        let mut made = Vec::new();
        if !texts.is_empty() {
            let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            let limit = CALL_LIMIT + PER_TEXT * count;
            made = vectors.encode(encoder, &texts, limit).await?;
            retry_unusable(vectors, encoder, &texts, &mut made).await?;
        }
        let length = made.iter().find(|vector| is_usable(vector)).map(Vec::len);
        let expected = space.encoder.dimensions.map(usize::from).or(length);
        if made
            .iter()
            .any(|vector| is_usable(vector) && Some(vector.len()) != expected)
        {
            tracing::warn!(?expected, "the encoder returned vectors of another length");
            return Err(IndexingError::Fallback(Fallback::EncoderChanged));
        }
        progress.embedded += u64::try_from(ids.len()).unwrap_or(u64::MAX);
        let number = space.number;
        self.keep(move |writing, _| {
            // While the encoder worked, the space may have been removed and records may have been erased: an erased record
            // must not get a vector back.
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

/// Asks once more for the vectors that have no direction, together with a text that every encoder can embed.
///
/// If the vector of that text has no direction either, the encoder is at fault and nothing is stored. If it has one, the
/// other texts cannot be embedded; they are stored without a vector so that the rest goes on.
async fn retry_unusable(
    vectors: &Vectors,
    encoder: &dyn Embedder,
    texts: &[String],
    made: &mut [Vec<f32>],
) -> Result<(), IndexingError> {
    let pairs = texts.iter().zip(made.iter_mut());
    let (mut again, missing): (Vec<String>, Vec<&mut Vec<f32>>) = pairs
        .filter(|(_, vector)| !is_usable(vector))
        .map(|(text, vector)| (text.clone(), vector))
        .unzip();
    if missing.is_empty() {
        return Ok(());
    }
    again.push(WITNESS.to_owned());
    let mut answered = vectors.encode(encoder, &again, CALL_LIMIT).await?;
    if !answered.pop().is_some_and(|witness| is_usable(&witness)) {
        tracing::warn!("the encoder returned no vector that has a direction");
        return Err(IndexingError::Fallback(Fallback::Encoder));
    }
    for (vector, second) in missing.into_iter().zip(answered) {
        *vector = second;
    }
    Ok(())
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

/// The text that an encoder is given for a record: the speaker's name and the beginning of the text.
fn text_of(record: &Record) -> String {
    let text = beginning_bytes(&record.text, TEXT_BYTES);
    match record.speaker_name() {
        Some(name) => format!("{name}: {text}"),
        None => text.to_owned(),
    }
}
