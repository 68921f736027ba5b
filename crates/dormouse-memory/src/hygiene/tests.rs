use dormouse_contracts::{EntityId, Seq};

use proptest::prelude::*;

use super::*;
use crate::{note::Note, ops::record_of};

const DAY: i64 = 86_400_000_000;

fn day(days: i64) -> Timestamp {
    Timestamp::from_micros(days * DAY)
}

fn record(id: u64, note: Note) -> Record {
    let at = day(0);
    Record {
        id: RecordId::event(Seq(id)),
        ..record_of(note.at(at), at)
    }
}

fn fact(id: u64, text: &str) -> Record {
    record(id, Note::new(text).kind(RecordKind::Fact).said_by("Alice"))
}

fn looked_at(records: &[Record], now: Timestamp) -> HygieneReport {
    let mut scan = HygieneScan::new(HygienePolicy::default(), now);
    records.chunks(2).for_each(|page| scan.add(page));
    scan.finish()
}

fn ids(finding: &HygieneFinding) -> Vec<(u64, Option<u64>)> {
    let examples = finding.examples.iter();
    examples
        .map(|example| {
            (
                example.record.seq().0,
                example.other.map(|other| other.seq().0),
            )
        })
        .collect()
}

#[test]
fn every_kind_of_junk_is_found_with_what_it_repeats_or_misses() {
    let mill = "Alice keeps her kettle in the blue box under the stairs of the mill";
    let near = "Alice keeps the kettle in a blue box, under the stairs of the mill!";
    let mut records = vec![
        fact(1, mill),
        fact(2, &mill.to_uppercase()),
        fact(3, near),
        record(4, Note::new(mill).derivation(Derivation::Stored)),
        fact(5, "The bridge is closed"),
        fact(6, "password=hunter2!"),
        record(
            7,
            Note::new("Bob may be a spy").trusted(Trust::try_new(0.3).unwrap()),
        ),
        record(
            8,
            Note::new("Bob sells salt")
                .derived_from([RecordId::event(Seq(1)), RecordId::event(Seq(99))]),
        ),
    ];
    records[4].valid_until = Some(day(1));
    let report = looked_at(&records, day(2));
    assert_eq!((report.records, report.in_use), (8, 8));
    assert_eq!(ids(&report.exact_duplicates), [(2, Some(1)), (4, Some(1))]);
    assert_eq!(ids(&report.near_duplicates), [(3, Some(1))]);
    assert_eq!(ids(&report.echoes), [(4, Some(1))]);
    assert_eq!(ids(&report.stale), [(5, None)]);
    assert_eq!(ids(&report.secret_shaped), [(6, None)]);
    assert_eq!(ids(&report.low_trust), [(7, None)]);
    assert_eq!(ids(&report.orphans), [(8, Some(99))]);
    assert_eq!(report.exact_duplicates.rate, 0.25);
    let kinds = &report.by_kind;
    assert_eq!(
        kinds[&RecordKind::Fact],
        KindReport {
            in_use: 5,
            unhealthy: 4
        }
    );
    assert_eq!(
        kinds[&RecordKind::Event],
        KindReport {
            in_use: 3,
            unhealthy: 4
        }
    );
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(
        serde_json::from_str::<HygieneReport>(&json).unwrap(),
        report
    );
}

#[test]
fn only_records_of_the_same_speaker_and_kind_are_proposed_for_folding() {
    let tea = "Alice likes green tea";
    let records = [
        fact(1, tea),
        fact(2, tea),
        record(3, Note::new(tea).kind(RecordKind::Fact).said_by("Bob")),
        record(
            4,
            Note::new(tea).kind(RecordKind::Preference).said_by("Alice"),
        ),
        fact(5, tea),
    ];
    assert_eq!(
        looked_at(&records, day(1)).proposals,
        [FoldProposal {
            into: RecordId::event(Seq(1)),
            records: vec![RecordId::event(Seq(2)), RecordId::event(Seq(5))],
            same: SameAs::Exactly,
        }]
    );
}

