//! `kill -9` of the service while people speak over HTTP.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::{Random, Seq};
use dormouse_engine::replay;
use dormouse_testing::SeededRandom;
use dormouse_tests::{Child, LIMIT, Program, tell};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{
    account::{Account, every_decision_is_the_same_again},
    host::{Host, key},
};

/// How often it is killed by a thorough test, and by a quick one.
const KILLS: (u32, u32) = (200, 6);

/// How many residents are spoken to at the same time.
const RESIDENTS: u32 = 50;

/// How many messages each of them is sent in one life at most, so that the last life can answer what waits.
const ROUNDS: u32 = 4;

/// In how many lives a backup is made.
const BACKUPS: u32 = 3;

/// The service and a way to it.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) door: Door,
}

/// Where it listens, and the token that it takes.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) address: String,
    secret: String,
}

impl Running {
    pub(crate) async fn start(program: &Program, secret: &str) -> Self {
        // The port is free now. If somebody else takes it meanwhile, the service ends, and the test says so.
        let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = free.local_addr().expect("it has an address").to_string();
        drop(free);
        Self::start_at(address, program, secret).await
    }

    /// Kills it, and starts it again at the same address.
    pub(crate) async fn again(self, program: &Program) -> Self {
        let Door { address, secret } = self.door;
        self.child.kill().await;
        Self::start_at(address, program, &secret).await
    }

    async fn start_at(address: String, program: &Program, secret: &str) -> Self {
        let child = program.start(&["serve", "--listen", &address, "--provider", "offline"]);
        let secret = secret.to_owned();
        let running = Self {
            child,
            door: Door { address, secret },
        };
        let begun = Instant::now();
        while running.door.ask("GET", "/readyz", "").await != Some(200) {
            assert!(
                begun.elapsed() < LIMIT,
                "it does not get ready: {}",
                program.complaints()
            );
            sleep(Duration::from_millis(20)).await;
        }
        running
    }
}

impl Door {
    /// Sends a request, and returns the status of the answer, if there is one.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: &str) -> Option<u16> {
        let answer = self.answer(method, path, body).await?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    /// Sends a request, and returns the whole answer, if there is one.
    pub(crate) async fn answer(&self, method: &str, path: &str, body: &str) -> Option<String> {
        let Self { address, secret } = self;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {secret}\r\nconnection: close\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        String::from_utf8(answer).ok()
    }

    /// Says something to a resident, and returns the status of the answer.
    async fn say(&self, resident: u32, number: u32, wait: u32) -> Option<u16> {
        let path = format!("/api/ai/assistants/{}/interact/", name(resident));
        let body = format!(
            r#"{{"words": "{}", "wait_seconds": {wait}}}"#,
            words(number)
        );
        self.ask("POST", &path, &body).await
    }
}

fn name(resident: u32) -> String {
    format!("resident-{resident}")
}

fn words(number: u32) -> String {
    format!("This is message number {number}.")
}

/// Everything that is known from outside, over all lives.
struct Lives {
    program: Program,
    secret: String,
    chance: SeededRandom,
    /// What was answered 2xx: to whom, and which message.
    accepted: Arc<Mutex<Vec<(u32, u32)>>>,
    /// How many messages each resident was sent at most.
    sent: u32,
}

impl Lives {
    /// A folder with all residents in it.
    async fn begin(folder: &Path) -> Self {
        let bounds = "[server]\nrequests_per_minute = 100000\nburst = 1000\n";
        fs::write(folder.join("dormouse.toml"), bounds).unwrap();
        let program = Program::over(folder);
        let rights = ["--allow", "talk", "--allow", "admin"];
        let create = [&["token", "create", "Ann", "--json"][..], &rights].concat();
        let (printed, status) = program.start(&create).finish().await;
        assert!(status.success(), "{}", program.complaints());
        let secret = printed[0]["secret"].as_str().unwrap().to_owned();
        let running = Running::start(&program, &secret).await;
        for resident in 0..RESIDENTS {
            let body = format!(r#"{{"key": "{0}", "name": "R{resident}"}}"#, name(resident));
            let made = running.door.ask("POST", "/api/ai/assistants/", &body).await;
            assert_eq!(made, Some(201), "{}", program.complaints());
        }
        running.child.kill().await;
        Self {
            program,
            secret,
            chance: SeededRandom::new(16),
            accepted: Arc::default(),
            sent: 0,
        }
    }

    /// One life: everybody is spoken to, and at a drawn moment the service is killed. `backup` is made meanwhile.
    async fn live(&mut self, backup: Option<&Path>) {
        let running = Running::start(&self.program, &self.secret).await;
        let before = self.accepted.lock().unwrap().len();
        let mut speakers = JoinSet::new();
        for resident in 0..RESIDENTS {
            let (door, accepted) = (running.door.clone(), Arc::clone(&self.accepted));
            let first = self.sent;
            speakers.spawn(async move {
                for round in 0..ROUNDS {
                    let number = first + round;
                    match door.say(resident, number, round % 2 * 10).await {
                        Some(200 | 202) => accepted.lock().unwrap().push((resident, number)),
                        Some(status) => panic!("{status}"),
                        // It was killed.
                        None => return,
                    }
                }
            });
        }
        if let Some(backup) = backup {
            let into = backup.display().to_string();
            let status = self.program.start(&["backup", &into]).end().await;
            assert!(status.success(), "{}", self.program.complaints());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw is below 1"
        )]
        let enough = before + 1 + (self.chance.unit() * 100.0) as usize;
        let begun = Instant::now();
        while self.accepted.lock().unwrap().len() < enough {
            assert!(
                begun.elapsed() < LIMIT,
                "nobody is answered: {}",
                self.program.complaints()
            );
            sleep(Duration::from_millis(2)).await;
        }
        self.kill(running).await;
        speakers.join_all().await;
        self.sent += ROUNDS;
    }

