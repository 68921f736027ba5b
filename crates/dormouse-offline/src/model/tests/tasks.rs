//! Tasks between assistants: it gives one if somebody else is to be asked, answers one from its memory, and passes the answer on.

use dormouse_contracts::{AssistantId, AssistantTask, TaskReport, TurnTrigger};

use super::*;

const WITH_TASKS: [&str; 8] = [
    "say",
    "whisper",
    "page",
    "inspect_location",
    "recall_memories",
    "delegate_task",
    "answer_task",
    "noop",
];

fn asked(words: &str) -> Talk {
    let mut talk = Talk::new("page", words);
    talk.offer(&WITH_TASKS);
    talk
}

fn about(task: &str, report: Option<TaskReport>) -> Talk {
    let mut talk = asked("hello");
    talk.request.turn.as_mut().unwrap().trigger = TurnTrigger::Task(AssistantTask {
        other: Some(AssistantId::try_new("rat").unwrap()),
        task: task.to_owned(),
        report,
    });
    talk
}

#[test]
fn it_asks_another_assistant_if_somebody_wants_that_and_says_so() {
    let mut talk = asked("Could you ask Rat whether the boat is here?");
    let (tool, arguments) = talk.call();
    let task = json!({"task": "Alice wants to know: whether the boat is here", "to": "Rat"});
    assert_eq!((tool.as_str(), arguments), ("delegate_task", task));
    let (tool, arguments) = talk.call();
    assert_eq!(tool, "page");
    let said = json!({"to": "Alice", "message": "I have asked Rat. You will hear from me."});
    assert_eq!(arguments, said);
    assert_eq!(talk.call().0, "noop");
}

#[test]
fn it_says_why_it_cannot_ask_and_asks_nobody_where_it_may_not() {
    let mut talk = asked("ask Rat where the key is");
    talk.results = json!({"delegate_task": {"success": false, "error": "the budget is used up"}});
    talk.call();
    let said = talk.call().1["message"].as_str().unwrap().to_owned();
    assert_eq!(said, "I cannot ask Rat: \"the budget is used up\"");

    let mut talk = Talk::new("page", "ask Rat where the key is");
    let (tool, arguments) = talk.call();
    let said = "I have no way to ask Rat here.";
    assert_eq!(
        (tool.as_str(), &arguments["message"]),
        ("page", &said.into())
    );
}

#[test]
fn it_answers_a_task_with_what_its_memory_has_about_it_or_that_it_has_nothing() {
    let known = json!({"text": "the boat is at the pier", "from": "Bob", "at": "2026-11-21T10:15:00Z",
        "trust": 0.7, "how": "say"});
    for task in [
        "Alice wants to know: whether the boat is here",
        "where is the boat?",
        "tell me about the boat",
    ] {
        for (memories, answer) in [
            (json!([known]), "the boat is at the pier"),
            (
                json!([]),
                "I looked in my memory, and found nothing about that.",
            ),
        ] {
            let mut talk = about(task, None);
            talk.results =
                json!({"recall_memories": {"success": true, "result": {"memories": memories}}});
            assert_eq!(talk.call().0, "recall_memories", "{task}");
            let (tool, arguments) = talk.call();
            let result = arguments["result"].as_str().unwrap();
            assert_eq!(tool, "answer_task");
            assert!(result.contains(answer), "{task}: {result}");
            assert_eq!(talk.call().0, "noop");
        }
    }
}

#[test]
fn it_answers_a_task_also_where_it_cannot_look_anything_up() {
    let mut talk = about("where is the boat?", None);
    talk.offer(&["answer_task", "noop"]);
    let (tool, arguments) = talk.call();
    assert_eq!(tool, "answer_task");
    let result = arguments["result"].as_str().unwrap();
    assert_eq!(result, "I have no way to search my memory here.");
    let mut talk = about("where is the boat?", None);
    talk.offer(&["noop"]);
    assert_eq!(talk.call().0, "noop");
}

#[test]
fn it_tells_who_wanted_to_know_it_what_became_of_a_task_and_nobody_else() {
    let task = "Alice wants to know: whether the boat is here";
    let done = TaskReport::Done("it is here".to_owned());
    let not_done = TaskReport::NotDone("there was no result in time".to_owned());
    for (report, says) in [
        (done, ": it is here."),
        (not_done, "because there was no result in time"),
    ] {
        let mut talk = about(task, Some(report.clone()));
        let (tool, arguments) = talk.call();
        assert_eq!((tool.as_str(), &arguments["to"]), ("page", &"Alice".into()));
        let said = arguments["message"].as_str().unwrap();
        assert!(said.starts_with("Alice, ") && said.contains(says), "{said}");
        assert_eq!(talk.call().0, "noop");
        assert_eq!(about("count the boats", Some(report)).call().0, "noop");
    }
}
