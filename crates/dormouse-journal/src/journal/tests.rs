use std::collections::BTreeSet;

use dormouse_contracts::{Audience, Trust};
use dormouse_testing::effort;
use proptest::prelude::*;

use super::*;
use crate::{
    EntryScore, JournalSettings, NewEntry,
    testkit::{DAY, Life, any_step, hour, importance, journal_of, person, said, write},
};

fn ids(journal: &Journal) -> Vec<u64> {
    journal.entries().map(|entry| entry.id.0).collect()
}

#[test]
fn ten_thousand_entries_in_one_burst_leave_the_newest_hundred_and_no_number_twice() {
    let settings = JournalSettings::default();
    let mut journal = Journal::new();
    let mut seen = BTreeSet::new();
    let burst = effort(10_000).into();
    for number in 0..burst {
        write(
            &mut journal,
            said(&format!("guest number {number} came in")),
            hour(0),
            &settings,
        );
        assert!(seen.insert(journal.entry_count()));
        assert!(journal.entries().len() <= 100);
    }
    assert_eq!(ids(&journal), (burst - 99..=burst).collect::<Vec<u64>>());
    let state = journal.reflection();
    assert_eq!(state.entries_since_reflection.len(), 100, "bounded");
    assert_eq!(
        u64::from(state.cumulative_importance),
        7 * burst,
        "what was pruned has happened"
    );
}

