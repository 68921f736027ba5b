//! The requests that the log makes of JetStream. Nothing is decided here.

use std::{io, time::Duration};

use async_nats::{Client, HeaderMap, Request, RequestErrorKind, StatusCode};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use dormouse_contracts::BoxError;
use futures_util::StreamExt;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use crate::frame::{Sealed, hex};

/// How long one request may take. A change of leaders takes longer, so requests are made again.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(2);
/// The headers of a message count towards its size, and are shorter than this.
pub(crate) const HEADER_BYTES: usize = 512;
const NO_MESSAGE: u32 = 10037;
/// The last message of the subject is not the one that the writer expects.
pub(crate) const WRONG_LAST_SEQUENCE: u32 = 10071;
pub(crate) const NO_STREAM: u32 = 10059;

/// An error in the server's words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("the server refused: {description} ({err_code})")]
pub(crate) struct ServerError {
    pub(crate) code: u16,
    #[serde(default)]
    pub(crate) err_code: u32,
    #[serde(default)]
    pub(crate) description: String,
}

/// Why a request has no usable answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The stream has no leader, or JetStream is not there. The request was not delivered.
    #[error("no server answers for the stream")]
    NoResponders,
    /// The request may have been delivered.
    #[error("no answer came in time")]
    Silence(#[source] Option<BoxError>),
    #[error("the server's answer could not be understood")]
    Malformed(#[source] BoxError),
}

impl ApiError {
    /// Whether the same request may succeed soon.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::NoResponders | Self::Silence(_) => true,
            // 503: the cluster is choosing a leader, or the server is starting.
            Self::Server(error) => error.code == 503,
            Self::Malformed(_) => false,
        }
    }

    fn is(&self, number: u32) -> bool {
        matches!(self, Self::Server(error) if error.err_code == number)
    }

    /// The last message of the subject is not the expected one.
    pub(crate) fn is_wrong_sequence(&self) -> bool {
        self.is(WRONG_LAST_SEQUENCE)
    }

    pub(crate) fn is_no_stream(&self) -> bool {
        self.is(NO_STREAM)
    }
}

/// A message of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamMessage {
    pub(crate) seq: u64,
    pub(crate) subject: String,
    pub(crate) payload: Bytes,
}

#[derive(Deserialize)]
struct Failure {
    error: Option<ServerError>,
}

#[derive(Deserialize)]
struct Published {
    seq: u64,
}

#[derive(Deserialize)]
struct Got {
    message: GotMessage,
}

#[derive(Deserialize)]
struct GotMessage {
    seq: u64,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    data: String,
}

/// What appending, reading and owning ask of one stream. The simulation answers them, too.
pub(crate) trait StreamRequests: Clone + Send + Sync + 'static {
    /// The name of the stream, with which its subjects begin.
    fn stream(&self) -> &str;

    /// The largest message that the server accepts, with its headers.
    fn max_payload(&self) -> usize;

    /// Publishes a message if the last one of its subject has the sequence `expected` (0: there is none). Returns its own.
    fn publish(
        &self,
        subject: &str,
        message: &Sealed,
        expected: u64,
    ) -> impl Future<Output = Result<u64, ApiError>> + Send;

    /// Puts the value of a key in the place of the one with the sequence `expected` (0: there is none). Returns its own. With a
    /// lifetime, the servers remove it after that.
    fn put(
        &self,
        subject: &str,
        value: Bytes,
        expected: u64,
        lifetime: Option<Duration>,
    ) -> impl Future<Output = Result<u64, ApiError>> + Send;

    /// The last message of a subject, from the stream's leader.
    fn last(
        &self,
        subject: &str,
    ) -> impl Future<Output = Result<Option<StreamMessage>, ApiError>> + Send;

    /// The first message of a subject from this sequence on, from the stream's leader.
    fn next(
        &self,
        subject: &str,
        from: u64,
    ) -> impl Future<Output = Result<Option<StreamMessage>, ApiError>> + Send;

    /// Up to `count` messages of a subject, or of all that match it, from this sequence on, from any server that has the stream.
    /// It may lack the newest.
    fn batch(
        &self,
        subject: &str,
        from: u64,
        count: usize,
        bytes: usize,
    ) -> impl Future<Output = Result<Vec<StreamMessage>, ApiError>> + Send;
}

