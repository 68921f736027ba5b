//! A server, whether it runs or not.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{Arguments, AssistantId};
use dormouse_resilience::{BreakerError, BreakerPolicy, CircuitBreaker, Health};
use serde_json::Value;

use super::{
    answer,
    connection::{Called, Connection, Lease, StartError, Tasks},
    known::KnownTools,
    requests::{Given, RequestGate, SharedModel},
    settings::{McpServer, McpToolPolicy},
    status::McpServerState,
};

/// The pause before a server that failed is started again, twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum CallFailure {
    /// It was not carried out.
    Refused(String),
    /// The server says that it failed. It may have done something before, with what it was given.
    Failed { why: String, given: Given },
    /// Nobody knows what became of it.
    Unanswered(String),
}

/// A server with its settings.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) settings: McpServer,
    known: Arc<KnownTools>,
    circuit: CircuitBreaker,
    running: tokio::sync::Mutex<Option<Arc<Connection>>>,
    tasks: Arc<Tasks>,
    was_called: AtomicBool,
    pub(super) gate: Arc<RequestGate>,
}

fn policy() -> BreakerPolicy {
    let usual = BreakerPolicy::service();
    let policy = usual
        .try_with_trip(1, LONGEST_PAUSE)
        .and_then(|policy| policy.try_with_cooldown(FIRST_PAUSE, LONGEST_PAUSE))
        // A start is not enough: a server that dies whenever it is called would be started again at once.
        .and_then(|policy| policy.try_with_close_after(2));
    // This cannot fail: the numbers are constants.
    policy.unwrap_or(usual)
}

impl Server {
    pub(super) fn new(settings: McpServer, known: Arc<KnownTools>, model: SharedModel) -> Self {
        let circuit = CircuitBreaker::new(format!("mcp server {}", settings.name), policy());
        let gate = RequestGate::new(&settings.name, settings.requests.clone(), model);
        Self {
            gate: Arc::new(gate),
            settings,
            known,
            circuit,
            running: tokio::sync::Mutex::default(),
            tasks: Arc::new(Mutex::default()),
            was_called: AtomicBool::new(false),
        }
    }

    /// The server, which is started if it does not run, and runs while the lease exists. Notes what it offers.
    pub(super) async fn connection(
        &self,
    ) -> Result<(Arc<Connection>, Lease), BreakerError<StartError>> {
        let mut running = self.running.lock().await;
        if let Some(connection) = running.take() {
            if let Some(lease) = connection.lease() {
                *running = Some(Arc::clone(&connection));
                return Ok((connection, lease));
            }
            // Two at the same time could write the same files.
            connection.close().await;
        }
        let start = Connection::start(
            &self.settings,
            &self.known,
            &self.gate,
            &self.circuit,
            &self.tasks,
        );
        let (started, lease) = self.circuit.guard(|_| Health::Unhealthy, start).await?;
        let connection = Arc::new(started);
        *running = Some(Arc::clone(&connection));
        Ok((connection, lease))
    }

    /// Calls a tool whose definition has this digest, for this assistant.
    pub(super) async fn call(
        &self,
        assistant: &AssistantId,
        tool: &str,
        digest: &str,
        arguments: &Arguments,
    ) -> Result<Value, CallFailure> {
        let name = &self.settings.name;
        let Some(open) = self.gate.turn().await else {
            let why = format!("not done: the server {name} is busy with another call");
            return Err(CallFailure::Refused(why));
        };
        let (connection, lease) = match self.connection().await {
            Ok(started) => started,
            Err(error) => {
                tracing::warn!(server = %name, %error, "a server cannot be started");
                let why = format!("not done: the server {name} cannot be reached now");
                return Err(CallFailure::Refused(why));
            }
        };
        match connection.offered().await.get(tool) {
            Some(offered) if offered.digest == digest => {}
            Some(_) => {
                tracing::warn!(server = %name, tool, "a server changed the definition of a tool");
                let why = format!(
                    "not done: the server {name} has changed what {tool} is; a person has to agree first"
                );
                return Err(CallFailure::Refused(why));
            }
            None => {
                let why = format!("not done: the server {name} has no tool {tool} any more");
                return Err(CallFailure::Refused(why));
            }
        }
        self.was_called.store(true, Ordering::Relaxed);
        let limit = self.settings.policy(tool).timeout;
        let limit = limit.unwrap_or(McpToolPolicy::TIMEOUT);
        // A server that starts, or lists its tools, gets nothing: it may be about to offer something else.
        open.let_in(assistant);
        let called = connection.call(lease, tool, arguments, limit);
        let called = Box::pin(called).await;
        let given = open.end();
        if !matches!(called, Called::Unanswered(_))
            && let Ok(permit) = self.circuit.admit()
        {
            permit.record(Health::Healthy);
        }
        match called {
            Called::Answered(result) => {
                let read = answer::read(name, &result, &given, self.settings.result_bytes);
                read.map_err(|why| CallFailure::Failed { why, given })
            }
            // One that was given something has done something, even if it says that it refused.
            Called::Refused(why) if given.is_nothing() => Err(CallFailure::Refused(format!(
                "the server {name} refuses the call: {why}"
            ))),
            Called::Refused(why) | Called::Failed(why) => {
                let why = format!("the server {name} says: {why}");
                Err(CallFailure::Failed { why, given })
            }
            Called::Unanswered(why) => Err(CallFailure::Unanswered(given.after(why))),
        }
    }

    pub(super) async fn close(&self) {
        if let Some(connection) = self.running.lock().await.take() {
            connection.close().await;
        }
    }

    /// How far it has come in this process; `is_known` if something is noted of it.
    pub(super) async fn state(&self, is_known: bool) -> McpServerState {
        if self.settings.disabled.is_some() {
            return McpServerState::Disabled;
        }
        let running = self.running.lock().await;
        let runs = running
            .as_ref()
            .is_some_and(|connection| connection.is_open());
        match (runs, self.was_called.load(Ordering::Relaxed)) {
            (true, true) => McpServerState::Called,
            (true, false) => McpServerState::Started,
            (false, _) if is_known => McpServerState::Known,
            (false, _) => McpServerState::Configured,
        }
    }
}
