//! An agent remembers something and asks for it, over the protocol, without a key and without a network.

use std::{error::Error, time::SystemTime};

use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_mcp::{MemoryLimits, MemoryServer};
use dormouse_memory::Memory;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split},
    task::JoinSet,
};

#[expect(
    clippy::disallowed_methods,
    reason = "the program is where time comes from"
)]
fn now() -> Timestamp {
    SystemTime::now().into()
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("two-lines-{}.redb", std::process::id()));
    let memory = Memory::builder(AssistantId::try_new("agent")?, now)
        .open(&folder)
        .await?;
    let server = MemoryServer::try_new(memory, MemoryLimits::default()).await?;
    let (client, served) = duplex(64 * 1024);
    let (input, output) = split(served);
    let mut serving = JoinSet::new();
    serving.spawn(server.serve(input, output, std::future::pending()));

    let (answers, mut calls) = split(client);
    let mut answers = BufReader::new(answers).lines();
    let begin = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "two lines", "version": "1" },
    });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        call(
            2,
            "remember",
            &json!({ "text": "Peppermint, please. No sugar.", "said_by": "Bob" }),
        ),
        call(3, "recall", &json!({ "query": "Does Bob take sugar?" })),
    ];
    for line in lines {
        calls.write_all(format!("{line}\n").as_bytes()).await?;
        if line.get("id").is_some() {
            let answer = answers.next_line().await?.ok_or("the server ended")?;
            let answer: Value = serde_json::from_str(&answer)?;
            if let Some(text) = answer.pointer("/result/content/0/text") {
                println!("{text}");
            }
        }
    }
    drop((answers, calls));
    if let Some(ended) = serving.join_next().await {
        ended??;
    }
    std::fs::remove_file(&folder)?;
    Ok(())
}

fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}
