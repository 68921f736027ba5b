//! Opens a log: connects, and refuses servers and streams that would lose events.

use std::collections::BTreeSet;

use async_nats::{Client, ConnectOptions};
use dormouse_contracts::BoxError;
use dormouse_text::error_chain;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    api::{ApiError, StreamApi, ask_servers},
    config::{NatsConfig, NatsDurability, NatsLogin},
    outcome::pause,
};

/// The oldest server that checks the expected sequence again after a change of leaders.
const OLDEST: (u64, u64) = (2, 11);
/// How long the stream recognises a message that is sent again, in seconds.
const DUPLICATE_WINDOW: u64 = 120;

/// The log could not be opened. Nothing was written, except that an empty stream may have been made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsConnectError {
    /// A setting is not usable.
    #[error("{setting} is {value}; expected {expected}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// No server took the connection.
    #[error("cannot connect to {servers}")]
    Connect {
        /// The addresses, without their passwords.
        servers: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// A server is too old: it can accept two writers at once.
    #[error(
        "server {server} has version {version}; expected at least 2.11, because older ones can accept two writers at once"
    )]
    Version {
        /// The server.
        server: String,
        /// Its version.
        version: String,
    },
    /// A server acknowledges events before they are on disk.
    #[error(
        "server {server} acknowledges events before they are on disk; set `sync_interval: always` in its `jetstream` section, or allow it by name (`AcknowledgedBeforeSync`)"
    )]
    AcknowledgesBeforeSync {
        /// The server.
        server: String,
    },
    /// Too few servers have answered the question whether they sync before they acknowledge.
    #[error(
        "{answered} of {replicas} servers of the stream said whether they sync events before they acknowledge them; expected more than half"
    )]
    NotAsked {
        /// How many did.
        answered: usize,
        /// How many have the stream.
        replicas: usize,
    },
    /// The system account could not be used.
    #[error("the servers cannot be asked over the system account: {reason}")]
    SystemAccount {
        /// Why.
        reason: String,
    },
    /// The stream has a setting that could lose events.
    #[error("stream {stream} has {setting} {found}; expected {expected}")]
    Stream {
        /// The stream.
        stream: String,
        /// The setting, as in `nats stream info`.
        setting: &'static str,
        /// Its value.
        found: String,
        /// What it has to be.
        expected: String,
    },
    /// JetStream did not answer, or refused.
    #[error("stream {stream} cannot be opened: {reason}")]
    JetStream {
        /// The stream.
        stream: String,
        /// Why.
        reason: String,
    },
}

/// Connects as the owner of the streams, and checks the servers and the streams.
pub(crate) async fn open(config: &NatsConfig) -> Result<Client, NatsConnectError> {
    check_config(config)?;
    let client = connect(config, config.login.as_ref()).await?;
    let info = client.server_info();
    check_version(&info.server_name, &info.version)?;
    let mut peers = BTreeSet::new();
    for wanted in [lives(config), snapshots(config)] {
        let found = ensure(config, &client, &wanted).await?;
        peers.extend(found.peers(&info.server_name));
    }
    match &config.durability {
        NatsDurability::AskServers(login) => {
            let system = connect(config, Some(login)).await?;
            let answers = ask_servers(&system, "VARZ", |all: &[ServerAnswer]| {
                answered(&peers, all) == peers.len()
            })
            .await
            .map_err(|error| NatsConnectError::SystemAccount {
                reason: error_chain(error.as_ref()),
            })?;
            check_servers(&peers, &answers)?;
        }
        NatsDurability::AcknowledgedBeforeSync => {
            tracing::warn!(stream = %config.stream, "it was not checked whether the servers sync events before they acknowledge them");
        }
    }
    Ok(client)
}

fn check_config(config: &NatsConfig) -> Result<(), NatsConnectError> {
    let wrong = |setting, value: String, expected| {
        Err(NatsConnectError::Setting {
            setting,
            value,
            expected,
        })
    };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    if config.servers.is_empty() {
        return wrong("servers", "empty".to_owned(), "an address");
    }
    if !is_name(&config.stream) || config.stream.len() > 32 {
        let expected = "at most 32 letters, digits and '_'";
        return wrong("stream", format!("{:?}", config.stream), expected);
    }
    if !(1..=5).contains(&config.replicas) {
        return wrong("replicas", config.replicas.to_string(), "1 to 5");
    }
    if config.patience.as_secs() >= DUPLICATE_WINDOW {
        let expected = "less than 120 s";
        return wrong("patience", format!("{:?}", config.patience), expected);
    }
    Ok(())
}

