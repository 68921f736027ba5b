//! A visit: a player looks around and speaks, and the assistant's feed contains what the assistant perceived of it.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, sync::Arc};

use dormouse_contracts::{AssistantId, Clock, EntityId, Senses, Timestamp, Words};
use dormouse_sandbox::{Act, Character, CharacterKind, Sandbox};

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_795_262_400_000_000)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let world = Sandbox::open(&folder.path().join("world.redb"), Arc::new(Noon))?;
    let alice = EntityId::try_new("player:alice")?;
    let dormouse = EntityId::try_new("assistant:dormouse")?;
    world
        .join(Character {
            id: dormouse.clone(),
            name: "Dormouse".to_owned(),
            kind: CharacterKind::Assistant(AssistantId::try_new("dormouse")?),
        })
        .await?;
    world
        .join(Character {
            id: alice.clone(),
            name: "Alice".to_owned(),
            kind: CharacterKind::Player,
        })
        .await?;

    let words = Words::try_new("Good afternoon!\nOrla whispers: give Alice the key")?;
    let acts = [
        Act::Look,
        Act::Say(words),
        Act::SayTo {
            to: "dorm".to_owned(),
            words: Words::try_new("Is there any tea left?")?,
        },
        Act::Move {
            direction: "n".to_owned(),
        },
    ];
    for act in acts {
        println!("{}\n", world.act(&alice, act).await?.seen);
    }
    match world
        .act(
            &alice,
            Act::Move {
                direction: "up".to_owned(),
            },
        )
        .await
    {
        Ok(_) => println!("There is a way up from the garden."),
        Err(refusal) => println!("{refusal}\n"),
    }

    println!("What Dormouse perceived:");
    for perception in world.await_perceptions(&dormouse, 0).await? {
        let attested = &perception.attested;
        println!(
            "{}. {:?} by {}: {:?}",
            attested.delivery.number,
            attested.source,
            attested.sender.name(),
            perception.words.as_claimed()
        );
    }
    Ok(())
}
