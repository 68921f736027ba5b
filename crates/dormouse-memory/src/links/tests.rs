use dormouse_contracts::{AssistantId, Seq, Trust};
use proptest::prelude::*;

use super::*;
use crate::{
    change::Change,
    note::Note,
    ops::record_of,
    record::{Link, RecordStatus},
};

const HOUR: i64 = 3_600_000_000;

fn record(id: u64, hours: i64, note: Note) -> Record {
    let at = Timestamp::from_micros(hours * HOUR);
    Record {
        id: RecordId::event(Seq(id)),
        ..record_of(note.at(at), at)
    }
}

fn said(id: u64, hours: i64, name: &str, text: &str) -> Record {
    record(id, hours, Note::new(text).said_by(name).in_thread("mill"))
}

fn proposed(record: &Record, others: &[Record]) -> Vec<u64> {
    let neighbours: Vec<_> = others
        .iter()
        .map(|record| Neighbour {
            record,
            cosine: None,
        })
        .collect();
    let links = propose(record, &neighbours, &LinkPolicy::default());
    links.iter().map(|link| link.to.seq().0).collect()
}

#[test]
fn records_about_the_same_subject_are_linked_strongest_first() {
    let record = said(1, 0, "Alice", "I bought a blue kettle for the mill");
    let others = [
        said(2, 500, "Bob", "The blue kettle leaks all over the floor"),
        said(3, 5, "Alice", "My blue kettle leaks"),
        said(4, 500, "Bob", "It rained all day"),
        said(5, 500, "Carol", "Blue is a colour"),
    ];
    assert_eq!(proposed(&record, &others), [3, 2]);
    let neighbour = Neighbour {
        record: &others[1],
        cosine: None,
    };
    let links = propose(&record, &[neighbour], &LinkPolicy::default());
    assert_eq!(links[0].kind, LinkKind::Related);
    // Two terms of four and three are the same; the speaker and the day are the same.
    assert!(
        (links[0].weight - (0.6 * 2.0 / (4.0_f32 * 3.0).sqrt() + 0.2)).abs() < 1e-5,
        "{links:?}"
    );
}

#[test]
fn an_encoder_links_records_that_share_no_word() {
    let record = said(1, 0, "Alice", "I bought a kettle");
    let other = said(2, 5, "Bob", "Water boils here");
    let with = |cosine| {
        let neighbour = Neighbour {
            record: &other,
            cosine,
        };
        propose(&record, &[neighbour], &LinkPolicy::default()).len()
    };
    assert_eq!(
        [None, Some(0.7), Some(0.2), Some(f32::NAN)].map(with),
        [0, 1, 0, 0]
    );
}

#[test]
fn records_that_recall_finds_without_a_link_are_not_linked() {
    let record = said(2, 0, "Alice", "The blue kettle leaks all over");
    let adjacent = said(1, 0, "Bob", "Which blue kettle leaks");
    let same = said(3, 5, "Alice", "The blue kettle leaks all over!");
    let mut withdrawn = said(4, 5, "Bob", "blue kettle leaks");
    withdrawn.status = RecordStatus::Withdrawn;
    let mut source = said(5, 5, "Bob", "blue kettle leaks");
    source.provenance.derived_from = vec![RecordId::event(Seq(2))];
    let mut full = said(6, 5, "Bob", "blue kettle leaks");
    full.links = (10..15)
        .map(|to| Link {
            to: RecordId::event(Seq(to)),
            kind: LinkKind::Related,
            weight: 1.0,
        })
        .collect();
    let itself = record.clone();
    assert_eq!(
        proposed(&record, &[adjacent, same, withdrawn, source, full, itself]),
        Vec::<u64>::new()
    );
}

fn memory_of(notes: &[(&str, i64)]) -> Memory {
    let clock = || Timestamp::from_micros(1_000 * HOUR);
    let memory = Memory::builder(AssistantId::try_new("dormouse").unwrap(), clock)
        .ephemeral()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for (text, hours) in notes {
        let at = Timestamp::from_micros(hours * HOUR);
        let note = Note::new(*text)
            .said_by("Alice")
            .at(at)
            .trusted(Trust::FULL);
        runtime.block_on(memory.add(note, "heard")).unwrap();
    }
    memory
}

const NOTES: [(&str, i64); 6] = [
    ("The blue kettle leaks all over the floor", 1),
    ("I bought a blue kettle", 2),
    ("The red mill burnt down", 30),
    ("They build the red mill anew", 60),
    ("It rained", 80),
    ("My blue kettle is mended", 90),
];

fn links_of(memory: &Memory) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let changes = runtime.block_on(memory.changes(0, 1_000)).unwrap();
    changes
        .iter()
        .filter(|stored| matches!(stored.change, Change::Linked { .. }))
        .count()
}

#[test]
fn dreaming_continues_at_its_checkpoint_and_makes_no_link_twice() {
    let memory = memory_of(&NOTES);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let policy = LinkPolicy::default();
    let mut from = None;
    let mut linked = 0;
    loop {
        let progress = runtime
            .block_on(dream_links(&memory, from, 2, &policy))
            .unwrap();
        linked += progress.linked;
        assert!(progress.checkpoint >= from);
        from = progress.checkpoint;
        if progress.rest == LinkRest::Nothing {
            break;
        }
    }
    assert!(linked >= 3, "{linked}");
    assert_eq!(links_of(&memory), usize::try_from(linked).unwrap());
    let again = runtime
        .block_on(dream_links(&memory, None, 100, &policy))
        .unwrap();
    assert_eq!((again.linked, again.looked_at), (0, 6));
    let nothing = runtime
        .block_on(dream_links(&memory, from, 100, &policy))
        .unwrap();
    assert_eq!(
        (nothing.looked_at, nothing.checkpoint, nothing.rest),
        (0, from, LinkRest::Nothing)
    );
}

proptest! {
    #[test]
    fn a_record_never_gets_more_links_than_the_most_nor_one_to_itself(
        texts in prop::collection::vec("([a-f]{2} ){1,6}", 1..30),
        had in 0..8_u64,
    ) {
        let policy = LinkPolicy::default();
        let others: Vec<_> = texts.iter().zip(1..).map(|(text, id)| said(id, 30 * i64::try_from(id).unwrap(), "Bob", text)).collect();
        let mut record = others[0].clone();
        record.links = (100..100 + had).map(|to| Link { to: RecordId::event(Seq(to)), kind: LinkKind::Related, weight: 0.5 }).collect();
        let links = proposed(&record, &others);
        prop_assert!(links.len() + record.links.len() <= policy.most.max(record.links.len()));
        prop_assert!(!links.contains(&1));
    }
}