async fn connect(
    config: &NatsConfig,
    login: Option<&NatsLogin>,
) -> Result<Client, NatsConnectError> {
    let mut options = ConnectOptions::new().name("dormouse");
    if let Some(login) = login {
        options = options.user_and_password(login.user.clone(), login.password.clone());
    }
    if let Some(file) = &config.authorities {
        options = options.add_root_certificates(file.clone());
    }
    let connected = Box::pin(options.connect(&config.servers)).await;
    connected.map_err(|error| NatsConnectError::Connect {
        servers: without_passwords(&config.servers),
        source: error.into(),
    })
}

fn without_passwords(servers: &[String]) -> String {
    let host = |server: &String| {
        let (scheme, rest) = server.split_once("://").unwrap_or(("nats", server));
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        format!("{scheme}://{host}")
    };
    servers.iter().map(host).collect::<Vec<_>>().join(", ")
}

/// The settings of the stream of events.
fn lives(config: &NatsConfig) -> Value {
    let mut wanted = settings(config, &config.stream);
    if let Some(wanted) = wanted.as_object_mut() {
        wanted.insert("discard".into(), "new".into());
        wanted.insert("max_msgs_per_subject".into(), json!(-1));
        wanted.insert("deny_delete".into(), true.into());
        wanted.insert("deny_purge".into(), true.into());
    }
    wanted
}

/// The settings of the stream of snapshots, which keeps the last two of everything.
fn snapshots(config: &NatsConfig) -> Value {
    let mut wanted = settings(config, &crate::snapshots::stream_of(&config.stream));
    if let Some(wanted) = wanted.as_object_mut() {
        wanted.insert("discard".into(), "old".into());
        wanted.insert("max_msgs_per_subject".into(), json!(2));
    }
    wanted
}

/// The settings of the stream of hosts and leases, which keeps the last of everything. Records of hosts expire.
fn hosts(config: &NatsConfig) -> Value {
    let mut wanted = settings(config, &hosts_of(&config.stream));
    if let Some(wanted) = wanted.as_object_mut() {
        wanted.insert("discard".into(), "old".into());
        wanted.insert("max_msgs_per_subject".into(), json!(1));
        wanted.insert("allow_msg_ttl".into(), true.into());
    }
    wanted
}

/// The name of the stream of hosts and leases.
pub(crate) fn hosts_of(stream: &str) -> String {
    format!("{stream}_HOSTS")
}

/// Opens the stream of hosts and leases, or makes it.
pub(crate) async fn open_hosts(
    config: &NatsConfig,
    client: &Client,
) -> Result<StreamApi, NatsConnectError> {
    ensure(config, client, &hosts(config)).await?;
    Ok(StreamApi {
        client: client.clone(),
        stream: hosts_of(&config.stream),
    })
}

/// What they have in common. Every setting here is also checked.
fn settings(config: &NatsConfig, stream: &str) -> Value {
    json!({
        "name": stream,
        "subjects": [format!("{stream}.>")],
        "retention": "limits",
        "storage": "file",
        "num_replicas": config.replicas,
        "max_age": 0,
        "max_msgs": -1,
        "max_bytes": -1,
        "max_msg_size": -1,
        "allow_direct": true,
        "duplicate_window": DUPLICATE_WINDOW * 1_000_000_000,
    })
}

/// Opens a stream, or makes it.
async fn ensure(
    config: &NatsConfig,
    client: &Client,
    wanted: &Value,
) -> Result<StreamInfo, NatsConnectError> {
    let stream = wanted
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let api = StreamApi {
        client: client.clone(),
        stream: stream.to_owned(),
    };
    let deadline = Instant::now() + config.patience;
    let mut attempt = 0;
    let found = loop {
        let found = match api.info::<StreamInfo>(&json!({})).await {
            Err(error) if error.is_no_stream() => match api.create(wanted).await {
                // The next look finds it.
                Ok(()) => continue,
                Err(error) => Err(error),
            },
            // A stream without a leader cannot say what it contains.
            Ok(found) if found.has_no_leader() => Err(ApiError::NoResponders),
            other => other,
        };
        attempt += 1;
        match found {
            Ok(found) => break found,
            Err(error) if error.is_transient() && Instant::now() < deadline => {
                sleep(pause(attempt)).await;
            }
            Err(error) => {
                return Err(NatsConnectError::JetStream {
                    stream: stream.to_owned(),
                    reason: error_chain(&error),
                });
            }
        }
    };
    check_stream(wanted, &found.config)?;
    Ok(found)
}

