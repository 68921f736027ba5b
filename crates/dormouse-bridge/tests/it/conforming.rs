//! A game behind a bridge keeps the promises of a world, also when it is opened again.

use std::sync::Arc;

use dormouse_bridge::{Bridge, DeliveryQueue};
use dormouse_contracts::{
    AssistantId, EffectInquiry, EntityId, Habitat, Perception, Query, Senses, ToolName,
};
use dormouse_testing::conformance::{
    self, FeedFixture, ListenerFixture, SensesFixture, WorldFixture,
};

use crate::place::{Place, Room, alice, dormouse, id, page, say};

fn senses_fixture(world: &Bridge<Room>) -> SensesFixture {
    let queue = world.queue().clone();
    SensesFixture {
        observer: dormouse(),
        another: alice(),
        stranger: id("player:nobody"),
        happen: Arc::new(move |observer, words| {
            let queue = queue.clone();
            Box::pin(async move {
                queue.push(&observer, page(&words)).await.unwrap();
            })
        }),
    }
}

async fn feed(queue: &DeliveryQueue, observer: &EntityId, after: u64) -> Vec<Perception> {
    queue.perceptions(observer, after, 256).await.unwrap()
}

fn world_fixture(world: &Bridge<Room>) -> WorldFixture {
    let (mine, hers) = (world.queue().clone(), world.queue().clone());
    WorldFixture {
        effect: |key| say(key.as_str(), "hello"),
        refused: say("refused", " "),
        query: Query {
            actor: AssistantId::try_new("dormouse").unwrap(),
            tool: ToolName::try_new("look").unwrap(),
            arguments: serde_json::Map::new(),
        },
        feed: Some(FeedFixture {
            actor: dormouse(),
            effect: |key| say(key.as_str(), "hello"),
            read: Arc::new(move |after| {
                let queue = mine.clone();
                Box::pin(async move { feed(&queue, &dormouse(), after).await })
            }),
        }),
        listener: Some(ListenerFixture {
            listener: alice(),
            effect: |key| say(key.as_str(), "hello"),
            read: Arc::new(move || {
                let queue = hers.clone();
                Box::pin(async move { feed(&queue, &alice(), 0).await })
            }),
        }),
    }
}

#[tokio::test]
async fn a_game_that_numbers_nothing_has_senses_also_when_opened_again() {
    let place = Place::new();
    let world = place.open(Room::default()).await;
    let left = conformance::senses(&world, senses_fixture(&world)).await;
    drop(world);
    let world = place.open(Room::default()).await;
    conformance::senses_reopened(&world, senses_fixture(&world), left).await;
}

#[tokio::test]
async fn a_game_that_remembers_nothing_does_each_act_once_also_when_opened_again() {
    for of_open in [EffectInquiry::CannotTell, EffectInquiry::NeverSeen] {
        let room = || Room {
            of_open: of_open.clone(),
            ..Room::default()
        };
        let place = Place::new();
        let world = place.open(room()).await;
        conformance::tool_source(&world, world_fixture(&world)).await;
        drop(world);
        let world = place.open(room()).await;
        conformance::tool_source_reopened(&world, world_fixture(&world)).await;
    }
}

#[tokio::test]
async fn an_assistant_enters_when_it_wakes_and_is_known_to_have_acted() {
    let place = Place::new();
    let world = place.open(Room::default()).await;
    let vole = AssistantId::try_new("vole").unwrap();
    let character = world.character(&vole).unwrap();
    assert!(world.last_delivery(&character).await.is_err());
    for _ in 0..2 {
        world.admit(&vole, "Vole").await.unwrap();
        assert_eq!(world.last_delivery(&character).await.unwrap(), 0);
    }
    let dormouse = AssistantId::try_new("dormouse").unwrap();
    assert!(!world.has_acted(&dormouse).await.unwrap());
    dormouse_contracts::Perform::perform(&world, &say("dormouse/1", "hello"))
        .await
        .unwrap();
    assert!(world.has_acted(&dormouse).await.unwrap());
    assert!(!world.has_acted(&vole).await.unwrap());
}
