//! `kill -9` in a loop, over one data folder.

mod message;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use dormouse_contracts::{AssistantId, Random, Seq, Words};
use dormouse_engine::{catch_up, replay};
use dormouse_memory::Memory;
use dormouse_sandbox::Act;
use dormouse_testing::{SeededRandom, effort};
use dormouse_tests::{Child, Program, RunningClock, tell};
use serde_json::Value;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use message::{Kind, number_in};

use crate::{
    account::{Account, Heard, every_decision_is_the_same_again},
    host::{Host, empty_memory, entity, key},
};

/// How often the program is killed at least by a thorough test.
const KILLS: u32 = 200;
/// It is killed until this many messages were acknowledged as well: kills before the program has done anything prove
/// nothing, and a busy machine has more of those.
const ACKNOWLEDGED: u32 = 200;
/// The most lines of input in one life.
const MOST_LINES: u64 = 5;
/// The minimum assumed time of a start: repairing what the last kill left takes time, too.
const START: Duration = Duration::from_millis(120);
/// How long all of it may take, on a slow machine that does other things too.
const HARD_LIMIT: Duration = Duration::from_secs(1_800);

const PLAY: [&str; 4] = ["play", "--provider", "offline", "--json"];

/// When a life ends.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// After this many lines of input, with nothing read: mostly before it has opened anything.
    Sent(u64),
    /// When this much time has gone by, which is mostly while it opens and repairs its files.
    Starting(Duration),
    /// After this many lines of output.
    Printed(u64),
    /// When this much time has gone by.
    After(Duration),
}

/// Everything known from outside, over all lives.
struct Ledger {
    chance: SeededRandom,
    sent: u64,
    acknowledged: BTreeSet<u64>,
    /// About how long a start takes on this machine at this moment.
    start: Duration,
    starts: u32,
    kills: BTreeMap<&'static str, u32>,
    /// The kind of the last event that this life printed.
    last_event: String,
    /// How many lives ended between an effect and its outcome, according to the printed events.
    mid_effect: u32,
}

impl Ledger {
    fn below(&self, limit: u64) -> u64 {
        // A draw is below 1, so the product is below the limit.
        (self.chance.unit() * limit as f64) as u64
    }

    fn killed(&self) -> u32 {
        self.kills.values().sum()
    }

    fn moment(&self) -> Moment {
        match self.below(8) {
            0 => Moment::Sent(self.below(MOST_LINES + 1)),
            1..=3 => Moment::Starting(self.start.mul_f64(self.chance.unit())),
            4 => Moment::After((2 * self.start).mul_f64(self.chance.unit())),
            _ => Moment::Printed(1 + self.below(8 * MOST_LINES)),
        }
    }

    fn next_line(&mut self) -> String {
        self.sent += 1;
        Kind::of(self.sent).line(self.sent)
    }