/// The requests of one stream, over a connection.
#[derive(Clone, Debug)]
pub(crate) struct StreamApi {
    pub(crate) client: Client,
    pub(crate) stream: String,
}

impl StreamApi {
    /// Headers of a message that follows the one with this sequence in its subject.
    fn expecting(&self, expected: u64) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Stream", self.stream.as_str());
        headers.insert("Nats-Expected-Last-Subject-Sequence", expected.to_string());
        headers
    }

    /// Publishes a message whatever the stream contains. Returns its sequence.
    pub(crate) async fn publish_anyway(
        &self,
        subject: &str,
        payload: Bytes,
    ) -> Result<u64, ApiError> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Stream", self.stream.as_str());
        self.publish_with(subject, payload, headers).await
    }

    async fn publish_with(
        &self,
        subject: &str,
        payload: Bytes,
        headers: HeaderMap,
    ) -> Result<u64, ApiError> {
        let request = Request::new().payload(payload).headers(headers);
        let published: Published = self.ask(subject.to_owned(), request).await?;
        Ok(published.seq)
    }

    /// One message, from the stream's leader.
    pub(crate) async fn at(&self, seq: u64) -> Result<Option<StreamMessage>, ApiError> {
        self.get(json!({ "seq": seq })).await
    }

    async fn get(&self, query: Value) -> Result<Option<StreamMessage>, ApiError> {
        match self.api("STREAM.MSG.GET", &query).await {
            Ok(Got { message }) => {
                let payload = STANDARD.decode(message.data);
                let payload = payload.map_err(|error| ApiError::Malformed(error.into()))?;
                Ok(Some(StreamMessage {
                    seq: message.seq,
                    subject: message.subject,
                    payload: payload.into(),
                }))
            }
            Err(error) if error.is(NO_MESSAGE) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the server knows of the stream.
    pub(crate) async fn info<T: DeserializeOwned>(&self, query: &Value) -> Result<T, ApiError> {
        self.api("STREAM.INFO", query).await
    }

    /// Makes the stream.
    pub(crate) async fn create(&self, config: &Value) -> Result<(), ApiError> {
        self.api("STREAM.CREATE", config)
            .await
            .map(|_created: Value| ())
    }

    async fn api<T: DeserializeOwned>(&self, verb: &str, body: &Value) -> Result<T, ApiError> {
        let request = Request::new().payload(body.to_string().into());
        self.ask(format!("$JS.API.{verb}.{}", self.stream), request)
            .await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        subject: String,
        request: Request,
    ) -> Result<T, ApiError> {
        let request = request.timeout(Some(ATTEMPT));
        let answer = self.client.send_request(subject, request).await;
        let answer = answer.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => ApiError::NoResponders,
            RequestErrorKind::TimedOut
            | RequestErrorKind::InvalidSubject
            | RequestErrorKind::MaxPayloadExceeded
            | RequestErrorKind::Other => ApiError::Silence(Some(error.into())),
        })?;
        parse(&answer.payload)
    }
}

impl StreamRequests for StreamApi {
    fn stream(&self) -> &str {
        &self.stream
    }

    fn max_payload(&self) -> usize {
        self.client.max_payload()
    }

    async fn publish(
        &self,
        subject: &str,
        message: &Sealed,
        expected: u64,
    ) -> Result<u64, ApiError> {
        let mut headers = self.expecting(expected);
        headers.insert("Nats-Msg-Id", hex(&message.hash));
        self.publish_with(subject, message.bytes.clone().into(), headers)
            .await
    }

    async fn put(
        &self,
        subject: &str,
        value: Bytes,
        expected: u64,
        lifetime: Option<Duration>,
    ) -> Result<u64, ApiError> {
        let mut headers = self.expecting(expected);
        if let Some(lifetime) = lifetime {
            // Whole seconds: less is not accepted.
            headers.insert("Nats-TTL", format!("{}s", lifetime.as_secs().max(1)));
        }
        self.publish_with(subject, value, headers).await
    }

    async fn last(&self, subject: &str) -> Result<Option<StreamMessage>, ApiError> {
        self.get(json!({ "last_by_subj": subject })).await
    }

    async fn next(&self, subject: &str, from: u64) -> Result<Option<StreamMessage>, ApiError> {
        self.get(json!({ "next_by_subj": subject, "seq": from }))
            .await
    }

