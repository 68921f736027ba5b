//! The world ports: performed at most once, refused for good, asked without a trace.

use std::sync::Arc;

use dormouse_contracts::{
    Audience, Effect, EffectInquiry, EffectKey, Inquire, Observe, Outcome, Perform, Senses,
    SourceKind,
};
use dormouse_sandbox::{Act, Sandbox};
use dormouse_testing::conformance::{self, FeedFixture, ListenerFixture, WorldFixture};
use serde_json::json;

use crate::cast::{Place, character, effect, id, query, words};

fn fixture(world: Option<&Sandbox>) -> WorldFixture {
    let feed = world.cloned().map(|world| FeedFixture {
        actor: id("Dormouse"),
        // Up, down and up again; each move prints the room that it leads to.
        effect: |key| {
            let down = key.as_str().ends_with("again");
            let arguments = json!({ "direction": if down { "down" } else { "up" } });
            effect(key.as_str(), "Dormouse", "move", &arguments)
        },
        read: Arc::new(move |after| {
            let world = world.clone();
            Box::pin(async move {
                let feed = world.perceptions(&id("Dormouse"), after, 256).await;
                feed.unwrap()
            })
        }),
    });
    // The moves lead away from Alice, and a page reaches her anywhere.
    let listener = world.cloned().map(|world| ListenerFixture {
        listener: id("Alice"),
        effect: |key| {
            let arguments = json!({ "to": "Alice", "message": "hello" });
            effect(key.as_str(), "Dormouse", "page", &arguments)
        },
        read: Arc::new(move || {
            let world = world.clone();
            Box::pin(async move {
                let feed = world.perceptions(&id("Alice"), 0, 256).await;
                feed.unwrap()
            })
        }),
    });
    WorldFixture {
        feed,
        listener,
        // Down and up again: where the assistant stands shows what was done, and how often.
        effect: |key| {
            let down = key.as_str().ends_with("once") || key.as_str().ends_with("race");
            let arguments = json!({ "direction": if down { "down" } else { "up" } });
            effect(key.as_str(), "Dormouse", "move", &arguments)
        },
        refused: effect(
            "refused",
            "Dormouse",
            "move",
            &json!({ "direction": "sideways" }),
        ),
        query: query("Dormouse", "inspect_location", &json!({})),
    }
}

#[tokio::test]
async fn it_keeps_the_promises_of_a_world_also_when_opened_again() {
    let place = Place::new();
    let world = place.settled().await;
    conformance::tool_source(&world, fixture(Some(&world))).await;
    drop(world);
    conformance::tool_source_reopened(&place.open(), fixture(None)).await;
}

fn all(names: &[&str]) -> Option<Audience> {
    Audience::of(names.iter().map(|name| id(name)))
}

#[tokio::test]
async fn words_are_said_only_if_everyone_who_would_perceive_them_may() {
    let place = Place::new();
    let world = place.settled().await;
    let without_vole = all(&["Alice", "Bob"]);
    let with_vole = all(&["Alice", "Bob", "Vole"]);
    let alone = json!({ "direction": "up" });
    let cases = [
        (
            "say",
            json!({ "message": "a" }),
            without_vole.clone(),
            false,
        ),
        ("say", json!({ "message": "b" }), with_vole.clone(), true),
        (
            "pose",
            json!({ "action": "c" }),
            without_vole.clone(),
            false,
        ),
        (
            "whisper",
            json!({ "to": "Vole", "message": "d" }),
            without_vole.clone(),
            false,
        ),
        (
            "whisper",
            json!({ "to": "bob", "message": "e" }),
            without_vole.clone(),
            true,
        ),
        (
            "page",
            json!({ "to": "Alice", "message": "f" }),
            all(&["Bob"]),
            false,
        ),
        (
            "channel",
            json!({ "channel": "public", "message": "g" }),
            with_vole,
            false,
        ),
        (
            "channel",
            json!({ "channel": "public", "message": "h" }),
            Some(Audience::Public),
            true,
        ),
        ("move", alone, Some(Audience::nobody()), true),
        (
            "say",
            json!({ "message": "i" }),
            Some(Audience::nobody()),
            true,
        ),
    ];
    for (number, (tool, arguments, within, is_done)) in cases.into_iter().enumerate() {
        let asked = Effect {
            within,
            ..effect(&format!("k{number}"), "Dormouse", tool, &arguments)
        };
        match world.perform(&asked).await.unwrap() {
            Outcome::Done(_) => assert!(is_done, "{asked:?}"),
            Outcome::Rejected(rejection) => {
                assert!(!is_done, "{asked:?}: {rejection:?}");
                assert!(rejection.heard_by.is_some());
            }
            Outcome::Unknown => panic!("this world knows"),
        }
    }
    assert_eq!(heard_by_alice(&world).await, ["b", "h"]);
}

