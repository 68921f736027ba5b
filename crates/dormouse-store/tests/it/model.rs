//! The log against the simplest thing that keeps the same promises: one list for each assistant.

use std::collections::BTreeMap;

use dormouse_contracts::{AppendErrorKind, ReadEvents, Seq, StoredEvent};
use dormouse_store::RedbLog;
use proptest::prelude::*;

use crate::{append, assistant, event, read_all, run};

#[derive(Clone, Debug)]
enum Step {
    /// Append this many events, expecting the log to end this far from where it does.
    Append {
        who: u8,
        events: Vec<Vec<u8>>,
        off: i64,
    },
    Read {
        who: u8,
        after: u64,
        limit: usize,
    },
    Reopen,
    Verify,
}

fn step() -> impl Strategy<Value = Step> {
    let payload = proptest::collection::vec(any::<u8>(), 0..40);
    let events = proptest::collection::vec(payload, 0..4);
    let off = prop_oneof![6 => Just(0_i64), 1 => -3_i64..4];
    prop_oneof![
        6 => (0_u8..3, events, off).prop_map(|(who, events, off)| Step::Append { who, events, off }),
        3 => (0_u8..4, 0_u64..12, 0_usize..6).prop_map(|(who, after, limit)| Step::Read { who, after, limit }),
        1 => Just(Step::Reopen),
        1 => Just(Step::Verify),
    ]
}

type Model = BTreeMap<String, Vec<StoredEvent>>;

/// Names of which one is the beginning of another: neighbours in the file.
fn name(who: u8) -> String {
    ["alice", "alice-2", "al", "nobody"][usize::from(who)].to_owned()
}

async fn check_append(log: &RedbLog, model: &mut Model, who: u8, events: Vec<Vec<u8>>, off: i64) {
    let id = assistant(&name(who));
    let list = model.get(&name(who)).cloned().unwrap_or_default();
    let end = list.len() as u64;
    let expected = end.saturating_add_signed(off);
    let new: Vec<_> = events.into_iter().map(event).collect();
    let answer = append(log, &id, expected, new.clone()).await;
    if expected != end {
        let kind = answer.unwrap_err().kind();
        let (expected, actual) = (Seq(expected), Seq(end));
        assert_eq!(kind, AppendErrorKind::Conflict { expected, actual });
        return;
    }
    assert_eq!(answer.unwrap(), Seq(end + new.len() as u64));
    if new.is_empty() {
        return;
    }
    let list = model.entry(name(who)).or_default();
    for new in new {
        list.push(StoredEvent {
            seq: Seq(list.len() as u64 + 1),
            at: new.at,
            kind: new.kind.to_owned(),
            schema: new.schema,
            payload: new.payload,
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_operations_keeps_a_list_of_events_per_assistant(steps in proptest::collection::vec(step(), 1..30)) {
        run(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log.redb");
            let mut log = RedbLog::open(&path).unwrap();
            let mut model = Model::new();
            for step in steps {
                match step {
                    Step::Append { who, events, off } => check_append(&log, &mut model, who, events, off).await,
                    Step::Read { who, after, limit } => {
                        let list = model.get(&name(who)).cloned().unwrap_or_default();
                        let expected: Vec<_> = list.into_iter().skip(after as usize).take(limit).collect();
                        assert_eq!(log.read(&assistant(&name(who)), Seq(after), limit).await.unwrap(), expected);
                    }
                    Step::Reopen => {
                        drop(log);
                        log = RedbLog::open_existing(&path).unwrap();
                    }
                    Step::Verify => assert!(log.verify().unwrap().is_intact()),
                }
            }
            let ends: Vec<_> = model.iter().map(|(n, list)| (assistant(n), Seq(list.len() as u64))).collect();
            assert_eq!(log.assistants().unwrap(), ends);
            for (name, list) in &model {
                assert_eq!(&read_all(&log, &assistant(name)).await.unwrap(), list);
            }
        });
    }
}
