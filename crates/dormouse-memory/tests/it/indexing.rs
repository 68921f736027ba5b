//! Vectors: made by an encoder, sent to an index, and recall while one of the two fails.

use std::sync::Arc;

use dormouse_contracts::ModelErrorKind;
use dormouse_memory::{EncoderState, Fallback, Note, RecallRequest, SearchMode};
use dormouse_testing::{EmbedFault, Gate, HashedEmbedder};
use dormouse_vectors::Exact;

use crate::{add, at, builder, found, points, said, with_vectors};

fn parts() -> (HashedEmbedder, Arc<Exact>) {
    (HashedEmbedder::new(64), Arc::new(Exact::new()))
}

#[tokio::test]
async fn recall_uses_words_and_vectors_with_an_encoder() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder), index).ephemeral().unwrap();
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    let recall = memory.recall("peppermint").await.unwrap();
    assert_eq!(
        (recall.mode, recall.waiting),
        (SearchMode::WordsAndVectors, 0)
    );
    assert_eq!(recall.items[0].record.id, tea);
    assert!(
        recall.items[0]
            .parts
            .iter()
            .any(|(name, _)| *name == "dense")
    );
    let words = memory
        .recall(RecallRequest::new("peppermint").by_words())
        .await
        .unwrap();
    assert_eq!(words.mode, SearchMode::Words);
}

#[tokio::test]
async fn while_the_encoder_fails_recall_uses_words_and_indexing_catches_up_later() {
    for failure in [
        EmbedFault::Fail(ModelErrorKind::Unavailable),
        EmbedFault::NotANumber,
        EmbedFault::WrongDimensions,
        EmbedFault::OneTooFew,
    ] {
        let (encoder, index) = parts();
        let memory = with_vectors(Arc::new(encoder.clone()), index.clone())
            .ephemeral()
            .unwrap();
        encoder.from_now_on(failure.clone());
        let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
        let recall = memory.recall("peppermint").await.unwrap();
        assert!(
            matches!(recall.mode, SearchMode::WordsBecause(_)),
            "{failure:?} {:?}",
            recall.mode
        );
        assert_eq!(recall.items[0].record.id, tea);
        assert_eq!(recall.waiting, 1);
        encoder.recover();
        let progress = memory.index_pending(100).await.unwrap();
        assert_eq!(
            (progress.embedded, progress.indexed, progress.waiting),
            (1, 1, 0),
            "{failure:?}"
        );
        assert_eq!(
            memory.recall("peppermint").await.unwrap().mode,
            SearchMode::WordsAndVectors
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_encoder_that_hangs_does_not_delay_recall() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index)
        .ephemeral()
        .unwrap();
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    memory.index_pending(100).await.unwrap();
    encoder.from_now_on(EmbedFault::Hang);
    let recall = memory.recall("peppermint").await.unwrap();
    assert_eq!(recall.mode, SearchMode::WordsBecause(Fallback::Encoder));
    assert_eq!(recall.items[0].record.id, tea);
}

#[tokio::test]
async fn withdrawing_a_record_removes_its_point_from_the_index() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder), index.clone())
        .ephemeral()
        .unwrap();
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    add(&memory, said("Alice", 2, "a boat")).await;
    memory.index_pending(100).await.unwrap();
    assert_eq!(points(&memory).await, [(1, Some(2))]);
    let seq = memory.withdraw(tea, "asked to").await.unwrap();
    memory.index_pending(100).await.unwrap();
    assert_eq!(points(&memory).await, [(1, Some(1))]);
    memory.revert(seq, "asked to").await.unwrap();
    memory.index_pending(100).await.unwrap();
    assert_eq!(points(&memory).await, [(1, Some(2))]);
}

#[tokio::test]
async fn another_encoder_changes_nothing_and_recall_uses_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index)
        .open(&path)
        .await
        .unwrap();
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    memory.index_pending(100).await.unwrap();
    drop(memory);

    let other = HashedEmbedder::new(32);
    let memory = builder()
        .encoder(Arc::new(other))
        .open(&path)
        .await
        .unwrap();
    assert!(matches!(
        memory.encoder_state().await.unwrap(),
        EncoderState::Other { .. }
    ));
    let recall = memory.recall("peppermint").await.unwrap();
    assert_eq!(
        recall.mode,
        SearchMode::WordsBecause(Fallback::EncoderChanged)
    );
    assert_eq!(recall.items[0].record.id, tea);
    assert_eq!(memory.index_pending(100).await.unwrap().embedded, 0);
    drop(memory);

    let calls = encoder.calls();
    let memory = builder()
        .encoder(Arc::new(encoder.clone()))
        .open(&path)
        .await
        .unwrap();
    let progress = memory.index_pending(100).await.unwrap();
    assert_eq!(
        (progress.embedded, progress.indexed),
        (0, 1),
        "vectors were kept"
    );
    assert_eq!(encoder.calls(), calls);
    assert_eq!(found(&memory, "peppermint").await, [tea]);
}

#[tokio::test(start_paused = true)]
async fn an_encoder_that_hangs_is_no_longer_called_after_a_few_questions() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index)
        .ephemeral()
        .unwrap();
    add(&memory, said("Alice", 1, "peppermint tea")).await;
    memory.index_pending(100).await.unwrap();
    encoder.from_now_on(EmbedFault::Hang);
    let mut modes = Vec::new();
    for _ in 0..12 {
        modes.push(memory.recall("peppermint").await.unwrap().mode);
    }
    assert_eq!(
        modes.last(),
        Some(&SearchMode::WordsBecause(Fallback::EncoderPaused)),
        "{modes:?}"
    );
}

