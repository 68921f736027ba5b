use super::*;

/// The allowed and the actual work for a text of this length.
fn work(text: &str) -> (usize, usize) {
    let mut budget = ScanBudget::on(text);
    only_calls(text, &mut budget);
    let strictly = budget.spent();
    let mut budget = ScanBudget::on(text);
    first_call(text, &mut budget, &|_| false);
    let most = text.len() * ScanBudget::FACTOR + ScanBudget::LEAST;
    // The step that exceeds the budget counts too, and reads at most what was left.
    (strictly.max(budget.spent()), most + 2 * text.len() + 2)
}

#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    for piece in [
        "{",
        "[",
        "{\"a\":",
        "{\"a\":[",
        "{'a':",
        "{\"",
        "<tool_call>{",
        "<function=say><parameter=a>",
        "<invoke name=\"say\">\n<parameter name=\"a\">",
        "<tool_call>say<arg_key>",
        "[TOOL_CALLS]{\"name\":",
        "<|tool_call_begin|>functions.a:1<|tool_call_argument_begin|>{",
        "{} ",
        "{\"tool\": \"x\"}",
        "{\"tool_calls\": [{\"tool\": \"x\"}]}",
        "word ",
    ] {
        for times in [10, 100, 1_000, 10_000] {
            let (work, most) = work(&piece.repeat(times));
            assert!(work <= most, "{times} times {piece}: {work} of {most}");
        }
    }
}

#[test]
fn ordinary_text_is_read_a_few_times_at_most() {
    let call = r#"{"name": "say", "arguments": {"message": "a } b"}}"#;
    for text in [call.to_owned(), call.repeat(1_000), format!("[{call}]")] {
        let mut budget = ScanBudget::on(&text);
        assert!(only_calls(&text, &mut budget).is_some());
        assert!(budget.spent() <= 3 * text.len(), "{}", budget.spent());
    }
}

#[test]
fn ambiguous_json_is_not_repaired() {
    for text in [
        "{'tool': 'say', 'parameters': {'message': 'it's'}}",
        "{tool: 'say'}",
        "{'tool': 'say', 'parameters': }",
        "{'tool': 'say' 'parameters': {}}",
        "{'tool': say}",
        "{,'tool': 'say'}",
    ] {
        assert_eq!(only_calls(text, &mut ScanBudget::on(text)), None, "{text}");
    }
}
