//! `kill -9` in a loop, over a folder in which two assistants live: with tools of one's own, acts that somebody has to confirm, tasks that
//! one gives to the other, and a window so small that earlier turns are summed up.

mod audit;
mod life;
mod script;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use dormouse_contracts::Random;
use dormouse_testing::{SeededRandom, effort};
use dormouse_tests::{Child, Program, tell};
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use audit::{Audit, Life};

/// How often a process is killed by a thorough test, and by a quick one.
const KILLS: u32 = 500;
const FEW_KILLS: u32 = 12;
/// The first life hears so many messages and is not killed, so that the window is full from the beginning.
const FIRST_MESSAGES: u64 = 10;
/// The most messages of one life that is killed.
const MOST_MESSAGES: u64 = 2;
/// Nothing more is said while so many messages wait for an answer: kills that come before anything is done prove nothing.
const MOST_UNANSWERED: u64 = 4;
/// How long all of it may take, on a slow machine that does other things too.
const HARD_LIMIT: Duration = Duration::from_secs(3_600);

const CONFIG: &str = "\
[limits]
max_context_tokens = 9000
[compaction]
preserve_window = 4
[execution]
sub_agents_enabled = true
[delegation]
timeout = 86400
[trust]
approval = \"required\"
approval_expires = 86400
";

/// An act that waits: whose, and its number.
type Waiting = (String, u64);

/// Everything known from outside, over all lives.
struct Ledger<'a> {
    folder: &'a Path,
    program: Program,
    chance: SeededRandom,
    sent: u64,
    acknowledged: BTreeSet<u64>,
    /// How many messages wait for an answer, as far as is known.
    unanswered: u64,
    /// When this life began.
    begun: Instant,
    /// What waits to be confirmed, as far as is known.
    waiting: BTreeSet<Waiting>,
    /// About how long a start takes on this machine at this moment.
    start: Duration,
    kills: BTreeMap<&'static str, u32>,
    /// The last event that this life printed.
    last_event: String,
    /// The events after which a life ended.
    ends: BTreeMap<String, u32>,
    /// How many acts were answered by the command, while nobody was awake.
    by_command: u32,
}

impl Ledger<'_> {
    fn below(&self, limit: u64) -> u64 {
        // A draw is below 1, so the product is below the limit.
        (self.chance.unit() * limit as f64) as u64
    }

    fn killed(&self) -> u32 {
        self.kills.values().sum()
    }

    /// Notes what a line of output says; answers whether it is one.
    fn note(&mut self, line: &[u8]) -> Option<Value> {
        let line: Value = serde_json::from_slice(line).ok()?;
        let of = || line["of"].as_str().unwrap_or_default().to_owned();
        if let Some(number) = line["acknowledged"].as_u64() {
            assert!(self.acknowledged.insert(number), "{number} twice");
        } else if let Some(number) = line["asked"].as_u64() {
            self.waiting.insert((of(), number));
        } else if let Some(number) = line["answered"].as_u64() {
            self.waiting.remove(&(of(), number));
        } else if let Some(waiting) = line["unanswered"].as_u64() {
            self.unanswered = waiting;
            self.start = self.begun.elapsed();
        } else if let Some(kind) = line["event"].as_str() {
            kind.clone_into(&mut self.last_event);
        }
        Some(line)
    }

    /// What the processes have written to standard error.
    fn errors(&self) -> String {
        fs::read_to_string(self.folder.join("stderr.txt")).unwrap_or_default()
    }

    async fn send_message(&mut self, child: &mut Child) {
        self.sent += 1;
        self.unanswered += 1;
        child
            .write(&json!({ "message": self.sent }).to_string())
            .await;
    }

    /// Whether an act is confirmed: three of four are.
    fn allows(&self, (_, number): &Waiting) -> bool {
        number % 4 > 0
    }

    async fn send_answer(&self, child: &mut Child, waiting: &Waiting) {
        let (of, number) = waiting;
        let allow = self.allows(waiting);
        child
            .write(&json!({"answer": number, "of": of, "allow": allow}).to_string())
            .await;
    }

    /// Answers something that waits by the command, while no other process has the folder open.
    async fn answer_by_command(&mut self) {
        let Some(waiting) = self.waiting.pop_first() else {
            return;
        };
        let command = if self.allows(&waiting) {
            "approve"
        } else {
            "deny"
        };
        let (of, number) = (&waiting.0, waiting.1.to_string());
        let arguments = [command, &number, "--by", "Carol", "--assistant", of];
        let ended = self.program.start(&arguments).end().await;
        // The last life may have taken an answer in, and been killed before it said so.
        self.by_command += u32::from(ended.success());
    }

    /// One life: messages and answers go in, and at its moment it is killed.
    async fn live(&mut self) {
        if self.below(3) > 0 {
            self.answer_by_command().await;
        }
        self.last_event.clear();
        self.begun = Instant::now();
        let mut child = life::begin(self.folder);
        let moment = match self.below(8) {
            0 | 1 => {
                let time = self.start.mul_f64(self.chance.unit());
                self.read_for(&mut child, time).await;
                "while starting"
            }
            2 => {
                if self.unanswered < MOST_UNANSWERED {
                    self.send_message(&mut child).await;
                }
                let time = (2 * self.start).mul_f64(self.chance.unit());
                self.read_for(&mut child, time).await;
                "at a drawn time"
            }
            _ => {
                self.read_some(&mut child).await;
                "after a line of output"
            }
        };
        let (printed, status) = child.kill_and_read().await;
        for line in &printed {
            self.note(line);
        }
        assert_eq!(status.code(), None, "it failed: {}", self.errors());
        *self.kills.entry(moment).or_default() += 1;
        *self.ends.entry(self.last_event.clone()).or_default() += 1;
    }

    /// Reads so many lines, and sends something now and then.
    async fn read_some(&mut self, child: &mut Child) {
        let mut left = MOST_MESSAGES;
        let (mut lines, until) = (1 + self.below(90), Instant::now() + 4 * self.start);
        while lines > 0 {
            let may_speak = left > 0 && self.unanswered < MOST_UNANSWERED;
            if may_speak && self.below(3) == 0 {
                left -= 1;
                self.send_message(child).await;
            }
            if self.below(2) == 0
                && let Some(waiting) = self.waiting.first().cloned()
            {
                self.send_answer(child, &waiting).await;
            }
            let patience = until.saturating_duration_since(Instant::now());
            match timeout(patience, child.line()).await {
                Ok(Some(line)) => lines -= u64::from(self.note(&line).is_some()),
                _ => return,
            }
        }
    }

    async fn read_for(&mut self, child: &mut Child, time: Duration) {
        let reading = async {
            while let Some(line) = child.line().await {
                self.note(&line);
            }
        };
        // It normally ends because the time is over; an end of the output is noticed by the killer.
        drop(timeout(time, reading).await);
    }

    /// A life that nobody kills, with so many messages: it answers all that waits, and ends when nobody has anything to do.
    async fn live_to_the_end(&mut self, messages: u64) {
        self.begun = Instant::now();
        let mut child = life::begin(self.folder);
        loop {
            let Some(line) = child.line().await else {
                panic!("it failed: {}", self.errors());
            };
            let Some(line) = self.note(&line) else {
                continue;
            };
            if line["ready"] == true {
                for waiting in self.waiting.clone() {
                    self.send_answer(&mut child, &waiting).await;
                }
                for _ in 0..messages {
                    self.send_message(&mut child).await;
                }
                child.write(&json!({ "end": true }).to_string()).await;
            }
            if line["done"] == true {
                break;
            }
        }
        assert!(child.end().await.success());
    }

    fn check(&self, audit: &Audit) {
        let heard: BTreeSet<u64> = audit.lives().into_iter().flat_map(marks).collect();
        let all: usize = audit.lives().map(|life| life.heard.len()).iter().sum();
        assert_eq!(heard.len(), all, "a message goes to one of them");
        assert!(heard.iter().all(|number| (1..=self.sent).contains(number)));
        let lost: Vec<_> = self.acknowledged.difference(&heard).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }

    /// The program's own word on both logs.
    async fn ask_the_program(&self) {
        for of in ["mole", "rat"] {
            let arguments = ["log", "replay", "--decide", "--assistant", of];
            let ended = self.program.start(&arguments).end().await;
            assert!(ended.success(), "{}", self.program.complaints());
        }
    }
}

