//! Changes the residents of a host: creates, clones, tags, archives and restores assistants while others are awake.

use std::{collections::BTreeSet, sync::PoisonError};

use dormouse_contracts::{AppendError, AssistantId, BoxError, EntityId, IdError, Seq};
use dormouse_engine::{Event, ReplayError, RosterChange, State, Tag};
use dormouse_store::RedbLog;
use futures_util::Stream;

use super::{
    Host, Shared,
    error::HostError,
    open_log::{Awake, OpenLog},
};
use crate::{
    archive::{self, ImportedLife, LifeExport, LifeExportError, LifeImportError, LifeWish},
    roster::{
        self, Destination, KnownNames, LookedUp, Newcomer, RosterDecision, RosterError, fork,
    },
};

/// Why nothing was changed.
enum Undecided<E> {
    Refused(E),
    Failed(RosterError),
}

impl<E> From<RosterError> for Undecided<E> {
    fn from(error: RosterError) -> Self {
        Self::Failed(error)
    }
}

impl<E> From<AppendError> for Undecided<E> {
    fn from(error: AppendError) -> Self {
        Self::Failed(error.into())
    }
}

impl<E> From<serde_json::Error> for Undecided<E> {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<W: ?Sized> Host<W> {
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
        self.check_name_is_free(&newcomer).await?;
        roster::create(
            &shared.log,
            &*shared.clock,
            (&shared.config, &shared.world.landmarks()),
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
        self.check_name_is_free(&newcomer).await?;
        let from_it = (from, newcomer);
        roster::clone_of(
            &shared.log,
            &*shared.clock,
            (&shared.config, &shared.world.landmarks()),
            from_it,
            decision,
        )
        .await?;
        self.take_in(&key).await
    }

    /// Creates a fork of an assistant: one whose log begins with that of the original up to event `at`, or up to the last event
    /// before it after which nothing was under way. It is a resident from then on, and switched off, because it has the promises and
    /// goals of the original. The original is neither woken nor disturbed. Returns the last event that both have.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`].
    pub async fn fork(
        &self,
        from: &AssistantId,
        at: Seq,
        newcomer: Newcomer,
        decision: RosterDecision,
    ) -> Result<Seq, HostError> {
        let (shared, key) = (&self.shared, newcomer.key.clone());
        self.check_name_is_free(&newcomer).await?;
        let character = shared.character();
        let to = shared.destination(&character);
        let last = roster::fork(&to, (from, at, newcomer), decision).await?;
        // It has lived, but not in this world: it enters when it wakes.
        drop(self.wake(&key).await?);
        Ok(last)
    }

    /// The event after which a fork would begin if it were requested at `at`, as [`Host::fork`] finds it.
    ///
    /// # Errors
    ///
    /// [`ReplayError`], which names the first event that could not be read.
    pub async fn fork_point(
        &self,
        from: &AssistantId,
        at: Seq,
    ) -> Result<Option<Seq>, ReplayError> {
        fork::last_rest(&self.shared.log, from, at).await
    }

    /// Creates an assistant that goes on with the life in a file, as [`archive::import`] does. It is a resident from then on, and
    /// switched off.
    ///
    /// # Errors
    ///
    /// [`LifeImportError`]; nothing was written.
    pub async fn import<B: AsRef<[u8]>>(
        &self,
        wish: LifeWish,
        decision: RosterDecision,
        file: impl Stream<Item = Result<B, BoxError>>,
    ) -> Result<ImportedLife, LifeImportError> {
        let shared = &self.shared;
        let character = shared.character();
        let to = shared.destination(&character);
        let mut names = self.names();
        let imported = archive::import(&to, wish, decision, &mut names, file).await;
        self.note_names(names);
        let imported = imported?;
        // It has lived, but not in this world: it enters when it wakes. If it cannot, it is a resident that says why.
        if let Err(error) = self.wake(&imported.key).await {
            let (key, error) = (
                &imported.key,
                dormouse_text::error_chain(&error).to_string(),
            );
            tracing::warn!(assistant = %key, error, "an imported assistant cannot wake");
        }
        Ok(imported)
    }

    /// Begins to export the life of an assistant. It is neither woken nor disturbed.
    ///
    /// # Errors
    ///
    /// [`HostError`] if the log does not know the assistant.
    pub fn export(&self, key: &AssistantId) -> Result<LifeExport<RedbLog>, LifeExportError> {
        let shared = &self.shared;
        let character = shared.world.character(key)?;
        let end = shared.log.end_of(key)?;
        let now = shared.clock.now();
        LifeExport::begin(shared.log.clone(), (key.clone(), end), character, now)
    }

