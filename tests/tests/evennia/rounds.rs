//! The game reloads, restarts and is killed, the program is killed, the network is cut: every message that the game accepted
//! is answered exactly once.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use dormouse_tests::{Cable, Child, Game, Player, Program, tell};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// What happens in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    CutNetwork,
    ProgramKilled,
    Reload,
    GameKilled,
    ServerKilled,
    Reboot,
    StopAndStart,
}

use Fault::{CutNetwork, GameKilled, ProgramKilled, Reboot, Reload, ServerKilled, StopAndStart};

const FAULTS: [Fault; 7] = [
    CutNetwork,
    ProgramKilled,
    Reload,
    GameKilled,
    ServerKilled,
    Reboot,
    StopAndStart,
];

/// So many rounds are played by a thorough test, and by a quick one: those come first that take seconds.
const ROUNDS: (usize, usize) = (50, 4);

/// How long the last answers may take, and how long it is watched that no further ones come.
const PATIENCE: Duration = Duration::from_secs(120);
const AFTERWARDS: Duration = Duration::from_secs(5);

impl Fault {
    /// Whether the game may have carried out half of what was typed last.
    fn interrupts_commands(self) -> bool {
        matches!(self, GameKilled | ServerKilled)
    }

    /// Whether everybody has to come in again. Until then those who were in a room are not in it.
    fn empties_rooms(self) -> bool {
        matches!(self, Reboot | StopAndStart)
    }

    fn cuts_players_off(self) -> bool {
        self.empties_rooms() || self == GameKilled
    }
}

