//! A whole life as a file, and an assistant that goes on with it elsewhere.

use std::{fs, path::Path};

use dormouse_contracts::{
    Append, AppendRequest, Author, BoxError, Outcome, ReadEvents, Senses, Seq, Timestamp,
    character_of,
};
use dormouse_engine::{Event, SettingChanged, State, replay};
use dormouse_host::{
    Host, HostError,
    archive::{ImportedLife, LifeExport, LifeImportError, LifeWish},
    roster::{Newcomer, RosterDecision, RosterError, Wrong},
};
use dormouse_store::RedbLog;
use futures_util::stream;
use serde_json::Value;

use crate::tea_house::{Folder, admit_alice, key, open, page};

fn by_ada() -> RosterDecision {
    RosterDecision {
        author: Author::Operator("Ada".to_owned()),
        reason: "she moves".to_owned(),
    }
}

fn as_key(of: &str, name: Option<&str>) -> LifeWish {
    LifeWish {
        key: Some(key(of)),
        name: name.map(str::to_owned),
    }
}

/// A host with a mole to whom Alice said where the key is, and who has answered.
async fn with_mole(folder: &Path) -> Host {
    let host = open(folder).await.unwrap();
    admit_alice(&host).await;
    let mole = Newcomer {
        key: key("mole"),
        name: None,
        persona: Some("You are a shy mole.".to_owned()),
        tags: [].into(),
    };
    host.create(mole, by_ada()).await.unwrap();
    hears(&host, "mole", "remember that the boat is green").await;
    host
}

async fn hears(host: &Host, of: &str, words: &str) {
    let resident = host.wake(&key(of)).await.unwrap();
    let acted = page(host, resident.name(), words).await;
    resident.heard(&acted.deliveries).await.unwrap();
    resident.handle().at_rest().await;
}

async fn switch_on(host: &Host, of: &str) {
    let on = Event::SettingChanged(SettingChanged {
        setting: "assistant.enabled".to_owned(),
        old: Some(Value::Bool(false)),
        new: Some(Value::Bool(true)),
        by: "Ada".to_owned(),
    });
    let decide = |_: &State| Ok::<_, HostError>(vec![on.clone()]);
    host.change(&key(of), decide).await.unwrap();
}

async fn whole<L: ReadEvents>(mut life: LifeExport<L>) -> Vec<u8> {
    let mut file = Vec::new();
    while let Some(part) = life.next().await.unwrap() {
        file.extend(part);
    }
    file
}

/// The life of an assistant up to this event, as a file.
async fn up_to(host: &Host, of: &str, end: Seq) -> Vec<u8> {
    let life = (key(of), end);
    let character = character_of(&key(of)).unwrap();
    let life = LifeExport::begin(host.log().clone(), life, character, Timestamp::EPOCH);
    whole(life.unwrap()).await
}

/// Imports a file that comes in parts of odd sizes.
async fn import(host: &Host, file: &[u8], wish: LifeWish) -> Result<ImportedLife, LifeImportError> {
    let parts = file.chunks(777).map(Ok::<_, BoxError>);
    Box::pin(host.import(wish, by_ada(), stream::iter(parts))).await
}

async fn hash(log: &RedbLog, of: &str, at: Seq) -> String {
    replay(log, &key(of), at).await.unwrap().hash().unwrap()
}

/// The files of a folder that hold lives which are not complete.
fn left_over(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains(".new")).collect()
}