    /// The names of assistants that were needed so far.
    fn names(&self) -> KnownNames {
        let names = self.shared.names.lock();
        names.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Somebody else may have read other names meanwhile.
    fn note_names(&self, names: KnownNames) {
        let known = self.shared.names.lock();
        known.unwrap_or_else(PoisonError::into_inner).extend(names);
    }

    async fn check_name_is_free(&self, newcomer: &Newcomer) -> Result<(), HostError> {
        let shared = &self.shared;
        let mut names = self.names();
        let known = (&shared.config, &mut names);
        let is_free = roster::check_name_is_free(&shared.log, self.known()?, known, newcomer).await;
        self.note_names(names);
        Ok(is_free?)
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
        let decide = |state: &State| Ok(decision.events(&state.roster, [change.clone()]));
        self.change(key, decide).await
    }

    /// Appends the events that `decide` makes of an assistant's state, all or none, in order with its own, and returns the last
    /// one. The events are decided again if the assistant wrote meanwhile. If nothing is to be changed, the assistant
    /// is not woken. An event that archives or restores it takes effect at once.
    ///
    /// # Errors
    ///
    /// What `decide` refuses, or a [`HostError`]; nothing was written.
    pub async fn change<E: From<HostError>>(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Result<Vec<Event>, E>,
    ) -> Result<Option<Seq>, E> {
        let was_archived = {
            let before = Box::new(self.state(key).await?);
            if decide(&before)?.is_empty() {
                return Ok(None);
            }
            before.roster.archived.is_some()
        };
        // One that is archived cannot wake meanwhile, so nobody else writes its log.
        let resident = match was_archived {
            true => None,
            false => Some(Awake::from(self.wake(key).await?)),
        };
        let (shared, clock) = (&self.shared, &*self.shared.clock);
        let log = OpenLog::new(shared.log.clone(), resident);
        let decide = |state: &State| decide(state).map_err(Undecided::Refused);
        let changed = log.change(key, clock, decide).await;
        let changed = changed.map_err(|error| match error {
            Undecided::Refused(error) => error,
            Undecided::Failed(error) => HostError::from(error).into(),
        })?;
        let mut archiving = changed.events.iter().rev().filter_map(|event| match event {
            Event::RosterChanged(it) => Some(&it.change),
            _ => None,
        });
        let is_about_that =
            |it: &&RosterChange| matches!(it, RosterChange::Archived | RosterChange::Restored);
        match archiving.find(is_about_that) {
            Some(RosterChange::Archived) => self.put_away(key).await?,
            Some(_) => self.take_in(key).await?,
            None => {}
        }
        Ok(changed.last())
    }

    /// The state of an assistant: as it is now if it is awake, and otherwise at the end of its log. Nobody is woken.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`] if the key is unknown, or its life cannot be read.
    pub async fn state(&self, key: &AssistantId) -> Result<State, HostError> {
        if let Some(handle) = self.if_awake(key).await
            && let Some(state) = handle.inspect().await
        {
            return Ok(state);
        }
        Ok(roster::known(&self.shared.log, key).await?)
    }

    /// Looks up an assistant by its key: who it is, its character in the world, and what is wrong.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`] if the key is unknown, or its life cannot be read.
    pub async fn look_up(&self, key: &AssistantId) -> Result<LookedUp, HostError> {
        let shared = &self.shared;
        let state = self.state(key).await?;
        Ok(roster::look_at(Some(&*shared.world), &shared.config, key, state).await)
    }

    /// The keys of the assistants with this tag, archived ones included.
    ///
    /// # Errors
    ///
    /// [`HostError`] if a life cannot be read.
    pub async fn tagged(&self, tag: &Tag) -> Result<BTreeSet<AssistantId>, HostError> {
        let mut tagged = BTreeSet::new();
        for (key, _) in self.known()? {
            let state = self.state(&key).await?;
            if state.roster.tags.contains(tag) {
                tagged.insert(key);
            }
        }
        Ok(tagged)
    }
}

impl Shared {
    /// The id of an assistant's character in the world.
    pub(super) fn character(
        &self,
    ) -> impl Fn(&AssistantId) -> Result<EntityId, IdError> + Send + Sync {
        |key: &AssistantId| self.world.character(key)
    }

    /// Where a life goes on that was lived elsewhere.
    pub(super) fn destination<'a>(
        &'a self,
        character: &'a (dyn Fn(&AssistantId) -> Result<EntityId, IdError> + Send + Sync),
    ) -> Destination<'a> {
        Destination {
            log: &self.log,
            folder: &self.folder,
            config: &self.config,
            landmarks: self.world.landmarks(),
            worlds: vec![self.world.id().clone()],
            character,
            takes_configured: false,
            clock: &*self.clock,
        }
    }
}
