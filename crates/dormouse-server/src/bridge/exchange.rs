//! One message as a request over HTTP, and its answers.

use std::{collections::BTreeSet, fmt, io, str::FromStr, sync::Mutex, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, Request, StatusCode, Uri, header, request, uri::Scheme},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dormouse_mcp::{SESSION_HEADER, resource_updated};
use futures_util::StreamExt;
use hyper::{body::Incoming, client::conn::http1::handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    select,
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::{
    mcp::{self, SUBSCRIBE, UNSUBSCRIBE},
    service::lock,
};

/// The most bytes of an answer that is one document, and of one event of a stream.
const ANSWER: usize = 16 << 20;

/// The header with the version of the protocol.
const VERSION: &str = "mcp-protocol-version";

/// How long to wait before a stream of notifications is opened again. Each further wait is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(30);

/// How long the end of a session may take.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Where a service listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress {
    /// The host with its port, as the service is called.
    authority: String,
    host: String,
    port: u16,
}

/// A text is not the address of a service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the address of a service; expected http://HOST:PORT, such as http://127.0.0.1:8420. If the service has an https address, let the client connect to it directly, without this command"
)]
pub struct ServiceAddressError(String);

impl FromStr for ServiceAddress {
    type Err = ServiceAddressError;

    fn from_str(text: &str) -> Result<Self, ServiceAddressError> {
        let invalid = || ServiceAddressError(text.to_owned());
        let uri: Uri = text.parse().map_err(|_other| invalid())?;
        let authority = uri.authority().ok_or_else(invalid)?;
        let is_plain = uri.scheme() == Some(&Scheme::HTTP)
            && matches!(uri.path().trim_end_matches('/'), "" | mcp::PATH)
            && uri.query().is_none()
            && !authority.as_str().contains('@');
        if !is_plain {
            return Err(invalid());
        }
        let host = authority.host().trim_matches(['[', ']']);
        Ok(Self {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: authority.to_string(),
        })
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}

/// Why a message has no answer of the service.
#[derive(Debug, thiserror::Error)]
enum ExchangeError {
    #[error("{address} cannot be reached: is `dormouse serve` running there? ({source})")]
    Unreachable {
        address: ServiceAddress,
        source: io::Error,
    },
    #[error("the connection with the service broke: {0}")]
    Broke(#[from] hyper::Error),
    #[error("the answer of the service broke off: {0}")]
    BrokeOff(#[from] axum::Error),
    #[error("the message cannot be sent: {0}")]
    Unsendable(#[from] axum::http::Error),
    #[error("the service sent an answer of more than {ANSWER} bytes")]
    TooLong,
    #[error("the service refused ({status}): {detail}")]
    Refused { status: StatusCode, detail: String },
    #[error("the service ended before it answered")]
    Unanswered,
}

/// The service, as one client sees it.
#[derive(Debug)]
pub(super) struct Exchange {
    service: ServiceAddress,
    token: String,
    agreed: Mutex<Agreed>,
}

/// What a client of an older generation and the service agreed on.
#[derive(Clone, Debug, Default)]
struct Agreed {
    /// The message with which the client began.
    opening: Value,
    /// The version of the protocol.
    version: Option<String>,
    session: Option<HeaderValue>,
    /// What the client subscribed to.
    subscribed: BTreeSet<String>,
}

impl Exchange {
    pub(super) fn new(service: ServiceAddress, token: String) -> Self {
        Self {
            service,
            token,
            agreed: Mutex::default(),
        }
    }

    /// Sends a message and passes on its answers. A request that fails is answered with the reason.
    pub(super) async fn carry_out(&self, message: &Value, answers: &mpsc::Sender<String>) {
        let mut sent = Box::pin(self.send(message, answers)).await;
        let is_lost = matches!(&sent, Err(error) if error.is_lost_session());
        if is_lost && Box::pin(self.begin_again(answers)).await.is_ok() {
            sent = Box::pin(self.send(message, answers)).await;
        }
        let Err(error) = sent else {
            return;
        };
        let Some(id) = message
            .get("id")
            .filter(|_| message.get("method").is_some())
        else {
            tracing::warn!(%error, "a notification of the client was not delivered");
            return;
        };
        let problem = json!({ "code": -32000, "message": error.to_string() });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "error": problem });
        // Without a reader there is nobody to answer.
        drop(answers.send(answer.to_string()).await);
    }

    /// Notes that the client begins.
    pub(super) fn begin(&self, opening: &Value) {
        *lock(&self.agreed) = Agreed {
            opening: opening.clone(),
            ..Agreed::default()
        };
    }

    /// Begins a new session as the client did, with its subscriptions: the service was started anew, and its client was not.
    async fn begin_again(&self, answers: &mpsc::Sender<String>) -> Result<(), ExchangeError> {
        let Agreed {
            opening,
            subscribed,
            ..
        } = lock(&self.agreed).clone();
        if opening.is_null() {
            // A client of the newer generation has no session.
            return Err(ExchangeError::Unanswered);
        }
        // The client has these answers already.
        let (unread, _) = mpsc::channel(1);
        self.send(&opening, &unread).await?;
        for uri in subscribed {
            let asked = json!({ "uri": uri });
            let again = json!({ "jsonrpc": "2.0", "id": 0, "method": SUBSCRIBE, "params": asked });
            self.send(&again, &unread).await?;
            // What was said in between is not known.
            drop(answers.send(resource_updated(&uri)).await);
        }
        Ok(())
    }

    /// Ends the session, if there is one.
    pub(super) async fn end(&self) {
        let agreed = lock(&self.agreed).clone();
        if agreed.session.is_none() {
            return;
        }
        let request = self.head(Request::delete(mcp::PATH), &agreed, None);
        let (unread, _) = mpsc::channel(1);
        if let Ok(request) = request.body(Body::empty()) {
            let ended = Box::pin(self.exchange(&Value::Null, request, &unread));
            drop(timeout(END_LIMIT, ended).await);
        }
    }

    /// Passes on what the client is notified of in its session, as long as somebody reads. A stream that breaks off is opened
    /// again, and a session that is gone is begun again.
    pub(super) async fn follow(&self, answers: &mpsc::Sender<String>) {
        let mut pause = FIRST_PAUSE;
        while !answers.is_closed() {
            let agreed = lock(&self.agreed).clone();
            let head = self.head(Request::get(mcp::PATH), &agreed, None);
            let request = match head.body(Body::empty()) {
                Ok(request) => request,
                Err(error) => {
                    tracing::warn!(%error, "no notifications: the request for them cannot be sent");
                    return;
                }
            };
            match Box::pin(self.exchange(&Value::Null, request, answers)).await {
                Ok(()) => pause = FIRST_PAUSE,
                Err(error) if error.is_lost_session() => {
                    match Box::pin(self.begin_again(answers)).await {
                        Ok(()) => pause = FIRST_PAUSE,
                        Err(error) => tracing::debug!(%error, "no notifications for now"),
                    }
                }
                Err(error) => tracing::debug!(%error, "no notifications for now"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    async fn send(
        &self,
        message: &Value,
        answers: &mpsc::Sender<String>,
    ) -> Result<(), ExchangeError> {
        let request = self.request(message)?;
        self.exchange(message, request, answers).await
    }

    async fn exchange(
        &self,
        message: &Value,
        request: Request<Body>,
        answers: &mpsc::Sender<String>,
    ) -> Result<(), ExchangeError> {
        let target = (self.service.host.as_str(), self.service.port);
        let stream = TcpStream::connect(target).await;
        let stream = stream.map_err(|source| ExchangeError::Unreachable {
            address: self.service.clone(),
            source,
        })?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
        let exchange = async {
            let response = sender.send_request(request).await?;
            self.pass_on(message, response, answers).await
        };
        let (mut exchange, connection) = (std::pin::pin!(exchange), std::pin::pin!(connection));
        select! {
            done = &mut exchange => return done,
            // The answer may be complete already, and not read.
            _ended = connection => {}
        }
        exchange.await
    }

    fn request(&self, message: &Value) -> Result<Request<Body>, ExchangeError> {
        let its = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let its = its.and_then(Value::as_str);
        let method = message.get("method").and_then(Value::as_str);
        let agreed = match method {
            Some("initialize") => Agreed::default(),
            _ => lock(&self.agreed).clone(),
        };
        let mut request = self
            .head(Request::post(mcp::PATH), &agreed, its)
            .header(header::CONTENT_TYPE, "application/json");
        // A request that is complete in itself repeats in its headers what it asks for.
        if let (Some(_), Some(method)) = (its, method) {
            request = request.header("mcp-method", method);
            let name = match method {
                "tools/call" | "prompts/get" => message.pointer("/params/name"),
                "resources/read" => message.pointer("/params/uri"),
                _ => None,
            };
            if let Some(name) = name.and_then(Value::as_str) {
                request = request.header("mcp-name", in_header(name));
            }
        }
        Ok(request.body(Body::from(message.to_string()))?)
    }

    /// Sets the headers that every request has. `its` is the version that the message itself names.
    fn head(
        &self,
        request: request::Builder,
        agreed: &Agreed,
        its: Option<&str>,
    ) -> request::Builder {
        let request = request
            .header(header::HOST, &self.service.authority)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::ACCEPT, "application/json, text/event-stream");
        let request = match its.or(agreed.version.as_deref()) {
            Some(version) => request.header(VERSION, version),
            None => request,
        };
        match &agreed.session {
            Some(session) => request.header(SESSION_HEADER, session),
            None => request,
        }
    }

    async fn pass_on(
        &self,
        message: &Value,
        response: axum::http::Response<Incoming>,
        answers: &mpsc::Sender<String>,
    ) -> Result<(), ExchangeError> {
        let status = response.status();
        let session = response.headers().get(SESSION_HEADER).cloned();
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = kind.starts_with("text/event-stream");
        let mut body = Body::new(response.into_body()).into_data_stream();
        let (mut unread, mut searched) = (Vec::new(), 0);
        while let Some(piece) = body.next().await {
            let piece: Bytes = piece?;
            if unread.len() + piece.len() > ANSWER {
                return Err(ExchangeError::TooLong);
            }
            unread.extend_from_slice(&piece);
            if !is_stream {
                continue;
            }
            while let Some(event) = next_event(&mut unread, &mut searched) {
                // A client that is gone reads nothing more.
                if !event.is_empty() && answers.send(event).await.is_err() {
                    return Ok(());
                }
            }
        }
        if is_stream || status == StatusCode::ACCEPTED {
            return Ok(());
        }
        let answer: Value = serde_json::from_slice(&unread).unwrap_or_default();
        if answer.get("jsonrpc").is_none() {
            return Err(match status.is_success() {
                true => ExchangeError::Unanswered,
                false => refused(status, &answer),
            });
        }
        if answer.get("result").is_some() {
            self.note(message, &answer, session);
        }
        drop(answers.send(answer.to_string()).await);
        Ok(())
    }
}

impl Exchange {
    /// Notes what the service agreed to.
    fn note(&self, message: &Value, answer: &Value, session: Option<HeaderValue>) {
        let mut agreed = lock(&self.agreed);
        let uri = message.pointer("/params/uri").and_then(Value::as_str);
        match (message.get("method").and_then(Value::as_str), uri) {
            (Some("initialize"), _) => {
                let version = answer.pointer("/result/protocolVersion");
                agreed.version = version.and_then(Value::as_str).map(str::to_owned);
                agreed.session = session;
            }
            (Some(SUBSCRIBE), Some(uri)) => drop(agreed.subscribed.insert(uri.to_owned())),
            (Some(UNSUBSCRIBE), Some(uri)) => drop(agreed.subscribed.remove(uri)),
            _ => {}
        }
    }
}

impl ExchangeError {
    /// Whether the service does not know the session.
    fn is_lost_session(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == StatusCode::NOT_FOUND)
    }
}

/// What a problem of the service says.
fn refused(status: StatusCode, problem: &Value) -> ExchangeError {
    let text = |name| {
        problem
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    ExchangeError::Refused {
        status,
        detail: format!("{}: {}", text("title"), text("detail")),
    }
}

/// Takes the next complete event of a stream, as one line; empty if it has no data. `searched` bytes have no end of an event in
/// them: an event comes in many pieces.
fn next_event(unread: &mut Vec<u8>, searched: &mut usize) -> Option<String> {
    let new = unread.get(*searched..).unwrap_or_default();
    let Some(end) = new.windows(2).position(|two| two == b"\n\n") else {
        *searched = unread.len().saturating_sub(1);
        return None;
    };
    let event: Vec<u8> = unread.drain(..*searched + end + 2).collect();
    *searched = 0;
    let event = String::from_utf8_lossy(&event);
    let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
    // The lines of one event are one JSON document.
    Some(
        data.map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect(),
    )
}

/// A text that a header cannot hold is sent in Base64, as the protocol says.
fn in_header(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim() == text
        && !text.is_empty()
        && !text.starts_with("=?base64?");
    match is_plain {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", BASE64_STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_plain_http_and_names_a_host() {
        for (text, host, port) in [
            ("http://127.0.0.1:8420", "127.0.0.1", 8420),
            ("http://[::1]:8420/", "::1", 8420),
            ("http://tea.example/mcp", "tea.example", 80),
        ] {
            let address: ServiceAddress = text.parse().unwrap();
            assert_eq!(
                (address.host.as_str(), address.port),
                (host, port),
                "{text}"
            );
        }
        for text in [
            "",
            "127.0.0.1:8420",
            "https://tea.example",
            "http://ann:secret@tea.example",
            "http://tea.example/other",
            "http://tea.example/?a=b",
            "file:///etc/passwd",
        ] {
            assert!(text.parse::<ServiceAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn events_are_read_one_by_one_and_comments_are_no_answers() {
        let mut unread = b": ping\n\nid: 1\ndata: {\"a\":1}\n\ndata: {\"b\"".to_vec();
        let mut searched = 0;
        let mut next = |unread: &mut Vec<u8>| next_event(unread, &mut searched);
        assert_eq!(next(&mut unread).as_deref(), Some(""));
        assert_eq!(next(&mut unread).as_deref(), Some("{\"a\":1}"));
        assert_eq!(next(&mut unread), None);
        unread.extend(b":2}\n");
        assert_eq!(next(&mut unread), None);
        unread.extend(b"\n");
        assert_eq!(next(&mut unread).as_deref(), Some("{\"b\":2}"));
    }

    #[test]
    fn a_name_that_a_header_cannot_hold_is_encoded() {
        assert_eq!(in_header("talk"), "talk");
        assert_eq!(in_header("dormouse://hare/heard"), "dormouse://hare/heard");
        assert_eq!(in_header("tée\r\nx: y"), "=?base64?dMOpZQ0KeDogeQ==?=");
    }
}
