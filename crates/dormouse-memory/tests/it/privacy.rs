//! Recall for listeners: what not all of them perceived is left out.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, EntityId, Trust};
use dormouse_entities::{EntityChange, EntityType, Name};
use dormouse_memory::{Derivation, Memory, Note, RecallRequest, RecordId, Withheld};
use proptest::prelude::*;

use crate::{add, at, builder, ephemeral, found, open, said};

fn id(name: &str) -> EntityId {
    EntityId::try_new(name).unwrap()
}

fn only(names: &[&str]) -> Audience {
    names.iter().map(|name| id(name)).collect()
}

fn asked(question: &str, names: &[&str]) -> RecallRequest {
    RecallRequest::new(question).for_listeners(only(names))
}

async fn withheld(memory: &Memory, request: RecallRequest) -> Vec<Withheld> {
    memory.recall(request).await.unwrap().withheld
}

#[tokio::test]
async fn a_secret_takes_no_place_in_what_others_are_told_and_is_reported() {
    let memory = ephemeral();
    for number in 0..60 {
        let secret = said("Alice", number, &format!("the vault code is plum {number}"));
        add(&memory, secret.known_to(only(&["alice"]))).await;
    }
    let known = said(
        "Bob",
        100,
        "the vault is in the cellar, and nobody has its code",
    );
    let known = add(&memory, known.known_to(only(&["alice", "bob"]))).await;
    let question = "what is the code of the vault?";
    for names in [&["bob"][..], &["alice", "bob"]] {
        let request = asked(question, names).limit(1);
        assert_eq!(found(&memory, request.clone()).await, [known], "{names:?}");
        let packed = asked(question, names).tokens(400);
        assert_eq!(found(&memory, packed).await, [known], "{names:?}");
        let withheld = withheld(&memory, request).await;
        assert!(!withheld.is_empty());
        assert!(withheld.iter().all(|one| one.audience == only(&["alice"])));
    }
    let alone = asked(question, &["alice"]);
    assert_eq!(found(&memory, alone.clone().limit(40)).await.len(), 40);
    assert_eq!(withheld(&memory, alone).await, []);
    let other = asked("who cooks the soup?", &["bob"]);
    assert_eq!(
        withheld(&memory, other).await,
        [],
        "nothing about it is known"
    );
}

#[tokio::test]
async fn without_a_list_a_quotation_is_known_to_its_speaker_and_a_note_to_nobody() {
    let memory = ephemeral();
    let heard = Note::new("the tea is green").said_by_entity("Alice", id("alice"));
    let heard = add(&memory, heard).await;
    let noted = Note::new("green tea is noble").derivation(Derivation::Stored);
    add(&memory, noted.said_by_entity("Alice", id("alice"))).await;
    assert_eq!(
        found(&memory, asked("green tea", &["alice"])).await,
        [heard]
    );
    assert!(
        found(&memory, asked("green tea", &["bob"]))
            .await
            .is_empty()
    );
    assert_eq!(found(&memory, "green tea").await.len(), 2, "nobody listens");
}

#[tokio::test]
async fn two_ids_of_one_person_are_one_listener_while_they_are_merged() {
    let memory = ephemeral();
    for name in ["alice", "masked"] {
        let created = EntityChange::Created {
            entity: id(name),
            entity_type: EntityType::Player,
            name: Name::try_new(name).unwrap(),
        };
        memory.change_entity(created, "met").await.unwrap();
    }
    let secret = said("Alice", 1, "the vault code is plum").known_to(only(&["alice"]));
    let secret = add(&memory, secret).await;
    let ask = || asked("vault code", &["masked"]);
    assert!(found(&memory, ask()).await.is_empty());
    let merged = EntityChange::Merged {
        from: id("masked"),
        into: id("alice"),
    };
    memory.change_entity(merged, "one person").await.unwrap();
    assert_eq!(found(&memory, ask()).await, [secret]);
    let unmerged = EntityChange::Unmerged {
        entity: id("masked"),
    };
    memory.change_entity(unmerged, "two people").await.unwrap();
    assert!(found(&memory, ask()).await.is_empty());
}

#[tokio::test]
async fn what_is_made_of_records_is_known_to_those_who_know_all_of_them() {
    let memory = ephemeral();
    let first = said("Alice", 1, "the code has a plum").known_to(only(&["alice", "bob"]));
    let first = add(&memory, first).await;
    let second = said("Carol", 2, "and a pear").known_to(only(&["alice", "carol"]));
    let second = add(&memory, second).await;
    let made = Note::new("the code is plum and pear").derived_from([first, second]);
    let made = add(&memory, made.known_to(Audience::Public)).await;
    let record = memory.record(made).await.unwrap().unwrap();
    assert_eq!(record.known_to(), only(&["alice"]));
}

