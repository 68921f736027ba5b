//! `kill -9` of the service while people speak over HTTP.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::Random;
use dormouse_testing::SeededRandom;
use dormouse_tests::{Child, LIMIT, Program, tell};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    account::{Account, every_decision_is_the_same_again},
    host::{Host, key},
};

/// How often it is killed by a thorough test, and by a quick one.
const KILLS: (u32, u32) = (20, 3);

/// How many people speak at the same time.
const SPEAKERS: u32 = 4;

/// How much each of them says in one life at most, so that the last life can answer what waits.
const ROUNDS: u32 = 4;

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
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        String::from_utf8(answer).ok()
    }

    /// Says something, and returns the status of the answer.
    async fn say(&self, number: u32, wait: u32) -> Option<u16> {
        let path = "/api/ai/assistants/dormouse/interact/";
        let words = format!("This is message number {number}.");
        let body = format!(r#"{{"words": "{words}", "wait_seconds": {wait}}}"#);
        self.ask("POST", path, &body).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_was_answered_2xx_is_dealt_with_once_however_often_the_service_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::over(folder.path());
    let made = program.start(&["token", "create", "Ann", "--allow", "talk", "--json"]);
    let (printed, status) = made.finish().await;
    assert!(status.success(), "{}", program.complaints());
    let secret = printed[0]["secret"].as_str().unwrap().to_owned();
    let chance = SeededRandom::new(16);
    let kills = match std::env::var_os("DORMOUSE_QUICK_TESTS") {
        Some(_) => KILLS.1,
        None => KILLS.0,
    };
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let mut sent = 0;
    for _ in 0..kills {
        let running = Running::start(&program, &secret).await;
        let before = accepted.lock().unwrap().len();
        let mut speakers = JoinSet::new();
        for speaker in 0..SPEAKERS {
            let door = running.door.clone();
            let accepted = Arc::clone(&accepted);
            let first = sent + speaker;
            speakers.spawn(async move {
                for round in 0..ROUNDS {
                    let number = first + round * SPEAKERS;
                    match door.say(number, round % 2 * 10).await {
                        Some(200 | 202) => accepted.lock().unwrap().push(number),
                        Some(429) => sleep(Duration::from_millis(100)).await,
                        Some(status) => panic!("{status}"),
                        // It was killed.
                        None => return,
                    }
                }
            });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw is below 1"
        )]
        let enough = before + 1 + (chance.unit() * 12.0) as usize;
        let begun = Instant::now();
        while accepted.lock().unwrap().len() < enough {
            assert!(
                begun.elapsed() < LIMIT,
                "nobody is answered: {}",
                program.complaints()
            );
            sleep(Duration::from_millis(2)).await;
        }
        let (_, status) = running.child.kill().await;
        assert_eq!(
            status.code(),
            None,
            "it ended by itself: {}",
            program.complaints()
        );
        speakers.join_all().await;
        sent += ROUNDS * SPEAKERS;
    }
    let running = Running::start(&program, &secret).await;
    // Those who waited come first, so this one is answered last.
    while running.door.say(sent, 60).await != Some(200) {
        sent += 1;
    }
    // What was answered is on disk, so this one may end like the others.
    running.child.kill().await;

    let host = Host::open(folder.path());
    let assistant = key("dormouse");
    every_decision_is_the_same_again(&host, &assistant).await;
    let account = Account::of(&host, &assistant).await;
    account.every_message_is_answered_once();
    let mut heard = BTreeMap::new();
    for one in account.triggers() {
        *heard.entry(one.text().to_owned()).or_insert(0) += 1;
    }
    let accepted = accepted.lock().unwrap();
    for number in accepted.iter() {
        let words = format!("This is message number {number}.");
        assert_eq!(heard.get(&words), Some(&1), "{words}");
    }
    assert!(heard.values().all(|count| *count == 1), "{heard:?}");
    tell(&format!(
        "{kills} kills of the service; {} messages answered 2xx, {} heard, each answered once",
        accepted.len(),
        heard.len()
    ));
}
