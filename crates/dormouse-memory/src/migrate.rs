//! Changing the encoder without loss: a second space is filled beside the active one, both are asked the same probes, and
//! only then recall goes by the new one. The old one stays, so that the change can be taken back.

mod probe;

use std::sync::Arc;

use dormouse_contracts::{Embedder, EncoderInfo};
use serde::Serialize;

use crate::{
    builder::Progress,
    feed::{Tended, Trouble, Vectors},
    memory::{Memory, MemoryError},
    recall::Fallback,
    spaces::{self, Space, SpaceState},
    store::{Fault, Writing},
};
pub use probe::{Probe, ProbeReport, Scores};

/// How many records are embedded between two reports of progress.
const STEP: usize = 128;

/// When recall goes over to the new space.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SwitchPolicy {
    /// If the probes find no worse what they look for; by this share of them they may, in `0.0..=1.0`.
    IfNotWorseBy(f32),
    /// In any case.
    Always,
    /// Not yet: only compare.
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
    /// The encoder of the active space, to compare with; without it the new space is compared with recall by words.
    pub former: Option<Arc<dyn Embedder>>,
    /// What to compare with; records of the memory itself where there are none.
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

/// What came of a migration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Migration {
    /// The space of the new encoder.
    pub space: u32,
    /// How the probes did.
    pub probes: ProbeReport,
    /// Whether recall goes by it now.
    pub switched: bool,
}

/// Why a migration did not come to its end. What was done is kept, and goes on with the next call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// The memory has no encoder.
    #[error("the memory was opened without an encoder: there is nothing to migrate with")]
    NoEncoder,
    /// The encoder is already the one recall goes by.
    #[error("recall goes by {} already", .0.model)]
    SameEncoder(EncoderInfo),
    /// The encoder or the index failed.
    #[error("{0}; what was done is kept: migrate again to go on")]
    Stopped(Fallback),
    /// There is no former space to go back to.
    #[error("there is no former space to go back to")]
    NoFormer,
    /// The space is in use, or there is none of this number.
    #[error("space {0} is the active one, or is not there")]
    NotDiscardable(u32),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl From<Trouble> for MigrateError {
    fn from(trouble: Trouble) -> Self {
        match trouble.fallback() {
            Ok(fallback) => Self::Stopped(fallback),
            Err(error) => Self::Memory(error),
        }
    }
}

impl Memory {
    /// Fills a space with the vectors of `encoder`, asks probes of both spaces, and switches as the plan says. Records
    /// that are added meanwhile are in both. May be stopped at any time, by a kill too, and called again.
    ///
    /// Recall goes by the new space from then on in a memory that was opened with this encoder; others go by words until
    /// they are opened with it. The old space stays in the file, though not in the index: [`Memory::roll_back`] goes back
    /// to it.
    ///
    /// # Errors
    ///
    /// [`MigrateError`] says why it stopped.
    pub async fn migrate(
        &self,
        encoder: Arc<dyn Embedder>,
        plan: MigrationPlan,
        mut tell: impl FnMut(Progress),
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
        self.fill(vectors, encoder.as_ref(), &space, &mut tell)
            .await?;
        let former = active.as_ref().zip(plan.former.as_deref());
        if let Some((space, encoder)) = former {
            // The index may never have been fed from it by this process.
            self.fill(vectors, encoder, space, &mut tell).await?;
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

    /// Goes back to the space that was active before the last switch. The one that is active now is kept.
    /// What has happened since, and the index, are caught up with by [`Memory::tend`]; [`Recall::waiting`](crate::Recall::waiting)
    /// says how much of it is left.
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

    /// Removes the vectors of a space that recall does not go by. They can be made again from the texts.
    ///
    /// # Errors
    ///
    /// [`MigrateError::NotDiscardable`] if it is the active one or is not there.
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

    /// Takes the points of a space that recall no longer goes by out of the index, where nobody would keep them up to
    /// date with what is withdrawn or erased. The index is fed from the file again if the space comes back.
    async fn clear_index(&self, vectors: &Vectors, space: &Space) -> Result<(), MemoryError> {
        if let Err(trouble) = self.discard_points(vectors, space).await {
            let why = trouble.fallback()?;
            tracing::warn!(%why, space = space.number, "points of a former space stay in the index");
        }
        Ok(())
    }

    /// The space that is being filled for this encoder; one for another encoder makes way for it.
    async fn building(&self, spaces: &[Space], info: EncoderInfo) -> Result<Space, MigrateError> {
        let theirs = |space: &&Space| {
            space.state != SpaceState::Active && spaces::is_same(&space.encoder, &info)
        };
        if let Some(space) = spaces.iter().rev().find(theirs) {
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
        tell: &mut impl FnMut(Progress),
    ) -> Result<(), MigrateError> {
        let mut done = 0;
        loop {
            let mut tended = Tended::default();
            self.tend_space(vectors, encoder, space, STEP, &mut tended)
                .await?;
            let waiting = self.waiting_in(space.number).await?;
            done += tended.embedded;
            tell(Progress {
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

/// Makes the space of this number the active one, and retires the one that was.
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
