//! `kill -9` in a loop, over the memories in a few folders.

mod moment;

use std::{collections::BTreeMap, path::Path, time::Duration};

use dormouse_memory::Note;
use dormouse_testing::effort;
use dormouse_tests::{Child, tell};
use tokio::{task::JoinSet, time::timeout};

use moment::Moment;

use super::{
    Dice, builder, dreaming, encoder, file_in, heard, held::Held, ledger::Ledger, life, life::Mode,
    migrating, projections,
};

/// How often a process is killed in each of the folders by a thorough test.
const FOLDERS: [(Mode, u32); 7] = [
    (Mode::Writing, 40),
    (Mode::Writing, 40),
    (Mode::Consolidating, 25),
    (Mode::Consolidating, 25),
    (Mode::Rebuilding, 20),
    (Mode::Rebuilding, 20),
    (Mode::Migrating, 30),
];
/// How many records there are to rebuild, apart from those that are added, so that it takes a while.
const TO_REBUILD: u64 = 1_200;
/// How long all of it may take, on a slow machine that does other things too.
const HARD_LIMIT: Duration = Duration::from_secs(1_800);

/// The memory in one folder, over all its lives.
struct Folder<'a> {
    path: &'a Path,
    mode: Mode,
    dice: Dice,
    lives: u64,
    ledger: Ledger,
    spaces: migrating::Ledger,
    dreams: dreaming::Ledger,
    kills: BTreeMap<&'static str, u64>,
}

impl Folder<'_> {
    fn note(&mut self, line: &[u8]) -> bool {
        let Some(line) = heard(line) else {
            return true;
        };
        self.ledger.note(&line);
        self.spaces.note(&line);
        self.dreams.note(&line);
        line["done"] != true
    }

    /// One life: it does what it can until its moment has come.
    async fn live(&mut self, moment: Moment) {
        self.lives += 1;
        self.ledger.begins_a_life();
        let mut child = life::begin(self.path, self.mode, self.lives);
        match moment {
            Moment::Starting(time) => self.listen_for(time, &mut child).await,
            Moment::Printed(lines) => self.listen(lines, &mut child).await,
            Moment::After(time) => {
                // What libtest prints is three lines.
                self.listen(1, &mut child).await;
                self.listen_for(time, &mut child).await;
            }
        }
        let (printed, status) = child.kill_and_read().await;
        for line in &printed {
            self.note(line);
        }
        assert_eq!(status.code(), None, "it failed: {}", self.path.display());
        *self.kills.entry(moment.name()).or_default() += 1;
    }

    /// Notes so many lines that were said.
    async fn listen(&mut self, mut lines: u64, child: &mut Child) {
        while lines > 0 {
            let line = child.line().await.expect("it lives until it is killed");
            lines -= u64::from(heard(&line).is_some());
            if !self.note(&line) {
                return;
            }
        }
    }

    /// Notes what is said within `time`.
    async fn listen_for(&mut self, time: Duration, child: &mut Child) {
        let listening = async {
            while let Some(line) = child.line().await {
                self.note(&line);
            }
        };
        // It normally ends because the time is over; an end of the output is noticed by the killer.
        drop(timeout(time, listening).await);
    }

    /// Opens the memory after a kill, and holds it against what was acknowledged and what can be made anew.
    async fn check(&mut self) {
        let encoder = match self.mode {
            Mode::Writing => Some(encoder()),
            Mode::Migrating => Some(migrating::encoders(self.path).await.0),
            Mode::Rebuilding | Mode::Consolidating => None,
        };
        let (memory, index) = projections::opened(self.path, encoder.as_ref()).await;
        let held = Held::by(&memory).await;
        let waiting = memory.recall(dormouse_memory::RecallRequest::new("").by_words());
        let waiting = waiting.await.unwrap().waiting;
        self.spaces.check(&memory.spaces().await.unwrap());
        self.dreams.check(&held);
        self.ledger.check(&held, waiting);
        projections::are_as_rebuilt(self.path, (memory, index), encoder.as_ref()).await;
    }

    async fn die(&mut self, times: u64) {
        let mut left = times;
        while left > 0 {
            self.live(Moment::draw(&self.dice)).await;
            left -= 1;
            // Sometimes the next one is killed while it repairs what this one left.
            if left > 0 && self.dice.below(4) == 0 {
                self.live(Moment::while_starting(&self.dice)).await;
                left -= 1;
            }
            self.check().await;
        }
    }
}

