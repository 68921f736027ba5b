//! A month of life, from which somebody is forgotten by the program; and the program killed while it does that.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    Author, ChatModel, ChatRequest, Clock, EntityId, Message, Origin, Random, ReadEvents, Sender,
    Senses, Seq, Timestamp, ToolSource, Words,
};
use dormouse_engine::{
    AssistantConfig, ConsolidationSettings, Consolidator, Event, LoggedMemory, Ports, Privacy,
};
use dormouse_entities::ConsolidationPolicy;
use dormouse_memory::{Memory, Record, write::ExtractionSettings};
use dormouse_providers::token_counter_for;
use dormouse_resilience::RetryBudget;
use dormouse_sandbox::{Act, CharacterKind, Sandbox};
use dormouse_store::RedbLog;
use dormouse_testing::{
    FixedRandom, ManualClock, Perceive, ScriptedModel, ScriptedTurn, SeededRandom, effort,
};
use dormouse_tests::{Program, Resident, tell};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::host::{Host, entity, key};

const DAYS: u64 = 30;
const MESSAGES: u64 = 7;
const KILLS: u32 = 200;
const ASSISTANTS: [(&str, &str); 2] = [("dormouse", "Dormouse"), ("vole", "Vole")];
const PEOPLE: [(&str, &str); 3] = [
    ("player:alice", "Alice"),
    ("player:bob", "Bob"),
    ("player:carol", "Carol"),
];
/// Somebody of the same name in another world.
const NAMESAKE: &str = "game:77";

/// A word that nobody else says.
fn rare(number: u64) -> String {
    let mut left = number + 1;
    let mut word = "z".to_owned();
    while left > 0 {
        let syllables = ["ba", "ki", "do", "fu", "le", "mo", "sa", "ri"];
        word.push_str(syllables[usize::try_from(left % 8).unwrap()]);
        left /= 8;
    }
    word + "nth"
}

/// What the message of this number says.
fn phrase(number: u64) -> String {
    let [a, b, c] = [0, 1, 2].map(|place| rare(3 * number + place));
    format!("I hid {a} and the {b} where only {c} looks")
}

fn shown(request: &ChatRequest) -> String {
    let text = |message: &Message| match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => {
            content.clone()
        }
        _ => String::new(),
    };
    request
        .messages
        .iter()
        .map(text)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A model that repeats what it was last told, to everybody who listens, and notes it.
fn parrot() -> ScriptedModel {
    let calls = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let shown = shown(request);
        let said = shown
            .rfind("I hid ")
            .and_then(|at| shown[at..].split_inclusive(" looks").next());
        let said = said.unwrap_or("nothing").to_owned();
        match calls.fetch_add(1, Ordering::Relaxed) % 5 {
            0 => ScriptedTurn::call(
                "store_memory",
                json!({"text": format!("A guest told me: {said}"), "about": "Bob"}),
            ),
            1 => ScriptedTurn::call("say", json!({"message": format!("I hear: {said}")})),
            2 => ScriptedTurn::call(
                "add_entity_observation",
                json!({"entity": "player:bob", "content": said}),
            ),
            3 => ScriptedTurn::call("recall_memories", json!({"query": said})),
            _ => ScriptedTurn::call("say", json!({"message": "Good to know."})),
        }
    }))
}

/// A model that makes a fact of every line that it is shown.
fn scribe() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let shown = shown(request);
        if shown.contains("Notes:") {
            return ScriptedTurn::text(r#"{"interests": ["hiding things"]}"#);
        }
        let lines = shown.lines().filter_map(|line| {
            let (id, said) = line.strip_prefix('[')?.split_once(']')?;
            Some(json!({"text": said.trim(), "from": [id], "kind": "fact"}))
        });
        ScriptedTurn::text(json!(lines.collect::<Vec<_>>()).to_string())
    }))
}

/// Who said the message of which number: the place in [`PEOPLE`], or one beyond for the namesake.
fn speaker(number: u64) -> usize {
    usize::try_from(number * 7 % 11 % 4).unwrap()
}