#[test]
fn what_gives_way_can_be_restored_as_it_was_and_stays_from_then_on() {
    let settings = JournalSettings {
        max_entries: 2,
        ..JournalSettings::default()
    };
    let mut journal = journal_of(&["the bridge fell"]);
    let before = journal.entry(EntryId(1)).unwrap().clone();
    write(&mut journal, said("it rained"), hour(1), &settings);
    let left = write(&mut journal, said("the sun came out"), hour(2), &settings);
    assert_eq!(left, std::slice::from_ref(&before));

    let restored = JournalChange::Restored {
        entry: Box::new(before.clone()),
    };
    let delta = journal.apply(&restored, hour(3)).unwrap();
    assert_eq!(delta.added, [EntryId(1)]);
    let mut entry = journal.entry(EntryId(1)).unwrap().clone();
    assert_eq!(entry.upkeep.restored_at.take(), Some(hour(3)));
    assert_eq!(entry, before);

    write(&mut journal, said("a new guest"), hour(4), &settings);
    assert_eq!(
        ids(&journal),
        [1, 4],
        "the restored one is not the first to go again"
    );
    assert_eq!(journal.next_id(), EntryId(5));

    for (entry, expected) in [
        (before.clone(), "entry 1 is in the journal already"),
        (
            JournalEntry {
                id: EntryId(9),
                ..before.clone()
            },
            "ever had the number 9",
        ),
        (
            JournalEntry {
                id: EntryId(0),
                ..before
            },
            "ever had the number 0",
        ),
    ] {
        let restored = JournalChange::Restored {
            entry: Box::new(entry),
        };
        let error = journal.apply(&restored, hour(5)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_old_and_unimportant_goes_ten_at_a_time_and_the_rest_stays() {
    let settings = JournalSettings::default();
    let mut journal = Journal::new();
    let mut add = |score: u8, hours: i64| {
        let mut new = said(&format!("event {score} {hours}"));
        new.importance = Some(importance(score));
        write(&mut journal, new, hour(hours), &settings);
    };
    let now = hour(31 * 24);
    // 1 to 12 are old and unimportant; 13 is important, 14 is thirty days old to the microsecond, 15 is from the future.
    (0..12).for_each(|number| add(3, number));
    add(4, 0);
    add(1, 24);
    add(1, 40 * 24);
    let consolidated = JournalChange::Consolidated {
        entries: vec![EntryId(1), EntryId(99)],
    };
    journal.apply(&consolidated, now).unwrap();

    let rule = &settings.pruning;
    let first = journal.plan_pruning(now, rule).unwrap();
    let expected: Vec<EntryId> = (2..=11).map(EntryId).collect();
    assert_eq!(
        first,
        JournalChange::Pruned {
            entries: expected,
            reason: PruneReason::Faded
        }
    );
    let left = journal.apply(&first, now).unwrap().removed;
    assert_eq!(left.len(), 10);
    journal
        .apply(&journal.plan_pruning(now, rule).unwrap(), now)
        .unwrap();
    assert_eq!(ids(&journal), [1, 13, 14, 15]);
    assert_eq!(journal.plan_pruning(now, rule), None);
    // A clock that was set back makes nothing old.
    assert_eq!(journal.plan_pruning(hour(-1_000_000), rule), None);

    let restored = JournalChange::Restored {
        entry: Box::new(left[0].clone()),
    };
    journal.apply(&restored, now).unwrap();
    assert_eq!(
        journal
            .plan_pruning(now.plus(DAY * 1_000), rule)
            .map(|change| match change {
                JournalChange::Pruned { entries, .. } => entries,
                other => panic!("{other:?}"),
            }),
        Some(vec![EntryId(14), EntryId(15)]),
        "what was restored stays"
    );
    let all = PruningRule {
        preserve_consolidated: false,
        ..*rule
    };
    let pruned = journal.plan_pruning(now, &all);
    assert_eq!(
        pruned,
        Some(JournalChange::Pruned {
            entries: vec![EntryId(1)],
            reason: PruneReason::Faded
        })
    );
}

#[test]
fn what_says_nearly_the_same_is_linked_and_counted_and_can_be_taken_apart() {
    let settings = JournalSettings::default();
    let mut journal =
        journal_of(&["Alice has been living in the old mill by the river since the flood"]);
    let again = "Alice has been living in the old mill, by the river, since the flood!";
    write(&mut journal, said(again), hour(1), &settings);
    write(&mut journal, said(again), hour(2), &settings);
    let upkeep = |journal: &Journal, id| journal.entry(EntryId(id)).unwrap().upkeep.clone();
    assert_eq!(upkeep(&journal, 1).repeats, 2);
    assert_eq!(
        [upkeep(&journal, 2).near, upkeep(&journal, 3).near],
        [Some(EntryId(1)); 2]
    );

    for (what, new, at) in [
        (
            "a denial",
            said("Alice has not been living in the old mill by the river since the flood"),
            hour(3),
        ),
        ("another day", said(again), hour(60)),
        (
            "somebody else",
            NewEntry {
                source_entity: person("#8", "Alice"),
                ..said(again)
            },
            hour(2),
        ),
    ] {
        write(&mut journal, new, at, &settings);
        let last = journal.entries().next_back().unwrap();
        assert_eq!(last.upkeep.near, None, "{what}");
    }
    let unlinked = JournalChange::Unlinked { entry: EntryId(2) };
    journal.apply(&unlinked, hour(61)).unwrap();
    journal.apply(&unlinked, hour(61)).unwrap();
    assert_eq!(
        (upkeep(&journal, 1).repeats, upkeep(&journal, 2).near),
        (1, None)
    );
    let linked = JournalChange::Linked {
        entry: EntryId(2),
        to: EntryId(1),
    };
    journal.apply(&linked, hour(62)).unwrap();
    assert_eq!(upkeep(&journal, 1).repeats, 2);
    for (entry, to) in [(1, 1), (1, 77), (77, 1)] {
        let before = journal.clone();
        let change = JournalChange::Linked {
            entry: EntryId(entry),
            to: EntryId(to),
        };
        journal.apply(&change, hour(63)).unwrap_err();
        assert_eq!(journal, before, "a refused change changes nothing");
    }
}

#[test]
fn a_used_number_is_refused_also_after_its_entry_left() {
    let mut journal = journal_of(&["tea", "war"]);
    let entry = journal.entry(EntryId(2)).unwrap().clone();
    let gone = JournalChange::Pruned {
        entries: vec![EntryId(2)],
        reason: PruneReason::Overflow,
    };
    journal.apply(&gone, hour(3)).unwrap();
    let again = JournalChange::Added {
        entry: Box::new(entry),
        points: 7,
    };
    let error = journal.apply(&again, hour(4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry 2 cannot be added: numbers up to 2 were used before"
    );
    let read: Journal = serde_json::from_str(&serde_json::to_string(&journal).unwrap()).unwrap();
    assert_eq!(read.next_id(), EntryId(3));
}

#[test]
fn every_logged_change_is_read_as_it_was_written() {
    let entry = Box::new(journal_of(&["tea"]).entry(EntryId(1)).unwrap().clone());
    let scores = vec![EntryScore {
        entry: EntryId(1),
        importance: importance(2),
    }];
    for (change, name) in [
        (
            JournalChange::Added {
                entry: entry.clone(),
                points: -1,
            },
            "added",
        ),
        (
            JournalChange::Linked {
                entry: EntryId(2),
                to: EntryId(1),
            },
            "linked",
        ),
        (JournalChange::Unlinked { entry: EntryId(2) }, "unlinked"),
        (
            JournalChange::Rescored {
                scores,
                unreadable: vec![EntryId(2)],
            },
            "rescored",
        ),
        (
            JournalChange::Consolidated {
                entries: vec![EntryId(1)],
            },
            "consolidated",
        ),
        (
            JournalChange::Pruned {
                entries: vec![EntryId(1)],
                reason: PruneReason::Faded,
            },
            "pruned",
        ),
        (
            JournalChange::Restored {
                entry: entry.clone(),
            },
            "restored",
        ),
        (
            JournalChange::ReflectionBegun {
                entries: vec![EntryId(1)],
                through: EntryId(1),
                known_to: Some(Audience::Public),
                left: vec![EntryId(7)],
            },
            "reflection_begun",
        ),
        (
            JournalChange::QuestionsRaised {
                questions: vec!["Who?".to_owned()],
                trust: vec![Trust::FULL],
            },
            "questions_raised",
        ),
        (
            JournalChange::EvidenceFound {
                evidence: vec![Vec::new()],
            },
            "evidence_found",
        ),
        (JournalChange::ReflectionFailed, "reflection_failed"),
        (JournalChange::ReflectionGivenUp, "reflection_given_up"),
        (
            JournalChange::Reflected {
                insights: vec![*entry],
            },
            "reflected",
        ),
    ] {
        let json = serde_json::to_value(&change).unwrap();
        assert_eq!(json["change"], name);
        assert_eq!(
            serde_json::from_value::<JournalChange>(json).unwrap(),
            change
        );
    }
}

fn small() -> JournalSettings {
    JournalSettings {
        max_entries: 6,
        ..JournalSettings::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(256)))]

    #[test]
    fn the_same_changes_always_give_the_same_state_also_from_a_stored_state_and_through_json(
        steps in prop::collection::vec(any_step(), 0..25), cut in 0_usize..40,
    ) {
        let mut life = Life::default();
        for step in &steps {
            life.step(step, &small(), |_, _| {});
        }
        let mut again = Journal::new();
        for (place, (change, at)) in life.changes.iter().enumerate() {
            if place == cut {
                again = serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
            }
            let json = serde_json::to_string(change).unwrap();
            again.apply(&serde_json::from_str(&json).unwrap(), *at).unwrap();
        }
        prop_assert_eq!(again, life.journal);
    }

    #[test]
    fn whatever_happens_numbers_never_repeat_and_counts_stay_true(steps in prop::collection::vec(any_step(), 0..25)) {
        let mut life = Life::default();
        let mut last = 0;
        for step in &steps {
            let total = life.journal.reflection().cumulative_importance;
            let mut moved = 0_i64;
            life.step(step, &small(), |journal, delta| {
                for entry in journal.entries() {
                    let repeating = journal.entries().filter(|other| other.upkeep.near == Some(entry.id));
                    assert_eq!(entry.upkeep.repeats as usize, repeating.count(), "{}", entry.id);
                }
                for score in &delta.rescored {
                    let is_counted = journal.reflection().entries_since_reflection.contains(&score.entry);
                    let now = journal.entry(score.entry).map_or(0, |entry| entry.importance.get());
                    moved += if is_counted { i64::from(now) - i64::from(score.importance.get()) } else { 0 };
                }
                for id in &delta.added {
                    let entry = journal.entry(*id).unwrap();
                    if entry.upkeep.restored_at.is_none() {
                        assert!(id.0 > last, "number {id} twice");
                        last = id.0;
                        moved += i64::from(entry.importance.get());
                    }
                }
            });
            let state = life.journal.reflection();
            prop_assert_eq!(i64::from(state.cumulative_importance), i64::from(total) + moved);
            let counted = state.entries_since_reflection.iter().map(|id| life.journal.entry(*id).unwrap());
            let worth: u32 = counted.map(|entry| u32::from(entry.importance.get())).sum();
            prop_assert!(worth <= state.cumulative_importance);
            let kept = life.journal.entries().filter(|entry| entry.upkeep.restored_at.is_none());
            prop_assert!(kept.count() <= 6);
        }
    }
}

#[test]
fn nothing_is_unconsolidated_that_is_in_long_term_memory() {
    let mut journal = journal_of(&["tea", "war"]);
    let change = JournalChange::Consolidated {
        entries: vec![EntryId(1)],
    };
    journal.apply(&change, hour(2)).unwrap();
    let open: Vec<u64> = journal.unconsolidated().map(|entry| entry.id.0).collect();
    assert_eq!(open, [2]);
}
