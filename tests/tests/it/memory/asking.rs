//! What questions leave out, and what comes first.

use std::sync::Arc;

use dormouse_contracts::Timestamp;
use dormouse_memory::{Note, RecallRequest, Recollection, SearchMode};
use dormouse_vectors::Exact;

use super::{builder, encoder, with};

fn texts(items: &[Recollection]) -> Vec<&str> {
    items.iter().map(|item| item.record.text.as_str()).collect()
}

#[tokio::test]
async fn a_similarity_threshold_excludes_matches_by_vectors_alone_and_is_off_by_default() {
    let index = Arc::new(Exact::new());
    let memory = with(&encoder()).vectors(index).ephemeral().unwrap();
    for text in ["peppermint tea", "a boat in the harbour"] {
        memory.add(Note::new(text), "heard").await.unwrap();
    }
    memory.index_pending(10).await.unwrap();
    let dense = async |request: RecallRequest| {
        let recall = memory.recall(request).await.unwrap();
        assert_eq!(recall.mode, SearchMode::WordsAndVectors);
        let by_vectors = |item: &Recollection| {
            item.parts
                .iter()
                .any(|(name, part)| *name == "dense" && *part > 0.0)
        };
        let found: Vec<_> = recall.items.into_iter().filter(by_vectors).collect();
        texts(&found).join(", ")
    };
    let question = || RecallRequest::new("peppermint tea");
    assert!(dense(question()).await.contains("peppermint"));
    // The one that is asked for is as similar as can be.
    assert_eq!(
        dense(question().min_similarity(0.7)).await,
        "peppermint tea"
    );
    assert_eq!(dense(question().min_similarity(1.1)).await, "");
}

#[tokio::test]
async fn the_newer_of_two_equal_matches_comes_first() {
    let memory = builder().ephemeral().unwrap();
    let day = |day: i64| Timestamp::from_micros(day * 86_400_000_000);
    for at in [day(3), day(9), day(5)] {
        let note = Note::new(format!("the kettle is blue, says day{}", at.as_micros()));
        memory
            .add(note.said_by("Alice").at(at), "heard")
            .await
            .unwrap();
    }
    let recall = memory.recall("kettle").await.unwrap();
    let times: Vec<_> = recall.items.iter().map(|item| item.record.at).collect();
    assert_eq!(times, [day(9), day(5), day(3)]);
}
