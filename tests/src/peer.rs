//! Programs that were not written for this project.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tempfile::NamedTempFile;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::{self, Command},
    time::{sleep, timeout},
};

use crate::tell;

/// How often a server is asked whether it is ready, and the pause between two times: five minutes together.
const ATTEMPTS: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(100);

/// A server that `cargo xtask peers` installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A scripted server that speaks many vendors' dialects.
    Aimock,
    /// A real inference server with a tiny model.
    LlamaServer,
}

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    process: process::Child,
    output: NamedTempFile,
    port: u16,
}

impl Server {
    /// Where it answers.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it has printed, for the message of a test that fails.
    #[must_use]
    pub fn said(&self) -> String {
        let text = fs::read(self.output.path()).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Peer {
    /// Its name, as `docs/testing.md` and `DORMOUSE_REQUIRE_PEERS` have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aimock => "aimock",
            Self::LlamaServer => "llama-server",
        }
    }

    /// Starts it on a free port of this machine and waits until it answers. If it is not installed, this is printed
    /// on standard output and answers nothing.
    ///
    /// # Panics
    ///
    /// If it does not get ready, or is missing although `DORMOUSE_REQUIRE_PEERS` names it (or is `1`, which names
    /// all).
    pub async fn start(self) -> Option<Server> {
        self.start_with(&[]).await
    }

    /// The same with further arguments, in the server's own words.
    ///
    /// # Panics
    ///
    /// As [`Peer::start`].
    pub async fn start_with(self, arguments: &[&str]) -> Option<Server> {
        let home = installed(self.name(), self.files())?;
        Some(self.serve(&home, arguments).await)
    }

    async fn serve(self, home: &Path, arguments: &[&str]) -> Server {
        let port = free_port();
        let mut command = self.command(home, port);
        command.args(arguments);
        let output = NamedTempFile::new().expect("a file for its output");
        let handle = || Stdio::from(output.reopen().expect("another handle on a file"));
        let process = command
            .stdin(Stdio::null())
            .stdout(handle())
            .stderr(handle())
            .kill_on_drop(true)
            .spawn()
            .expect("an installed server starts");
        let mut server = Server {
            process,
            output,
            port,
        };
        for _ in 0..ATTEMPTS {
            if is_healthy(port).await {
                return server;
            }
            if let Some(status) = server.process.try_wait().expect("it can be asked after") {
                panic!("{} ended, {status}: {}", self.name(), server.said());
            }
            sleep(PAUSE).await;
        }
        panic!("{} did not get ready: {}", self.name(), server.said())
    }

    /// The files it consists of, from the folder of the peers.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Aimock => &["aimock/node_modules/@copilotkit/aimock/dist/cli.js"],
            Self::LlamaServer => &["llama/run.sh", "llama/tiny.gguf"],
        }
    }

    fn command(self, home: &Path, port: u16) -> Command {
        let mut files = self.files().iter().map(|file| home.join(file));
        let program = files.next().unwrap_or_default();
        let port = port.to_string();
        match self {
            Self::Aimock => {
                let turns = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/aimock/turns.json");
                let mut command = Command::new("node");
                command.arg(program).args([
                    "-h",
                    "127.0.0.1",
                    "-p",
                    &port,
                    "-f",
                    turns,
                    "--strict",
                ]);
                command
            }
            Self::LlamaServer => {
                let mut command = Command::new(program);
                // Each of the two slots has half of it: the window that an assistant assumes.
                command
                    .args(["--host", "127.0.0.1", "--port", &port, "--jinja"])
                    .args(["-c", "65536", "-np", "2", "--seed", "7", "-m"])
                    .args(files);
                command
            }
        }
    }
}

/// The command of schemathesis, which tests an HTTP API by its description. If it is not installed, this is printed on standard
/// output and is `None`.
///
/// # Panics
///
/// If it is missing although `DORMOUSE_REQUIRE_PEERS` names it (or is `1`, which names all).
#[must_use]
pub fn schemathesis() -> Option<Command> {
    const PROGRAM: &str = "schemathesis/bin/schemathesis";
    let home = installed("schemathesis", &[PROGRAM])?;
    let mut command = Command::new("python3");
    command
        .arg(home.join(PROGRAM))
        .env("PYTHONPATH", home.join("schemathesis"))
        .kill_on_drop(true);
    Some(command)
}

