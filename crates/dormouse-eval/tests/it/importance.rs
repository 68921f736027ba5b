//! How a journal scores the turns of a file.

use serde_json::json;

use crate::program::{Folder, run};

#[test]
fn each_rule_is_a_line_and_rank_spreads_what_the_formula_crowds_together() {
    let turns: Vec<_> = (0..60)
        .map(|number| {
            let text = match number % 3 {
                0 => format!("A secret war, number {number}!"),
                1 => format!("I walked to house {number}"),
                _ => format!("Look, a question about reward {number}?"),
            };
            json!({"speaker": "Ann", "dia_id": format!("D1:{number}"), "text": text})
        })
        .collect();
    let qa = json!([{"question": "Where is house 1?", "evidence": ["D1:1"], "category": 4}]);
    let talk = json!([{"sample_id": "one", "qa": qa, "conversation": {
        "speaker_a": "Ann", "speaker_b": "Ben", "session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023",
    }}]);
    let folder = Folder::new();
    folder.write("talk.json", &talk.to_string());
    let run = run(&folder, &["importance", "talk.json"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let row = |name: &str| {
        let line = run.out.lines().find(|line| line.starts_with(name));
        let numbers = line.unwrap().get(name.len()..).unwrap().split_whitespace();
        numbers
            .map(|number| number.parse().unwrap())
            .collect::<Vec<f64>>()
    };
    // 10 (12 points), 6 and 8 points; "reward" and "question" have two keywords inside.
    let whole = row("formula, whole words");
    assert_eq!(
        whole,
        [
            0.0, 0.0, 0.0, 0.0, 0.0, 33.3, 0.0, 33.3, 0.0, 33.3, 66.7, 8.0, 18.8
        ]
    );
    let inside = row("formula, inside of words");
    assert_eq!(
        inside,
        [
            0.0, 0.0, 0.0, 0.0, 0.0, 33.3, 0.0, 0.0, 0.0, 66.7, 66.7, 8.67, 17.3
        ]
    );
    let rank = row("rank, whole words");
    assert!(rank.iter().take(5).sum::<f64>() > 10.0, "{rank:?}");

    let missing = crate::program::run(&folder, &["importance", "missing.json"]);
    assert_eq!(missing.code, Some(1));
}