fn rounds() -> usize {
    let asked = env::var("DORMOUSE_EVENNIA_ROUNDS").ok();
    let usual = match env::var_os("DORMOUSE_QUICK_TESTS") {
        Some(_) => ROUNDS.1,
        None => ROUNDS.0,
    };
    asked.and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// Somebody who is in the room all the time. It is an account whose feed the game keeps, so that nothing escapes it while
/// the game is killed.
struct Witness {
    eve: Player,
    position: Option<(Value, u64, f64)>,
    /// The lines said in the room: by whom, which words, and whether Bob was there.
    said: BTreeMap<u64, (String, String, bool)>,
}

impl Witness {
    async fn enters(game: &Game) -> Self {
        let eve = game.enter("eve").await;
        let (position, said) = (None, BTreeMap::new());
        let mut witness = Self {
            eve,
            position,
            said,
        };
        witness.greets().await;
        witness
    }

    /// Asks for what came while its own connection did not hear.
    async fn greets(&mut self) {
        for _ in 0..20 {
            let (life, after, at) = match self.position.clone() {
                Some((life, after, at)) => (life, json!(after), json!(at)),
                None => (Value::Null, Value::Null, Value::Null),
            };
            let hello = json!({ "v": 1, "life": life, "after": after, "after_at": at, "client": "witness" });
            self.eve
                .sends(&json!(["dormouse_hello", [hello], {}]))
                .await;
            let answered = self
                .eve
                .receives_within("dormouse_hello", Duration::from_secs(3));
            if let Some(greeted) = answered.await {
                assert_eq!(greeted["lost"], 0, "the witness missed something");
                self.listens(&greeted["life"]).await;
                return;
            }
        }
        panic!("the game does not answer the witness");
    }

    async fn listens(&mut self, life: &Value) {
        self.eve.counts("nothing").await;
        for event in self.eve.takes("dormouse_event") {
            let seq = event["seq"].as_u64().unwrap();
            self.position = Some((life.clone(), seq, event["at"].as_f64().unwrap()));
            if event["kind"] == "say" {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let mut present = event["audience"].as_array().unwrap().iter();
                let line = (
                    text(&event["from"][0]["key"]),
                    text(&event["own"]),
                    present.any(|one| one["key"] == "bob"),
                );
                self.said.insert(seq, line);
            }
        }
    }

    /// Whether somebody said this word while Bob was there.
    fn heard(&self, word: &str) -> bool {
        let mut said = self.said.values();
        said.any(|(by, words, bob)| by == "alice" && words.contains(word) && *bob)
    }

    fn answers(&self, word: &str) -> usize {
        let said = self.said.values();
        let answers = said.filter(|(by, words, _)| by == "bob" && words.contains(word));
        answers.count()
    }
}

/// What Alice said.
#[derive(Default)]
struct Messages {
    /// Aloud, in the room.
    said: Vec<String>,
    paged: Vec<String>,
    /// Said when the game was killed: who heard it may be different for each.
    uncertain: BTreeSet<String>,
}

/// How often each message was answered.
struct Account {
    answers: BTreeMap<String, usize>,
    uncertain: BTreeMap<String, usize>,
}

impl Account {
    async fn of(messages: &Messages, alice: &mut Player, witness: &mut Witness) -> Self {
        witness.greets().await;
        let pages = pages(alice).await;
        let paged = |word: &String| {
            let answered = |line: &&String| line.contains("I will remember") && line.contains(word);
            (word.clone(), pages.iter().filter(answered).count())
        };
        let said = |word: &&String| witness.heard(word);
        let counted = |word: &String| (word.clone(), witness.answers(word));
        let (uncertain, certain): (Vec<_>, Vec<_>) = (messages.said.iter())
            .filter(said)
            .partition(|word| messages.uncertain.contains(*word));
        Self {
            answers: (certain.into_iter().map(counted))
                .chain(messages.paged.iter().map(paged))
                .collect(),
            uncertain: uncertain.into_iter().map(counted).collect(),
        }
    }

    fn is_complete(&self) -> bool {
        self.answers.values().all(|count| *count > 0)
    }

    fn wrong(&self) -> Vec<(&String, &usize)> {
        let certain = self.answers.iter().filter(|(_, count)| **count != 1);
        let doubled = self.uncertain.iter().filter(|(_, count)| **count > 1);
        certain.chain(doubled).collect()
    }
}

/// All pages to and from Alice, which the game keeps.
async fn pages(alice: &mut Player) -> Vec<String> {
    alice.types("page 1000").await;
    let listed = alice.sees("latest pages").await;
    alice.forgets();
    listed.split("<br>").map(str::to_owned).collect()
}

async fn says(alice: &mut Player, word: &str) {
    let line = format!("say @bob remember that my word is {word}");
    alice.types(&line).await;
}

/// No limits of senders: in the rounds, ten lines come at once.
const WITHOUT_LIMITS: &str = "[admission]\nwaiting = 0\nburst = 0\nlines_per_minute = 0\n";

/// The program over its folder, and its way to the game.
pub(crate) struct Running {
    pub(crate) data: PathBuf,
    cable: Cable,
    program: Option<Child>,
}

impl Running {
    /// With these settings, in the form of the configuration file.
    pub(crate) async fn over(folder: &Path, game: &Game, settings: &str) -> Self {
        let (data, password) = (folder.join("data"), folder.join("password"));
        fs::write(&password, game.password("bob")).unwrap();
        fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).unwrap();
        let cable = Cable::to(game.address()).await;
        let config = format!(
            "{settings}[assistant]\nkey = \"dormouse\"\n[evennia]\nurl = \"ws://127.0.0.1:{}\"\naccount = \"bob\"\npassword_from = \"file:{}\"\n",
            cable.port(),
            password.display()
        );
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("dormouse.toml"), config).unwrap();
        let mut running = Self {
            data,
            cable,
            program: None,
        };
        running.starts();
        running
    }

    fn starts(&mut self) {
        let config = self.data.join("dormouse.toml");
        let config = config.to_str().unwrap();
        let arguments = [
            "run",
            "--world",
            "evennia",
            "--provider",
            "offline",
            "--config",
            config,
        ];
        self.program = Some(Program::over(&self.data).start(&arguments));
    }

    pub(crate) async fn is_killed(&mut self) {
        if let Some(program) = self.program.take() {
            program.kill_and_read().await;
        }
    }
}