#[tokio::test]
async fn a_life_goes_on_elsewhere_from_the_same_state_with_its_memories_and_begins_switched_off() {
    let (there, here) = (Folder::new(), Folder::new());
    let old = with_mole(there.path()).await;
    let file = whole(old.export(&key("mole")).unwrap()).await;
    let end = old.log().end_of(&key("mole")).unwrap();

    let new = open(here.path()).await.unwrap();
    admit_alice(&new).await;
    let wish = LifeWish::default();
    let imported = import(&new, &file, wish.clone()).await.unwrap();
    assert_eq!(
        (imported.key, imported.original, imported.events),
        (key("mole"), key("mole"), end.0)
    );
    assert!(imported.is_same_state);
    let before = hash(old.log(), "mole", end).await;
    assert_eq!(before, imported.state);
    // Nothing had to be renamed, so the events are the same byte for byte.
    assert_eq!(hash(new.log(), "mole", end).await, before);
    let found = new.look_up(&key("mole")).await.unwrap();
    assert!(
        matches!(found.wrong[..], [Wrong::SwitchedOff]),
        "{:?}",
        found.wrong
    );
    assert_eq!(found.state.configuration.persona, "You are a shy mole.");

    let again = import(&new, &file, wish).await.unwrap_err();
    let LifeImportError::Roster(RosterError::Taken { .. }) = again else {
        panic!("{again}");
    };
    let same_name = import(&new, &file, as_key("rat", Some("M0le")))
        .await
        .unwrap_err();
    let LifeImportError::Roster(RosterError::NameInUse { .. }) = same_name else {
        panic!("{same_name}");
    };
    let configured = import(&new, &file, as_key("dormouse", None))
        .await
        .unwrap_err();
    let LifeImportError::Roster(RosterError::Configured { .. }) = configured else {
        panic!("{configured}");
    };
    assert_eq!(left_over(here.path()), [""; 0]);

    switch_on(&new, "mole").await;
    hears(&new, "mole", "what is the colour of the boat?").await;
    let mole = new.wake(&key("mole")).await.unwrap();
    let state = mole.handle().inspect().await.unwrap();
    let last = state.history.turns().last().unwrap();
    let turn = serde_json::to_string(last).unwrap();
    assert!(turn.contains("green"), "{turn}");
    drop(mole);
    old.close().await;
    new.close().await;
}

#[tokio::test]
async fn in_its_own_world_it_is_somebody_else_who_has_heard_nothing_there() {
    // What was decided before was decided by the original, so it is not decided again from this log.
    let folder = tempfile::tempdir().unwrap();
    let host = with_mole(folder.path()).await;
    let file = whole(host.export(&key("mole")).unwrap()).await;
    let imported = import(&host, &file, as_key("rat", Some("Ratty")))
        .await
        .unwrap();
    assert!(imported.is_same_state);
    let found = host.look_up(&key("rat")).await.unwrap();
    assert_eq!(found.name, "Ratty");
    let state = &found.state;
    assert_eq!(state.configuration.persona, "You are a shy mole.");
    let world = host.world().id();
    assert!(
        state.delivered.last(world).is_none_or(|heard| heard < 3),
        "{:?}",
        state.delivered
    );
    let text = serde_json::to_string(state).unwrap();
    assert!(text.contains("assistant:rat") && !text.contains("\"assistant:mole\""));
    host.close().await;
}

#[tokio::test]
async fn an_act_that_was_under_way_is_unknown_and_not_carried_out_again() {
    let (there, here) = (Folder::new(), Folder::new());
    let old = with_mole(there.path()).await;
    let log = old.log();
    let events = log.read(&key("mole"), Seq::ZERO, 1_000).await.unwrap();
    let intended = events
        .iter()
        .find(|it| it.kind == "effect_intended")
        .unwrap();
    let file = up_to(&old, "mole", intended.seq).await;

    let new = open(here.path()).await.unwrap();
    admit_alice(&new).await;
    import(&new, &file, LifeWish::default()).await.unwrap();
    let next = new.log().read(&key("mole"), intended.seq, 1).await.unwrap();
    let Event::EffectSettled(settled) = Event::decode(&next[0]).unwrap() else {
        panic!("{next:?}");
    };
    assert_eq!(settled.outcome, Outcome::Unknown);
    switch_on(&new, "mole").await;
    let mole = new.wake(&key("mole")).await.unwrap();
    mole.handle().at_rest().await;
    assert!(mole.handle().inspect().await.unwrap().turns.is_empty());
    drop(mole);
    old.close().await;
    new.close().await;
}

