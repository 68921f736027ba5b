//! A request that is sent twice under one idempotency key is carried out once, also if the service is killed in between. The
//! answers are kept for a day.

mod reply_file;

use std::{
    collections::{HashMap, VecDeque},
    io,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use dormouse_contracts::Timestamp;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use self::reply_file::{Flush, Line, ReplyFile};
use crate::{
    extract::read as read_body,
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Shared, lock},
};

/// How many answers are kept for each token. The oldest is forgotten first.
const KEPT: usize = 1_024;

/// How long an answer is kept.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The most bytes of an answer that is kept.
const ANSWER: usize = 1 << 20;

/// The most bytes of a key.
const KEY: usize = 128;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// What was answered under which key, by token: one that sends many requests pushes out no answer to another. It is in memory and in
/// a file. If both are locked, the file is locked first.
#[derive(Debug)]
pub(crate) struct Replies {
    kept: Mutex<HashMap<String, Kept>>,
    file: Mutex<ReplyFile>,
}

#[derive(Debug, Default)]
struct Kept {
    by_key: HashMap<String, Entry>,
    order: VecDeque<String>,
}

/// The token and the key that it sent. Tokens do not see each other's keys.
type Name = (String, String);

#[derive(Debug)]
struct Entry {
    at: Timestamp,
    fingerprint: [u8; 32],
    reply: EntryReply,
}

/// What became of a request.
#[derive(Debug)]
enum EntryReply {
    UnderWay,
    /// The service ended before it was answered, so nobody knows what it changed.
    BrokenOff,
    Given(Reply),
}

/// An answer that can be sent again.
#[derive(Clone, Debug)]
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Replies {
    /// Reads the answers that are kept in this folder.
    pub(crate) fn in_folder(folder: &Path, now: Timestamp) -> io::Result<Self> {
        let (file, lines) = ReplyFile::open(folder)?;
        let mut kept: HashMap<String, Kept> = HashMap::new();
        for line in lines {
            read(&mut kept, line, now);
        }
        Ok(Self {
            kept: Mutex::new(kept),
            file: Mutex::new(file),
        })
    }

    /// Returns the earlier answer, or `None` if the request must be carried out now. That it begins is on disk then.
    fn begin(
        &self,
        name: &Name,
        fingerprint: [u8; 32],
        now: Timestamp,
    ) -> Result<Option<Reply>, Problem> {
        if let Some(reply) = self.look_up(name, fingerprint, now)? {
            return Ok(Some(reply));
        }
        let line = Line::began(name, now, fingerprint);
        if let Err(error) = self.add(&line, Flush::Now) {
            if let Some(kept) = lock(&self.kept).get_mut(&name.0) {
                kept.forget(&name.1);
            }
            tracing::error!(%error, "that a request begins could not be written");
            let why = "the idempotency key could not be stored, and nothing was changed";
            return Err(ProblemCode::Storage.because(why));
        }
        Ok(None)
    }

    /// The earlier answer. If there was no such request, it counts as under way from now on.
    fn look_up(
        &self,
        (token, key): &Name,
        fingerprint: [u8; 32],
        now: Timestamp,
    ) -> Result<Option<Reply>, Problem> {
        let mut all = lock(&self.kept);
        let kept = all.entry(token.clone()).or_default();
        kept.forget_old(now);
        let Some(entry) = kept.by_key.get(key) else {
            kept.insert(
                key.clone(),
                Entry {
                    at: now,
                    fingerprint,
                    reply: EntryReply::UnderWay,
                },
            );
            return Ok(None);
        };
        if entry.fingerprint != fingerprint {
            let why = "the same key came before with another path or body; use a new key";
            return Err(ProblemCode::IdempotencyMismatch.because(why));
        }
        match &entry.reply {
            EntryReply::Given(reply) => Ok(Some(reply.clone())),
            EntryReply::UnderWay => {
                let why = "the first request with this key is under way, or has failed; the log of the assistant says what it changed";
                Err(ProblemCode::IdempotencyInUse.because(why).retry_after(1))
            }
            EntryReply::BrokenOff => {
                let why = "the service ended while it carried out the first request with this key: the log of the assistant (audit/) says what it \
                    changed. Use a new key for another attempt";
                Err(ProblemCode::IdempotencyInUse.because(why))
            }
        }
    }

    /// Keeps the answer, or forgets the key if the request was refused and changed nothing.
    fn end(&self, name: &Name, reply: Option<Reply>) {
        // An answer must be on disk before it is sent. If it is lost, a later request learns only that there was one.
        let (line, flush) = match &reply {
            Some(reply) => (Line::answered(name, reply), Flush::Now),
            None => (Line::refused(name), Flush::Later),
        };
        if let Err(error) = self.add(&line, flush) {
            tracing::error!(%error, "an answer could not be written: it is forgotten when the service ends");
        }
        let (token, key) = name;
        let mut all = lock(&self.kept);
        let Some(kept) = all.get_mut(token) else {
            return;
        };
        match reply {
            Some(reply) => {
                if let Some(entry) = kept.by_key.get_mut(key) {
                    entry.reply = EntryReply::Given(reply);
                }
            }
            None => kept.forget(key),
        }
    }

    fn add(&self, line: &Line, flush: Flush) -> io::Result<()> {
        let mut file = lock(&self.file);
        file.add(line, flush)?;
        if file.is_long() {
            let lines = lines(&lock(&self.kept));
            // The lines that are there stay valid.
            if let Err(error) = file.rewrite(&lines) {
                tracing::warn!(%error, "the kept answers could not be written anew");
            }
        }
        Ok(())
    }
}

