//! One request, sent once, and an answer that is bounded before anybody parses it.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use async_openai::{error::OpenAIError, middleware::HttpRequestFactory};
use futures_util::{StreamExt, stream};
use reqwest::{
    Response,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};

use super::{
    complaint::Complaint,
    events::Events,
    failure::{Failure, Fault},
    lines::Lines,
    pause,
    redact::Redact,
};
use crate::Secret;

/// The longest body of an answer that is no success, in bytes; the rest is not read.
const COMPLAINT_LIMIT: usize = 16 * 1024;

/// Sends each request exactly once, with the key, and reports what it sees. It takes the place of the client's own
/// service, whose hidden retries would multiply with the caller's.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    pub(super) http: reqwest::Client,
    pub(super) key: Option<Secret>,
    pub(super) redact: Redact,
    pub(super) fault: Fault,
}

impl tower_service::Service<HttpRequestFactory> for Wire {
    type Response = Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let wire = self.clone();
        Box::pin(async move {
            let request = request.build().await?;
            wire.send(request).await.map_err(|failure| {
                wire.fault.report(failure);
                OpenAIError::InvalidArgument("reported apart".to_owned())
            })
        })
    }
}

impl Wire {
    async fn send(&self, mut request: reqwest::Request) -> Result<Response, Failure> {
        self.authorise(&mut request)?;
        let answer = self.http.execute(request).await;
        let answer = answer.map_err(|error| Failure::Unreachable(Box::new(error)))?;
        if !answer.status().is_success() {
            return Err(Failure::Status {
                status: answer.status().as_u16(),
                pause: pause::asked_for(answer.headers()),
                complaint: self.complaint(answer).await,
            });
        }
        let content_type = content_type(&answer);
        if !content_type.is_empty() && !content_type.starts_with("text/event-stream") {
            return Err(Failure::NoStream {
                content_type: self.redact.line(&content_type),
                complaint: self.complaint(answer).await,
            });
        }
        Ok(self.bounded(answer))
    }

    /// Sets the key, marked so that it is shown in no log, or removes the empty one that the client sets.
    fn authorise(&self, request: &mut reqwest::Request) -> Result<(), Failure> {
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(key) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose()))
                .map_err(|error| Failure::Request(Box::new(error)))?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(())
    }

    async fn complaint(&self, answer: Response) -> Complaint {
        let mut pieces = answer.bytes_stream();
        let mut body = Vec::new();
        while let Some(Ok(piece)) = pieces.next().await {
            let room = COMPLAINT_LIMIT.saturating_sub(body.len());
            body.extend(piece.iter().take(room));
            if body.len() >= COMPLAINT_LIMIT {
                break;
            }
        }
        Complaint::read(&body, &self.redact)
    }
    /// The same answer with a body of whole lines that ends where a bound is exceeded or an event cannot be read.
    fn bounded(&self, answer: Response) -> Response {
        let fault = self.fault.clone();
        let mut lines = Lines::new(self.redact.clone());
        let mut events = Events::new(self.redact.clone());
        let pieces = answer.bytes_stream().flat_map(move |piece| {
            let whole = match piece {
                Ok(piece) => lines.take(&piece),
                Err(error) => Err(Failure::CutOff(Some(Box::new(error)))),
            };
            let (passed, failure) = match whole {
                Ok(whole) => events.take(whole),
                Err(failure) => (Vec::new(), Some(failure)),
            };
            let broken = failure.map(|failure| {
                fault.report(failure);
                Err(io::Error::other("reported apart"))
            });
            stream::iter([Ok(passed)].into_iter().chain(broken))
        });
        http::Response::new(reqwest::Body::wrap_stream(pieces)).into()
    }
}

fn content_type(answer: &Response) -> String {
    let value = answer.headers().get(CONTENT_TYPE);
    let text = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.trim().to_ascii_lowercase()
}
