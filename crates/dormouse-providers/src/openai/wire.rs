//! One request, sent once, and an answer that is bounded before anybody parses it.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use async_openai::{error::OpenAIError, middleware::HttpRequestFactory};
use futures_util::{StreamExt, stream};
use reqwest::{Response, header::CONTENT_TYPE};

use super::{events::Events, lines::Lines};
use crate::http::{Failure, Fault, HttpClient};

/// Sends each request exactly once and reports what it sees. It takes the place of the client's own
/// service, whose hidden retries would multiply with the caller's.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    pub(super) http: HttpClient,
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
    async fn send(&self, request: reqwest::Request) -> Result<Response, Failure> {
        let answer = self.http.send(request).await?;
        let content_type = content_type(&answer);
        if !content_type.is_empty() && !content_type.starts_with("text/event-stream") {
            return Err(Failure::NoStream {
                content_type: self.http.redact().line(&content_type),
                complaint: self.http.complaint(answer).await,
            });
        }
        Ok(self.bounded(answer))
    }

    /// The same answer with a body of whole lines that ends where a bound is exceeded or an event cannot be read.
    fn bounded(&self, answer: Response) -> Response {
        let fault = self.fault.clone();
        let mut lines = Lines::new(self.http.redact().clone());
        let mut events = Events::new(self.http.redact().clone());
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