    /// Notes what a line of output tells.
    fn note(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("ready") => self.starts += 1,
            Some("message") => {
                let text = line["text"].as_str().expect("a message has a text");
                let is_kept = line["seq"].is_u64();
                if let Some(number) = number_in(text).filter(|_| is_kept) {
                    assert!(self.acknowledged.insert(number), "{number} twice");
                }
            }
            Some("event") => {
                self.last_event = line["kind"].as_str().unwrap_or_default().to_owned();
            }
            Some("rejected") => panic!("{line}"),
            _ => {}
        }
    }

    /// One life: some lines go in, some come out, and at its moment it is killed.
    async fn live(&mut self, program: &Program) {
        let moment = self.moment();
        self.last_event.clear();
        let mut child = program.start(&PLAY);
        match moment {
            Moment::Sent(count) => {
                for _ in 0..count {
                    child.write(&self.next_line()).await;
                }
            }
            Moment::Printed(count) => {
                for line in 0..count {
                    // Lines go in at the start and, later, between lines that come out.
                    if line == 0 || (line < MOST_LINES && self.below(2) == 0) {
                        child.write(&self.next_line()).await;
                    }
                    match child.json_within(self.start * 5 / 2).await {
                        Some(line) => self.note(&line),
                        None => {
                            // A longer log takes longer to start, and a machine can become busy.
                            self.start = self.start * 5 / 4;
                            break;
                        }
                    }
                }
            }
            Moment::Starting(time) => self.live_for(time, &mut child).await,
            Moment::After(time) => {
                for _ in 0..1 + self.below(MOST_LINES) {
                    child.write(&self.next_line()).await;
                }
                self.live_for(time, &mut child).await;
            }
        }
        self.end(child, moment, program).await;
    }

    /// Notes what it prints within `time`.
    async fn live_for(&mut self, time: Duration, child: &mut Child) {
        let reading = async {
            while let Some(line) = child.json().await {
                self.note(&line);
            }
        };
        // It normally ends because the time is over; an end of the output is noticed by the killer.
        drop(timeout(time, reading).await);
    }

    async fn end(&mut self, child: Child, moment: Moment, program: &Program) {
        let (printed, status) = child.kill().await;
        assert_eq!(
            status.code(),
            None,
            "it ended before it was killed: {}",
            program.complaints()
        );
        for line in &printed {
            self.note(line);
        }
        self.mid_effect += u32::from(self.last_event == "effect_intended");
        let name = match moment {
            Moment::Sent(_) => "after a line of input",
            Moment::Starting(_) => "while starting",
            Moment::Printed(_) => "after a line of output",
            Moment::After(_) => "at a drawn time",
        };
        *self.kills.entry(name).or_default() += 1;
    }

    /// The last life, which nobody kills.
    async fn finish(&mut self, program: &Program) {
        let (printed, status) = program.start(&PLAY).finish().await;
        assert!(status.success(), "{status}: {}", program.complaints());
        for line in &printed {
            self.note(line);
        }
        let end = printed.last().expect("it says how it ended");
        assert_eq!(end["type"], "end");
        assert_eq!(end["reason"], "settled");
        assert_eq!(end["waiting"], 0);
    }

    /// Checks what log and world hold against what was sent and acknowledged.
    async fn check(&self, data: &Path) -> Account {
        let host = Host::open(data);
        let assistant = key("dormouse");
        every_decision_is_the_same_again(&host, &assistant).await;
        let account = Account::of(&host, &assistant).await;
        account.every_message_is_answered_once();

        let mut heard = BTreeMap::new();
        for one in account.heard.values() {
            // Arrivals are heard as well, and are numbered by nobody here.
            if let Some(number) = number_in(one.text()) {
                let before = heard.insert(number, one);
                assert!(before.is_none(), "message {number} was accepted twice");
            }
        }
        for (number, one) in &heard {
            assert!((1..=self.sent).contains(number), "nobody sent {number}");
            self.check_answer(*number, one, &account);
        }
        for number in &self.acknowledged {
            assert!(heard.contains_key(number), "{number} was lost");
        }
        no_delivery_is_missing(&host, &account).await;
        the_memory_follows_from_the_log(&host, &assistant, data).await;
        account
    }

    fn check_answer(&self, number: u64, heard: &Heard, account: &Account) {
        let kind = Kind::of(number);
        assert_eq!(heard.verdict, kind.verdict(), "{heard:?}");
        let line = format!("item {number} is n{number}");
        let remembered = account.memories.iter().filter(|one| **one == line).count();
        let keeps = matches!(kind, Kind::Remember | Kind::Page);
        assert_eq!(remembered, usize::from(keeps), "{line}");
        if keeps {
            assert!(heard.answers()[0].contains(&line), "{heard:?}");
        }
    }
}

/// Checks that each delivery of the world is in the log, or was the assistant's own deed coming back to its senses.
async fn no_delivery_is_missing(host: &Host, account: &Account) {
    let words = Words::try_new("that was all").unwrap();
    let to = "Dormouse".to_owned();
    let visitor = entity("player:visitor");
    let acted = host.sandbox.act(&visitor, Act::SayTo { to, words });
    let resident = entity("assistant:dormouse");
    let deliveries = acted.await.unwrap().deliveries;
    let next = deliveries.iter().find(|(who, _)| *who == resident);
    let made = next.expect("it is delivered").1 - 1;
    let taken = account.heard.len() + account.deeds();
    assert_eq!(taken as u64, made, "no delivery is left out");
}