/// A collector of OpenTelemetry's spans on the messages for Python, for a test to start. If they are not installed, this is printed on
/// standard output.
///
/// # Panics
///
/// If they are missing although `DORMOUSE_REQUIRE_PEERS` names `otlp` (or is `1`).
#[must_use]
pub fn otlp_collector() -> Option<Command> {
    const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/otlp/collector.py");
    let home = installed("otlp", &["otlp/opentelemetry/proto/trace/v1/trace_pb2.py"])?;
    let mut command = Command::new("python3");
    command
        .arg(SCRIPT)
        .env("PYTHONPATH", home.join("otlp"))
        .kill_on_drop(true);
    Some(command)
}

/// Python with the SDK of the Model Context Protocol that `cargo xtask peers` installed, for a program to run. If it is
/// missing, this is printed on standard output.
///
/// # Panics
///
/// If it is missing although `DORMOUSE_REQUIRE_PEERS` names it (or is `1`, which names all).
#[must_use]
pub fn mcp() -> Option<Command> {
    let home = installed("mcp", &["mcp/mcp/__init__.py"])?;
    let mut command = Command::new("python3");
    command
        .env("PYTHONPATH", home.join("mcp"))
        .kill_on_drop(true);
    Some(command)
}

/// The folder of the peers, if it has the servers of the Model Context Protocol. If not, this is printed on standard output.
///
/// # Panics
///
/// If they are missing although `DORMOUSE_REQUIRE_PEERS` names `mcp-servers` (or is `1`).
#[must_use]
pub fn mcp_servers() -> Option<PathBuf> {
    let of = |name: &str| {
        format!("mcp-servers/node_modules/@modelcontextprotocol/server-{name}/dist/index.js")
    };
    let files = ["everything", "filesystem", "memory"].map(of);
    let files = files.iter().map(String::as_str);
    let files: Vec<_> = files.chain(["mcp/mcp_server_time/__init__.py"]).collect();
    installed("mcp-servers", &files)
}

/// Node, and the folder with the TypeScript SDK of the Model Context Protocol, if that is installed. If not, this is printed on
/// standard output.
///
/// # Panics
///
/// If it is missing although `DORMOUSE_REQUIRE_PEERS` names `mcp-node` (or is `1`).
#[must_use]
pub fn mcp_in_node() -> Option<(Command, PathBuf)> {
    let manifest = "mcp-node/node_modules/@modelcontextprotocol/client/package.json";
    let home = installed("mcp-node", &[manifest])?;
    let mut command = Command::new("node");
    command.kill_on_drop(true);
    Some((command, home.join("mcp-node")))
}

/// The folder of the peers, if it has these files of a peer.
pub(crate) fn installed(name: &str, files: &[&str]) -> Option<PathBuf> {
    let home = home();
    if files.iter().all(|file| home.join(file).is_file()) {
        return Some(home);
    }
    skip(name, "run `cargo xtask peers` to install it");
    None
}

/// Headless Chromium, if it and the node that drives it are installed. If not, this is printed on standard output.
///
/// # Panics
///
/// If it is missing although `DORMOUSE_REQUIRE_PEERS` names `chromium` (or is `1`).
#[must_use]
pub fn chromium() -> Option<PathBuf> {
    const PROGRAM: &str = "chromium/chromium";
    installed("chromium", &[PROGRAM]).map(|home| home.join(PROGRAM))
}

/// Says that something is missing, which is only allowed if nobody requires it.
fn skip(name: &str, what_to_do: &str) {
    let required = env::var("DORMOUSE_REQUIRE_PEERS").unwrap_or_default();
    assert!(
        !is_required(name, &required),
        "{name} is required and missing: {what_to_do}"
    );
    tell(&format!("skipped: {name} ({what_to_do})"));
}

/// Where the peers are installed.
fn home() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers");
    env::var_os("DORMOUSE_PEERS").map_or_else(default, PathBuf::from)
}

fn is_required(name: &str, required: &str) -> bool {
    let mut names = required.split(',').map(str::trim);
    names.any(|one| one == name || one == "1")
}

/// A port that nobody uses. Another program could take it before the server does; then the server fails with an error.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    listener
        .local_addr()
        .expect("a bound listener has an address")
        .port()
}

/// Whether `GET /health` is answered with 200.
async fn is_healthy(port: u16) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let request = "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut status = [0; 12];
        stream.read_exact(&mut status).await?;
        Ok::<_, std::io::Error>(status)
    };
    let answer = timeout(Duration::from_secs(5), asked).await;
    answer.is_ok_and(|status| status.is_ok_and(|status| status.ends_with(b" 200")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_required_by_name_or_all_together() {
        assert!(is_required("aimock", "aimock,llama-server"));
        assert!(is_required("llama-server", "1"));
        assert!(!is_required("aimock", "llama-server"));
        assert!(!is_required("aimock", ""));
    }
}
