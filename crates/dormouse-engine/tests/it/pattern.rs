//! Single actions, and the fallback form of tool calling.

use dormouse_contracts::Message;
use dormouse_engine::{ExecutionPattern, StopReason, ToolCalling};
use dormouse_testing::{Perceive, ScriptedModel, Turn};
use serde_json::json;
use tokio::time;

use crate::home::{Home, minutes};

#[tokio::test(start_paused = true)]
async fn a_single_action_carries_its_result_over_to_the_next_tick() {
    let home = Home::new([
        Turn::call("inspect_location", json!({})),
        Turn::call("say", json!({"message": "A cellar."})),
    ])
    .configured(|config| config.pattern = ExecutionPattern::SingleAction);
    home.world
        .answer("inspect_location", json!({"room": "Cellar"}));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "where?").build())
        .await;
    life.handle.at_rest().await;
    assert_eq!(
        home.stops(),
        [StopReason::MaxIterations, StopReason::TerminalTool]
    );
    assert!(home.last_shown().contains("Cellar"));
    assert_eq!(life.handle.status().ticks, 2);
}

#[tokio::test(start_paused = true)]
async fn single_actions_for_one_message_are_bounded() {
    let home = Home::with(ScriptedModel::looping(Turn::call(
        "inspect_location",
        json!({}),
    )))
    .configured(|config| config.pattern = ExecutionPattern::SingleAction);
    home.world.answer("inspect_location", json!({}));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    time::sleep(minutes(600)).await;
    assert_eq!(home.model.requests().len(), 5);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn in_fallback_form_calls_are_json_in_the_text_and_results_are_user_messages() {
    let look = r#"I will look. {"tool": "inspect_location", "parameters": {}, "reasoning": "to see {it}"} There."#;
    let say = r#"{"tool": "say", "parameters": {"message": "A cellar."}}"#;
    let home = Home::new([Turn::text(look), Turn::text(say)])
        .configured(|config| config.tool_calling = ToolCalling::Fallback);
    home.world
        .answer("inspect_location", json!({"room": "Cellar"}));
    home.hear(Perceive::whisper("Alice", "where?").build())
        .await;
    assert_eq!(home.deeds(), ["say A cellar."]);

    let request = home.model.requests().pop().unwrap();
    assert!(request.tools.is_empty(), "nothing is offered natively");
    let [
        ..,
        Message::Assistant {
            content: call,
            tool_calls,
        },
        Message::User { content: result },
    ] = &request.messages[..]
    else {
        panic!("a call and its result come last: {:?}", request.messages);
    };
    assert_eq!(
        (call.as_str(), tool_calls.len()),
        (r#"{"tool": "inspect_location", "parameters": {}}"#, 0)
    );
    assert!(
        result.starts_with("[TOOL RESULT: inspect_location]\n{"),
        "{result}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_printed_as_text_by_a_native_model_is_still_a_call() {
    let home = Home::new([Turn::text(
        r#"<tool_call>{"tool": "say", "arguments": {"message": "hi"}}</tool_call>"#,
    )]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(home.deeds(), ["say hi"]);
}