/// One round: messages before the fault, and after it.
async fn play(
    round: usize,
    game: &Game,
    running: &mut Running,
    (alice, witness): (&mut Player, &mut Witness),
    messages: &mut Messages,
) {
    let fault = FAULTS[round % FAULTS.len()];
    let word = |part: &str| format!("plum{round:02}{part}");
    for part in ["a", "b"] {
        messages.said.push(word(part));
        says(alice, &word(part)).await;
    }
    // By then both were carried out.
    alice.counts("nothing").await;
    messages.said.push(word("c"));
    if fault.interrupts_commands() {
        messages.uncertain.insert(word("c"));
    }
    says(alice, &word("c")).await;
    // The fault comes at another moment of the work each time.
    sleep(Duration::from_millis(37 * (round as u64 * 7 % 17))).await;
    // Those who come in first hear what is said first.
    if fault.empties_rooms() {
        running.cable.is_cut_for_now();
    }
    match fault {
        CutNetwork => running.cable.is_cut(),
        ProgramKilled => {
            running.is_killed().await;
            running.starts();
        }
        Reload => game.does("reload"),
        Reboot => game.does("reboot"),
        StopAndStart => {
            game.does("stop");
            game.starts_again();
        }
        GameKilled => {
            game.does("kill");
            game.starts_again();
        }
        ServerKilled => {
            game.does("kill_server");
            game.starts_again();
        }
    }
    if fault.cuts_players_off() {
        witness.eve = game.enter("eve").await;
        *alice = game.enter("alice").await;
    }
    witness.greets().await;
    alice.counts("nothing").await;
    messages.paged.push(word("p"));
    let line = format!("page bob = remember that my word is {}", word("p"));
    alice.types(&line).await;
    running.cable.is_mended();
    messages.said.push(word("d"));
    says(alice, &word("d")).await;
    if fault.empties_rooms() {
        alice.sees("bob has entered the game").await;
    }
}

pub(crate) async fn every_message_is_answered_once_whatever_is_killed(game: &Game) {
    let folder = TempDir::new().unwrap();
    let mut witness = Witness::enters(game).await;
    let mut alice = game.enter("alice").await;
    let mut running = Running::over(folder.path(), game, WITHOUT_LIMITS).await;
    alice.sees("bob has entered the game").await;
    let mut messages = Messages::default();
    let rounds = rounds();
    let mut seconds: BTreeMap<Fault, f32> = BTreeMap::new();
    for round in 0..rounds {
        let begun = Instant::now();
        let both = (&mut alice, &mut witness);
        play(round, game, &mut running, both, &mut messages).await;
        let (fault, took) = (FAULTS[round % FAULTS.len()], begun.elapsed().as_secs_f32());
        *seconds.entry(fault).or_default() += took;
        tell(&format!("round {round}: {fault:?}, {took:.1} s"));
    }
    let mut end = Instant::now() + PATIENCE;
    let mut is_over = false;
    let account = loop {
        let account = Account::of(&messages, &mut alice, &mut witness).await;
        if is_over || Instant::now() > end {
            break account;
        }
        // Something that comes twice comes soon.
        is_over = account.is_complete();
        let pause = if is_over {
            AFTERWARDS
        } else {
            Duration::from_secs(1)
        };
        end += if is_over { AFTERWARDS } else { Duration::ZERO };
        sleep(pause).await;
    };
    running.is_killed().await;
    let wrong = account.wrong();
    tell(&format!(
        "{rounds} rounds: the game accepted {} messages, {} of them were not answered exactly once; {} more were said when it was killed, and {} of \
         them were answered once; seconds by fault: {seconds:?}",
        account.answers.len(),
        wrong.len(),
        account.uncertain.len(),
        account.uncertain.values().filter(|it| **it == 1).count(),
    ));
    let complaints = Program::over(&running.data).complaints();
    assert!(wrong.is_empty(), "{wrong:?}\n{complaints}");
    let least = 3 * rounds;
    let accepted = account.answers.len();
    assert!(
        accepted >= least,
        "{accepted} of at least {least} messages were accepted"
    );
}
