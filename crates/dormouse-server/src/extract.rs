//! Reading a request. Errors that axum would report in its own format become problems.

use std::time::Duration;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request},
    http::{HeaderMap, header, request::Parts},
};
use dormouse_contracts::AssistantId;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use tokio::time::timeout;

use crate::{
    problem::{Problem, ProblemCode},
    service::Shared,
};

/// The key of an assistant in the path.
#[derive(Clone, Debug)]
pub(crate) struct Key(pub(crate) AssistantId);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let key = part(parts, state, "key").await?;
        let key = AssistantId::try_new(key);
        key.map(Self)
            .map_err(|error| ProblemCode::InvalidKey.because(error.to_string()))
    }
}

/// A number in the path, under the name `id`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemId<T>(pub(crate) T);

impl<S: Send + Sync, T: std::str::FromStr> FromRequestParts<S> for ItemId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = part(parts, state, "id").await?;
        let unknown = || ProblemCode::InvalidRequest.because(format!("{text:?} is not an id here"));
        text.parse().map(Self).map_err(|_other| unknown())
    }
}

async fn part<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Result<String, Problem> {
    let unreadable = |_| ProblemCode::InvalidRequest.because("the path is not UTF-8");
    let params = RawPathParams::from_request_parts(parts, state).await;
    let params = params.map_err(unreadable)?;
    let found = params.iter().find(|(its, _)| *its == name);
    // A route without this part would be a bug of this crate; it answers "not found".
    let found = found.map(|(_, text)| text.to_owned());
    found.ok_or_else(|| ProblemCode::NotFound.because("the path lacks a part"))
}

/// The query, in which unknown fields are refused.
#[derive(Clone, Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Query(asked) = Query::try_from_uri(&parts.uri)
            .map_err(|error| ProblemCode::InvalidRequest.because(error.body_text()))?;
        Ok(Self(asked))
    }
}

/// A place in a log or a feed. The description of the API declares a signed number of 64 bits, which is enough for
/// every log.
pub(crate) fn place<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let place = place_if_any(from)?;
    place.ok_or_else(|| D::Error::custom("expected a number"))
}

/// As [`place`], if there is one.
pub(crate) fn place_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let most = i64::MAX.unsigned_abs();
    match Option::<u64>::deserialize(from)? {
        Some(place) if place > most => {
            let why = format!("{place} is too large; expected at most {most}");
            Err(D::Error::custom(why))
        }
        place => Ok(place),
    }
}

/// A JSON object as the body.
#[derive(Clone, Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Shared> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Shared) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        is_declared(&parts.headers, &["application/json"])?;
        let limits = &service.limits;
        let bytes = read(&parts.headers, body, limits.body_bytes, limits.patience).await?;
        // serde would also accept an array in place of an object.
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first.is_some_and(|first| *first != b'{') {
            return Err(ProblemCode::InvalidRequest.because("the body is not a JSON object"));
        }
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| {
            let code = match error.classify() {
                serde_json::error::Category::Data => ProblemCode::InvalidValue,
                _ => ProblemCode::InvalidRequest,
            };
            code.because(format!("the body is not what this path expects: {error}"))
        })
    }
}

/// Refuses a body that is not declared as one of these types.
pub(crate) fn is_declared(headers: &HeaderMap, expected: &[&str]) -> Result<(), Problem> {
    let declared = headers.get(header::CONTENT_TYPE);
    let declared = declared.and_then(|value| value.to_str().ok()).unwrap_or("");
    let kind = declared.split(';').next().unwrap_or("").trim();
    match expected.iter().any(|it| kind.eq_ignore_ascii_case(it)) {
        true => Ok(()),
        false => {
            let expected = expected.join(" or ");
            Err(ProblemCode::ContentType.because(format!("expected content-type: {expected}")))
        }
    }
}

/// The whole body, if it is not too large and does not take too long.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    patience: Duration,
) -> Result<Bytes, Problem> {
    let too_large = || ProblemCode::TooLarge.because(format!("expected at most {limit} bytes"));
    // If the declared length is too large, the body is not read.
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    match timeout(patience, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            let is_length = std::error::Error::source(&error)
                .is_some_and(|source| source.to_string().contains("length limit"));
            match is_length {
                true => Err(too_large()),
                false => Err(ProblemCode::InvalidRequest.because("the body broke off")),
            }
        }
        Err(_elapsed) => Err(ProblemCode::TooSlow.because(format!(
            "expected the whole body within {} s",
            patience.as_secs()
        ))),
    }
}
