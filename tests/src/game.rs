//! A real Evennia game on this machine, and players in it.

use std::{
    collections::BTreeMap,
    env,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    select,
    sync::mpsc,
    time::{Instant, timeout},
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

use crate::peer::installed;

/// Names a folder whose game is kept between runs: making one takes longer than most tests in it.
const KEPT: &str = "EVENNIA_TEST_FOLDER";

/// How long a player waits for something.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the answer to a fence may take.
const FENCE: Duration = Duration::from_secs(3);

/// The ports of a game, counted from its base.
const PORTS: [u16; 5] = [0, 1, 2, 5, 6];

/// A running game with its accounts. Dropping it kills it.
#[derive(Debug)]
pub struct Game {
    folder: PathBuf,
    /// Absent if the folder stays for another run.
    _made: Option<TempDir>,
    venv: PathBuf,
    base: u16,
    described: Described,
}

#[derive(Debug, Deserialize)]
struct Described {
    ws: String,
    accounts: BTreeMap<String, String>,
}

impl Game {
    /// Starts a new game, or the one in the folder that `EVENNIA_TEST_FOLDER` names, which is kept. If Evennia is not installed, this is printed on standard output and is `None`.
    ///
    /// # Panics
    ///
    /// If it does not start, or is missing although `DORMOUSE_REQUIRE_PEERS` names it.
    #[must_use]
    pub fn start() -> Option<Self> {
        let home = installed("evennia", &["evennia/venv/bin/evennia"])?;
        let venv = home.join("evennia/venv");
        let kept = env::var_os(KEPT).map(PathBuf::from);
        let made = kept
            .is_none()
            .then(|| TempDir::new().expect("a folder for the game"));
        let folder = made.as_ref().map(|it| it.path().to_owned());
        let folder = folder.or(kept).expect("one of both");
        let base = free_ports();
        let started = script(&venv, &["start", path(&folder), &base.to_string()]);
        let described = serde_json::from_str(&started).expect("the script describes the game");
        Some(Self {
            folder,
            _made: made,
            venv,
            base,
            described,
        })
    }

    /// The address of its websocket.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.described.ws
    }

    /// The address of its websocket, without the scheme.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.base + 2)
    }

    /// The file of its database. Copy or replace it only while the game is stopped.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.folder.join("game/server/evennia.db3")
    }

    /// The password of an account.
    ///
    /// # Panics
    ///
    /// If there is no such account.
    #[must_use]
    pub fn password(&self, account: &str) -> &str {
        self.described
            .accounts
            .get(account)
            .expect("an account of the tests")
    }

    /// Lets it `reload`, `reboot` or `stop`, or kills it (`kill`, or `kill_server` without its portal).
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn does(&self, what: &str) {
        script(&self.venv, &[what, path(&self.folder)]);
    }

    /// Starts it again.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn starts_again(&self) {
        let base = self.base.to_string();
        script(&self.venv, &["start", path(&self.folder), &base]);
    }

    /// Lets somebody play.
    ///
    /// # Panics
    ///
    /// If they are not let in.
    pub async fn enter(&self, account: &str) -> Player {
        self.enter_with(account, self.password(account)).await
    }

    /// Lets somebody play whom a test has made.
    ///
    /// # Panics
    ///
    /// If they are not let in.
    pub async fn enter_with(&self, account: &str, password: &str) -> Player {
        let mut player = Player::connect(self.url()).await;
        player.log_in(account, password).await;
        player
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        // It may have been killed by its test.
        drop(command(&self.venv, &["kill", path(&self.folder)]).output());
    }
}

