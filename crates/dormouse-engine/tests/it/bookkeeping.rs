//! What the model notes and looks up for itself does not use up the budget of acts.

use dormouse_engine::{ExecutionPattern, Rest, StopReason};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::Home;

/// Default `max_iterations`.
const BUDGET: usize = 5;

fn note(number: usize) -> ScriptedTurn {
    ScriptedTurn::call("store_memory", json!({"text": format!("fact {number}")}))
}

fn at_home(model: ScriptedModel, pattern: ExecutionPattern) -> Home {
    let home = Home::with(model).configured(|config| config.pattern = pattern);
    home.world
        .answer("inspect_location", json!({"room": "Attic"}));
    home
}

const PATTERNS: [ExecutionPattern; 2] =
    [ExecutionPattern::ReactLoop, ExecutionPattern::SingleAction];

#[tokio::test(start_paused = true)]
async fn a_model_that_notes_much_can_still_look_and_answer() {
    for pattern in PATTERNS {
        let look = ScriptedTurn::call("inspect_location", json!({}));
        let say = ScriptedTurn::call("say", json!({"message": "It is the attic."}));
        let turns = (0..BUDGET).map(note).chain([look, say]);
        let home = at_home(ScriptedModel::new(turns), pattern);
        let rest = home.hear(Perceive::addressed("Alice", "note that, then look around").build());
        assert_eq!(rest.await, Rest::Settled);
        assert_eq!(home.world.queries().len(), 1, "{pattern:?}");
        assert_eq!(home.deeds(), ["say It is the attic."], "{pattern:?}");
        home.no_protocol_was_broken();
    }
}

#[tokio::test(start_paused = true)]
async fn notes_and_an_answer_fit_into_one_reply() {
    let note = |text: &str| ("store_memory", json!({"text": text}));
    let calls = [
        note("one"),
        note("two"),
        ("say", json!({"message": "Noted."})),
    ];
    let home = at_home(
        ScriptedModel::new([ScriptedTurn::calls(calls)]),
        ExecutionPattern::SingleAction,
    );
    home.hear(Perceive::addressed("Alice", "note that").build())
        .await;
    assert_eq!(home.deeds(), ["say Noted."]);
    assert_eq!(home.stops(), [StopReason::TerminalTool]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_only_notes_comes_to_its_last_step() {
    for pattern in PATTERNS {
        let home = at_home(ScriptedModel::looping(note(0)), pattern).without_a_loop_guard();
        let rest = home.hear(Perceive::addressed("Alice", "where are we?").build());
        assert_eq!(rest.await, Rest::Settled);
        assert_eq!(
            home.stops().last(),
            Some(&StopReason::MaxIterations),
            "{pattern:?}"
        );
        assert!(home.model.requests().len() <= 2 * BUDGET, "{pattern:?}");
        let kept = home
            .events()
            .iter()
            .filter(|event| event.kind() == "remembered")
            .count();
        assert_eq!(kept, BUDGET, "{pattern:?}");
        assert_eq!(
            home.deeds().len(),
            1,
            "the sender learns that there is no answer"
        );
    }
}
