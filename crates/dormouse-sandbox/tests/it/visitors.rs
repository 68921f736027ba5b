//! Several visitors: they see each other come and go, and hear each other where they are and on channels.

use dormouse_contracts::{Audience, ChannelId, Outcome, Perform, Senses, SourceKind};
use dormouse_sandbox::{Act, ActError, ActRefusal, Acted, Sandbox};
use serde_json::json;
use tokio::task::JoinSet;

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

#[tokio::test]
async fn an_act_under_a_key_happens_once_even_after_the_world_was_opened_again() {
    let place = Place::new();
    let world = place.settled().await;
    let page = |text: &str| Act::Page {
        to: "Dormouse".to_owned(),
        words: words(text),
    };
    let alice = id("Alice");
    let first = world.act_once(&alice, "1", page("Hello")).await.unwrap();
    assert!(!first.is_repeated);
    let before = last(&world, "Dormouse").await;
    for text in ["Hello", "something else"] {
        let again = world.act_once(&alice, "1", page(text)).await.unwrap();
        assert_eq!(
            (again.deliveries, again.is_repeated),
            (first.deliveries.clone(), true)
        );
    }
    drop(world);
    let world = place.open();
    let again = world.act_once(&alice, "1", page("Hello")).await.unwrap();
    assert_eq!(
        (again.deliveries, again.is_repeated),
        (first.deliveries, true)
    );
    assert_eq!(last(&world, "Dormouse").await, before);

    // The keys of others are others, and a refused act uses none.
    let bobs = world.act_once(&id("Bob"), "1", page("Hello")).await;
    assert!(!bobs.unwrap().is_repeated);
    let nobody = Act::Page {
        to: "Nobody".to_owned(),
        words: words("Hello"),
    };
    let refused = world.act_once(&alice, "2", nobody).await;
    assert!(matches!(refused, Err(ActError::Refused(_))), "{refused:?}");
    let second = world.act_once(&alice, "2", page("Hello")).await.unwrap();
    assert!(!second.is_repeated);
}

#[tokio::test]
async fn the_oldest_of_many_keys_is_forgotten() {
    let place = Place::new();
    let world = place.settled().await;
    let page = || Act::Page {
        to: "Dormouse".to_owned(),
        words: words("Hello"),
    };
    let alice = id("Alice");
    let first = world.act_once(&alice, "0", page()).await.unwrap();
    assert!(!first.is_repeated);
    // Many at a time share a commit.
    let mut acts = JoinSet::new();
    for number in 1..=1_000 {
        let (world, alice, act) = (world.clone(), alice.clone(), page());
        acts.spawn(async move { world.act_once(&alice, &number.to_string(), act).await });
    }
    while let Some(acted) = acts.join_next().await {
        assert!(!acted.unwrap().unwrap().is_repeated);
    }
    let newest = world.act_once(&alice, "1000", page()).await.unwrap();
    assert!(newest.is_repeated);
    let oldest = world.act_once(&alice, "0", page()).await.unwrap();
    assert!(!oldest.is_repeated);
}