/// What came of one folder.
#[derive(Debug)]
struct Account {
    mode: Mode,
    kills: BTreeMap<&'static str, u64>,
    acknowledged: usize,
    untold: usize,
    facts: usize,
    decisions: usize,
}

async fn die_often(path: &Path, mode: Mode, times: u64, seed: u64) -> Account {
    match mode {
        Mode::Rebuilding => fill(path, seed, TO_REBUILD).await,
        Mode::Consolidating => dreaming::fill(path).await,
        Mode::Writing | Mode::Migrating => fill(path, seed, 1).await,
    }
    let mut folder = Folder {
        path,
        mode,
        dice: Dice::new(seed),
        lives: seed * 1_000,
        ledger: Ledger::default(),
        spaces: migrating::Ledger::default(),
        dreams: dreaming::Ledger::default(),
        kills: BTreeMap::new(),
    };
    folder.die(times).await;
    Account {
        mode,
        acknowledged: folder.ledger.acknowledged() + folder.dreams.acknowledged(),
        untold: folder.ledger.untold,
        facts: folder.dreams.facts,
        decisions: match mode {
            Mode::Consolidating => folder.dreams.decisions,
            Mode::Writing | Mode::Rebuilding | Mode::Migrating => 0,
        },
        kills: folder.kills,
    }
}

/// Brings along so many records.
async fn fill(path: &Path, seed: u64, count: u64) {
    let memory = builder().open(file_in(path)).await.unwrap();
    let dice = Dice::new(seed);
    let note = |n: u64| Note::new(dice.text(&format!("old{n}"))).said_by("Alice");
    let notes = (0..count).map(note).collect();
    memory.add_all(notes, "brought along").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_it_loses_nothing_acknowledged_and_projections_equal_a_rebuild() {
    let mut kept = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut all = JoinSet::new();
    for (number, (mode, times)) in FOLDERS.into_iter().enumerate() {
        let path = kept.path().join(number.to_string());
        std::fs::create_dir(&path).unwrap();
        all.spawn(async move {
            die_often(&path, mode, u64::from(effort(times)), number as u64 + 1).await
        });
    }
    let ended = timeout(HARD_LIMIT, async {
        let mut accounts = Vec::new();
        while let Some(ended) = all.join_next().await {
            accounts.push(ended.map_err(|e| e.to_string())?);
        }
        Ok::<_, String>(accounts)
    });
    match ended.await {
        Ok(Ok(accounts)) => report(&accounts),
        failed => {
            kept.disable_cleanup(true);
            panic!(
                "{failed:?}; the memories are kept in {}",
                kept.path().display()
            );
        }
    }
}

fn report(accounts: &[Account]) {
    let mut kills: BTreeMap<Mode, BTreeMap<&str, u64>> = BTreeMap::new();
    let sum = |part: fn(&Account) -> usize| accounts.iter().map(part).sum::<usize>();
    let (acknowledged, untold) = (sum(|a| a.acknowledged), sum(|a| a.untold));
    let (facts, decisions) = (sum(|a| a.facts), sum(|a| a.decisions));
    for account in accounts {
        for (moment, count) in &account.kills {
            *kills
                .entry(account.mode)
                .or_default()
                .entry(moment)
                .or_default() += count;
        }
    }
    let times: u64 = kills.values().flat_map(BTreeMap::values).sum();
    let kills: Vec<String> = kills
        .iter()
        .map(|(mode, moments)| format!("{} {moments:?}", mode.name()))
        .collect();
    tell(&format!(
        "{times} kills of a memory: {}; {acknowledged} changes acknowledged, {untold} complete but unacknowledged; a model \
         made {facts} facts, and {decisions} times they were linked, took a place or were not kept",
        kills.join(", "),
    ));
    let intended = FOLDERS.map(|(_, times)| u64::from(effort(times)));
    assert!(times >= intended.iter().sum());
    // Kills before the process has done anything prove nothing.
    assert!(acknowledged as u64 > times);
    assert!(facts > 0 && decisions > 0);
}
