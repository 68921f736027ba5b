//! Keeping vectors up to date with the records: first the encoder makes them, into the store; then the index is fed
//! from there. Both go by checkpoints, so that whatever fails or is killed is taken up again where it was.

mod embed;
mod fed;
mod guarded;
mod index;
mod query;
mod report;

pub use report::{CheckIndexError, IndexReport, IndexedCollection};

use std::{
    error::Error,
    sync::{Arc, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    CollectionName, Embedder, EncoderInfo, IdError, ModelError, ModelErrorKind, Retention,
    VectorIndex,
};
use dormouse_resilience::{
    BreakerError, BreakerPolicy, CircuitBreaker, CircuitHealth, Health, deadline,
};
use tokio::sync::Mutex;

use self::{fed::Knowledge, guarded::GuardedIndex};
use crate::{
    memory::{Inner, Memory, MemoryError, blocking},
    recall::Fallback,
    record::{RecordId, Shelf},
    spaces::{self, EncoderState, Space, SpaceState},
    store::StoreError,
};

/// How long one call to an encoder or an index may take.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// How much longer for each text: large encoders on small machines need that.
const TEXT_LIMIT: Duration = Duration::from_secs(1);
/// How many changes are looked at in one step.
const STEP: usize = 128;

/// The encoder and the index, each behind a breaker of its own.
pub(crate) struct Vectors {
    pub(crate) encoder: Arc<dyn Embedder>,
    encoder_breaker: CircuitBreaker,
    index: GuardedIndex,
    /// Held by whoever feeds: one at a time.
    feeding: Mutex<()>,
    knowledge: Knowledge,
}

/// What one round of tending did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tended {
    /// Records that got their vectors.
    pub embedded: u64,
    /// Points that were given to the index, or taken from it.
    pub fed: u64,
    /// Changes that are not in the vectors, or not in their index, yet.
    pub waiting: u64,
    /// Why it stopped before all was done, if that was not the bound it was given. It is taken up again there.
    pub trouble: Option<Fallback>,
}

/// Why vectors could not be brought up to date, or asked.
#[derive(Debug)]
pub(crate) enum Trouble {
    Memory(MemoryError),
    Fallback(Fallback),
    /// The index does not hold what it was given.
    Lost,
}

impl Trouble {
    /// Why similarity cannot be had, unless the memory itself failed.
    pub(crate) fn fallback(self) -> Result<Fallback, MemoryError> {
        match self {
            Self::Memory(error) => Err(error),
            Self::Fallback(fallback) => Ok(fallback),
            Self::Lost => Ok(Fallback::IndexLost),
        }
    }
}

impl From<MemoryError> for Trouble {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<IdError> for Trouble {
    fn from(error: IdError) -> Self {
        // The parts of the name are bounded, so that it always fits.
        tracing::error!(%error, "the assistant's key makes no name of a collection");
        Self::Fallback(Fallback::VectorIndex)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Memory(error.into())
    }
}

impl Vectors {
    pub(crate) fn new(encoder: Arc<dyn Embedder>, index: Arc<dyn VectorIndex>) -> Self {
        Self {
            encoder_breaker: CircuitBreaker::new("encoder", BreakerPolicy::service()),
            encoder,
            index: GuardedIndex::new(index),
            feeding: Mutex::default(),
            knowledge: Knowledge::default(),
        }
    }

