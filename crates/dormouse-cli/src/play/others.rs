//! Other assistants of the folder that a visitor speaks to. They are woken for that, and the visit waits for their
//! answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dormouse_classify::{Mention, find_mention};
use dormouse_contracts::{AssistantId, Words};
use dormouse_engine::{Handle, Rest};
use dormouse_host::{FolderWorld, Host, HostError, Resident};
use dormouse_sandbox::{Act, Acted};
use tokio::time::{Instant, timeout_at};

use super::visited::Visited;
use crate::grammar::listed;

/// How long a visit waits for answers of assistants other than the visited one.
pub(super) const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(120);

/// The assistants of a host, except the visited one.
#[derive(Debug)]
pub(super) struct Others {
    host: Host<FolderWorld>,
    visited: AssistantId,
    /// In lower case.
    visited_name: String,
    /// The keys of the assistants that were looked up.
    keys: BTreeSet<AssistantId>,
    /// These assistants by key and by name, in lower case.
    known: BTreeMap<String, Known>,
    /// The assistants that were spoken to. They stay awake until the visit ends.
    awake: BTreeMap<AssistantId, Other>,
}

/// An assistant of the folder.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) key: AssistantId,
    pub(super) name: String,
}

#[derive(Debug)]
struct Other {
    resident: Resident,
    /// The last delivery that it must receive before it can be at rest.
    sent: u64,
}

impl Others {
    pub(super) fn new(visited: &Visited) -> Self {
        Self {
            host: visited.host.clone(),
            visited: visited.key.clone(),
            visited_name: visited.resident.name.to_lowercase(),
            keys: BTreeSet::new(),
            known: BTreeMap::new(),
            awake: BTreeMap::new(),
        }
    }

    /// Wakes the assistant to which an act is directed.
    pub(super) async fn wake_for(&mut self, act: &Act) {
        let called = match act {
            // Most lines are for the visited assistant. For these the others are not looked up.
            Act::SayTo { to, .. } | Act::Whisper { to, .. } | Act::Page { to, .. }
                if to.to_lowercase() == self.visited_name =>
            {
                return;
            }
            Act::SayTo { to, .. } | Act::Whisper { to, .. } | Act::Page { to, .. } => {
                let named = self.named(to).await;
                named.map(|known| known.key).into_iter().collect()
            }
            Act::Say(words) | Act::Channel { words, .. } => self.mentioned(words),
            _ => Vec::new(),
        };
        for key in called {
            match self.wake(&key).await {
                // An archived assistant hears nothing until it is restored.
                Ok(()) | Err(HostError::Archived { .. }) => {}
                Err(error) => tracing::warn!(%error, assistant = %key, "it cannot be woken"),
            }
        }
    }

    /// Wakes an assistant for the rest of the visit. A new one enters the world.
    pub(super) async fn wake(&mut self, key: &AssistantId) -> Result<(), HostError> {
        if *key == self.visited || self.awake.contains_key(key) {
            return Ok(());
        }
        let resident = self.host.wake(key).await?;
        let other = Other { resident, sent: 0 };
        self.awake.insert(key.clone(), other);
        Ok(())
    }

    /// Notes which deliveries they get from an act.
    pub(super) fn note(&mut self, acted: &Acted) {
        for other in self.awake.values_mut() {
            let heard = acted.deliveries.iter();
            let heard = heard.filter(|(who, _)| who == other.resident.character());
            other.sent = heard.map(|(_, number)| *number).fold(other.sent, u64::max);
        }
    }

    /// Waits until they have handled everything, and until every task that one of them or the visited assistant gave
    /// away has ended. Returns whether there was anything to wait for. If that is not over at `late`, returns who is
    /// not at rest.
    pub(super) async fn rest(&mut self, visited: &Handle, late: Instant) -> Result<bool, String> {
        let mut waited = false;
        for other in self.awake.values_mut() {
            let resting = timeout_at(late, other.rest()).await;
            waited |= resting.map_err(|_late| other.resident.name().to_owned())?;
        }
        let handles = self.awake.values().map(|other| other.resident.handle());
        for handle in handles.chain([visited]) {
            let ending = timeout_at(late, Box::pin(tasks_end(handle.clone()))).await;
            waited |= ending.map_err(|_late| "Somebody who was given a task".to_owned())?;
        }
        Ok(waited)
    }

    /// The assistant with this key or name, or why it was not found.
    pub(super) async fn named(&mut self, name: &str) -> Result<Known, String> {
        // Somebody may have been created since the last look.
        let new: Vec<_> = self.keys_of_all().collect();
        let new = new.into_iter().filter(|key| !self.keys.contains(key));
        self.look_up_all(new.collect()).await;
        let known = &self.known;
        known.get(&name.to_lowercase()).cloned().ok_or_else(|| {
            let names: BTreeSet<_> = known.values().map(|known| known.name.clone()).collect();
            let names: Vec<_> = names.into_iter().collect();
            format!(
                "no assistant of this folder is called {name:?}; there is {}",
                listed(&names)
            )
        })
    }

    fn keys_of_all(&self) -> impl Iterator<Item = AssistantId> {
        let known = self.host.known().unwrap_or_default().into_iter();
        known.map(|(key, _)| key)
    }

    /// If a text is the name of one assistant and the key of another, the key takes precedence.
    async fn look_up_all(&mut self, keys: Vec<AssistantId>) {
        let mut by_key = BTreeMap::new();
        for key in keys {
            // An assistant whose log cannot be read is reported when it is woken.
            let found = Box::pin(self.host.look_up(&key)).await;
            let name = found.map_or_else(|_| key.to_string(), |found| found.name);
            self.keys.insert(key.clone());
            let known = Known { key, name };
            let by_name = self.known.entry(known.name.to_lowercase());
            by_name.or_insert_with(|| known.clone());
            by_key.insert(known.key.as_str().to_lowercase(), known);
        }
        self.known.extend(by_key);
    }

    fn mentioned(&self, words: &Words) -> Vec<AssistantId> {
        if !words.as_claimed().contains('@') {
            return Vec::new();
        }
        self.keys_of_all()
            .filter(|key| find_mention(words, key) == Mention::Addressed)
            .collect()
    }
}

impl Other {
    /// Waits until it is at rest. Returns whether there was anything to wait for.
    async fn rest(&mut self) -> bool {
        let was_busy = self.sent > 0 || self.resident.handle().status().waiting > 0;
        if !was_busy {
            return false;
        }
        let sent = self.sent;
        let mut pumped = self.resident.pumped();
        // If it has ended, it is at rest.
        drop(
            pumped
                .wait_for(|pumped| pumped.done >= sent || pumped.held)
                .await,
        );
        let rest = self.resident.handle().at_rest().await;
        // Reset only now, so that a caller that gave up before will wait for the same delivery again.
        self.sent = 0;
        rest == Rest::Settled
    }
}

/// Waits until every task that this assistant gave to another has ended. Returns whether one had not.
async fn tasks_end(mut handle: Handle) -> bool {
    let mut waited = false;
    loop {
        let state = handle.inspect().await;
        // A stopped assistant does not learn how its tasks end.
        if state.is_none_or(|state| state.stop.is_on() || state.delegations.open().next().is_none())
        {
            return waited;
        }
        waited = true;
        if handle.status_changed().await.is_none() {
            return waited;
        }
    }
}
