//! Goals get turns when they are due, and at no other time.

use std::collections::BTreeMap;

use dormouse_contracts::{
    Append, AppendRequest, Audience, Author, ChatRequest, Clock, EntityId, Message, ModelErrorKind,
    Origin, PlaceId, Seq, Timestamp, Trust,
};
use dormouse_engine::{
    ContextType, Event, GoalBlock, GoalId, GoalMoment, GoalNote, GoalStatus, GoalUpdated, NewGoal,
    Privacy, Pursuit, Rest, Selection, Skip, State, gate, next_reason, replay,
};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    forgetting::without,
    home::{Home, in_virtual_time, key, minutes, shown},
};

const OCCASION: &str = "It is time for goal";
const ONE: GoalId = GoalId(1);

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

fn say(message: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": message}))
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

async fn state(home: &Home) -> State {
    replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
}

/// Changes the goals of an assistant that is asleep, as an operator does.
async fn command(home: &Home, change: impl Fn(&State) -> Event) {
    let state = state(home).await;
    let event = change(&state).encode(home.clock.now()).unwrap();
    let request = AppendRequest {
        assistant: key(),
        expected: state.seq,
        events: vec![event],
    };
    home.log.append(request).await.unwrap();
}

fn operator() -> Author {
    Author::Operator("florian".to_owned())
}

pub(crate) async fn set_goal(home: &Home, text: &str, moment: GoalMoment, parent: Option<GoalId>) {
    command(home, |state| {
        let goal = NewGoal {
            description: GoalNote::by_operator(text),
            priority: 5,
            parent,
            moment,
        };
        Event::GoalCreated(state.goals.create(goal, operator()).unwrap())
    })
    .await;
}

fn daily(text: &str, now: Timestamp) -> GoalMoment {
    GoalMoment::of(None, Some(text.parse().unwrap()), now).unwrap()
}

/// The message or occasion that a request is about, and how many calls were answered since then.
fn now_about(request: &ChatRequest) -> (String, usize) {
    let is_trigger = |message: &Message| match message {
        Message::User { content } => content.contains(OCCASION) || content.contains("[#"),
        _ => false,
    };
    let place = request.messages.iter().rposition(is_trigger).unwrap();
    let answered = request.messages[place..]
        .iter()
        .filter(|message| matches!(message, Message::Tool { .. }));
    let Message::User { content } = &request.messages[place] else {
        unreachable!()
    };
    let begins = content.rfind(OCCASION).max(content.rfind("[#")).unwrap();
    (content[begins..].to_owned(), answered.count())
}

/// Lives until nothing is left to do now, with a power cut after each `writes` writes, if given.
async fn live_on(home: &Home, writes: Option<usize>) {
    for crashes in 0..30 {
        home.log.reopen();
        if let Some(writes) = writes.filter(|_| crashes < 6) {
            home.log.close_after(writes);
        }
        let life = home.wake().await;
        let is_settled = life.handle.at_rest().await == Rest::Settled;
        life.crash().await;
        home.log.reopen();
        let state = state(home).await;
        if is_settled && gate(&state, home.clock.now()) == Err(Skip::Idle) {
            return;
        }
    }
    panic!("it comes to rest");
}

fn pursuits(home: &Home) -> Vec<Pursuit> {
    let events = home.events().into_iter();
    let pursued = events.filter_map(|event| match event {
        Event::GoalPursued(it) => Some(it.pursuit),
        _ => None,
    });
    pursued.collect()
}

/// A resident that does what it was asked to. It knows only what the prompt shows.
fn resident() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let (now, done) = now_about(request);
        let goal = |description: &str, repeats: &str| {
            ScriptedTurn::call(
                "add_goal",
                json!({"description": description, "repeats": repeats}),
            )
        };
        let text = shown(request);
        let news = text.rmatch_indices("the news is ").next();
        let news = news.map(|(place, _)| text[place..].split(['"', '\n']).next().unwrap());
        match (&*now, done) {
            (now, 0) if now.contains("ask the innkeeper for news and tell me") => {
                goal("ask the innkeeper for news", "daily 20:00")
            }
            (now, 1) if now.contains("ask the innkeeper for news and tell me") => {
                goal("tell Alice the news of the innkeeper", "daily 08:00")
            }
            (now, 2) if now.contains("ask the innkeeper for news and tell me") => {
                say("I will, every day.")
            }
            (now, 0) if now.contains("The goal: ask the innkeeper") => {
                say("Innkeeper, what is the news?")
            }
            (now, 0) if now.contains("The goal: tell Alice") => {
                say(&format!("Alice, {}", news.unwrap_or("I know nothing")))
            }
            _ => noop(),
        }
    }))
}

