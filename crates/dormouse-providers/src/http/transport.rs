//! Sends requests, records them, or answers them from a recording.

use std::io;

use dormouse_cassettes::{Ending, Playback, Player, Recorder, RecordingExchange, RequestParts};
use futures_util::{StreamExt, stream};
use reqwest::{Body, Client, Request, Response};
use tokio::time::Instant;

use super::failure::Failure;

/// How a request gets its answer.
#[derive(Clone, Debug, Default)]
pub(crate) enum Transport {
    /// The answer comes from the server.
    #[default]
    None,
    /// The answer comes from the server, and the exchange is recorded.
    Recorded(Recorder),
    /// The answer comes from a recording.
    Replayed(Player),
}

impl Transport {
    /// Executes the request.
    pub(crate) async fn execute(
        &self,
        http: &Client,
        request: Request,
    ) -> Result<Response, Failure> {
        match self {
            Self::None => http.execute(request).await.map_err(Failure::of_connection),
            Self::Recorded(recorder) => record(recorder, http, request).await,
            Self::Replayed(player) => {
                let playback = player.answer(parts(&request));
                let playback = playback.map_err(|e| Failure::NotRecorded(Box::new(e)))?;
                replay(&playback)
            }
        }
    }
}

fn parts(request: &Request) -> RequestParts<'_> {
    RequestParts {
        method: request.method(),
        url: request.url().as_str(),
        headers: request.headers(),
        body: request.body().and_then(Body::as_bytes).unwrap_or_default(),
    }
}

async fn record(recorder: &Recorder, http: &Client, request: Request) -> Result<Response, Failure> {
    let mut exchange = recorder.begin(parts(&request));
    let begun = Instant::now();
    match http.execute(request).await {
        Err(error) => {
            exchange.ended_because(Ending::NeverReached, &Causes(&error));
            Err(Failure::of_connection(error))
        }
        Ok(answer) => {
            exchange.answered(answer.status(), answer.headers(), begun.elapsed());
            Ok(recorded_body(answer, exchange))
        }
    }
}

/// Returns the same answer; its body is recorded while it is read.
fn recorded_body(answer: Response, exchange: RecordingExchange) -> Response {
    let (status, headers) = (answer.status(), answer.headers().clone());
    let state = (answer.bytes_stream(), exchange, Instant::now());
    let body = stream::unfold(Some(state), |state| async {
        let (mut pieces, mut exchange, last) = state?;
        match pieces.next().await {
            Some(Ok(piece)) => {
                exchange.chunk(&piece, last.elapsed());
                Some((Ok(piece), Some((pieces, exchange, Instant::now()))))
            }
            Some(Err(error)) => {
                exchange.ended_because(Ending::CutOff, &Causes(&error));
                Some((Err(error), None))
            }
            None => {
                exchange.ended(Ending::Whole);
                None
            }
        }
    });
    let mut answer = http::Response::new(Body::wrap_stream(body));
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer.into()
}

/// Returns a recorded answer. Its pieces are the recorded ones, without the pauses between them.
fn replay(playback: &Playback) -> Result<Response, Failure> {
    let Some(status) = playback.status() else {
        let reason = playback.exchange().reason.clone();
        return Err(Failure::Dropped(reason.into()));
    };
    let pieces = playback
        .chunks()
        .iter()
        .map(|chunk| Ok(chunk.bytes.clone()));
    let mut pieces: Vec<io::Result<Vec<u8>>> = pieces.collect();
    if playback.ending() != Ending::Whole {
        let reason = playback.exchange().reason.clone();
        pieces.push(Err(io::Error::other(reason)));
    }
    let mut answer = http::Response::new(Body::wrap_stream(stream::iter(pieces)));
    *answer.status_mut() = status;
    *answer.headers_mut() = playback.headers();
    Ok(answer.into())
}

/// An error with its sources.
struct Causes<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(f, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}
