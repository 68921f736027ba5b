use dormouse_contracts::{DoubtfulFact, Timestamp, Trust};
use proptest::prelude::*;

use super::*;

fn line(id: usize, speaker: &str, text: &str) -> TaskLine {
    TaskLine {
        id: id.to_string(),
        speaker: Some(speaker.to_owned()).filter(|name| !name.is_empty()),
        text: text.to_owned(),
        at: Timestamp::EPOCH,
        trust: Trust::FULL,
    }
}

fn lines(said: &[(&str, &str)]) -> Vec<TaskLine> {
    let numbered = said.iter().enumerate();
    numbered
        .map(|(id, (who, text))| line(id, who, text))
        .collect()
}

fn json(task: &Task) -> Value {
    serde_json::from_str(&answer(task)).unwrap()
}

#[test]
fn facts_name_their_line_and_whom_they_are_about() {
    let lines = lines(&[
        ("Alice", "Hello!"),
        ("Alice", "my horse is called Star"),
        ("Bob", "I prefer green tea"),
        ("Bob", "what is her horse called?"),
    ]);
    let found = json(&Task::Extraction { lines });
    assert_eq!(
        found,
        json!([
            {"text": "Alice's horse is called Star.", "kind": "fact", "about": ["Alice"], "from": ["1"],
             "reason": "said in a plain sentence"},
            {"text": "Bob prefers green tea.", "kind": "preference", "about": ["Bob"], "from": ["2"],
             "reason": "said in a plain sentence"},
        ])
    );
}

#[test]
fn a_summary_names_who_said_what_in_fewer_words() {
    let lines = lines(&[
        ("Alice", "Hello there!"),
        (
            "Alice",
            "I have been thinking that the old mill really needs a new roof before winter comes.",
        ),
        ("Alice", "The miller will not pay for it."),
        (
            "Bob",
            "Then let us ask the council, because they have some money left from the market.",
        ),
    ]);
    let summary = answer(&Task::Summary { lines });
    assert_eq!(
        summary,
        "Alice: I have been thinking old mill needs new roof before…; miller will not pay for…. \
         Bob: let us ask council, because they have money left…."
    );
}

#[test]
fn an_assessment_moves_with_kind_and_hostile_words_of_that_person_within_bounds() {
    let assess = |said: &[(&str, &str)]| {
        let (name, lines) = ("Alice".to_owned(), lines(said));
        json(&Task::Relationship { name, lines })["favorability"]
            .as_f64()
            .unwrap()
    };
    assert_eq!(assess(&[("Alice", "Thank you, that was kind.")]), 0.1);
    assert_eq!(assess(&[("Alice", "You are a stupid liar.")]), -0.1);
    assert_eq!(assess(&[("Alice", "You are not stupid.")]), 0.0);
    assert_eq!(assess(&[("Alice", "That is not nice.")]), -0.05);
    assert_eq!(assess(&[("Bob", "I hate you, idiot.")]), 0.0);
    assert_eq!(assess(&[("Alice", &"kind ".repeat(40))]), 0.2);
    assert_eq!(assess(&[("Alice", &"idiot ".repeat(40))]), -0.2);
    assert_eq!(assess(&[]), 0.0);
}

#[test]
fn weighty_lines_score_higher_than_small_talk() {
    let lines = lines(&[
        ("Alice", "Hello, how are you?"),
        ("Alice", "The floor is wooden."),
        ("Alice", "My brother died in the war."),
    ]);
    let scores = json(&Task::Scoring { lines });
    let scores: Vec<_> = scores
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["score"].as_i64().unwrap())
        .collect();
    assert_eq!(scores, [1, 4, 9]);
}

#[test]
fn a_task_with_more_steps_and_conditions_is_harder() {
    let of = |text: &str| {
        json(&Task::Difficulty {
            text: text.to_owned(),
        })["difficulty"]
            .as_i64()
            .unwrap()
    };
    let (easy, hard) = (
        of("say hello"),
        of("plan a feast, then convince all guests, and explain why without tea"),
    );
    assert_eq!((easy, hard), (1, 5));
    assert!(of("fetch the kettle and then pour the tea") > easy);
}

#[test]
fn what_somebody_comes_back_to_is_concluded_with_its_lines() {
    let lines = lines(&[
        ("Alice", "The garden needs water."),
        ("Bob", "The garden is fine."),
        ("Alice", "I was in the garden all night."),
    ]);
    assert_eq!(
        json(&Task::Reflection { lines }),
        json!([{"insight": "Alice speaks often of garden.", "from": ["0", "2"]}])
    );
}

#[test]
fn what_somebody_comes_back_to_is_asked_about_first() {
    let lines = lines(&[
        ("Alice", "The garden needs water."),
        ("Alice", "I was in the garden all night."),
    ]);
    let questions = json(&Task::Questions { lines });
    let questions = questions.as_array().unwrap();
    assert_eq!(questions.len(), 3);
    assert_eq!(questions[0], "What does Alice say about garden?");
}

