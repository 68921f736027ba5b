//! Changing the encoder without loss: a second space is filled while the active one stays in use, both are compared with the
//! same probes, and only then recall uses the new one. The old one is kept, so that the change can be taken back.

mod probe;

use std::sync::Arc;

use dormouse_contracts::{Embedder, EncoderInfo};
use serde::Serialize;

use crate::{
    builder::Progress,
    fallback::Fallback,
    indexing::progress::{IndexProgress, IndexingError},
    memory::{Memory, MemoryError},
    spaces::{self, Space, SpaceState},
    store::{Fault, Writing},
    vectors::Vectors,
};
pub use probe::{Probe, ProbeReport, Scores};

/// How many records are embedded between two reports of progress.
const STEP: usize = 128;

/// When recall switches to the new space.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SwitchPolicy {
    /// If at most this share of the probes, in `0.0..=1.0`, has a worse result.
    IfNotWorseBy(f32),
    /// Always.
    Always,
    /// Never: only compare.
    Never,
}

impl Default for SwitchPolicy {
    fn default() -> Self {
        Self::IfNotWorseBy(0.02)
    }
}

/// How to migrate.
#[derive(Clone, Default)]
pub struct MigrationPlan {
    /// The encoder of the active space, for the comparison. Without it the new space is compared with recall by words.
    pub former: Option<Arc<dyn Embedder>>,
    /// The probes of the comparison. If empty, they are made from records of the memory.
    pub probes: Vec<Probe>,
    /// When to switch.
    pub switch: SwitchPolicy,
}

impl std::fmt::Debug for MigrationPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MigrationPlan")
            .field("probes", &self.probes.len())
            .field("switch", &self.switch)
            .finish_non_exhaustive()
    }
}

/// The result of a migration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Migration {
    /// The space of the new encoder.
    pub space: u32,
    /// The results of the probes.
    pub probes: ProbeReport,
    /// Whether recall uses it now.
    pub switched: bool,
}

/// Why a migration stopped. Its progress is kept, and the next call continues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// The memory has no encoder.
    #[error("the memory was opened without an encoder: open it with one to migrate")]
    NoEncoder,
    /// Recall already uses this encoder.
    #[error("recall already uses {}", .0.model)]
    SameEncoder(EncoderInfo),
    /// The encoder or the index failed.
    #[error("{0}; the progress is kept: migrate again to continue")]
    Stopped(Fallback),
    /// There is no former space.
    #[error("there is no former space to go back to")]
    NoFormer,
    /// The space is in use or does not exist.
    #[error("space {0} is the active one or does not exist")]
    NotDiscardable(u32),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl From<IndexingError> for MigrateError {
    fn from(error: IndexingError) -> Self {
        match error.fallback() {
            Ok(fallback) => Self::Stopped(fallback),
            Err(error) => Self::Memory(error),
        }
    }
}

impl Memory {
    /// Fills a space with the vectors of `encoder`, compares both spaces with probes, and switches as the plan says. Records
    /// that are added meanwhile are in both. It may be stopped at any time, even by a kill, and called again.
    ///
    /// After the switch, a memory that was opened with this encoder uses the new space for recall; others use words until
    /// they are opened with it. The old space stays in the file but not in the index; [`Memory::roll_back`] switches back to
    /// it.
    ///
    /// # Errors
    ///
    /// [`MigrateError`] says why it stopped.
    pub async fn migrate(
        &self,
        encoder: Arc<dyn Embedder>,
        plan: MigrationPlan,
        mut report: impl FnMut(Progress),
    ) -> Result<Migration, MigrateError> {
        let vectors = self.inner.vectors.as_ref().ok_or(MigrateError::NoEncoder)?;
        let spaces = self.spaces().await?;
        let active = spaces::in_state(&spaces, SpaceState::Active).cloned();
        let info = encoder.info();
        if let Some(active) = &active
            && spaces::is_same(&active.encoder, &info)
        {
            return Err(MigrateError::SameEncoder(active.encoder.clone()));
        }
        let space = self.building(&spaces, info).await?;
        self.fill(vectors, encoder.as_ref(), &space, &mut report)
            .await?;
        let former = active.as_ref().zip(plan.former.as_deref());
        if let Some((space, encoder)) = former {
            // A volatile index may not have been filled from the old space in this process, and probing needs its points.
            self.fill(vectors, encoder, space, &mut report).await?;
        }
        let probes = self
            .probe(vectors, former, (&space, encoder.as_ref()), plan.probes)
            .await?;
        let switched = match plan.switch {
            SwitchPolicy::Always => true,
            SwitchPolicy::Never => false,
            SwitchPolicy::IfNotWorseBy(tolerance) => probes.is_no_worse(tolerance),
        };
        if switched {
            self.switch_to(space.number).await?;
            if let Some(former) = &active {
                self.clear_index(vectors, former).await?;
            }
        }
        Ok(Migration {
            space: space.number,
            probes,
            switched,
        })
    }

