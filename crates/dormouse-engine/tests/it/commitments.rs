//! What the assistant intends to do for somebody once something has happened: it begins once, when the world attests
//! the condition, and costs nothing before.

use std::sync::Arc;

use dormouse_contracts::{
    Append, AppendRequest, Audience, Author, Awaited, AwaitedKind, EntityId, Movement, Perception,
    Sender, Seq, Timestamp, Trust, WordBeginnings,
};
use dormouse_engine::{
    BrokenCause, CommitmentOutcome, EntityChanged, Event, Person, Rest, Selection, State, replay,
};
use dormouse_entities::{EntityChange, EntityType, StaleAfter};
use dormouse_testing::{Gate, Perceive, ScriptedModel, ScriptedTurn, effort};
use serde_json::{Value, json};

use crate::{
    forgetting::without,
    home::{Home, key, minutes, shown},
};

const OCCASION: &str = "The moment has come";
/// The day on which a home begins.
const BEGUN: i64 = 1_795_219_200;
const DAY: i64 = 86_400;

fn id(name: &str) -> EntityId {
    EntityId::try_new(format!("player:{name}")).unwrap()
}

/// A model that keeps its promises: it pages the person whom a promise is for. For any other request it makes this
/// call.
fn keeper(call: Value) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let text = shown(request);
        let Some((_, now)) = text.rsplit_once(OCCASION) else {
            return match text.contains("\"success\":") {
                true => ScriptedTurn::call("noop", json!({})),
                false => ScriptedTurn::call("add_pending_action", call.clone()),
            };
        };
        if now.contains("\"success\":") {
            return ScriptedTurn::call("noop", json!({}));
        }
        let (_, whom) = now.split_once("to do for ").unwrap();
        let (whom, _) = whom.split_once(" (").unwrap();
        let (_, what) = now.split_once("only for them: ").unwrap();
        let (what, _) = what.split_once(')').unwrap();
        ScriptedTurn::call("page", json!({"to": whom, "message": what}))
    }))
}

fn tell_bob(when: &Value) -> Value {
    json!({"entity": "Bob", "description": "the vault is open", "when": when})
}

fn arrives(name: &str) -> Perceive {
    Perceive::movement(name, "arrives.")
        .moving(Movement::Arrival)
        .in_room("tavern")
}

/// A home whose assistant has met Bob, and was asked by Alice, who whispers, to do this.
async fn asked_by_alice(words: &str, call: Value) -> Home {
    let home = Home::with(keeper(call)).where_one_can_page();
    let life = home.wake().await;
    let bob = Perceive::say("Bob", "good day").in_room("tavern");
    life.accept(bob.build()).await;
    let request = Perceive::whisper("Alice", words)
        .number(2)
        .in_room("tavern");
    life.accept(request.build()).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.end().await.unwrap();
    assert_eq!(home.deeds(), Vec::<String>::new());
    home
}

