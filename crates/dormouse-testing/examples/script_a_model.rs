//! Runs a minimal assistant's loop against a scripted model and a world that loses an answer.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use dormouse_contracts::{
    AssistantId, ChatModel, ChatRequest, Effect, EffectInquiry, EffectKey, Inquire, Message,
    Perform, ToolCall, ToolName, complete,
};
use dormouse_testing::{Behaviour, FakeWorld, ScriptedModel, ScriptedTurn};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedModel::new([
        ScriptedTurn::call("say", json!({ "message": "Good evening, Alice." })),
        ScriptedTurn::text("I have greeted Alice."),
    ]);
    let world = FakeWorld::new();
    world.then(Behaviour::DoneButUnanswered);

    println!("model: {}", turn(&model, &world).await?);

    // Every request to the model was valid, and every turn was used.
    model.assert_finished();
    println!("asked: {} times", model.requests().len());
    println!("done:  {:?}", world.performed().len());
    Ok(())
}

/// Asks the model until it makes no more calls, and returns its final text.
async fn turn(model: &dyn ChatModel, world: &FakeWorld) -> Result<String, Box<dyn Error>> {
    let mut request = ChatRequest {
        messages: vec![Message::User {
            content: "Alice enters.".to_owned(),
        }],
        tools: FakeWorld::tools().iter().map(Into::into).collect(),
        ..ChatRequest::default()
    };
    loop {
        let reply = complete(model, &request).await?;
        if reply.tool_calls.is_empty() {
            return Ok(reply.content);
        }
        request.messages.push(Message::Assistant {
            content: reply.content,
            tool_calls: reply.tool_calls.clone(),
        });
        for call in reply.tool_calls {
            let content = act(world, &call).await?;
            let call_id = call.id;
            request.messages.push(Message::Tool { call_id, content });
        }
    }
}

/// Carries out a call. If the answer is lost, asks the world what became of the call instead of repeating it.
async fn act(world: &FakeWorld, call: &ToolCall) -> Result<String, Box<dyn Error>> {
    let effect = Effect {
        key: EffectKey::try_new(format!("dormouse/{}", call.id))?,
        actor: AssistantId::try_new("dormouse")?,
        tool: ToolName::try_new(call.name.as_str())?,
        arguments: serde_json::from_str(&call.arguments)?,
        reply_to: None,
        within: None,
    };
    println!("world: {} {}", call.name, call.arguments);
    let outcome = match world.perform(&effect).await {
        Ok(outcome) => format!("{outcome:?}"),
        Err(error) => {
            println!("world: {error}");
            match world.inquire(&effect).await? {
                EffectInquiry::Done(receipt) => receipt.detail.to_string(),
                other => format!("{other:?}"),
            }
        }
    };
    println!("world: {outcome}");
    Ok(json!({ "outcome": outcome }).to_string())
}
