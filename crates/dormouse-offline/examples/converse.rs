//! Asks the offline model a question, and returns the memory that it requests.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use dormouse_contracts::{
    ChatReply, ChatRequest, ToolDefinition, ToolName, TurnCall, TurnContext, TurnStep, complete,
};
use dormouse_offline::OfflineModel;
use dormouse_testing::Perceive;
use serde_json::json;

fn tool(name: &str) -> Result<ToolDefinition, Box<dyn Error>> {
    Ok(ToolDefinition {
        name: ToolName::try_new(name)?,
        description: String::new(),
        parameters: json!({"type": "object"}),
    })
}

fn show(reply: &ChatReply) {
    println!("{}", reply.content);
    for call in &reply.tool_calls {
        println!("{} {}", call.name, call.arguments);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = OfflineModel::new();
    let question = Perceive::whisper("Bob", "What does Alice prefer?").build();
    let mut turn = TurnContext::new(question.into());
    let mut request = ChatRequest {
        tools: vec![tool("whisper")?, tool("recall_memories")?].into(),
        turn: Some(Box::new(turn.clone())),
        ..ChatRequest::default()
    };

    let first = complete(&model, &request).await?;
    show(&first);

    let remembered = json!({"success": true, "result": {"memories": [
        {"text": "Alice prefers tea", "at": "2026-11-20T08:30:00Z", "from": "Alice", "trust": 0.7},
    ]}});
    let calls = first.tool_calls.into_iter().map(|call| TurnCall {
        tool: call.name,
        arguments: call.arguments,
        result: Some(remembered.to_string()),
    });
    turn.steps.push(TurnStep {
        text: first.content,
        calls: calls.collect(),
    });
    request.turn = Some(Box::new(turn));
    show(&complete(&model, &request).await?);
    Ok(())
}
