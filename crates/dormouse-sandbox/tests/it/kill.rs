//! Killed at any moment, the world has done every effect it answered, and each once.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use dormouse_contracts::{Effect, EffectInquiry, Inquire, Outcome, Perform, Random, Senses};
use dormouse_sandbox::{Sandbox, SandboxOpenError};
use dormouse_testing::SeededRandom;
use serde_json::json;

use crate::cast::{Place, character, effect, id, open};

const PATH: &str = "DORMOUSE_SANDBOX_KILLED";
const ROUND: &str = "DORMOUSE_SANDBOX_ROUND";
const ROUNDS: u32 = 16;

fn say(key: &str) -> Effect {
    effect(key, "Dormouse", "say", &json!({ "message": key }))
}

/// The process that is killed: performs effects, three at a time, and prints the key of each that is answered. It
/// does nothing unless the test below started it.
#[tokio::test]
async fn child() {
    let Some(path) = env::var_os(PATH) else {
        return;
    };
    let round = env::var(ROUND).unwrap();
    let world = open(Path::new(&path)).unwrap();
    for name in ["Alice", "Dormouse"] {
        world.join(character(name)).await.unwrap();
    }
    for number in 0_u64.. {
        let [a, b, c] = ["a", "b", "c"].map(|one| say(&format!("{round}/{number}{one}")));
        tokio::join!(
            perform(&world, &a),
            perform(&world, &b),
            perform(&world, &c)
        );
    }
}

async fn perform(world: &Sandbox, effect: &Effect) {
    assert!(matches!(
        world.perform(effect).await.unwrap(),
        Outcome::Done(_)
    ));
    let mut out = std::io::stdout().lock();
    writeln!(out, "done {}", effect.key).unwrap();
    out.flush().unwrap();
}

fn start(path: &Path, round: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Starts the child, kills it after so many answers, and returns the keys it answered.
fn run_and_kill(path: &Path, round: u32, answers: usize) -> BTreeSet<String> {
    let mut child = start(path, round);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answered = BTreeSet::new();
    let mut take = |line: std::io::Result<String>| {
        if let Some((_, key)) = line.unwrap().split_once("done ") {
            answered.insert(key.to_owned());
        }
        answered.len()
    };
    let mut count = 0;
    while count < answers {
        count = take(lines.next().expect("the child goes on until it is killed"));
    }
    if answers > 0 {
        let refused = open(path);
        assert!(
            matches!(refused, Err(SandboxOpenError::InUse { .. })),
            "{refused:?}"
        );
    }
    child.kill().unwrap();
    // A line that was cut short ends in no key that was ever used, so only whole ones are counted.
    let rest: Vec<_> = lines.collect();
    for line in rest {
        take(line);
    }
    child.wait().unwrap();
    answered.retain(|key| key.ends_with(['a', 'b', 'c']));
    answered
}

/// How often Alice heard each text, all pages; the numbers have no gap.
async fn heard(world: &Sandbox) -> BTreeMap<String, usize> {
    let mut heard = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = world
            .perceptions(&id("Alice"), after, usize::MAX)
            .await
            .unwrap();
        if page.is_empty() {
            return heard;
        }
        for perception in page {
            after += 1;
            assert_eq!(perception.attested.delivery.number, after);
            *heard
                .entry(perception.words.as_claimed().to_owned())
                .or_default() += 1;
        }
    }
}

/// The keys of all effects, all pages.
async fn done(world: &Sandbox) -> BTreeSet<String> {
    let mut done = BTreeSet::new();
    loop {
        let page = world.effects(done.len() as u64).await.unwrap();
        if page.is_empty() {
            return done;
        }
        done.extend(page.iter().map(|it| it.effect.key.to_string()));
    }
}

#[tokio::test]
async fn a_killed_world_has_done_every_effect_it_answered_and_each_once() {
    let place = Place::new();
    let random = SeededRandom::new(7);
    let mut answered = BTreeSet::new();
    for round in 0..ROUNDS {
        // The first is killed while it makes the file.
        let answers = if round == 0 {
            0
        } else {
            1 + (random.unit() * 60.0) as usize
        };
        answered.extend(run_and_kill(&place.path(), round, answers));

        let world = place.open();
        for name in ["Alice", "Dormouse"] {
            world.join(character(name)).await.unwrap();
        }
        let heard = heard(&world).await;
        for key in &answered {
            let told = world.inquire(&say(key)).await.unwrap();
            assert!(matches!(told, EffectInquiry::Done(_)), "{key}: {told:?}");
            assert_eq!(heard.get(key), Some(&1), "{key}");
            let again = world.perform(&say(key)).await.unwrap();
            assert!(matches!(again, Outcome::Done(_)), "{key}: {again:?}");
        }
        let done = done(&world).await;
        let spoken: BTreeSet<_> = heard
            .keys()
            .filter(|text| text.contains('/'))
            .cloned()
            .collect();
        assert_eq!(spoken, done, "what was heard is what was done");
        assert!(heard.values().all(|&times| times == 1), "{heard:?}");
        assert!(
            done.len() <= answered.len() + 3,
            "three were on their way at most"
        );
        answered = done;
    }
    println!("{ROUNDS} kills, {} effects", answered.len());
    assert!(answered.len() >= ROUNDS as usize - 1);
}
