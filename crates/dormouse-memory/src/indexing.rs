//! Background indexing: the encoder makes vectors of records, which are kept in the store; then the vector index is filled
//! from there. Both steps keep a checkpoint, so that work that failed or was killed continues where it stopped.

pub(crate) mod check;
mod checkpoint;
mod embed;
mod expected;
mod fill;
pub(crate) mod progress;
mod query;

use dormouse_contracts::{CollectionName, Embedder, EncoderInfo, IdError};
use dormouse_resilience::CircuitHealth;

use crate::{
    fallback::Fallback,
    memory::{Inner, Memory, MemoryError, blocking},
    record::{Collection, RecordId},
    spaces::{self, EncoderState, Space, SpaceState},
    store::StoreError,
    vectors::Vectors,
};
use progress::{IndexProgress, IndexingError};

impl Memory {
    /// Brings the vectors and their index up to date with the records; embeds at most about `most` records. Does nothing
    /// without an encoder. Call it when there is time; recall itself does a little of it.
    ///
    /// Dropping the future loses at most one batch of embeddings, which is made again.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails. A failure of the encoder or the index is not an error: see
    /// [`IndexProgress::interrupted_by`].
    pub async fn index_pending(&self, most: usize) -> Result<IndexProgress, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(IndexProgress::default());
        };
        let _indexing = vectors.indexing.lock().await;
        self.index_while_locked(vectors, most).await
    }

    /// [`Memory::index_pending`] for a caller that holds the lock `indexing`.
    async fn index_while_locked(
        &self,
        vectors: &Vectors,
        most: usize,
    ) -> Result<IndexProgress, MemoryError> {
        let mut progress = IndexProgress::default();
        let done = self.index_active(vectors, most, &mut progress).await;
        if let Err(error) = done {
            progress.interrupted_by = Some(error.fallback()?);
        }
        progress.waiting = self.waiting().await?;
        Ok(progress)
    }

    async fn index_active(
        &self,
        vectors: &Vectors,
        most: usize,
        progress: &mut IndexProgress,
    ) -> Result<(), IndexingError> {
        let Some(space) = self.active_space(vectors.encoder.as_ref()).await? else {
            return Err(IndexingError::Fallback(Fallback::EncoderChanged));
        };
        self.embed(vectors, vectors.encoder.as_ref(), &space, most, progress)
            .await?;
        self.fill_index(vectors, &space, progress).await
    }

    /// Brings one space up to date, active or not.
    pub(crate) async fn index_space(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        most: usize,
        progress: &mut IndexProgress,
    ) -> Result<(), IndexingError> {
        let _indexing = vectors.indexing.lock().await;
        self.embed(vectors, encoder, space, most, progress).await?;
        self.fill_index(vectors, space, progress).await
    }

    /// Whether the configured encoder made the vectors that recall uses.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn encoder_state(&self) -> Result<EncoderState, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(EncoderState::None);
        };
        let configured = vectors.encoder.info();
        Ok(match self.used_space().await? {
            Some(space) if !spaces::is_same(&space.encoder, &configured) => EncoderState::Other {
                active: space.encoder,
                configured,
            },
            Some(space) => EncoderState::InUse {
                space: space.number,
            },
            // The first vector makes this space the active one.
            None => EncoderState::InUse { space: 1 },
        })
    }

    /// All embedding spaces, by number.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn spaces(&self) -> Result<Vec<Space>, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.store.read(spaces::all)?)).await
    }

    /// The state of the breakers around the encoder and the index; empty without an encoder.
    #[must_use]
    pub fn health(&self) -> Vec<CircuitHealth> {
        let vectors = self.inner.vectors.as_ref();
        vectors.map_or_else(Vec::new, Vectors::health)
    }

    /// The active space, if it belongs to this encoder. Begins one if there is none, or if nothing was ever embedded in the
    /// one there is: an encoder that was only configured does not block another one.
    async fn active_space(&self, encoder: &dyn Embedder) -> Result<Option<Space>, MemoryError> {
        let info = encoder.info();
        let spaces = self.spaces().await?;
        if let Some(space) = spaces::in_state(&spaces, SpaceState::Active) {
            if spaces::is_same(&space.encoder, &info) {
                return Ok(Some(space.clone()));
            }
            if self.used_space().await?.is_some() {
                return Ok(None);
            }
            let number = space.number;
            self.keep(move |writing, _| writing.remove_space(number))
                .await?;
        }
        self.begin_space(info, SpaceState::Active).await.map(Some)
    }

    /// The active space, if anything was embedded in it.
    async fn used_space(&self) -> Result<Option<Space>, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || {
            Ok(inner.store.read(|reading| {
                let spaces = spaces::all(reading)?;
                let Some(space) = spaces::in_state(&spaces, SpaceState::Active) else {
                    return Ok(None);
                };
                let embedded = reading.state(&spaces::embedded_through(space.number))?;
                Ok((embedded > 0).then(|| space.clone()))
            })?)
        })
        .await
    }

    pub(crate) async fn begin_space(
        &self,
        encoder: EncoderInfo,
        state: SpaceState,
    ) -> Result<Space, MemoryError> {
        self.keep(move |writing, now| spaces::begin(writing, encoder, state, now))
            .await
    }

    /// How many changes have no vectors in the active space yet.
    pub(crate) async fn unembedded(&self) -> Result<u64, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.behind(None)?.embedding)).await
    }

    /// How many changes are not yet in the vectors of the active space, or not yet in their index.
    pub(crate) async fn waiting(&self) -> Result<u64, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.behind(None)?.indexing)).await
    }

    /// How many changes are not yet in the vectors of this space, or not yet in their index.
    pub(crate) async fn waiting_in(&self, space: u32) -> Result<u64, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.behind(Some(space))?.indexing)).await
    }
}

/// By how many changes a space is behind.
struct Behind {
    /// Changes that are not embedded.
    embedding: u64,
    /// Changes that are not embedded, or not in the index.
    indexing: u64,
}

impl Inner {
    /// How far a space is behind; the active one if `space` is `None`.
    fn behind(&self, space: Option<u32>) -> Result<Behind, StoreError> {
        self.store.read(|reading| {
            let newest = reading.last_change()?;
            let spaces = spaces::all(reading)?;
            let active = spaces::in_state(&spaces, SpaceState::Active).map(|space| space.number);
            let (mut embedded, mut indexed) = (0, 0);
            if let Some(space) = space.or(active) {
                embedded = reading.state(&spaces::embedded_through(space))?;
                indexed = match &self.vectors {
                    None => embedded,
                    Some(_) => self.index_checkpoint(reading, space)?.through,
                };
            }
            Ok(Behind {
                embedding: newest.saturating_sub(embedded),
                indexing: newest.saturating_sub(embedded.min(indexed)),
            })
        })
    }

    /// The numbers of all records in use.
    pub(crate) fn in_use(&self) -> Result<Vec<RecordId>, StoreError> {
        let projection = self.projection()?;
        let metas = projection.metas.iter();
        let in_use = metas.filter(|(_, meta)| meta.in_use);
        Ok(in_use.map(|(id, _)| id).collect())
    }

    /// The name of the index's collection for a collection of records in a space. It contains the file's id. So ids of
    /// records can be ids of points, and another memory's points are never searched or discarded.
    fn collection_name(
        &self,
        collection: Collection,
        space: u32,
    ) -> Result<CollectionName, IdError> {
        let name = format!(
            "{}_{}_{}_s{space}",
            collection.as_str(),
            self.assistant,
            self.file_id
        );
        CollectionName::try_new(name)
    }
}
