//! The process that is killed: a host with two assistants, which does what it reads and prints what becomes of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::File,
    io::{BufRead, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, Author, Clock, Habitat, ReadEvents, Seq, ToolSourceName, Words,
};
use dormouse_engine::{ApprovalAnswer, ApprovalAnswered};
use dormouse_host::{
    DataFolder, Host, HostSettings, Resident, SystemClock,
    config::Config,
    provider::Models,
    roster::{self, Newcomer, RosterDecision},
};
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use dormouse_testing::ScriptedModel;
use dormouse_tests::{Child, Workshop};
use dormouse_tools::NamedToolSource;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet, time::sleep};

use super::script;
use crate::host::{entity, key};

/// The variable in which such a process finds its folder.
const LIFE: &str = "DORMOUSE_HOUSE";
/// One that nobody needs is put away so soon that this happens in many lives.
const PUT_AWAY_AFTER: Duration = Duration::from_millis(60);
/// How often the logs are looked at.
const LOOK: Duration = Duration::from_millis(4);

/// Starts a life over the folder.
pub(super) fn begin(folder: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    let mut appending = File::options();
    let errors = appending.create(true).append(true);
    let errors = errors.open(folder.join("stderr.txt")).unwrap();
    command
        .args([
            "house::life::child_that_lives_until_it_is_killed",
            "--exact",
            "--nocapture",
        ])
        .env(LIFE, folder)
        .stderr(Stdio::from(errors));
    Child::spawn(command.into())
}

/// It does nothing unless it was started as a process of its own.
#[test]
fn child_that_lives_until_it_is_killed() {
    let Some(folder) = env::var_os(LIFE) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(live(Path::new(&folder)));
}

/// Prints a line for the process that started this one. libtest has printed half a line before the first.
fn say(line: &Value) {
    let mut out = std::io::stdout().lock();
    // If nobody reads any more, this process is about to be killed.
    drop(write!(out, "\n{line}\n").and_then(|()| out.flush()));
}

/// The lines of the input, as they come.
fn commands() -> mpsc::UnboundedReceiver<Value> {
    let (sender, commands) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let command = serde_json::from_str(&line.unwrap()).unwrap();
            if sender.send(command).is_err() {
                return;
            }
        }
    });
    commands
}

async fn live(folder: &Path) {
    let mut commands = commands();
    let house = House::open(folder).await;
    let unanswered = house.unanswered().await;
    say(&json!({"ready": true, "unanswered": unanswered}));
    while let Some(command) = commands.recv().await {
        if let Some(number) = command["message"].as_u64() {
            house.hear(number).await;
        } else if let Some(number) = command["answer"].as_u64() {
            house.answer(&command, Seq(number)).await;
        } else if command["end"] == true {
            return house.end().await;
        }
    }
}

struct House {
    host: Host,
    model: ScriptedModel,
    /// Mole, whom nobody puts away; Rat is put away when it has nothing to do.
    mole: Resident,
    /// Those who print what comes to the disk.
    followers: Mutex<JoinSet<()>>,
}

impl House {
    async fn open(folder: &Path) -> Self {
        let data = DataFolder::at(folder).unwrap();
        let (config, _) = Config::load(None, &data.config(), []).unwrap();
        let model = script::model();
        let models = Models::of(Arc::new(model.clone()));
        let mut settings = HostSettings::with_models(config, Environment::of(|_| None), models);
        settings.tool_sources = vec![NamedToolSource {
            name: ToolSourceName::try_new("workshop").unwrap(),
            source: Arc::new(Workshop::open(folder.join("receipts"))),
        }];
        settings.put_away_after = PUT_AWAY_AFTER;
        let host = Host::open(settings, &data).await.unwrap();
        create(&host).await;
        let alice = Character {
            id: entity("player:alice"),
            name: "Alice".to_owned(),
            kind: CharacterKind::Player,
        };
        host.world().join(alice).await.unwrap();
        host.take_in(&key("rat")).await.unwrap();
        let mole = host.wake(&key("mole")).await.unwrap();
        let house = Self {
            host,
            model,
            mole,
            followers: Mutex::default(),
        };
        for name in ["mole", "rat"] {
            house.follow(&key(name)).await;
        }
        house
    }

