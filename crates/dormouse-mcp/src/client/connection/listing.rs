//! What a server offers, as it said last.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::BoxError;
use dormouse_resilience::deadline;
use rmcp::{
    Peer, RoleClient,
    model::{PaginatedRequestParams, ServerNotification, SubscriptionFilter},
};
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until},
};

use super::{ERROR_LIMIT, MOST_PAGES, MOST_TOOLS, NAME_LIMIT, StartError};
use crate::client::{
    definition::{Definition, safe},
    known::KnownTools,
};

/// How long a server that runs may take to list its tools again.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// The shortest time from one listing to the next: a server may report a change before each answer.
const INTERVAL: Duration = Duration::from_secs(1);
/// The pause before reports that ended are asked for again, twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

type Offered = BTreeMap<String, Definition>;

/// The tools of a server that runs. They are asked for again when the server says that they changed.
#[derive(Debug)]
pub(super) struct Listing {
    server: String,
    known: Arc<KnownTools>,
    offered: Mutex<Arc<Offered>>,
    /// Whether the server said that they changed since it was asked.
    is_stale: AtomicBool,
    /// Whether it could report changes, and its reports are not heard now.
    is_unheard: AtomicBool,
    /// Held while it is asked: when it was asked last.
    asking: tokio::sync::Mutex<Option<Instant>>,
}

impl Listing {
    pub(super) fn new(server: &str, known: &Arc<KnownTools>) -> Self {
        Self {
            server: server.to_owned(),
            known: Arc::clone(known),
            offered: Mutex::default(),
            is_stale: AtomicBool::new(false),
            is_unheard: AtomicBool::new(false),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Asks for the first time.
    pub(super) async fn begin(&self, peer: &Peer<RoleClient>) -> Result<(), StartError> {
        let mut asked = self.asking.lock().await;
        *asked = Some(Instant::now());
        let offered = list(peer).await?;
        self.note(offered).await;
        Ok(())
    }

    async fn note(&self, offered: Offered) {
        let offered = Arc::new(offered);
        let (known, server, noted) = (
            Arc::clone(&self.known),
            self.server.clone(),
            Arc::clone(&offered),
        );
        // It waits for the disk.
        let written = spawn_blocking(move || known.note(&server, &noted)).await;
        let written = written
            .map_err(BoxError::from)
            .and_then(|noted| noted.map_err(BoxError::from));
        if let Err(error) = written {
            tracing::error!(server = %self.server, %error, "what a server offers could not be noted");
        }
        self.set(offered);
    }

    fn set(&self, offered: Arc<Offered>) {
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = offered;
    }

    /// The server says that its tools changed.
    pub(super) async fn changed(&self, peer: &Peer<RoleClient>) {
        // Of many reports, one asks. If it is marked already, another one is about to ask, or else the next call asks.
        if !self.is_stale.swap(true, Ordering::SeqCst) {
            self.current(peer).await;
        }
    }

    /// What it offers, after all changes that it has reported.
    pub(super) async fn current(&self, peer: &Peer<RoleClient>) -> Arc<Offered> {
        let mut asked = self.asking.lock().await;
        let next = asked.map(|asked| asked + INTERVAL);
        if self.is_unheard.load(Ordering::SeqCst) && next.is_none_or(|next| next <= Instant::now())
        {
            self.is_stale.store(true, Ordering::SeqCst);
        }
        if self.is_stale.load(Ordering::SeqCst) {
            if let Some(next) = next {
                sleep_until(next).await;
            }
            *asked = Some(Instant::now());
            // A report from now on belongs to the next listing.
            self.is_stale.store(false, Ordering::SeqCst);
            let mut unread = Unread(Some(&self.is_stale));
            let listed = deadline(LIST_LIMIT, Box::pin(list(peer))).await;
            match listed.unwrap_or(Err(StartError::Late(LIST_LIMIT))) {
                Ok(offered) => {
                    self.note(offered).await;
                    unread.0 = None;
                }
                Err(error) => {
                    let server = &self.server;
                    tracing::warn!(%server, %error, "a server changed its tools, and does not say which it has");
                    // What it offers now is not what a person agreed to, as far as is known.
                    self.set(Arc::default());
                }
            }
        }
        drop(asked);
        let now = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&now)
    }

    /// Follows the reports of a server of the protocol since 2026-07-28, which reports nothing that it was not asked for. If they end, it
    /// is asked for them again after a pause; meanwhile it is asked for its tools before each call.
    pub(super) async fn follow(self: Arc<Self>, peer: Peer<RoleClient>) {
        let mut pause = FIRST_PAUSE;
        self.is_unheard.store(true, Ordering::SeqCst);
        while !peer.is_transport_closed() {
            let begun = Instant::now();
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            if let Ok(mut reports) = peer.listen(filter).await {
                self.is_unheard.store(false, Ordering::SeqCst);
                // What changed before was not reported.
                self.changed(&peer).await;
                while let Ok(Some(report)) = reports.next().await {
                    if let ServerNotification::ToolListChangedNotification(_) = report {
                        self.changed(&peer).await;
                    }
                }
                self.is_unheard.store(true, Ordering::SeqCst);
            }
            if begun.elapsed() >= LONGEST_PAUSE {
                pause = FIRST_PAUSE;
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Marks a listing as out of date again, if the server did not say what it offers, or nobody waited for it.
struct Unread<'a>(Option<&'a AtomicBool>);

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        if let Some(is_stale) = self.0 {
            is_stale.store(true, Ordering::SeqCst);
        }
    }
}

/// Whether the server is to be asked to report changes.
pub(super) fn is_to_be_followed(peer: &Peer<RoleClient>) -> bool {
    let info = peer.peer_info();
    info.is_some_and(|info| {
        let tools = info.capabilities.tools.as_ref();
        let reports = tools.and_then(|tools| tools.list_changed) == Some(true);
        reports && !info.protocol_version.has_initialize()
    })
}

async fn list(peer: &Peer<RoleClient>) -> Result<Offered, StartError> {
    let mut offered = BTreeMap::new();
    let mut page = PaginatedRequestParams::default();
    for _ in 0..MOST_PAGES {
        let listed = peer.list_tools(Some(page)).await;
        let listed =
            listed.map_err(|error| StartError::List(safe(&error.to_string(), ERROR_LIMIT)))?;
        let tools = listed.tools.iter();
        for tool in tools.filter(|tool| tool.name.len() <= NAME_LIMIT) {
            if offered.len() == MOST_TOOLS {
                return Ok(offered);
            }
            // Of two tools with one name, the first counts.
            let entry = offered.entry(tool.name.clone().into_owned());
            entry.or_insert_with(|| Definition::of(tool));
        }
        match listed.next_cursor {
            None => return Ok(offered),
            cursor => page = PaginatedRequestParams::default().with_cursor(cursor),
        }
    }
    Ok(offered)
}

#[cfg(test)]
mod tests;
