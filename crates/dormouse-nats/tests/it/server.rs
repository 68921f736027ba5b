//! Real servers on this machine, on free ports, with folders that go with them.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use dormouse_nats::{NatsConfig, NatsDurability, NatsLog, NatsLogin};
use serde_json::Value;
use tempfile::TempDir;

const PASSWORD: &str = "pw";
/// How long a server may take to start.
const READY: Duration = Duration::from_secs(60);

/// What is different about the servers of a test.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) sync: &'static str,
    pub(crate) max_payload: &'static str,
    /// How much a server may store.
    pub(crate) max_store: &'static str,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sync: "always",
            max_payload: "8MB",
            max_store: "1GB",
        }
    }
}

/// One server, which can be killed and started again.
pub(crate) struct Node {
    program: PathBuf,
    name: String,
    config: PathBuf,
    store: PathBuf,
    process: Option<Child>,
}

/// Servers that are one cluster, or one server without.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    ports: Vec<u16>,
    _folder: TempDir,
}

impl Node {
    /// Starts it and waits until it says that it is ready.
    pub(crate) fn start(&mut self) {
        let mut process = Command::new(&self.program)
            .arg("-c")
            .arg(&self.config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stderr.take().unwrap());
        let (ready, is_ready) = mpsc::channel();
        // It reads to the end, because a server that cannot write its messages stops.
        thread::spawn(move || {
            let mut said = Vec::new();
            for line in output.lines().map_while(Result::ok) {
                if line.contains("Server is ready") {
                    drop(ready.send(Ok(())));
                }
                said.push(line);
            }
            drop(ready.send(Err(said)));
        });
        self.process = Some(process);
        match is_ready.recv_timeout(READY) {
            Ok(Ok(())) => {}
            other => panic!("server {} did not start: {other:?}", self.name),
        }
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Copies what a server has stored that is not running.
    pub(crate) fn copy_store(&self, to: &Path) {
        copy(&self.store, to);
    }

    /// Puts a copy in the place of what a server has stored that is not running.
    pub(crate) fn restore(&self, from: &Path) {
        fs::remove_dir_all(&self.store).unwrap();
        copy(from, &self.store);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Cluster {
    /// Starts servers. If the program is not installed, this is printed and is `None`.
    pub(crate) fn start(size: usize, settings: Settings) -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        let ports = free_ports(size * 2);
        let (clients, routes) = ports.split_at(size);
        let all: Vec<_> = routes
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        let mut nodes = Vec::new();
        for (index, (client, route)) in clients.iter().zip(routes).enumerate() {
            let name = format!("n{index}");
            let store = folder.path().join(&name);
            let config = folder.path().join(format!("{name}.conf"));
            let Settings {
                sync,
                max_payload,
                max_store,
            } = settings;
            let mut text = format!(
                "server_name: {name}\nlisten: 127.0.0.1:{client}\nmax_payload: {max_payload}\n\
                 jetstream {{ store_dir: {store:?}, sync_interval: {sync}, max_file_store: {max_store} }}\n\
                 accounts {{ D {{ jetstream: enabled, users: [ {{user: dormouse, password: {PASSWORD}}} ] }}\n\
                 SYS {{ users: [ {{user: sys, password: {PASSWORD}}} ] }} }}\nsystem_account: SYS\n"
            );
            if size > 1 {
                let all = all.join(", ");
                text += &format!(
                    "cluster {{ name: test, listen: 127.0.0.1:{route}, routes: [ {all} ] }}\n"
                );
            }
            fs::write(&config, text).unwrap();
            nodes.push(Node {
                program: program.clone(),
                name,
                config,
                store,
                process: None,
            });
        }
        // A server of a cluster is ready before it knows the others.
        for node in &mut nodes {
            node.start();
        }
        Some(Self {
            nodes,
            ports: clients.to_vec(),
            _folder: folder,
        })
    }

    pub(crate) fn config(&self) -> NatsConfig {
        let servers = self
            .ports
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"));
        Self::config_of(servers, self.nodes.len().min(3))
    }

    pub(crate) fn config_of(
        servers: impl IntoIterator<Item = impl Into<String>>,
        replicas: usize,
    ) -> NatsConfig {
        NatsConfig {
            login: Some(login("dormouse")),
            replicas,
            ..NatsConfig::new(servers, NatsDurability::AskServers(login("sys")))
        }
    }

    pub(crate) async fn connect(&self) -> NatsLog {
        NatsLog::connect(&self.config()).await.unwrap()
    }

    /// A connection of the account that owns the streams, for what the log never does.
    pub(crate) async fn client(&self) -> async_nats::Client {
        let servers = self.config().servers;
        async_nats::ConnectOptions::with_user_and_password("dormouse".into(), PASSWORD.into())
            .connect(servers)
            .await
            .unwrap()
    }

    /// The server that leads the stream of events, if there is one now.
    pub(crate) async fn leader(&self, client: &async_nats::Client) -> Option<usize> {
        let info = ask(client, "$JS.API.STREAM.INFO.DORMOUSE", "").await?;
        let leader = info.pointer("/cluster/leader")?.as_str()?;
        self.nodes.iter().position(|node| node.name == leader)
    }
}

/// The answer to a request in JSON, or `None` if there is none in time.
pub(crate) async fn ask(client: &async_nats::Client, subject: &str, body: &str) -> Option<Value> {
    let request = async_nats::Request::new()
        .payload(body.to_owned().into())
        .timeout(Some(Duration::from_secs(2)));
    let answer = client
        .send_request(subject.to_owned(), request)
        .await
        .ok()?;
    serde_json::from_slice(&answer.payload).ok()
}

pub(crate) fn login(user: &str) -> NatsLogin {
    NatsLogin {
        user: user.to_owned(),
        password: PASSWORD.to_owned(),
    }
}

/// The program that `cargo xtask peers` installs.
fn program() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
    let home = env::var_os("DORMOUSE_PEERS").map_or_else(default, PathBuf::from);
    let program = home.join("nats/bin/nats-server");
    if program.is_file() {
        return Some(program);
    }
    let required = env::var("DORMOUSE_REQUIRE_PEERS").unwrap_or_default();
    let mut names = required.split(',').map(str::trim);
    assert!(
        !names.any(|name| name == "nats" || name == "1"),
        "nats is required and missing: run `cargo xtask peers` to install it"
    );
    println!("skipped: nats (run `cargo xtask peers` to install it)");
    None
}

/// Ports that nobody uses. All are held until all are known, so that they differ.
fn free_ports(count: usize) -> Vec<u16> {
    let held: Vec<_> = (0..count)
        .map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap())
        .collect();
    let ports: BTreeSet<_> = held
        .iter()
        .map(|listener| listener.local_addr().unwrap().port())
        .collect();
    ports.into_iter().collect()
}
