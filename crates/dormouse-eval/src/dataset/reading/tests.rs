use dormouse_text::error_chain;

use super::*;

fn refused(text: &str) -> String {
    let error = parse(text.as_bytes(), Path::new("talk.json"), None).unwrap_err();
    error_chain(&error)
}

#[test]
fn an_invalid_file_is_reported_with_position_and_remedy() {
    for empty in ["", " \n", "[]"] {
        assert!(
            refused(empty).starts_with("talk.json is empty; expected a JSON list"),
            "{empty:?}"
        );
    }
    let cut = refused("[{\"conversation\": {");
    assert!(
        cut.contains("was the download complete?") && cut.contains("line 1 column"),
        "{cut}"
    );
    assert!(refused("[{\"messages\": []}]").contains("with --format"));
    let part = refused(r#"[{"conversation": {"session_1": [{"text": "Hm."}]}, "qa": []}]"#);
    assert_eq!(
        part,
        "talk.json: conversation 1, session_1, entry 1: this is not valid locomo data: missing field `dia_id`"
    );
    let unknown = refused(r#"[{"conversation": {}, "qa": [{"question": "Why?"}]}]"#);
    assert!(
        unknown.contains("no question has evidence in `evidence`"),
        "{unknown}"
    );
}

#[test]
fn a_conversation_without_questions_is_still_loaded() {
    let text = r#"[
        {"conversation": {"session_1": [{"dia_id": "D1:1", "text": "Tea."}]}},
        {"conversation": {"session_1": [{"dia_id": "D1:1", "text": "Tea."}]},
         "qa": [{"question": "What?", "evidence": "D1:1", "category": 2}]}
    ]"#;
    let dataset = parse(text.as_bytes(), Path::new("talk.json"), None).unwrap();
    let questions = dataset.conversations.iter().map(|c| c.questions.len());
    assert_eq!(questions.collect::<Vec<_>>(), [0, 1]);
    assert_eq!(dataset.undated_sessions, 2);
    assert_eq!(dataset.format, Format::Locomo);
}