#[test]
fn the_same_event_on_another_day_is_another_event() {
    let mut morning = record(1, Note::new("Alice opened the shutters of the mill"));
    let mut later = morning.clone();
    (later.id, later.at) = (RecordId::event(Seq(2)), day(3));
    assert_eq!(
        looked_at(&[morning.clone(), later.clone()], day(4)).proposals,
        []
    );
    morning.at = day(3);
    assert_eq!(looked_at(&[morning, later], day(4)).proposals.len(), 1);
}

#[test]
fn an_old_record_is_stale_only_if_it_has_no_link_and_is_no_source() {
    let source = fact(1, "The miller is called Bob");
    let made = record(
        2,
        Note::new("Bob grinds wheat").derived_from([RecordId::event(Seq(1))]),
    );
    let report = looked_at(&[source, made], day(200));
    assert_eq!(ids(&report.stale), [(2, None)]);
    assert_eq!(looked_at(&[fact(1, "x")], day(100)).stale.count, 0);
}

#[test]
fn records_that_are_not_in_use_are_not_judged() {
    let mut folded = fact(2, "The miller is called Bob");
    folded.status = RecordStatus::Folded {
        into: RecordId::event(Seq(1)),
    };
    let mut erased = fact(3, "");
    erased.status = RecordStatus::Withdrawn;
    let report = looked_at(
        &[fact(1, "The miller is called Bob"), folded, erased],
        day(1),
    );
    assert_eq!((report.records, report.in_use), (2, 1));
    assert!(
        report
            .findings()
            .iter()
            .all(|(_, finding)| finding.count == 0)
    );
    assert_eq!(looked_at(&[], day(1)), HygieneReport::default());
}

/// Comparing all pairs of these would take hours.
#[test]
fn records_that_nearly_all_share_a_band_are_scanned_in_linear_time() {
    let mut scan = HygieneScan::new(HygienePolicy::default(), day(1));
    for page in 0..100_u64 {
        let records: Vec<_> = (0..200)
            .map(|place| {
                let id = page * 200 + place + 1;
                fact(id, &format!("{id} is the same everywhere else"))
            })
            .collect();
        scan.add(&records);
    }
    let report = scan.finish();
    assert_eq!(report.in_use, 20_000);
    assert_eq!(report.near_duplicates.count, 0, "they differ in a number");
}

proptest! {
    #[test]
    fn a_copy_is_always_found_and_a_proposal_never_folds_a_record_twice(
        texts in prop::collection::vec("([a-e]{2,4} ){1,12}", 1..20),
        copied in any::<prop::sample::Index>(),
    ) {
        let mut records: Vec<_> = texts.iter().zip(1..).map(|(text, id)| fact(id, text)).collect();
        let copy = fact(100, &copied.get(&records).text.clone());
        records.push(copy);
        let report = looked_at(&records, day(1));
        prop_assert!(report.exact_duplicates.examples.len() == 10
            || report.exact_duplicates.examples.iter().any(|example| example.record == RecordId::event(Seq(100))));
        let mut folded = HashSet::new();
        for proposal in &report.proposals {
            prop_assert!(!proposal.records.contains(&proposal.into));
            for record in &proposal.records {
                prop_assert!(folded.insert(*record));
            }
        }
        for proposal in &report.proposals {
            prop_assert!(!folded.contains(&proposal.into), "a record that stays is never folded");
        }
    }
}

#[test]
fn what_more_heard_is_not_folded_into_what_fewer_heard() {
    let id = |name: &str| EntityId::try_new(name).unwrap();
    let heard_by = |number, names: &[&str], trust| {
        let audience = Audience::of(names.iter().map(|name| id(name))).unwrap();
        let note = Note::new("The kettle is in the blue box")
            .kind(RecordKind::Fact)
            .said_by("Alice")
            .trusted(Trust::try_new(trust).unwrap())
            .known_to(audience);
        record(number, note)
    };
    let whisper = || heard_by(1, &["#1"], 0.9);
    let aloud = || heard_by(2, &["#1", "#2"], 0.4);
    assert_eq!(looked_at(&[whisper(), aloud()], day(1)).proposals, []);
    // The other way round nobody loses anything.
    let aloud = heard_by(1, &["#1", "#2"], 0.9);
    let whisper = heard_by(2, &["#1"], 0.4);
    assert_eq!(looked_at(&[aloud, whisper], day(1)).proposals.len(), 1);
}
