//! Creating, cloning, tagging, archiving and looking up assistants while others live.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{AppendErrorKind, AppendRequest, Author, Seq, Timestamp};
use dormouse_engine::{
    Event, PreviewError, PromptPreview, RosterChange, SettingChanged, Tag, replay,
};
use dormouse_host::{
    Host, HostError, preview,
    roster::{Newcomer, RosterDecision, RosterError, Wrong},
};
use serde_json::Value;
use tokio::task::yield_now;

use crate::tea_house::{Folder, admit_alice, key, open, page};

fn by_ada() -> RosterDecision {
    RosterDecision {
        author: Author::Operator("Ada".to_owned()),
        reason: "the house grows".to_owned(),
    }
}

fn newcomer(of: &str, persona: Option<&str>) -> Newcomer {
    Newcomer {
        key: key(of),
        name: None,
        persona: persona.map(str::to_owned),
        tags: BTreeSet::new(),
    }
}

fn tags<const N: usize>(tags: [&str; N]) -> BTreeSet<Tag> {
    tags.map(|tag| Tag::try_new(tag).unwrap()).into()
}

async fn let_remember(host: &Host, of: &str, what: &str) {
    let resident = host.wake(&key(of)).await.unwrap();
    let acted = page(host, resident.name(), &format!("remember that {what}")).await;
    resident.heard(&acted.deliveries).await.unwrap();
    resident.handle().at_rest().await;
    let found = resident.memory().recall(what).await.unwrap();
    let texts: Vec<_> = found.items.iter().map(|it| &it.record.text).collect();
    assert!(texts.iter().any(|text| text.contains(what)), "{texts:?}");
}

async fn persona(host: &Host, of: &str) -> String {
    let resident = host.wake(&key(of)).await.unwrap();
    let state = resident.handle().inspect().await.unwrap();
    state.configuration.persona
}

#[tokio::test]
async fn a_created_assistant_is_who_it_was_to_be_and_still_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let mole = newcomer("mole", Some("You are a shy mole."));
    host.create(mole.clone(), by_ada()).await.unwrap();
    assert_eq!(persona(&host, "mole").await, "You are a shy mole.");
    let_remember(&host, "mole", "the boat is green").await;
    let taken = host.create(mole, by_ada()).await.unwrap_err();
    assert!(matches!(
        taken,
        HostError::Roster(RosterError::Taken { .. })
    ));
    let configured = host.create(newcomer("dormouse", None), by_ada()).await;
    assert!(matches!(
        configured.unwrap_err(),
        HostError::Roster(RosterError::Configured { .. })
    ));
    host.close().await;
    drop(host);

    let host = open(folder.path()).await.unwrap();
    assert_eq!(persona(&host, "mole").await, "You are a shy mole.");
    let found = host.look_up(&key("mole")).await.unwrap();
    assert_eq!((found.name.as_str(), found.wrong.len()), ("Mole", 0));
    assert_eq!(found.character.unwrap().as_str(), "assistant:mole");
    host.close().await;
}

#[tokio::test]
async fn a_clone_is_who_the_other_one_is_without_its_memories_and_disturbs_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let mole = newcomer("mole", Some("You are a shy mole."));
    host.create(mole, by_ada()).await.unwrap();
    let kitchen = RosterChange::Tagged(tags(["Kitchen"]));
    host.change_roster(&key("mole"), kitchen, by_ada())
        .await
        .unwrap();
    let_remember(&host, "mole", "the boat is green").await;
    // The other one is awake meanwhile, and stays so.
    let awake = host.wake(&key("mole")).await.unwrap();
    let before = awake.handle().status();
    host.clone_of(&key("mole"), newcomer("rat", None), by_ada())
        .await
        .unwrap();
    assert_eq!(persona(&host, "rat").await, "You are a shy mole.");
    let rat = host.wake(&key("rat")).await.unwrap();
    assert_eq!(rat.name(), "Rat");
    assert!(
        rat.memory()
            .recall("the boat is green")
            .await
            .unwrap()
            .items
            .is_empty()
    );
    // It hears that the clone arrives, and nothing else happens to it.
    let after = awake.handle().status();
    assert_eq!(
        (after.ticks, after.memories),
        (before.ticks, before.memories)
    );
    let both = host
        .tagged(&Tag::try_new("KITCHEN").unwrap())
        .await
        .unwrap();
    assert_eq!(both, BTreeSet::from([key("mole"), key("rat")]));
    drop((awake, rat));
    host.close().await;
}

