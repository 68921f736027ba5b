//! Several visitors: they see each other come and go, and hear each other where they are and on channels.

use dormouse_contracts::{Audience, ChannelId, Outcome, Perform, Senses, SourceKind};
use dormouse_sandbox::{Act, ActError, ActRefusal, Acted, Sandbox};
use serde_json::json;

use crate::cast::{Place, character, effect, id, words};

/// What somebody perceived after this delivery: by whom, how, and what.
async fn heard(world: &Sandbox, name: &str, after: u64) -> Vec<String> {
    let heard = world.perceptions(&id(name), after, 100).await.unwrap();
    let told = heard.iter().map(|it| {
        let attested = &it.attested;
        let (by, words) = (attested.sender.name(), it.words.as_claimed());
        format!("{by} {:?} {words}", attested.source)
    });
    told.collect()
}

async fn last(world: &Sandbox, name: &str) -> u64 {
    world.last_delivery(&id(name)).await.unwrap()
}

async fn act(world: &Sandbox, name: &str, act: Act) -> Result<Acted, ActError> {
    world.act(&id(name), act).await
}

fn channel(name: &str) -> ChannelId {
    ChannelId::try_new(name).unwrap()
}

fn on_tea(text: &str) -> Act {
    Act::Channel {
        channel: channel("tea"),
        words: words(text),
    }
}

fn refused(acted: Result<Acted, ActError>) -> ActRefusal {
    match acted {
        Err(ActError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn who_leaves_is_seen_to_leave_and_hears_nothing_but_pages_until_they_are_back() {
    let place = Place::new();
    let world = place.settled().await;
    let (alice, bob) = (last(&world, "Alice").await, last(&world, "Bob").await);
    world.leave(&id("Bob")).await.unwrap();
    world.leave(&id("Bob")).await.unwrap();
    assert_eq!(
        heard(&world, "Alice", alice).await,
        ["Bob Movement leaves."]
    );

    act(&world, "Alice", Act::Say(words("Bob is gone.")))
        .await
        .unwrap();
    act(&world, "Alice", on_tea("Is Bob there?")).await.unwrap();
    let to = "Bob".to_owned();
    let whisper = Act::Whisper {
        to: to.clone(),
        words: words("Psst."),
    };
    let here = refused(act(&world, "Alice", whisper).await).to_string();
    assert_eq!(
        here,
        "nobody here is called \"Bob\"; here: Dormouse, Vole, Orla"
    );
    act(
        &world,
        "Alice",
        Act::Page {
            to,
            words: words("Come back."),
        },
    )
    .await
    .unwrap();
    assert!(matches!(
        refused(act(&world, "Bob", Act::Look).await),
        ActRefusal::NotJoined
    ));
    let audience = world.presence(&id("Alice")).await.unwrap().audience;
    assert_eq!(
        audience,
        Audience::of(["Alice", "Dormouse", "Vole"].map(id))
    );

    drop(world);
    let world = place.open();
    world.join(character("Bob")).await.unwrap();
    act(&world, "Alice", Act::Say(words("Welcome.")))
        .await
        .unwrap();
    assert_eq!(
        heard(&world, "Bob", bob).await,
        ["Alice Page Come back.", "Alice Say Welcome."]
    );
    let seen = heard(&world, "Alice", alice + 1).await;
    assert_eq!(seen, ["Bob Movement arrives."]);
}

#[tokio::test]
async fn a_channel_is_heard_by_those_who_are_on_it_and_by_nobody_else() {
    let place = Place::new();
    let world = place.settled().await;
    let left = act(&world, "Bob", Act::LeaveChannel(channel("TEA")))
        .await
        .unwrap();
    assert_eq!(
        left.seen.to_string(),
        "You are not on the channel tea any more."
    );
    let refusal = refused(act(&world, "Bob", on_tea("Hello?")).await);
    assert_eq!(
        refusal.to_string(),
        "you are not on the channel \"tea\"; join it first"
    );

    let before = last(&world, "Bob").await;
    let said = effect(
        "k1",
        "Dormouse",
        "channel",
        &json!({"channel": "tea", "message": "The kettle is on."}),
    );
    let Outcome::Done(receipt) = world.perform(&said).await.unwrap() else {
        panic!("it is on the channel")
    };
    assert_eq!(receipt.detail, json!({"heard_by": ["Alice", "Vole"]}));
    assert_eq!(receipt.heard_by, Audience::of(["Alice", "Vole"].map(id)));
    let delivered = world.perceptions(&id("Alice"), 0, 100).await.unwrap();
    let attested = &delivered.last().unwrap().attested;
    assert_eq!(attested.source, SourceKind::Channel(channel("tea")));
    assert_eq!(
        attested.audience,
        Audience::of(["Alice", "Dormouse", "Vole"].map(id))
    );
    assert_eq!(heard(&world, "Bob", before).await, Vec::<String>::new());

    drop(world);
    let world = place.open();
    assert!(matches!(
        refused(act(&world, "Bob", on_tea("Hello?")).await),
        ActRefusal::NotOnChannel { .. }
    ));
    let joined = act(&world, "Bob", Act::JoinChannel(channel("t")))
        .await
        .unwrap();
    assert_eq!(
        joined.seen.to_string(),
        "You are on the channel tea. Others on it: Alice, Dormouse, Vole"
    );
    act(&world, "Alice", on_tea("There you are."))
        .await
        .unwrap();
    assert_eq!(heard(&world, "Bob", before).await.len(), 1);
    let refusal = refused(act(&world, "Bob", Act::LeaveChannel(channel("public"))).await);
    assert_eq!(
        refusal.to_string(),
        "everybody is on the channel \"public\"; it cannot be left"
    );
}

#[tokio::test]
async fn an_assistant_learns_why_it_was_not_heard_on_a_channel() {
    let place = Place::new();
    let world = place.settled().await;
    act(&world, "Vole", Act::LeaveChannel(channel("tea")))
        .await
        .unwrap();
    for (number, (channel, message, reason)) in [
        (
            "tea",
            "Hello.",
            "you are not on the channel \"tea\"; join it first",
        ),
        (
            "coffee",
            "Hello.",
            "there is no channel \"coffee\"; channels: public, tea",
        ),
        ("public", " \n", "the message is empty"),
    ]
    .into_iter()
    .enumerate()
    {
        let arguments = json!({"channel": channel, "message": message});
        let said = effect(&format!("k{number}"), "Vole", "channel", &arguments);
        let Outcome::Rejected(rejection) = world.perform(&said).await.unwrap() else {
            panic!("{channel} {message:?} was said")
        };
        assert_eq!(rejection.reason, reason);
    }
}
