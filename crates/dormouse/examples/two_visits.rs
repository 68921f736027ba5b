//! Two visits to one assistant: it remembers the first one in the second.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, path::Path};

use dormouse::{
    Resident,
    contracts::{AssistantId, EntityId, Words},
    sandbox::{Act, Character, CharacterKind, FEED_PAGE},
};

async fn visit(folder: &Path, line: &str) -> Result<(), Box<dyn Error>> {
    let mut resident = Resident::builder(folder, AssistantId::try_new("dormouse")?)
        .start()
        .await?;
    let alice = EntityId::try_new("player:alice")?;
    let character = Character {
        id: alice.clone(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    resident.world().join(character).await?;
    let earlier = resident.world().perceptions(&alice, 0, FEED_PAGE).await?;
    let earlier = earlier
        .last()
        .map_or(0, |heard| heard.attested.delivery.number);

    println!("Alice: {line}");
    let act = Act::SayTo {
        to: "dormouse".to_owned(),
        words: Words::try_new(line)?,
    };
    resident.act(&alice, act).await?;
    resident.handle().at_rest().await;
    for heard in resident
        .world()
        .perceptions(&alice, earlier, FEED_PAGE)
        .await?
    {
        println!(
            "{}: {}",
            heard.attested.sender.name(),
            heard.words.as_claimed()
        );
    }
    Ok(resident.shut_down().await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    visit(folder.path(), "remember that Alice prefers tea").await?;
    visit(folder.path(), "what does Alice prefer?").await
}