/// A folder in which two assistants lived for a month.
async fn a_month(folder: &Path) {
    let clock = ManualClock::new(Timestamp::from_micros(1_795_219_200_000_000));
    let host = Host {
        log: RedbLog::open(&folder.join("log.redb")).unwrap(),
        sandbox: Sandbox::open(&folder.join("world.redb"), Arc::new(clock.clone())).unwrap(),
    };
    for (id, name) in PEOPLE {
        host.join(&entity(id), name, CharacterKind::Player).await;
    }
    let mut residents = Vec::new();
    for (assistant, name) in ASSISTANTS {
        let body = entity(&format!("assistant:{assistant}"));
        host.join(&body, name, CharacterKind::Assistant(key(assistant)))
            .await;
        let model: Arc<dyn ChatModel> = Arc::new(parrot());
        let memory = Memory::builder(key(assistant), clock.clone());
        let memory = memory
            .open(folder.join(format!("memory-{assistant}.redb")))
            .await
            .unwrap();
        let (provider, model_name) = model.identity();
        let ports = Ports {
            counter: token_counter_for(provider, model_name),
            memory,
            log: Arc::new(host.log.clone()),
            model,
            world: Arc::new(host.sandbox.clone()),
            clock: Arc::new(clock.clone()),
            random: Arc::new(FixedRandom::new(0.5)),
        };
        let mut config = AssistantConfig::new(key(assistant));
        config.privacy = Privacy::Shared;
        let resident = Resident::wake(config, host.sandbox.specs(), ports).await;
        residents.push((body, name, resident, 0));
    }
    for number in 0..DAYS * MESSAGES {
        clock.advance(Duration::from_secs(86_400 / MESSAGES));
        let text = phrase(number);
        match PEOPLE.get(speaker(number)) {
            Some((id, _)) => {
                let to = residents[usize::try_from(number % 2).unwrap()].1.to_owned();
                let words = Words::try_new(text).unwrap();
                let act = match number % 5 {
                    0 | 1 => Act::Whisper { to, words },
                    2 => Act::Page { to, words },
                    3 => Act::SayTo { to, words },
                    _ => Act::Say(words),
                };
                host.sandbox.act(&entity(id), act).await.unwrap();
            }
            None => {
                let sender = Sender::Entity {
                    id: entity(NAMESAKE),
                    name: "Alice".to_owned(),
                };
                let heard = Perceive::whisper("Alice", &text)
                    .sender(sender)
                    .world("elsewhere");
                residents[0]
                    .2
                    .hear(heard.number(number + 1).at(clock.now()).build())
                    .await;
            }
        }
        for (body, _, resident, through) in &mut residents {
            for heard in host.sandbox.perceptions(body, *through, 256).await.unwrap() {
                *through = heard.attested.delivery.number;
                resident.hear(heard).await;
            }
            resident.rest().await;
        }
    }
    for (_, _, resident, _) in residents {
        resident.end().await;
    }
    let memory = Memory::builder(key("dormouse"), clock.clone());
    let memory = memory
        .open(folder.join("memory-dormouse.redb"))
        .await
        .unwrap();
    let mut logged = LoggedMemory::open(host.log.clone(), memory, Arc::new(clock.clone()))
        .await
        .unwrap();
    let model: Arc<dyn ChatModel> = Arc::new(scribe());
    let (provider, name) = model.identity();
    let consolidator = Consolidator {
        counter: token_counter_for(provider, name),
        model: model.clone(),
        clock: Arc::new(clock),
        random: Arc::new(FixedRandom::new(0.5)),
        settings: ConsolidationSettings {
            extraction: ExtractionSettings::default(),
            people: ConsolidationPolicy::default(),
            max_requests: 1_000,
            author: Author::Operator("florian".to_owned()),
            timeout: Duration::from_secs(60),
            retry_for: Duration::ZERO,
            retry_budget: RetryBudget::default(),
        },
    };
    consolidator.run(&mut logged).await.unwrap();
}

/// In which files each text is, in any case.
fn hits(folder: &Path, texts: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
        for text in texts {
            let sought = text.to_ascii_lowercase();
            if memchr(&bytes, sought.as_bytes()) {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                found.entry(text.clone()).or_default().push(name);
            }
        }
    }
    found
}