impl Kept {
    fn insert(&mut self, key: String, entry: Entry) {
        if self.by_key.insert(key.clone(), entry).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_key.remove(&oldest);
        }
    }

    fn forget(&mut self, key: &str) {
        self.by_key.remove(key);
        self.order.retain(|its| its != key);
    }

    /// Forgets answers that were kept long enough.
    fn forget_old(&mut self, now: Timestamp) {
        while let Some(oldest) = self.order.front()
            && (self.by_key.get(oldest)).is_none_or(|entry| now.since(entry.at) > KEPT_FOR)
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_key.remove(&oldest);
        }
    }
}

/// Takes in a line of the file.
fn read(all: &mut HashMap<String, Kept>, line: Line, now: Timestamp) {
    match line {
        Line::Began {
            token,
            key,
            at,
            fingerprint,
        } => {
            if let Some(fingerprint) = Line::fingerprint(&fingerprint)
                && now.since(at) <= KEPT_FOR
            {
                let reply = EntryReply::BrokenOff;
                let entry = Entry {
                    at,
                    fingerprint,
                    reply,
                };
                let kept = all.entry(token).or_default();
                // The order is that of the latest requests.
                kept.forget(&key);
                kept.insert(key, entry);
            }
        }
        Line::Answered {
            token,
            key,
            status,
            headers,
            body,
        } => {
            let entry = all
                .get_mut(&token)
                .and_then(|kept| kept.by_key.get_mut(&key));
            if let Some(entry) = entry
                && let Some(reply) = Line::reply(status, headers, body)
            {
                entry.reply = EntryReply::Given(reply);
            }
        }
        Line::Refused { token, key } => {
            if let Some(kept) = all.get_mut(&token) {
                kept.forget(&key);
            }
        }
    }
}

