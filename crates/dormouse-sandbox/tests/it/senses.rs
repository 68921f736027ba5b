//! What the world delivers, and whether it keeps that.

use std::sync::Arc;

use dormouse_contracts::{Audience, Habitat, Senses};
use dormouse_sandbox::{Act, Sandbox};
use dormouse_testing::conformance::{self, SensesFixture};

use crate::cast::{Place, id, key, words};

fn fixture(world: &Sandbox) -> SensesFixture {
    let world = world.clone();
    SensesFixture {
        observer: id("Dormouse"),
        another: id("Vole"),
        stranger: id("resident:orla"),
        happen: Arc::new(move |observer, text| {
            let world = world.clone();
            Box::pin(async move {
                let to = observer.as_str().to_owned();
                let words = words(&text);
                let page = Act::Page { to, words };
                world.act(&id("Alice"), page).await.unwrap();
            })
        }),
    }
}

#[tokio::test]
async fn it_keeps_the_promises_of_senses_also_when_opened_again() {
    let place = Place::new();
    let world = place.settled().await;
    let left = conformance::senses(&world, fixture(&world)).await;
    drop(world);
    let world = place.open();
    conformance::senses_reopened(&world, fixture(&world), left).await;
}

#[tokio::test]
async fn presence_is_the_room_and_everybody_there_who_perceives() {
    let place = Place::new();
    let world = place.settled().await;
    let up = Act::Move {
        direction: "up".to_owned(),
    };
    world.act(&id("Bob"), up).await.unwrap();
    let here = world.presence(&id("Alice")).await.unwrap();
    let names = ["Alice", "Dormouse", "Vole"].map(id);
    assert_eq!(here.audience, Audience::of(names));
    let there = world.presence(&id("Bob")).await.unwrap();
    assert_eq!(there.audience, Audience::of([id("Bob")]));
    assert_ne!(here.place, there.place);
}

#[tokio::test]
async fn an_assistant_is_let_in_under_its_name_and_nobody_under_the_name_of_another() {
    let place = Place::new();
    let world = place.settled().await;
    let hatter = key("hatter");
    world.admit(&hatter, "Hatter").await.unwrap();
    let character = world.character(&hatter).unwrap();
    assert!(world.presence(&character).await.is_ok());
    let refused = world.admit(&key("another"), "Alice").await.unwrap_err();
    assert_eq!(refused.to_string(), "the name \"Alice\" is taken by Alice");
    assert!(!world.has_acted(&hatter).await.unwrap());
}
