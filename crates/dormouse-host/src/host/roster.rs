//! Changes the residents of a host: creates, clones, tags, archives and restores assistants while others are awake.

use std::collections::BTreeSet;

use dormouse_contracts::{AssistantId, Habitat, Seq};
use dormouse_engine::{RosterChange, Tag};

use super::{
    Host,
    error::HostError,
    open_log::{Awake, OpenLog},
};
use crate::roster::{self, LookedUp, Newcomer, RosterDecision};

impl<W: Habitat + 'static> Host<W> {
    /// Creates an assistant, which is a resident from then on.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`] if the key or the name is in use, or the name is not allowed.
    pub async fn create(
        &self,
        newcomer: Newcomer,
        decision: RosterDecision,
    ) -> Result<(), HostError> {
        let (shared, key) = (&self.shared, newcomer.key.clone());
        let known = self.known()?;
        roster::check_name_is_free(&shared.log, known, &shared.config, &newcomer).await?;
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

    /// Creates a clone of an assistant, as [`roster::clone_of`] does. It is a resident from then on.
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
        let known = self.known()?;
        roster::check_name_is_free(&shared.log, known, &shared.config, &newcomer).await?;
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

    /// Tags, archives or restores an assistant, and returns the event; `None` if nothing would change; then no
    /// assistant is woken. An archived assistant is put away at once, and does not wake until it is restored.
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
        let changed = match before.has_effect(&change) {
            true => {
                // An archived assistant cannot wake meanwhile, so nobody else writes to its log.
                let resident = match before.archived {
                    Some(_) => None,
                    None => Some(self.wake(key).await?),
                };
                let log = OpenLog::new(log.clone(), resident.map(Awake::from));
                roster::change(&log, clock, key, change, decision).await?
            }
            // An assistant is not woken without a reason.
            false => None,
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
