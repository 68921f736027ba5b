//! Sessions: how a client of the generations before 2026-07-28 is notified. It subscribes in one request and reads on another
//! connection, and the service remembers in between what it subscribed to.
//!
//! Nothing else depends on a session. Each request is checked by its token alone, so the id of a session is worth nothing to
//! others, and a client whose session is gone can still talk.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Mutex},
};

use axum::http::HeaderMap;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use dormouse_contracts::{AssistantId, Seq};
use dormouse_mcp::SESSION_HEADER;
use serde::Deserialize;
use tokio::{
    select,
    sync::{mpsc, watch},
    time::sleep,
};

use super::{SUBSCRIBE, UNSUBSCRIBE, Visit, resources};
use crate::{
    problem::{Problem, ProblemCode},
    service::{TOKEN_INTERVAL, lock, over},
    tokens::StoredToken,
};

/// How many sessions a token has at most: the oldest ends when another begins.
const MOST: usize = 16;

/// The assistants that a client listens to, each with the event in its log up to which it was notified.
pub(crate) type Watched = Arc<Mutex<BTreeMap<AssistantId, Seq>>>;

/// The sessions of all clients.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<String, VecDeque<Arc<Session>>>>);

/// The session of one client.
#[derive(Debug)]
pub(super) struct Session {
    id: String,
    pub(super) watched: Watched,
    /// The number of its newest stream; none when it has ended. It is sent again when the subscriptions change, so that
    /// the stream notices.
    stream: watch::Sender<Option<u64>>,
}

impl Sessions {
    /// Begins a session of this token.
    pub(super) fn begin(&self, token: &StoredToken) -> io::Result<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let id = BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let session = Session {
            id: id.clone(),
            watched: Watched::default(),
            stream: watch::Sender::new(Some(0)),
        };
        let mut all = lock(&self.0);
        let its = all.entry(token.id.clone()).or_default();
        its.push_back(Arc::new(session));
        if its.len() > MOST {
            its.pop_front().inspect(|oldest| oldest.end());
        }
        Ok(id)
    }

    /// The session that a request of this token names.
    pub(super) fn of(&self, headers: &HeaderMap, token: &StoredToken) -> Option<Arc<Session>> {
        let id = headers.get(SESSION_HEADER)?;
        let all = lock(&self.0);
        let mut its = all.get(&token.id)?.iter();
        its.find(|session| session.id.as_bytes() == id.as_bytes())
            .cloned()
    }

    /// The session that a request must name.
    pub(super) fn named(
        &self,
        headers: &HeaderMap,
        token: &StoredToken,
    ) -> Result<Arc<Session>, Problem> {
        if !headers.contains_key(SESSION_HEADER) {
            // What the protocol prescribes for a client without one.
            let why = format!("this is possible only with the header {SESSION_HEADER}");
            return Err(ProblemCode::MethodNotAllowed.because(why));
        }
        self.of(headers, token).ok_or_else(unknown)
    }

    pub(super) fn end(&self, ended: &Session, token: &StoredToken) {
        if let Some(its) = lock(&self.0).get_mut(&token.id) {
            its.retain(|session| session.id != ended.id);
        }
        ended.end();
    }
}

impl Session {
    /// Notifies of what this assistant says after this event.
    pub(super) fn subscribe(&self, key: AssistantId, end: Seq) {
        lock(&self.watched).entry(key).or_insert(end);
        self.stream.send_modify(|_newest| {});
    }

    pub(super) fn unsubscribe(&self, key: &AssistantId) {
        lock(&self.watched).remove(key);
        self.stream.send_modify(|_newest| {});
    }

    /// Ends it with its stream.
    fn end(&self) {
        self.stream.send_replace(None);
    }

    /// Ends the previous stream and returns the number of the next one; `None` if the session has ended.
    fn next_stream(&self) -> Option<u64> {
        let mut mine = None;
        self.stream.send_modify(|newest| {
            *newest = newest.map(|it| it + 1);
            mine = *newest;
        });
        mine
    }
}

/// Sends the URI of each resource that the client subscribed to, whenever it changes, until the client opens another stream, or
/// the session or the service ends. What happens while it has no stream is sent with the next one.
pub(super) async fn follow(visit: Visit, changed: mpsc::Sender<String>) {
    let Some(session) = visit.session.clone() else {
        return;
    };
    let mut streams = session.stream.subscribe();
    let mine = session.next_stream();
    let mut ending = visit.service.ending.clone();
    while mine.is_some() && *streams.borrow_and_update() == mine {
        let uris: Vec<_> = lock(&session.watched)
            .keys()
            .map(resources::heard)
            .collect();
        let is_idle = uris.is_empty();
        let watch = async {
            match is_idle {
                true => until_token_ends(&visit).await,
                false => Box::pin(resources::watch(&visit, uris, changed.clone())).await,
            }
        };
        select! {
            biased;
            () = over(&mut ending) => return,
            _changed = streams.changed() => {}
            () = watch => return,
        }
    }
}

/// Until the token is revoked, or has ended.
async fn until_token_ends(visit: &Visit) {
    while visit.service.still_holds(&visit.caller.token) {
        sleep(TOKEN_INTERVAL).await;
    }
}

/// Whether a message subscribes within a session.
pub(super) fn needs_session(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    let message = serde_json::from_slice(body);
    message.is_ok_and(|Message { method }| matches!(&*method, SUBSCRIBE | UNSUBSCRIBE))
}

/// The service does not know the session.
pub(super) fn unknown() -> Problem {
    let why = format!("the header {SESSION_HEADER} names no session; begin one with `initialize`");
    ProblemCode::UnknownSession.because(why)
}
