//! A week of an assistant, and what its nights do to recall.

use serde_json::{Map, json};

use crate::program::{Folder, Run, run};

/// Days on which two people talk, at most seven, and a question about the first.
fn talk(days: usize) -> String {
    let things = [
        "kettle", "ladder", "lantern", "saddle", "bucket", "barrel", "anvil",
    ];
    let mut conversation = Map::new();
    for (day, thing) in (1..).zip(things).take(days) {
        let turn = |place: u32, speaker: &str, text: String| json!({"speaker": speaker, "dia_id": format!("D{day}:{place}"), "text": text});
        let turns = [
            turn(
                1,
                "Ann",
                format!("I bought a {thing} for {day}0 coins at the market!"),
            ),
            turn(2, "Ben", format!("Why a {thing}? I need a new roof.")),
            turn(
                3,
                "Ann",
                format!("My {thing} is the best in the village. I love it."),
            ),
        ];
        conversation.insert(format!("session_{day}"), turns.into());
        let date = format!("1:56 pm on {day} May, 2023");
        conversation.insert(format!("session_{day}_date_time"), date.into());
    }
    let qa =
        json!([{"question": "What did the kettle cost?", "evidence": ["D1:1"], "category": 4}]);
    json!([{"sample_id": "market", "qa": qa, "conversation": conversation}]).to_string()
}

fn measured(days: usize, args: &[&str]) -> Run {
    let folder = Folder::new();
    folder.write("talk.json", &talk(days));
    run(&folder, args)
}

#[test]
fn a_week_has_seven_nights_and_every_decision_can_be_made_again() {
    let week = measured(7, &["week", "talk.json"]);
    assert_eq!(week.code, Some(0), "{}{}", week.out, week.err);
    let nights = week.out.lines().filter(|line| line.starts_with("night "));
    assert_eq!(nights.count(), 7, "{}", week.out);
    for words in [
        "1 of 1 before, 1 of 1 after",
        "decided again, every decision is the same",
        "21 entries",
    ] {
        assert!(week.out.contains(words), "{words}: {}", week.out);
    }
}

#[test]
fn two_weeks_with_one_seed_end_in_the_same_state() {
    let twice = [
        "week",
        "talk.json",
        "--seed",
        "3",
        "--twice",
        "--model",
        "scripted",
    ];
    let week = measured(2, &twice);
    assert_eq!(week.code, Some(0), "{}{}", week.out, week.err);
    let is_equal = "a second week with this seed ended in the same state";
    assert!(week.out.contains(is_equal), "{}", week.out);
}

#[test]
fn sleep_is_compared_with_no_sleep_and_with_controls() {
    let report = measured(2, &["sleep", "talk.json"]);
    assert_eq!(report.code, Some(0), "{}{}", report.out, report.err);
    let row = |name: &str| {
        let line = report.out.lines().find(|line| line.starts_with(name));
        let numbers = line
            .and_then(|line| line.get(name.len()..))
            .unwrap_or_default();
        let numbers = numbers
            .split_whitespace()
            .map(|number| number.parse().unwrap());
        numbers.collect::<Vec<f64>>()
    };
    let (awake, rested) = (row("journal, no night"), row("scripted: seven nights"));
    assert_eq!((awake.len(), awake[8]), (10, 0.0), "{}", report.out);
    assert!(rested[8] > 0.0, "facts were made: {}", report.out);
    // As many random insights as the nights made records.
    assert_eq!(row("scripted: random insights")[8], rested[8]);
    for name in [
        "talk alone, no night",
        "offline: one night",
        "offline: raw turns",
    ] {
        assert_eq!(row(name)[5], 0.0, "{name}: {}", report.out);
    }
}

#[test]
fn a_conversation_that_is_not_there_is_refused_with_the_numbers_that_are() {
    for number in ["0", "2"] {
        let refused = measured(1, &["week", "talk.json", "--conversation", number]);
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("expected 1 to 1"), "{}", refused.err);
    }
}
