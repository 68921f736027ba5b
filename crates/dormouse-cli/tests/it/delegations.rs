//! `dormouse delegation`: tasks that assistants give to each other.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, EffectKey, EntityId, Message, NewEvent, ReadEvents, Seq,
    Timestamp, Trust, Words,
};
use dormouse_engine::{
    DelegatedTask, DelegatedWords, DelegationFailure, Event, Insulation, TaskCancelled,
    TaskReceived,
};
use dormouse_host::{DataFolder, Host, HostSettings, config::Config, provider::Models};
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};
use dormouse_store::RedbLog;
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::{
    forget::hits,
    program::{Home, Run},
};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

fn task(number: u32, at: Timestamp) -> DelegatedTask {
    DelegatedTask {
        key: EffectKey::try_new(format!("mole/1/{number}")).unwrap(),
        chain: vec![AssistantId::try_new("mole").unwrap()],
        task: DelegatedWords {
            text: format!("count the boats {number}"),
            trust: Trust::try_new(0.7).unwrap(),
            audience: None,
        },
        briefing: None,
        insulation: Insulation::Delegate,
        summarize: false,
        tokens: 5_000,
        quota: 0,
        expires_at: at.plus(Duration::from_secs(600)),
    }
}

#[tokio::test]
async fn tasks_of_assistants_are_listed_from_both_sides() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "rat"], ""));
    let command = |args: &[&str]| {
        let args = [&["delegation"], args, &["--assistant", "rat"]].concat();
        ok(home.run(&args, "")).out
    };
    assert_eq!(command(&["list"]), "no task\n");
    assert!(command(&["status"]).contains("execution.sub_agents_enabled is false; has 0"));
    {
        let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
        let key = AssistantId::try_new("rat").unwrap();
        let stored = log.read(&key, Seq::ZERO, 100).await.unwrap();
        let last = stored.last().unwrap();
        let received = |number| {
            let task = task(number, last.at);
            Event::TaskReceived(TaskReceived { task })
        };
        let over = |number, cause| {
            let key = task(number, last.at).key;
            Event::TaskCancelled(TaskCancelled { key, cause })
        };
        let late = over(1, DelegationFailure::TimedOut);
        let cancelled = over(2, DelegationFailure::Cancelled);
        let events = [received(1), received(2), received(3), late, cancelled];
        let events = events.iter().map(|event| event.encode(last.at).unwrap());
        let request = AppendRequest {
            assistant: key,
            expected: last.seq,
            events: events.collect::<Vec<NewEvent>>(),
        };
        log.append(request).await.unwrap();
        log.close();
    }
    let open = command(&["list"]);
    assert!(
        open.contains("taken, from mole: to be done until"),
        "{open}"
    );
    assert_eq!(open.lines().count(), 1, "{open}");
    // After a restart with this file, the assistant may give tasks away.
    home.write("dormouse.toml", "[execution]\nsub_agents_enabled = true\n");
    let status = command(&["status"]);
    assert!(
        status.contains("delegated 0 of at most 3 tasks"),
        "{status}"
    );
    home.write("dormouse.toml", "");
    let all = command(&["list", "--all", "--json"]);
    let codes: Vec<Value> = all
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error_code"].clone())
        .collect();
    assert_eq!(codes, ["timed_out".into(), "cancelled".into(), Value::Null]);
    let status: Value = serde_json::from_str(&command(&["status", "--json"])).unwrap();
    assert_eq!(
        (&status["taken"], &status["enabled"]),
        (&1.into(), &false.into())
    );
    let shown = ok(home.run(&["log", "show", "--assistant", "rat"], "")).out;
    assert!(
        shown.contains("from mole: count the boats 1 (trust 0.7"),
        "{shown}"
    );
    assert!(shown.contains("[cancelled]"), "{shown}");
}

const SECRET: &str = "the cobalt ledger sleeps below the drowned belfry";
const BOBS: &str = "my garden has seven beds of yellow tulips";
/// Words that only Alice and the two assistants said on her behalf. Some of them are only the delegate's.
const OF_HERS: [&str; 9] = [
    SECRET, "cobalt", "drowned", "belfry", "ledger", "indigo", "sunken", "steeple", "sexton",
];

/// A model for both: the mole gives the task away and tells the result; the rat answers in other words, and notes them.
fn model() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::looping(ScriptedTurn::with(|request| {
        let said = request
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::User { content } => Some(content.as_str()),
                _ => None,
            });
        let said = said.unwrap_or_default();
        if said.contains("gives you a task") {
            let note = json!({"text": "An indigo book rests beneath a sunken steeple"});
            let result =
                json!({"result": "The sexton minds an indigo book beneath a sunken steeple"});
            return ScriptedTurn::calls([("store_memory", note), ("answer_task", result)]);
        }
        if said.contains("The result: ") {
            let message = "Ask the sexton of the sunken steeple.";
            return ScriptedTurn::call("page", json!({"to": "Alice", "message": message}));
        }
        if said.contains("cobalt") && !said.contains("handed over") {
            let task = "Find out who minds the cobalt ledger of the drowned belfry";
            let delegate = ("delegate_task", json!({"task": task, "to": "rat"}));
            return ScriptedTurn::calls([delegate, ("noop", json!({}))]);
        }
        ScriptedTurn::call("noop", json!({}))
    })))
}

