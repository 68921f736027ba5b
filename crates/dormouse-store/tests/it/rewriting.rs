//! A log is copied with other payloads, and the old words are gone.

use std::fs;

use dormouse_contracts::{
    AssistantId, BoxError, LoadSnapshot, NewEvent, ReadEvents, SaveSnapshot, Seq, Snapshot,
    StoredEvent,
};
use dormouse_store::{RedbLog, RewriteError, RewriteEvents};
use proptest::prelude::*;

use crate::{append, assistant, event, read_all, run};

/// Replaces every payload that holds a word, and notes at the end how many it replaced.
struct Without(&'static str, u64);

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes
        .windows(word.len())
        .any(|part| part == word.as_bytes())
}

impl RewriteEvents for Without {
    fn payload(
        &mut self,
        _: &AssistantId,
        event: &StoredEvent,
    ) -> Result<Option<Vec<u8>>, BoxError> {
        let found = holds(&event.payload, self.0);
        self.1 += u64::from(found);
        Ok(found.then(|| b"gone".to_vec()))
    }

    fn appended(&mut self, _: &AssistantId) -> Result<Vec<NewEvent>, BoxError> {
        let count = std::mem::take(&mut self.1);
        Ok((count > 0)
            .then(|| event(count.to_string()))
            .into_iter()
            .collect())
    }
}

#[test]
fn no_byte_of_a_replaced_payload_is_in_the_new_file_and_everything_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let [from, into] = ["log.redb", "new.redb"].map(|name| folder.path().join(name));
    let (alice, bob) = (assistant("alice"), assistant("bob"));
    let log = RedbLog::open(&from).unwrap();
    let created = log.creation().clone();
    run(async {
        for seq in 0..40 {
            let text = match seq % 4 {
                0 => format!("the heron nests {seq}"),
                _ => format!("tea at {seq}"),
            };
            append(&log, &alice, seq, vec![event(text)]).await.unwrap();
        }
        append(&log, &bob, 0, vec![event("a kettle")])
            .await
            .unwrap();
        let snapshot = Snapshot {
            seq: Seq(40),
            schema: 1,
            payload: b"the heron nests".to_vec(),
        };
        log.save_snapshot(&alice, snapshot).await.unwrap();
    });
    let report = log.rewrite(&into, &mut Without("heron", 0)).unwrap();
    assert_eq!((report.events, report.changed), (42, 10));
    let [before, after] = [&alice, &bob].map(|whose| {
        let new = RedbLog::open_existing(&into).unwrap();
        assert_eq!(*new.creation(), created);
        assert!(new.verify().unwrap().is_intact());
        assert!(run(new.load_snapshot(whose, Seq(99))).unwrap().is_none());
        let new = run(read_all(&new, whose)).unwrap();
        (run(read_all(&log, whose)).unwrap(), new)
    });
    assert_eq!(after.0, after.1, "nothing of it is replaced");
    let (old, new) = before;
    assert_eq!(new.len(), old.len() + 1);
    assert_eq!(new.last().unwrap().payload, b"10");
    for (old, new) in old.iter().zip(&new) {
        let expected = match holds(&old.payload, "heron") {
            true => b"gone".to_vec(),
            false => old.payload.clone(),
        };
        assert_eq!(
            *new,
            StoredEvent {
                payload: expected,
                ..old.clone()
            }
        );
    }
    drop(log);
    assert!(holds(&fs::read(&from).unwrap(), "heron"));
    assert!(!holds(&fs::read(&into).unwrap(), "heron"));
}

#[test]
fn a_change_that_fails_leaves_the_log_as_it_is_and_names_the_event() {
    struct Failing;
    impl RewriteEvents for Failing {
        fn payload(
            &mut self,
            _: &AssistantId,
            event: &StoredEvent,
        ) -> Result<Option<Vec<u8>>, BoxError> {
            match event.seq {
                Seq(2) => Err("unreadable".into()),
                _ => Ok(None),
            }
        }
        fn appended(&mut self, _: &AssistantId) -> Result<Vec<NewEvent>, BoxError> {
            Ok(Vec::new())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let [from, into] = ["log.redb", "new.redb"].map(|name| folder.path().join(name));
    let log = RedbLog::open(&from).unwrap();
    let alice = assistant("alice");
    run(append(
        &log,
        &alice,
        0,
        vec![event("a"), event("b"), event("c")],
    ))
    .unwrap();
    let error = log.rewrite(&into, &mut Failing).unwrap_err();
    assert!(
        matches!(error, RewriteError::Change { seq: Seq(2), .. }),
        "{error:?}"
    );
    assert_eq!(run(log.read(&alice, Seq::ZERO, 9)).unwrap().len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn a_rewriting_that_changes_nothing_copies_every_event(
        lives in prop::collection::vec(prop::collection::vec(".{0,3000}", 0..30), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let [from, into] = ["log.redb", "new.redb"].map(|name| folder.path().join(name));
        let log = RedbLog::open(&from).unwrap();
        for (number, texts) in lives.iter().enumerate() {
            let events = texts.iter().map(|text| event(text.as_bytes())).collect();
            run(append(&log, &assistant(&format!("a{number}")), 0, events)).unwrap();
        }
        log.rewrite(&into, &mut Without("\u{1}\u{2}\u{3}\u{4}", 0)).unwrap();
        let new = RedbLog::open_existing(&into).unwrap();
        prop_assert_eq!(new.assistants().unwrap(), log.assistants().unwrap());
        for (whose, _) in log.assistants().unwrap() {
            prop_assert_eq!(run(read_all(&new, &whose)).unwrap(), run(read_all(&log, &whose)).unwrap());
        }
    }
}
