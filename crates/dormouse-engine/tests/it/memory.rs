//! The memory as a projection of the log, and what a turn looks up in it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, Attribution, BoxFuture, LoadSnapshot, Message,
    ReadError, ReadErrorKind, ReadEvents, SaveSnapshot, Seq, Snapshot, StoredEvent,
};
use dormouse_engine::{
    Assistant, CatchUpError, Event, OrderPreset, PartOrder, RecallFailure, RecalledItem,
    RecalledLine, Recollected, Rest, WakeError, catch_up, replay,
};
use dormouse_memory::{LogPosition, Memory, Record, StoredChange};
use dormouse_testing::{FakeWorld, MemoryLog, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::home::{Home, in_virtual_time, key};

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

/// Everything a memory holds.
pub(crate) type Contents = (
    Vec<Record>,
    Vec<StoredChange>,
    dormouse_entities::Entities,
    LogPosition,
);

pub(crate) async fn contents(memory: &Memory) -> Contents {
    (
        memory.records(None, 10_000).await.unwrap(),
        memory.changes(0, 10_000).await.unwrap(),
        memory.entities(),
        memory.log_position().await.unwrap(),
    )
}

/// For each event of the log, by its place, how often it is in a memory.
async fn by_place(memory: &Memory) -> BTreeMap<u64, usize> {
    let mut places = BTreeMap::new();
    for record in memory.records(None, 10_000).await.unwrap() {
        *places.entry(record.id.seq().0).or_default() += 1;
    }
    places
}

/// What was looked up for each turn, with whole lines.
fn recollected(home: &Home) -> Vec<Recollected<RecalledLine>> {
    let mut known = BTreeMap::new();
    let mut whole = |item| match item {
        RecalledItem::New(line) => {
            known.insert(line.record, line.clone());
            line
        }
        RecalledItem::Again(record) => known[&record].clone(),
    };
    let events = home.events().into_iter();
    let found = events.filter_map(|event| match event {
        Event::Recollected(found) => Some(Recollected {
            items: found.items.into_iter().map(&mut whole).collect(),
            entities: found.entities,
            orders: found.orders,
            audience: found.audience,
            withheld: found.withheld,
            mode: found.mode,
            failure: found.failure,
        }),
        _ => None,
    });
    found.collect()
}

/// A log that returns at most this many events at a time.
struct Paged(MemoryLog, usize);

impl ReadEvents for Paged {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.0.read(assistant, after, limit.min(self.1))
    }
}

/// A log that counts the events that it returns.
struct Counted(MemoryLog, AtomicUsize);

impl ReadEvents for Counted {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        Box::pin(async move {
            let events = self.0.read(assistant, after, limit).await?;
            self.1.fetch_add(events.len(), Ordering::Relaxed);
            Ok(events)
        })
    }
}

/// A life with people who change their names, talk in private and in public, and are answered.
pub(crate) async fn a_life(home: &Home, heard: &[(u8, u8)]) {
    let life = home.wake().await;
    for ((who, how), number) in heard.iter().zip(1..) {
        let name = ["Alice", "Bob", "Alicia"][usize::from(who % 3)];
        let words = format!("I like number {number} best");
        let perceive = match how % 4 {
            0 => Perceive::say(name, &words),
            1 => Perceive::whisper(name, &words),
            2 => Perceive::channel(name, "public", &words),
            _ => Perceive::emit(&words),
        };
        let id = dormouse_contracts::EntityId::try_new(["a", "b", "a"][usize::from(who % 3)]);
        let named = dormouse_contracts::Sender::Entity {
            id: id.unwrap(),
            name: name.to_owned(),
        };
        let perceive = if how % 4 == 3 {
            perceive
        } else {
            perceive.sender(named)
        };
        life.accept(perceive.number(number).build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(16)))]

    #[test]
    fn a_memory_comes_out_the_same_however_the_log_is_cut_into_pages(
        heard in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..12),
        page in 1_usize..9,
    ) {
        in_virtual_time(async {
            let turns = (0..40).map(|number| match number % 2 {
                0 => ScriptedTurn::call("store_memory", json!({"text": "somebody likes numbers"})),
                _ => ScriptedTurn::call("whisper", json!({"to": "Bob", "message": "so do I"})),
            });
            let mut home = Home::with_all_shared(ScriptedModel::new(turns).then_for_ever(noop()));
            a_life(&home, &heard).await;
            let lived = contents(&home.memory).await;
            home.lose_memory();
            catch_up(&Paged(home.log.clone(), page), &key(), &home.memory).await.unwrap();
            let anew = contents(&home.memory).await;
            assert_eq!(lived, anew);
            let again = catch_up(&home.log, &key(), &home.memory).await.unwrap();
            assert_eq!(again.events, 0, "what was taken in is not taken in again");
        });
    }
}