    async fn kill(&self, running: Running) {
        let (_, status) = running.child.kill().await;
        let complaints = self.program.complaints();
        assert_eq!(status.code(), None, "it ended by itself: {complaints}");
    }

    /// The last life, in which everybody answers what waits for them.
    async fn finish(&mut self) {
        let running = Running::start(&self.program, &self.secret).await;
        let mut speakers = JoinSet::new();
        for resident in 0..RESIDENTS {
            let (door, mut number) = (running.door.clone(), self.sent);
            speakers.spawn(async move {
                // Those who waited come first, so this one is answered last.
                while door.say(resident, number, 60).await != Some(200) {
                    number += 1;
                }
            });
        }
        speakers.join_all().await;
        // What was answered is on disk, so this one may end like the others.
        self.kill(running).await;
    }

    /// Checks what the log and the world hold against what was answered 2xx. Returns how many messages were heard.
    async fn check(&self, host: &Host) -> usize {
        let mut heard = BTreeMap::new();
        for resident in 0..RESIDENTS {
            let assistant = key(&name(resident));
            every_decision_is_the_same_again(host, &assistant).await;
            let account = Account::of(host, &assistant).await;
            account.every_message_is_answered_once();
            for one in account.triggers() {
                *heard.entry((resident, one.text().to_owned())).or_insert(0) += 1;
            }
        }
        for (resident, number) in self.accepted.lock().unwrap().iter() {
            let message = (*resident, words(*number));
            assert_eq!(heard.get(&message), Some(&1), "{message:?}");
        }
        assert!(heard.values().all(|count| *count == 1), "{heard:?}");
        heard.len()
    }
}

/// Checks that the backup has the state that each life had at its last event, and that it can be lived in.
async fn check_backup(host: &Host, backup: &Path, secret: &str) -> u64 {
    let mut events = 0;
    let copy = Host::open(backup);
    for (assistant, end) in copy.log.assistants().unwrap() {
        let copied = replay(&copy.log, &assistant, Seq(u64::MAX)).await.unwrap();
        let lived = replay(&host.log, &assistant, end).await.unwrap();
        assert_eq!(copied.hash().unwrap(), lived.hash().unwrap(), "{assistant}");
        events += end.0;
    }
    drop(copy);
    let running = Running::start(&Program::over(backup), secret).await;
    let answered = async {
        let mut number = 1_000_000;
        while running.door.say(0, number, 60).await != Some(200) {
            number += 1;
        }
    };
    timeout(LIMIT, answered).await.expect("it answers");
    running.child.kill().await;
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_was_answered_2xx_is_dealt_with_once_however_often_the_service_is_killed() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let backups = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let backup = |number: u32| backups.path().join(number.to_string());
    let kills = match std::env::var_os("DORMOUSE_QUICK_TESTS") {
        Some(_) => KILLS.1,
        None => KILLS.0,
    };
    let mut lives = Lives::begin(folder.path()).await;
    let mut made = Vec::new();
    for life in 0..kills {
        let is_backed_up = life % (kills / BACKUPS) == 1;
        let into = is_backed_up.then(|| backup(life));
        lives.live(into.as_deref()).await;
        made.extend(into);
    }
    lives.finish().await;

    let host = Host::open(folder.path());
    let heard = lives.check(&host).await;
    let mut copied = Vec::new();
    for backup in &made {
        copied.push(check_backup(&host, backup, &lives.secret).await);
    }
    let accepted = lives.accepted.lock().unwrap().len();
    tell(&format!(
        "{kills} kills of the service with {RESIDENTS} residents; {accepted} messages answered 2xx, {heard} heard, each \
         answered once; {} backups of a running folder ({copied:?} events) have equal hashes",
        made.len()
    ));
}
