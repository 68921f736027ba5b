//! The protocol over HTTP. Each request is complete in itself, in both generations of the protocol, and the service that listens
//! checks each one anew. A session, where the older generation needs one to be notified, is the service's own.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde_json::json;

use crate::{handler::Handler, surface::Surface};

/// After this time without a message a comment is sent, so that no proxy considers a stream dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The header that names the session of a client.
pub const SESSION_HEADER: &str = "mcp-session-id";

/// The message, as JSON, that the resource with this URI has changed, for a client in a session.
#[must_use]
pub fn resource_updated(uri: &str) -> String {
    let method = "notifications/resources/updated";
    json!({ "jsonrpc": "2.0", "method": method, "params": { "uri": uri } }).to_string()
}

/// Answers one `POST` of a client, to whom this surface is offered.
///
/// The caller has checked who sends it, the name of the host and the origin, and has read the body within its own limits.
/// The answer is JSON, or a stream of events if there is more than one message. A client that goes away cancels its request.
pub async fn answer<S: Surface>(
    surface: S,
    request: http::Request<Bytes>,
) -> http::Response<impl http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static> {
    let surface = Arc::new(surface);
    let handler = move || {
        Ok(Handler {
            surface: Arc::clone(&surface),
        })
    };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(Some(KEEP_ALIVE))
        .with_max_request_body_bytes(request.body().len())
        .disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(handler, sessions, config);
    service.handle(request.map(Full::new)).await
}