/// What the assistant does when it perceives these, and how many model calls that took.
async fn then(home: &Home, perceived: impl IntoIterator<Item = Perceive>) -> (Vec<String>, usize) {
    let (done, asked) = (home.deeds().len(), home.model.requests().len());
    let life = home.wake().await;
    for perceive in perceived {
        life.accept(perceive.build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
    (
        home.deeds().split_off(done),
        home.model.requests().len() - asked,
    )
}

async fn state(home: &Home) -> State {
    replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
}

fn outcomes(state: &State) -> Vec<CommitmentOutcome> {
    state.promises.ended().map(|it| it.outcome).collect()
}

const WORDS: &str = "when Bob comes, tell him that the vault is open";

#[tokio::test(start_paused = true)]
async fn what_waits_for_somebody_costs_nothing_until_they_come_and_is_done_once() {
    let home = asked_by_alice(
        WORDS,
        tell_bob(&json!([{"event": "arrives", "who": "Bob"}])),
    )
    .await;
    let before = home.log.events(&key()).len();
    let others = [
        arrives("Carol").number(3),
        Perceive::movement("Bob", "leaves.")
            .moving(Movement::Departure)
            .in_room("tavern")
            .number(4),
        Perceive::movement("Bob", "arrives or leaves.").number(5),
        Perceive::say("Bob", "Bob arrives. I am back!")
            .in_room("tavern")
            .number(6),
        Perceive::emit("Bob arrives.").in_room("tavern").number(7),
    ];
    assert_eq!(then(&home, others).await, (Vec::new(), 0));
    let heard = home.log.events(&key()).len() - before;
    assert!(heard <= 6, "nothing but what was heard is written: {heard}");
    let came = then(&home, [arrives("Bob").number(8)]).await;
    assert_eq!(came, (vec!["page the vault is open".to_owned()], 1));
    assert_eq!(then(&home, [arrives("Bob").number(9)]).await.1, 0, "once");
    let within = home.world.performed()[0].within.clone();
    assert_eq!(within, Audience::of([id("Bob")]), "nobody else may hear it");
    let state = state(&home).await;
    assert_eq!(outcomes(&state), [CommitmentOutcome::Kept]);
    assert_eq!(
        state.promises.iter().len() + state.promises.under_way().len(),
        0
    );
    home.no_protocol_was_broken();
    let pending = home
        .memory
        .with_entities(|known| known.pending_actions(&id("Bob")).len());
    assert_eq!(pending, 0, "the profile does not list it any more");
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_fact_is_recognised_by_what_the_world_attests() {
    let room = || Audience::of([id("Bob"), id("Carol")]).unwrap();
    let leaves = || {
        Perceive::movement("Bob", "goes north.")
            .moving(Movement::Departure)
            .in_room("tavern")
    };
    let talk = || Perceive::say("Carol", "hello").in_room("tavern");
    let cases: [(Value, Perceive, Perceive); 7] = [
        (
            json!({"event": "leaves", "who": "Bob"}),
            arrives("Bob"),
            leaves(),
        ),
        (
            json!({"event": "present", "who": "player:Bob"}),
            talk(),
            talk().audience(room()),
        ),
        (
            json!({"event": "present", "who": "Bob"}),
            leaves().audience(room()),
            Perceive::pose("Bob", "yawns").in_room("tavern"),
        ),
        (
            json!({"event": "speaks", "who": "Bob"}),
            Perceive::pose("Bob", "says nothing"),
            Perceive::say("Bob", "hello"),
        ),
        (json!({"event": "arrives"}), talk(), arrives("Carol")),
        (
            json!({"event": "arrives", "who": "Bob", "place": "here"}),
            arrives("Bob").in_room("cellar"),
            arrives("Bob"),
        ),
        (
            json!({"event": "happens", "words": "door open"}),
            Perceive::emit("The door does not open.").audience(room()),
            Perceive::emit("The door opens.").audience(room()),
        ),
    ];
    for (when, other, awaited) in cases {
        let text = when.to_string();
        let home = asked_by_alice(WORDS, tell_bob(&json!([when]))).await;
        assert_eq!(state(&home).await.promises.iter().len(), 1, "{text}");
        assert_eq!(then(&home, [other.number(3)]).await.1, 0, "{text}");
        assert_eq!(then(&home, [awaited.number(4)]).await.0.len(), 1, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn whom_nobody_knows_or_more_than_one_could_be_is_asked_for_and_nothing_is_noted() {
    let namesake = Sender::Entity {
        id: id("2"),
        name: "Bob".to_owned(),
    };
    for (when, expected) in [
        (
            json!([{"event": "arrives", "who": "Mallory"}]),
            "nobody is known by this name",
        ),
        (
            json!([{"event": "arrives", "who": "Bob"}]),
            "say which by the id",
        ),
        (json!([{"event": "present"}]), "present needs who"),
        (json!([{"event": "happens"}]), "happens needs words"),
        (
            json!([{"event": "arrives", "words": "x"}]),
            "words go with happens",
        ),
        (
            json!([{"event": "arrives", "place": "moon"}]),
            "expected here",
        ),
        (json!([{"event": "teleports"}]), "event"),
    ] {
        let home = Home::with(keeper(
            json!({"entity": "player:Alice", "description": "x", "when": when}),
        ))
        .where_one_can_page();
        let life = home.wake().await;
        life.accept(Perceive::say("Bob", "good day").build()).await;
        let other = Perceive::say("Bob", "good day").sender(namesake.clone());
        life.accept(other.number(2).build()).await;
        let request = Perceive::whisper("Alice", WORDS).number(3);
        life.accept(request.build()).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
        assert_eq!(state(&home).await.promises.iter().len(), 0, "{when}");
        let refused = home.last_shown();
        assert!(refused.contains(expected), "{when}: {refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_did_not_happen_in_time_is_broken_without_a_model() {
    let until = "2026-11-21T01:00:00Z";
    let mut call = tell_bob(&json!([{"event": "arrives", "who": "Bob"}]));
    call["until"] = json!(until);
    let home = asked_by_alice(WORDS, call).await;
    let life = home.wake().await;
    let asked = home.model.requests().len();
    tokio::time::sleep(minutes(70)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(
        then(&home, [arrives("Bob").number(3)]).await,
        (Vec::new(), 0)
    );
    assert_eq!(home.model.requests().len(), asked);
    let state = state(&home).await;
    assert_eq!(
        outcomes(&state),
        [CommitmentOutcome::Broken(BrokenCause::Expired)]
    );
    assert_eq!(state.promises.ended().next().unwrap().at.to_string(), until);
}

#[tokio::test(start_paused = true)]
async fn what_a_model_does_nothing_about_is_given_up_and_said_so() {
    let home = asked_by_alice(
        WORDS,
        tell_bob(&json!([{"event": "arrives", "who": "Bob"}])),
    )
    .await;
    let mut idle = home;
    idle.model = Arc::new(ScriptedModel::looping(ScriptedTurn::call(
        "noop",
        json!({}),
    )));
    then(&idle, [arrives("Bob").number(3)]).await;
    let given_up = CommitmentOutcome::Broken(BrokenCause::GivenUp);
    assert_eq!(outcomes(&state(&idle).await), [given_up]);
}

#[tokio::test(start_paused = true)]
async fn somebody_who_came_while_the_model_thought_about_the_request_is_not_missed() {
    let call = tell_bob(&json!([{"event": "arrives", "who": "Bob"}]));
    let gate = Gate::new();
    let home = Home::new([
        ScriptedTurn::after(&gate, ScriptedTurn::call("add_pending_action", call)),
        ScriptedTurn::call("noop", json!({})),
        ScriptedTurn::call("page", json!({"to": "Bob", "message": "the vault is open"})),
    ])
    .where_one_can_page();
    let life = home.wake().await;
    life.accept(Perceive::say("Bob", "good day").build()).await;
    life.accept(Perceive::whisper("Alice", WORDS).number(2).build())
        .await;
    life.accept(arrives("Bob").number(3).build()).await;
    gate.open();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.end().await.unwrap();
    assert_eq!(home.deeds(), ["page the vault is open"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_others_alone_fires_nothing_for_somebody_who_did_not_hear_it() {
    let call = json!({
        "entity": "player:Alice",
        "description": "Bob spoke",
        "when": [{"event": "speaks", "who": "Bob"}],
    });
    let home = asked_by_alice("tell me when Bob speaks", call).await;
    let state_before = state(&home).await;
    let whispered = Perceive::whisper("Bob", "a secret").number(3);
    then(&home, [whispered]).await;
    let after = state(&home).await;
    let unmet = |state: &State| state.promises.iter().filter(|it| it.met.is_none()).count();
    assert_eq!((unmet(&state_before), unmet(&after)), (1, 1));
    let aloud = Perceive::say("Bob", "hello").in_room("tavern").number(4);
    assert_eq!(then(&home, [aloud]).await.0, ["page Bob spoke"]);
}

#[tokio::test(start_paused = true)]
async fn words_are_passed_on_only_to_whom_the_one_who_asks_names() {
    let call = tell_bob(&json!([{"event": "arrives", "who": "Bob"}]));
    let home = asked_by_alice("the vault is open, but tell nobody", call).await;
    assert_eq!(state(&home).await.promises.iter().len(), 0);
    let shown = home.last_shown();
    assert!(shown.contains("does not name them"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn whoever_was_merged_is_still_waited_for_and_whoever_was_forgotten_is_not() {
    let call = tell_bob(&json!([{"event": "arrives", "who": "Bob"}]));
    let home = asked_by_alice(WORDS, call.clone()).await;
    let by_operator = |change| {
        Event::EntityChanged(EntityChanged {
            change,
            author: Author::Operator("florian".to_owned()),
            reason: "one person".to_owned(),
        })
    };
    then(&home, [arrives("Bobby").number(3)]).await;
    let (from, into) = (id("Bobby"), id("Bob"));
    write(
        &home,
        vec![by_operator(EntityChange::Merged { from, into })],
    )
    .await;
    let renamed = arrives("Bobby").number(4);
    assert_eq!(then(&home, [renamed]).await.0.len(), 1);

    let mut home = asked_by_alice(WORDS, call).await;
    let bob = std::collections::BTreeSet::from([id("Bob")]);
    home.log = without(&home.log, Selection::Person(Person::of_ids(bob)))
        .await
        .0;
    home.lose_memory();
    assert_eq!(state(&home).await.promises.iter().len(), 0);
    assert_eq!(then(&home, [arrives("Bob").number(3)]).await.1, 0);
}

#[tokio::test(start_paused = true)]
async fn killed_at_any_write_and_with_any_clock_it_is_done_once() {
    for writes in 1..=4 {
        let call = tell_bob(&json!([{"event": "arrives", "who": "Bob"}]));
        let home = asked_by_alice(WORDS, call).await;
        // Ten years forward, then twenty back, then ten forward.
        for hours in [87_660, -175_320, 87_660] {
            home.set_clock(hours);
            let mut crashes = 0;
            loop {
                home.log.reopen();
                if crashes < 20 {
                    home.log.close_after(writes);
                }
                let life = home.wake().await;
                // The world delivers it again until it is acknowledged.
                let came = life.handle.perceive(arrives("Bob").number(3).build()).await;
                let is_settled = life.handle.at_rest().await == Rest::Settled;
                life.crash().await;
                home.log.reopen();
                let state = state(&home).await;
                if came.is_ok() && is_settled && state.turns.is_empty() && crashes >= 2 {
                    break;
                }
                crashes += 1;
                assert!(crashes < 60, "it comes to rest");
            }
        }
        assert_eq!(home.deeds(), ["page the vault is open"], "{writes} writes");
        assert_eq!(outcomes(&state(&home).await), [CommitmentOutcome::Kept]);
    }
}

/// Appends events while the assistant sleeps, as commands do.
async fn write(home: &Home, events: Vec<Event>) {
    let written = home.log.events(&key());
    let at = written
        .last()
        .map_or(Timestamp::from_micros(BEGUN * 1_000_000), |last| last.at);
    let request = AppendRequest {
        assistant: key(),
        expected: Seq(written.len() as u64),
        events: events.iter().map(|it| it.encode(at).unwrap()).collect(),
    };
    home.log.append(request).await.unwrap();
}

/// One of many commitments: for whom it is, what it waits for, and which events meet the condition or only look like
/// it.
struct Scripted {
    number: i64,
    awaited: Option<Awaited>,
}

impl Scripted {
    const PEOPLE: i64 = 60;

    fn new(number: i64) -> Self {
        let kind = match number % 6 {
            0 => None,
            1 => Some(AwaitedKind::Arrives),
            2 => Some(AwaitedKind::Leaves),
            3 => Some(AwaitedKind::Present),
            4 => Some(AwaitedKind::Speaks),
            _ => Some(AwaitedKind::Happens),
        };
        let awaited = kind.map(|kind| match kind {
            AwaitedKind::Happens => Awaited {
                words: Some(WordBeginnings::try_new(&format!("bell{number}x ring")).unwrap()),
                ..Awaited::new(kind, None)
            },
            _ => Awaited::new(kind, Some(id(&format!("S{number}")))),
        });
        Self { number, awaited }
    }

    fn whom(&self) -> String {
        format!("P{}", self.number % Self::PEOPLE)
    }

    fn what(&self) -> String {
        format!("errand {}", self.number)
    }

    /// The second, within the 30 days, at which it comes due.
    fn comes_at(&self, of: i64) -> i64 {
        DAY / 2 + self.number * (29 * DAY) / of
    }

    fn noted(&self, of: i64) -> Event {
        let at = Timestamp::from_micros((BEGUN + self.comes_at(of)) * 1_000_000);
        changed(EntityChange::ActionAdded {
            entity: id(&self.whom()),
            description: serde_json::from_value(json!(self.what())).unwrap(),
            priority: 1,
            due_at: self.awaited.is_none().then_some(at),
            when: self.awaited.clone().into_iter().collect(),
            until: None,
            trust: Some(Trust::FULL),
            audience: Audience::of([id(&self.whom())]),
            sources: [].into_iter().collect(),
        })
    }

    /// What the world delivers: first events that only look like the condition, then the condition.
    fn delivered(&self) -> Vec<Perceive> {
        let name = format!("S{}", self.number);
        let whom = Audience::of([id(&self.whom())]).unwrap();
        let moves = |name: &str, movement, words: &str| {
            Perceive::movement(name, words)
                .moving(movement)
                .in_room("tavern")
        };
        let says = |name: &str| Perceive::say(name, "hello").in_room("tavern");
        let Some(awaited) = &self.awaited else {
            return vec![
                says(&name),
                Perceive::emit("It is time. The moment has come."),
            ];
        };
        let other = format!("T{}", self.number);
        match awaited.kind {
            AwaitedKind::Arrives => vec![
                moves(&name, Movement::Departure, "leaves."),
                moves(&other, Movement::Arrival, "arrives."),
                says(&name),
                moves(&name, Movement::Arrival, "arrives."),
            ],
            AwaitedKind::Leaves => vec![
                moves(&name, Movement::Arrival, "leaves."),
                Perceive::movement(&name, "leaves."),
                moves(&name, Movement::Departure, "arrives."),
            ],
            AwaitedKind::Present => vec![
                Perceive::channel(&name, "public", "I am here"),
                moves(&name, Movement::Departure, "leaves."),
                says(&other).audience(Audience::of([id(&name), id(&other)]).unwrap()),
            ],
            AwaitedKind::Speaks => vec![
                says(&other),
                Perceive::pose(&name, "says hello").in_room("tavern"),
                says(&name),
            ],
            AwaitedKind::Happens => {
                let bell = format!("bell{}x", self.number);
                let emit = |text: String| Perceive::emit(&text).audience(whom.clone());
                vec![
                    emit(format!("The {bell} does not ring.")),
                    emit(format!("The chime{}x rings.", self.number)),
                    // The person it is for did not perceive this one.
                    Perceive::emit(&format!("The {bell} rings.")),
                    emit(format!("The {bell} rings.")),
                ]
            }
        }
    }
}

fn changed(change: EntityChange) -> Event {
    Event::EntityChanged(EntityChanged {
        change,
        author: Author::Operator("florian".to_owned()),
        reason: "in a test".to_owned(),
    })
}

/// How many days one life lasts until it is killed.
const LIFE: i64 = 3;

#[tokio::test(start_paused = true)]
async fn a_thousand_commitments_come_due_over_thirty_days_none_falsely_and_free_until_then() {
    let count = i64::from(effort(1_000));
    let home = Home::with(keeper(json!({}))).where_one_can_page();
    let people = (0..Scripted::PEOPLE).flat_map(|number| {
        let entity = id(&format!("P{number}"));
        let created = EntityChange::Created {
            entity: entity.clone(),
            entity_type: EntityType::Player,
            name: serde_json::from_value(json!(format!("P{number}"))).unwrap(),
        };
        let talks = EntityChange::ConversationStarted {
            entity,
            topic: None,
            stale_after: StaleAfter::default(),
        };
        [changed(created), changed(talks)]
    });
    let all: Vec<_> = (0..count).map(Scripted::new).collect();
    let noted = all.iter().map(|it| it.noted(count));
    write(&home, people.chain(noted).collect()).await;

    let (mut number, mut expected) = (0, Vec::new());
    let mut life = home.wake_configured().await;
    let mut lived_until = LIFE * DAY;
    for (place, commitment) in all.iter().enumerate() {
        let at = commitment.comes_at(count);
        if at > lived_until {
            // It is killed, and the world repeats its last delivery.
            life.crash().await;
            life = home.wake().await;
            lived_until += LIFE * DAY;
        }
        let now = || home.now() / 1_000_000 - BEGUN;
        let mut delivered: Vec<Perception> = Vec::new();
        for perceive in commitment.delivered() {
            number += 1;
            delivered.push(perceive.number(number).build());
        }
        let awaited = commitment
            .awaited
            .is_some()
            .then(|| delivered.pop())
            .flatten();
        for perception in delivered {
            life.accept(perception.clone()).await;
            life.accept(perception).await;
            life.handle.at_rest().await;
        }
        assert_eq!(home.deeds(), expected, "not before it comes: {place}");
        assert_eq!(home.model.requests().len(), expected.len());
        let left = u64::try_from(at - now()).unwrap_or_default();
        tokio::time::sleep(std::time::Duration::from_secs(left + 1)).await;
        if let Some(awaited) = awaited {
            life.accept(awaited).await;
        }
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        expected.push(format!("page {}", commitment.what()));
    }
    assert_eq!(home.deeds(), expected, "each once, in its order");
    assert_eq!(home.model.requests().len(), all.len(), "one call each");
    life.end().await.unwrap();
    let state = state(&home).await;
    assert_eq!(
        state.promises.iter().len() + state.promises.under_way().len(),
        0
    );
    assert!(
        state
            .promises
            .ended()
            .all(|it| it.outcome == CommitmentOutcome::Kept)
    );
    let seconds = home.now() / 1_000_000 - BEGUN;
    println!(
        "{count} commitments over {:.1} days: {} kept, {} deliveries that fired nothing, {} model calls",
        seconds as f64 / DAY as f64,
        home.deeds().len(),
        number - all.iter().filter(|it| it.awaited.is_some()).count() as u64,
        home.model.requests().len(),
    );
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn what_made_a_commitment_due_does_not_meet_the_one_that_is_noted_in_its_turn() {
    let follow = json!({"entity": "Alice", "description": "go along",
        "when": [{"event": "leaves", "who": "Alice"}]});
    let model = ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let text = shown(request);
        let now = text.rsplit_once(OCCASION).map_or(&*text, |(_, now)| now);
        match now.contains("\"success\":") {
            true => ScriptedTurn::call("noop", json!({})),
            false => ScriptedTurn::call("add_pending_action", follow.clone()),
        }
    }));
    let home = Home::with(model);
    let life = home.wake().await;
    let leaves = |number| {
        Perceive::movement("Alice", "goes north to the Garden.")
            .moving(Movement::Departure)
            .in_room("tavern")
            .number(number)
    };
    let said = Perceive::whisper("Alice", "follow me").number(1);
    life.accept(said.build()).await;
    life.handle.at_rest().await;
    for number in [2, 3] {
        life.accept(leaves(number).build()).await;
        life.handle.at_rest().await;
        tokio::time::sleep(minutes(5)).await;
        life.handle.at_rest().await;
        let begun = home.events().into_iter();
        let begun = begun.filter(|event| matches!(event, Event::TickStarted(_)));
        assert_eq!(begun.count() as u64, number, "one turn for each time");
    }
    let asked = shown(home.model.requests().last().unwrap());
    assert!(asked.contains("goes north to the Garden."), "{asked}");
    life.end().await.unwrap();
}