#[tokio::test]
async fn a_file_that_is_not_whole_or_has_one_wrong_bit_is_refused_and_changes_nothing() {
    let (there, here) = (Folder::new(), Folder::new());
    let old = with_mole(there.path()).await;
    let file = whole(old.export(&key("mole")).unwrap()).await;
    let new = open(here.path()).await.unwrap();
    let refused = async |file: &[u8], what: &str| {
        let error = import(&new, file, LifeWish::default()).await;
        assert!(error.is_err(), "{what}");
        error.unwrap_err()
    };
    assert!(matches!(
        refused(b"", "nothing").await,
        LifeImportError::NotALife
    ));
    assert!(matches!(
        refused(b"PK\x03\x04", "a zip").await,
        LifeImportError::NotALife
    ));
    let endless = vec![b'x'; 100_000];
    assert!(matches!(
        refused(&endless, "an endless line").await,
        LifeImportError::NotALife
    ));
    let later = b"{\"dormouse\":\"life\",\"format\":2,\"soul\":1}\n";
    let newer = refused(later, "a newer format").await;
    assert!(
        newer
            .to_string()
            .contains("format 2, and this version reads up to 1"),
        "{newer}"
    );
    for step in 0..40 {
        let end = file.len() * step / 40;
        let error = refused(&file[..end], "a cut file").await;
        let is_clear = matches!(
            error,
            LifeImportError::NotALife | LifeImportError::CutOff { .. }
        );
        assert!(is_clear, "{end}: {error}");
    }
    let without_end = file.len() - 1;
    assert!(matches!(
        refused(&file[..without_end], "a cut line").await,
        LifeImportError::CutOff { .. }
    ));
    let twice = [&file[..], &file[..]].concat();
    assert!(matches!(
        refused(&twice, "twice").await,
        LifeImportError::Behind
    ));
    let mut ends = file[..without_end].iter();
    let last_line = ends.rposition(|it| *it == b'\n').unwrap();
    // A bit of each byte of the last line, and some of each part before.
    let is_tried = |bit: &usize| match bit / 8 > last_line {
        true => bit % 8 == bit / 8 % 7,
        false => bit.is_multiple_of(9_973),
    };
    let bits = (0..file.len() * 8).filter(is_tried);
    for bit in bits {
        let mut wrong = file.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        refused(&wrong, &format!("bit {bit}")).await;
    }
    assert_eq!(new.known().unwrap(), []);
    assert_eq!(left_over(here.path()), [""; 0]);
    old.close().await;
    new.close().await;
}

#[tokio::test]
async fn a_life_of_several_batches_is_copied_whole_and_what_a_kill_left_is_removed() {
    let (there, here) = (Folder::new(), Folder::new());
    let old = with_mole(there.path()).await;
    old.close().await;
    drop(old);
    let log = RedbLog::open(&there.path().join("log.redb")).unwrap();
    let mut end = log.end_of(&key("mole")).unwrap();
    for _ in 0..3 {
        let changed = |number: u64| {
            Event::SettingChanged(SettingChanged {
                setting: "limits.slow_after".to_owned(),
                old: None,
                new: Some(Value::from(number % 60 + 1)),
                by: "Ada".to_owned(),
            })
        };
        let at = Timestamp::from_micros(1_795_219_300_000_000);
        let events = (0..1_000).map(|number| changed(number).encode(at).unwrap());
        let request = AppendRequest {
            assistant: key("mole"),
            expected: end,
            events: events.collect(),
        };
        end = log.append(request).await.unwrap();
    }
    let life = (key("mole"), end);
    let character = character_of(&key("mole")).unwrap();
    let life = LifeExport::begin(log.clone(), life, character, Timestamp::EPOCH).unwrap();
    assert_eq!(life.events(), end.0);
    let file = whole(life).await;
    for left in [
        "life-mole.redb.new",
        "life-mole.redb.new.wal",
        "life-a.b.redb.new",
    ] {
        fs::write(here.path().join(left), "what somebody said").unwrap();
    }
    let new = open(here.path()).await.unwrap();
    assert_eq!(left_over(here.path()), [""; 0]);
    let imported = import(&new, &file, LifeWish::default()).await.unwrap();
    assert_eq!(imported.events, end.0);
    assert_eq!(
        hash(new.log(), "mole", end).await,
        hash(&log, "mole", end).await
    );
    new.close().await;
}