/// Checks that what the lives left in the memory's file is what a new memory takes in from the same log: nothing is
/// missing, and nothing is there twice.
pub(crate) async fn the_memory_follows_from_the_log(
    host: &Host,
    assistant: &AssistantId,
    data: &Path,
) {
    let lived = Memory::builder(assistant.clone(), RunningClock::start());
    let lived = lived
        .open(data.join(format!("memory-{assistant}.redb")))
        .await
        .unwrap();
    let anew = empty_memory(assistant);
    for memory in [&lived, &anew] {
        catch_up(&host.log, assistant, memory).await.unwrap();
    }
    let mut after = None;
    loop {
        let pages = [
            lived.records(after, 1_000).await.unwrap(),
            anew.records(after, 1_000).await.unwrap(),
        ];
        let [lived, anew] = pages;
        assert_eq!(lived, anew);
        match anew.last() {
            Some(last) => after = Some(last.id),
            None => break,
        }
    }
    assert_eq!(lived.entities(), anew.entities());
}

/// Lets the program itself check the log that it left.
async fn ask_the_program(program: &Program, data: &Path) {
    let (_, verified) = program.start(&["log", "verify", "--json"]).finish().await;
    assert!(verified.success(), "{}", program.complaints());
    let (printed, status) = program.start(&["log", "replay", "--json"]).finish().await;
    assert!(status.success(), "{}", program.complaints());
    let host = Host::open(data);
    assert!(host.log.verify().unwrap().is_intact());
    let assistant: AssistantId = key("dormouse");
    let state = replay(&host.log, &assistant, Seq(u64::MAX)).await;
    assert_eq!(printed[0]["hash"], state.unwrap().hash().unwrap());
}

/// The shortest of three starts, so that a slow or busy machine gets as far as a fast one before it is killed.
async fn measured_start(program: &Program) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        let (_, status) = program.start(&PLAY).finish().await;
        assert!(status.success(), "{}", program.complaints());
        shortest = shortest.min(begun.elapsed());
    }
    shortest.max(START)
}

async fn die_often(data: &Path) {
    let program = Program::over(data);
    let mut ledger = Ledger {
        chance: SeededRandom::new(9),
        start: measured_start(&program).await,
        sent: 0,
        acknowledged: BTreeSet::new(),
        starts: 0,
        kills: BTreeMap::new(),
        last_event: String::new(),
        mid_effect: 0,
    };
    let acknowledged = effort(ACKNOWLEDGED) as usize;
    while ledger.killed() < effort(KILLS) || ledger.acknowledged.len() < acknowledged {
        ledger.live(&program).await;
    }
    ledger.finish(&program).await;
    ask_the_program(&program, data).await;
    let account = ledger.check(data).await;
    tell(&format!(
        "{} kills {:?}, {} of them between an effect and its outcome; {} starts got ready; {} messages sent, \
         {} acknowledged, {} answered, {} events",
        ledger.killed(),
        ledger.kills,
        ledger.mid_effect,
        ledger.starts,
        ledger.sent,
        ledger.acknowledged.len(),
        account.triggers().count(),
        account.events,
    ));
    // One of five messages is only overheard.
    assert!(account.triggers().count() > acknowledged / 2);
}

#[tokio::test]
async fn killed_again_and_again_every_acknowledged_message_is_answered_exactly_once() {
    let mut folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().join("data");
    // In its own task, so that its result is known before the folder is removed.
    let mut lives = JoinSet::new();
    let own = data.clone();
    lives.spawn(async move { die_often(&own).await });
    match timeout(HARD_LIMIT, lives.join_next()).await {
        Ok(Some(Ok(()))) => {}
        failed => {
            folder.disable_cleanup(true);
            panic!("{failed:?}; the data are kept in {}", data.display());
        }
    }
}
