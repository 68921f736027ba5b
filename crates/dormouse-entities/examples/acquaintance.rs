//! Somebody comes by every day and becomes an acquaintance: `cargo run -p dormouse-entities --example acquaintance`.

use std::{error::Error, time::Duration};

use dormouse_contracts::{
    Attested, Delivery, EntityId, Sender, SourceKind, Timestamp, TokenCount, TokenCounter, Trust,
    WorldId,
};
use dormouse_entities::{
    BlockPolicy, Entities, EntityChange, NewObservation, OrderPolicy, OrderValidity, Passage,
    SpeakerRole, StaleAfter, StandingOrder, TextLine, compile, entity_block, orders_in,
};

/// Four characters to a token, which is a fair guess for English.
struct Guess;

impl TokenCounter for Guess {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX),
            exact: false,
        }
    }
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn main() -> Result<(), Box<dyn Error>> {
    let alice = EntityId::try_new("#123")?;
    let trust = Trust::try_new(0.9)?;
    let mut entities = Entities::new();
    let mut now = Timestamp::from_micros(1_795_219_200_000_000);

    // Every day for a month she whispers a few times. The server says who it is; nothing is read from the text.
    for number in 1..=30 {
        now = now.plus(Duration::from_secs(86_400));
        let delivery = Delivery {
            world: WorldId::try_new("teahouse")?,
            number,
        };
        let sender = Sender::Entity {
            id: alice.clone(),
            name: "Alice".to_owned(),
        };
        let attested = Attested::new(delivery, SourceKind::Whisper, sender, now);
        for _ in 0..4 {
            for change in entities.heard(&attested, trust) {
                entities.apply(&change, now)?;
            }
        }
    }

    let words = "Good evening. Always pour the tea before the milk.";
    for change in [
        EntityChange::Observed {
            entity: alice.clone(),
            observation: NewObservation {
                content: TextLine::try_new("Comes by every evening")?,
                source: TextLine::try_new("direct")?,
                trust,
                origin: None,
                audience: None,
                sources: dormouse_contracts::Sources::default(),
            },
        },
        EntityChange::ConversationStarted {
            entity: alice.clone(),
            topic: Some(TextLine::try_new("tea")?),
            stale_after: StaleAfter::default(),
        },
        EntityChange::MessageAdded {
            entity: alice.clone(),
            role: SpeakerRole::User,
            content: Passage::try_new(words)?,
        },
        EntityChange::ActionAdded {
            entity: alice.clone(),
            description: TextLine::try_new("Bring a pot of Assam")?,
            priority: 1,
            due_at: None,
            when: Vec::new(),
            until: None,
            trust: None,
            audience: None,
            sources: dormouse_contracts::Sources::default(),
        },
    ] {
        entities.apply(&change, now)?;
    }

    let block = entity_block(&entities, &BlockPolicy::default(), now, 200, &Guess);
    println!("{}\n", block.text);

    let mut orders = Vec::new();
    for (found, id) in orders_in(words).into_iter().zip(1..) {
        orders.push(StandingOrder {
            id: TextLine::try_new(format!("order {id}"))?,
            text: found.text,
            kind: found.kind,
            from: alice.clone(),
            from_name: TextLine::try_new("Alice")?,
            trust,
            at: now,
            valid: OrderValidity::since(now),
            subject: found.subject,
        });
    }
    let block = compile(&orders, &OrderPolicy::default(), now, 200, &Guess);
    println!("{}", block.text);
    Ok(())
}
