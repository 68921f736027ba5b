//! What a client can read, and be notified about, under `dormouse://KEY/WHAT`.

use std::{collections::BTreeSet, sync::Arc};

use axum::extract::State;
use dormouse_contracts::{AssistantId, Seq};
use dormouse_host::Tail;
use dormouse_mcp::{OfferedResource, SurfaceError};
use futures_util::future::join_all;
use serde_json::Value;
use tokio::{select, sync::mpsc};

use super::{Visit, tools::record};
use crate::{
    api::{
        goals::{self, ListGoals},
        heard::{self, Hearing, ListUtterances},
        journal::{self, FindEntries},
        memory, status,
    },
    extract::{Asked, ItemId, Key},
    problem::{Problem, ProblemCode},
    service::{lock, over},
    tokens::Right,
};

const SCHEME: &str = "dormouse://";

/// What each assistant has, with the right that it needs.
const EACH: [(Right, &str, &str); 4] = [
    (
        Right::Talk,
        "heard",
        "What it said lately that you can hear. Subscribe to be notified when it speaks.",
    ),
    (
        Right::Read,
        "status",
        "Its status: how it is, and what it does.",
    ),
    (Right::Read, "goals", "Its goals."),
    (Right::Read, "journal", "Its journal, newest entry first."),
];

/// All resources that the token allows.
pub(super) fn offered(visit: &Visit) -> Result<Vec<OfferedResource>, Problem> {
    let assistants = visit.assistants()?;
    let of = |key: &AssistantId| {
        let key = key.clone();
        let its = EACH
            .iter()
            .filter(|(right, _, _)| visit.caller.token.allows(*right, &key));
        let its = its.map(|(_, what, description)| OfferedResource {
            uri: format!("{SCHEME}{key}/{what}"),
            name: format!("{what} of {key}"),
            description,
        });
        its.collect::<Vec<_>>()
    };
    Ok(assistants.iter().flat_map(of).collect())
}

/// The forms of further resources.
pub(super) fn templates(visit: &Visit) -> Vec<OfferedResource> {
    if !visit.has(Right::Read) {
        return Vec::new();
    }
    vec![OfferedResource {
        uri: format!("{SCHEME}{{assistant}}/memory/{{id}}"),
        name: "a memory".to_owned(),
        description: "One memory of an assistant, its sources and its changes.",
    }]
}

/// The key and the rest of an address.
fn parts(uri: &str) -> Option<(AssistantId, &str)> {
    let (key, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    Some((AssistantId::try_new(key).ok()?, rest))
}

/// Reads a resource.
pub(super) async fn read(visit: &Visit, uri: &str) -> Result<Value, SurfaceError> {
    let absent = || SurfaceError::no_resource(uri);
    let (key, rest) = parts(uri).ok_or_else(absent)?;
    let (state, caller, key) = (
        State(Arc::clone(&visit.service)),
        visit.caller.clone(),
        Key(key),
    );
    let value = match rest {
        "heard" => {
            let listed = heard::list(state, caller, key, Asked(ListUtterances::default()));
            serde_json::to_value(listed.await?.0)
        }
        "status" => serde_json::to_value(status::show(state, caller, key).await?.0),
        "goals" => {
            let open = Asked(ListGoals { closed: false });
            serde_json::to_value(goals::list(state, caller, key, open).await?.0)
        }
        "journal" => {
            let newest = Asked(FindEntries::default());
            serde_json::to_value(journal::list(state, caller, key, newest).await?.0)
        }
        _ => {
            let id = rest.strip_prefix("memory/").ok_or_else(absent)?;
            let id = ItemId(record(id)?);
            serde_json::to_value(memory::why(state, caller, key, id).await?.0)
        }
    };
    Ok(value.map_err(Problem::from)?)
}

/// The URI of what an assistant says.
pub(super) fn heard(key: &AssistantId) -> String {
    format!("{SCHEME}{key}/heard")
}

/// The assistant whose words these are.
pub(super) fn key(uri: &str) -> Option<AssistantId> {
    let (key, "heard") = parts(uri)? else {
        return None;
    };
    Some(key)
}

/// The assistant of this resource and the end of its log, after which the client can be notified of what it says.
/// `None` if the client may not talk to it.
pub(super) fn place(visit: &Visit, uri: &str) -> Option<(AssistantId, Seq)> {
    let key = key(uri)?;
    visit.caller.may(Right::Talk, &key).ok()?;
    let end = visit.service.exists(&key).ok()?;
    Some((key, end))
}

/// Whether the client may be notified of changes of this resource.
pub(super) fn accepts_watch(visit: &Visit, uri: &str) -> bool {
    let place = place(visit, uri);
    let is_accepted = place.is_some();
    lock(&visit.watched).extend(place);
    is_accepted
}

/// Notifies when one of these assistants says something that the client can hear. They are kept awake meanwhile.
pub(super) async fn watch(visit: &Visit, uris: Vec<String>, changed: mpsc::Sender<String>) {
    let uris: BTreeSet<String> = uris.into_iter().collect();
    let streams = Arc::clone(&visit.service.streams);
    // One place for each assistant, because each is kept awake.
    let places = u32::try_from(uris.len()).unwrap_or(u32::MAX);
    let Ok(_places) = streams.try_acquire_many_owned(places) else {
        let full = ProblemCode::TooManyStreams.because("all places for readers are taken");
        tracing::debug!(why = %full.to_text(), "a client is not notified");
        return;
    };
    let mut ending = visit.service.ending.clone();
    let all = join_all(uris.into_iter().map(|uri| follow(visit, uri, &changed)));
    select! {
        _ends = all => {}
        () = over(&mut ending) => {}
    }
}

async fn follow(visit: &Visit, uri: String, changed: &mpsc::Sender<String>) {
    let followed = async {
        let Some((key, _)) = parts(&uri) else {
            return Ok(());
        };
        let resident = visit.service.awake(&key).await?;
        let handle = resident.handle();
        let end = lock(&visit.watched).get(&key).copied();
        let after = end.unwrap_or(handle.status().seq);
        let mut events = Tail::new(visit.service.host.log(), &key, handle, after);
        let mut hearing = Hearing::of(&visit.caller.token)?;
        while let Some(recorded) = events.next().await? {
            // The token may have been revoked, or have ended, since.
            if !visit.service.still_holds(&visit.caller.token) {
                break;
            }
            let is_heard = hearing.apply(recorded.seq, &recorded.event).is_some();
            if is_heard && changed.send(uri.clone()).await.is_err() {
                break;
            }
            // The next stream begins before the oldest act whose outcome is not known yet.
            let done = hearing
                .oldest()
                .map_or(recorded.seq, |oldest| Seq(oldest.0 - 1));
            if let Some(place) = lock(&visit.watched).get_mut(&key) {
                *place = done;
            }
        }
        Ok::<(), Problem>(())
    };
    if let Err(problem) = followed.await {
        tracing::debug!(why = %problem.to_text(), "a client is no longer notified");
    }
}
