//! A question to the offline model, with the memory it asks for handed to it.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use dormouse_contracts::{ChatReply, ChatRequest, Message, ToolDefinition, ToolName, complete};
use dormouse_providers::OfflineModel;
use serde_json::json;

const EVENT: &str = "[whisper from Bob (player:2), trust 0.70, 2026-11-21T10:15:00Z]
> What does Alice prefer?";

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
    let mut request = ChatRequest {
        messages: vec![Message::User {
            content: EVENT.to_owned(),
        }],
        tools: vec![tool("whisper")?, tool("recall_memories")?],
        ..ChatRequest::default()
    };

    let first = complete(&model, &request).await?;
    show(&first);

    let remembered = json!({"success": true, "result": {"memories": [
        {"text": "Alice prefers tea", "at": "2026-11-20T08:30:00Z", "from": "Alice", "trust": 0.7},
    ]}});
    request
        .messages
        .extend(first.tool_calls.iter().map(|call| Message::Tool {
            call_id: call.id.clone(),
            content: remembered.to_string(),
        }));
    request.messages.insert(
        1,
        Message::Assistant {
            content: first.content,
            tool_calls: first.tool_calls,
        },
    );
    show(&complete(&model, &request).await?);
    Ok(())
}