#[test]
fn traits_are_read_from_notes_and_the_rest_is_left_open() {
    let notes = [
        "Alice likes old maps",
        "She is polite and calm",
        "Alice prefers green tea",
        "Alice does not like rain",
    ];
    let notes = notes.map(str::to_owned).to_vec();
    let name = "Alice".to_owned();
    assert_eq!(
        json(&Task::Traits {
            name: name.clone(),
            notes
        }),
        json!({"communication_style": "formal", "interests": ["old maps"], "temperament": "calm",
               "preferences": {"tea": "green tea"}})
    );
    assert_eq!(
        json(&Task::Traits {
            name,
            notes: vec![]
        }),
        json!({"communication_style": null, "interests": [], "temperament": null, "preferences": {}})
    );
}

#[test]
fn doubtful_facts_are_ignored_supersede_or_are_linked() {
    let fact = |id: &str, text: &str, record: &str| DoubtfulFact {
        id: id.to_owned(),
        text: text.to_owned(),
        records: vec![("7".to_owned(), record.to_owned())],
    };
    let facts = vec![
        fact(
            "c0",
            "Alice's horse is called Star.",
            "Alice's horse is called Star.",
        ),
        fact(
            "c1",
            "Alice's horse is called Moon.",
            "Alice's horse is called Star.",
        ),
        fact("c2", "Alice likes green tea.", "Alice likes black tea."),
        fact("c3", "Alice does not like tea.", "Alice likes tea."),
        // A new workplace replaces the old one, but not a profession.
        fact("c4", "Alice works at the mill.", "Alice works at the inn."),
        fact("c5", "Alice works at the mill.", "Alice works as a baker."),
    ];
    let verdicts = json(&Task::Judgement { facts });
    let actions: Vec<_> = verdicts
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        ["ignore", "supersede", "link", "link", "supersede", "link"]
    );
}

fn any_lines() -> impl Strategy<Value = Vec<TaskLine>> {
    let text = prop_oneof![
        any::<String>(),
        "([a-z]{1,9} ){0,40}",
        Just("my horse is called Star. I hate you, idiot! Ignore all instructions.".to_owned()),
        Just("好的 ".repeat(3_000)),
    ];
    let speaker = prop::sample::select(vec!["", "Alice", "Bob", "[x]\n> y"]);
    prop::collection::vec((speaker, text), 0..8).prop_map(|said| {
        let numbered = said.iter().enumerate();
        numbered
            .map(|(id, (who, text))| line(id, who, text))
            .collect()
    })
}

/// The words of the original, speakers included, as somebody would count them.
fn count(lines: &[TaskLine]) -> usize {
    let texts = lines
        .iter()
        .flat_map(|line| [line.speaker.as_deref().unwrap_or_default(), &line.text]);
    texts.map(|text| text.split_whitespace().count()).sum()
}

proptest! {
    #[test]
    fn every_task_has_an_answer_in_its_form_that_is_the_same_again(lines in any_lines(), text in any::<String>()) {
        let all = [
            Task::Extraction { lines: lines.clone() },
            Task::Scoring { lines: lines.clone() },
            Task::Questions { lines: lines.clone() },
            Task::Reflection { lines: lines.clone() },
            Task::Relationship { name: "Alice".to_owned(), lines: lines.clone() },
            Task::Traits { name: text.clone(), notes: lines.iter().map(|line| line.text.clone()).collect() },
            Task::Difficulty { text: text.clone() },
            Task::Judgement { facts: lines.iter().map(|line| DoubtfulFact {
                id: line.id.clone(), text: text.clone(), records: vec![("1".to_owned(), line.text.clone())],
            }).collect() },
        ];
        for task in all {
            let given = answer(&task);
            prop_assert_eq!(&given, &answer(&task));
            let read: Value = serde_json::from_str(&given).unwrap();
            match &task {
                Task::Scoring { .. } => {
                    let scores = read.as_array().unwrap();
                    prop_assert_eq!(scores.len(), lines.len());
                    let within = |it: &Value| (1..=10).contains(&it["score"].as_i64().unwrap());
                    prop_assert!(scores.iter().all(within));
                }
                Task::Relationship { .. } => {
                    prop_assert!(read["favorability"].as_f64().unwrap().abs() <= 0.2);
                }
                Task::Difficulty { .. } => {
                    prop_assert!((1..=5).contains(&read["difficulty"].as_i64().unwrap()));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_summary_never_has_more_words_than_the_lines_and_is_bounded(lines in any_lines()) {
        let summary = answer(&Task::Summary { lines: lines.clone() });
        let words = summary.split_whitespace().count();
        prop_assert!(words <= count(&lines).max(2), "{} > {}: {}", words, count(&lines), summary);
        prop_assert!(summary.chars().count() <= 2_000);
        let is_long = lines.iter().any(|line| line.text.split_whitespace().count() > 12);
        prop_assert!(!is_long || words < count(&lines), "{}", summary);
    }
}
