//! What the world prints for an effect belongs to its result, whether the output or the receipt comes first.

use std::time::Duration;

use dormouse_contracts::Perception;
use dormouse_engine::{Event, Rest};
use dormouse_testing::{Behaviour, Gate, Perceive, ScriptedTurn, effort};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};
use tokio::time;

use crate::home::{Home, Life, in_virtual_time};

fn walk() -> ScriptedTurn {
    ScriptedTurn::call("move", json!({"exit": "north"}))
}

fn home() -> Home {
    Home::new([
        walk(),
        ScriptedTurn::call("say", json!({"message": "A garden."})),
    ])
}

/// When the receipt of the act arrives, and what goes wrong meanwhile.
#[derive(Clone, Copy, Debug)]
struct Interleaving {
    /// How many of the deliveries the assistant takes in before the receipt comes.
    before: usize,
    /// Whether the answer is lost, so that the world is asked what became of the act.
    lost: bool,
    /// Whether the process is killed before the receipt comes.
    killed: bool,
    /// How many of the deliveries are handed over at once.
    batch: usize,
}

/// The result of a life: each message with its rule and verdict, and the results of the acts.
#[derive(Debug, PartialEq)]
struct Lived {
    perceived: Vec<(u64, String, String)>,
    results: Vec<String>,
}

fn lived(home: &Home) -> Lived {
    let mut lived = Lived {
        perceived: Vec::new(),
        results: Vec::new(),
    };
    for event in home.events() {
        match event {
            Event::Perceived(it) => lived.perceived.push((
                it.perception.attested.delivery.number,
                it.classification.rule.to_string(),
                it.classification.verdict.to_string(),
            )),
            Event::EffectSettled(settled) => lived.results.push(settled.content),
            _ => {}
        }
    }
    lived
}

/// Hands deliveries over, up to `batch` at the same time.
async fn hand_over(life: &Life, deliveries: &[Perception], batch: usize) {
    for together in deliveries.chunks(batch.max(1)) {
        let accepted = together.iter().map(|one| life.accept(one.clone()));
        futures_util::future::join_all(accepted).await;
    }
}

/// Lets the assistant do everything that it can do without a further delivery.
async fn idle() {
    time::sleep(Duration::from_millis(1)).await;
}

/// One life: Alice calls, the assistant moves, and the world prints `lines` among what others do.
async fn live(lines: Vec<Perceive>, how: Interleaving) -> Lived {
    let home = home();
    let gate = Gate::new();
    let printed = Behaviour::Print(lines);
    let answer = match how.lost {
        true => Behaviour::LoseAnswer(Box::new(printed)),
        false => printed,
    };
    home.world
        .then(Behaviour::AnswerLate(gate.clone(), Box::new(answer)));
    let call = home.world.happen(Perceive::whisper("Alice", "come"));
    let mut life = home.wake().await;
    life.accept(call).await;
    gate.reached().await;
    let feed = home.world.perceptions();
    let (early, late) = feed.split_at(feed.len().min(1 + how.before));
    hand_over(&life, early, how.batch).await;
    if how.killed {
        idle().await;
        life.crash().await;
        life = home.wake().await;
        // The world repeats deliveries that it does not know to be processed.
        hand_over(&life, early, how.batch).await;
    }
    gate.open();
    idle().await;
    hand_over(&life, late, how.batch).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.end().await.unwrap();
    lived(&home)
}

fn line() -> impl Strategy<Value = Perceive> {
    let text = select(vec![
        "The Garden",
        "People: Bob",
        "You feel cold.",
        "\u{17e}lu\u{165}",
    ]);
    (0..4, text).prop_map(|(kind, text)| match kind {
        0 => Perceive::say("Bob", text),
        1 => Perceive::movement("Bob", text),
        _ => Perceive::command_output(text),
    })
}

fn interleaving() -> impl Strategy<Value = Interleaving> {
    (0..8_usize, any::<bool>(), any::<bool>(), 1..5_usize).prop_map(
        |(before, lost, killed, batch)| Interleaving {
            before,
            lost,
            killed,
            batch,
        },
    )
}

