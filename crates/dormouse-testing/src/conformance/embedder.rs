//! The promises of a text encoder.

use dormouse_contracts::{Embedder, Embedding, EncoderInfo};
use futures_util::FutureExt;

/// The maximum difference between the numbers of two vectors of the same text. It is not zero, because the size of a
/// batch can change the order of additions.
const TOLERANCE: f32 = 1e-4;

/// Checks the promises of [`Embedder`].
///
/// Embeds about 700 short texts and one of a megabyte, in eleven calls. Waits as long as the encoder takes, so give the
/// test a deadline if it may hang. One call can be several requests to the encoder's server.
///
/// # Panics
///
/// At the first broken promise, and if the encoder fails.
pub async fn embedder(embedder: &dyn Embedder) {
    let before = embedder.info();
    no_texts_give_no_vectors(embedder).await;
    let vectors = every_text_has_one_vector(embedder).await;
    vectors_have_the_reported_length(embedder, &before, &vectors);
    a_text_alone_has_the_vector_it_has_among_others(embedder, &vectors).await;
    order_is_kept_in_a_long_list(embedder).await;
    a_long_text_is_cut(embedder).await;
    a_dropped_call_does_no_harm(embedder, &vectors).await;
}

/// Prose in several scripts, blank and repeated texts, control characters, and special tokens of models.
fn texts() -> Vec<String> {
    [
        "Alice bought a blue kettle in Leeds.",
        "",
        "Where is the kettle?",
        " \n\t ",
        "🫖☕️👩‍👩‍👧‍👦🏴‍☠️",
        "水壶是蓝色的。",
        "やかんは青い。주전자는 파랗다.",
        "الغلاية زرقاء — המקומקום כחול",
        "a\u{301}\u{302}\u{303}e\u{308} \u{200b}\u{feff}\u{202e}",
        "\u{0}\u{7}\u{1b}[31m",
        "[CLS] [SEP] <|endoftext|> </s>",
        "Alice bought a blue kettle in Leeds.",
    ]
    .map(str::to_owned)
    .to_vec()
}

async fn no_texts_give_no_vectors(embedder: &dyn Embedder) {
    let vectors = embed(embedder, &[]).await;
    assert!(vectors.is_empty(), "an empty list of texts has no vectors");
}

async fn every_text_has_one_vector(embedder: &dyn Embedder) -> Vec<Embedding> {
    let texts = texts();
    let vectors = embed(embedder, &texts).await;
    assert_close(
        vectors.first(),
        vectors.last(),
        "equal texts have equal vectors",
    );
    vectors
}

fn vectors_have_the_reported_length(
    embedder: &dyn Embedder,
    before: &EncoderInfo,
    vectors: &[Embedding],
) {
    let info = embedder.info();
    assert_eq!(
        info.model, before.model,
        "the model of an encoder does not change"
    );
    let length = vectors.first().map(Vec::len);
    assert_eq!(
        info.dimensions.map(usize::from),
        length,
        "after an answer the dimensions are known"
    );
    assert!(
        before.dimensions.is_none() || before.dimensions == info.dimensions,
        "reported dimensions do not change"
    );
}

async fn a_text_alone_has_the_vector_it_has_among_others(
    embedder: &dyn Embedder,
    among: &[Embedding],
) {
    let texts = texts();
    for place in [0, 2, 5] {
        let alone = embed(embedder, texts.get(place..=place).unwrap()).await;
        assert_close(
            alone.first(),
            among.get(place),
            "a text has the same vector alone and among others",
        );
    }
    let reversed: Vec<String> = texts.iter().rev().cloned().collect();
    for (turned, straight) in embed(embedder, &reversed)
        .await
        .iter()
        .zip(among.iter().rev())
    {
        assert_close(
            Some(turned),
            Some(straight),
            "each vector belongs to its text, in any order",
        );
    }
}

async fn order_is_kept_in_a_long_list(embedder: &dyn Embedder) {
    let kinds = ["Tea is ready.", "The train to York is late, again.", "Bob?"];
    let [tea, train, bob] = kinds.map(str::to_owned);
    let apart = embed(embedder, &[tea.clone(), train.clone(), bob.clone()]).await;
    // More texts than any server accepts at once, and not a multiple of a batch. The texts have different lengths, so
    // that the test fails if an encoder sorts them by length and does not restore the order.
    let many: Vec<String> = (0..641)
        .map(|n| match n % 7 {
            0 => tea.clone(),
            1..=4 => train.clone(),
            _ => bob.clone(),
        })
        .collect();
    for (n, vector) in embed(embedder, &many).await.iter().enumerate() {
        let kind = match n % 7 {
            0 => 0,
            1..=4 => 1,
            _ => 2,
        };
        assert_close(
            Some(vector),
            apart.get(kind),
            "vectors are in the order of their texts",
        );
    }
}

async fn a_long_text_is_cut(embedder: &dyn Embedder) {
    let mut long = "The kettle whistles, and nobody is at home. ".repeat(24_000);
    assert!(long.len() > 1 << 20);
    // This character has two bytes, so bytes and characters differ in number.
    long.insert(0, 'é');
    let short = "The kettle whistles, and nobody is at home.".to_owned();
    let vectors = embed(embedder, &[short, long]).await;
    assert_eq!(vectors.len(), 2, "a text of a megabyte has a vector, too");
}

async fn a_dropped_call_does_no_harm(embedder: &dyn Embedder, vectors: &[Embedding]) {
    let texts = texts();
    // `now_or_never` polls the call once, so that a request may be under way when the call is dropped.
    drop(embedder.embed(&texts).now_or_never());
    let again = embed(embedder, texts.get(..1).unwrap()).await;
    assert_close(
        again.first(),
        vectors.first(),
        "a dropped call leaves nothing behind",
    );
}

/// Embeds, and checks what is true of every answer.
async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Vec<Embedding> {
    let vectors = embedder.embed(texts).await.unwrap();
    assert_eq!(vectors.len(), texts.len(), "each text has one vector");
    let length = vectors.first().map_or(0, Vec::len);
    for vector in &vectors {
        assert_eq!(vector.len(), length, "all vectors have one length");
        assert!(!vector.is_empty(), "a vector is not empty");
        assert!(
            vector.iter().all(|number| number.is_finite()),
            "every number is finite: {vector:?}"
        );
    }
    vectors
}

fn assert_close(one: Option<&Embedding>, other: Option<&Embedding>, promise: &str) {
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.len(), other.len(), "{promise}");
    let apart = one
        .iter()
        .zip(other)
        .map(|(one, other)| (one - other).abs())
        .fold(0.0, f32::max);
    assert!(apart <= TOLERANCE, "{promise}: {apart} apart");
}
