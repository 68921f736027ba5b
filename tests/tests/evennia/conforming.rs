//! The conformance suites, against the real game.

use std::sync::Arc;

use dormouse_contracts::{
    Arguments, Effect, EffectKey, EntityId, Observe, Perception, Query, Senses, ToolName,
};
use dormouse_evennia::EvenniaWorld;
use dormouse_testing::conformance::{
    self, FeedFixture, ListenerFixture, SensesFixture, WorldFixture,
};
use dormouse_tests::{Game, Player};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::inhabited::{assistant, character, inhabit, perceives};

fn effect(key: EffectKey, tool: &str, arguments: &[(&str, &str)]) -> Effect {
    let arguments = arguments.iter();
    let arguments = arguments.map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
    Effect {
        key,
        actor: assistant("dormouse"),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: arguments.collect(),
        reply_to: None,
        within: None,
    }
}

fn say(key: EffectKey) -> Effect {
    effect(key, "say", &[("message", "conformance")])
}

fn world_fixture(world: &Arc<EvenniaWorld>, listener: EntityId) -> WorldFixture {
    let (mine, hers) = (Arc::clone(world), Arc::clone(world));
    WorldFixture {
        effect: say,
        refused: effect(
            EffectKey::try_new("refused").unwrap(),
            "get",
            &[("thing", "moon")],
        ),
        query: Query {
            actor: assistant("dormouse"),
            tool: ToolName::try_new("who_is_here").unwrap(),
            arguments: Arguments::new(),
        },
        feed: Some(FeedFixture {
            actor: character("dormouse"),
            effect: |key| effect(key, "look", &[]),
            read: Arc::new(move |after| {
                let world = Arc::clone(&mine);
                Box::pin(async move {
                    world
                        .perceptions(&character("dormouse"), after, 256)
                        .await
                        .unwrap()
                })
            }),
        }),
        listener: Some(ListenerFixture {
            listener,
            effect: say,
            read: Arc::new(move || {
                let world = Arc::clone(&hers);
                Box::pin(async move {
                    // What the game sent her before its answer has been stored when that comes.
                    let look_around = Query {
                        actor: assistant("vole"),
                        tool: ToolName::try_new("who_is_here").unwrap(),
                        arguments: Arguments::new(),
                    };
                    drop(world.observe(&look_around).await);
                    world.perceptions(&character("vole"), 0, 256).await.unwrap()
                })
            }),
        }),
    }
}

fn senses_fixture(world: &Arc<EvenniaWorld>, alice: &Arc<Mutex<Player>>) -> SensesFixture {
    let (world, alice) = (Arc::clone(world), Arc::clone(alice));
    SensesFixture {
        observer: character("dormouse"),
        another: character("vole"),
        stranger: EntityId::try_new("assistant:nobody").unwrap(),
        happen: Arc::new(move |observer, words| {
            let (world, alice) = (Arc::clone(&world), Arc::clone(&alice));
            Box::pin(async move {
                let name = match observer == character("dormouse") {
                    true => "bob",
                    false => "eve",
                };
                let (mut alice, last) = (
                    alice.lock().await,
                    world.last_delivery(&observer).await.unwrap(),
                );
                alice.types(&format!("whisper {name} = {words}")).await;
                world.await_perceptions(&observer, last).await.unwrap();
            })
        }),
    }
}

/// What was not acknowledged.
async fn kept(world: &EvenniaWorld) -> Vec<Perception> {
    world
        .perceptions(&character("dormouse"), 0, 256)
        .await
        .unwrap()
}

pub(crate) async fn a_game_keeps_the_promises_of_a_world(game: &Game) {
    let folder = TempDir::new().unwrap();
    let mut alice = game.enter("alice").await;
    let world = Arc::new(inhabit(game, folder.path(), &[]).await);
    alice.types("say ready for conformance").await;
    for key in ["dormouse", "vole"] {
        perceives(&*world, key, "ready for conformance").await;
    }
    // Eve, as the game names her to others.
    let listener = EntityId::try_new("account:5").unwrap();
    conformance::tool_source(&*world, world_fixture(&world, listener.clone())).await;
    let alice = Arc::new(Mutex::new(alice));
    conformance::senses(&*world, senses_fixture(&world, &alice)).await;
    let (id, kept) = (world.id().clone(), kept(&world).await);
    world.game().close().await;
    drop(world);
    let world = Arc::new(inhabit(game, folder.path(), &[]).await);
    // Leaving and entering is perceived, too, so there is more than before.
    assert_eq!(*world.id(), id);
    assert!(!kept.is_empty() && self::kept(&world).await.starts_with(&kept));
    conformance::tool_source_reopened(&*world, world_fixture(&world, listener)).await;
    world.game().close().await;
}