#[tokio::test]
async fn a_server_without_embeddings_is_asked_once_and_recall_goes_by_words() {
    for refusal in [ModelErrorKind::NotFound, ModelErrorKind::Refused] {
        let (encoder, index) = parts();
        let memory = with_vectors(Arc::new(encoder.clone()), index)
            .ephemeral()
            .unwrap();
        encoder.from_now_on(EmbedFault::Fail(refusal));
        let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
        for _ in 0..12 {
            let recall = memory.recall("peppermint").await.unwrap();
            assert_eq!(recall.items[0].record.id, tea);
        }
        assert_eq!(encoder.calls(), 1, "{refusal:?}");
    }
}

#[tokio::test]
async fn a_text_that_an_encoder_refuses_does_not_stop_an_encoder_that_works() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index)
        .ephemeral()
        .unwrap();
    add(&memory, said("Alice", 1, "peppermint tea")).await;
    memory.index_pending(100).await.unwrap();
    encoder.next(EmbedFault::Fail(ModelErrorKind::Refused));
    let recall = memory.recall("peppermint").await.unwrap();
    assert_eq!(recall.mode, SearchMode::WordsBecause(Fallback::Encoder));
    let recall = memory.recall("peppermint").await.unwrap();
    assert_eq!(recall.mode, SearchMode::WordsAndVectors);
}

#[tokio::test]
async fn a_text_without_a_vector_or_one_bad_reply_of_the_encoder_does_not_hold_up_the_other_texts()
{
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index.clone())
        .ephemeral()
        .unwrap();
    add(&memory, said("Alice", 1, "peppermint tea")).await;
    encoder.next(EmbedFault::NotANumber);
    let progress = memory.index_pending(100).await.unwrap();
    assert_eq!(
        (progress.interrupted_by, progress.indexed),
        (None, 1),
        "asked once more"
    );
    assert_eq!(points(&memory).await, [(1, Some(1))]);
}

#[tokio::test]
async fn a_record_erased_while_the_encoder_works_gets_no_vector() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index.clone())
        .ephemeral()
        .unwrap();
    let tea = add(&memory, said("Alice", 1, "peppermint tea")).await;
    let boat = add(&memory, said("Alice", 2, "a boat")).await;
    let gate = Gate::default();
    encoder.next(EmbedFault::Wait(gate.clone()));
    let (progress, ()) = tokio::join!(memory.index_pending(100), async {
        gate.reached().await;
        memory.erase(tea, "asked to").await.unwrap();
        memory.withdraw(boat, "asked to").await.unwrap();
        gate.open();
    });
    assert_eq!(progress.unwrap().embedded, 2);
    memory.index_pending(100).await.unwrap();
    assert_eq!(encoder.calls(), 1);
    memory.revert(4, "asked to").await.unwrap();
    let progress = memory.index_pending(100).await.unwrap();
    assert_eq!((progress.indexed, progress.waiting), (1, 0));
    assert_eq!(
        encoder.calls(),
        1,
        "the vector of what was withdrawn is kept"
    );
}

#[tokio::test]
async fn the_answer_counts_changes_that_are_not_in_the_index_yet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index)
        .open(&path)
        .await
        .unwrap();
    for seconds in 0..300 {
        add(&memory, said("Alice", seconds, &format!("cup {seconds}"))).await;
    }
    assert_eq!(memory.index_pending(usize::MAX).await.unwrap().waiting, 0);
    drop(memory);

    // An index that forgets is empty now.
    let memory = with_vectors(Arc::new(encoder.clone()), Arc::new(Exact::new()))
        .open(&path)
        .await
        .unwrap();
    encoder.from_now_on(EmbedFault::Fail(ModelErrorKind::Unavailable));
    let by_words = RecallRequest::new("cup").by_words();
    assert_eq!(memory.recall(by_words).await.unwrap().waiting, 0);
    add(&memory, said("Alice", 301, "a late cup")).await;
    let recall = memory.recall("cup").await.unwrap();
    assert_eq!(recall.waiting, 301, "the index could not be filled");
}

#[tokio::test]
async fn only_records_of_the_requested_similarity_are_recalled() {
    let (encoder, index) = parts();
    let memory = with_vectors(Arc::new(encoder.clone()), index)
        .ephemeral()
        .unwrap();
    let tea = add(&memory, Note::new("peppermint tea")).await;
    let long = "a boat with peppermint painted on its side left the harbour at dawn on Sunday";
    add(&memory, Note::new(long).at(at(90_000))).await;
    memory.index_pending(100).await.unwrap();
    assert_eq!(found(&memory, "peppermint tea").await.len(), 2);
    let similar = || RecallRequest::new("peppermint tea").min_similarity(0.9);
    assert_eq!(found(&memory, similar()).await, [tea]);
    encoder.from_now_on(EmbedFault::Fail(ModelErrorKind::Unavailable));
    assert_eq!(found(&memory, similar()).await.len(), 2);
}

#[tokio::test]
async fn an_encoder_that_embedded_nothing_does_not_block_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let typo = HashedEmbedder::named("typo", 32);
    typo.from_now_on(EmbedFault::Fail(ModelErrorKind::Unavailable));
    let memory = builder().encoder(Arc::new(typo)).open(&path).await.unwrap();
    add(&memory, said("Alice", 1, "peppermint tea")).await;
    memory.recall("peppermint").await.unwrap();
    drop(memory);

    let encoder = HashedEmbedder::new(64);
    let memory = builder()
        .encoder(Arc::new(encoder))
        .open(&path)
        .await
        .unwrap();
    let recall = memory.recall("peppermint").await.unwrap();
    assert_eq!(recall.mode, SearchMode::WordsAndVectors);
}
