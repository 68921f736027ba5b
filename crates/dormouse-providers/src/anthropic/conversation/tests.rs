use dormouse_contracts::ToolName;
use proptest::prelude::*;

use super::*;

fn system(content: &str) -> Message {
    Message::System {
        content: content.to_owned(),
    }
}

fn user(content: &str) -> Message {
    Message::User {
        content: content.to_owned(),
    }
}

fn assistant(content: &str, calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: CallId::try_new(*id).unwrap(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    Message::Assistant {
        content: content.to_owned(),
        tool_calls: calls.iter().map(call).collect(),
    }
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool {
        call_id: CallId::try_new(id).unwrap(),
        content: content.to_owned(),
    }
}

fn written(messages: &[Message]) -> Value {
    let conversation = Conversation::of(messages);
    Value::from(conversation.messages(&ToolNames::default(), 0))
}

fn said(role: &str, texts: &[&str]) -> Value {
    let texts = texts.iter().map(|content| text(content));
    json!({"role": role, "content": texts.collect::<Vec<_>>()})
}

#[test]
fn consecutive_messages_of_one_role_are_merged_and_instructions_are_separate() {
    let messages = [
        system("Be brief."),
        user("one"),
        user(" \n"),
        user("two"),
        assistant("three", &[]),
        system("Be kind."),
        assistant("", &[]),
        assistant("four", &[]),
        user("five"),
    ];
    assert_eq!(
        written(&messages),
        json!([
            said("user", &["one", "two"]),
            said("assistant", &["three", "four"]),
            said("user", &["five"]),
        ])
    );
    assert_eq!(
        Conversation::of(&messages).system(0),
        [text("Be brief."), text("Be kind.")]
    );
}

#[test]
fn every_conversation_starts_and_ends_with_a_user() {
    let begins = said("user", &[BEGINNING]);
    assert_eq!(written(&[]), json!([begins]));
    assert_eq!(written(&[system("s"), user("")]), json!([begins]));
    assert_eq!(
        written(&[assistant("hello", &[])]),
        json!([
            begins,
            said("assistant", &["hello"]),
            said("user", &[GO_ON])
        ])
    );
}

#[test]
fn all_results_of_a_turn_come_first_in_the_next_message() {
    let messages = [
        user("go"),
        assistant("", &[("a", "look", "{}"), ("b", "say", "{\"m\": 1}")]),
        assistant("I called.", &[]),
        result("b", "2"),
        user("and?"),
        result("a", "1"),
    ];
    assert_eq!(
        written(&messages),
        json!([
            said("user", &["go"]),
            {"role": "assistant", "content": [
                {"type": "text", "text": "I called."},
                {"type": "tool_use", "id": "a", "name": "look", "input": {}},
                {"type": "tool_use", "id": "b", "name": "say", "input": {"m": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "text", "text": "and?"},
            ]},
        ])
    );
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_becomes_text() {
    let messages = [
        result("z", "lost"),
        assistant("", &[("a", "look", "{}"), ("b", "look", "{}")]),
        result("a", " "),
        result("a", "again"),
        assistant("hm", &[("c", "look", "{}")]),
    ];
    let missing = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": NO_RESULT, "is_error": true});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
    assert_eq!(
        written(&messages),
        json!([
            said("user", &["(The result of a call: lost)"]),
            {"role": "assistant", "content": [call("a"), call("b")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": NO_RESULT},
                missing("b"),
                text("(The result of a call: again)"),
            ]},
            {"role": "assistant", "content": [text("hm"), call("c")]},
            {"role": "user", "content": [missing("c")]},
        ])
    );
}

#[test]
fn a_repeated_id_belongs_to_the_later_call() {
    let messages = [
        assistant("", &[("a", "look", ""), ("a", "look", "")]),
        result("a", "1"),
        result("a", "2"),
        assistant("", &[("a", "look", "")]),
        result("a", "3"),
    ];
    let turns = written(&messages);
    let ids = |turn: usize, field: &str| -> Vec<String> {
        let blocks = turns[turn]["content"].as_array().unwrap().iter();
        let ids = blocks.map(|block| block[field].as_str().unwrap().to_owned());
        ids.collect()
    };
    assert_eq!(ids(1, "id"), ["a", "dm1_a"]);
    assert_eq!(ids(2, "tool_use_id"), ["a", "dm1_a"]);
    assert_eq!(ids(3, "id"), ["dm2_a"]);
    assert_eq!(ids(4, "tool_use_id"), ["dm2_a"]);
}

#[test]
fn arguments_that_are_not_an_object_become_text_in_an_object() {
    assert_eq!(input("{\"a\":1}"), json!({"a": 1}));
    assert_eq!(input(" "), json!({}));
    for arguments in ["{\"a\":", "[1]", "null", "\"x\"", "1e999", "say hello"] {
        assert_eq!(input(arguments), json!({ "arguments": arguments }));
    }
    let deep = "{\"a\":".repeat(500);
    assert_eq!(input(&deep), json!({ "arguments": deep }));
}

#[test]
fn the_last_stable_block_is_marked() {
    let messages = [
        system("s"),
        user("one"),
        assistant("", &[("a", "look", "")]),
        result("a", "r"),
        user("two"),
        system("late"),
    ];
    let conversation = Conversation::of(&messages);
    let marked = |stable: usize| -> Vec<String> {
        let turns = conversation.messages(&ToolNames::default(), stable);
        let blocks = turns
            .iter()
            .flat_map(|turn| turn["content"].as_array().unwrap().clone());
        let blocks = conversation.system(stable).into_iter().chain(blocks);
        let marked = blocks.filter(|block| block.get("cache_control").is_some());
        let shown = marked.map(|block| {
            let name = ["text", "id", "content"].iter().find_map(|f| block.get(f));
            name.unwrap().as_str().unwrap().to_owned()
        });
        shown.collect()
    };
    assert_eq!(marked(0), Vec::<String>::new());
    assert_eq!(marked(1), ["s"]);
    assert_eq!(marked(2), ["s", "one"]);
    assert_eq!(marked(3), ["s", "a"]);
    assert_eq!(marked(4), ["s", "r"]);
    assert_eq!(marked(99), ["late", "two"]);
}

fn message() -> impl Strategy<Value = Message> {
    let id = || prop::sample::select(vec!["a", "b", "a.b", "dm_a", "ü"]);
    let text = || prop::sample::select(vec!["", " ", "x", "{}"]);
    let call = (id(), text());
    prop_oneof![
        text().prop_map(system),
        text().prop_map(user),
        (text(), prop::collection::vec(call, 0..3)).prop_map(|(content, calls)| {
            let calls: Vec<_> = calls.into_iter().map(|(id, a)| (id, "say", a)).collect();
            assistant(content, &calls)
        }),
        (id(), text()).prop_map(|(id, content)| result(id, content)),
    ]
}

proptest! {
    /// Checks all rules of the API.
    #[test]
    fn every_conversation_satisfies_the_rules_of_the_api(
        messages in prop::collection::vec(message(), 0..12), stable in 0_usize..14,
    ) {
        let conversation = Conversation::of(&messages);
        let turns = conversation.messages(&ToolNames::default(), stable);
        let mut used = std::collections::HashSet::new();
        let mut waiting: Vec<String> = Vec::new();
        let mut marks = 0;
        for (place, turn) in turns.iter().enumerate() {
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            prop_assert_eq!(&turn["role"], role);
            let blocks = turn["content"].as_array().unwrap();
            prop_assert!(!blocks.is_empty());
            let results = blocks.iter().take_while(|block| block["type"] == "tool_result");
            let mut answered: Vec<_> = results
                .map(|block| block["tool_use_id"].as_str().unwrap().to_owned())
                .collect();
            answered.sort();
            waiting.sort();
            prop_assert_eq!(&answered, &waiting);
            waiting.clear();
            for block in &blocks[answered.len()..] {
                match block["type"].as_str().unwrap() {
                    "text" => prop_assert!(!block["text"].as_str().unwrap().trim().is_empty()),
                    "tool_use" => {
                        prop_assert_eq!(role, "assistant");
                        let id = block["id"].as_str().unwrap().to_owned();
                        prop_assert!(used.insert(id.clone()), "{} names one call", id);
                        prop_assert!(block["input"].is_object());
                        waiting.push(id);
                    }
                    other => prop_assert!(false, "{}", other),
                }
            }
            marks += blocks.iter().filter(|block| block.get("cache_control").is_some()).count();
        }
        prop_assert_eq!(turns.len() % 2, 1, "the last word is a user's");
        prop_assert!(marks <= 1);
    }
}

fn tools(names: &[String]) -> Vec<ToolDefinition> {
    let tool = |name: &String| ToolDefinition {
        name: ToolName::try_new(name.as_str()).unwrap(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    names.iter().map(tool).collect()
}

#[test]
fn an_id_is_changed_only_if_necessary() {
    assert_eq!(call_id("toolu_01-a", 0), "toolu_01-a");
    assert_eq!(call_id("call:3.0", 0), "dm_call_3a3_2e0");
    assert_eq!(call_id("call_3", 1), "dm1_call_5f3");
    assert_eq!(call_id("dm_x", 0), "dm_dm_5fx");
}

#[test]
fn a_written_tool_name_maps_back_to_its_tool() {
    let names = ["world.say", "world_say", "say"].map(str::to_owned);
    let names = ToolNames::of(&tools(&names));
    assert_eq!(names.written("world_say"), "world_say");
    assert_eq!(names.written("world.say"), "world_say_2");
    assert_eq!(names.original("world_say_2".to_owned()), "world.say");
    assert_eq!(names.written("no such tool"), "no_such_tool");
    assert_eq!(names.original("unknown".to_owned()), "unknown");
}

proptest! {
    #[test]
    fn no_two_calls_get_the_same_id(
        a in "(dm|dm1|)[_a.é-]{0,6}", b in "(dm|dm1|)[_a.é-]{0,6}", n in 0_usize..3, m in 0_usize..3,
    ) {
        let (one, other) = (call_id(&a, n), call_id(&b, m));
        prop_assert_eq!(one == other, (&a, n) == (&b, m));
        prop_assert!(!one.is_empty());
        prop_assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
    }

    #[test]
    fn no_two_tools_get_the_same_name_and_each_is_found_again(
        names in prop::collection::hash_set("[a_.]{1,3}|[a.]{64}", 1..12),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let written = ToolNames::of(&tools(&names));
        let mut seen = HashSet::new();
        for name in names {
            let sent = written.written(&name);
            prop_assert!(sent.len() <= NAME_LIMIT && !sent.contains('.'));
            prop_assert!(seen.insert(sent.clone()));
            prop_assert_eq!(written.original(sent), name);
        }
    }
}
