//! Changing who lives in a host: creating, cloning, tagging, archiving and restoring assistants while others live.

use std::collections::BTreeSet;

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, BoxFuture, Habitat, LoadSnapshot, ReadError,
    ReadEvents, Seq, Snapshot, StoredEvent,
};
use dormouse_engine::{RosterChange, Tag};
use dormouse_store::RedbLog;

use super::{Host, error::HostError, residency::Resident};
use crate::roster::{self, LookedUp, Newcomer, RosterDecision};

/// The log of an assistant that is awake: it writes it itself, others read it.
struct WrittenByIt<'a> {
    log: &'a RedbLog,
    resident: &'a Resident,
}

impl Append for WrittenByIt<'_> {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(self.resident.handle().append(request))
    }
}

impl ReadEvents for WrittenByIt<'_> {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl LoadSnapshot for WrittenByIt<'_> {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.log.load_snapshot(assistant, up_to)
    }
}

impl<W: Habitat + 'static> Host<W> {
    /// Creates an assistant, which lives here from then on.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`] if the key is in use, or the name is not allowed.
    pub async fn create(
        &self,
        newcomer: Newcomer,
        decision: RosterDecision,
    ) -> Result<(), HostError> {
        let (shared, key) = (&self.shared, newcomer.key.clone());
        roster::create(
            &shared.log,
            &*shared.clock,
            &shared.config,
            newcomer,
            decision,
        )
        .await?;
        self.take_in(&key).await
    }

    /// Creates an assistant that is who another one is, as [`roster::clone_of`] does. It lives here from then on.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`].
    pub async fn clone_of(
        &self,
        from: &AssistantId,
        newcomer: Newcomer,
        decision: RosterDecision,
    ) -> Result<(), HostError> {
        let (shared, key) = (&self.shared, newcomer.key.clone());
        let from_it = (from, newcomer);
        roster::clone_of(
            &shared.log,
            &*shared.clock,
            &shared.config,
            from_it,
            decision,
        )
        .await?;
        self.take_in(&key).await
    }

    /// Tags, archives or restores an assistant, and returns the event; `None` if nothing would change, and then nobody wakes.
    /// One that is archived is put away at once, and wakes for nobody until it is restored.
    ///
    /// # Errors
    ///
    /// [`HostError`]; nothing was written.
    pub async fn change_roster(
        &self,
        key: &AssistantId,
        change: RosterChange,
        decision: RosterDecision,
    ) -> Result<Option<Seq>, HostError> {
        let (log, clock) = (&self.shared.log, &*self.shared.clock);
        let (archives, restores) = (
            change == RosterChange::Archived,
            change == RosterChange::Restored,
        );
        let before = roster::known(log, key).await?.roster;
        let changed = match (before.has_effect(&change), &before.archived) {
            // Nobody is woken for nothing.
            (false, _) => None,
            // It cannot wake meanwhile, so nobody else writes its log.
            (true, Some(_)) => roster::change(log, clock, key, change, decision).await?,
            (true, None) => {
                let resident = &self.wake(key).await?;
                let log = WrittenByIt { log, resident };
                roster::change(&log, clock, key, change, decision).await?
            }
        };
        if archives {
            self.put_away(key).await?;
        }
        if restores && changed.is_some() {
            self.take_in(key).await?;
        }
        Ok(changed)
    }

    /// Looks up an assistant by its key: who it is, its character in the world, and what is wrong.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`] if the key is unknown, or its life cannot be read.
    pub async fn look_up(&self, key: &AssistantId) -> Result<LookedUp, HostError> {
        let shared = &self.shared;
        let world = Some(&*shared.world);
        Ok(roster::look_up(&shared.log, world, &shared.config, key).await?)
    }

    /// The keys of the assistants with this tag, archived ones included.
    ///
    /// # Errors
    ///
    /// [`HostError`] if a life cannot be read.
    pub async fn tagged(&self, tag: &Tag) -> Result<BTreeSet<AssistantId>, HostError> {
        let mut tagged = BTreeSet::new();
        for (key, _) in self.known()? {
            let state = roster::known(&self.shared.log, &key).await?;
            if state.roster.tags.contains(tag) {
                tagged.insert(key);
            }
        }
        Ok(tagged)
    }
}
