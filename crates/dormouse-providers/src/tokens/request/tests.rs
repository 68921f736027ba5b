use std::sync::Arc;

use dormouse_contracts::{CallId, ToolName};
use dormouse_testing::CountTokens;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{CalibratedCounter, Estimate};

fn user(content: &str) -> Message {
    Message::User {
        content: content.to_owned(),
    }
}

fn calling(arguments: &str) -> Message {
    Message::Assistant {
        content: String::new(),
        tool_calls: vec![ToolCall {
            id: CallId::try_new("call-1").unwrap(),
            name: "say".to_owned(),
            arguments: arguments.to_owned(),
        }],
    }
}

fn request(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        messages,
        ..ChatRequest::default()
    }
}

#[test]
fn an_empty_request_counts_the_start_of_the_reply() {
    let count = count_request(&CountTokens, &ChatRequest::default());
    assert_eq!(
        (count.total(), count.messages, count.exact_texts),
        (3, 0, true)
    );
}

#[test]
fn arguments_of_native_calls_and_their_results_count() {
    let result = Message::Tool {
        call_id: CallId::try_new("call-1").unwrap(),
        content: "well done".to_owned(),
    };
    let count = count_request(
        &CountTokens,
        &request(vec![calling("one two three"), result]),
    );
    assert_eq!(count.texts, 1 + 3 + 2);
    assert_eq!(count.framing, REPLY + 2 * PER_MESSAGE + PER_CALL);
}

#[test]
fn definitions_of_tools_and_the_schema_of_the_reply_count() {
    let mut asked = request(vec![user("tea")]);
    let bare = count_request(&Estimate::default(), &asked).total();
    asked.tools = vec![ToolDefinition {
        name: ToolName::try_new("say").unwrap(),
        description: "Says something to all who are in the room.".to_owned(),
        parameters: json!({"type": "object", "properties": {"text": {"type": "string"}}}),
    }]
    .into();
    let counted = count_request(&Estimate::default(), &asked);
    let with_tool = counted.total();
    let kept = CalibratedCounter::new(Arc::new(Estimate::default()));
    for _ in 0..2 {
        assert_eq!(kept.count_request(&asked), counted);
    }
    assert!(with_tool > bare + TOOLS + PER_TOOL + 20);
    asked.output = OutputFormat::Schema {
        name: "plan".to_owned(),
        schema: json!({"type": "object", "required": ["steps"]}),
    };
    assert!(count_request(&Estimate::default(), &asked).total() > with_tool + PER_TOOL);
}

#[test]
fn one_estimated_text_makes_the_texts_an_estimate() {
    assert!(!count_request(&Estimate::default(), &request(vec![user("tea")])).exact_texts);
    assert!(count_request(&CountTokens, &request(vec![user("tea")])).exact_texts);
}

proptest! {
    #[test]
    fn a_further_message_always_takes_more(texts in prop::collection::vec("[ a-z]{0,40}", 0..8), more in "[ a-z]{0,40}") {
        let mut asked = request(texts.iter().map(|text| user(text)).collect());
        let before = count_request(&Estimate::default(), &asked);
        asked.messages.push(calling(&more));
        let after = count_request(&Estimate::default(), &asked);
        prop_assert!(after.total() > before.total());
        prop_assert_eq!(after.messages, before.messages + 1);
    }
}
