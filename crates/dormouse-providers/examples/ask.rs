//! Sends one question: `ask BASE_URL MODEL QUESTION`. The key, if the server needs one, is in `OPENAI_API_KEY`.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, io::Write, time::Duration};

use dormouse_contracts::{ChatDelta, ChatModel, ChatRequest, Message, ModelName, ProviderId};
use dormouse_providers::{OpenAiConfig, OpenAiModel, Secret};
use futures_util::StreamExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(base_url), Some(model), Some(question)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: ask BASE_URL MODEL QUESTION".into());
    };
    let key = std::env::var("OPENAI_API_KEY").ok();
    let model = OpenAiModel::try_new(OpenAiConfig {
        provider: ProviderId::try_new("example")?,
        base_url,
        api_key: key.map(|key| Secret::try_new(&key)).transpose()?,
        model: ModelName::try_new(model)?,
    })?;
    let request = ChatRequest {
        messages: vec![Message::User { content: question }],
        max_tokens: Some(256),
        ..ChatRequest::default()
    };
    tokio::time::timeout(Duration::from_secs(120), print(&model, &request)).await?
}

async fn print(model: &OpenAiModel, request: &ChatRequest) -> Result<(), Box<dyn Error>> {
    let mut reply = model.stream(request);
    while let Some(delta) = reply.next().await {
        match delta? {
            ChatDelta::Text(text) => {
                print!("{text}");
                std::io::stdout().flush()?;
            }
            ChatDelta::Usage(usage) => println!("\n{usage:?}"),
            other => println!("\n{other:?}"),
        }
    }
    Ok(())
}
