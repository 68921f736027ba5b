//! A server that runs, or that answers at an address.

#![expect(
    deprecated,
    reason = "servers still ask the model, which the protocol will drop"
)]

mod listing;
mod program;
mod tending;

use std::{
    collections::BTreeMap,
    error::Error,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_contracts::Arguments;
use dormouse_resilience::{CircuitBreaker, deadline};
use reqwest::redirect;
use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceError,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest,
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
        ErrorCode, Implementation, ProtocolVersion, ServerResult,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions,
        RequestContext, RunningService, serve_client_with_lifecycle,
    },
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::{sync::watch, task::JoinSet, time::Instant};

use super::{
    definition::{Definition, safe},
    flood::{Bounded, Counted, LINE_LIMIT, Sent},
    known::KnownTools,
    requests::{Refusal, RequestGate},
    settings::{McpServer, McpTransport},
};
use listing::{Listing, is_to_be_followed};
use program::{LastWords, Program};
use tending::{Uses, tend};

/// A call whose server reports progress may take so many times its limit: reports alone must not keep it for ever.
pub(super) const MOST_PROGRESS: u32 = 4;
/// How long a cancellation may take to be written.
const CANCEL_LIMIT: Duration = Duration::from_secs(2);
/// A call that asks for something more often ends.
const MOST_ROUNDS: u32 = 10;
/// The pause before a server is asked again that says it has too much to do.
const ROUND_PAUSE: Duration = Duration::from_millis(200);
/// More tools, and more pages of them, are not read.
const MOST_TOOLS: usize = 512;
const MOST_PAGES: usize = 32;
/// A longer name of a tool is not a name.
const NAME_LIMIT: usize = 128;
/// The longest text of a server in an error.
const ERROR_LIMIT: usize = 500;

/// The tasks that end servers.
pub(super) type Tasks = Mutex<JoinSet<()>>;

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error(
        "the program {} could not be started ({source}); `command` is one program, and its arguments belong in `args`", program.display()
    )]
    Program { program: PathBuf, source: io::Error },
    #[error("no connection can be made: {0}")]
    Http(#[source] reqwest::Error),
    #[error("it did not begin as the protocol says: {0}")]
    Protocol(String),
    #[error("it did not say which tools it has: {0}")]
    List(String),
    #[error("it was not ready within {0:?}; if it needs longer, set `start` of the server")]
    Late(Duration),
    #[error("{0}")]
    Disabled(String),
}

/// What a call came to.
pub(super) enum Called {
    /// The answer.
    Answered(CallToolResult),
    /// The server refused the call.
    Refused(String),
    /// The server failed, or asked for what it is not given. It may have done something before.
    Failed(String),
    /// Nobody knows what became of it.
    Unanswered(&'static str),
}

/// A server that can be called.
#[derive(Debug)]
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    gate: Arc<RequestGate>,
    listing: Arc<Listing>,
    uses: Arc<watch::Sender<Uses>>,
    sent: Arc<Sent>,
}

/// What a server may ask of us: what its gate allows.
struct Client {
    gate: Arc<RequestGate>,
    listing: Arc<Listing>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(
            self.gate.capabilities(),
            Implementation::new("dormouse", version),
        )
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        tokio::select! {
            written = self.gate.write(&params) => written.map_err(Refusal::into_error),
            // The server wants it no more, or has ended.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.gate.answer(&params))
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        self.listing.changed(&context.peer).await;
    }
}

type Service = RunningService<RoleClient, Client>;

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

impl Connection {
    /// Starts the server and asks which tools it has.
    pub(super) async fn start(
        settings: &McpServer,
        known: &Arc<KnownTools>,
        gate: &Arc<RequestGate>,
        circuit: &CircuitBreaker,
        tasks: &Tasks,
    ) -> Result<(Self, Lease), StartError> {
        let started = Self::start_without_limit(settings, known, gate, circuit, tasks);
        let limit = settings.start_limit;
        let started = deadline(limit, Box::pin(started)).await;
        started.unwrap_or(Err(StartError::Late(limit)))
    }

