//! From a message to an answer: the tick, the loop, and the reasons to stop.

use dormouse_engine::{Event, ExecutionPattern, Rest, StopReason, Verdict};
use dormouse_testing::{Gate, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time;

use crate::home::{Home, minutes};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

#[tokio::test(start_paused = true)]
async fn a_message_is_answered_once_and_the_answer_ends_the_loop() {
    let home = Home::new([say("Hello, Alice.")]);
    assert_eq!(
        home.hear(Perceive::addressed("Alice", "hello").build())
            .await,
        Rest::Settled
    );
    assert_eq!(home.deeds(), ["say Hello, Alice."]);
    assert_eq!(home.stops(), [StopReason::TerminalTool]);
    home.model.assert_finished();
}

#[tokio::test(start_paused = true)]
async fn without_a_reason_the_model_is_never_called() {
    let home = Home::new([]);
    let life = home.wake().await;
    life.accept(Perceive::say("Alice", "nice weather").build())
        .await;
    time::sleep(minutes(60)).await;
    assert!(
        home.model.requests().is_empty(),
        "an idle hour costs nothing"
    );
    let status = life.handle.status();
    assert!(
        status.skipped.idle >= 700,
        "its ticks came and were skipped: {:?}",
        status.skipped
    );
    assert_eq!(status.ticks, 0);
    assert_eq!(
        home.events().len(),
        1,
        "and nothing was written but the overheard line"
    );
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn messages_are_answered_in_the_order_they_came() {
    let answer = ScriptedTurn::with(|request| {
        let text = crate::home::shown(request);
        say(text.rsplit("> ").next().unwrap_or_default())
    });
    let home = Home::with(ScriptedModel::looping(answer));
    let life = home.wake().await;
    for number in 1..=5 {
        life.accept(
            Perceive::whisper("Alice", &format!("message {number}"))
                .number(number)
                .build(),
        )
        .await;
    }
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let expected: Vec<_> = (1..=5).map(|n| format!("say message {n}")).collect();
    assert_eq!(home.deeds(), expected);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_message_is_accepted_while_the_model_thinks() {
    let gate = Gate::new();
    let home = Home::new([ScriptedTurn::after(&gate, say("first")), say("second")]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "one").number(1).build())
        .await;
    gate.reached().await;
    life.accept(Perceive::whisper("Bob", "two").number(2).build())
        .await;
    assert_eq!(life.handle.status().waiting, 2);
    gate.open();
    life.handle.at_rest().await;
    assert_eq!(home.deeds(), ["say first", "say second"]);
}

#[tokio::test(start_paused = true)]
async fn a_look_and_an_answer_are_two_steps_of_one_turn() {
    let home = Home::new([
        ScriptedTurn::call("inspect_location", json!({})),
        say("A room."),
    ]);
    home.world
        .answer("inspect_location", json!({"room": "Common Room"}));
    home.hear(Perceive::addressed("Alice", "where are we?").build())
        .await;
    assert!(
        home.last_shown().contains("Common Room"),
        "{}",
        home.last_shown()
    );
    assert_eq!(home.deeds(), ["say A room."]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn each_stop_reason_ends_the_loop() {
    let look = || ScriptedTurn::call("inspect_location", json!({}));
    let cases: Vec<(Vec<ScriptedTurn>, StopReason)> = vec![
        (
            vec![ScriptedTurn::call("noop", json!({}))],
            StopReason::Noop,
        ),
        (
            vec![
                look(),
                ScriptedTurn::call("noop", json!({"reason": "done"})),
            ],
            StopReason::Noop,
        ),
        (vec![say("hi")], StopReason::TerminalTool),
        (
            vec![ScriptedTurn::call("detonate", json!({"thing": "balloon"}))],
            StopReason::DangerousTool,
        ),
        ((0..5).map(|_| look()).collect(), StopReason::MaxIterations),
    ];
    for (turns, reason) in cases {
        let home = Home::new(turns).without_a_loop_guard();
        home.world.answer("inspect_location", json!({}));
        home.hear(Perceive::whisper("Alice", "go on").build()).await;
        assert_eq!(home.stops(), [reason]);
        home.model.assert_finished();
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_context_window_leaves_the_model_one_last_word() {
    let look = || ScriptedTurn::call("inspect_location", json!({}));
    for (last, stop) in [
        (say("It is large."), StopReason::TerminalTool),
        (look(), StopReason::CriticalTokens),
    ] {
        let home = Home::new([look(), last]).configured(|config| {
            config.limits = config.limits.with_max_context_tokens(2_048).unwrap();
        });
        home.world
            .answer("inspect_location", json!({"room": "w ".repeat(1_600)}));
        home.hear(Perceive::whisper("Alice", "look").build()).await;
        assert_eq!(home.stops(), [stop]);
        assert!(home.last_shown().contains("Provide final response now"));
        home.model.assert_finished();
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_when_the_window_fills() {
    let window = 8_192;
    for (percent, advice) in [
        (10, None),
        (58, Some("Consider concluding soon")),
        (75, Some("Provide final response now")),
    ] {
        let home = Home::new([
            ScriptedTurn::call("inspect_location", json!({})),
            say("done"),
        ])
        .configured(|config| {
            config.limits = config.limits.with_max_context_tokens(window).unwrap();
        });
        let words = window as usize * percent / 100;
        home.world
            .answer("inspect_location", json!({"room": "w ".repeat(words)}));
        home.hear(Perceive::whisper("Alice", "look").build()).await;
        let content = home.events().into_iter().find_map(|event| match event {
            Event::ToolAnswered(answered) => Some(answered.content),
            _ => None,
        });
        let content: serde_json::Value = serde_json::from_str(&content.unwrap()).unwrap();
        assert_eq!(
            content.get("advisory").and_then(|advice| advice.as_str()),
            advice,
            "{percent} %"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn calls_after_a_dangerous_one_are_not_made_but_answered() {
    let both = ScriptedTurn::calls([
        ("detonate", json!({"thing": "balloon"})),
        ("say", json!({"message": "two"})),
    ]);
    let home = Home::new([both, say("three")]);
    home.hear(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    assert_eq!(home.deeds(), ["detonate"]);
    home.hear(Perceive::whisper("Alice", "again").number(2).build())
        .await;
    assert!(
        home.last_shown().contains("not done"),
        "the model learns that its second call was not made"
    );
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn plain_text_of_a_native_model_is_said_the_way_it_was_spoken_to() {
    let home = Home::new([
        ScriptedTurn::text("Psst."),
        ScriptedTurn::text("Hello all."),
    ]);
    home.hear(Perceive::whisper("Alice", "secret").number(1).build())
        .await;
    home.hear(Perceive::addressed("Alice", "hello").number(2).build())
        .await;
    assert_eq!(home.deeds(), ["whisper Psst.", "say Hello all."]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_model_that_always_calls_tools_is_stopped() {
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::call(
        "inspect_location",
        json!({}),
    )))
    .without_a_loop_guard();
    home.world.answer("inspect_location", json!({}));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    time::sleep(minutes(600)).await;
    assert_eq!(
        home.model.requests().len(),
        5,
        "five steps for one message, and never another"
    );
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_one_reply_are_bounded_like_steps() {
    let walk = || ("move", json!({"exit": "north"}));
    let many = move || ScriptedTurn::calls((0..8).map(|_| walk()));
    for (pattern, acts) in [
        (ExecutionPattern::ReactLoop, 5),
        (ExecutionPattern::SingleAction, 1),
    ] {
        let home = Home::new([many(), say("enough")]).configured(|config| config.pattern = pattern);
        let life = home.wake().await;
        life.accept(Perceive::whisper("Alice", "run").build()).await;
        time::sleep(std::time::Duration::from_secs(1)).await;
        let walks = home.deeds().iter().filter(|deed| *deed == "move").count();
        assert_eq!(walks, acts);
        let results = home.events().into_iter().filter_map(|event| match event {
            Event::ToolAnswered(answered) => Some(answered.verdict),
            _ => None,
        });
        assert_eq!(
            results
                .filter(|verdict| *verdict == Verdict::Skipped)
                .count(),
            8 - acts
        );
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_assistant_wakes_nobody_who_watches_it() {
    let home = Home::new([]);
    let mut life = home.wake().await;
    time::sleep(minutes(1)).await;
    while time::timeout(minutes(0), life.handle.status_changed())
        .await
        .is_ok()
    {}
    let changed = time::timeout(minutes(60), life.handle.status_changed()).await;
    assert!(changed.is_err(), "{changed:?}");
}