fn memchr(bytes: &[u8], text: &[u8]) -> bool {
    let first = text[0];
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        rest = &rest[at..];
        if rest.starts_with(text) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

/// Twenty phrases of Alice, and the rare words of all that she said.
fn of_alice() -> (Vec<String>, Vec<String>) {
    let numbers = (0..DAYS * MESSAGES).filter(|number| speaker(*number) == 0);
    let numbers: Vec<_> = numbers.collect();
    let words = numbers
        .iter()
        .flat_map(|number| [0, 1, 2].map(|place| rare(3 * number + place)));
    let phrases = numbers.iter().take(20).map(|number| phrase(*number));
    (phrases.collect(), words.collect())
}

async fn run(program: &Program, arguments: &[&str]) -> Vec<Value> {
    let (printed, status) = program.start(arguments).finish().await;
    assert!(status.success(), "{arguments:?}: {}", program.complaints());
    printed
}

/// The records of everybody but Alice, and of what nobody said.
async fn records(folder: &Path, assistant: &str) -> BTreeMap<Origin, Record> {
    let memory = Memory::builder(key(assistant), ManualClock::new(Timestamp::EPOCH));
    let memory = memory
        .open_view(folder.join(format!("memory-{assistant}.redb")))
        .await
        .unwrap();
    let records = memory.records(None, 100_000).await.unwrap();
    records
        .into_iter()
        .map(|record| (record.id, record))
        .collect()
}

async fn messages(folder: &Path, assistant: &str) -> BTreeMap<Seq, (Option<EntityId>, String)> {
    let log = RedbLog::open_existing(&folder.join("log.redb")).unwrap();
    let mut messages = BTreeMap::new();
    let mut through = Seq::ZERO;
    loop {
        let page = log.read(&key(assistant), through, 500).await.unwrap();
        let Some(last) = page.last() else {
            return messages;
        };
        through = last.seq;
        for stored in &page {
            if let Event::Perceived(heard) = Event::decode(stored).unwrap() {
                let from = heard.perception.attested.sender.id().cloned();
                messages.insert(
                    stored.seq,
                    (from, heard.perception.words.as_claimed().to_owned()),
                );
            }
        }
    }
}

#[tokio::test]
async fn after_a_month_no_byte_of_a_person_is_left_and_nobody_else_loses_a_word() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path();
    Box::pin(a_month(data)).await;
    let (phrases, words) = of_alice();
    let before = hits(data, &phrases);
    assert_eq!(before.len(), phrases.len(), "{before:?}");
    let mut lived = BTreeMap::new();
    for (assistant, _) in ASSISTANTS {
        lived.insert(
            assistant,
            (
                records(data, assistant).await,
                messages(data, assistant).await,
            ),
        );
    }

    let program = Program::over(data);
    let printed = run(
        &program,
        &["forget", "--person", "player:alice", "--yes", "--json"],
    )
    .await;
    tell(&format!("{}", printed[0]["assistants"]));
    assert_eq!(hits(data, &phrases), BTreeMap::new());
    assert_eq!(hits(data, &words), BTreeMap::new());

    let alice = entity("player:alice");
    for (assistant, (old_records, old_messages)) in lived {
        let (now_records, now_messages) = (
            records(data, assistant).await,
            messages(data, assistant).await,
        );
        for (seq, (from, text)) in &old_messages {
            if *from != Some(alice.clone()) && !words.iter().any(|word| text.contains(word)) {
                let is_own = from.is_none();
                let (now_from, now_text) = &now_messages[seq];
                assert!(
                    now_from == from && (now_text == text || is_own),
                    "{seq}: {text} is {now_text}"
                );
            }
        }
        let mut kept = 0;
        for (id, old) in &old_records {
            let speaker = old.speaker.id();
            let repeats = words.iter().any(|word| old.text.contains(word));
            let is_of_another = speaker.is_some_and(|id| *id != alice) && !repeats;
            if is_of_another && old_messages.contains_key(&id.seq()) {
                let now = &now_records[id];
                let same = Record {
                    status: old.status,
                    links: old.links.clone(),
                    ..now.clone()
                };
                assert_eq!(same, *old);
                kept += 1;
            }
        }
        assert!(kept > 20, "{assistant} heard others");
        run(
            &program,
            &[
                "log",
                "replay",
                "--decide",
                "--json",
                "--assistant",
                assistant,
            ],
        )
        .await;
        run(
            &program,
            &["log", "replay", "--json", "--assistant", assistant],
        )
        .await;
    }
    run(&program, &["log", "verify", "--json"]).await;
    let mut doctor = program.start(&["doctor", "--provider", "offline"]);
    while doctor.line().await.is_some() {}
    assert!(doctor.end().await.success(), "{}", program.complaints());
}