    async fn start_without_limit(
        settings: &McpServer,
        known: &Arc<KnownTools>,
        gate: &Arc<RequestGate>,
        circuit: &CircuitBreaker,
        tasks: &Tasks,
    ) -> Result<(Self, Lease), StartError> {
        if let Some(why) = &settings.disabled {
            return Err(StartError::Disabled(why.clone()));
        }
        let listing = Arc::new(Listing::new(&settings.name, known));
        let sent = Arc::<Sent>::default();
        let last_words = LastWords::default();
        let client = Client {
            gate: Arc::clone(gate),
            listing: Arc::clone(&listing),
        };
        let (service, program) = match &settings.transport {
            McpTransport::Program {
                command,
                arguments,
                environment,
            } => {
                let (program, streams) = Program::start(command, arguments, environment)?;
                spawn(tasks, last_words.clone().listen(streams.errors));
                let output = Bounded::new(streams.output, Arc::clone(&sent));
                let line = usize::try_from(LINE_LIMIT).unwrap_or(usize::MAX);
                let transport =
                    AsyncRwTransport::new_client(output, streams.input).with_max_line_length(line);
                let begun = serve_client_with_lifecycle(client, transport, lifecycle()).await;
                let service = begun.map_err(|error| protocol(&error, &last_words))?;
                (service, Some(program))
            }
            McpTransport::Http { url, token } => {
                let http = http_client(url, settings.start_limit).map_err(StartError::Http)?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    // A call that was sent once is not sent again, even if the server has forgotten the session.
                    .reinit_on_expired_session(false)
                    .max_sse_event_size(usize::try_from(LINE_LIMIT).unwrap_or(usize::MAX));
                if let Some(token) = token {
                    config = config.auth_header(token.0.clone());
                }
                let transport = StreamableHttpClientTransport::with_client(http, config);
                let transport = Counted::new(transport, Arc::clone(&sent));
                let begun = serve_client_with_lifecycle(client, transport, lifecycle()).await;
                (begun.map_err(|error| protocol(&error, &last_words))?, None)
            }
        };
        let peer = service.peer().clone();
        let (uses, used) = watch::channel(Uses::first(Instant::now()));
        let uses = Arc::new(uses);
        // From here on the server is ended when this is dropped.
        let connection = Self {
            peer,
            gate: Arc::clone(gate),
            listing,
            uses: Arc::clone(&uses),
            sent,
        };
        let lease = Lease::of(&uses);
        let (idle_after, circuit) = (settings.idle_after, circuit.clone());
        let tended = tend(service, program, uses, used, idle_after, circuit);
        spawn(tasks, tended);
        connection.listing.begin(&connection.peer).await?;
        if is_to_be_followed(&connection.peer) {
            let listing = Arc::clone(&connection.listing);
            spawn(tasks, listing.follow(connection.peer.clone()));
        }
        Ok((connection, lease))
    }

    /// What it offers now, after all changes that it has reported.
    pub(super) async fn offered(&self) -> Arc<BTreeMap<String, Definition>> {
        self.listing.current(&self.peer).await
    }

    /// Whether it runs, and is not about to end.
    pub(super) fn is_open(&self) -> bool {
        let ends = self.uses.borrow().ends();
        !ends && !self.uses.is_closed() && !self.peer.is_transport_closed()
    }

    /// Keeps the server running, unless it has ended or is about to.
    pub(super) fn lease(&self) -> Option<Lease> {
        let is_begun = self.is_open() && self.uses.send_if_modified(Uses::begin);
        is_begun.then(|| Lease::of(&self.uses))
    }

    /// Lets the server end, and waits until it has.
    pub(super) async fn close(&self) {
        self.uses.send_modify(Uses::close);
        self.uses.closed().await;
    }