fn in_the_tavern(home: Home) -> Home {
    home.configured(|config| {
        let tavern = PlaceId::try_new("tavern").unwrap();
        config.public_places.insert(tavern);
    })
}

#[tokio::test(start_paused = true)]
async fn what_it_was_told_to_do_every_day_it_does_for_three_days_although_it_is_killed() {
    for writes in [None, Some(1), Some(2), Some(3)] {
        let home = in_the_tavern(Home::with(resident()));
        // It is noon.
        home.set_clock(12);
        let request =
            "@dormouse every evening ask the innkeeper for news and tell me in the morning";
        let asked = Perceive::addressed("Alice", request).in_room("tavern");
        let life = home.wake().await;
        life.accept(asked.number(1).build()).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
        let mut expected = vec!["say I will, every day.".to_owned()];
        for (day, news) in ["bread is dear", "the bridge is out", "the king is ill"]
            .into_iter()
            .enumerate()
        {
            home.set_clock(if day == 0 { 8 } else { 12 });
            live_on(&home, writes).await;
            expected.push("say Innkeeper, what is the news?".to_owned());
            assert_eq!(home.deeds(), expected, "evening {day}, {writes:?}");
            let told = Perceive::addressed("Innkeeper", &format!("the news is {news}"));
            let life = home.wake().await;
            life.accept(told.in_room("tavern").number(day as u64 + 2).build())
                .await;
            life.handle.at_rest().await;
            life.end().await.unwrap();
            home.set_clock(12);
            live_on(&home, writes).await;
            expected.push(format!("say Alice, the news is {news}"));
            assert_eq!(home.deeds(), expected, "morning {day}, {writes:?}");
        }
        assert_eq!(home.world.reused_keys(), []);
        if writes.is_none() {
            print_log(&home);
            let ticks = home.events().into_iter().filter_map(|event| match event {
                Event::TickStarted(started) => Some(started.context),
                _ => None,
            });
            let ticks: Vec<_> = ticks.collect();
            let autonomous = ticks
                .iter()
                .filter(|context| **context == ContextType::TickAutonomous);
            assert_eq!((ticks.len(), autonomous.count()), (10, 6));
        }
    }
}