/// What a server says of a stream.
#[derive(Debug, Default, Deserialize)]
struct StreamInfo {
    config: Value,
    #[serde(default)]
    cluster: Option<StreamCluster>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamCluster {
    #[serde(default)]
    leader: String,
    #[serde(default)]
    replicas: Vec<StreamPeer>,
}

#[derive(Debug, Deserialize)]
struct StreamPeer {
    name: String,
}

impl StreamInfo {
    fn has_no_leader(&self) -> bool {
        self.cluster
            .as_ref()
            .is_some_and(|cluster| cluster.leader.is_empty())
    }

    /// The servers that have the stream; `own` is the one that answers, if there is no cluster.
    fn peers(&self, own: &str) -> BTreeSet<String> {
        match &self.cluster {
            Some(cluster) if !cluster.leader.is_empty() => {
                let replicas = cluster.replicas.iter().map(|peer| peer.name.clone());
                replicas.chain([cluster.leader.clone()]).collect()
            }
            _ => BTreeSet::from([own.to_owned()]),
        }
    }
}

/// Checks that a stream loses and refuses nothing that it should not.
fn check_stream(wanted: &Value, found: &Value) -> Result<(), NatsConnectError> {
    const CHECKED: [&str; 12] = [
        "subjects",
        "retention",
        "storage",
        "num_replicas",
        "max_age",
        "max_msgs",
        "max_msgs_per_subject",
        "discard",
        "deny_delete",
        "deny_purge",
        "allow_direct",
        "allow_msg_ttl",
    ];
    // What a server leaves out has this value.
    let value =
        |config: &Value, setting: &str| config.get(setting).cloned().unwrap_or(false.into());
    let refuse = |setting, found: Value, expected: Value| {
        let stream = value(wanted, "name");
        Err(NatsConnectError::Stream {
            stream: stream.as_str().unwrap_or_default().to_owned(),
            setting,
            found: found.to_string(),
            expected: expected.to_string(),
        })
    };
    for setting in CHECKED {
        let (found, expected) = (value(found, setting), value(wanted, setting));
        // More copies than were asked for are welcome.
        let is_enough = setting == "num_replicas" && found.as_u64() > expected.as_u64();
        if found != expected && !is_enough {
            return refuse(setting, found, expected);
        }
    }
    // Settings that make a stream forget, or acknowledge what it has not stored.
    for setting in ["sealed", "no_ack", "allow_rollup_hdrs", "mirror", "sources"] {
        let found = value(found, setting);
        if found != Value::Bool(false) && !found.is_null() {
            return refuse(setting, found, false.into());
        }
    }
    match found.get("persist_mode").and_then(Value::as_str) {
        None | Some("" | "default") => Ok(()),
        Some(mode) => refuse("persist_mode", mode.into(), "default".into()),
    }
}

/// What a server says of itself over the system account.
#[derive(Debug, Deserialize)]
struct ServerAnswer {
    server: ServerName,
    data: ServerVars,
}

#[derive(Debug, Deserialize)]
struct ServerName {
    name: String,
    ver: String,
}

#[derive(Debug, Deserialize)]
struct ServerVars {
    #[serde(default)]
    jetstream: JetStreamVars,
}

#[derive(Debug, Default, Deserialize)]
struct JetStreamVars {
    #[serde(default)]
    config: SyncVars,
}

#[derive(Debug, Default, Deserialize)]
struct SyncVars {
    #[serde(default)]
    sync_always: bool,
}

fn answered(peers: &BTreeSet<String>, answers: &[ServerAnswer]) -> usize {
    let names: BTreeSet<&str> = answers.iter().map(|a| a.server.name.as_str()).collect();
    peers.iter().filter(|p| names.contains(p.as_str())).count()
}

/// Checks the servers that have the streams. A minority may be down: it has to be checked when it is back.
fn check_servers(
    peers: &BTreeSet<String>,
    answers: &[ServerAnswer],
) -> Result<(), NatsConnectError> {
    for answer in answers.iter().filter(|a| peers.contains(&a.server.name)) {
        check_version(&answer.server.name, &answer.server.ver)?;
        if !answer.data.jetstream.config.sync_always {
            let server = answer.server.name.clone();
            return Err(NatsConnectError::AcknowledgesBeforeSync { server });
        }
    }
    let (answered, replicas) = (answered(peers, answers), peers.len());
    if answered * 2 <= replicas {
        return Err(NatsConnectError::NotAsked { answered, replicas });
    }
    if answered < replicas {
        tracing::warn!(
            answered,
            replicas,
            "servers that are down were not asked whether they sync"
        );
    }
    Ok(())
}

fn check_version(server: &str, version: &str) -> Result<(), NatsConnectError> {
    let mut numbers = version.split(['.', '-']).map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST => Ok(()),
        _ => Err(NatsConnectError::Version {
            server: server.to_owned(),
            version: version.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
