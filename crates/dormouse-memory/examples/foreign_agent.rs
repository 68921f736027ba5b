//! Memory for any other agent, without a key and without a network.

use std::{error::Error, time::SystemTime};

use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_memory::{Memory, Note, RecallRequest, RecordKind};

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
    let path = std::env::temp_dir().join(format!("foreign-agent-{}.redb", std::process::id()));
    let memory = Memory::builder(AssistantId::try_new("my-agent")?, now)
        .open(&path)
        .await?;

    let chat = |name: &str, text: &str| Note::new(text).said_by(name).in_thread("kitchen");
    memory
        .add(chat("Alice", "What would you like to drink?"), "heard")
        .await?;
    memory
        .add(chat("Bob", "Peppermint, please. No sugar."), "heard")
        .await?;
    let wish = chat("Alice", "Always knock before you come in.").kind(RecordKind::Instruction);
    memory.add(wish, "heard").await?;

    let found = memory
        .recall(RecallRequest::new("What does Bob drink?").tokens(100))
        .await?;
    for item in &found.items {
        println!("{:?} {:.2} {}", item.role, item.score, item.line());
    }

    drop(memory);
    std::fs::remove_file(&path)?;
    Ok(())
}
