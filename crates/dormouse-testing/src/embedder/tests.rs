use futures_util::FutureExt;

use super::*;
use crate::conformance;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    for dimensions in [1, 2, 64, 1000] {
        conformance::embedder(&HashedEmbedder::new(dimensions)).await;
    }
}

#[test]
fn a_text_has_the_vector_it_had_on_every_machine() {
    let embedder = HashedEmbedder::new(4);
    let half = 1.0 / 2.0_f32.sqrt();
    assert_eq!(embedder.vector("Tea, tea! TEA"), embedder.vector("tea"));
    assert_eq!(embedder.vector("tea"), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(embedder.vector("tea kettle"), [half, -half, 0.0, 0.0]);
    assert_eq!(embedder.vector("  …"), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn texts_that_share_words_are_similar_and_others_are_not() {
    let embedder = HashedEmbedder::new(256);
    let kettle = embedder.vector("Alice bought a blue kettle in Leeds");
    let again = embedder.vector("Where did Alice buy the blue kettle?");
    let other = embedder.vector("Bob dislikes long train rides");
    assert!(similarity(&kettle, &again) > 0.4);
    assert!(similarity(&kettle, &other).abs() < 0.2);
}

#[test]
fn another_name_is_another_encoder() {
    let one = HashedEmbedder::named("one", 64);
    let two = HashedEmbedder::named("two", 64);
    assert_ne!(one.info(), two.info());
    assert_ne!(one.vector("kettle"), two.vector("kettle"));
}

#[tokio::test]
async fn it_fails_as_configured_and_then_works_again() {
    let embedder = HashedEmbedder::new(8);
    let two = texts(&["one", "two"]);
    embedder.next(EmbedFault::Fail(ModelErrorKind::Unavailable));
    embedder.next(EmbedFault::NotANumber);
    embedder.next(EmbedFault::WrongDimensions);
    embedder.next(EmbedFault::OneTooFew);
    embedder.next(EmbedFault::Hang);
    let failed = embedder.embed(&two).await.unwrap_err();
    assert_eq!(failed.kind(), ModelErrorKind::Unavailable);
    let not_numbers = embedder.embed(&two).await.unwrap();
    assert!(not_numbers.iter().flatten().all(|x| x.is_nan()));
    assert_eq!(embedder.embed(&two).await.unwrap()[1].len(), 9);
    assert_eq!(embedder.embed(&two).await.unwrap().len(), 1);
    assert!(embedder.embed(&two).now_or_never().is_none());
    assert_eq!(embedder.embed(&two).await.unwrap().len(), 2);
    assert_eq!((embedder.calls(), embedder.texts().len()), (6, 12));
}

#[tokio::test]
async fn trouble_lasts_until_it_recovers_and_a_gate_holds_a_call() {
    let embedder = HashedEmbedder::new(8);
    embedder.from_now_on(EmbedFault::Fail(ModelErrorKind::TimedOut));
    for _ in 0..3 {
        assert!(embedder.embed(&[]).await.is_err());
    }
    let gate = Gate::new();
    embedder.clone().recover();
    embedder.next(EmbedFault::Wait(gate.clone()));
    let one = texts(&["one"]);
    let mut held = embedder.embed(&one);
    assert!((&mut held).now_or_never().is_none());
    gate.open();
    assert_eq!(held.await.unwrap(), [embedder.vector("one")]);
}