/// Runs the tests of the package in the game, which start a game of their own, with these arguments. Prints the last line of
/// their result. If Evennia is not installed, this is printed, and nothing is run.
///
/// # Panics
///
/// If one of them fails.
pub fn test_package(arguments: &[&str]) {
    let Some(home) = installed("evennia", &["evennia/venv/bin/evennia"]) else {
        return;
    };
    let venv = home.join("evennia/venv");
    let done = Command::new(venv.join("bin/python3"))
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .args(arguments)
        .current_dir(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../crates/dormouse-evennia/python"
        ))
        .env("EVENNIA_VENV", &venv)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("python3 runs");
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{printed}");
    crate::tell(printed.lines().last().unwrap_or_default());
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn command(venv: &Path, arguments: &[&str]) -> Command {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/dormouse-evennia/python/ci/game.py"
    );
    let mut command = Command::new("python3");
    command
        .arg(script)
        .args(arguments)
        .env("EVENNIA_VENV", venv)
        .stdin(Stdio::null());
    command
}

fn script(venv: &Path, arguments: &[&str]) -> String {
    let done = command(venv, arguments).output().expect("python3 runs");
    let complaints = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {complaints}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The first of some ports that nobody uses.
fn free_ports() -> u16 {
    let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = u16::try_from(std::process::id() % 2_000).unwrap_or_default() * 10 + 20_000;
    (start..60_000)
        .step_by(10)
        .find(|base| PORTS.iter().all(|port| is_free(base + port)))
        .expect("there are free ports")
}

/// Somebody at the game's websocket, as a browser would be.
#[derive(Debug)]
pub struct Player {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// What the game printed.
    seen: Vec<String>,
    /// Other frames, by name.
    frames: Vec<(String, Value)>,
    fences: usize,
}

impl Player {
    async fn connect(url: &str) -> Self {
        let end = Instant::now() + PATIENCE;
        loop {
            match connect_async(url).await {
                Ok((socket, _)) => {
                    let (seen, frames) = (Vec::new(), Vec::new());
                    return Self {
                        socket,
                        seen,
                        frames,
                        fences: 0,
                    };
                }
                Err(error) => assert!(Instant::now() < end, "{url}: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn log_in(&mut self, account: &str, password: &str) {
        for _ in 0..20 {
            self.send(&json!(["login", [], { "name": account, "password": password }]))
                .await;
            // After a restart the port answers before the server does.
            if self
                .frame(Duration::from_secs(3), |name, _| name == "logged_in")
                .await
            {
                self.send(&json!(["client_options", [], { "nocolor": true }]))
                    .await;
                return;
            }
        }
        panic!("{account} was not let in: {:?}", self.seen);
    }

    async fn send(&mut self, frame: &Value) {
        let text = Message::text(frame.to_string());
        self.socket
            .send(text)
            .await
            .expect("the game takes a frame");
    }

    /// Types a line.
    pub async fn types(&mut self, line: &str) {
        self.send(&json!(["text", [line], {}])).await;
    }

    /// Sends a frame as it is.
    pub async fn sends(&mut self, frame: &Value) {
        self.send(frame).await;
    }

    /// Waits until the game prints a text with these words, and returns it. What was printed before counts, too, if
    /// nobody waited for it.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub async fn sees(&mut self, words: &str) -> String {
        let found = self.waits_for(PATIENCE, words).await;
        found.unwrap_or_else(|| panic!("{words:?} did not come: {:#?}", self.seen))
    }

    /// The same, if it comes within this time.
    pub async fn waits_for(&mut self, limit: Duration, words: &str) -> Option<String> {
        let end = Instant::now() + limit;
        let mut looked = 0;
        loop {
            let mut new = self.seen.iter().skip(looked);
            if let Some(found) = new.find(|it| it.contains(words)) {
                return Some(found.clone());
            }
            looked = self.seen.len();
            let left = end.checked_duration_since(Instant::now())?;
            if !self.frame(left, |name, _| name == "text").await {
                return None;
            }
        }
    }

    /// How many texts with these words the game has printed by now.
    pub async fn counts(&mut self, words: &str) -> usize {
        // What the game carried out before this line has been printed before its answer.
        self.fences += 1;
        let fence = format!("fence {}.", self.fences);
        for _ in 0..20 {
            // A server that restarts loses what is sent to it.
            self.send(&json!(["echo", [fence], {}])).await;
            if self.waits_for(FENCE, &fence).await.is_some() {
                break;
            }
        }
        self.seen.iter().filter(|it| it.contains(words)).count()
    }

    /// Whether a text with all these words came.
    #[must_use]
    pub fn has_seen(&self, words: &[&str]) -> bool {
        let has_all = |text: &String| words.iter().all(|word| text.contains(word));
        self.seen.iter().any(has_all)
    }

    /// Forgets the texts that came.
    pub fn forgets(&mut self) {
        self.seen.clear();
    }

    /// The same as [`receives`](Self::receives), if it comes within this time.
    pub async fn receives_within(&mut self, name: &str, limit: Duration) -> Option<Value> {
        let came = self.frame(limit, |it, _| it == name).await;
        came.then(|| self.received(name).pop().unwrap_or_default())
    }

    /// Waits for a frame of this name, and returns its content.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub async fn receives(&mut self, name: &str) -> Value {
        let came = self.frame(PATIENCE, |it, _| it == name).await;
        assert!(came, "{name} did not come: {:#?}", self.seen);
        self.received(name).pop().unwrap_or_default()
    }

    /// The contents of all frames of this name that came.
    #[must_use]
    pub fn received(&self, name: &str) -> Vec<Value> {
        let frames = self.frames.iter().filter(|(it, _)| it == name);
        frames.map(|(_, content)| content.clone()).collect()
    }

    /// As [`received`](Self::received), and forgets them.
    pub fn takes(&mut self, name: &str) -> Vec<Value> {
        let taken = self.received(name);
        self.frames.retain(|(it, _)| it != name);
        taken
    }

    /// Waits until this many texts with these words have come, and forgets them.
    ///
    /// # Panics
    ///
    /// If none comes for a minute.
    pub async fn hears(&mut self, words: &str, count: usize) {
        let mut heard = 0;
        loop {
            heard += self.seen.iter().filter(|it| it.contains(words)).count();
            self.seen.clear();
            if heard >= count {
                return;
            }
            let came = self.frame(PATIENCE, |name, _| name == "text").await;
            assert!(came, "only {heard} of {count} came");
        }
    }

    /// Types these lines as they come, and forgets what the game prints, until the sender is dropped.
    pub async fn chats(mut self, mut lines: mpsc::UnboundedReceiver<String>) {
        loop {
            select! {
                line = lines.recv() => match line {
                    Some(line) => self.types(&line).await,
                    None => return,
                },
                message = self.socket.next() => {
                    if !matches!(message, Some(Ok(_))) {
                        return;
                    }
                }
            }
        }
    }

    /// Leaves the game, which knows at once.
    pub async fn leaves(mut self) {
        // The game need not answer.
        drop(timeout(Duration::from_secs(5), self.socket.close(None)).await);
    }

    /// Reads until a frame that is wanted; `false` if none comes in time.
    async fn frame(&mut self, limit: Duration, wanted: impl Fn(&str, &str) -> bool) -> bool {
        let read = async {
            loop {
                let message = match self.socket.next().await {
                    Some(Ok(Message::Text(text))) => text,
                    Some(Ok(_)) => continue,
                    Some(Err(_)) | None => return false,
                };
                let (name, content, _): (String, Vec<Value>, Value) =
                    serde_json::from_str(&message).unwrap_or_default();
                let content = content.into_iter().next().unwrap_or_default();
                let text = content.as_str().unwrap_or_default();
                if name == "text" {
                    let plain = text.replace("&lt;", "<").replace("&gt;", ">");
                    self.seen.push(plain.replace("&amp;", "&"));
                } else {
                    self.frames.push((name.clone(), content.clone()));
                }
                if wanted(&name, text) {
                    return true;
                }
            }
        };
        timeout(limit, read).await.unwrap_or(false)
    }
}
