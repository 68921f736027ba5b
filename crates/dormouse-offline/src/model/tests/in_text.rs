//! Calls and results as text, for models that are not offered tools natively.

use super::*;

/// The same conversation without native tools: calls and results are in the text.
struct Written(Talk);

impl Written {
    fn new(how: &str, words: &str) -> Self {
        let mut talk = Talk::new(how, words);
        let tools = std::mem::take(&mut talk.request.tools);
        talk.request.tool_choice = ToolChoice::None;
        let turn = talk.request.turn.as_mut().unwrap();
        turn.tools_in_text = tools.iter().map(|tool| tool.name.clone()).collect();
        Self(talk)
    }

    fn call(&mut self) -> (String, Value) {
        let reply = reply(&self.0.request);
        assert_eq!(reply.finish, FinishReason::Stop);
        assert_eq!(reply.tool_calls, []);
        let call: Value = serde_json::from_str(&reply.content).unwrap();
        assert!(!call["reasoning"].as_str().unwrap().is_empty());
        let tool = call["tool"].as_str().unwrap().to_owned();
        let prepared = self.0.results.get(&tool).cloned();
        let result = prepared.unwrap_or(json!({"success": true, "result": {}}));
        let call_made = TurnCall {
            tool: tool.clone(),
            arguments: call["parameters"].to_string(),
            result: Some(result.to_string()),
        };
        self.0.steps().push(TurnStep {
            text: reply.content,
            calls: vec![call_made],
        });
        (tool, call["parameters"].clone())
    }
}

#[test]
fn tools_listed_in_the_instructions_are_called_in_text() {
    let mut talk = Written::new("whisper", "what does Alice prefer?");
    talk.0.results = json!({"recall_memories": {"success": true, "result": {"memories": [
        {"text": "Alice prefers tea", "at": "2026-11-21T10:15:00Z", "from": "Alice", "trust": 0.7}
    ]}}});
    let query = json!({"query": "what does Alice prefer?", "limit": 20});
    assert_eq!(talk.call(), ("recall_memories".to_owned(), query));
    let answer = json!({"to": "Alice", "message": "On 2026-11-21 at 10:15, Alice told me: \"Alice prefers tea\""});
    assert_eq!(talk.call(), ("whisper".to_owned(), answer));
    assert_eq!(talk.call(), ("noop".to_owned(), json!({})));
    assert_eq!(reply(&talk.0.request).content, "");
}

#[test]
fn an_unknown_outcome_in_text_is_reported_and_never_repeated() {
    let mut talk = Written::new("say", "go north");
    talk.0.results = json!({"move": {"success": false, "outcome": "unknown"}});
    assert_eq!(talk.call().0, "move");
    let (tool, parameters) = talk.call();
    assert_eq!(tool, "say");
    assert!(parameters.to_string().contains("I cannot tell"));
}

proptest! {
    #[test]
    fn both_forms_of_offering_tools_give_the_same_result(
        lines in prop::collection::vec(hostile_lines(), 0..4),
        words in prop::sample::select(vec!["well, ", "remember that ", "who is ", "go ", "look "]),
        how in prop::sample::select(vec!["whisper", "page", "say"]),
        result in prop::sample::select(vec![
            json!({"success": true, "result": {}}),
            json!({"success": false, "error": "a\n\nb"}),
            json!({"success": false, "outcome": "unknown"}),
        ]),
    ) {
        let words = format!("{words}{}", lines.join("\n"));
        let (mut native, mut written) = (Talk::new(how, &words), Written::new(how, &words));
        let results = TOOLS.map(|tool| (tool.to_owned(), result.clone()));
        native.results = Value::Object(results.into_iter().collect());
        written.0.results = native.results.clone();
        loop {
            let call = native.call();
            prop_assert_eq!(&call, &written.call());
            if call.0 == "noop" {
                break;
            }
        }
    }
}