const ALL_FIRST: Interleaving = Interleaving {
    before: usize::MAX - 1,
    lost: false,
    killed: false,
    batch: 1,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(96)))]

    #[test]
    fn the_same_life_is_captured_alike_whichever_comes_first(
        lines in prop::collection::vec(line(), 0..6),
        how in interleaving(),
    ) {
        let expected = in_virtual_time(live(lines.clone(), ALL_FIRST));
        prop_assert_eq!(in_virtual_time(live(lines, how)), expected);
    }
}

fn output_of(result: &str) -> Option<String> {
    let result: Value = serde_json::from_str(result).unwrap();
    result["output"].as_str().map(str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn the_result_of_an_act_holds_all_its_output_and_nothing_that_others_do() {
    let lines = vec![
        Perceive::command_output("The Garden"),
        Perceive::say("Bob", "Who is there?"),
        Perceive::command_output("People: Bob"),
        Perceive::say("Bob", "Oh, you."),
    ];
    let none_first = Interleaving {
        before: 0,
        ..ALL_FIRST
    };
    let lived = live(lines, none_first).await;
    assert_eq!(
        output_of(&lived.results[0]).as_deref(),
        Some("The Garden\nPeople: Bob\n")
    );
    let verdicts: Vec<_> = lived
        .perceived
        .iter()
        .map(|(number, rule, verdict)| format!("{number}: {rule} {verdict}"))
        .collect();
    assert_eq!(
        verdicts,
        [
            "1: 3 trigger",
            "2: 1b capture",
            "3: 6 context",
            "4: 1b capture",
            "5: 6 context"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_carries_the_output_is_taken_at_once() {
    let home = home();
    home.world
        .then(Behaviour::DoWith(json!({"room": "The Garden"})));
    let call = home.world.happen(Perceive::whisper("Alice", "come"));
    let before = time::Instant::now();
    home.hear(call).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    assert!(home.last_shown().contains("The Garden"));
}

#[tokio::test(start_paused = true)]
async fn output_that_nobody_caused_is_context() {
    let home = home();
    let call = home.world.happen(Perceive::whisper("Alice", "come"));
    let forced = Perceive::command_output("You hiccup.");
    home.world.then(Behaviour::Print(Vec::new()));
    let forced = home.world.happen(forced);
    let life = home.wake().await;
    life.accept(call).await;
    life.accept(forced).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let lived = lived(&home);
    assert_eq!(lived.perceived[1].1, "1c");
    assert!(lived.results.iter().all(|it| output_of(it).is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_world_that_never_delivers_what_it_marks_delays_an_answer_and_loses_no_line() {
    let home = home();
    home.world.then(Behaviour::Print(vec![
        Perceive::command_output("The Garden"),
        Perceive::command_output("People: Bob"),
    ]));
    let call = home.world.happen(Perceive::whisper("Alice", "come"));
    let life = home.wake().await;
    life.accept(call).await;
    while home.world.perceptions().len() < 3 {
        idle().await;
    }
    let feed = home.world.perceptions();
    life.accept(feed[1].clone()).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(
        output_of(&lived(&home).results[0]).as_deref(),
        Some("The Garden\n")
    );
    // Output that comes too late is shown as something that happened.
    life.accept(feed[2].clone()).await;
    let state = life.handle.inspect().await.unwrap();
    let overheard: Vec<_> = state
        .overheard
        .iter()
        .map(|heard| heard.perception.words.as_claimed())
        .collect();
    assert_eq!(overheard, ["People: Bob"]);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn long_output_is_kept_as_far_as_there_is_room() {
    let story = "\u{17e}lu\u{165} ".repeat(4_000);
    let lived = live(vec![Perceive::command_output(&story)], ALL_FIRST).await;
    let output = output_of(&lived.results[0]).unwrap();
    assert!(output.starts_with("\u{17e}lu\u{165}") && output.contains("the output goes on"));
    assert!(output.len() < 10_000);
}