    async fn batch(
        &self,
        subject: &str,
        from: u64,
        count: usize,
        bytes: usize,
    ) -> Result<Vec<StreamMessage>, ApiError> {
        let inbox = self.client.new_inbox();
        let mut answers = self
            .client
            .subscribe(inbox.clone())
            .await
            .map_err(|error| ApiError::Silence(Some(error.into())))?;
        let query =
            json!({ "seq": from, "next_by_subj": subject, "batch": count, "max_bytes": bytes });
        let to = format!("$JS.API.DIRECT.GET.{}", self.stream);
        self.client
            .publish_with_reply(to, inbox, query.to_string().into())
            .await
            .map_err(|error| ApiError::Silence(Some(error.into())))?;
        let mut messages = Vec::new();
        loop {
            let answer = timeout(ATTEMPT, answers.next()).await;
            let Some(answer) = answer.map_err(|late| ApiError::Silence(Some(late.into())))? else {
                return Err(ApiError::Silence(None));
            };
            match answer.status.map(|status| status.as_u16()) {
                None => {
                    let seq = answer.headers.as_ref().and_then(sequence);
                    let seq = seq.ok_or_else(|| ApiError::Malformed("no sequence".into()))?;
                    let payload = answer.payload;
                    let subject = answer
                        .headers
                        .as_ref()
                        .and_then(subject_of)
                        .unwrap_or_default();
                    messages.push(StreamMessage {
                        seq,
                        subject,
                        payload,
                    });
                }
                // The end of the batch, and: there is no such message.
                Some(204 | 404) => return Ok(messages),
                Some(code) if code == StatusCode::NO_RESPONDERS.as_u16() => {
                    return Err(ApiError::NoResponders);
                }
                Some(code) => {
                    return Err(ApiError::Server(ServerError {
                        code,
                        err_code: 0,
                        description: answer.description.unwrap_or_default(),
                    }));
                }
            }
        }
    }
}

/// An answer of the server's, or the error in it.
fn parse<T: DeserializeOwned>(payload: &[u8]) -> Result<T, ApiError> {
    let malformed = |error: serde_json::Error| ApiError::Malformed(error.into());
    let failure: Failure = serde_json::from_slice(payload).map_err(malformed)?;
    match failure.error {
        Some(error) => Err(error.into()),
        None => serde_json::from_slice(payload).map_err(malformed),
    }
}

fn subject_of(headers: &HeaderMap) -> Option<String> {
    Some(headers.get("Nats-Subject")?.as_str().to_owned())
}

fn sequence(headers: &HeaderMap) -> Option<u64> {
    headers.get("Nats-Sequence")?.as_str().parse().ok()
}

/// Asks every server of the cluster, over a connection of the system account. Returns when `is_enough` says so, or after
/// [`ATTEMPT`].
pub(crate) async fn ask_servers<T: DeserializeOwned>(
    client: &Client,
    question: &str,
    is_enough: impl Fn(&[T]) -> bool,
) -> Result<Vec<T>, BoxError> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await?;
    let subject = format!("$SYS.REQ.SERVER.PING.{question}");
    client
        .publish_with_reply(subject, inbox, Bytes::new())
        .await?;
    let deadline = Instant::now() + ATTEMPT;
    let mut all = Vec::new();
    while !is_enough(&all) {
        match timeout_at(deadline, answers.next()).await {
            Ok(Some(answer)) if answer.status == Some(StatusCode::NO_RESPONDERS) => {
                return Err("the connection is not of the system account".into());
            }
            Ok(Some(answer)) => all.push(serde_json::from_slice(&answer.payload)?),
            Ok(None) => return Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
            Err(_late) => break,
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_an_answer_is_found_and_judged() {
        let answer = br#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},"stream":"LIVES","seq":0}"#;
        let error = parse::<Published>(answer).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the server refused: wrong last sequence: 5 (10071)"
        );
        assert!(error.is(10071) && !error.is_transient());
        let answer = br#"{"error":{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}}"#;
        assert!(parse::<Value>(answer).err().unwrap().is_transient());
        let published: Published =
            parse(br#"{"stream":"LIVES","seq":5,"duplicate":true}"#).unwrap();
        assert_eq!(published.seq, 5);
        assert!(!parse::<Published>(b"-ERR").err().unwrap().is_transient());
    }
}