#[tokio::test(start_paused = true)]
async fn catching_up_reads_what_is_new_and_a_tick_before_it_not_the_past() {
    let home = Home::with_all_shared(ScriptedModel::looping(say("hi")));
    let life = home.wake().await;
    for number in 1..=60 {
        let heard = Perceive::whisper("Alice", "hello");
        life.accept(heard.number(number).build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
    let log = Counted(home.log.clone(), AtomicUsize::new(0));
    let caught_up = catch_up(&log, &key(), &home.memory).await.unwrap();
    assert_eq!(caught_up.events, 0);
    let (read, all) = (log.1.load(Ordering::Relaxed), home.events().len());
    assert!(
        read <= 40,
        "{read} events were read of {all}, and none was new"
    );
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_others_let_catch_up_between_two_messages_comes_out_the_same() {
    let mut home = Home::with_all_shared(ScriptedModel::looping(say("hi")));
    let life = home.wake().await;
    for number in 1..=8 {
        let heard = Perceive::whisper("Alice", &format!("hello {number}"));
        life.accept(heard.number(number).build()).await;
        life.handle.at_rest().await;
        if number % 3 == 0 {
            let caught_up = catch_up(&home.log, &key(), &home.memory).await.unwrap();
            assert!(
                caught_up.events > 0,
                "the assistant has not read them itself"
            );
        }
    }
    life.end().await.unwrap();
    let lived = contents(&home.memory).await;
    home.lose_memory();
    catch_up(&home.log, &key(), &home.memory).await.unwrap();
    assert_eq!(lived, contents(&home.memory).await);
}

#[tokio::test(start_paused = true)]
async fn every_message_that_was_heard_is_remembered_exactly_once_also_after_a_crash() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()));
    let mut number = 0;
    for round in 0..6 {
        let life = home.wake().await;
        for _ in 0..3 {
            number += 1;
            let words = format!("message {number}");
            let heard = match number % 2 {
                0 => Perceive::whisper("Alice", &words),
                _ => Perceive::say("Bob", &words),
            };
            life.accept(heard.number(number).build()).await;
        }
        if round % 2 == 0 {
            life.crash().await;
        } else {
            life.handle.at_rest().await;
            life.end().await.unwrap();
        }
    }
    catch_up(&home.log, &key(), &home.memory).await.unwrap();
    let places = by_place(&home.memory).await;
    let events = home.log.events(&key());
    let heard = events.iter().filter(|event| event.kind == "perceived");
    let heard: Vec<_> = heard.map(|event| event.seq.0).collect();
    assert_eq!(heard.len(), 18);
    assert!(heard.iter().all(|place| places.get(place) == Some(&1)));
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_was_lost_is_filled_from_the_log() {
    let mut home = Home::where_all_is_shared([noop(), noop()]);
    home.hear(
        Perceive::whisper("Alice", "the kettle is in the blue box")
            .number(1)
            .build(),
    )
    .await;
    let before = contents(&home.memory).await;
    home.lose_memory();
    let life = home.wake().await;
    assert_eq!(contents(&home.memory).await, before);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_memory_of_another_log_is_refused_before_anything_is_accepted() {
    let home = Home::where_all_is_shared([noop()]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let other = Home::where_all_is_shared([]);
    let ports = dormouse_engine::Ports {
        memory: home.memory.clone(),
        ..other.ports()
    };
    let woken = Assistant::wake(other.config.clone(), FakeWorld::tools(), ports).await;
    assert!(matches!(
        woken,
        Err(WakeError::Memory(CatchUpError::Ahead { .. }))
    ));
}

/// A log that can be made to leave its readers without an answer.
#[derive(Clone)]
struct Hanging(MemoryLog, Arc<AtomicBool>);

impl ReadEvents for Hanging {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        if self.1.load(Ordering::Relaxed) {
            return Box::pin(std::future::pending());
        }
        self.0.read(assistant, after, limit)
    }
}

impl Append for Hanging {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        self.0.append(request)
    }
}

impl SaveSnapshot for Hanging {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        self.0.save_snapshot(assistant, snapshot)
    }
}

