//! Two connections write the log of one assistant.

use dormouse_contracts::{AppendErrorKind, ReadEvents, Seq};
use dormouse_nats::NatsFault;

use crate::{
    append, assistant, fault, read_all,
    server::{Cluster, Settings},
};

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_was_replaced_is_fenced_by_its_first_append_and_stays_so() {
    let Some(cluster) = Cluster::start(1, Settings::default()) else {
        return;
    };
    let (first, second) = (cluster.connect().await, cluster.connect().await);
    let alice = assistant("alice");
    assert_eq!(append(&first, &alice, 0, "one").await.unwrap(), Seq(1));

    assert_eq!(second.claim(&alice).await.unwrap(), (2, Seq(1)));
    // Until the new owner has written, the old one may: then the claim was in vain.
    assert_eq!(append(&first, &alice, 1, "two").await.unwrap(), Seq(2));
    let late = append(&second, &alice, 1, "three").await.unwrap_err();
    let (expected, actual) = (Seq(1), Seq(2));
    assert_eq!(late.kind(), AppendErrorKind::Conflict { expected, actual });

    assert_eq!(second.claim(&alice).await.unwrap(), (2, Seq(2)));
    assert_eq!(append(&second, &alice, 2, "three").await.unwrap(), Seq(3));
    let fenced = append(&first, &alice, 2, "four").await.unwrap_err();
    let (expected, actual) = (Seq(2), Seq(3));
    assert_eq!(
        fenced.kind(),
        AppendErrorKind::Conflict { expected, actual }
    );
    let is_fenced = |fault: &NatsFault| matches!(fault, NatsFault::Fenced { ours: 1, theirs: 2 });
    assert!(is_fenced(fault(&fenced)), "{:?}", fault(&fenced));
    // Knowing the end again is not enough.
    assert_eq!(first.read(&alice, Seq(2), 9).await.unwrap().len(), 1);
    let fenced = append(&first, &alice, 3, "four").await.unwrap_err();
    assert_eq!(fenced.kind(), AppendErrorKind::Closed);
    assert!(is_fenced(fault(&fenced)));

    assert_eq!(first.claim(&alice).await.unwrap(), (3, Seq(3)));
    assert_eq!(append(&first, &alice, 3, "four").await.unwrap(), Seq(4));
    let report = second.verify(&alice).await.unwrap();
    assert_eq!(
        (report.last, report.messages, report.owners),
        (Seq(4), 4, 3)
    );
    assert_eq!(report.broken, None);
    assert_eq!(
        second.assistants().await.unwrap(),
        std::slice::from_ref(&alice)
    );
    let words: Vec<_> = read_all(&second, &alice).await.unwrap();
    let words: Vec<_> = words.into_iter().map(|event| event.payload).collect();
    assert_eq!(words, [&b"one"[..], b"two", b"three", b"four"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_what_another_connection_writes_at_any_place() {
    let Some(cluster) = Cluster::start(1, Settings::default()) else {
        return;
    };
    let (writer, reader) = (cluster.connect().await, cluster.connect().await);
    let (alice, bob) = (assistant("alice"), assistant("bob"));
    assert!(read_all(&reader, &alice).await.unwrap().is_empty());
    for seq in 0..300 {
        append(&writer, &alice, seq, seq.to_string()).await.unwrap();
        if seq % 3 == 0 {
            append(&writer, &bob, seq / 3, "between").await.unwrap();
        }
    }
    // From back to front, so that nothing helps to find the place.
    for after in (0..300_u64).rev().step_by(7) {
        let page = reader.read(&alice, Seq(after), 2).await.unwrap();
        assert_eq!(page.len(), usize::min(2, 300 - after as usize));
        assert_eq!(page[0].seq, Seq(after + 1));
        assert_eq!(page[0].payload, after.to_string().into_bytes());
    }
    assert_eq!(read_all(&reader, &bob).await.unwrap().len(), 100);
}
