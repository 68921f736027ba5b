use serde_json::json;

use super::*;

fn haystack(question: &Value) -> Value {
    let mut raw = json!({
        "question_id": "q1",
        "question_type": "single-session-user",
        "question_date": "2023/12/18 (Mon) 04:17",
        "haystack_dates": ["2023/07/12 (Wed) 10:14", "2023/07/12 (Wed) 10:20"],
        "haystack_session_ids": ["a", "b"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "My kettle is blue."},
                {"role": "assistant", "content": "Noted."},
            ],
            [{"role": "user", "content": "Hello."}],
        ],
    });
    for (key, value) in question.as_object().unwrap() {
        raw[key] = value.clone();
    }
    raw
}

fn read(raw: Value) -> Result<Conversation, String> {
    let mut calendar = Calendar::default();
    conversation(raw, 1, &mut calendar)
        .map_err(|wrong| format!("{}: {}", wrong.place, wrong.source))
}

#[test]
fn each_session_is_a_chat_of_its_own() {
    let raw = haystack(&json!({"question": "Which colour?", "answer_session_ids": ["a", "z"]}));
    let read = read(raw).unwrap();
    let turns: Vec<_> = read
        .turns
        .iter()
        .map(|turn| (turn.id.as_str(), turn.session, turn.thread.as_str()))
        .collect();
    assert_eq!(
        turns,
        [("a:1", 0, "q1 0"), ("a:2", 0, "q1 0"), ("b:1", 1, "q1 1")]
    );
    assert_eq!(read.turns[1].speaker.as_deref(), Some("assistant"));
    let question = &read.questions[0];
    assert_eq!(question.gold, BTreeSet::from([0]));
    assert_eq!(question.dangling, 1);
    assert_eq!(question.asked_at.to_string(), "2023-12-18T04:17:00Z");
}

#[test]
fn several_questions_may_share_a_haystack() {
    let raw = haystack(&json!({
        "questions": ["Which colour?", "Who was greeted?"],
        "answer_session_ids": [["a"], ["b", "a"]],
    }));
    let read = read(raw).unwrap();
    let gold: Vec<_> = read.questions.iter().map(|q| q.gold.clone()).collect();
    assert_eq!(gold, [BTreeSet::from([0]), BTreeSet::from([0, 1])]);
}

#[test]
fn an_invalid_entry_is_reported_with_its_position() {
    let raw = haystack(&json!({"questions": ["a?", "b?"], "answer_session_ids": [["a"]]}));
    assert_eq!(
        read(raw).unwrap_err(),
        "conversation 1: `questions` has 2 entries and `answer_session_ids` has 1; expected the same number"
    );
    let raw = haystack(&json!({"haystack_session_ids": ["a"]}));
    assert!(read(raw).unwrap_err().contains("`haystack_sessions` has 2"));
    let mut raw = haystack(&json!({"question": "a?"}));
    raw["haystack_sessions"][1][0] = json!({"role": "user"});
    assert_eq!(
        read(raw).unwrap_err(),
        "conversation 1, session b, entry 1: missing field `content`"
    );
}
