//! Two visits to one assistant: it remembers the first one in the second.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, path::Path};

use dormouse::{
    DataFolder, Host, HostSettings,
    contracts::{AssistantId, EntityId, PERCEPTIONS_PAGE, Senses, Words},
    host::config::Config,
    providers::Environment,
    sandbox::{Act, Character, CharacterKind},
};

async fn visit(folder: &Path, line: &str) -> Result<(), Box<dyn Error>> {
    let settings = HostSettings::of(Config::default(), Environment::of(|_| None))?;
    let host = Host::open(settings, &DataFolder::at(folder)?).await?;
    let resident = host.wake(&AssistantId::try_new("dormouse")?).await?;
    let alice = EntityId::try_new("player:alice")?;
    let character = Character {
        id: alice.clone(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    host.world().join(character).await?;
    let earlier = host
        .world()
        .perceptions(&alice, 0, PERCEPTIONS_PAGE)
        .await?;
    let earlier = earlier
        .last()
        .map_or(0, |heard| heard.attested.delivery.number);

    println!("Alice: {line}");
    let act = Act::SayTo {
        to: "Dormouse".to_owned(),
        words: Words::try_new(line)?,
    };
    let acted = host.world().act(&alice, act).await?;
    resident.heard(&acted.deliveries).await?;
    resident.handle().at_rest().await;
    for heard in host
        .world()
        .perceptions(&alice, earlier, PERCEPTIONS_PAGE)
        .await?
    {
        println!(
            "{}: {}",
            heard.attested.sender.name(),
            heard.words.as_claimed()
        );
    }
    host.close().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    visit(folder.path(), "remember that Alice prefers tea").await?;
    visit(folder.path(), "what does Alice prefer?").await
}
