//! A request that is sent twice under one idempotency key is carried out once. The answers are kept in memory until the
//! service ends.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::{
    extract::read,
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Shared, lock},
};

/// How many answers are kept for each token. The oldest is forgotten first.
const KEPT: usize = 1_024;

/// The most bytes of an answer that is kept.
const ANSWER: usize = 1 << 20;

/// The most bytes of a key.
const KEY: usize = 128;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The answers by token and key. Each token has its own bound, so a token with many requests pushes out only its own
/// answers.
#[derive(Debug, Default)]
pub(crate) struct Replies(Mutex<HashMap<String, Kept>>);

#[derive(Debug, Default)]
struct Kept {
    by_key: HashMap<String, Entry>,
    order: VecDeque<String>,
}

/// The token and the key that it sent. Tokens do not see each other's keys.
type Name = (String, String);

#[derive(Debug)]
struct Entry {
    fingerprint: [u8; 32],
    reply: Option<Reply>,
}

/// An answer that can be sent again.
#[derive(Clone, Debug)]
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Replies {
    /// Returns the earlier answer, or `None` if the request must be carried out now.
    fn begin(&self, name: &Name, fingerprint: [u8; 32]) -> Result<Option<Reply>, Problem> {
        let (token, key) = name;
        let mut all = lock(&self.0);
        let kept = all.entry(token.clone()).or_default();
        if let Some(entry) = kept.by_key.get(key) {
            if entry.fingerprint != fingerprint {
                let why = "the same key came before with another path or body; use a new key";
                return Err(ProblemCode::IdempotencyMismatch.because(why));
            }
            return match &entry.reply {
                Some(reply) => Ok(Some(reply.clone())),
                None => {
                    let why = "the first request with this key is under way, or has failed; the log of the assistant says what it changed";
                    Err(ProblemCode::IdempotencyInUse.because(why).retry_after(1))
                }
            };
        }
        let reply = None;
        let entry = Entry { fingerprint, reply };
        kept.by_key.insert(key.clone(), entry);
        kept.order.push_back(key.clone());
        if kept.order.len() > KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.by_key.remove(&oldest);
        }
        Ok(None)
    }

    /// Keeps the answer, or forgets the key if the request was refused and changed nothing.
    fn end(&self, name: &Name, reply: Option<Reply>) {
        let (token, key) = name;
        let mut all = lock(&self.0);
        let Some(kept) = all.get_mut(token) else {
            return;
        };
        match reply {
            Some(reply) => {
                if let Some(entry) = kept.by_key.get_mut(key) {
                    entry.reply = Some(reply);
                }
            }
            None => {
                kept.by_key.remove(key);
                kept.order.retain(|its| its != key);
            }
        }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        *response.headers_mut() = self.headers;
        response
    }
}

/// Carries out a request with a key once, to its end, even if the client goes away meanwhile.
pub(crate) async fn once(
    State(service): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let token = match request.extensions().get::<Caller>() {
        Some(caller) if !request.method().is_safe() => caller.token.id.clone(),
        _ => return Ok(next.run(request).await),
    };
    let Some(key) = key(request.headers())? else {
        return Ok(next.run(request).await);
    };
    let (parts, body) = request.into_parts();
    let limits = &service.limits;
    let body = read(&parts.headers, body, limits.body_bytes, limits.patience).await?;
    let mut hash = Sha256::new();
    hash.update(parts.method.as_str());
    hash.update([0]);
    hash.update(parts.uri.to_string());
    hash.update([0]);
    hash.update(&body);
    let name = (token, key);
    if let Some(reply) = service.replies.begin(&name, hash.finalize().into())? {
        let mut response = reply.into_response();
        let replayed = HeaderValue::from_static("true");
        response.headers_mut().insert(REPLAYED, replayed);
        return Ok(response);
    }
    let request = Request::from_parts(parts, Body::from(body));
    let (answer, answered) = oneshot::channel();
    let carry_out = {
        let service = Arc::clone(&service);
        async move {
            // If this panics, the key stays without an answer, so a retry is refused and nothing happens twice.
            let response = next.run(request).await;
            let (reply, response) = keep(response).await;
            service.replies.end(&name, reply);
            // The send fails if nobody waits any more.
            drop(answer.send(response));
        }
    };
    {
        let mut kept = lock(&service.kept);
        while kept.try_join_next().is_some() {}
        kept.spawn(carry_out);
    }
    let ended = |_| ProblemCode::Internal.because("the request was not carried out to its end");
    answered.await.map_err(ended)
}

/// Returns the copy of an answer to keep, and the answer. A refusal is not kept, because nothing was changed. A failure
/// is kept, because nobody knows what was changed, and nothing may happen twice.
async fn keep(response: Response) -> (Option<Reply>, Response) {
    let status = response.status();
    if !status.is_success() && status != StatusCode::INTERNAL_SERVER_ERROR {
        return (None, response);
    }
    let (parts, body) = response.into_parts();
    match to_bytes(body, ANSWER).await {
        Ok(body) => {
            let reply = Reply {
                status: parts.status,
                headers: parts.headers,
                body,
            };
            (Some(reply.clone()), reply.into_response())
        }
        Err(error) => {
            let problem = Problem::internal(&error);
            (None, problem.into_response())
        }
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut sent = headers.get_all(HEADER).iter();
    let Some(key) = sent.next() else {
        return Ok(None);
    };
    let text = key
        .to_str()
        .ok()
        .filter(|key| !key.is_empty() && key.len() <= KEY);
    match (text, sent.next()) {
        (Some(key), None) => Ok(Some(key.to_owned())),
        _ => Err(ProblemCode::InvalidRequest.because(format!(
            "idempotency-key is not one text of 1 to {KEY} visible ASCII characters"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(key: &str) -> Name {
        ("token".to_owned(), key.to_owned())
    }

    fn reply() -> Reply {
        Reply {
            status: StatusCode::CREATED,
            headers: HeaderMap::new(),
            body: Bytes::from_static(b"{}"),
        }
    }

    #[test]
    fn a_key_is_for_one_request_and_the_oldest_answers_are_forgotten() {
        let replies = Replies::default();
        let other = ("other".to_owned(), "a".to_owned());
        assert!(replies.begin(&other, [1; 32]).unwrap().is_none());
        assert!(replies.begin(&name("a"), [1; 32]).unwrap().is_none());
        assert!(
            replies.begin(&name("a"), [1; 32]).is_err(),
            "it is under way"
        );
        replies.end(&name("a"), Some(reply()));
        assert!(replies.begin(&name("a"), [1; 32]).unwrap().is_some());
        assert!(
            replies.begin(&name("a"), [2; 32]).is_err(),
            "another request"
        );
        for number in 0..KEPT {
            let name = name(&number.to_string());
            assert!(replies.begin(&name, [1; 32]).unwrap().is_none());
        }
        assert!(replies.begin(&name("a"), [2; 32]).unwrap().is_none());
        assert!(replies.begin(&other, [2; 32]).is_err(), "of another token");
        assert!(
            lock(&replies.0)
                .values()
                .all(|kept| kept.by_key.len() <= KEPT)
        );
    }

    #[test]
    fn a_request_that_was_refused_may_be_sent_again_with_another_body() {
        let replies = Replies::default();
        assert!(replies.begin(&name("a"), [1; 32]).unwrap().is_none());
        replies.end(&name("a"), None);
        assert!(replies.begin(&name("a"), [2; 32]).unwrap().is_none());
    }
}