fn marks(life: &Life) -> impl Iterator<Item = u64> {
    life.heard.keys().copied()
}

async fn die_often(folder: &Path) {
    fs::write(folder.join("dormouse.toml"), CONFIG).unwrap();
    let mut ledger = Ledger {
        folder,
        program: Program::over(folder),
        chance: SeededRandom::new(14),
        sent: 0,
        acknowledged: BTreeSet::new(),
        unanswered: 0,
        begun: Instant::now(),
        waiting: BTreeSet::new(),
        start: Duration::ZERO,
        kills: BTreeMap::new(),
        last_event: String::new(),
        ends: BTreeMap::new(),
        by_command: 0,
    };
    ledger.live_to_the_end(FIRST_MESSAGES).await;
    let kills = match effort(KILLS) {
        KILLS => KILLS,
        _ => FEW_KILLS,
    };
    while ledger.killed() < kills {
        ledger.live().await;
    }
    // What was answered in one life may call for something that is asked for in the next.
    ledger.live_to_the_end(0).await;
    while !ledger.waiting.is_empty() {
        ledger.live_to_the_end(0).await;
    }
    ledger.ask_the_program().await;
    let audit = Audit::of(folder).await;
    ledger.check(&audit);
    let sum = |part: fn(&Life) -> usize| audit.lives().map(part).iter().sum::<usize>();
    let (blasts, tasks) = (sum(|life| life.deeds().0), sum(|life| life.deeds().1));
    let summaries = sum(|life| life.summaries);
    tell(&format!(
        "{} kills {:?} of a house with two assistants, after {:?}; {} messages sent, {} acknowledged, {} answered; {blasts} acts \
         confirmed and done, {} confirmed or refused by the command; {tasks} tasks done by the other; {} compactions, {summaries} \
         summaries; {} reflections; {} events",
        ledger.killed(),
        ledger.kills,
        ledger.ends,
        ledger.sent,
        ledger.acknowledged.len(),
        sum(|life| life.heard.len()),
        ledger.by_command,
        sum(|life| life.compactions),
        sum(|life| life.reflections),
        sum(|life| life.events),
    ));
    assert!(blasts > 0 && tasks > 0 && summaries > 0);
}

#[tokio::test]
async fn two_assistants_that_are_killed_again_and_again_lose_nothing_and_do_nothing_twice() {
    let mut folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // In its own task, so that its result is known before the folder is removed.
    let mut lives = JoinSet::new();
    let own = folder.path().to_owned();
    lives.spawn(async move { die_often(&own).await });
    match timeout(HARD_LIMIT, lives.join_next()).await {
        Ok(Some(Ok(()))) => {}
        failed => {
            folder.disable_cleanup(true);
            panic!(
                "{failed:?}; the data are kept in {}",
                folder.path().display()
            );
        }
    }
}
