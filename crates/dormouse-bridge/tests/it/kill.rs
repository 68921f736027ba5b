//! Killed at any moment, nothing that was answered is lost, and nothing is done or delivered twice.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use dormouse_bridge::Bridge;
use dormouse_contracts::{EffectInquiry, EntityId, Inquire, Outcome, Perform, Random, Senses};
use dormouse_testing::SeededRandom;

use crate::place::{Place, Room, alice, dormouse, open, page, say};

const PATH: &str = "DORMOUSE_BRIDGE_KILLED";
const ROUND: &str = "DORMOUSE_BRIDGE_ROUND";
/// The file of a game that writes what it does elsewhere.
const BOOK: &str = "DORMOUSE_BRIDGE_BOOK";
const ROUNDS: u32 = 12;

/// A room whose acts change nothing but what Alice perceives.
fn room() -> Room {
    Room {
        of_open: EffectInquiry::NeverSeen,
        ..Room::default()
    }
}

fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// The process that is killed: two acts and a report at a time, each answered with a line. It does nothing unless the test
/// below started it.
#[tokio::test]
async fn child() {
    let Some(path) = env::var_os(PATH) else {
        return;
    };
    let round = env::var(ROUND).unwrap();
    let book = env::var_os(BOOK).map(PathBuf::from);
    let world = open(Path::new(&path), Room { book, ..room() }).await;
    for number in 0_u64.. {
        let act = async |one: &str| {
            let text = format!("{round}/{number}{one}");
            let outcome = world.perform(&say(&text, &text)).await.unwrap();
            assert!(matches!(outcome, Outcome::Done(_)));
            report(&format!("done {text}."));
        };
        let happen = async {
            let text = format!("{round}/{number}c");
            let (queue, happened) = (world.queue(), page(&text));
            queue.push_once(&dormouse(), &text, happened).await.unwrap();
            report(&format!("happened {text}."));
        };
        tokio::join!(act("a"), act("b"), happen);
    }
}

fn start(path: &Path, book: Option<&Path>, round: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .envs(book.map(|book| (BOOK, book)))
        .args(["kill::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What was answered, by kind, until the child was killed after so many answers.
fn run_and_kill(
    path: &Path,
    book: Option<&Path>,
    round: u32,
    answers: usize,
) -> BTreeSet<(String, String)> {
    let mut child = start(path, book, round);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answered = BTreeSet::new();
    let mut take = |line: &str| {
        // A line that was cut short has no full stop.
        let whole = line
            .strip_suffix('.')
            .and_then(|line| line.rsplit_once(' '));
        if let Some((kind, text)) = whole {
            let kind = kind.rsplit(' ').next().unwrap_or(kind);
            answered.insert((kind.to_owned(), text.to_owned()));
        }
    };
    for _ in 0..answers {
        take(
            &lines
                .next()
                .expect("the child goes on until it is killed")
                .unwrap(),
        );
    }
    child.kill().unwrap();
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    rest.iter().for_each(|line| take(line));
    child.wait().unwrap();
    answered
}

/// How often each text was perceived; the numbers have no gap.
async fn perceived(world: &Bridge<Room>, observer: &EntityId) -> BTreeMap<String, usize> {
    let (mut perceived, mut after) = (BTreeMap::new(), 0);
    loop {
        let page = world.perceptions(observer, after, usize::MAX).await;
        let page = page.unwrap();
        if page.is_empty() {
            return perceived;
        }
        for perception in page {
            after += 1;
            assert_eq!(perception.attested.delivery.number, after);
            let text = perception.words.as_claimed().to_owned();
            *perceived.entry(text).or_default() += 1;
        }
    }
}

#[tokio::test]
async fn a_killed_bridge_has_all_that_it_answered_and_each_once() {
    let place = Place::new();
    let random = SeededRandom::new(11);
    let mut answered = BTreeSet::new();
    for round in 0..ROUNDS {
        // The first is killed while it makes the file.
        let answers = match round {
            0 => 0,
            _ => 4 + (random.unit() * 60.0) as usize,
        };
        answered.extend(run_and_kill(&place.path(), None, round, answers));
        let world = place.open(room()).await;
        // Everything that was answered is asked for again, as an engine and a game do after a crash.
        for (kind, text) in &answered {
            if kind == "happened" {
                let (queue, again) = (world.queue(), page(text));
                queue.push_once(&dormouse(), text, again).await.unwrap();
                continue;
            }
            let told = world.inquire(&say(text, text)).await.unwrap();
            assert!(matches!(told, EffectInquiry::Done(_)), "{text}: {told:?}");
            world.perform(&say(text, text)).await.unwrap();
        }
        assert_eq!(
            world.game().said.load(std::sync::atomic::Ordering::SeqCst),
            0
        );
        for (observer, kind) in [(alice(), "done"), (dormouse(), "happened")] {
            let perceived = perceived(&world, &observer).await;
            assert!(perceived.values().all(|&times| times == 1), "{perceived:?}");
            let of_kind = answered.iter().filter(|(of, _)| of == kind);
            for (_, text) in of_kind {
                assert!(perceived.contains_key(text), "{text} was lost");
            }
            for text in perceived.into_keys() {
                answered.insert((kind.to_owned(), text));
            }
        }
    }
    println!("{ROUNDS} kills, {} acts and reports", answered.len());
    assert!(answered.len() >= 4 * (ROUNDS as usize - 1));
}

#[tokio::test]
async fn an_act_that_a_kill_cut_off_is_never_repeated_by_a_game_that_cannot_tell() {
    let place = Place::new();
    let book = place.path().with_file_name("book");
    let random = SeededRandom::new(12);
    let mut answered = BTreeSet::new();
    let mut open_acts = 0;
    for round in 1..ROUNDS {
        let answers = 4 + (random.unit() * 30.0) as usize;
        let of_round = run_and_kill(&place.path(), Some(&book), round, answers);
        answered.extend(of_round.into_iter().filter(|(kind, _)| kind == "done"));
        let again = Room {
            book: Some(book.clone()),
            ..Room::default()
        };
        let world = place.open(again).await;
        let done = std::fs::read_to_string(&book).unwrap();
        let once: BTreeSet<&str> = done.lines().collect();
        assert_eq!(once.len(), done.lines().count(), "done twice: {done}");
        for (_, text) in &answered {
            assert!(once.contains(text.as_str()), "{text} was lost");
        }
        for text in &once {
            let asked = world.inquire(&say(text, text)).await.unwrap();
            let outcome = world.perform(&say(text, text)).await;
            match asked {
                EffectInquiry::Done(receipt) => {
                    assert_eq!(outcome.unwrap(), Outcome::Done(receipt))
                }
                EffectInquiry::CannotTell => open_acts += usize::from(outcome.is_err()),
                other => panic!("{text} was done: {other:?}"),
            }
        }
        let after = std::fs::read_to_string(&book).unwrap();
        assert_eq!(after, done, "nothing is done again");
    }
    println!(
        "{} kills, {} acts, {open_acts} times unknown",
        ROUNDS - 1,
        answered.len()
    );
}
