//! What only repeats a message is recalled as part of it.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, EntityId, Trust};
use dormouse_memory::{
    Collection, Derivation, Memory, Note, RecallRequest, Recollection, RecordId, RecordKind,
};
use proptest::prelude::*;

use crate::{add, at, ephemeral, found, privacy::block_on, said};

fn trust(score: f32) -> Trust {
    Trust::try_new(score).unwrap()
}

fn id(name: &str) -> EntityId {
    EntityId::try_new(name).unwrap()
}

fn entry(text: &str) -> Note {
    let note = Note::new(text).in_collection(Collection::Journal);
    note.derivation(Derivation::Stored).at(at(90_000))
}

fn fact(text: &str, of: RecordId) -> Note {
    let note = Note::new(text).kind(RecordKind::Fact);
    note.derivation(Derivation::Extracted)
        .derived_from([of])
        .at(at(1))
}

async fn recalled(memory: &Memory, request: RecallRequest) -> Vec<Recollection> {
    memory.recall(request).await.unwrap().items
}

const BOAT: &str = "I keep my little red boat in the old harbour of Bergen since 2019";

#[tokio::test]
async fn what_only_repeats_a_message_takes_no_place_beside_it() {
    let memory = ephemeral();
    let boat = add(&memory, said("Alice", 1, BOAT)).await;
    add(&memory, said("Bob", 2, "the kettle is blue")).await;
    let copy = add(&memory, entry(BOAT).said_by("alice")).await;
    let noted = entry("Alice keeps her little red boat in the old harbour of Bergen");
    let noted = add(&memory, noted.derived_from([boat])).await;
    let made = "Alice keeps Alice's little red boat in the harbour of Bergen";
    let made = add(&memory, fact(made, boat)).await;
    let asked = || RecallRequest::new("where is the little red boat?");
    let all = BTreeSet::from([copy, noted, made]);
    for request in [asked().limit(3), asked().tokens(400)] {
        let items = recalled(&memory, request).await;
        let original = items.iter().find(|item| item.record.id == boat).unwrap();
        assert_eq!(
            original.folded.iter().copied().collect::<BTreeSet<_>>(),
            all
        );
        assert!(items.iter().all(|item| !all.contains(&item.record.id)));
    }
    // Alone, each of them is an answer.
    for one in &all {
        let others = all.iter().copied().filter(|other| other != one);
        let request = asked().without(others).without([boat]).limit(1);
        assert_eq!(found(&memory, request).await, [*one]);
    }
}

#[tokio::test]
async fn what_says_something_else_or_is_believed_more_stays_beside_the_message() {
    let memory = ephemeral();
    let doubtful = said("Alice", 1, BOAT).trusted(trust(0.4));
    let boat = add(&memory, doubtful).await;
    let mut stays = vec![boat];
    for note in [
        fact(
            "Alice keeps her little red boat in the harbour of Bergen since 2018",
            boat,
        )
        .trusted(trust(0.4)),
        fact("Alice does not keep a red boat in Bergen", boat).trusted(trust(0.4)),
        fact(
            "Alice's red boat leaks, and Carol mends it every spring",
            boat,
        )
        .trusted(trust(0.4)),
        // Somebody else said so, or the operator.
        entry(BOAT).said_by("Bob").trusted(trust(0.4)),
        entry(BOAT).trusted(trust(0.9)),
        // It was to be remembered.
        Note::new(BOAT)
            .derivation(Derivation::Stored)
            .said_by("Alice")
            .derived_from([boat]),
    ] {
        stays.push(add(&memory, note).await);
    }
    let request = RecallRequest::new("the little red boat of Alice in Bergen");
    let request = request.min_trust(Trust::NONE).limit(20);
    let mut all = found(&memory, request).await;
    all.sort();
    assert_eq!(all, stays);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_folded_is_represented_by_what_every_listener_may_hear_and_nothing_alone_is_folded(
        messages in prop::collection::vec((0_usize..3, 0_usize..4, 1_usize..8), 1..8),
        repetitions in prop::collection::vec((0_usize..8, 0_usize..4, 0_usize..3, 1_usize..8, 1_u8..10), 0..12),
        listener in 0_usize..3,
        limit in 1_usize..12,
    ) {
        let names = ["alice", "bob", "carol"];
        let words = ["green tea from the red hill", "no green tea today", "green tea costs 5 coins", "the boat with green tea"];
        let audience = |set: usize| -> Audience {
            (0..3).filter(|bit| set & (1 << bit) != 0).map(|bit| id(names[bit])).collect()
        };
        block_on(async {
            let memory = ephemeral();
            let mut all = Vec::new();
            for (number, (speaker, text, set)) in messages.iter().enumerate() {
                let note = Note::new(words[*text]).said_by_entity(names[*speaker], id(names[*speaker]));
                let note = note.in_thread("tea house").at(at(number as i64)).known_to(audience(*set));
                all.push(add(&memory, note.trusted(trust(0.6))).await);
            }
            for (number, (of, text, manner, set, tenths)) in repetitions.iter().enumerate() {
                let note = match manner {
                    0 => entry(words[*text]).said_by(names[of % 3]),
                    1 => entry(&format!("{} {number}", words[*text])).derived_from([all[of % all.len()]]),
                    _ => fact(&format!("alice: {}", words[*text]), all[of % all.len()]),
                };
                let note = note.at(at(1_000 + number as i64)).known_to(audience(*set));
                let note = note.trusted(trust(f32::from(*tenths) / 10.0));
                let kept = memory.add(note, "in a test").await.unwrap().id();
                if !all.contains(&kept) {
                    all.push(kept);
                }
            }
            let request = || RecallRequest::new("green tea").min_trust(Trust::NONE).for_listeners(audience(1 << listener));
            let mut alone = BTreeSet::new();
            for one in &all {
                let others = all.iter().copied().filter(|other| other != one);
                let found = found(&memory, request().without(others)).await;
                prop_assert!(found.is_empty() || found == [*one]);
                alone.extend(found);
            }
            let whole = recalled(&memory, request().limit(100)).await;
            let some = recalled(&memory, request().limit(limit)).await;
            let represented: BTreeSet<RecordId> = whole.iter().map(|item| item.record.id).collect();
            prop_assert_eq!(some.len(), limit.min(whole.len()));
            for item in whole.iter().chain(&some) {
                prop_assert!(alone.contains(&item.record.id));
                for folded in &item.folded {
                    prop_assert!(alone.contains(folded) && !represented.contains(folded));
                    let folded = memory.record(*folded).await.unwrap().unwrap();
                    prop_assert!(folded.provenance.derivation != Derivation::Heard);
                    let names_speaker = folded.speaker.name() == item.record.speaker.name();
                    prop_assert!(folded.trust <= item.record.trust || names_speaker);
                }
            }
            let folded: BTreeSet<RecordId> = whole.iter().flat_map(|item| item.folded.clone()).collect();
            prop_assert_eq!(represented.union(&folded).copied().collect::<BTreeSet<_>>(), alone);
            Ok(())
        })?;
    }
}
