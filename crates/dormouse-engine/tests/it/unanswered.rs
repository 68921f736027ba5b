//! No message ends without an answer or a notice, unless the model chose to be silent.

use dormouse_contracts::{ChatReply, FinishReason, Outcome};
use dormouse_engine::{
    Event, ExecutionPattern, Rest, StopReason, ToolCalling, UnansweredCause, Verdict,
};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::home::{Home, in_virtual_time, shown};

const SORRY: &str = "Sorry, I could not find an answer to that.";

fn look() -> ScriptedTurn {
    ScriptedTurn::call("inspect_location", json!({}))
}

/// A model that looks around as long as it may, and then says something.
fn curious() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let offered = request.tools.iter().map(|tool| tool.name.as_str());
        if offered.clone().any(|tool| tool == "inspect_location") {
            look()
        } else {
            let mut offered: Vec<_> = offered.collect();
            offered.sort_unstable();
            assert_eq!(offered, ["noop", "say", "whisper"]);
            ScriptedTurn::call("say", json!({"message": "A room."}))
        }
    }))
}

fn at_home(model: ScriptedModel) -> Home {
    let home = Home::with(model).without_a_loop_guard();
    home.world
        .answer("inspect_location", json!({"room": "Cellar"}));
    home
}

#[tokio::test(start_paused = true)]
async fn at_its_last_step_the_model_is_offered_nothing_but_speech() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let home = at_home(curious()).configured(|config| config.pattern = pattern);
        let rest = home.hear(Perceive::addressed("Alice", "where are we?").build());
        assert_eq!(rest.await, Rest::Settled);
        assert_eq!(home.deeds(), ["say A room."], "{pattern:?}");
        assert_eq!(home.model.requests().len(), 5);
        assert!(home.last_shown().contains("Provide final response now"));
        home.no_protocol_was_broken();
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_fill_the_tick_in_one_reply_leave_a_step_to_speak() {
    let many = ScriptedTurn::calls((0..8).map(|_| ("inspect_location", json!({}))));
    let home = at_home(ScriptedModel::new([many]).then_for_ever(ScriptedTurn::text("A room.")));
    home.hear(Perceive::addressed("Alice", "where?").build())
        .await;
    assert_eq!(home.deeds(), ["say A room."]);
    assert_eq!(home.world.queries().len(), 5);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn in_fallback_form_too_only_speech_is_listed_at_the_last_step() {
    let home = at_home(ScriptedModel::looping(ScriptedTurn::with(|request| {
        if shown(request).contains("\"name\":\"inspect_location\"") {
            ScriptedTurn::text(r#"{"tool": "inspect_location", "parameters": {}}"#)
        } else {
            ScriptedTurn::text(r#"{"tool": "say", "parameters": {"message": "A room."}}"#)
        }
    })))
    .configured(|config| config.tool_calling = ToolCalling::Fallback);
    home.hear(Perceive::addressed("Alice", "where?").build())
        .await;
    assert_eq!(home.deeds(), ["say A room."]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_speaks_leaves_a_word_to_whoever_asked() {
    for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
        let home =
            at_home(ScriptedModel::looping(look())).configured(|config| config.pattern = pattern);
        let rest = home.hear(Perceive::whisper("Alice", "where?").build());
        assert_eq!(rest.await, Rest::Settled);
        assert_eq!(home.deeds(), [format!("whisper {SORRY}")]);
        assert_eq!(home.stops().last(), Some(&StopReason::MaxIterations));
        assert_eq!(
            home.world.queries().len(),
            4,
            "what was not offered is not done"
        );
        assert!(
            home.events()
                .iter()
                .any(|event| event.kind() == "unanswered")
        );
    }
}

fn speak(text: &str) -> (&'static str, serde_json::Value) {
    ("say", json!({ "message": text }))
}

fn look_up(tool: &'static str) -> (&'static str, serde_json::Value) {
    let arguments = match tool {
        "recall_memories" => json!({"query": "tea"}),
        "get_entity_profile" => json!({"entity": "Alice"}),
        _ => json!({}),
    };
    (tool, arguments)
}

const LOOK_UPS: [&str; 3] = ["inspect_location", "recall_memories", "get_entity_profile"];

/// Whether the message ended without an answer.
fn is_unanswered(home: &Home) -> bool {
    let mut events = home.events().into_iter();
    events.any(|event| event.kind() == "unanswered")
}

#[tokio::test(start_paused = true)]
async fn words_before_a_look_up_are_no_answer() {
    for tool in LOOK_UPS {
        for pattern in [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction] {
            let first = || ScriptedTurn::calls([speak("Let me look."), look_up(tool)]);
            let again = ScriptedTurn::calls([look_up(tool)]);
            let announcing = ScriptedTurn::with(move |request| {
                match request.tools.iter().any(|it| it.name.as_str() == tool) {
                    true => ScriptedTurn::calls([speak("Let me look."), look_up(tool)]),
                    false => ScriptedTurn::calls([look_up(tool)]),
                }
            });
            let models = [
                ScriptedModel::looping(announcing),
                ScriptedModel::new([first()]).then_for_ever(again),
            ];
            for model in models {
                let home = at_home(model)
                    .where_speech_ends_nothing()
                    .configured(|config| config.pattern = pattern);
                let rest = home.hear(Perceive::addressed("Alice", "where?").build());
                assert_eq!(rest.await, Rest::Settled);
                let deeds = home.deeds();
                assert_eq!(
                    deeds.last(),
                    Some(&format!("say {SORRY}")),
                    "{tool} {deeds:?}"
                );
                assert!(is_unanswered(&home), "{tool}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn words_after_the_last_look_up_are_the_answer_whatever_is_noted_behind_them() {
    let note = || ("store_memory", json!({"text": "Alice asked."}));
    let step = ("move", json!({"exit": "north"}));
    let ends = [
        vec![speak("A room.")],
        vec![speak("A room."), note()],
        vec![speak("A room."), step],
    ];
    for end in ends {
        let turns = [ScriptedTurn::calls([
            speak("Let me look."),
            look_up("inspect_location"),
        ])];
        let noop = ScriptedTurn::call("noop", json!({}));
        let model = ScriptedModel::new(
            turns
                .into_iter()
                .chain([ScriptedTurn::calls(end.clone()), noop]),
        );
        let used_up = ScriptedModel::new([ScriptedTurn::calls([look_up("inspect_location")])])
            .then_for_ever(ScriptedTurn::calls(end));
        for model in [model, used_up] {
            let home = at_home(model).where_speech_ends_nothing();
            let rest = home.hear(Perceive::addressed("Alice", "where?").build());
            assert_eq!(rest.await, Rest::Settled);
            assert!(!is_unanswered(&home), "{:?}", home.deeds());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_that_the_model_chose_stays_silence() {
    for turns in [
        vec![ScriptedTurn::call("noop", json!({}))],
        vec![
            look(),
            look(),
            look(),
            look(),
            ScriptedTurn::call("noop", json!({"reason": "nothing to say"})),
        ],
    ] {
        let home = at_home(ScriptedModel::new(turns));
        home.hear(Perceive::whisper("Alice", "hm").build()).await;
        assert!(home.deeds().is_empty());
        assert_eq!(home.stops(), [StopReason::Noop]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_word_of_regret_that_fails_is_not_followed_by_another() {
    let home = at_home(ScriptedModel::looping(look()));
    home.world
        .then(Behaviour::Reject("Alice has left".to_owned()));
    let rest = home
        .hear(Perceive::whisper("Alice", "where?").build())
        .await;
    assert_eq!(rest, Rest::Settled);
    assert!(home.deeds().is_empty());
    assert_eq!(home.world.attempts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_crash_before_the_word_of_regret_neither_loses_nor_repeats_it() {
    let home = at_home(ScriptedModel::looping(look()));
    home.world.then(Behaviour::DoneButHangs);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "where?").build())
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    life.crash().await;
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), [format!("whisper {SORRY}")]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_was_filtered_is_in_no_later_prompt() {
    let filtered = || ChatReply {
        finish: FinishReason::ContentFilter,
        ..ChatReply::default()
    };
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(move |request| {
        if shown(request).contains("POISON") {
            ScriptedTurn::Reply(filtered())
        } else {
            ScriptedTurn::call("say", json!({"message": "hi"}))
        }
    })));
    home.hear(
        Perceive::whisper("Mallory", "POISON and tea")
            .number(1)
            .build(),
    )
    .await;
    home.hear(
        Perceive::whisper("Alice", "tell me of POIS and tea")
            .number(2)
            .build(),
    )
    .await;
    assert_eq!(
        home.deeds(),
        [format!("whisper {SORRY}"), "say hi".to_owned()]
    );
}

/// What a model may do in one call, and whether the world accepts it.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Say { taken: bool },
    Tell { parts_taken: usize },
    Whisper { to: &'static str },
    Move,
    Look,
    Note,
}

fn deeds() -> impl Strategy<Value = Vec<Vec<Deed>>> {
    let deed = prop_oneof![
        any::<bool>().prop_map(|taken| Deed::Say { taken }),
        (0_usize..3).prop_map(|parts_taken| Deed::Tell { parts_taken }),
        prop_oneof![Just("Alice"), Just("Bob")].prop_map(|to| Deed::Whisper { to }),
        Just(Deed::Move),
        Just(Deed::Look),
        Just(Deed::Note),
    ];
    prop::collection::vec(prop::collection::vec(deed, 1..4), 1..8)
}

/// The places in the log of the last query, and of the last whole text that Alice heard. The world does not attest who
/// hears.
fn last_look_and_answer(home: &Home) -> (Option<usize>, Option<usize>) {
    let performed = home.world.performed();
    let mut performed = performed.iter();
    let (mut look, mut answer, mut has_moved) = (None, None, false);
    for (place, event) in home.events().into_iter().enumerate() {
        match event {
            // In the last step, and when all acts are used up, no query is made.
            Event::ToolAnswered(it)
                if it.tool == "inspect_location" && it.verdict != Verdict::Skipped =>
            {
                look = Some(place);
            }
            Event::EffectSettled(it) if matches!(it.outcome, Outcome::Done(_)) => {
                let done = performed.next().unwrap();
                let text = done
                    .arguments
                    .get("message")
                    .map(|text| text.as_str().unwrap());
                // A text in two parts counts as said with its second part.
                let is_whole = text.is_some_and(|text| !text.ends_with("to be continued."));
                let is_heard = match done.arguments.get("to") {
                    Some(to) => to == "Alice",
                    None => !has_moved,
                };
                has_moved |= text.is_none();
                answer = if is_whole && is_heard {
                    Some(place)
                } else {
                    answer
                };
            }
            _ => {}
        }
    }
    (look, answer)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(64)))]

    /// The model says texts, whole or in parts, and makes queries and notes, in any order. The world may refuse each of
    /// them, and speech may or may not end the turn. Unless a whole text was said after the last query, an event
    /// records that there was no answer, and the sender gets a notice.
    #[test]
    fn the_last_thing_of_every_turn_is_an_answer_or_a_word(steps in deeds(), speech_ends in any::<bool>()) {
        in_virtual_time(async {
            // Two parts; the end of the first one marks it.
            let first = format!("{} to be continued.", "x".repeat(3_900));
            let long = format!("{first} {}.", "y".repeat(200));
            let call = |deed: &Deed| match deed {
                Deed::Say { .. } => speak("A room."),
                Deed::Tell { .. } => speak(&long),
                Deed::Whisper { to } => ("whisper", json!({"to": to, "message": "A room."})),
                Deed::Move => ("move", json!({"exit": "north"})),
                Deed::Look => look_up("inspect_location"),
                Deed::Note => ("store_memory", json!({"text": "Alice asked."})),
            };
            let turns = steps.iter().map(|step| ScriptedTurn::calls(step.iter().map(call)));
            let model = ScriptedModel::new(turns).then_for_ever(look());
            let home = at_home(model);
            let home = if speech_ends { home } else { home.where_speech_ends_nothing() };
            for deed in steps.iter().flatten() {
                let refuse = || Behaviour::Reject("no".to_owned());
                let behaviours = match deed {
                    Deed::Say { taken: true } | Deed::Whisper { .. } | Deed::Move => {
                        vec![Behaviour::Do]
                    }
                    Deed::Say { taken: false } | Deed::Tell { parts_taken: 0 } => vec![refuse()],
                    Deed::Tell { parts_taken: 1 } => vec![Behaviour::Do, refuse()],
                    Deed::Tell { .. } => vec![Behaviour::Do, Behaviour::Do],
                    Deed::Look | Deed::Note => Vec::new(),
                };
                behaviours.into_iter().for_each(|behaviour| home.world.then(behaviour));
            }
            home.hear(Perceive::addressed("Alice", "where?").build()).await;
            let (look, answer) = last_look_and_answer(&home);
            let is_answered = answer.is_some() && answer > look;
            let word = home.world.attempts().into_iter().last();
            let word = word.is_some_and(|it| {
                let text = it.arguments.get("message").and_then(|text| text.as_str());
                let text = text.unwrap_or_default();
                text == SORRY || text == "There is more, but I could not say it."
            });
            // If Alice did not hear what was said aloud, she would not hear a notice either.
            let in_vain = home.events().iter().any(|event| {
                matches!(event, Event::Unanswered(it) if it.cause == UnansweredCause::NotHeard)
            });
            let has_moved = home.world.performed().iter().any(|it| it.tool.as_str() == "move");
            let is_told = word || (in_vain && has_moved);
            assert!(is_answered || (is_unanswered(&home) && is_told), "{steps:?}: {:?}", home.deeds());
        });
    }
}