#[tokio::test]
async fn somebody_who_comes_in_while_an_act_waits_keeps_it_from_being_heard() {
    let place = Place::new();
    let world = place.settled().await;
    let message = json!({ "message": "the key is under the mat" });
    let secret = Effect {
        within: all(&["Alice", "Bob", "Vole"]),
        ..effect("secret", "Dormouse", "say", &message)
    };
    world.join(character("Carol")).await.unwrap();
    let Outcome::Rejected(rejection) = world.perform(&secret).await.unwrap() else {
        panic!("Carol is here");
    };
    assert_eq!(rejection.heard_by, all(&["Alice", "Bob", "Vole", "Carol"]));
    assert!(rejection.reason.contains("Carol"), "{}", rejection.reason);
    assert_eq!(heard_by_alice(&world).await, [""; 0]);
    let told = world.inquire(&secret).await.unwrap();
    assert_eq!(told, EffectInquiry::Rejected(rejection));
}

#[tokio::test]
async fn a_receipt_says_who_perceived_the_words() {
    let place = Place::new();
    let world = place.settled().await;
    let to = |name: &str| json!({ "to": name, "message": "hello" });
    let aloud = json!({ "message": "hello" });
    let away = json!({ "direction": "up" });
    let cases = [
        ("say", aloud.clone(), all(&["Alice", "Bob", "Vole"])),
        ("whisper", to("Bob"), all(&["Bob"])),
        ("page", to("Alice"), all(&["Alice"])),
        ("move", away, None),
        ("say", aloud, all(&[])),
        ("page", to("Alice"), all(&["Alice"])),
    ];
    for (number, (tool, arguments, heard_by)) in cases.into_iter().enumerate() {
        let act = effect(&format!("k{number}"), "Dormouse", tool, &arguments);
        let Outcome::Done(receipt) = world.perform(&act).await.unwrap() else {
            panic!("{act:?} is carried out");
        };
        assert_eq!(receipt.heard_by, heard_by, "{act:?}");
    }
}

async fn heard_by_alice(world: &Sandbox) -> Vec<String> {
    let feed = world.perceptions(&id("Alice"), 0, 256).await.unwrap();
    let feed = feed
        .into_iter()
        .filter(|it| it.attested.source != SourceKind::Movement);
    feed.map(|it| it.words.as_claimed().to_owned()).collect()
}

