use super::*;

fn read(text: &str) -> Option<(String, String)> {
    let errand = Errand::read(text, &words(text))?;
    Some((errand.whom, errand.what))
}

#[test]
fn whom_to_ask_and_what_is_read_in_the_words_of_the_request() {
    for (text, whom, what) in [
        (
            "ask Rat whether the boat is here",
            "Rat",
            "whether the boat is here",
        ),
        (
            "Ask the old mole where my key is",
            "the old mole",
            "where my key is",
        ),
        ("Ask Rat about the tea.", "Rat", "about the tea"),
        (
            "find out from Rat who has the key",
            "Rat",
            "who has the key",
        ),
        (
            "have Rat tell you when the tide turns",
            "Rat",
            "when the tide turns",
        ),
        (
            "Ask Rat: what is in the cellar?",
            "Rat",
            "what is in the cellar",
        ),
    ] {
        assert_eq!(
            read(text),
            Some((whom.to_owned(), what.to_owned())),
            "{text}"
        );
    }
}

#[test]
fn who_wants_something_else_sends_nobody() {
    for text in [
        "ask me whether I like tea",
        "ask him where the key is",
        "ask Rat",
        "ask around if somebody has the key",
        "I asked Rat whether the boat is here",
        "ask the man with the very long name whether it rains",
        "do not ask Rat whether the boat is here",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_task_is_read_back_and_other_tasks_stay_as_they_are() {
    let errand = Errand {
        whom: "Rat".to_owned(),
        what: "whether the boat is here".to_owned(),
    };
    let task = errand.task("Alice");
    assert_eq!(task, "Alice wants to know: whether the boat is here");
    assert_eq!(asked(&task), (Some("Alice"), "whether the boat is here"));
    assert_eq!(question(&task), "the boat is here");
    assert_eq!(asked("count the boats"), (None, "count the boats"));
    assert_eq!(question("count the boats"), "count the boats");
    assert_eq!(question("whether"), "whether");
}
