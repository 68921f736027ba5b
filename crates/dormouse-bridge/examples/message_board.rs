//! A message board that sends messages twice and does not remember requests: each message and each post still counts
//! once.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use dormouse_bridge::{Begun, BridgeFile, Report};
use dormouse_contracts::{
    Arguments, AssistantId, Effect, EffectKey, EntityId, Outcome, Receipt, Sender, Senses,
    SourceKind, Timestamp, ToolName, Words,
};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = BridgeFile::open(&folder.path().join("board.redb"), "board")?;
    let (queue, receipts) = (file.queue(), file.receipts());
    let me = EntityId::try_new("assistant:dormouse")?;
    queue.enter(&me).await?;

    // The board sends message 17 twice, as it does after a lost connection.
    for _ in 0..2 {
        let sender = Sender::Entity {
            id: EntityId::try_new("member:alice")?,
            name: "Alice".to_owned(),
        };
        let words = Words::try_new("Is anybody awake?")?;
        let report = Report::new(SourceKind::Page, sender, Timestamp::EPOCH, words);
        let delivery = queue.push_once(&me, "message 17", report).await?;
        println!("message 17 is delivery {}", delivery.number);
    }
    println!("kept: {}", queue.perceptions(&me, 0, 10).await?.len());

    // The assistant requests one post twice, as it does after a lost answer.
    let post = Effect {
        key: EffectKey::try_new("dormouse/7")?,
        actor: AssistantId::try_new("dormouse")?,
        tool: ToolName::try_new("post")?,
        arguments: Arguments::from_iter([("text".to_owned(), json!("I am."))]),
        reply_to: None,
        within: None,
    };
    for _ in 0..2 {
        match receipts.begin(&post).await? {
            Begun::New => {
                println!("posting: {:?}", post.arguments.get("text"));
                let done = Outcome::Done(Receipt::new(json!({ "post": 18 })));
                receipts.finish(&post.key, done, Vec::new()).await?;
            }
            Begun::Open => println!("it may have been posted: ask the board"),
            Begun::Known(outcome) => println!("already: {outcome:?}"),
        }
    }
    Ok(())
}