    /// Switches back to the space that was active before the last switch. The present one is kept. [`Memory::index_pending`]
    /// indexes the changes since then; [`Recall::waiting`](crate::Recall::waiting) says how many are left.
    ///
    /// # Errors
    ///
    /// [`MigrateError::NoFormer`] if there is none.
    pub async fn roll_back(&self) -> Result<Space, MigrateError> {
        let spaces = self.spaces().await?;
        let retired = spaces.iter().filter(|s| s.state == SpaceState::Retired);
        let former = retired.max_by_key(|space| space.number);
        let former = former.cloned().ok_or(MigrateError::NoFormer)?;
        self.switch_to(former.number).await?;
        Ok(Space {
            state: SpaceState::Active,
            ..former
        })
    }

    /// Removes the vectors of a space that recall does not use. They can be made again from the texts.
    ///
    /// # Errors
    ///
    /// [`MigrateError::NotDiscardable`] if it is the active one or does not exist.
    pub async fn discard_space(&self, number: u32) -> Result<(), MigrateError> {
        let spaces = self.spaces().await?;
        let space = spaces.iter().find(|space| space.number == number);
        let space = space.filter(|space| space.state != SpaceState::Active);
        let space = space.ok_or(MigrateError::NotDiscardable(number))?;
        if let Some(vectors) = &self.inner.vectors {
            self.discard_points(vectors, space).await?;
        }
        self.keep(move |writing, _| writing.remove_space(number))
            .await?;
        Ok(())
    }

    /// Removes the points of a space that recall no longer uses from the index: they would no longer follow withdrawals and
    /// erasures. The index is filled from the file again if the space becomes active again.
    async fn clear_index(&self, vectors: &Vectors, space: &Space) -> Result<(), MemoryError> {
        if let Err(error) = self.discard_points(vectors, space).await {
            let why = error.fallback()?;
            tracing::warn!(%why, space = space.number, "points of a former space could not be removed from the index");
        }
        Ok(())
    }

    /// The space that is being filled for this encoder. One that is being filled for another encoder is removed.
    async fn building(&self, spaces: &[Space], info: EncoderInfo) -> Result<Space, MigrateError> {
        let is_of_encoder = |space: &&Space| {
            space.state != SpaceState::Active && spaces::is_same(&space.encoder, &info)
        };
        if let Some(space) = spaces.iter().rev().find(is_of_encoder) {
            return Ok(space.clone());
        }
        if let Some(other) = spaces::in_state(spaces, SpaceState::Building) {
            self.discard_space(other.number).await?;
        }
        Ok(self.begin_space(info, SpaceState::Building).await?)
    }

    async fn fill(
        &self,
        vectors: &Vectors,
        encoder: &dyn Embedder,
        space: &Space,
        report: &mut impl FnMut(Progress),
    ) -> Result<(), MigrateError> {
        let mut done = 0;
        loop {
            let mut progress = IndexProgress::default();
            self.index_space(vectors, encoder, space, STEP, &mut progress)
                .await?;
            let waiting = self.waiting_in(space.number).await?;
            done += progress.embedded;
            report(Progress {
                what: "embedding",
                done,
                of: done + waiting,
            });
            if waiting == 0 {
                return Ok(());
            }
        }
    }

    async fn switch_to(&self, number: u32) -> Result<(), MemoryError> {
        self.keep(move |writing, _| switch(writing, number)).await
    }
}

/// Makes the space of this number the active one, and retires the former active one.
fn switch(writing: &mut Writing<'_>, number: u32) -> Result<(), Fault> {
    for mut space in spaces::now(writing)? {
        let state = match space.state {
            _ if space.number == number => SpaceState::Active,
            SpaceState::Active => SpaceState::Retired,
            SpaceState::Building | SpaceState::Retired => continue,
        };
        space.state = state;
        writing.put_space(space.number, &space)?;
    }
    Ok(())
}
