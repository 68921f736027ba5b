use super::{Arrival, NONE, Threads};

const GAP: u64 = 10;

/// A thread's units by time; each is its own slot and number, and has one term.
fn threads(times: &[(u32, i64)]) -> Threads {
    let mut threads = Threads::new(GAP);
    for &(slot, at) in times {
        threads.insert(Some("a"), arrival(slot, at));
    }
    threads
}

fn arrival(slot: u32, at: i64) -> Arrival {
    Arrival {
        slot,
        at,
        id: u64::from(slot),
        passage: 0,
        terms: 1,
        speaker: slot % 2,
    }
}

fn sessions(threads: &Threads, slots: u32) -> Vec<Vec<u32>> {
    let begins = (0..slots).filter(|slot| {
        let place = threads.position(*slot);
        place.session != NONE && place.prev == NONE
    });
    let mut sessions: Vec<Vec<u32>> = begins
        .map(|slot| threads.forwards(slot).collect())
        .collect();
    sessions.sort();
    for session in &sessions {
        let numbers: Vec<u32> = session
            .iter()
            .map(|slot| threads.position(*slot).session)
            .collect();
        assert!(numbers.windows(2).all(|pair| pair[0] == pair[1]));
        let tally = threads.session(numbers[0]);
        assert_eq!(tally.units as usize, session.len());
        let begun = (session[0], threads.position(session[0]).at);
        assert_eq!((tally.first, tally.begun_at), begun);
        assert_eq!(tally.terms as usize, session.len());
        for speaker in 0..2 {
            let speaks = session.iter().any(|slot| slot % 2 == speaker);
            assert_eq!(threads.takes_part(speaker, numbers[0]), speaks);
        }
    }
    assert_eq!(sessions.len(), threads.sessions());
    assert_eq!(
        threads.begun_within(i64::MIN, i64::MAX).count(),
        sessions.len()
    );
    sessions
}

#[test]
fn a_pause_longer_than_the_gap_begins_a_session() {
    assert_eq!(
        sessions(&threads(&[(0, 0), (1, 10), (2, 21)]), 3),
        [vec![0, 1], vec![2]]
    );
}

#[test]
fn a_late_unit_joins_the_sessions_on_both_sides() {
    let mut threads = threads(&[(0, 0), (1, 5), (2, 20), (3, 25), (4, 27)]);
    assert_eq!(sessions(&threads, 5), [vec![0, 1], vec![2, 3, 4]]);
    threads.insert(Some("a"), arrival(5, 12));
    assert_eq!(sessions(&threads, 6), [vec![0, 1, 5, 2, 3, 4]]);
}

#[test]
fn removing_what_held_a_session_together_splits_it() {
    let mut threads = threads(&[(0, 0), (1, 10), (2, 20), (3, 22), (4, 24)]);
    threads.remove(0, arrival(1, 10));
    assert_eq!(sessions(&threads, 5), [vec![0], vec![2, 3, 4]]);
    threads.remove(0, arrival(3, 22));
    assert_eq!(sessions(&threads, 5), [vec![0], vec![2, 4]]);
}
