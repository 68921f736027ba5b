//! Each message ends with an answer, or with an event that gives the reason for its absence.

use std::collections::BTreeMap;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{
    Audience, EntityId, ModelErrorKind, Outcome, Seq, SourceKind, ToolCategory,
};
use dormouse_engine::{
    Activity, EffectIntended, Event, ExecutionPattern, State, ToolCalling, UnansweredCause,
};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time;

use crate::home::{Home, in_virtual_time, key, minutes, shown};

fn speak(text: &str) -> (&'static str, Value) {
    ("say", json!({ "message": text }))
}

fn look() -> (&'static str, Value) {
    ("inspect_location", json!({}))
}

fn causes(home: &Home) -> Vec<UnansweredCause> {
    let events = home.events().into_iter();
    let causes = events.filter_map(|event| match event {
        Event::Unanswered(it) => Some(it.cause),
        _ => None,
    });
    causes.collect()
}

fn at_home(model: ScriptedModel) -> Home {
    let home = Home::with(model).without_a_loop_guard();
    home.world
        .answer("inspect_location", json!({"room": "Attic"}));
    home
}

#[tokio::test(start_paused = true)]
async fn the_model_learns_that_a_step_is_its_last() {
    let home = at_home(ScriptedModel::looping(ScriptedTurn::with(
        |request| match shown(request).contains("This is your last step") {
            true => ScriptedTurn::calls([speak("An attic.")]),
            false => ScriptedTurn::calls([look()]),
        },
    )));
    home.hear(Perceive::addressed("Alice", "where are we?").build())
        .await;
    assert_eq!(home.deeds(), ["say An attic."]);
    assert_eq!(
        (home.model.requests().len(), causes(&home)),
        (5, Vec::new())
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_last_step_needs_no_apology_if_a_look_up_after_it_is_not_made() {
    let last = || ScriptedTurn::calls([speak("An attic."), look()]);
    let home = at_home(ScriptedModel::looping(ScriptedTurn::with(
        move |request| match request
            .tools
            .iter()
            .any(|tool| tool.name.as_str() == "inspect_location")
        {
            true => ScriptedTurn::calls([look()]),
            false => last(),
        },
    )));
    home.hear(Perceive::addressed("Alice", "where are we?").build())
        .await;
    assert_eq!(home.deeds(), ["say An attic."]);
    assert_eq!(causes(&home), []);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_prints_too_many_calls_learns_how_many_were_not_done() {
    let print =
        |text: &str| format!(r#"{{"tool": "store_memory", "parameters": {{"text": "{text}"}}}}"#);
    let many: Vec<_> = (0..11)
        .map(|number| print(&format!("fact {number}")))
        .collect();
    let answer = r#"{"tool": "say", "parameters": {"message": "Noted."}}"#;
    let home = at_home(ScriptedModel::new([
        ScriptedTurn::text(many.join("\n")),
        ScriptedTurn::text(answer),
    ]))
    .configured(|config| config.tool_calling = ToolCalling::Fallback);
    home.hear(Perceive::addressed("Alice", "note all that").build())
        .await;
    assert!(
        home.last_shown()
            .contains("(3 more calls of this reply were not done")
    );
    assert_eq!(home.deeds(), ["say Noted."]);
}

#[tokio::test(start_paused = true)]
async fn chosen_silence_is_an_event_and_counted_and_says_nothing_to_the_sender() {
    let home = at_home(ScriptedModel::looping(ScriptedTurn::call(
        "noop",
        json!({}),
    )));
    let life = home.wake().await;
    life.accept(Perceive::addressed("Alice", "do not answer").build())
        .await;
    life.handle.at_rest().await;
    assert_eq!(causes(&home), [UnansweredCause::Silence]);
    assert_eq!(life.handle.status().unanswered, 1);
    assert_eq!(home.deeds(), Vec::<String>::new());
    assert!(!life.handle.inspect().await.unwrap().stop.is_on());
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_nobody_knows_whether_it_was_heard_is_reported_and_not_repeated() {
    let home = at_home(ScriptedModel::looping(ScriptedTurn::calls([speak("hi")])));
    home.world.then(Behaviour::DoneButUnanswered);
    home.world.cannot_tell(true);
    home.hear(Perceive::addressed("Alice", "hello").build())
        .await;
    assert_eq!(causes(&home), [UnansweredCause::Unknown]);
    assert!(home.deeds().len() <= 1);
}

/// A reply of a random model.
fn reply(kind: u8) -> ScriptedTurn {
    let note = ("store_memory", json!({"text": "the key is red"}));
    let recall = ("recall_memories", json!({"query": "key"}));
    let step = ("move", json!({"exit": "north"}));
    let blast = ("detonate", json!({}));
    let sing = ("sing", json!({}));
    let noop = ("noop", json!({}));
    let to = |tool, name: &str| (tool, json!({"to": name, "message": "hello"}));
    match kind % 24 {
        20 => ScriptedTurn::calls([to("whisper", "Bob")]),
        21 => ScriptedTurn::calls([to("whisper", "Alice")]),
        22 => ScriptedTurn::calls([to("page", "Alice")]),
        23 => ScriptedTurn::calls([step, speak("out here")]),
        0 | 1 => ScriptedTurn::calls([speak("hello")]),
        2 => ScriptedTurn::calls([speak("Let me look."), look()]),
        3 => ScriptedTurn::calls([look()]),
        4 => ScriptedTurn::calls([note]),
        5 => ScriptedTurn::calls([recall]),
        6 => ScriptedTurn::calls([step]),
        7 => ScriptedTurn::calls([blast]),
        8 => ScriptedTurn::calls([sing]),
        9 => ScriptedTurn::calls([noop]),
        10 => ScriptedTurn::calls([noop, speak("and yet")]),
        11 => ScriptedTurn::calls((0..8).map(|_| look())),
        12 => ScriptedTurn::calls([speak("one"), speak("two")]),
        13 => ScriptedTurn::calls([note, recall, look(), speak("so")]),
        14 => ScriptedTurn::text(""),
        15 => ScriptedTurn::text("plain words"),
        16 => ScriptedTurn::Fail(ModelErrorKind::Refused),
        17 => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
        18 => ScriptedTurn::Fail(ModelErrorKind::RateLimited(None)),
        _ => ScriptedTurn::calls([("say", json!({"message": 7}))]),
    }
}

fn behaviour(kind: u8) -> Behaviour {
    match kind % 5 {
        0 => Behaviour::DoneButUnanswered,
        1 => Behaviour::Reject("no".to_owned()),
        2 => Behaviour::NotReached,
        3 => Behaviour::LostBeforeDoing,
        _ => Behaviour::Do,
    }
}

/// How a message ended.
#[derive(Debug, Default)]
struct Ending {
    /// Whether the sender heard something, or an act that ends the loop was done.
    is_answered: bool,
    /// Whether it was paged, from wherever the sender is.
    is_paged: bool,
    /// Whether the assistant has gone elsewhere since.
    has_moved: bool,
    is_reported: bool,
    is_closed: bool,
}

/// Where Alice is while she waits for an answer, as attested by the world.
#[derive(Clone, Copy, Debug)]
enum Listener {
    /// Always where the assistant is.
    Here,
    /// Elsewhere.
    Away,
    /// The world does not say.
    Unattested,
}

impl Listener {
    fn hears(self, said: &EffectIntended, ending: &Ending) -> bool {
        match (said.tool.as_str(), self) {
            ("whisper" | "page", _) => said.arguments["to"] == "Alice",
            ("say", Self::Here) => true,
            ("say", Self::Away) => false,
            ("say", Self::Unattested) => !ending.is_paged && !ending.has_moved,
            (_, _) => matches!(
                said.category,
                ToolCategory::Terminal | ToolCategory::Dangerous
            ),
        }
    }
}

/// How each message ended, by its place in the log.
fn endings(home: &Home, listener: Listener) -> BTreeMap<Seq, Ending> {
    let mut endings = BTreeMap::<Seq, Ending>::new();
    let mut current = Seq(0);
    let mut intended = BTreeMap::new();
    for stored in home.log.events(&key()) {
        let seq = stored.seq;
        match Event::decode(&stored).unwrap() {
            Event::Perceived(it) if it.classification.verdict == MessageVerdict::Trigger => {
                let is_paged = it.perception.attested.source == SourceKind::Page;
                let ending = Ending {
                    is_paged,
                    ..Ending::default()
                };
                endings.insert(seq, ending);
            }
            Event::TickStarted(it) => current = it.trigger,
            Event::EffectIntended(it) => {
                intended.insert(it.key.clone(), it);
            }
            Event::EffectSettled(it) => {
                let (ending, act) = (endings.get_mut(&current).unwrap(), &intended[&it.key]);
                let is_done = matches!(it.outcome, Outcome::Done(_));
                ending.is_answered |= is_done && listener.hears(act, ending);
                let may_be_done = !matches!(it.outcome, Outcome::Rejected(_));
                ending.has_moved |= may_be_done && act.tool.as_str() == "move";
            }
            Event::Unanswered(it) => endings.get_mut(&it.trigger).unwrap().is_reported = true,
            Event::TickEnded(it) if it.resume_at.is_none() => {
                endings.get_mut(&current).unwrap().is_closed = true;
            }
            _ => {}
        }
    }
    endings
}

/// Whether this message waits, and for what.
fn waits(state: &State, activity: &Activity, seq: Seq) -> bool {
    let open = state.turns.open().map(|turn| turn.trigger_seq());
    let mut all = open.chain(state.turns.waiting().map(|trigger| trigger.seq()));
    all.any(|waiting| waiting == seq) && *activity != Activity::Idle
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(256)))]

    #[test]
    fn each_accepted_message_ends_answered_or_reported_or_waits_for_a_reason(
        replies in prop::collection::vec(any::<u8>(), 1..30),
        behaviours in prop::collection::vec(any::<u8>(), 0..8),
        keeps_records in any::<bool>(),
        pattern in prop_oneof![
            Just(ExecutionPattern::ReactLoop),
            Just(ExecutionPattern::SingleAction),
        ],
        restart_after in 1_usize..5,
        ways in prop::collection::vec(0_u8..3, 5),
        listener in prop_oneof![
            Just(Listener::Here),
            Just(Listener::Away),
            Just(Listener::Unattested),
        ],
    ) {
        in_virtual_time(async {
            let turns = replies.clone();
            let next = std::sync::atomic::AtomicUsize::new(0);
            let model = ScriptedModel::looping(ScriptedTurn::with(move |_| {
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                reply(turns[at % turns.len()])
            }));
            let home = at_home(model).configured(|config| config.pattern = pattern).where_one_can_page();
            let alice = || EntityId::try_new("player:Alice").unwrap();
            match listener {
                Listener::Here => home.world.listen(Audience::of([alice()]).unwrap()),
                Listener::Away => home.world.listen(Audience::nobody()),
                Listener::Unattested => {}
            }
            behaviours.iter().for_each(|kind| home.world.then(behaviour(*kind)));
            home.world.cannot_tell(!keeps_records);
            let mut life = home.wake().await;
            for number in 1..=5_usize {
                let said = match ways[number - 1] {
                    0 => Perceive::whisper("Alice", "hello"),
                    1 => Perceive::page("Alice", "hello"),
                    _ => Perceive::addressed("Alice", "hello"),
                };
                life.accept(said.number(number as u64).build()).await;
                time::sleep(minutes(number as u64 % 3)).await;
                if number == restart_after {
                    life.crash().await;
                    life = home.wake().await;
                }
            }
            time::sleep(minutes(30)).await;
            let state = life.handle.inspect().await.unwrap();
            let activity = life.handle.status().activity;
            let endings = endings(&home, listener);
            prop_assert_eq!(endings.len(), 5);
            let reported = endings.values().filter(|ending| ending.is_reported).count();
            prop_assert_eq!(state.counts.unanswered, reported as u64);
            for (seq, ending) in endings {
                let is_over = ending.is_closed && (ending.is_answered || ending.is_reported);
                let is_open = !ending.is_closed && waits(&state, &activity, seq);
                prop_assert!(is_over || is_open, "event {}: {:?} {:?}", seq, ending, activity);
            }
            Ok(())
        })?;
    }
}