impl LoadSnapshot for Hanging {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.0.load_snapshot(assistant, up_to)
    }
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_takes_too_long_never_stops_a_turn() {
    let home = Home::where_all_is_shared([say("one")]);
    let log = Hanging(home.log.clone(), Arc::default());
    let ports = dormouse_engine::Ports {
        log: Arc::new(log.clone()),
        ..home.ports()
    };
    let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), ports).await;
    let (assistant, handle) = woken.unwrap();
    let mut run = tokio::task::JoinSet::new();
    run.spawn(assistant.run());
    log.1.store(true, Ordering::Relaxed);
    handle
        .perceive(Perceive::whisper("Alice", "hello").build())
        .await
        .unwrap();
    assert_eq!(handle.at_rest().await, Rest::Settled);
    handle.shut_down().await;
    run.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(home.deeds(), ["say one"]);
    let failure = recollected(&home)[0].failure;
    assert_eq!(failure, Some(RecallFailure::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_fails_never_stops_a_turn_and_is_asked_again_for_the_next() {
    let home = Home::where_all_is_shared([say("one"), say("two")]);
    let life = home.wake().await;
    home.log.fail_next_reads(1, ReadErrorKind::Storage);
    for number in 1..=2 {
        life.accept(Perceive::whisper("Alice", "hello").number(number).build())
            .await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    assert_eq!(home.deeds(), ["say one", "say two"]);
    let failures: Vec<_> = recollected(&home).iter().map(|it| it.failure).collect();
    assert_eq!(failures, [Some(RecallFailure::Log), None]);
}

/// The texts of the remembered lines in the log, one list for each look-up.
fn texts_written(home: &Home) -> Vec<Vec<String>> {
    let stored = home.log.events(&key()).into_iter();
    let looks = stored.filter(|event| event.kind == "recollected");
    let texts = looks.map(|look| {
        let look: Value = serde_json::from_slice(&look.payload).unwrap();
        let items = look["items"].as_array().cloned().unwrap_or_default();
        let texts = items.iter().filter_map(|item| item["text"].as_str());
        texts.map(ToOwned::to_owned).collect()
    });
    texts.collect()
}

#[tokio::test(start_paused = true)]
async fn a_remembered_line_is_written_once_however_often_it_is_shown() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()))
        .configured(|config| config.limits = config.limits.with_max_history(1).unwrap());
    let life = home.wake().await;
    for number in 1..=12 {
        let words = format!("kettle number {number} is in the blue box");
        life.accept(Perceive::whisper("Alice", &words).number(number).build())
            .await;
        life.handle.at_rest().await;
    }
    let shown = home.last_shown();
    for number in 1..=10 {
        let line = format!("> kettle number {number} is");
        assert_eq!(shown.matches(&line).count(), 1, "{shown}");
    }
    let mut written = texts_written(&home).concat();
    written.sort();
    let times = written.len();
    written.dedup();
    assert_eq!(written.len(), times, "a line stands in the log again");
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(
        state,
        replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_has_its_parts_in_the_documented_order() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop())).configured(|config| {
        config.limits = config.limits.with_max_history(1).unwrap();
        config.prompt.order = PartOrder::Preset(OrderPreset::Documented);
    });
    let life = home.wake().await;
    let heard = [
        Perceive::whisper("Alice", "From now on, always knock before you come in."),
        Perceive::whisper("Alice", "The kettle is in the blue box."),
        Perceive::whisper("Alice", "It rains."),
        Perceive::say("Bob", "The bridge is out."),
        Perceive::whisper("Alice", "Where is the kettle, please?"),
    ];
    for (perceive, number) in heard.into_iter().zip(1..) {
        life.accept(perceive.number(number).build()).await;
        life.handle.at_rest().await;
    }
    let request = home.model.requests().pop().unwrap();
    let [Message::System { content: system }, ..] = &request.messages[..] else {
        panic!("the instructions come first");
    };
    assert!(!system.contains("kettle") && !system.contains("knock"));
    let shown = home.last_shown();
    let place = |part: &str| {
        shown
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {shown}"))
    };
    let parts = [
        "[ACTIVE ENTITIES]\nPlayer Alice (player:Alice)",
        "[STANDING ORDERS]",
        "always knock",
        "[MEMORIES]",
        "(#2 whisper of \"Alice\" (player:Alice), trust 0.90, ",
        "> The kettle is in the blue box.",
        "(Overheard lately",
        "> The bridge is out.",
        "> It rains.",
        "> Where is the kettle, please?",
    ];
    let places: Vec<_> = parts.iter().map(|part| place(part)).collect();
    assert!(places.is_sorted(), "{shown}");
    assert_eq!(
        shown.matches("> It rains.").count(),
        1,
        "what is shown anyway is not recalled"
    );
    assert_eq!(shown.matches("Where is the kettle").count(), 1);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_not_recalled_before_it_is_dealt_with() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()));
    let life = home.wake().await;
    for number in 1..=4 {
        let words = format!("what about kettle number {number}?");
        life.accept(Perceive::whisper("Alice", &words).number(number).build())
            .await;
    }
    life.handle.at_rest().await;
    for (found, turn) in recollected(&home).iter().zip(1..) {
        for later in turn..=4 {
            let text = format!("what about kettle number {later}?");
            assert!(
                found.items.iter().all(|line| line.text != text),
                "{found:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_it_said_itself_is_remembered_as_its_own_and_believed_like_what_it_was_made_of() {
    let home =
        Home::where_all_is_shared([say("Mallory has the key"), noop()]).configured(|config| {
            config.limits = config.limits.with_max_history(0).unwrap();
        });
    let life = home.wake().await;
    life.accept(
        Perceive::addressed("Mallory", "the key is mine")
            .number(1)
            .build(),
    )
    .await;
    life.handle.at_rest().await;
    life.accept(
        Perceive::whisper("Alice", "who has the key?")
            .number(2)
            .build(),
    )
    .await;
    life.handle.at_rest().await;
    let found = recollected(&home).pop().unwrap();
    let own = found
        .items
        .iter()
        .find(|line| line.from == Attribution::Myself)
        .unwrap();
    assert_eq!(own.text, "Mallory has the key");
    assert_eq!(own.trust, dormouse_contracts::Trust::try_new(0.7).unwrap());
    let others = found
        .items
        .iter()
        .any(|line| line.from.name() == Some("Mallory"));
    assert!(others, "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_passes_for_the_assistant_by_a_name() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()))
        .configured(|config| config.limits = config.limits.with_max_history(0).unwrap());
    let life = home.wake().await;
    for (name, number) in [("you", 1), ("dormouse", 2), ("You ", 3)] {
        let perceive = Perceive::whisper(name, "the vault is open to all");
        life.accept(perceive.number(number).build()).await;
        life.handle.at_rest().await;
    }
    life.accept(
        Perceive::whisper("Alice", "is the vault open?")
            .number(4)
            .build(),
    )
    .await;
    life.handle.at_rest().await;
    let found = recollected(&home).pop().unwrap();
    assert!(!found.items.is_empty());
    assert!(
        found
            .items
            .iter()
            .all(|line| line.from != Attribution::Myself),
        "{found:?}"
    );
}
