//! The members of a file, for deserialisation.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use dormouse_contracts::Timestamp;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::{
    cassette::{About, Cassette},
    exchange::{Body, Chunk, Ending, Exchange, Header, RecordedRequest, RecordedResponse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "dormouse_cassette")]
    _version: u64,
    #[serde(deserialize_with = "time")]
    recorded_at: Timestamp,
    program: String,
    #[serde(default)]
    service: String,
    note: String,
    #[serde(default)]
    left_out_exchanges: u64,
    exchanges: Vec<FiledExchange>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FiledExchange {
    request: Request,
    response: Option<Response>,
    ending: Ending,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(try_from = "RawRequest")]
struct Request(RecordedRequest);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRequest {
    method: String,
    target: String,
    host: Option<String>,
    #[serde(default)]
    headers: Vec<Line>,
    json: Option<Value>,
    text: Option<String>,
    base64: Option<Base64>,
    #[serde(default)]
    left_out_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Response {
    #[serde(deserialize_with = "status")]
    status: u16,
    #[serde(default)]
    waited_ms: u64,
    #[serde(default)]
    headers: Vec<Line>,
    #[serde(default)]
    left_out_bytes: u64,
    #[serde(default)]
    joined_chunks: u64,
    #[serde(default)]
    chunks: Vec<FiledChunk>,
}

#[derive(Deserialize)]
#[serde(try_from = "RawChunk")]
struct FiledChunk(Chunk);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChunk {
    #[serde(default)]
    pause_ms: u64,
    text: Option<String>,
    base64: Option<Base64>,
}

/// `name: value`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Line(Header);

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Base64(Vec<u8>);

/// Why a value of the file is invalid.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Fault {
    #[error("expected a header as `name: value`, on one line")]
    Header,
    #[error("the text is not base64")]
    Base64,
    #[error("a chunk has either `text` or `base64`")]
    Chunk,
    #[error("a request has one of `json`, `text` and `base64`, or no body")]
    Request,
    #[error("expected a time as in `2026-11-21T00:00:00Z`")]
    Time,
    #[error("expected a status in 100..=999")]
    Status,
}

impl TryFrom<String> for Line {
    type Error = Fault;

    fn try_from(line: String) -> Result<Self, Fault> {
        let (name, value) = line.split_once(": ").ok_or(Fault::Header)?;
        let is_name = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
        let is_value = http::HeaderValue::from_bytes(value.as_bytes()).is_ok();
        if !is_name || !is_value {
            return Err(Fault::Header);
        }
        Ok(Self(Header {
            name: name.to_ascii_lowercase(),
            value: value.to_owned(),
        }))
    }
}

impl TryFrom<String> for Base64 {
    type Error = Fault;

    fn try_from(text: String) -> Result<Self, Fault> {
        let bytes = STANDARD.decode(text);
        bytes.map(Self).or(Err(Fault::Base64))
    }
}

impl TryFrom<RawChunk> for FiledChunk {
    type Error = Fault;

    fn try_from(raw: RawChunk) -> Result<Self, Fault> {
        let bytes = match (raw.text, raw.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(Base64(bytes))) => bytes,
            (None, None) | (Some(_), Some(_)) => return Err(Fault::Chunk),
        };
        let pause_ms = raw.pause_ms;
        Ok(Self(Chunk { pause_ms, bytes }))
    }
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    text.parse()
        .ok()
        .or_else(|| seconds(&text))
        .ok_or_else(|| de::Error::custom(Fault::Time))
}

/// Parses a time beyond the year 9999, which is displayed in seconds since the epoch: `253402300800s`.
fn seconds(text: &str) -> Option<Timestamp> {
    let seconds: i64 = text.strip_suffix('s')?.parse().ok()?;
    seconds.checked_mul(1_000_000).map(Timestamp::from_micros)
}

fn status<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    let status = u16::deserialize(from)?;
    if (100..=999).contains(&status) {
        return Ok(status);
    }
    Err(de::Error::custom(Fault::Status))
}

impl From<File> for Cassette {
    fn from(file: File) -> Self {
        Self {
            about: About {
                recorded_at: file.recorded_at,
                program: file.program,
                service: file.service,
                note: file.note,
            },
            exchanges: file.exchanges.into_iter().map(Exchange::from).collect(),
            left_out_exchanges: file.left_out_exchanges,
        }
    }
}

impl From<FiledExchange> for Exchange {
    fn from(filed: FiledExchange) -> Self {
        Self {
            request: filed.request.0,
            response: filed.response.map(RecordedResponse::from),
            ending: filed.ending,
            reason: filed.reason,
        }
    }
}

impl TryFrom<RawRequest> for Request {
    type Error = Fault;

    fn try_from(raw: RawRequest) -> Result<Self, Fault> {
        let body = match (raw.json, raw.text, raw.base64) {
            (None, None, None) => Body::Empty,
            (Some(json), None, None) => Body::Json(json),
            (None, Some(text), None) => Body::Text(text),
            (None, None, Some(Base64(bytes))) => Body::Bytes(bytes),
            _ => return Err(Fault::Request),
        };
        Ok(Self(RecordedRequest {
            method: raw.method,
            target: raw.target,
            host: raw.host,
            headers: headers(raw.headers),
            body,
            left_out_bytes: raw.left_out_bytes,
        }))
    }
}

impl From<Response> for RecordedResponse {
    fn from(response: Response) -> Self {
        Self {
            status: response.status,
            waited_ms: response.waited_ms,
            headers: headers(response.headers),
            chunks: response.chunks.into_iter().map(|chunk| chunk.0).collect(),
            left_out_bytes: response.left_out_bytes,
            joined_chunks: response.joined_chunks,
        }
    }
}

fn headers(lines: Vec<Line>) -> Vec<Header> {
    lines.into_iter().map(|line| line.0).collect()
}
