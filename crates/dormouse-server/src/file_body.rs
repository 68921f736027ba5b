//! Files of lines as bodies, which are too large to be kept in memory.

use std::{io, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::{Stream, StreamExt, stream};
use tokio::time::timeout;

use crate::{
    problem::{Problem, ProblemCode},
    service::RequestLimits,
};

/// How a file of JSON lines is declared.
pub(crate) const LINES: &str = "application/x-ndjson";

/// How a client may declare it that does not know what the file is.
pub(crate) const BYTES: &str = "application/octet-stream";

/// A file did not arrive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    #[error("expected at most {0} bytes (server.archive_mib)")]
    TooLarge(u64),
    #[error("nothing came for {} s", .0.as_secs())]
    TooSlow(Duration),
    #[error("the body broke off")]
    BrokenOff,
}

impl From<UploadError> for Problem {
    fn from(error: UploadError) -> Self {
        let code = match error {
            UploadError::TooLarge(_) => ProblemCode::TooLarge,
            UploadError::TooSlow(_) => ProblemCode::TooSlow,
            UploadError::BrokenOff => ProblemCode::InvalidRequest,
        };
        code.because(error.to_string())
    }
}

impl RequestLimits {
    /// The parts of a body, which may be longer than others, but not endless. Each comes soon after the one before.
    pub(crate) fn parts(
        &self,
        request: Request,
    ) -> impl Stream<Item = Result<Bytes, UploadError>> + Send + use<> {
        let (most, patience) = (self.archive_bytes, self.patience);
        let body = request.into_body().into_data_stream();
        stream::unfold((body, 0_u64), move |(mut body, read)| async move {
            let part = match timeout(patience, body.next()).await {
                Err(_elapsed) => Err(UploadError::TooSlow(patience)),
                Ok(None) => return None,
                Ok(Some(Err(_broken))) => Err(UploadError::BrokenOff),
                Ok(Some(Ok(part))) => Ok(part),
            };
            let read = read + part.as_ref().map_or(0, |part| part.len() as u64);
            let part = match read > most {
                true => Err(UploadError::TooLarge(most)),
                false => part,
            };
            Some((part, (body, read)))
        })
    }
}

/// A file of this name. Its parts are made when the client has read those before. After an error the connection breaks off, so that
/// nobody takes the beginning for the whole file.
pub(crate) fn download<E: std::error::Error + 'static>(
    name: &str,
    parts: impl Stream<Item = Result<Vec<u8>, E>> + Send + 'static,
) -> Result<Response, Problem> {
    let name = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let name = name.map_err(|error| Problem::internal(&error))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(LINES)),
        (header::CONTENT_DISPOSITION, name),
    ];
    let parts = parts.map(|part| {
        part.map(Bytes::from).map_err(|error| {
            drop(Problem::internal(&error));
            io::Error::other("the file could not be read to its end")
        })
    });
    Ok((headers, Body::from_stream(parts)).into_response())
}