async fn opened(home: &Home) -> Host {
    let models = Models::of(model());
    let settings = HostSettings::with_models(Config::default(), Environment::of(|_| None), models);
    let data = DataFolder::at(home.path()).unwrap();
    Host::open(settings, &data).await.unwrap()
}

async fn page(host: &Host, who: &str, words: &str) {
    let id = EntityId::try_new(format!("player:{}", who.to_lowercase())).unwrap();
    let character = Character {
        id: id.clone(),
        name: who.to_owned(),
        kind: CharacterKind::Player,
    };
    host.world().join(character).await.unwrap();
    let act = Act::Page {
        to: "Mole".to_owned(),
        words: Words::try_new(words).unwrap(),
    };
    host.world().act(&id, act).await.unwrap();
}

/// Makes a folder in which a mole gave a task to a rat and told Alice the result. Returns the event of Alice's message.
async fn lived(home: &Home) -> Seq {
    for name in ["mole", "rat"] {
        ok(home.run(&["assistant", "create", name], ""));
    }
    let set = [
        "execution.sub_agents_enabled",
        "true",
        "--assistant",
        "mole",
    ];
    ok(home.run(&[&["config", "set"][..], &set].concat(), ""));
    let host = opened(home).await;
    let [mole, rat] = ["mole", "rat"].map(|name| AssistantId::try_new(name).unwrap());
    for of in [&mole, &rat] {
        host.live_through(of).await.unwrap();
    }
    page(&host, "Bob", BOBS).await;
    host.live_through(&mole).await.unwrap();
    page(&host, "Alice", SECRET).await;
    host.live_through(&mole).await.unwrap();
    assert_eq!(
        host.carry_tasks(&mole).await.unwrap(),
        std::slice::from_ref(&rat)
    );
    host.live_through(&rat).await.unwrap();
    assert_eq!(
        host.carry_tasks(&rat).await.unwrap(),
        std::slice::from_ref(&mole)
    );
    host.live_through(&mole).await.unwrap();
    let stored = host.log().read(&mole, Seq::ZERO, 1_000).await.unwrap();
    let said = stored.iter().find(|stored| {
        matches!(Event::decode(stored), Ok(Event::Perceived(it)) if it.perception.words.as_claimed() == SECRET)
    });
    let said = said.unwrap().seq;
    host.close().await;
    said
}

#[tokio::test]
async fn a_forgotten_person_goes_from_the_logs_of_all_whom_a_task_reached_and_is_exported_before() {
    let home = Home::new();
    let said = lived(&home).await;
    assert_eq!(hits(home.path(), &OF_HERS).len(), OF_HERS.len());

    let whose = |args: &[&str]| -> Value {
        let run = ok(home.run(&[&["export", "--person"], args].concat(), ""));
        serde_json::from_str::<Value>(&run.out).unwrap()["assistants"].clone()
    };
    let tasks = |kept: &Value| -> Vec<String> {
        let tasks = kept["tasks"].as_array().unwrap().iter();
        let tasks = tasks.map(|row| row["what"].as_str().unwrap().to_owned());
        tasks.filter(|what| what != "briefing").collect()
    };
    let all = whose(&["Alice"]);
    assert_eq!(tasks(&all[0]), ["given", "result"], "{all}");
    assert_eq!(tasks(&all[1]), ["received", "answered"], "{all}");
    let of_rat = whose(&["player:alice", "--assistant", "rat"]);
    assert_eq!(tasks(&of_rat[0]), ["received", "answered"], "{of_rat}");
    assert_eq!(tasks(&whose(&["Bob"])[0]), [""; 0]);

    // Forgetting one record of one assistant also removes the task that was made from it from the other log.
    let record = said.to_string();
    let one = ["forget", "--record", &record, "--assistant", "mole"];
    let shown = ok(home.run(&[&one[..], &["--dry-run", "--json"]].concat(), ""));
    let shown = &shown.of_type("forget")[0];
    assert!(shown["selected"]["record"].is_object(), "{shown}");
    assert_eq!(shown["assistants"][1]["assistant"], "rat", "{shown}");

    ok(home.run(&["forget", "--person", "Alice", "--yes"], ""));
    assert_eq!(hits(home.path(), &OF_HERS), BTreeMap::new());
    assert_eq!(hits(home.path(), &[BOBS]).len(), 1);
    for key in ["mole", "rat"] {
        ok(home.run(&["log", "replay", "--decide", "--assistant", key], ""));
    }
    ok(home.run(&["log", "verify"], ""));
}

#[tokio::test]
async fn a_record_of_one_assistant_goes_with_what_a_task_carried_to_another() {
    let home = Home::new();
    let said = lived(&home).await.to_string();
    let one = ["forget", "--record", &said, "--assistant", "mole", "--yes"];
    ok(home.run(&one, ""));
    let logs = |found: BTreeMap<String, Vec<String>>| {
        let files = found.into_values().flatten();
        files
            .filter(|file| file != "world.redb")
            .collect::<Vec<_>>()
    };
    assert_eq!(logs(hits(home.path(), &OF_HERS)), [""; 0]);
    let shown = ok(home.run(&["log", "show", "--assistant", "rat"], "")).out;
    assert!(
        shown.contains("words that tasks of other assistants brought here"),
        "{shown}"
    );
    for key in ["mole", "rat"] {
        ok(home.run(&["log", "replay", "--decide", "--assistant", key], ""));
    }
}
