//! What a server offers, as it said last.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use dormouse_resilience::deadline;
use rmcp::{
    Peer, RoleClient,
    model::{PaginatedRequestParams, ServerNotification, SubscriptionFilter},
};

use super::{ERROR_LIMIT, MOST_PAGES, MOST_TOOLS, NAME_LIMIT, START_LIMIT, StartError};
use crate::client::{
    definition::{Definition, safe},
    known::KnownTools,
};

type Offered = BTreeMap<String, Definition>;

/// The tools of a server that runs. They are asked for again at once when the server says that they changed.
#[derive(Debug)]
pub(super) struct Listing {
    server: String,
    known: Arc<KnownTools>,
    offered: Mutex<Arc<Offered>>,
    /// Whether the server said that they changed since it was asked.
    is_stale: AtomicBool,
    /// Held while it is asked.
    asking: tokio::sync::Mutex<()>,
}

impl Listing {
    pub(super) fn new(server: &str, known: &Arc<KnownTools>) -> Self {
        Self {
            server: server.to_owned(),
            known: Arc::clone(known),
            offered: Mutex::default(),
            is_stale: AtomicBool::new(false),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Asks for the first time.
    pub(super) async fn begin(&self, peer: &Peer<RoleClient>) -> Result<(), StartError> {
        let _asking = self.asking.lock().await;
        let offered = list(peer).await?;
        self.note(offered);
        Ok(())
    }

    fn note(&self, offered: Offered) {
        let server = &self.server;
        if let Err(error) = self.known.note(server, &offered) {
            tracing::error!(%server, %error, "what a server offers could not be noted");
        }
        let mut now = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        *now = Arc::new(offered);
    }

    /// The server says that its tools changed.
    pub(super) async fn changed(&self, peer: &Peer<RoleClient>) {
        self.is_stale.store(true, Ordering::SeqCst);
        self.current(peer).await;
    }

    /// What it offers, after all changes that it has reported.
    pub(super) async fn current(&self, peer: &Peer<RoleClient>) -> Arc<Offered> {
        let asking = self.asking.lock().await;
        // Of many reports at once, one asks.
        if self.is_stale.swap(false, Ordering::SeqCst) {
            let listed = deadline(START_LIMIT, Box::pin(list(peer))).await;
            match listed.unwrap_or(Err(StartError::Late)) {
                Ok(offered) => self.note(offered),
                Err(error) => {
                    let server = &self.server;
                    tracing::warn!(%server, %error, "a server changed its tools, and does not say which it has");
                    // What it offers now is not what a person agreed to, as far as is known.
                    let mut now = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
                    *now = Arc::default();
                    self.is_stale.store(true, Ordering::SeqCst);
                }
            }
        }
        drop(asking);
        let now = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&now)
    }

    /// Follows the reports of a server of the protocol since 2026-07-28, which reports nothing that it was not asked for.
    pub(super) async fn follow(self: Arc<Self>, peer: Peer<RoleClient>) {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut reports) = peer.listen(filter).await else {
            return;
        };
        while let Ok(Some(report)) = reports.next().await {
            if let ServerNotification::ToolListChangedNotification(_) = report {
                self.changed(&peer).await;
            }
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
