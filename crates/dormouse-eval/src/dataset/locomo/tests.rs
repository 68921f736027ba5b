use serde_json::json;

use super::*;

fn tea() -> Value {
    json!({
        "sample_id": "tea",
        "conversation": {
            "speaker_a": "Alice",
            "speaker_b": "Bob",
            "session_10_date_time": "9:05 am on 2 June, 2023",
            "session_10": [{"speaker": "Bob", "dia_id": "D10:1", "text": "Back again."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Alice", "dia_id": "D2:1", "text": "The kettle is blue."},
                {
                    "speaker": "Bob", "dia_id": "D2:2", "text": "Look!",
                    "blip_caption": "a photo of a tin", "query": "never indexed",
                },
                {"speaker": "", "dia_id": "D2:3"},
            ],
        },
        "qa": [
            {"question": "Which colour?", "answer": "blue", "evidence": ["D2:1"], "category": 4},
            {"question": "Both?", "evidence": ["D2:1; D:10:01", "D", "D9:9"], "category": 1},
            {"question": "None?", "category": "odd"},
        ],
    })
}

fn read(raw: Value) -> Result<Conversation, String> {
    let mut calendar = Calendar::default();
    conversation(raw, 3, &mut calendar)
        .map_err(|wrong| format!("{}: {}", wrong.place, wrong.source))
}

#[test]
fn sessions_are_in_the_order_of_their_numbers_and_turns_a_second_apart() {
    let tea = read(tea()).unwrap();
    assert_eq!(tea.name, "tea");
    assert_eq!(tea.sessions, ["session_2", "session_10"]);
    let turns: Vec<_> = tea
        .turns
        .iter()
        .map(|turn| (turn.id.as_str(), turn.session, turn.at.to_string()))
        .collect();
    assert_eq!(
        turns,
        [
            ("D2:1", 0, "2023-05-08T13:56:00Z".to_owned()),
            ("D2:2", 0, "2023-05-08T13:56:01Z".to_owned()),
            ("D2:3", 0, "2023-05-08T13:56:02Z".to_owned()),
            ("D10:1", 1, "2023-06-02T09:05:00Z".to_owned()),
        ]
    );
    assert!(tea.questions[0].asked_at > tea.turns[3].at);
}

#[test]
fn captions_are_part_of_the_text_and_search_words_are_not() {
    let tea = read(tea()).unwrap();
    assert_eq!(tea.turns[1].text, "Look! [a photo of a tin]");
    assert_eq!(tea.turns[2].text, "");
    assert_eq!(tea.turns[2].speaker, None);
}

#[test]
fn evidence_is_found_in_every_spelling_and_missing_turns_are_counted() {
    let tea = read(tea()).unwrap();
    let known: Vec<_> = tea
        .questions
        .iter()
        .map(|q| (q.gold.iter().copied().collect::<Vec<_>>(), q.dangling))
        .collect();
    assert_eq!(known, [(vec![0], 0), (vec![0, 3], 2), (vec![], 0)]);
}

#[test]
fn categories_have_their_names() {
    let tea = read(tea()).unwrap();
    let names = tea.questions.iter().map(|q| q.category.name.as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["single-hop", "multi-hop", "odd"]
    );
    assert_eq!(category(&json!(9)).name, "9");
    assert_eq!(category(&json!("5")).name, "adversarial");
    assert_eq!(category(&Value::Null).name, "none");
}

#[test]
fn an_invalid_entry_is_reported_with_its_position() {
    let mut broken = tea();
    broken["conversation"]["session_2"][1] = json!({"speaker": "Bob", "text": "Hm."});
    assert_eq!(
        read(broken).unwrap_err(),
        "conversation 3, session_2, entry 2: missing field `dia_id`"
    );
    let mut broken = tea();
    broken["qa"][2] = json!({});
    assert_eq!(
        read(broken).unwrap_err(),
        "conversation 3, qa, entry 3: missing field `question`"
    );
    let mut broken = tea();
    broken["conversation"]["session_10"] = json!("once upon a time");
    let said = read(broken).unwrap_err();
    assert!(said.starts_with("conversation 3, session_10: "), "{said}");
    let said = read(json!({"qa": []})).unwrap_err();
    assert_eq!(said, "conversation 3: missing field `conversation`");
}
