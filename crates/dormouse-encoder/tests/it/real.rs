//! A real model, if one is present: all-MiniLM-L6-v2 in the folder `DORMOUSE_MODEL_FOLDER`.

use std::path::PathBuf;

use dormouse_contracts::Embedder;
use dormouse_encoder::LocalEncoder;
use dormouse_testing::conformance;

use crate::encoding::embed;

fn encoder() -> Option<LocalEncoder> {
    let folder = PathBuf::from(std::env::var_os("DORMOUSE_MODEL_FOLDER")?);
    Some(LocalEncoder::open(&folder).unwrap())
}

#[tokio::test]
async fn a_real_model_keeps_the_promises_of_the_port() {
    if let Some(encoder) = encoder() {
        conformance::embedder(&encoder).await;
    }
}

#[tokio::test]
async fn a_real_model_finds_similar_texts() {
    let Some(encoder) = encoder() else { return };
    let vectors = embed(
        &encoder,
        &[
            "Alice bought a blue kettle in Leeds.",
            "Where did Alice get her kettle?",
            "The train to York is late.",
        ],
    )
    .await;
    let similarity = |a: usize, b: usize| -> f32 {
        vectors[a].iter().zip(&vectors[b]).map(|(a, b)| a * b).sum()
    };
    assert!(similarity(0, 1) > 0.6, "{}", similarity(0, 1));
    assert!(similarity(0, 2) < 0.2, "{}", similarity(0, 2));
}

/// The expected numbers are from a calculation in double precision that shares nothing with this one but the files.
#[tokio::test]
async fn all_minilm_l6_v2_matches_the_reference_values() {
    let Some(encoder) = encoder() else { return };
    if encoder.info().dimensions.map(usize::from) != Some(384) {
        return;
    }
    let long = "a ".repeat(1000);
    let expected: [(&str, [f32; 6]); 3] = [
        (
            "Alice bought a blue kettle in Leeds.",
            [-0.00471, 0.02217, 0.00046, 0.04232, -0.04234, 0.04216],
        ),
        (
            "水壶是蓝色的 🫖",
            [0.02011, 0.04891, 0.08217, 0.04394, 0.07171, 0.01819],
        ),
        (
            &long,
            [-0.01442, -0.0471, 0.02383, -0.08285, -0.14134, -0.01177],
        ),
    ];
    for (text, beginning) in expected {
        let vector = embed(&encoder, &[text]).await.remove(0);
        for (is, expected) in vector.iter().zip(beginning) {
            assert!((is - expected).abs() < 1e-4, "{text}: {vector:?}");
        }
    }
}