    /// Calls a tool once. If the limit passes without a report of progress, the client tells the server that the call is cancelled.
    /// Then, or if the future is dropped, the server is ended once it has no other call: it may hang.
    pub(super) async fn call(
        &self,
        mut lease: Lease,
        tool: &str,
        arguments: &Arguments,
        limit: Duration,
    ) -> Called {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        self.sent.call_begins();
        lease.is_silent = true;
        let most = limit * MOST_PROGRESS + CANCEL_LIMIT;
        let answer = deadline(most, Box::pin(self.rounds(call, limit))).await;
        let called = match answer {
            Ok(Ok(ServerResult::CallToolResult(result))) => Called::Answered(result),
            Ok(Ok(_)) => Called::Unanswered("the server answered something else than a result"),
            Ok(Err(Unfinished::Wants(why))) => Called::Failed(why),
            Ok(Err(Unfinished::Service(ServiceError::McpError(error)))) => {
                let why = safe(&error.message, ERROR_LIMIT);
                match error.code {
                    ErrorCode::INVALID_REQUEST
                    | ErrorCode::METHOD_NOT_FOUND
                    | ErrorCode::INVALID_PARAMS => Called::Refused(why),
                    _ => Called::Failed(why),
                }
            }
            Ok(Err(Unfinished::Service(ServiceError::Timeout { .. }))) | Err(_) => {
                return Called::Unanswered("the server did not answer in time");
            }
            Ok(Err(_)) => return Called::Unanswered("the connection to the server ended"),
        };
        lease.is_silent = false;
        called
    }

    /// The result of a call. A server of the protocol since 2026-07-28 may answer that it needs something first. Then it gets that with the
    /// same call, which goes on.
    async fn rounds(
        &self,
        mut call: CallToolRequestParams,
        limit: Duration,
    ) -> Result<ServerResult, Unfinished> {
        for _ in 0..MOST_ROUNDS {
            let options = PeerRequestOptions::with_timeout(limit)
                .reset_timeout_on_progress()
                .with_max_total_timeout(limit * MOST_PROGRESS);
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(call.clone()));
            let sent = self.peer.send_request_with_option(request, options).await?;
            let wanted = match sent.await_response().await? {
                ServerResult::InputRequiredResult(wanted) => wanted,
                answer => return Ok(answer),
            };
            let requests = wanted.input_requests.unwrap_or_default();
            if requests.is_empty() {
                // It has too much to do.
                tokio::time::sleep(ROUND_PAUSE).await;
            }
            let responses = self.gate.fulfil(requests).await.map_err(|why| {
                Unfinished::Wants(format!("it asks for what it does not get: {why}"))
            })?;
            call.input_responses = (!responses.is_empty()).then_some(responses);
            call.request_state = wanted.request_state;
        }
        let why = format!("it asked for something {MOST_ROUNDS} times");
        Err(Unfinished::Wants(why))
    }
}

/// Why a call has no result.
enum Unfinished {
    /// The server asked for what it does not get.
    Wants(String),
    Service(ServiceError),
}

impl From<ServiceError> for Unfinished {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.uses.send_modify(Uses::close);
    }
}

/// The use of a server, which runs meanwhile.
#[derive(Debug)]
pub(super) struct Lease {
    uses: Arc<watch::Sender<Uses>>,
    /// Whether a call has no answer.
    is_silent: bool,
}

impl Lease {
    fn of(uses: &Arc<watch::Sender<Uses>>) -> Self {
        Self {
            uses: Arc::clone(uses),
            is_silent: false,
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (is_silent, now) = (self.is_silent, Instant::now());
        self.uses.send_modify(|uses| uses.end(is_silent, now));
    }
}

fn spawn(tasks: &Tasks, task: impl Future<Output = ()> + Send + 'static) {
    let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
    // Those that have ended are removed.
    while tasks.try_join_next().is_some() {}
    tasks.spawn(task);
}

fn protocol(error: &ClientInitializeError, last_words: &LastWords) -> StartError {
    // The errors above the cause name types of the library.
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let why = safe(&cause.to_string(), ERROR_LIMIT);
    StartError::Protocol(match last_words.text() {
        None => why,
        Some(words) => format!("{why}; it wrote: {}", safe(&words, ERROR_LIMIT)),
    })
}

fn http_client(url: &str, limit: Duration) -> Result<reqwest::Client, reqwest::Error> {
    // There is one cryptography provider per process. If the program has installed another one, that one is used.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(limit)
        // A redirect would carry the token, and what the assistant says, to an address that nobody chose.
        .redirect(redirect::Policy::none());
    if url.starts_with("http:") {
        // Without TLS, the machine does not need certificates.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
