use proptest::prelude::*;
use serde_json::json;

use super::*;
use dormouse_contracts::ToolName;

fn id(call: &str) -> CallId {
    CallId::try_new(call).unwrap()
}

fn user() -> Message {
    Message::User {
        content: "Hello?".to_owned(),
    }
}

fn system() -> Message {
    Message::System {
        content: "Be kind.".to_owned(),
    }
}

fn calls(ids: &[&str]) -> Message {
    let call = |id_: &&str| ToolCall {
        id: id(id_),
        name: "say".to_owned(),
        arguments: "{}".to_owned(),
    };
    Message::Assistant {
        content: String::new(),
        tool_calls: ids.iter().map(call).collect(),
    }
}

fn result(call: &str) -> Message {
    Message::Tool {
        call_id: id(call),
        content: "{}".to_owned(),
    }
}

fn found(messages: Vec<Message>) -> Vec<Violation> {
    violations(&ChatRequest {
        messages,
        ..ChatRequest::default()
    })
}

fn unanswered(at: usize, call: &str) -> Violation {
    Violation::Unanswered { at, call: id(call) }
}

#[test]
fn a_proper_conversation_is_accepted() {
    let messages = vec![
        system(),
        system(),
        user(),
        calls(&["a", "b"]),
        result("b"),
        result("a"),
        user(),
        calls(&["c"]),
        result("c"),
    ];
    assert_eq!(found(messages), []);
}

#[test]
fn a_call_is_answered_before_the_conversation_goes_on_or_ends() {
    let go_on = vec![user(), calls(&["a", "b"]), result("a"), user()];
    assert_eq!(found(go_on), [unanswered(3, "b")]);
    let end = vec![user(), calls(&["a"])];
    assert_eq!(found(end), [unanswered(2, "a")]);
    let another = vec![calls(&["a"]), calls(&["b"]), result("b")];
    assert_eq!(found(another), [unanswered(1, "a")]);
}

#[test]
fn a_result_answers_a_call_of_the_message_before_it_and_once() {
    let call = || id("a");
    let nothing = Violation::AnswersNothing {
        at: 1,
        call: call(),
    };
    assert_eq!(found(vec![user(), result("a")]), [nothing]);
    let twice = vec![calls(&["a"]), result("a"), result("a")];
    let expected = Violation::AnsweredTwice {
        at: 2,
        call: call(),
    };
    assert_eq!(found(twice), [expected]);
    let late = vec![calls(&["a"]), result("a"), user(), result("a")];
    let expected = Violation::AnswersNothing {
        at: 3,
        call: call(),
    };
    assert_eq!(found(late), [expected]);
}

#[test]
fn call_ids_are_unique_in_the_whole_request() {
    let again = vec![calls(&["a"]), result("a"), calls(&["a"]), result("a")];
    let expected = Violation::CallIdTwice {
        at: 2,
        call: id("a"),
    };
    assert_eq!(found(again), [expected]);
}

#[test]
fn system_messages_come_first_and_a_conversation_is_not_empty() {
    assert_eq!(found(Vec::new()), [Violation::NoMessages]);
    let late = vec![system(), user(), system()];
    assert_eq!(found(late), [Violation::SystemNotFirst { at: 2 }]);
    let silent = vec![user(), calls(&[])];
    assert_eq!(found(silent), [Violation::SaysNothing { at: 1 }]);
}

