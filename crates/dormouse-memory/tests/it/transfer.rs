//! Bringing records in and out.

use dormouse_contracts::{Attribution, EntityId, Seq, Timestamp, Trust};
use dormouse_memory::{
    Added, Collection, Derivation, ImportBatch, ImportClaims, ImportLines, Imported, Memory, Note,
    Record, RecordId, RecordKind,
};
use proptest::prelude::*;

use crate::{add, at, ephemeral, open, said};

const OWN: ImportClaims = ImportClaims::Own {
    at_most: Trust::FULL,
};

async fn import(memory: &Memory, lines: &[u8]) -> (Imported, Vec<(u64, String)>) {
    let (mut imported, mut refused) = (Imported::default(), Vec::new());
    let mut lines = ImportLines::new(lines, OWN);
    loop {
        let batch = lines.next_batch().unwrap();
        imported.lines += batch.read;
        imported.refused += batch.refused.len() as u64;
        let is_last = batch.ended;
        let errors = batch.refused.iter();
        refused.extend(errors.map(|(line, error)| (*line, error.to_string())));
        let (added, known) = store(memory, batch).await;
        imported.added += added;
        imported.known += known;
        if is_last {
            return (imported, refused);
        }
    }
}

/// Stores some lines. Returns how many records are new and how many were there.
async fn store(memory: &Memory, batch: ImportBatch) -> (u64, u64) {
    let added = memory.add_all(batch.notes, "import").await.unwrap();
    let new = added.iter().filter(|one| matches!(one, Added::New(_)));
    let new = new.count() as u64;
    (new, added.len() as u64 - new)
}

async fn export(memory: &Memory) -> Vec<u8> {
    let mut lines = Vec::new();
    memory.export(&mut lines).await.unwrap();
    lines
}

/// Every record, without what belongs to its store.
async fn contents(memory: &Memory) -> Vec<Record> {
    let records = memory.records(None, 10_000).await.unwrap();
    records
        .into_iter()
        .map(|record| Record {
            id: RecordId::event(Seq(0)),
            recorded_at: at(0),
            ..record
        })
        .collect()
}

#[tokio::test]
async fn malformed_lines_are_reported_by_number_and_the_import_continues() {
    let memory = ephemeral();
    let lines =
        b"\xef\xbb\xbf{\"text\":\"tea\"}\n\n{\"text\":}\nnonsense\n\xff\n{\"text\":\"cocoa\"}";
    let (imported, refused) = import(&memory, lines).await;
    assert_eq!(
        imported,
        Imported {
            lines: 5,
            added: 2,
            known: 0,
            refused: 3
        }
    );
    let numbers: Vec<u64> = refused.iter().map(|(line, _)| *line).collect();
    assert_eq!(numbers, [3, 4, 5]);
}

#[tokio::test]
async fn importing_twice_adds_nothing() {
    let memory = ephemeral();
    let lines: String = (0..1_500)
        .map(|n| format!("{{\"text\":\"cup {n}\",\"speaker\":\"Alice\"}}\n"))
        .collect();
    let (first, _) = import(&memory, lines.as_bytes()).await;
    let (again, _) = import(&memory, lines.as_bytes()).await;
    assert_eq!((first.added, first.known), (1_500, 0));
    assert_eq!((again.added, again.known), (0, 1_500));
}

#[tokio::test]
async fn an_import_that_stopped_is_completed_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.redb");
    let lines: String = (0..2_000)
        .map(|n| format!("{{\"text\":\"cup {n}\"}}\n"))
        .collect();
    let memory = open(&path).await;
    let mut first = ImportLines::new(lines.as_bytes(), OWN);
    let (stored, _) = store(&memory, first.next_batch().unwrap()).await;
    drop(memory);
    let memory = open(&path).await;
    let there = memory.stats().await.unwrap().in_use;
    assert!(
        there >= stored && there < 2_000,
        "{there}, {stored} reported"
    );
    let (rest, _) = import(&memory, lines.as_bytes()).await;
    assert_eq!((rest.known, rest.added), (there, 2_000 - there));
}

#[tokio::test]
async fn an_export_leaves_out_withdrawn_records_but_not_ended_ones() {
    let memory = ephemeral();
    let (tea, cocoa) = (
        add(&memory, said("Alice", 0, "Tea is best.")).await,
        add(&memory, said("Alice", 1, "Cocoa is best.")).await,
    );
    let gone = add(&memory, said("Bob", 2, "Never mind.")).await;
    memory
        .supersede(tea, Some(cocoa), at(1), "a new mind")
        .await
        .unwrap();
    memory.withdraw(gone, "he said so").await.unwrap();
    let mut lines = Vec::new();
    let exported = memory.export(&mut lines).await.unwrap();
    assert_eq!((exported.records, exported.left_out), (2, 1));

    let other = ephemeral();
    import(&other, &lines).await;
    let records = contents(&other).await;
    let ends: Vec<_> = records.iter().map(|record| record.valid_until).collect();
    assert_eq!(ends, [Some(at(1)), None]);
}

fn label() -> impl Strategy<Value = String> {
    "[\\PC\\n\"\\\\]{1,12}".prop_filter("labels say something", |label| !label.trim().is_empty())
}

prop_compose! {
    fn note()(
        text in "\\PC{0,20}[a-zé猫]",
        at in any::<i64>(),
        speaker in proptest::option::of((label(), proptest::option::of(0u32..5))),
        nameless in proptest::sample::select(vec![
            Attribution::Unknown,
            Attribution::Myself,
            Attribution::Several,
            Attribution::Surroundings,
        ]),
        thread in proptest::option::of(label()),
        trust in 0.0f32..=1.0,
        tags in proptest::collection::btree_set(label(), 0..3),
        kind in proptest::sample::select(RecordKind::ALL.to_vec()),
        collection in proptest::sample::select(Collection::ALL.to_vec()),
        lasts in proptest::option::of(0i64..1_000_000),
    ) -> Note {
        let mut note = Note::new(text)
            .kind(kind)
            .in_collection(collection)
            .at(Timestamp::from_micros(at))
            .trusted(Trust::try_new(trust).unwrap())
            .derivation(Derivation::Stored);
        note = match speaker {
            Some((name, Some(entity))) => {
                note.said_by_entity(name, EntityId::try_new(format!("#{entity}")).unwrap())
            }
            Some((name, None)) => note.said_by(name),
            None => note.from(nameless),
        };
        if let Some(thread) = thread {
            note = note.in_thread(thread);
        }
        if let Some(lasts) = lasts {
            let since = Timestamp::from_micros(at / 2);
            note = note.valid_from(since).valid_until(Timestamp::from_micros(at / 2 + lasts));
        }
        tags.into_iter().fold(note, Note::tagged)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn an_exported_record_is_always_imported_unchanged(notes in proptest::collection::vec(note(), 1..20)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (memory, other) = (ephemeral(), ephemeral());
            let notes = notes.into_iter().enumerate();
            let notes = notes.map(|(n, note)| note.from_source(format!("note {n}"))).collect();
            memory.add_all(notes, "heard").await.unwrap();
            let lines = export(&memory).await;
            let (imported, refused) = import(&other, &lines).await;
            prop_assert_eq!(refused, []);
            prop_assert_eq!(contents(&memory).await, contents(&other).await);
            let (again, _) = import(&other, &lines).await;
            prop_assert_eq!((again.added, again.known), (0, imported.added));
            prop_assert_eq!(export(&other).await, lines);
            Ok(())
        })?;
    }
}
