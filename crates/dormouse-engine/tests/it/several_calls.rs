//! Several calls in one reply: words before a query only announce an answer, and everything that is said is heard.

use dormouse_engine::{ExecutionPattern, Rest, StopReason, ToolCalling};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::home::Home;

const SORRY: &str = "say Sorry, I could not find an answer to that.";

type Call = (&'static str, Value);

fn say(text: &str) -> Call {
    ("say", json!({"message": text}))
}

fn look() -> Call {
    ("inspect_location", json!({}))
}

fn walk() -> Call {
    ("move", json!({"exit": "north"}))
}

fn note() -> Call {
    ("store_memory", json!({"text": "Alice asked."}))
}

fn detonate() -> Call {
    ("detonate", json!({"thing": "balloon"}))
}

/// An assistant whose model replies so, one reply after the other.
fn replying(replies: impl IntoIterator<Item = Vec<Call>>) -> Home {
    let home = Home::new(replies.into_iter().map(ScriptedTurn::calls));
    home.world
        .answer("inspect_location", json!({"room": "Cellar"}));
    home
}

async fn ask(home: &Home) {
    let rest = home.hear(Perceive::addressed("Alice", "where?").build());
    assert_eq!(rest.await, Rest::Settled);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn words_before_a_look_up_announce_the_answer_that_follows_its_result() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let first = vec![say("Let me look around first."), look()];
        // If each tick makes one action, the model makes the query in the next tick.
        let replies = match pattern {
            ExecutionPattern::ReactLoop => vec![first, vec![say("A cellar.")]],
            ExecutionPattern::SingleAction => vec![first, vec![look()], vec![say("A cellar.")]],
        };
        let home = replying(replies).configured(|config| config.pattern = pattern);
        ask(&home).await;
        assert_eq!(
            home.deeds(),
            ["say Let me look around first.", "say A cellar."]
        );
        assert!(home.last_shown().contains("Cellar"));
        assert_eq!(home.stops().last(), Some(&StopReason::TerminalTool));
        home.model.assert_finished();
    }
}

#[tokio::test(start_paused = true)]
async fn all_that_one_reply_says_is_heard_in_order() {
    let listened = || ("whisper", json!({"to": "Alice", "message": "both"}));
    let replies: [(Vec<Call>, Vec<&str>); 4] = [
        (
            vec![say("First half,"), say("second half.")],
            vec!["say First half,", "say second half."],
        ),
        (
            vec![say("Hello."), listened()],
            vec!["say Hello.", "whisper both"],
        ),
        (
            vec![say("I go."), walk(), say("I am back.")],
            vec!["say I go.", "move", "say I am back."],
        ),
        (
            vec![say("Let me look."), look(), say("A room.")],
            vec!["say Let me look.", "say A room."],
        ),
    ];
    for (reply, heard) in replies {
        let home = replying([reply]);
        ask(&home).await;
        assert_eq!(home.deeds(), heard);
        assert_eq!(home.stops(), [StopReason::TerminalTool]);
        home.model.assert_finished();
    }
}

#[tokio::test(start_paused = true)]
async fn several_words_in_a_row_are_one_action() {
    let home = replying([vec![say("First half,"), say("second half.")]])
        .configured(|config| config.pattern = ExecutionPattern::SingleAction);
    ask(&home).await;
    assert_eq!(home.deeds(), ["say First half,", "say second half."]);
}

#[tokio::test(start_paused = true)]
async fn calls_printed_as_text_are_all_carried_out_too() {
    let printed = |calls: &[Call]| {
        let calls = calls
            .iter()
            .map(|(tool, parameters)| json!({"tool": tool, "parameters": parameters}).to_string());
        ScriptedTurn::text(calls.collect::<Vec<_>>().join("\n"))
    };
    let home = Home::new([
        printed(&[say("Let me"), say("look."), look()]),
        printed(&[say("A cellar.")]),
    ])
    .configured(|config| config.tool_calling = ToolCalling::Fallback);
    home.world
        .answer("inspect_location", json!({"room": "Cellar"}));
    ask(&home).await;
    assert_eq!(home.deeds(), ["say Let me", "say look.", "say A cellar."]);
}