fn copy(from: &Path, into: &Path) {
    fs::create_dir_all(into).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), into.join(entry.file_name())).unwrap();
    }
}

/// A part of the names of the new files that a forgetting writes.
const NEW_FILES: &str = ".forgetting";
/// The file that records that the new files are complete and replace the old ones.
const JOURNAL: &str = "forget.json";

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string());
    names.collect::<Result<_, _>>().unwrap()
}

/// Returns once such a file is there, and after ten times as long as it should take in any case.
async fn until(folder: &Path, is_it: impl Fn(&str) -> bool, takes: &Duration) {
    let began = Instant::now();
    while began.elapsed() < *takes * 10 && !names(folder).iter().any(|name| is_it(name)) {
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn killed_at_any_moment_a_forgetting_leaves_all_or_nothing_and_the_next_start_finishes_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (base, data) = (folder.path().join("base"), folder.path().join("data"));
    fs::create_dir_all(&base).unwrap();
    Box::pin(a_month(&base)).await;
    let (phrases, _) = of_alice();
    let forget = ["forget", "--person", "player:alice", "--yes", "--json"];
    let program = Program::over(&data);
    copy(&base, &data);
    let began = Instant::now();
    run(&program, &forget).await;
    let takes = began.elapsed();
    let chance = SeededRandom::new(23);
    // Before it began to write, with new files that are not whole, with the journal, after it was done.
    let mut moments = [0_u32; 4];
    let kills = effort(KILLS);
    for kill in 0..kills {
        fs::remove_dir_all(&data).unwrap();
        copy(&base, &data);
        let child = program.start(&forget);
        // How long it takes depends on what else runs, so two of four are killed once they have come that far.
        match kill % 4 {
            0 => until(&data, |name| name.contains(NEW_FILES), &takes).await,
            // While the journal is being written it has another name.
            1 => until(&data, |name| name == JOURNAL, &takes).await,
            _ => sleep(takes.mul_f64(1.05 * chance.unit())).await,
        }
        drop(child.kill_and_read().await);
        let names = names(&data);
        let has = |part: &str| names.iter().any(|name| name.contains(part));
        let is_committed = names.iter().any(|name| name == JOURNAL);

        // The next start, whichever command it is.
        run(&program, &["log", "verify", "--json"]).await;
        let left = hits(&data, &phrases).len();
        let moment = match (is_committed, has(NEW_FILES), left) {
            (true, _, _) => 2,
            (false, true, _) => 1,
            (false, false, 0) => 3,
            (false, false, _) => 0,
        };
        moments[moment] += 1;
        let expected = if moment >= 2 { 0 } else { phrases.len() };
        assert_eq!(left, expected, "{names:?}");
        let names = self::names(&data);
        assert!(
            !names
                .iter()
                .any(|name| name.contains("forget") || name.contains(".again")),
            "{names:?}"
        );
        for assistant in ["dormouse", "vole"] {
            run(&program, &["memory", "stats", "--json"]).await;
            records(&data, assistant).await;
        }
    }
    tell(&format!(
        "{kills} kills of a forgetting of {} ms: {} before, {} while new files were written, {} past the journal, {} after",
        takes.as_millis(),
        moments[0],
        moments[1],
        moments[2],
        moments[3]
    ));
    assert!(moments[1] > 0 && moments[2] > 0, "{moments:?}");
}