    /// Prints what waits to be confirmed, and the events from now on, as they come to the disk.
    async fn follow(&self, key: &AssistantId) {
        let resident = self.host.wake(key).await.unwrap();
        let state = resident.handle().inspect().await.unwrap();
        for approval in state.approvals.waiting(SystemClock.now()) {
            say(&json!({"asked": approval.seq, "of": key}));
        }
        let (log, model) = (self.host.log().clone(), self.model.clone());
        let (of, mut after) = (key.clone(), state.seq);
        // An assistant that is put away and woken again has another handle, and the same log.
        self.followers.lock().unwrap().spawn(async move {
            loop {
                for stored in log.read(&of, after, 64).await.unwrap() {
                    after = stored.seq;
                    say(&json!({"event": stored.kind, "of": of}));
                    if stored.kind == "approval_requested" {
                        say(&json!({"asked": after, "of": of}));
                    }
                }
                assert_eq!(model.violations(), []);
                sleep(LOOK).await;
            }
        });
    }

    async fn resident(&self, name: &str) -> Resident {
        match name {
            "mole" => self.mole.clone(),
            other => self.host.wake(&key(other)).await.unwrap(),
        }
    }

    /// How many messages wait for an answer.
    async fn unanswered(&self) -> usize {
        let rat = self.resident("rat").await;
        self.mole.handle().status().waiting + rat.handle().status().waiting
    }

    async fn hear(&self, number: u64) {
        let whom = script::Kind::whom(number);
        let act = Act::Page {
            to: whom.to_owned(),
            words: Words::try_new(script::Kind::message(number)).unwrap(),
        };
        let acted = self.host.world().act(&entity("player:alice"), act).await;
        let resident = self.resident(&whom.to_lowercase()).await;
        resident.heard(&acted.unwrap().deliveries).await.unwrap();
        say(&json!({ "acknowledged": number }));
    }

    async fn answer(&self, command: &Value, approval: Seq) {
        let resident = self.resident(command["of"].as_str().unwrap()).await;
        let answered = resident.handle().answer_approval(ApprovalAnswered {
            approval,
            answer: match command["allow"].as_bool() {
                Some(true) => ApprovalAnswer::Allowed,
                _ => ApprovalAnswer::Denied,
            },
            by: "Carol".to_owned(),
            reason: None,
        });
        let is_answered = answered.await.is_ok();
        say(&json!({"answered": approval, "of": command["of"], "ok": is_answered}));
    }

    /// Waits until nobody has anything to do, and ends.
    async fn end(self) {
        let mut last = BTreeMap::new();
        loop {
            let mut is_over = true;
            for name in ["mole", "rat"] {
                let resident = self.resident(name).await;
                resident.handle().at_rest().await;
                let state = resident.handle().inspect().await.unwrap();
                let given = state.delegations.given().any(|given| given.is_open());
                let taken = state.delegations.taken_tasks().any(|taken| taken.is_open());
                // What one did while the other was looked at may have left something to do for that one.
                let is_new = last.insert(name, state.seq) != Some(state.seq);
                is_over &= !given && !taken && !is_new;
            }
            if is_over {
                break;
            }
            sleep(LOOK).await;
        }
        drop(self.mole);
        self.host.close().await;
        say(&json!({ "done": true }));
    }
}

/// Creates the assistants that are missing: a life may have ended between the two.
async fn create(host: &Host) {
    let known = host.known().unwrap();
    for name in ["mole", "rat"] {
        if known.iter().any(|(known, _)| known.as_str() == name) {
            continue;
        }
        let newcomer = Newcomer {
            key: key(name),
            name: None,
            persona: Some(format!("You are the {name}.")),
            tags: BTreeSet::new(),
        };
        let decision = RosterDecision {
            author: Author::Operator("Ada".to_owned()),
            reason: "the house opens".to_owned(),
        };
        let config = (host.config(), &host.world().landmarks());
        let created = roster::create(host.log(), &SystemClock, config, newcomer, decision);
        created.await.unwrap();
    }
}
