//! Changes, their reasons, and taking them back.

use dormouse_contracts::{Seq, Trust};
use dormouse_memory::{
    Added, ChangeError, ChangeRef, LinkKind, Memory, MemoryError, Note, RecallRequest, RecordId,
    RecordStatus, Validity,
};
use proptest::prelude::*;

use crate::{add, at, ephemeral, found, said};

fn refusal<T: std::fmt::Debug>(answer: Result<T, MemoryError>) -> ChangeError {
    match answer {
        Err(MemoryError::Change(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// How an error names a change of a memory that follows no log.
fn unlogged(seq: u64) -> ChangeRef {
    ChangeRef { seq, event: None }
}

/// Everything about every record, without the time at which a note became one.
async fn everything(memory: &Memory) -> Vec<dormouse_memory::Record> {
    let mut records = memory.records(None, 100).await.unwrap();
    for record in &mut records {
        record.recorded_at = at(0);
    }
    records
}

#[tokio::test]
async fn what_was_taken_back_can_be_made_again_any_number_of_times() {
    for kind in 0..7 {
        let memory = ephemeral();
        let a = add(&memory, said("Alice", 1, "tea")).await;
        let b = add(&memory, said("Alice", 2, "warm tea")).await;
        let c = add(&memory, said("Bob", 3, "a boat")).await;
        let change = match kind {
            0 => Ok(1),
            1 => memory.ignore(Note::new("more tea"), Some(a), "").await,
            2 => memory.link(a, c, LinkKind::Related, 0.5, "").await,
            3 => memory.publish(a, "").await,
            4 => memory.supersede(a, Some(b), at(9), "").await,
            5 => memory.withdraw(a, "").await,
            _ => memory.fold(vec![b], a, "").await,
        };
        let first = everything(&memory).await;
        let mut last = memory.revert(change.unwrap(), "").await.unwrap();
        let without = everything(&memory).await;
        assert_ne!(first, without, "kind {kind}");
        last = memory.revert(last, "").await.unwrap();
        let with = everything(&memory).await;
        // The record that was made of an ignored note stays, and is withdrawn.
        assert!(
            with == first || (kind == 1 && with.len() == 4),
            "kind {kind}"
        );
        for (round, expected) in [&without, &with, &without, &with].into_iter().enumerate() {
            last = memory.revert(last, "").await.unwrap();
            assert!(
                everything(&memory).await == *expected,
                "kind {kind}, round {round}"
            );
        }
    }
}

#[tokio::test]
async fn a_change_that_was_made_again_can_be_taken_back_by_its_own_number() {
    let memory = ephemeral();
    let id = add(&memory, said("Alice", 1, "tea")).await;
    let back = memory.revert(1, "no").await.unwrap();
    let refused = refusal(memory.revert(1, "no").await);
    assert!(matches!(refused, ChangeError::AlreadyReverted { by, .. } if by.seq == back));
    memory.revert(back, "yes").await.unwrap();
    assert_eq!(found(&memory, "tea").await.len(), 1);
    memory.revert(1, "no, again").await.unwrap();
    let record = memory.record(id).await.unwrap().unwrap();
    assert_eq!(record.status, RecordStatus::Withdrawn);
}

#[tokio::test]
async fn a_note_of_a_known_source_is_not_added() {
    let memory = ephemeral();
    let note = || Note::new("tea").from_source("log:1");
    let first = memory.add(note(), "heard").await.unwrap();
    let Added::New(id) = first else {
        panic!("{first:?}")
    };
    let again = memory.add(note(), "heard").await.unwrap();
    assert_eq!(again, Added::AlreadyThere(id));
    assert_eq!(memory.stats().await.unwrap().records, 1);
}

#[tokio::test]
async fn notes_are_stored_all_or_none() {
    let memory = ephemeral();
    let notes = vec![Note::new("tea"), Note::new(" ")];
    assert!(memory.add_all(notes, "heard").await.is_err());
    assert_eq!(memory.stats().await.unwrap().records, 0);
    assert!(found(&memory, "tea").await.is_empty());
}

#[tokio::test]
async fn a_derived_record_is_never_believed_more_than_its_sources() {
    let memory = ephemeral();
    let low = Trust::try_new(0.3).unwrap();
    let rumour = add(&memory, said("Eve", 1, "the key is lost").trusted(low)).await;
    let sure = add(&memory, said("Bob", 2, "the key was red")).await;
    let derived = Note::new("a red key is lost").derived_from([rumour, sure]);
    let derived = add(&memory, derived).await;
    let why = memory.why(derived).await.unwrap().unwrap();
    assert_eq!(why.record.trust, low);
    assert_eq!(why.sources.len(), 2);
    let unknown = Note::new("x").derived_from([RecordId::event(Seq(99))]);
    let refused = refusal(memory.add(unknown, "").await);
    assert_eq!(refused, ChangeError::Unknown(RecordId::event(Seq(99))));
}

#[tokio::test]
async fn every_change_says_why_and_can_be_taken_back() {
    let memory = ephemeral();
    let a = add(&memory, said("Alice", 1, "the tea is green")).await;
    let b = add(&memory, said("Alice", 2, "the tea is green indeed")).await;
    let any = || RecallRequest::new("tea").valid(Validity::Any);
    let folded = memory.fold(vec![a], b, "they say the same").await.unwrap();
    assert_eq!(found(&memory, any()).await, [b]);
    memory.revert(folded, "they do not").await.unwrap();
    assert_eq!(found(&memory, any()).await.len(), 2);

    let superseded = memory
        .supersede(a, None, at(9), "it got cold")
        .await
        .unwrap();
    assert_eq!(
        found(&memory, RecallRequest::new("tea").asked_at(at(9))).await,
        [b]
    );
    memory.revert(superseded, "it is warm").await.unwrap();

    let withdrawn = memory.withdraw(b, "asked to").await.unwrap();
    assert_eq!(found(&memory, any()).await, [a]);
    memory.revert(withdrawn, "asked to").await.unwrap();

    let linked = memory
        .link(a, b, LinkKind::Related, 0.5, "both tea")
        .await
        .unwrap();
    assert_eq!(memory.record(a).await.unwrap().unwrap().links[0].to, b);
    memory.revert(linked, "no").await.unwrap();
    assert!(memory.record(b).await.unwrap().unwrap().links.is_empty());

    let ignored = memory
        .ignore(Note::new("tea again"), Some(a), "known")
        .await
        .unwrap();
    memory.revert(ignored, "it is new").await.unwrap();
    assert_eq!(found(&memory, any()).await.len(), 3);

    let why = memory.why(a).await.unwrap().unwrap();
    let reasons: Vec<_> = why.changes.iter().map(|c| c.reason.as_str()).collect();
    assert!(reasons.contains(&"they say the same") && reasons.contains(&"it is warm"));
    assert!(matches!(
        refusal(memory.revert(folded, "again").await),
        ChangeError::AlreadyReverted { change, .. } if change.seq == folded
    ));
}

#[tokio::test]
async fn a_change_is_not_taken_back_over_later_ones() {
    let memory = ephemeral();
    let id = add(&memory, said("Alice", 1, "tea")).await;
    let superseded = memory.supersede(id, None, at(5), "cold").await.unwrap();
    memory.withdraw(id, "asked to").await.unwrap();
    let refused = refusal(memory.revert(superseded, "").await);
    assert_eq!(
        refused,
        ChangeError::ChangedSince {
            change: unlogged(superseded),
            record: id
        }
    );
    assert_eq!(
        refusal(memory.revert(999, "").await),
        ChangeError::UnknownChange(999)
    );
}

#[tokio::test]
async fn an_erased_record_is_nowhere_and_cannot_be_brought_back() {
    let memory = ephemeral();
    let id = add(&memory, said("Alice", 1, "my secret garden")).await;
    let erased = memory.erase(id, "asked to").await.unwrap();
    assert!(found(&memory, "garden").await.is_empty());
    let left = memory.record(id).await.unwrap().unwrap();
    assert_eq!(
        (left.text.as_str(), left.status),
        ("", RecordStatus::Withdrawn)
    );
    assert_eq!(
        refusal(memory.revert(erased, "").await),
        ChangeError::Erased(unlogged(erased))
    );
    assert!(matches!(
        refusal(memory.revert(1, "").await),
        ChangeError::ChangedSince { .. }
    ));
}

/// A recording hides them all; what is remembered is shown again and again.
#[tokio::test]
async fn keys_and_passwords_that_recordings_hide_are_not_remembered_either() {
    let memory = ephemeral();
    for (text, secret) in [
        ("Alice says: mein Passwort ist 4pfelbaum.", "4pfelbaum"),
        (
            concat!("the vault's key is hvb", ".a1B2c3D4e5F6g7"),
            "a1B2c3D4",
        ),
        (concat!("mine is sk", "-a1B2c3D4e5F6"), "a1B2c3D4"),
        (
            concat!("mine is s\u{200b}k", "-a1B2c3D4e5F6g7H8i9J0"),
            "a1B2c3D4",
        ),
        ("https://x.org/?password%3Dhunter22", "hunter22"),
    ] {
        let id = add(&memory, said("Alice", 1, text)).await;
        let kept = memory.record(id).await.unwrap().unwrap().text;
        assert!(!kept.contains(secret), "{kept}");
        assert!(kept.contains("[secret: "), "{kept}");
    }
}

#[tokio::test]
async fn an_ignored_note_comes_back_once_and_with_no_more_trust_than_its_sources() {
    let memory = ephemeral();
    let low = Trust::try_new(0.3).unwrap();
    let rumour = add(&memory, said("Eve", 1, "the key is lost").trusted(low)).await;
    let note = || {
        Note::new("a key is lost")
            .derived_from([rumour])
            .from_source("fact:1")
    };
    let ignored = memory.ignore(note(), Some(rumour), "known").await.unwrap();
    let other = memory.ignore(note(), Some(rumour), "known").await.unwrap();
    memory.revert(ignored, "it is new").await.unwrap();
    let back = memory
        .record(RecordId::event(Seq(2)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(back.trust, low);
    assert_eq!(
        refusal(memory.revert(other, "it is new too").await),
        ChangeError::ChangedSince {
            change: unlogged(other),
            record: back.id
        },
        "one origin is one record"
    );
    let unknown = memory
        .ignore(Note::new("x"), Some(RecordId::event(Seq(99))), "")
        .await;
    assert_eq!(
        refusal(unknown),
        ChangeError::Unknown(RecordId::event(Seq(99)))
    );
}

#[tokio::test]
async fn superseding_a_record_that_ended_does_not_prolong_it() {
    let memory = ephemeral();
    let id = add(
        &memory,
        said("Alice", 1, "the tea is hot").valid_until(at(5)),
    )
    .await;
    memory.supersede(id, None, at(9), "cold").await.unwrap();
    let left = memory.record(id).await.unwrap().unwrap();
    assert_eq!(left.valid_until, Some(at(5)));
}

#[tokio::test]
async fn a_note_without_a_time_that_ended_before_now_is_refused() {
    let refused = refusal(
        ephemeral()
            .add(Note::new("x").valid_until(at(-9)), "")
            .await,
    );
    assert!(matches!(
        refused,
        ChangeError::Note(dormouse_memory::NoteError::Ended { .. })
    ));
}

#[tokio::test]
async fn a_link_that_was_replaced_is_not_taken_back() {
    let memory = ephemeral();
    let a = add(&memory, said("Alice", 1, "tea")).await;
    let b = add(&memory, said("Alice", 2, "boat")).await;
    let first = memory.link(a, b, LinkKind::Related, 0.5, "").await.unwrap();
    memory.link(b, a, LinkKind::Related, 0.9, "").await.unwrap();
    assert!(matches!(
        refusal(memory.revert(first, "").await),
        ChangeError::ChangedSince { .. }
    ));
    let left = memory.record(a).await.unwrap().unwrap();
    assert!((left.links[0].weight - 0.9).abs() < 1e-6);
}

#[tokio::test]
async fn erasing_a_record_also_erases_the_notes_that_were_ignored_for_it() {
    let memory = ephemeral();
    let id = add(&memory, said("Alice", 1, "my secret garden")).await;
    let note = || Note::new("the secret garden of Alice");
    let like = memory.ignore(note(), Some(id), "known").await.unwrap();
    let became = memory.ignore(note(), None, "junk").await.unwrap();
    memory.revert(became, "it is not junk").await.unwrap();
    memory.erase(id, "asked to").await.unwrap();
    memory
        .erase(RecordId::event(Seq(2)), "asked to")
        .await
        .unwrap();
    let changes = memory.changes(0, 100).await.unwrap();
    assert!(!serde_json::to_string(&changes).unwrap().contains("garden"));
    assert_eq!(
        refusal(memory.revert(like, "").await),
        ChangeError::Erased(unlogged(like))
    );
}

#[tokio::test]
async fn nonsense_is_refused() {
    let memory = ephemeral();
    let a = add(&memory, said("Alice", 1, "tea")).await;
    let b = add(&memory, said("Alice", 2, "boat")).await;
    assert_eq!(
        refusal(memory.fold(vec![a], a, "").await),
        ChangeError::Itself(a)
    );
    assert_eq!(
        refusal(memory.supersede(a, Some(a), at(9), "").await),
        ChangeError::Itself(a)
    );
    assert!(matches!(
        refusal(memory.supersede(a, None, at(-9), "").await),
        ChangeError::Ended { .. }
    ));
    let heavy = memory.link(a, b, LinkKind::Related, 1.5, "").await;
    assert_eq!(refusal(heavy), ChangeError::Weight(1.5));
    assert!(
        refusal(memory.link(a, b, LinkKind::Related, f32::NAN, "").await)
            .to_string()
            .contains("NaN")
    );
    memory.withdraw(a, "").await.unwrap();
    assert!(matches!(
        refusal(memory.withdraw(a, "").await),
        ChangeError::NotInUse { .. }
    ));
}

/// What may be done, by the places of records among those there are.
#[derive(Clone, Debug)]
enum Step {
    Add(String),
    Withdraw(usize),
    Fold(usize, usize),
    Supersede(usize),
    Erase(usize),
    Link(usize, usize),
    Revert(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let text = "(tea|boat|key|red|blue)( (tea|boat|key|red|blue)){0,4}";
    prop_oneof![
        4 => text.prop_map(Step::Add),
        1 => (0_usize..12).prop_map(Step::Withdraw),
        1 => (0_usize..12, 0_usize..12).prop_map(|(a, b)| Step::Fold(a, b)),
        1 => (0_usize..12).prop_map(Step::Supersede),
        1 => (0_usize..12).prop_map(Step::Erase),
        1 => (0_usize..12, 0_usize..12).prop_map(|(a, b)| Step::Link(a, b)),
        2 => (1_u64..30).prop_map(Step::Revert),
    ]
}

async fn carry_out(memory: &Memory, step: &Step, seconds: i64) {
    let id = |place: &usize| RecordId::event(Seq(*place as u64 + 1));
    let done = match step {
        Step::Add(text) => memory
            .add(said("Alice", seconds, text), "s")
            .await
            .map(|_| 0),
        Step::Withdraw(a) => memory.withdraw(id(a), "s").await,
        Step::Fold(a, b) => memory.fold(vec![id(a)], id(b), "s").await,
        Step::Supersede(a) => memory.supersede(id(a), None, at(seconds), "s").await,
        Step::Erase(a) => memory.erase(id(a), "s").await,
        Step::Link(a, b) => memory.link(id(a), id(b), LinkKind::Related, 0.5, "s").await,
        Step::Revert(seq) => memory.revert(*seq, "s").await,
    };
    // A refused change has changed nothing; that is checked with the rest.
    assert!(
        matches!(done, Ok(_) | Err(MemoryError::Change(_))),
        "{done:?}"
    );
}

/// Everything the answer to a query says, except for scores that only tie.
async fn answers(memory: &Memory) -> Vec<Vec<(RecordId, String)>> {
    let mut all = Vec::new();
    for query in ["tea", "red boat", "key blue tea"] {
        let request = RecallRequest::new(query).valid(Validity::Any).limit(100);
        let recall = memory.recall(request).await.unwrap();
        let mut items: Vec<_> = recall
            .items
            .iter()
            .map(|item| (item.record.id, format!("{:.4}", item.score)))
            .collect();
        items.sort();
        all.push(items);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_projection_always_equals_a_rebuild(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("m.redb");
            let memory = crate::open(&path).await;
            for (step, seconds) in steps.iter().zip(0..) {
                carry_out(&memory, step, seconds).await;
            }
            let living = answers(&memory).await;
            memory.checkpoint().await.unwrap();
            drop(memory);
            let memory = crate::open(&path).await;
            assert_eq!(answers(&memory).await, living, "from the copy");
            // A change that is made before the search index was read is found in it, too.
            drop(memory);
            let memory = crate::open(&path).await;
            let more = memory.add(said("Alice", 99, "tea on a red boat"), "s").await.unwrap();
            let living = answers(&memory).await;
            assert!(living[0].iter().any(|(id, _)| *id == more.id()));
            drop(memory);
            let memory = crate::builder().rebuild().open(&path).await.unwrap();
            assert_eq!(answers(&memory).await, living, "from the records");
        });
    }
}
