//! Work on the memories of a host's assistants that somebody asks for.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use dormouse_contracts::{AssistantId, Author};
use dormouse_engine::{Consolidator, LoggedMemory};

use super::{Awake, Host, OpenLog, SharedModels, error::HostError};
use crate::upkeep::UpkeepModel;

/// An assistant on whose memory a model works. It stays awake meanwhile, and all changes go through it: only it writes its log.
#[derive(Debug)]
pub struct Upkeep {
    /// What asks the models of the host.
    pub by: Consolidator,
    /// The memory, which has taken in the whole log.
    pub memory: LoggedMemory<OpenLog>,
    _turn: UpkeepTurn,
}

/// The assistants on whose memories somebody works.
pub(super) type WorkedOn = Arc<Mutex<BTreeSet<AssistantId>>>;

/// Ends when it is dropped.
#[derive(Debug)]
struct UpkeepTurn(AssistantId, WorkedOn);

impl Drop for UpkeepTurn {
    fn drop(&mut self) {
        let mut all = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.0);
    }
}

impl<W: ?Sized> Host<W> {
    /// What works on the memory of an assistant with the models of the host, in at most so many requests. Wakes the assistant.
    ///
    /// # Errors
    ///
    /// [`HostError`]; [`HostError::WorkedOn`] if somebody does that already.
    pub async fn upkeep(
        &self,
        key: &AssistantId,
        most_requests: u64,
        author: Author,
    ) -> Result<Upkeep, HostError> {
        let shared = &self.shared;
        let turn = {
            let all = &shared.worked_on;
            let mut them = all.lock().unwrap_or_else(PoisonError::into_inner);
            match them.insert(key.clone()) {
                true => UpkeepTurn(key.clone(), Arc::clone(all)),
                false => return Err(HostError::WorkedOn(key.clone())),
            }
        };
        let awake = Awake::from(self.wake(key).await?);
        // Of an assistant that is awake, the state need not be folded.
        let by = self.consolidator(key, most_requests, author).await?;
        let memory = awake.logged_memory(&shared.log, Arc::clone(&shared.clock));
        Ok(Upkeep {
            by,
            memory: memory.await?,
            _turn: turn,
        })
    }

    /// What asks the models of the host for an assistant. Nobody is woken.
    ///
    /// # Errors
    ///
    /// [`HostError::Roster`] if the key is unknown, or its life cannot be read.
    pub async fn consolidator(
        &self,
        key: &AssistantId,
        most_requests: u64,
        author: Author,
    ) -> Result<Consolidator, HostError> {
        let shared = &self.shared;
        let config = {
            let state = Box::new(self.state(key).await?);
            shared.config.read_for(key, &state).0
        };
        let SharedModels {
            model,
            counter,
            timeout,
            retry_budget,
            ..
        } = &shared.models;
        let model = UpkeepModel {
            model: Arc::clone(model),
            counter: Arc::clone(counter) as _,
            timeout: *timeout,
            retry_budget: retry_budget.clone(),
            clock: Arc::clone(&shared.clock),
            random: Arc::clone(&shared.random),
        };
        Ok(model.consolidator((key, &config), most_requests, author))
    }
}
