//! The game reloads, restarts and is killed, the program is killed, the network is cut: every message that the game accepted
//! is answered exactly once.

use std::{
    collections::BTreeMap,
    env, fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_tests::{Child, Game, Player, Program, tell};
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{Instant, sleep},
};

/// What happens in a round.
const FAULTS: [&str; 5] = [
    "cut network",
    "program killed",
    "reload",
    "reboot",
    "game killed",
];

/// How long the last answers may take.
const PATIENCE: Duration = Duration::from_secs(240);

/// So many rounds are played: as many as the variable says, one of each kind in quick tests, and else two.
fn rounds() -> usize {
    let asked = env::var("DORMOUSE_EVENNIA_ROUNDS").ok();
    let usual = match env::var_os("DORMOUSE_QUICK_TESTS") {
        Some(_) => FAULTS.len(),
        None => 2 * FAULTS.len(),
    };
    asked.and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// A connection to the game that can be cut.
struct Cable {
    port: u16,
    open: Arc<Mutex<JoinSet<()>>>,
    _accepting: JoinSet<()>,
}

impl Cable {
    async fn to(game: &Game) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let open: Arc<Mutex<JoinSet<()>>> = Arc::default();
        let (connections, address) = (Arc::clone(&open), game.address());
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            while let Ok((mut here, _)) = listener.accept().await {
                let address = address.clone();
                connections.lock().unwrap().spawn(async move {
                    if let Ok(mut there) = TcpStream::connect(address).await {
                        drop(copy_bidirectional(&mut here, &mut there).await);
                    }
                });
            }
        });
        Self {
            port,
            open,
            _accepting: accepting,
        }
    }

    fn is_cut(&self) {
        self.open.lock().unwrap().abort_all();
    }
}

fn start(data: &Path, password: &Path, port: u16) -> Child {
    let config = format!(
        "[assistant]\nkey = \"dormouse\"\n[evennia]\nurl = \"ws://127.0.0.1:{port}\"\naccount = \"bob\"\npassword_from = \"file:{}\"\n",
        password.display()
    );
    fs::create_dir_all(data).unwrap();
    fs::write(data.join("dormouse.toml"), config).unwrap();
    let program = Program::over(data);
    program.start(&[
        "run",
        "--world",
        "evennia",
        "--provider",
        "offline",
        "--config",
        data.join("dormouse.toml").to_str().unwrap(),
    ])
}

/// What somebody who is in the room all the time heard: a resident without a client, for whom the game keeps everything.
struct Witness {
    said: BTreeMap<u64, (String, String)>,
    position: Option<(String, u64, f64)>,
}

impl Witness {
    async fn listens(&mut self, game: &Game) {
        let mut eve = game.enter("eve").await;
        let (life, after, at) = match &self.position {
            Some((life, after, at)) => (json!(life), json!(after), json!(at)),
            None => (json!(null), json!(null), json!(null)),
        };
        let hello =
            json!({ "v": 1, "life": life, "after": after, "after_at": at, "client": "witness" });
        eve.sends(&json!(["dormouse_hello", [hello], {}])).await;
        let greeted = eve.receives("dormouse_hello").await;
        let life = greeted["life"].as_str().unwrap().to_owned();
        eve.counts("nothing").await;
        for event in eve.received("dormouse_event") {
            let seq = event["seq"].as_u64().unwrap();
            self.position = Some((life.clone(), seq, event["at"].as_f64().unwrap()));
            if event["kind"] == "say" {
                let by = event["from"][0]["key"].as_str().unwrap().to_owned();
                self.said.insert(
                    seq,
                    (by, event["own"].as_str().unwrap_or_default().to_owned()),
                );
            }
        }
        eve.leaves().await;
    }

    /// The messages that were accepted, each with the number of answers to it.
    fn answers(&self, messages: &[String]) -> BTreeMap<String, usize> {
        let by = |who: &str, word: &str| {
            let said = self.said.values();
            said.filter(|(by, words)| by == who && words.contains(word))
                .count()
        };
        let accepted = messages.iter().filter(|word| by("alice", word) > 0);
        accepted
            .map(|word| (word.clone(), by("bob", word)))
            .collect()
    }
}

async fn says(alice: &mut Player, word: &str) {
    alice
        .types(&format!("say @bob remember that my word is {word}"))
        .await;
}

pub(crate) async fn every_message_is_answered_once_whatever_is_killed(game: &Game) {
    let folder = TempDir::new().unwrap();
    let (data, password) = (folder.path().join("data"), folder.path().join("password"));
    fs::write(&password, game.password("bob")).unwrap();
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).unwrap();
    let cable = Cable::to(game).await;
    let mut program = start(&data, &password, cable.port);
    let mut alice = game.enter("alice").await;
    let mut witness = Witness {
        said: BTreeMap::new(),
        position: None,
    };
    let mut messages = Vec::new();
    says(&mut alice, "plum").await;
    alice.sees("bob says, \"I will remember").await;
    let rounds = rounds();
    for round in 0..rounds {
        let begun = Instant::now();
        for part in ["a", "b"] {
            messages.push(format!("plum{round}{part}."));
            says(&mut alice, messages.last().unwrap()).await;
        }
        // The fault comes at another moment of the work each time.
        sleep(Duration::from_millis(37 * (round as u64 * 7 % 17))).await;
        let fault = FAULTS[round % FAULTS.len()];
        match fault {
            "cut network" => cable.is_cut(),
            "program killed" => {
                program.kill_and_read().await;
                program = start(&data, &password, cable.port);
            }
            "reload" => game.does("reload"),
            "reboot" => game.does("reboot"),
            _ => {
                game.does("kill");
                game.starts_again();
            }
        }
        if matches!(fault, "reboot" | "game killed") {
            alice = game.enter("alice").await;
        }
        messages.push(format!("plum{round}c."));
        // A reload swallows input without a word.
        alice.counts("nothing").await;
        says(&mut alice, messages.last().unwrap()).await;
        let seconds = begun.elapsed().as_secs_f32();
        tell(&format!("round {round}: {fault}, {seconds:.1} s"));
    }
    let end = Instant::now() + PATIENCE;
    let answers = loop {
        witness.listens(game).await;
        let answers = witness.answers(&messages);
        if answers.values().all(|count| *count > 0) || Instant::now() > end {
            break answers;
        }
        sleep(Duration::from_secs(1)).await;
    };
    program.kill_and_read().await;
    let wrong: Vec<_> = answers.iter().filter(|(_, count)| **count != 1).collect();
    tell(&format!(
        "{rounds} rounds: {} messages were accepted, {} of them were not answered exactly once",
        answers.len(),
        wrong.len()
    ));
    let complaints = Program::over(&data).complaints();
    assert!(wrong.is_empty(), "{wrong:?}\n{complaints}");
    assert!(
        answers.len() >= 2 * rounds,
        "most messages are accepted: {answers:?}"
    );
}
