//! Somebody walks into the room between the thought of an assistant and its speech.

use std::{sync::Arc, thread};

use dormouse_contracts::{AssistantId, ChatRequest, EntityId, Message, Senses, ToolSource, Words};
use dormouse_engine::AssistantConfig;
use dormouse_sandbox::{Act, Character, CharacterKind, Sandbox};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use dormouse_tests::Resident;
use serde_json::json;
use tokio::runtime;

use crate::{
    account::every_decision_is_the_same_again,
    host::{Host, entity, key},
};

const SECRET: &str = "the vault opens with the word plumbago";
const CAROL: &str = "player:carol";

/// Carol comes into the room, while something else waits for it.
fn carol_walks_in(world: Sandbox) {
    let walk = move || {
        let carol = Character {
            id: entity(CAROL),
            name: "Carol".to_owned(),
            kind: CharacterKind::Player,
        };
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(world.join(carol)).unwrap();
    };
    thread::spawn(walk).join().unwrap();
}

fn knows(request: &ChatRequest) -> bool {
    request.messages.iter().any(|message| {
        let (Message::User { content } | Message::Assistant { content, .. }) = message else {
            return false;
        };
        content.contains("plumbago")
    })
}

struct Room {
    host: Host,
    assistant: AssistantId,
    body: EntityId,
    bob: EntityId,
    resident: Resident,
    perceived: u64,
}

impl Room {
    /// Alice, Bob and an assistant. When the model is asked for the second time, Carol walks in before it answers.
    async fn open(folder: &std::path::Path) -> Self {
        let host = Host::open(folder);
        let assistant = key("vole");
        let (body, bob) = (entity("assistant:vole"), entity("player:bob"));
        host.join(&body, "Vole", CharacterKind::Assistant(assistant.clone()))
            .await;
        host.join(&entity("player:alice"), "Alice", CharacterKind::Player)
            .await;
        host.join(&bob, "Bob", CharacterKind::Player).await;
        let world = host.sandbox.clone();
        let says = |knows: bool| {
            let text = if knows { "plumbago" } else { "I cannot say" };
            ScriptedTurn::call("say", json!({"message": text}))
        };
        let model = ScriptedModel::new([
            ScriptedTurn::call("say", json!({"message": "I keep it in mind"})),
            ScriptedTurn::with(move |request| {
                carol_walks_in(world.clone());
                says(knows(request))
            }),
            ScriptedTurn::with(move |request| says(knows(request))),
        ]);
        let ports = host.ports(&assistant, Arc::new(model));
        let config = AssistantConfig::new(assistant.clone());
        let resident = Resident::wake(config, host.sandbox.specs(), ports).await;
        let perceived = host.sandbox.last_delivery(&body).await.unwrap();
        Self {
            host,
            assistant,
            body,
            bob,
            resident,
            perceived,
        }
    }

    async fn bob_says(&mut self, text: &str) {
        let act = Act::SayTo {
            to: "Vole".to_owned(),
            words: Words::try_new(text).unwrap(),
        };
        self.host.sandbox.act(&self.bob, act).await.unwrap();
        let heard = self.host.perceived(&self.body, self.perceived).await;
        for perception in heard {
            self.perceived = perception.attested.delivery.number;
            self.resident.hear(perception).await;
        }
        self.resident.rest().await;
    }

    /// Everything that somebody perceived.
    async fn heard_by(&self, who: &str) -> String {
        let feed = self.host.sandbox.perceptions(&entity(who), 0, 256).await;
        let feed = feed.unwrap();
        let words = feed.iter().map(|heard| heard.words.as_claimed().to_owned());
        words.collect::<Vec<_>>().join("\n")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_walks_in_before_an_answer_does_not_hear_what_it_rests_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut room = Room::open(folder.path()).await;
    room.bob_says(SECRET).await;
    room.bob_says("which word opens the vault?").await;
    let (carol, bob) = (
        room.heard_by(CAROL).await,
        room.heard_by("player:bob").await,
    );
    assert!(carol.contains("I cannot say"), "{carol}");
    assert!(!carol.contains("plumbago"), "{carol}");
    let said = |text: &str| bob.matches(text).count();
    assert_eq!((said("plumbago"), said("I cannot say")), (0, 1), "{bob}");
    room.resident.end().await;
    every_decision_is_the_same_again(&room.host, &room.assistant).await;
}