    /// Embeds texts with another encoder of the same place, guarded like this one's calls. That it takes longer than
    /// `limit` counts as an illness, so a limit is given here and never put around it.
    async fn encode(
        &self,
        encoder: &dyn Embedder,
        texts: &[String],
        limit: Duration,
    ) -> Result<Vec<Vec<f32>>, Trouble> {
        let call = async {
            match deadline(limit, encoder.embed(texts)).await {
                Ok(answer) => answer.map_err(Some),
                Err(_too_late) => Err(None),
            }
        };
        let judge = |error: &Option<ModelError>| match error {
            None => Health::Ill,
            Some(error) if error.kind() == ModelErrorKind::Auth => Health::Refused,
            Some(error) if error.kind().is_service_ill() => Health::Ill,
            // No rate limit guards an encoder: its breaker is what leaves it alone for a while.
            Some(error) if matches!(error.kind(), ModelErrorKind::RateLimited(_)) => Health::Ill,
            Some(_) => Health::Irrelevant,
        };
        let vectors = match self.encoder_breaker.guard(judge, call).await {
            Ok(vectors) => vectors,
            Err(BreakerError::Open(_)) => return Err(Trouble::Fallback(Fallback::EncoderPaused)),
            Err(BreakerError::Failed(error)) => {
                if let Some(error) = error {
                    tracing::warn!(error = &error as &dyn Error, "the encoder failed");
                }
                return Err(Trouble::Fallback(Fallback::Encoder));
            }
        };
        if vectors.len() != texts.len() {
            tracing::warn!("the encoder answered another number of vectors than texts");
            return Err(Trouble::Fallback(Fallback::Encoder));
        }
        Ok(vectors)
    }
}

impl Memory {
    /// Brings vectors up to date with the records: at most about `most` records are embedded. Does nothing without an
    /// encoder. Whoever runs a memory calls this when there is time; recall itself does a little of it.
    ///
    /// Dropping the future loses at most one batch of embeddings, which is made again.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails. An encoder or index that fails is no error: see [`Tended::trouble`].
    pub async fn tend(&self, most: usize) -> Result<Tended, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(Tended::default());
        };
        let _feeding = vectors.feeding.lock().await;
        self.tend_holding(vectors, most).await
    }

    /// [`Memory::tend`] for who holds `feeding`.
    async fn tend_holding(&self, vectors: &Vectors, most: usize) -> Result<Tended, MemoryError> {
        let mut tended = Tended::default();
        let done = self.tend_active(vectors, most, &mut tended).await;
        if let Err(trouble) = done {
            tended.trouble = Some(trouble.fallback()?);
        }
        tended.waiting = self.waiting().await?;
        Ok(tended)
    }

    async fn tend_active(
        &self,
        vectors: &Vectors,
        most: usize,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let Some(space) = self.active_space(vectors.encoder.as_ref()).await? else {
            return Err(Trouble::Fallback(Fallback::EncoderChanged));
        };
        self.embed(vectors, vectors.encoder.as_ref(), &space, most, tended)
            .await?;
        self.feed(vectors, &space, tended).await
    }

    /// Brings one space up to date, be it the active one or not.
    pub(crate) async fn tend_space(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        most: usize,
        tended: &mut Tended,
    ) -> Result<(), Trouble> {
        let _feeding = vectors.feeding.lock().await;
        self.embed(vectors, encoder, space, most, tended).await?;
        self.feed(vectors, space, tended).await
    }

    /// Whether the configured encoder is the one whose vectors recall goes by.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn encoder_state(&self) -> Result<EncoderState, MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(EncoderState::None);
        };
        let configured = vectors.encoder.info();
        Ok(match self.claimed().await? {
            Some(space) if !spaces::is_same(&space.encoder, &configured) => EncoderState::Other {
                active: space.encoder,
                configured,
            },
            Some(space) => EncoderState::InUse {
                space: space.number,
            },
            // It becomes the active one with the first vector.
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

    /// How the encoder and the index are, as far as their breakers know; empty without an encoder.
    #[must_use]
    pub fn health(&self) -> Vec<CircuitHealth> {
        let Some(vectors) = &self.inner.vectors else {
            return Vec::new();
        };
        let [reading, writing] = vectors.index.health();
        vec![vectors.encoder_breaker.health(), reading, writing]
    }

    /// The active space, if it is this encoder's; begins one if there is none, or only one in which nothing was ever
    /// embedded: an encoder that was merely named has no claim.
    async fn active_space(&self, encoder: &dyn Embedder) -> Result<Option<Space>, MemoryError> {
        let info = encoder.info();
        let spaces = self.spaces().await?;
        if let Some(space) = spaces::in_state(&spaces, SpaceState::Active) {
            if spaces::is_same(&space.encoder, &info) {
                return Ok(Some(space.clone()));
            }
            if self.claimed().await?.is_some() {
                return Ok(None);
            }
            let number = space.number;
            self.keep(move |writing, _| writing.remove_space(number))
                .await?;
        }
        self.begin_space(info, SpaceState::Active).await.map(Some)
    }

    /// The active space, if anything was embedded in it.
    async fn claimed(&self) -> Result<Option<Space>, MemoryError> {
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

    /// How many changes are not in the vectors of the active space, or not in their index, yet.
    pub(crate) async fn waiting(&self) -> Result<u64, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.behind(None)?.feeding)).await
    }

    /// How many changes are not in the vectors of this space, or not in their index, yet.
    pub(crate) async fn waiting_in(&self, space: u32) -> Result<u64, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.behind(Some(space))?.feeding)).await
    }
}

/// By how many changes vectors are behind.
struct Behind {
    /// Those that are not embedded.
    embedding: u64,
    /// Those that are not embedded, or not fed to the index.
    feeding: u64,
}

impl Inner {
    /// How far a space is behind; the active one where none is named.
    fn behind(&self, space: Option<u32>) -> Result<Behind, StoreError> {
        self.store.read(|reading| {
            let newest = reading.last_change()?;
            let spaces = spaces::all(reading)?;
            let active = spaces::in_state(&spaces, SpaceState::Active).map(|space| space.number);
            let (mut embedded, mut fed) = (0, 0);
            if let Some(space) = space.or(active) {
                embedded = reading.state(&spaces::embedded_through(space))?;
                fed = match &self.vectors {
                    None => embedded,
                    Some(_) => self.fed(reading, space)?.through,
                };
            }
            Ok(Behind {
                embedding: newest.saturating_sub(embedded),
                feeding: newest.saturating_sub(embedded.min(fed)),
            })
        })
    }

    /// The numbers of all records in use.
    pub(crate) fn in_use(&self) -> Vec<RecordId> {
        let projection = self
            .projection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let metas = projection.metas.iter();
        metas
            .filter(|(_, meta)| meta.in_use)
            .map(|(id, _)| id)
            .collect()
    }

    /// The collection for the records of a shelf in a space. Each memory has its own, so that numbers of records are
    /// numbers of points, and no other memory's points are ever searched or discarded.
    fn collection(&self, shelf: Shelf, space: u32) -> Result<CollectionName, IdError> {
        let name = format!(
            "{}_{}_{}_s{space}",
            shelf.as_str(),
            self.assistant,
            self.file_id
        );
        CollectionName::try_new(name)
    }
}

/// Whether an index has to be fed anew after every start.
fn forgets(index: &dyn VectorIndex) -> bool {
    index.retention() == Retention::Volatile
}