/// The log of a life, one event per line.
#[expect(
    clippy::print_stdout,
    reason = "`cargo test -- --nocapture` shows three days of a life"
)]
fn print_log(home: &Home) {
    for stored in home.log.events(&key()) {
        let payload = String::from_utf8_lossy(&stored.payload).into_owned();
        let payload: String = payload.chars().take(110).collect();
        println!("{} {} {} {payload}", stored.seq, stored.at, stored.kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_day_without_a_message_and_without_a_due_goal_costs_nothing() {
    let home = Home::with(ScriptedModel::looping(noop()));
    set_goal(&home, "see the sea", GoalMoment::Never, None).await;
    let in_two_days = GoalMoment::At(at("2026-11-23T00:00:00Z"));
    set_goal(&home, "paint the boat", in_two_days, None).await;
    home.wake_configured().await.end().await.unwrap();
    let before = home.log.events(&key()).len();
    let life = home.wake().await;
    life.handle.at_rest().await;
    for _ in 0..24 {
        tokio::time::sleep(minutes(60)).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    let now = home.clock.now();
    let at_rest = state(&home).await;
    let next = next_reason(&at_rest, gate(&at_rest, now).unwrap_err(), now);
    assert_eq!(next, Some(at("2026-11-23T00:00:00Z")));
    life.end().await.unwrap();
    assert_eq!(home.log.events(&key()).len(), before, "nothing is written");
    assert_eq!(home.model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_goal_is_pursued_at_its_moment_and_never_again_once_it_is_done() {
    let done = ScriptedTurn::call(
        "update_goal",
        json!({"goal": 1, "status": "done", "note": "painted"}),
    );
    let home = Home::new([say("I paint."), done, noop()]).where_speech_ends_nothing();
    let due = GoalMoment::At(at("2026-11-21T01:00:00Z"));
    set_goal(&home, "paint the boat", due, None).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(59)).await;
    life.handle.at_rest().await;
    assert_eq!(home.model.requests().len(), 0, "not before its moment");
    tokio::time::sleep(minutes(2)).await;
    life.handle.at_rest().await;
    tokio::time::sleep(minutes(2_000)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.deeds(), ["say I paint."]);
    assert_eq!(home.model.requests().len(), 3, "not after it is done");
    let goal = state(&home).await.goals.get(ONE).unwrap().clone();
    assert_eq!(goal.status, GoalStatus::Done);
    assert_eq!(goal.note.unwrap().text, "painted");
    assert_eq!(pursuits(&home), [Pursuit::Progress]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn whatever_the_clock_does_what_is_overdue_is_done_once() {
    let years = 365 * 24;
    for (jump, name) in [
        (years, "a year on"),
        (10 * years, "ten on"),
        (-10 * years, "ten back"),
    ] {
        let home = Home::with(ScriptedModel::looping(noop()));
        set_goal(&home, "sweep", daily("daily 20:00", home.clock.now()), None).await;
        home.set_clock(jump);
        let life = home.wake().await;
        life.handle.at_rest().await;
        assert_eq!(home.model.requests().len(), 1, "{name}");
        tokio::time::sleep(minutes(3 * 24 * 60)).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
        assert_eq!(home.model.requests().len(), 4, "{name}, and then every day");
    }
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_comes_to_nothing_is_tried_less_and_less_and_then_blocked_with_the_reason() {
    let home = Home::with(ScriptedModel::looping(noop()));
    let due = GoalMoment::At(home.clock.now());
    set_goal(&home, "find the ring", due, None).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(2_000)).await;
    life.end().await.unwrap();
    let events = home.log.events(&key());
    let ticks = events.iter().filter(|stored| stored.kind == "tick_started");
    let ticks: Vec<_> = ticks.map(|stored| stored.at).collect();
    let pauses: Vec<_> = ticks
        .windows(2)
        .map(|pair| pair[1].since(pair[0]).as_secs() / 60)
        .collect();
    assert_eq!(pauses, [10, 20]);
    let goal = state(&home).await.goals.get(ONE).unwrap().clone();
    assert_eq!(goal.status, GoalStatus::Blocked(GoalBlock::NoProgress(3)));
    assert_eq!(home.model.requests().len(), 3);

    command(&home, |state| {
        let opened = GoalUpdated {
            status: Some(GoalStatus::Open),
            ..GoalUpdated::of(ONE, operator())
        };
        Event::GoalUpdated(state.goals.update(opened).unwrap())
    })
    .await;
    live_on(&home, None).await;
    assert_eq!(
        home.model.requests().len(),
        4,
        "opened again, it is tried again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_goal_whose_turns_end_with_errors_is_blocked_and_stops_nothing_else() {
    let wrong = ScriptedTurn::call("fly", json!({}));
    let home = Home::with(ScriptedModel::looping(wrong)).configured(|config| {
        config.limits = config.limits.with_max_consecutive_errors(3).unwrap();
        config.goals.attempts = 2;
    });
    let now = home.clock.now();
    set_goal(&home, "fly", daily("every 1 hours", now), None).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(10 * 60)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let state = state(&home).await;
    let goal = state.goals.get(ONE).unwrap();
    assert_eq!(goal.status, GoalStatus::Blocked(GoalBlock::Failures(2)));
    assert_eq!(pursuits(&home), [Pursuit::Failed, Pursuit::Failed]);
    assert!(!state.stop.is_on());
}

#[tokio::test(start_paused = true)]
async fn an_outage_at_its_moment_only_puts_a_goal_off() {
    let outage = || ScriptedTurn::Fail(ModelErrorKind::Unavailable);
    let turns = [outage(), outage(), outage(), outage(), say("I sweep.")];
    let home = Home::with(ScriptedModel::new(turns).then_for_ever(noop()));
    let now = home.clock.now();
    set_goal(&home, "sweep", daily("daily 01:00", now), None).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(3 * 60)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.deeds(), ["say I sweep."]);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_of_low_trust_wants_calls_for_no_turn() {
    let goal = ScriptedTurn::call(
        "add_goal",
        json!({"description": "shout hello", "repeats": "every 5 minutes"}),
    );
    let home = Home::with(ScriptedModel::new([goal]).then_for_ever(noop())).configured(|config| {
        let trusts = &mut config.classify.trust_overrides;
        trusts.insert(
            EntityId::try_new("player:Bob").unwrap(),
            Trust::try_new(0.4).unwrap(),
        );
    });
    let life = home.wake().await;
    let wanted = "@dormouse shout hello every 5 minutes";
    life.accept(Perceive::addressed("Bob", wanted).build())
        .await;
    life.handle.at_rest().await;
    tokio::time::sleep(minutes(600)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.model.requests().len(), 2);
    let shown = home.last_shown();
    assert!(shown.contains("a goal needs a trust of 0.50"), "{shown}");
    let goal = state(&home).await.goals.get(ONE).unwrap().clone();
    assert_eq!(goal.description.trust, Trust::try_new(0.4).unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_goal_is_shown_to_those_alone_who_were_party_to_it_and_spoken_of_to_nobody_else() {
    let goal = ScriptedTurn::call(
        "add_goal",
        json!({"description": "buy the marigold for Bob", "due_at": "2026-11-21T01:00:00Z"}),
    );
    let home = Home::with(
        ScriptedModel::new([goal, noop(), noop(), noop(), noop(), say("Hello.")])
            .then_for_ever(noop()),
    );
    let hear = async |perceive: Perceive, number: u64| {
        let life = home.wake().await;
        life.accept(perceive.number(number).build()).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
        home.last_shown()
    };
    let plan = "buy the marigold for Bob, as a surprise";
    hear(Perceive::whisper("Alice", plan), 1).await;
    let shown = hear(Perceive::whisper("Bob", "what do you plan to buy?"), 2).await;
    assert!(!shown.contains("marigold"), "{shown}");
    let both = [id("player:Alice"), id("player:Bob")];
    let aloud =
        Perceive::addressed("Alice", "@dormouse hello").audience(Audience::of(both).unwrap());
    let shown = hear(aloud, 3).await;
    assert!(!shown.contains("marigold"), "{shown}");
    let shown = hear(Perceive::whisper("Alice", "what do you plan?"), 4).await;
    assert!(
        shown.contains("[GOALS]") && shown.contains("marigold"),
        "{shown}"
    );
    home.set_clock(2);
    home.world.listen(Audience::of([id("player:Bob")]).unwrap());
    live_on(&home, None).await;
    let within: Vec<_> = home
        .world
        .attempts()
        .into_iter()
        .map(|it| it.within)
        .collect();
    let alice = Audience::of([id("player:Alice")]);
    assert_eq!(within, [alice], "nobody else may hear it");
    assert_eq!(home.deeds(), Vec::<String>::new());
}

fn id(text: &str) -> EntityId {
    EntityId::try_new(text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_waits_for_somebody_is_pursued_when_they_are_heard() {
    let wait = ScriptedTurn::call(
        "update_goal",
        json!({"goal": 1, "status": "waiting", "for": "Bob"}),
    );
    let home = Home::new([noop(), wait, noop(), noop(), say("The ring, Bob!"), noop()]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Bob", "good day").number(1).build())
        .await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let due = GoalMoment::At(home.clock.now());
    set_goal(&home, "give Bob the ring", due, None).await;
    live_on(&home, None).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(2_000)).await;
    assert_eq!(home.model.requests().len(), 3, "waiting costs nothing");
    life.accept(Perceive::whisper("Bob", "here I am").number(2).build())
        .await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.deeds(), ["say The ring, Bob!"]);
}

#[tokio::test(start_paused = true)]
async fn parts_are_shown_with_their_goal_and_the_last_one_that_is_done_completes_it() {
    let done = |goal: u32| {
        ScriptedTurn::call(
            "update_goal",
            json!({"goal": goal, "status": "done", "note": format!("part {goal} worked")}),
        )
    };
    let home = Home::new([done(2), noop(), done(3), noop()]);
    let due = GoalMoment::At(home.clock.now());
    set_goal(&home, "give a feast", GoalMoment::Never, None).await;
    set_goal(&home, "bake the bread", due, Some(ONE)).await;
    set_goal(&home, "call the guests", due, Some(ONE)).await;
    live_on(&home, None).await;
    let shown = home.last_shown();
    for line in [
        "> goal 1 (#1, priority 5, open, 1 of 2 parts done, trust 1.00): give a feast",
        ">   goal 3 (#3, priority 5, open, trust 1.00): call the guests",
    ] {
        // The last prompt of the turn shows the goal as it was when the turn began, or later.
        let first = home.model.requests()[2].clone();
        let first = crate::home::shown(&first);
        assert!(first.contains(line), "{line}\n{first}\n{shown}");
    }
    let goals = state(&home).await.goals;
    let closed: Vec<_> = goals.iter().map(|goal| goal.status.clone()).collect();
    assert_eq!(
        closed,
        [GoalStatus::Done, GoalStatus::Done, GoalStatus::Done]
    );
    assert_eq!(goals.progress(ONE), Some((2, 2)));
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_came_to_nothing_as_a_whole_is_divided_once_and_its_parts_are_done() {
    let part = |text: &str| ("add_goal", json!({"description": text}));
    let done =
        |goal: u32| ScriptedTurn::call("update_goal", json!({"goal": goal, "status": "done"}));
    let divided = ScriptedTurn::calls([part("bake the bread"), part("call the guests")]);
    let home = Home::with(
        ScriptedModel::new([noop(), divided, done(2), noop(), done(3), noop()])
            .then_for_ever(noop()),
    );
    let due = GoalMoment::At(home.clock.now());
    set_goal(&home, "give a feast", due, None).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(2_000)).await;
    life.end().await.unwrap();
    let contexts = || {
        let started = home.events().into_iter().filter_map(|event| match event {
            Event::TickStarted(it) => Some(it.context),
            _ => None,
        });
        started.collect::<Vec<_>>()
    };
    use ContextType::{GoalDecompose, TickAutonomous};
    let expected = [
        TickAutonomous,
        GoalDecompose,
        TickAutonomous,
        TickAutonomous,
    ];
    assert_eq!(contexts(), expected);
    let dividing = shown(&home.model.requests()[1]);
    assert!(
        dividing.contains("each with parent 1") && dividing.contains("give a feast"),
        "{dividing}"
    );
    let goals = state(&home).await.goals;
    let parts: Vec<_> = goals.children_of(ONE).map(|part| part.id.0).collect();
    assert_eq!(parts, [2, 3], "a part needs no parent named");
    assert_eq!(goals.get(ONE).unwrap().status, GoalStatus::Done);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn goals_take_no_more_of_a_prompt_than_they_may() {
    let home = Home::with(ScriptedModel::looping(noop()))
        .configured(|config| config.goals.prompt_tokens = 200);
    for number in 0..100 {
        let text = format!("gather the herb number {number} behind the old mill");
        set_goal(&home, &text, GoalMoment::Never, None).await;
    }
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let shown = home.last_shown();
    let lines = shown.matches("> goal ").count();
    assert!((1..20).contains(&lines), "{lines}");
    assert!(
        shown.contains(&format!("(and {} more)", 100 - lines)),
        "{shown}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_goal_made_of_what_is_forgotten_is_forgotten_and_calls_for_no_turn() {
    let goal = ScriptedTurn::call(
        "add_goal",
        json!({"description": "visit the marigold field", "repeats": "daily 01:00"}),
    );
    let mut home = Home::with(ScriptedModel::new([goal]).then_for_ever(noop()));
    let life = home.wake().await;
    let asked = "visit the marigold field every day";
    life.accept(Perceive::whisper("Alice", asked).build()).await;
    life.handle.at_rest().await;
    tokio::time::sleep(minutes(3 * 24 * 60)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let asked = home.model.requests().len();
    assert_eq!(asked, 5, "two for the message, and three days");
    let stored = home.log.events(&key());
    let heard = stored.iter().find(|stored| stored.kind == "perceived");
    let record = Origin::event(heard.unwrap().seq);
    home.log = without(&home.log, Selection::Record(record)).await.0;
    home.lose_memory();
    for stored in home.log.events(&key()) {
        let payload = String::from_utf8_lossy(&stored.payload).into_owned();
        assert!(!payload.contains("marigold"), "{} {payload}", stored.kind);
    }
    home.set_clock(100);
    let life = home.wake().await;
    tokio::time::sleep(minutes(3 * 24 * 60)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.model.requests().len(), asked);
}

#[tokio::test(start_paused = true)]
async fn what_a_note_of_a_goal_says_is_believed_no_more_after_another_one_replaced_it() {
    let update = |note: &str| ScriptedTurn::call("update_goal", json!({"goal": 1, "note": note}));
    let both = ScriptedTurn::calls([
        ("update_goal", json!({"goal": 1, "note": "it goes on"})),
        ("store_memory", json!({"text": "Carol stole the ring"})),
    ]);
    let home =
        Home::new([update("Carol stole the ring"), noop(), both, noop()]).configured(|config| {
            config.limits = config.limits.with_max_history(0).unwrap();
            config.memory_tokens = 0;
            config.privacy = Privacy::Shared;
            let trusts = &mut config.classify.trust_overrides;
            trusts.insert(id("player:Bob"), Trust::try_new(0.3).unwrap());
        });
    set_goal(&home, "find the ring", GoalMoment::Never, None).await;
    for (number, (name, words)) in [("Bob", "Carol stole the ring"), ("Alice", "who did it?")]
        .into_iter()
        .enumerate()
    {
        let life = home.wake().await;
        let heard = Perceive::whisper(name, words).number(number as u64 + 1);
        life.accept(heard.build()).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
    }
    let remembered = home.events().into_iter().find_map(|event| match event {
        Event::Remembered(it) => Some(it.trust),
        _ => None,
    });
    assert_eq!(remembered, Some(Trust::try_new(0.3).unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(24)))]
    #[test]
    fn whatever_a_model_does_with_goals_its_turns_are_few_and_every_life_is_decided_again(
        calls in proptest::collection::vec(calls(), 1..30),
    ) {
        let (requests, open) = in_virtual_time(life_with(calls));
        // A goal is pursued at most every ten minutes and at most twenty times; a recurring goal at most every five
        // minutes.
        prop_assert!(open <= 100 && requests < 12 * 24 * 30 * 6, "{requests}");
    }
}

/// A call of a tool for goals, sensible or not.
fn calls() -> impl Strategy<Value = (&'static str, Value)> {
    let goal = 0_u32..6;
    let moment = prop_oneof![
        Just(json!({})),
        Just(json!({"due_at": "2026-11-21T00:30:00Z"})),
        Just(json!({"due_at": "1999-01-01T00:00:00Z"})),
        Just(json!({"repeats": "every 30 minutes"})),
        Just(json!({"repeats": "daily 02:00"})),
    ];
    let status = prop_oneof![
        Just(json!({"status": "done"})),
        Just(json!({"status": "dropped", "note": "no"})),
        Just(json!({"status": "blocked", "note": "no"})),
        Just(json!({"status": "open"})),
        Just(json!({"status": "waiting", "until": "2026-11-21T05:00:00Z"})),
        Just(json!({"priority": 9})),
    ];
    prop_oneof![
        (goal.clone(), moment.clone()).prop_map(|(parent, mut arguments)| {
            arguments["description"] = json!("walk to the mill");
            if parent > 0 {
                arguments["parent"] = json!(parent);
            }
            ("add_goal", arguments)
        }),
        (goal.clone(), status).prop_map(|(goal, mut arguments)| {
            arguments["goal"] = json!(goal);
            ("update_goal", arguments)
        }),
        (goal.clone(), goal, moment).prop_map(|(goal, parent, mut arguments)| {
            arguments["goal"] = json!(goal);
            arguments["parent"] = json!(parent);
            ("update_goal", arguments)
        }),
        Just(("list_goals", json!({"status": "all"}))),
        Just(("noop", json!({}))),
    ]
}

async fn life_with(calls: Vec<(&'static str, Value)>) -> (usize, usize) {
    let turns = calls.into_iter();
    let turns = turns.map(|(tool, arguments)| ScriptedTurn::call(tool, arguments));
    let home = Home::with(ScriptedModel::new(turns).then_for_ever(noop()));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "walk to the mill").build())
        .await;
    for _ in 0..24 {
        life.handle.at_rest().await;
        tokio::time::sleep(minutes(60)).await;
    }
    life.end().await.unwrap();
    let goals = state(&home).await.goals;
    let mut depths = BTreeMap::new();
    for goal in goals.iter() {
        depths.insert(goal.id, goals.above(goal.id).count());
    }
    assert!(depths.values().all(|depth| *depth < 5), "{depths:?}");
    let open = goals.iter().filter(|goal| goal.is_open()).count();
    (home.model.requests().len(), open)
}
