//! Answers that are longer than one act may be.

use dormouse_engine::{ExecutionPattern, Rest, StopReason};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::Home;

/// A story of so many characters, more or less.
fn story(characters: usize) -> String {
    let sentence = "The kettle sang and nobody listened. ";
    sentence.repeat(characters / sentence.len() + 1)
}

/// The texts that were said, in order.
fn said(home: &Home) -> Vec<String> {
    let performed = home.world.performed().into_iter();
    let texts =
        performed.filter_map(|effect| effect.arguments["message"].as_str().map(str::to_owned));
    texts.collect()
}

fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

#[tokio::test(start_paused = true)]
async fn an_answer_longer_than_an_act_is_said_in_several_at_the_ends_of_sentences() {
    let text = story(5_000);
    for turn in [
        ScriptedTurn::call("say", json!({ "message": text })),
        ScriptedTurn::text(text.clone()),
        ScriptedTurn::Calls(vec![(
            "say".to_owned(),
            json!(json!({ "message": text }).to_string()).to_string(),
        )]),
        ScriptedTurn::text(json!({"tool": "say", "parameters": { "message": text }}).to_string()),
    ] {
        for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
            let turn = match &turn {
                ScriptedTurn::Calls(calls) => ScriptedTurn::Calls(calls.clone()),
                ScriptedTurn::Text(text) => ScriptedTurn::text(text.clone()),
                other => panic!("{other:?}"),
            };
            let home = Home::new([turn]).configured(|config| config.pattern = pattern);
            let rest = home.hear(Perceive::addressed("Alice", "tell me a long story").build());
            assert_eq!(rest.await, Rest::Settled);
            let said = said(&home);
            assert_eq!(said.len(), 2);
            assert!(
                said.iter()
                    .all(|part| part.len() <= 4_000 && part.ends_with("listened."))
            );
            assert_eq!(letters(&said.concat()), letters(&text), "nothing is lost");
            assert_eq!(home.stops(), [StopReason::TerminalTool]);
            home.model.assert_finished();
            home.no_protocol_was_broken();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_private_answer_in_several_acts_stays_with_the_one_who_asked() {
    let home = Home::new([ScriptedTurn::text(story(9_000))]);
    home.hear(Perceive::whisper("Alice", "tell me").build())
        .await;
    let performed = home.world.performed();
    assert_eq!(performed.len(), 3);
    for effect in performed {
        assert_eq!(effect.tool.as_str(), "whisper");
        assert_eq!(effect.arguments["to"], "Alice");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_longer_than_any_person_reads_is_cut_at_a_sentence_and_says_so() {
    for length in [40_000, 200_000, 1 << 20] {
        let home = Home::new([ScriptedTurn::text(story(length))]);
        let rest = home
            .hear(Perceive::addressed("Alice", "tell me everything").build())
            .await;
        assert_eq!(rest, Rest::Settled);
        let said = said(&home);
        assert_eq!(said.len(), 8, "{length}");
        let last = said.last().unwrap();
        assert!(
            last.ends_with("listened. … (There is more, but it is too long to say.)"),
            "{last}"
        );
        assert_eq!(home.stops(), [StopReason::TerminalTool]);
    }
}

/// Why a message ended without an answer, as the log has it.
fn cause(home: &Home) -> Option<serde_json::Value> {
    let mut events = home.events().into_iter();
    let unanswered = events.find(|event| event.kind() == "unanswered")?;
    unanswered.to_json().unwrap().get("cause").cloned()
}

#[tokio::test(start_paused = true)]
async fn what_the_world_refuses_of_a_long_answer_is_for_the_model_to_say_otherwise() {
    for refused in [2, 3, 4] {
        for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
            let short = ScriptedTurn::call("say", json!({"message": "In short: it sang."}));
            let home = Home::new([ScriptedTurn::text(story(15_000)), short])
                .configured(|config| config.pattern = pattern);
            (1..refused).for_each(|_| home.world.then(Behaviour::Do));
            home.world.then(Behaviour::Reject("enough".to_owned()));
            home.hear(Perceive::addressed("Alice", "tell me").build())
                .await;
            let said = said(&home);
            assert_eq!(
                said.len(),
                refused,
                "{pattern:?}: nothing behind the hole is said"
            );
            assert_eq!(said.last().unwrap(), "In short: it sang.");
            let shown = home.last_shown();
            assert!(shown.contains("enough"), "{shown}");
            if refused < 4 {
                assert!(shown.contains("do not repeat it"), "{shown}");
            }
            assert_eq!(cause(&home), None, "the rest was said after all");
            assert_eq!(home.stops().last(), Some(&StopReason::TerminalTool));
            home.no_protocol_was_broken();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_heard_only_the_beginning_of_an_answer_hears_that_there_is_more() {
    let noop = || ScriptedTurn::call("noop", json!({}));
    let look = || ScriptedTurn::call("inspect_location", json!({}));
    for after in [vec![noop()], vec![look(), noop()]] {
        let model =
            ScriptedModel::new([ScriptedTurn::text(story(15_000))].into_iter().chain(after));
        let home = Home::with(model);
        home.world.answer("inspect_location", json!({}));
        home.world.then(Behaviour::Do);
        home.world.then(Behaviour::Reject("enough".to_owned()));
        let rest = home.hear(Perceive::whisper("Alice", "tell me").build());
        assert_eq!(rest.await, Rest::Settled);
        let said = said(&home);
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(said[1], "There is more, but I could not say it.");
        assert_eq!(cause(&home), Some(json!("broken_off")));
        home.no_protocol_was_broken();
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_which_nobody_knows_whether_it_was_heard_leaves_the_word_with_the_model() {
    let short = ScriptedTurn::call("say", json!({"message": "And so on."}));
    let home = Home::new([ScriptedTurn::text(story(15_000)), short]);
    home.world.then(Behaviour::Do);
    home.world.then(Behaviour::DoneButUnanswered);
    home.world.cannot_tell(true);
    home.hear(Perceive::addressed("Alice", "tell me").build())
        .await;
    assert_eq!(said(&home).last().unwrap(), "And so on.");
    assert_eq!(cause(&home), None);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_world_breaks_off_every_time_comes_to_an_end_with_an_event() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(|_| {
            ScriptedTurn::text(story(15_000))
        })))
        .configured(|config| config.pattern = pattern);
        for _ in 0..20 {
            home.world.then(Behaviour::Do);
            home.world.then(Behaviour::Reject("enough".to_owned()));
        }
        let rest = home.hear(Perceive::addressed("Alice", "tell me").build());
        assert_eq!(rest.await, Rest::Settled);
        assert!(home.model.requests().len() <= 5);
        assert_eq!(cause(&home), Some(json!("broken_off")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_that_a_crash_interrupts_is_told_on_and_not_told_twice() {
    let home = Home::with(ScriptedModel::new([ScriptedTurn::text(story(15_000))]));
    home.world.then(Behaviour::Do);
    home.world.then(Behaviour::DoneButHangs);
    let life = home.wake().await;
    life.accept(Perceive::addressed("Alice", "tell me").build())
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    life.crash().await;
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let said = said(&home);
    assert_eq!(said.len(), 4);
    assert_eq!(letters(&said.concat()), letters(&story(15_000)));
}