#[tokio::test]
async fn a_record_becomes_public_knowledge_and_private_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.redb");
    let memory = open(&path).await;
    let secret = said("Alice", 1, "the vault code is plum").known_to(only(&["alice"]));
    let secret = add(&memory, secret).await;
    let ask = || asked("vault code", &["bob"]);
    assert!(found(&memory, ask()).await.is_empty());
    let change = memory.publish(secret, "she said so").await.unwrap();
    assert_eq!(found(&memory, ask()).await, [secret]);
    memory.checkpoint().await.unwrap();
    drop(memory);
    let memory = open(&path).await;
    assert_eq!(
        found(&memory, ask()).await,
        [secret],
        "also from the copy of the index"
    );
    memory.revert(change, "she did not").await.unwrap();
    assert!(found(&memory, ask()).await.is_empty());
    let low = RecordId::event(dormouse_contracts::Seq(99));
    assert!(memory.publish(low, "").await.is_err());
}

#[tokio::test]
async fn a_standing_order_is_known_to_those_who_heard_it() {
    let memory = ephemeral();
    let order = Note::new("From now on always call me Captain.")
        .said_by_entity("Alice", id("alice"))
        .kind(dormouse_memory::RecordKind::Instruction)
        .at(at(1))
        .known_to(only(&["alice"]));
    add(&memory, order).await;
    let orders = async |names: Option<&[&str]>| {
        let found = memory.recall_with_orders(None, at(9), names.map(only));
        let (recalled, orders) = found.await.unwrap();
        assert!(recalled.is_none(), "nothing was asked");
        orders.len()
    };
    assert_eq!(orders(Some(&["alice"])).await, 1);
    assert_eq!(orders(Some(&["alice", "bob"])).await, 0);
    assert_eq!(orders(None).await, 1);
}

#[tokio::test]
async fn what_was_overheard_gives_no_instruction_and_an_order_for_today_ends_with_the_day() {
    let memory = ephemeral();
    let note = |text: &str, kind| {
        Note::new(text)
            .said_by_entity("Alice", id("alice"))
            .kind(kind)
            .at(at(1))
    };
    let overheard = "I prefer tea. Always knock.";
    let overheard = note(overheard, dormouse_memory::RecordKind::Preference);
    add(&memory, overheard).await;
    let today = "Answer in French for today.";
    add(
        &memory,
        note(today, dormouse_memory::RecordKind::Instruction),
    )
    .await;
    let found = memory.recall_with_orders(Some("tea".into()), at(2), None);
    let (recalled, orders) = found.await.unwrap();
    let again = memory.recall("tea").await.unwrap();
    assert_eq!(recalled, Some(again));
    let texts: Vec<_> = orders.iter().map(|order| order.text.as_str()).collect();
    assert_eq!(texts, ["I prefer tea", "Answer in French for today"]);
    let a_day = std::time::Duration::from_secs(24 * 60 * 60);
    assert!(orders[1].valid.holds(at(1)));
    assert!(!orders[1].valid.holds(at(1).plus(a_day)));
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn recall_for_listeners_is_recall_among_what_all_of_them_were_party_to(
        audiences in prop::collection::vec(prop::collection::btree_set(0_usize..4, 0..4), 1..40),
        listeners in prop::collection::btree_set(0_usize..4, 1..4),
        limit in 1_usize..8,
    ) {
        let names = ["alice", "bob", "carol", "dan"];
        let audience = |set: &BTreeSet<usize>| -> Audience { set.iter().map(|n| id(names[*n])).collect() };
        block_on(async {
            // The same notes without those that are not for all listeners: what is left out changes nothing else.
            let (memory, other) = (ephemeral(), builder().ephemeral().unwrap());
            let mut same = Vec::new();
            for (number, set) in audiences.iter().enumerate() {
                let text = format!("green tea {}", "leaf ".repeat(number % 5));
                let note = said("Eve", number as i64, &text).trusted(Trust::FULL).known_to(audience(set));
                let kept = add(&memory, note.clone()).await;
                if listeners.is_subset(set) {
                    same.push((kept, add(&other, note).await));
                }
            }
            let request = || RecallRequest::new("green tea").limit(limit);
            let told = found(&memory, request().for_listeners(audience(&listeners))).await;
            prop_assert_eq!(told.len(), limit.min(same.len()));
            for record in &told {
                prop_assert!(same.iter().any(|(kept, _)| kept == record));
            }
            prop_assert_eq!(found(&other, request()).await.len(), told.len());
            Ok(())
        })?;
    }
}