#[tokio::test]
async fn a_key_used_for_another_call_is_rejected_and_nothing_is_done() {
    let place = Place::new();
    let world = place.settled().await;
    let first = effect("k", "Dormouse", "say", &json!({ "message": "hello" }));
    let done = world.perform(&first).await.unwrap();
    assert!(matches!(done, Outcome::Done(_)));
    for other in [
        effect("k", "Dormouse", "say", &json!({ "message": "hello!" })),
        effect("k", "Vole", "say", &json!({ "message": "hello" })),
        effect("k", "Dormouse", "pose", &json!({ "message": "hello" })),
    ] {
        let Outcome::Rejected(rejection) = world.perform(&other).await.unwrap() else {
            panic!("{other:?} was carried out");
        };
        assert!(
            rejection.reason.contains(r#"the key "k" was used before"#),
            "{rejection:?}"
        );
    }
    assert_eq!(world.perform(&first).await.unwrap(), done);
    assert_eq!(heard_by_alice(&world).await, ["hello"]);
    assert_eq!(world.effects(0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_refusal_stays_a_refusal_when_its_reason_is_gone() {
    let place = Place::new();
    let world = place.open();
    world.join(character("Alice")).await.unwrap();
    let early = effect(
        "early",
        "Dormouse",
        "say",
        &json!({ "message": "am I here?" }),
    );
    let refused = world.perform(&early).await.unwrap();
    assert!(matches!(refused, Outcome::Rejected(_)));
    world.join(character("Dormouse")).await.unwrap();
    assert_eq!(world.perform(&early).await.unwrap(), refused);
    assert_eq!(heard_by_alice(&world).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_same_key_at_the_same_time_is_done_once() {
    let place = Place::new();
    let world = place.settled().await;
    let say = effect("k", "Dormouse", "say", &json!({ "message": "once" }));
    let (a, b, c) = tokio::join!(
        world.perform(&say),
        world.perform(&say),
        world.perform(&say)
    );
    let (a, b, c) = (a.unwrap(), b.unwrap(), c.unwrap());
    assert!(matches!(a, Outcome::Done(_)));
    assert!(a == b && b == c);
    assert_eq!(heard_by_alice(&world).await, ["once"]);
}

#[tokio::test]
async fn every_kind_of_nonsense_is_a_recorded_refusal_with_a_reason() {
    let place = Place::new();
    let world = place.settled().await;
    let nonsense = [
        ("fly", json!({})),
        ("say", json!({ "message": "" })),
        ("say", json!({ "message": "x".repeat(10 << 20) })),
        ("say", json!({ "message": ["hello"] })),
        ("say", json!({ "message": "hello", "volume": 11 })),
        ("whisper", json!({ "to": "Nobody", "message": "hello" })),
        ("whisper", json!({ "to": "dormouse", "message": "hello" })),
        ("page", json!({ "to": "", "message": "hello" })),
        ("move", json!({ "direction": "" })),
        ("inspect_location", json!({})),
    ];
    for (number, (tool, arguments)) in nonsense.iter().enumerate() {
        let effect = effect(&format!("k{number}"), "Dormouse", tool, arguments);
        let Outcome::Rejected(rejection) = world.perform(&effect).await.unwrap() else {
            panic!("{tool} was carried out");
        };
        assert!(
            (1..2_000).contains(&rejection.reason.len()),
            "{tool}: {rejection:?}"
        );
        let told = world.inquire(&effect).await.unwrap();
        assert_eq!(told, EffectInquiry::Rejected(rejection));
    }
    assert_eq!(heard_by_alice(&world).await, Vec::<String>::new());
    let taken = world.effects(0).await.unwrap();
    assert_eq!(taken.len(), nonsense.len());
    assert_eq!(world.effects(7).await.unwrap(), taken[7..]);
    assert_eq!(
        world.performed(&taken[3].effect.key).await.unwrap(),
        Some(taken[3].clone())
    );
    let never = EffectKey::try_new("never").unwrap();
    assert_eq!(world.performed(&never).await.unwrap(), None);
}

#[tokio::test]
async fn looking_around_tells_what_is_there_in_brief_or_in_full() {
    let place = Place::new();
    let world = place.settled().await;
    let north = effect("n", "Dormouse", "move", &json!({ "direction": "north" }));
    world.perform(&north).await.unwrap();
    let up = Act::Move {
        direction: "north".to_owned(),
    };
    world.act(&id("Alice"), up).await.unwrap();
    let look = async |arguments| {
        let query = query("Dormouse", "inspect_location", &arguments);
        world.observe(&query).await.unwrap()
    };
    let brief = look(json!({ "detail_level": "brief" })).await.unwrap();
    let expected = json!({
        "room": "The Garden",
        "exits": [{ "direction": "south", "to": "The Common Room" }],
        "things": [{ "name": "herb bed" }, { "name": "sundial" }],
        "characters": [
            { "name": "Alice", "kind": "player" },
            { "name": "Quince", "kind": "resident" },
        ],
    });
    assert_eq!(brief, expected);
    let full = look(json!({})).await.unwrap();
    assert!(
        full["description"]
            .as_str()
            .unwrap()
            .starts_with("Mint, lemon balm")
    );
    assert!(
        full["things"][1]["description"]
            .as_str()
            .unwrap()
            .contains("pear tree")
    );
    let nonsense = look(json!({ "detail_level": "deep" })).await.unwrap_err();
    assert!(nonsense.reason.contains("unknown variant"), "{nonsense:?}");
    let stranger = query("Stranger", "inspect_location", &json!({}));
    assert!(world.observe(&stranger).await.unwrap().is_err());
}

#[tokio::test]
async fn receipts_say_who_noticed() {
    let place = Place::new();
    let world = place.settled().await;
    let receipt = async |key, tool, arguments| match world
        .perform(&effect(key, "Dormouse", tool, &arguments))
        .await
        .unwrap()
    {
        Outcome::Done(receipt) => receipt.detail,
        other => panic!("{other:?}"),
    };
    let said = receipt("1", "say", json!({ "message": "hello" })).await;
    assert_eq!(said, json!({ "heard_by": ["Alice", "Bob", "Vole"] }));
    let posed = receipt("2", "pose", json!({ "action": "yawns." })).await;
    assert_eq!(posed, json!({ "seen_by": ["Alice", "Bob", "Vole"] }));
    let whispered = receipt("3", "whisper", json!({ "to": "al", "message": "psst" })).await;
    assert_eq!(whispered, json!({ "to": "Alice" }));
    let moved = receipt("4", "move", json!({ "direction": "u" })).await;
    assert_eq!(moved, json!({ "moved_to": "The Attic" }));
    let said = Act::Say(words("where has it gone?"));
    let acted = world.act(&id("Alice"), said).await.unwrap();
    let listeners: Vec<_> = acted.deliveries.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(listeners, ["Bob", "Vole"]);
}