#[tokio::test]
async fn a_fork_has_lived_as_the_original_did_and_goes_on_by_itself() {
    // What was decided before the fork was decided by the original, so it is not decided again from this log.
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let mole = newcomer("mole", Some("You are a shy mole."));
    host.create(mole, by_ada()).await.unwrap();
    let_remember(&host, "mole", "the boat is green").await;
    let awake = host.wake(&key("mole")).await.unwrap();
    let at = awake.handle().inspect().await.unwrap().seq;
    let_remember(&host, "mole", "the door is red").await;
    awake.handle().at_rest().await;
    let end = awake.handle().inspect().await.unwrap().seq;

    // Within a turn, the fork begins before that turn.
    let within = Seq(at.0 + 3);
    assert_eq!(
        host.fork_point(&key("mole"), within).await.unwrap(),
        Some(at)
    );
    let forked = host
        .fork(&key("mole"), within, newcomer("rat", None), by_ada())
        .await;
    assert_eq!(forked.unwrap(), at);
    let taken = host
        .fork(&key("mole"), at, newcomer("rat", None), by_ada())
        .await;
    assert!(taken.is_err());
    let never = host
        .fork(&key("mole"), Seq(1), newcomer("vole", None), by_ada())
        .await;
    assert!(matches!(
        never.unwrap_err(),
        HostError::Roster(RosterError::NoFork { .. })
    ));
    let after = awake.handle().inspect().await.unwrap();
    let heard_it_arrive = after.seq.0 - end.0;
    assert!(
        heard_it_arrive <= 1,
        "{heard_it_arrive} events of the original"
    );
    drop(awake);
    host.close().await;
    drop(host);

    let host = open(folder.path()).await.unwrap();
    let found = host.look_up(&key("rat")).await.unwrap();
    assert!(
        matches!(found.wrong[..], [Wrong::SwitchedOff]),
        "{:?}",
        found.wrong
    );
    assert_eq!(found.name, "Rat");
    assert_eq!(persona(&host, "rat").await, "You are a shy mole.");
    change_setting(&host, "rat", "assistant.enabled", Value::Bool(true)).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let knows = async |what: &str| {
        let found = rat.memory().recall(what).await.unwrap();
        found.items.iter().any(|it| it.record.text.contains(what))
    };
    let_remember(&host, "rat", "the oars are blue").await;
    assert!(knows("the boat is green").await);
    assert!(!knows("the door is red").await);
    let acted = page(&host, "Rat", "what is the colour of the boat?").await;
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    let state = rat.handle().inspect().await.unwrap();
    let last = state.history.turns().last().unwrap();
    assert!(
        serde_json::to_string(last).unwrap().contains("green"),
        "{last:?}"
    );
    drop(rat);
    host.close().await;
}

#[tokio::test]
async fn every_moment_of_a_life_is_shown_as_it_was() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let_remember(&host, "dormouse", "the boat is green").await;
    let_remember(&host, "dormouse", "the door is red").await;
    let (log, dormouse) = (host.log(), key("dormouse"));
    let end = log.end_of(&dormouse).unwrap();
    for at in (1..=end.0).map(Seq) {
        let state = host.state_at(&dormouse, at).await.unwrap();
        assert_eq!(*state, replay(log, &dormouse, at).await.unwrap());
        let shown = host.preview(&dormouse, Some(at), None).await;
        let again = preview(log, &dormouse, Some(at), None).await;
        let hash = |shown: Result<PromptPreview, _>| shown.ok().map(|it| (it.hash, it.parts));
        assert_eq!(hash(shown), hash(again), "{at}");
    }
    let behind = host.preview(&dormouse, Some(Seq(end.0 + 1)), None).await;
    assert!(matches!(
        behind.unwrap_err(),
        PreviewError::NoSuchEvent { .. }
    ));
    host.close().await;
}