#[tokio::test(start_paused = true)]
async fn what_a_reply_notes_or_does_after_speaking_is_done_unless_it_is_dangerous() {
    let home = replying([vec![say("Noted."), note(), detonate()]]);
    ask(&home).await;
    assert_eq!(home.deeds(), ["say Noted."]);
    assert!(home.events().iter().any(|it| it.kind() == "remembered"));
    assert_eq!(home.stops(), [StopReason::TerminalTool]);
}

#[tokio::test(start_paused = true)]
async fn a_half_that_the_world_refuses_is_for_the_model_to_say_otherwise() {
    let halves = || vec![say("First half,"), say("second half.")];
    for (refused, heard) in [
        (0, vec!["say In short."]),
        (1, vec!["say First half,", "say In short."]),
    ] {
        let home = replying([halves(), vec![say("In short.")]]);
        (0..refused).for_each(|_| home.world.then(Behaviour::Do));
        home.world.then(Behaviour::Reject("too loud".to_owned()));
        ask(&home).await;
        assert_eq!(home.deeds(), heard);
        home.model.assert_finished();
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_announces_for_ever_ends_with_a_word() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let model = ScriptedModel::looping(ScriptedTurn::with(|request| {
            match request
                .tools
                .iter()
                .any(|tool| tool.name.as_str() == "inspect_location")
            {
                true => ScriptedTurn::calls([say("Let me look."), look()]),
                false => ScriptedTurn::calls([look()]),
            }
        }));
        let home = Home::with(model).configured(|config| config.pattern = pattern);
        home.world.answer("inspect_location", json!({}));
        ask(&home).await;
        assert!(home.model.requests().len() <= 5);
        assert_eq!(home.deeds().last().unwrap(), SORRY);
    }
}

#[tokio::test(start_paused = true)]
async fn one_reply_speaks_eight_times_at_most_and_repeats_nothing() {
    let lines = (1..=20).flat_map(|number| {
        let line = say(&format!("line {number}"));
        // With or without another call between them.
        [line.clone(), line, walk()]
            .into_iter()
            .take(if number % 2 == 0 { 3 } else { 2 })
    });
    let home = replying([lines.collect(), vec![("noop", json!({}))]]);
    let home = home.configured(|config| {
        config.limits = config.limits.with_max_iterations(10).unwrap();
    });
    ask(&home).await;
    let said: Vec<_> = home
        .deeds()
        .into_iter()
        .filter(|deed| deed.starts_with("say line"))
        .collect();
    let expected: Vec<_> = (1..=8).map(|number| format!("say line {number}")).collect();
    assert_eq!(said, expected);
}

#[tokio::test(start_paused = true)]
async fn a_kill_within_a_reply_of_several_calls_repeats_nothing_and_loses_nothing() {
    for act in 0..3 {
        let first = vec![say("One,"), say("two."), look()];
        let home = replying([first, vec![say("A cellar.")]]);
        (0..act).for_each(|_| home.world.then(Behaviour::Do));
        home.world.then(Behaviour::DoneButHangs);
        let life = home.wake().await;
        life.accept(Perceive::addressed("Alice", "where?").build())
            .await;
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        life.crash().await;
        let life = home.wake().await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        assert_eq!(home.deeds(), ["say One,", "say two.", "say A cellar."]);
    }
}

#[tokio::test(start_paused = true)]
async fn words_after_a_noop_in_the_same_reply_are_said() {
    for before in [vec![], vec![look()]] {
        let noop = ("noop", json!({"reason": "nothing to do"}));
        let reply = [before, vec![noop, say("A cellar.")]].concat();
        let home = replying([reply]);
        ask(&home).await;
        assert_eq!(home.deeds(), ["say A cellar."]);
        assert_eq!(home.model.requests().len(), 1);
    }
}