/// All that is kept, as lines.
fn lines(all: &HashMap<String, Kept>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (token, kept) in all {
        for key in &kept.order {
            let Some(entry) = kept.by_key.get(key) else {
                continue;
            };
            let name = (token.clone(), key.clone());
            lines.push(Line::began(&name, entry.at, entry.fingerprint));
            if let EntryReply::Given(reply) = &entry.reply {
                lines.push(Line::answered(&name, reply));
            }
        }
    }
    lines
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
    let body = read_body(&parts.headers, body, limits.body_bytes, limits.patience).await?;
    let mut hash = Sha256::new();
    hash.update(parts.method.as_str());
    hash.update([0]);
    hash.update(parts.uri.to_string());
    hash.update([0]);
    hash.update(&body);
    let name = (token, key);
    let begun = {
        let (service, name) = (Arc::clone(&service), name.clone());
        let (fingerprint, now) = (hash.finalize().into(), service.now());
        // This waits for the disk.
        spawn_blocking(move || service.replies.begin(&name, fingerprint, now)).await
    };
    if let Some(reply) = begun.map_err(|error| Problem::internal(&error))?? {
        let mut response = reply.into_response();
        let replayed = HeaderValue::from_static("true");
        response.headers_mut().insert(REPLAYED, replayed);
        return Ok(response);
    }
    let request = Request::from_parts(parts, Body::from(body));
    let carry_out = {
        let service = Arc::clone(&service);
        async move {
            // If this panics, the key stays without an answer, so a retry is refused and nothing happens twice.
            let response = next.run(request).await;
            let (reply, response) = keep(response).await;
            let keeping = Arc::clone(&service);
            let kept = spawn_blocking(move || keeping.replies.end(&name, reply)).await;
            kept.map_err(|error| Problem::internal(&error))?;
            Ok(response)
        }
    };
    service.to_its_end(carry_out).await
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
    use std::fs;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_219_200_000_000);

    fn name(key: &str) -> Name {
        ("token".to_owned(), key.to_owned())
    }

    fn reply(body: &'static str) -> Reply {
        Reply {
            status: StatusCode::CREATED,
            headers: HeaderMap::from_iter([(HEADER, HeaderValue::from_static("x"))]),
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    fn open(folder: &tempfile::TempDir, now: Timestamp) -> Replies {
        Replies::in_folder(folder.path(), now).unwrap()
    }

    #[test]
    fn a_key_is_for_one_request_and_the_oldest_answers_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let replies = open(&folder, NOW);
        let begin = |name: &Name, fingerprint| replies.begin(name, fingerprint, NOW);
        let other = ("other".to_owned(), "a".to_owned());
        assert!(begin(&other, [1; 32]).unwrap().is_none());
        assert!(begin(&name("a"), [1; 32]).unwrap().is_none());
        assert!(begin(&name("a"), [1; 32]).is_err(), "it is under way");
        replies.end(&name("a"), Some(reply("{}")));
        assert!(begin(&name("a"), [1; 32]).unwrap().is_some());
        assert!(begin(&name("a"), [2; 32]).is_err(), "another request");
        for number in 0..KEPT {
            let name = name(&number.to_string());
            assert!(begin(&name, [1; 32]).unwrap().is_none());
        }
        assert!(begin(&name("a"), [2; 32]).unwrap().is_none());
        assert!(begin(&other, [2; 32]).is_err(), "of another token");
        let all = lock(&replies.kept);
        assert!(all.values().all(|kept| kept.by_key.len() <= KEPT));
    }

    #[test]
    fn a_request_that_was_refused_may_be_sent_again_with_another_body() {
        let folder = tempfile::tempdir().unwrap();
        let replies = open(&folder, NOW);
        assert!(replies.begin(&name("a"), [1; 32], NOW).unwrap().is_none());
        replies.end(&name("a"), None);
        let again = open(&folder, NOW);
        for replies in [replies, again] {
            assert!(replies.begin(&name("a"), [2; 32], NOW).unwrap().is_none());
        }
    }

    #[test]
    fn answers_are_known_after_a_kill_and_a_request_that_was_not_answered_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let replies = open(&folder, NOW);
        for key in ["answered", "broken off"] {
            assert!(replies.begin(&name(key), [1; 32], NOW).unwrap().is_none());
        }
        replies.end(&name("answered"), Some(reply("{\"line\":\"\n\"}")));
        drop(replies);
        // The last line was not finished.
        let file = folder.path().join("replies.jsonl");
        let mut text = fs::read(&file).unwrap();
        text.extend(b"{\"what\":\"began\",\"tok");
        fs::write(&file, text).unwrap();
        let replies = open(&folder, NOW);
        let known = replies
            .begin(&name("answered"), [1; 32], NOW)
            .unwrap()
            .unwrap();
        assert_eq!(known.status, StatusCode::CREATED);
        assert_eq!(known.body, "{\"line\":\"\n\"}");
        assert_eq!(known.headers[HEADER], "x");
        assert!(replies.begin(&name("answered"), [2; 32], NOW).is_err());
        assert!(replies.begin(&name("broken off"), [1; 32], NOW).is_err());
        assert!(replies.begin(&name("new"), [1; 32], NOW).unwrap().is_none());
        replies.end(&name("new"), Some(reply("{}")));
        assert!(
            open(&folder, NOW)
                .begin(&name("new"), [1; 32], NOW)
                .unwrap()
                .is_some()
        );
        let later = NOW.plus(KEPT_FOR + Duration::from_secs(1));
        let replies = open(&folder, later);
        assert!(lock(&replies.kept).is_empty());
        assert!(
            replies
                .begin(&name("answered"), [2; 32], later)
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn the_file_stays_short_and_has_the_newest_answers() {
        let folder = tempfile::tempdir().unwrap();
        let replies = open(&folder, NOW);
        let long: &'static str = Box::leak("x".repeat(8_192).into_boxed_str());
        for number in 0..3 * KEPT {
            let name = name(&number.to_string());
            assert!(replies.begin(&name, [1; 32], NOW).unwrap().is_none());
            replies.end(&name, Some(reply(long)));
        }
        drop(replies);
        let bytes = fs::metadata(folder.path().join("replies.jsonl"))
            .unwrap()
            .len();
        let each = 8_192 + 500;
        assert!(bytes < 3 * KEPT as u64 * each, "{bytes}");
        let replies = open(&folder, NOW);
        let last = name(&(3 * KEPT - 1).to_string());
        assert!(replies.begin(&last, [1; 32], NOW).unwrap().is_some());
        assert_eq!(lock(&replies.kept)["token"].by_key.len(), KEPT);
    }
}