/// The faults of a call of this tool with these arguments, and of an offer of the tool.
fn found_in_call(name: &str, arguments: &str) -> Vec<Violation> {
    let call = ToolCall {
        id: id("a"),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let calling = Message::Assistant {
        content: "Well.".to_owned(),
        tool_calls: vec![call],
    };
    found(vec![user(), calling, result("a")])
}

#[test]
fn tools_are_called_and_offered_by_names_that_every_provider_takes() {
    let long = "x".repeat(65);
    for name in ["", "a.b", "say it", "sagé", "say\n", &long] {
        let tool = name.to_owned();
        let expected = [Violation::ToolName { tool }];
        assert_eq!(found_in_call(name, "{}"), expected, "{name:?}");
    }
    for name in ["say", "look-up_2", &long[..64]] {
        assert_eq!(found_in_call(name, "{}"), [], "{name:?}");
    }
    let request = ChatRequest {
        messages: vec![user()],
        tools: vec![tool("world.say", json!({"type": "object"}))].into(),
        ..ChatRequest::default()
    };
    let expected = Violation::ToolName {
        tool: "world.say".to_owned(),
    };
    assert_eq!(violations(&request), [expected]);
}

#[test]
fn the_arguments_of_a_call_are_an_object() {
    for arguments in ["", " ", "{", "[]", "null", "\"{}\"", "{} {}", "say it"] {
        let expected = [Violation::NoObject {
            at: 1,
            call: id("a"),
        }];
        assert_eq!(found_in_call("say", arguments), expected, "{arguments:?}");
    }
    assert_eq!(found_in_call("say", " {\"a\": [1]}\n"), []);
}

fn tool(name: &str, parameters: serde_json::Value) -> ToolDefinition {
    ToolDefinition {
        name: ToolName::try_new(name).unwrap(),
        description: String::new(),
        parameters,
    }
}

#[test]
fn tools_have_unique_names_object_parameters_and_include_the_chosen_one() {
    let object = json!({ "type": "object" });
    let (say, go) = (
        ToolName::try_new("say").unwrap(),
        ToolName::try_new("move").unwrap(),
    );
    let request = ChatRequest {
        messages: vec![user()],
        tools: vec![tool("say", object.clone()), tool("say", json!(true))].into(),
        tool_choice: ToolChoice::Tool(go),
        ..ChatRequest::default()
    };
    let expected = [
        Violation::ToolTwice { tool: say.clone() },
        Violation::NoObjectSchema { tool: say },
        Violation::ChoiceNotOffered,
    ];
    assert_eq!(violations(&request), expected);
    let none_offered = ChatRequest {
        messages: vec![user()],
        tool_choice: ToolChoice::Required,
        ..ChatRequest::default()
    };
    assert_eq!(violations(&none_offered), [Violation::ChoiceNotOffered]);
}

#[test]
fn sampling_parameters_stay_in_their_ranges() {
    let request = |temperature, top_p, max_tokens| ChatRequest {
        messages: vec![user()],
        temperature,
        top_p,
        max_tokens,
        ..ChatRequest::default()
    };
    assert_eq!(violations(&request(Some(2.0), Some(1.0), Some(1))), []);
    let out_of_range =
        ["temperature", "top_p", "max_tokens"].map(|parameter| Violation::OutOfRange { parameter });
    for (temperature, top_p) in [(2.1, 1.1), (f32::NAN, -0.1)] {
        let found = violations(&request(Some(temperature), Some(top_p), Some(0)));
        assert_eq!(found, out_of_range);
    }
}

/// A conversation of rounds, each with a question and this many answered calls.
fn conversation(rounds: &[usize]) -> Vec<Message> {
    let mut messages = vec![system()];
    for (round, count) in rounds.iter().enumerate() {
        let ids: Vec<String> = (0..*count).map(|n| format!("{round}-{n}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        messages.extend([user(), calls(&ids)]);
        messages.extend(ids.iter().rev().map(|id| result(id)));
    }
    messages
}

proptest! {
    #[test]
    fn a_proper_conversation_is_never_refused_and_one_without_a_result_always(
        rounds in prop::collection::vec(1_usize..4, 1..6),
        pick: prop::sample::Index,
    ) {
        let messages = conversation(&rounds);
        prop_assert_eq!(found(messages.clone()), []);

        let results: Vec<usize> = (0..messages.len())
            .filter(|at| matches!(messages[*at], Message::Tool { .. }))
            .collect();
        let mut without = messages.clone();
        without.remove(results[pick.index(results.len())]);
        prop_assert_eq!(found(without).len(), 1);

        let mut doubled = messages.clone();
        let at = results[pick.index(results.len())];
        doubled.insert(at, messages[at].clone());
        prop_assert_eq!(found(doubled).len(), 1);
    }
}
