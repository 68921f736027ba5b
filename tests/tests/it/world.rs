//! A world that was written in Python and speaks HTTP: it and the service are killed again and again.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Outcome, Random};
use dormouse_engine::Event;
use dormouse_testing::SeededRandom;
use dormouse_tests::{Child, LIMIT, Program, tell};
use serde_json::Value;
use tokio::{
    process::Command,
    time::{Instant, sleep, timeout},
};

use crate::{
    account::events,
    host::{Host, key},
    service::{Door, Running},
};

const ROOM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/dormouse-server/examples/chat_room.py"
);

/// How often each of the two is killed by a thorough test, and by a quick one.
const KILLS: (u32, u32) = (40, 6);

fn room(door: &Door, secret: &str, book: &Path) -> Child {
    let mut command = Command::new("python3");
    let url = format!("http://{}", door.address);
    command.args([ROOM, &url, secret]).arg(book);
    Child::spawn(command)
}

/// What the book of the room holds under this name.
fn noted(book: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(book).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|entry| entry.get(name).is_some()).collect()
}

async fn until(what: &str, program: &Program, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}: {}", program.complaints());
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_of_plain_python_has_a_resident_that_answers_each_line_once_whoever_is_killed() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    // All lines are said by one person, and wait while the service is down.
    let settings =
        "[world]\nkind = \"http\"\n[admission]\nwaiting = 0\nburst = 0\nlines_per_minute = 0\n";
    fs::write(data.join("dormouse.toml"), settings).unwrap();
    let book = folder.path().join("book");
    let program = Program::over(&data);
    let create = ["token", "create", "Room", "--allow", "world", "--json"];
    let facts = ["--attest", "sender", "--attest", "addressed"];
    // The tools are those of the whole world, so the token is for all assistants.
    let (printed, status) = program
        .start(&[&create[..], &facts].concat())
        .finish()
        .await;
    assert!(status.success(), "{}", program.complaints());
    let secret = printed[0]["secret"].as_str().unwrap().to_owned();
    let kills = match std::env::var_os("DORMOUSE_QUICK_TESTS") {
        Some(_) => KILLS.1,
        None => KILLS.0,
    };
    let chance = SeededRandom::new(7);
    let pause = || Duration::from_millis((chance.unit() * 900.0) as u64);
    let mut running = Running::start(&program, &secret).await;
    let mut number = 0;
    for life in 0..kills {
        let mut world = room(&running.door, &secret, &book);
        for _ in 0..2 {
            number += 1;
            world.write(&format!("Ann: This is line {number}.")).await;
            timeout(LIMIT, world.line()).await.unwrap();
        }
        sleep(pause()).await;
        if life % 2 == 0 {
            running = running.again(&program).await;
            sleep(pause()).await;
        }
        world.kill_and_read().await;
    }
    // The last life of the room, which sends what the others did not.
    let world = room(&running.door, &secret, &book);
    let lines = noted(&book, "heard").len();
    until("not everything is sent", &program, || {
        noted(&book, "sent").len() >= lines
    })
    .await;
    until("not everything is answered", &program, || {
        noted(&book, "done").len() >= lines
    })
    .await;
    // The receipt of the last act is on its way.
    let path = "/api/ai/world/effects/?wait_seconds=1";
    let is_open = async |door: &Door| {
        let page = door.answer("GET", path, "").await.unwrap();
        !page.contains("\"effects\":[]")
    };
    while is_open(&running.door).await {}
    world.kill_and_read().await;
    running.child.kill().await;

    let (triggers, acts) = check(&data, &book).await;
    tell(&format!(
        "{kills} kills of a world in Python and {} of the service: {lines} lines, each heard once; {triggers} answered by \
         {acts} acts, each carried out once",
        kills.div_ceil(2)
    ));
}

/// Checks the log against the book. Returns how many lines called for an answer, and how many acts there were.
async fn check(data: &Path, book: &Path) -> (usize, usize) {
    let host = Host::open(data);
    let mut heard: BTreeMap<String, u32> = BTreeMap::new();
    let (mut triggers, mut acts) = (0, BTreeMap::new());
    for (_, event) in events(&host.log, &key("dormouse")).await {
        match event {
            Event::Perceived(it) => {
                triggers += usize::from(it.classification.verdict == MessageVerdict::Trigger);
                let words = it.perception.words.as_claimed().to_owned();
                *heard.entry(words).or_default() += 1;
            }
            Event::EffectIntended(it) => drop(acts.insert(it.key.to_string(), false)),
            Event::EffectSettled(it) => {
                let is_done = matches!(it.outcome, Outcome::Done(_));
                assert!(is_done, "the room knows what it did: {it:?}");
                acts.insert(it.key.to_string(), true);
            }
            _ => {}
        }
    }
    for line in noted(book, "heard") {
        let words = line["words"].as_str().unwrap();
        assert_eq!(heard.get(words), Some(&1), "{words}");
    }
    let done = noted(book, "done");
    let done: Vec<_> = done.iter().map(|it| it["done"].as_str().unwrap()).collect();
    assert_eq!(done.len(), acts.len(), "{done:?} {acts:?}");
    for id in &done {
        assert!(acts.contains_key(*id), "{id}");
        assert_eq!(done.iter().filter(|it| *it == id).count(), 1, "{id}");
    }
    assert_eq!(done.len(), triggers, "each line is answered once");
    (triggers, acts.len())
}