async fn change_setting(host: &Host, of: &str, setting: &str, new: Value) {
    let resident = host.wake(&key(of)).await.unwrap();
    let changed = Event::SettingChanged(SettingChanged {
        setting: setting.to_owned(),
        old: None,
        new: Some(new),
        by: "Ada".to_owned(),
    });
    // It may write down that it woke in between.
    loop {
        let state = resident.handle().inspect().await.unwrap();
        let request = AppendRequest {
            assistant: key(of),
            expected: state.seq,
            events: vec![changed.encode(Timestamp::EPOCH).unwrap()],
        };
        match resident.handle().append(request).await {
            Ok(_) => return,
            Err(error) => assert!(
                matches!(error.kind(), AppendErrorKind::Conflict { .. }),
                "{error}"
            ),
        }
    }
}

#[tokio::test]
async fn looking_somebody_up_shows_the_settings_that_operators_changed() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await.unwrap();
    host.create(newcomer("mole", None), by_ada()).await.unwrap();
    for of in ["dormouse", "mole"] {
        let resident = host.wake(&key(of)).await.unwrap();
        resident.handle().at_rest().await;
        drop(resident);
        let found = host.look_up(&key(of)).await.unwrap();
        assert!(found.wrong.is_empty(), "{of}: {:?}", found.wrong);
        change_setting(&host, of, "assistant.enabled", false.into()).await;
        let found = host.look_up(&key(of)).await.unwrap();
        assert!(
            matches!(found.wrong.as_slice(), [Wrong::SwitchedOff]),
            "{of}: {:?}",
            found.wrong
        );
    }
    host.close().await;
}

#[tokio::test]
async fn an_archived_assistant_wakes_for_nobody_and_hears_what_was_said_once_it_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    host.create(newcomer("mole", None), by_ada()).await.unwrap();
    let visitor = host.wake(&key("mole")).await.unwrap();
    let archived = host
        .change_roster(&key("mole"), RosterChange::Archived, by_ada())
        .await;
    assert!(archived.unwrap().is_some());
    let again = host
        .change_roster(&key("mole"), RosterChange::Archived, by_ada())
        .await;
    assert_eq!(again.unwrap(), None);
    drop(visitor);
    while !host.residents().await.is_empty() {
        yield_now().await;
    }
    let refused = host.wake(&key("mole")).await.unwrap_err().to_string();
    assert!(
        refused.contains("archived by Ada") && refused.contains("the house grows"),
        "{refused}"
    );
    let found = host.look_up(&key("mole")).await.unwrap();
    assert!(matches!(found.wrong.as_slice(), [Wrong::Archived(_)]));
    page(&host, "Mole", "remember that the boat is green").await;
    while !host.residents().await.is_empty() {
        yield_now().await;
    }
    host.close().await;
    drop(host);

    let host = open(folder.path()).await.unwrap();
    let moved_in = host.take_in(&key("mole")).await.unwrap_err();
    assert!(matches!(moved_in, HostError::Archived { .. }));
    let moved_in = host.take_in_all(vec![key("mole"), key("rat")]).await;
    let moved_in: BTreeMap<_, _> = moved_in.into_iter().collect();
    assert!(matches!(
        moved_in[&key("mole")],
        Err(HostError::Archived { .. })
    ));
    assert!(moved_in[&key("rat")].is_ok());
    let residents = host.residents().await;
    assert_eq!(residents.len(), 1);
    assert_eq!(residents[0].key, key("rat"));
    let restored = host
        .change_roster(&key("mole"), RosterChange::Restored, by_ada())
        .await;
    assert!(restored.unwrap().is_some());
    let mole = host.wake(&key("mole")).await.unwrap();
    while mole.handle().status().memories == 0 {
        mole.handle().at_rest().await;
        yield_now().await;
    }
    drop(mole);
    host.close().await;
}
