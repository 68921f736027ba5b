//! A whole log is copied from another file, or nothing of it.

use dormouse_contracts::{AppendErrorKind, Seq};
use dormouse_store::{LogView, RedbLog};

use crate::{append, assistant, copy_open_log, event, read_all, run};

#[test]
fn a_log_is_copied_whole_and_only_where_its_assistant_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let [from, into, crashed] =
        ["from.redb", "into.redb", "crashed.redb"].map(|name| folder.path().join(name));
    let (alice, bob) = (assistant("alice"), assistant("bob"));
    run(async {
        let from = RedbLog::open(&from).unwrap();
        // More than a page, and more than fits into the write-ahead file.
        let many = (0..1_500).map(|number| event(format!("{number} {}", "tea ".repeat(500))));
        append(&from, &alice, 0, many.collect()).await.unwrap();
        append(&from, &bob, 0, vec![event("a kettle")])
            .await
            .unwrap();

        let log = RedbLog::open(&into).unwrap();
        append(&log, &bob, 0, vec![event("a cup")]).await.unwrap();
        // Requests of others that come at the same time have commits of their own.
        let (before, adopted, after) = tokio::join!(
            append(&log, &bob, 1, vec![event("milk")]),
            log.adopt(&from, &alice),
            append(&log, &bob, 2, vec![event("honey")]),
        );
        assert_eq!(before.unwrap(), Seq(2));
        assert_eq!(adopted.unwrap(), Seq(1_500));
        assert_eq!(after.unwrap(), Seq(3));
        assert_eq!(
            read_all(&log, &alice).await.unwrap(),
            read_all(&from, &alice).await.unwrap()
        );
        copy_open_log(&into, &crashed);

        for known in [&alice, &bob] {
            let refused = log.adopt(&from, known).await.unwrap_err();
            let AppendErrorKind::Conflict { expected, actual } = refused.kind() else {
                panic!("{refused}");
            };
            assert_eq!(expected, Seq::ZERO);
            assert_eq!(actual, log.end_of(known).unwrap());
        }
        let nobody = assistant("nobody");
        assert_eq!(log.adopt(&from, &nobody).await.unwrap(), Seq::ZERO);
        assert_eq!(log.end_of(&nobody).unwrap(), Seq::ZERO);
        assert!(log.verify().unwrap().is_intact());
    });
    // What was acknowledged survives the end of the process.
    let log = LogView::open(&crashed).unwrap();
    assert!(log.verify().unwrap().is_intact());
    assert_eq!(
        log.assistants().unwrap(),
        [(alice, Seq(1_500)), (bob, Seq(3))]
    );
}

#[test]
fn of_a_log_that_cannot_be_read_nothing_is_copied_and_the_next_append_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let [from, into] = ["from.redb", "into.redb"].map(|name| folder.path().join(name));
    let (alice, bob) = (assistant("alice"), assistant("bob"));
    run(async {
        let from = RedbLog::open(&from).unwrap();
        append(&from, &alice, 0, vec![event("tea")]).await.unwrap();
        from.clone().close();
        let log = RedbLog::open(&into).unwrap();
        let refused = log.adopt(&from, &alice).await.unwrap_err();
        assert_eq!(refused.kind(), AppendErrorKind::Storage);
        assert_eq!(log.assistants().unwrap(), []);
        append(&log, &bob, 0, vec![event("milk")]).await.unwrap();
    });
}
