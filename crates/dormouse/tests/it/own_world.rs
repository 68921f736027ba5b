//! The example of a world of one's own, killed again and again: nothing is lost, and nothing is done twice.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{self, Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use dormouse::{
    HostSettings, SystemClock,
    bridge::BridgeFile,
    contracts::{
        AssistantId, Clock, EffectKey, EntityId, Outcome, ReadError, Senses, Timestamp, each_event,
    },
    engine::Event,
    host::config::Config,
    providers::Environment,
    store::LogView,
};

#[path = "../../examples/own_world.rs"]
#[expect(dead_code, reason = "the test starts what the program starts")]
mod example;

const FOLDER: &str = "DORMOUSE_OWN_WORLD";
const LOOKS: &str = "DORMOUSE_OWN_WORLD_LOOKS";

/// A clock that ends its process after so many readings, wherever the program is then.
#[derive(Debug)]
struct Deadline(AtomicUsize);

impl Clock for Deadline {
    fn now(&self) -> Timestamp {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 0 {
            process::abort();
        }
        SystemClock.now()
    }
}

/// The example, in a process that dies. It does nothing unless the test below started it.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let mut settings = HostSettings::of(Config::default(), Environment::of(|_| None)).unwrap();
    if let Ok(looks) = env::var(LOOKS) {
        settings.clock = Arc::new(Deadline(AtomicUsize::new(looks.parse().unwrap())));
    }
    example::live(Path::new(&folder), settings).await.unwrap();
}

fn start(folder: &Path, looks: Option<usize>) -> Child {
    let looks = looks.map(|looks| (LOOKS, looks.to_string()));
    Command::new(env::current_exe().unwrap())
        .args([
            "own_world::child",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(FOLDER, folder)
        .envs(looks)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// How often the world dies, each time five looks at the clock later.
const DEATHS: usize = 30;
/// It begins its first answer before its clock is looked at so often. One answer takes about as many looks again.
const FIRST: usize = 60;

/// What Alice says.
fn script() -> Vec<String> {
    let about = |nth: usize| match nth % 3 {
        0 => format!("remember that box {nth} is blue"),
        1 => "hello".to_owned(),
        _ => format!("what do you know about box {}?", nth - 2),
    };
    (0..48).map(about).collect()
}

/// How many of her lines the world has.
async fn taken(folder: &Path) -> usize {
    let path = folder.join("room.redb");
    if !path.exists() {
        return 0;
    }
    let file = BridgeFile::open(&path, "room").unwrap();
    let me = EntityId::try_new("assistant:dormouse").unwrap();
    let last = file.queue().last_delivery(&me).await;
    usize::try_from(last.unwrap_or_default()).unwrap()
}

/// The outcome of each act in the log.
async fn outcomes(folder: &Path) -> Vec<Option<Outcome>> {
    let path = folder.join("log.redb");
    if !path.exists() {
        return Vec::new();
    }
    let log = LogView::open(&path).unwrap();
    let me = AssistantId::try_new("dormouse").unwrap();
    let mut acts: BTreeMap<EffectKey, Option<Outcome>> = BTreeMap::new();
    each_event(&log, &me, .., |stored| {
        match Event::decode(stored).unwrap() {
            Event::EffectIntended(intended) => drop(acts.insert(intended.key, None)),
            Event::EffectSettled(settled) => {
                acts.insert(settled.key, Some(settled.outcome));
            }
            _ => {}
        }
        Ok::<_, ReadError>(())
    })
    .await
    .unwrap();
    acts.into_values().collect()
}

/// Says the rest of the script to a world that dies when its clock was looked at so often; without a number it may end.
async fn visit(folder: &Path, looks: Option<usize>, answers: &mut BTreeMap<u64, String>) {
    let rest = script().split_off(taken(folder).await);
    let mut child = start(folder, looks);
    let mut input = child.stdin.take().unwrap();
    for line in rest {
        // Those who die early read nothing.
        let written = writeln!(input, "{line}");
        assert!(written.is_ok() || looks.is_some(), "{written:?}");
    }
    drop(input);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        // The first line follows what the test program prints.
        let answer = line.split_once(": ").and_then(|(before, words)| {
            let number = before.rsplit(' ').next()?.parse().ok()?;
            Some((number, words))
        });
        let Some((number, words)) = answer else {
            continue;
        };
        let before = answers.insert(number, words.to_owned());
        assert!(
            before.is_none_or(|before| before == words),
            "{number} is another answer now"
        );
    }
    assert_eq!(child.wait().unwrap().success(), looks.is_none());
}

#[tokio::test]
async fn a_killed_world_of_ones_own_loses_nothing_and_does_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = BTreeMap::new();
    let mut cut_off = 0;
    for looks in (0..DEATHS).map(|nth| FIRST + 5 * nth) {
        visit(folder.path(), Some(looks), &mut answers).await;
        cut_off += usize::from(outcomes(folder.path()).await.iter().any(Option::is_none));
    }
    println!("{DEATHS} deaths, {cut_off} of them in the middle of an act");
    assert!(cut_off > 0);
    visit(folder.path(), None, &mut answers).await;

    let all = 1..=script().len() as u64;
    assert_eq!(
        answers.keys().copied().collect::<Vec<_>>(),
        all.collect::<Vec<_>>()
    );
    // The answers are those to her lines, in her order.
    for (line, answer) in script().iter().zip(answers.values()) {
        let about = line.split(' ').find(|word| word.parse::<usize>().is_ok());
        assert!(
            about.is_none_or(|about| answer.contains(about)),
            "{line:?}: {answer:?}"
        );
    }
    let outcomes = outcomes(folder.path()).await;
    assert_eq!(outcomes.len(), answers.len(), "one act for each answer");
    let is_done = |outcome: &Option<Outcome>| matches!(outcome, Some(Outcome::Done(_)));
    assert!(outcomes.iter().all(is_done), "{outcomes:?}");
}

#[test]
fn the_readme_shows_the_example() {
    let example = include_str!("../../examples/own_world.rs");
    let (_, shown) = example.split_once("\nuse ").unwrap();
    let readme = include_str!("../../README.md");
    assert!(
        readme.contains(shown.trim_end()),
        "copy the example into README.md"
    );
    assert!(
        example
            .lines()
            .filter(|line| !line.trim().is_empty())
            .count()
            < 60
    );
}
