//! The encoder in this process, with models that are made up here.

use std::{fs, path::Path};

use dormouse_contracts::{Embedder, Embedding, ModelName};
use dormouse_encoder::LocalEncoder;
use dormouse_testing::conformance;

use crate::{calculation, tiny::Tiny};

pub(crate) fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(crate) async fn embed(encoder: &LocalEncoder, of: &[&str]) -> Vec<Embedding> {
    encoder.embed(&texts(of)).await.unwrap()
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let folder = Tiny::default().write();
    conformance::embedder(&LocalEncoder::open(folder.path()).unwrap()).await;
    let cls = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
    fs::write(folder.path().join("1_Pooling/config.json"), cls).unwrap();
    conformance::embedder(&LocalEncoder::open(folder.path()).unwrap()).await;
}

#[tokio::test]
async fn vectors_match_a_calculation_by_hand() {
    let tiny = Tiny::default();
    let folder = tiny.write();
    let encoder = LocalEncoder::open(folder.path()).unwrap();
    for (text, ids) in [
        ("", vec![2, 3]),
        ("the kettle", vec![2, 4, 5, 3]),
        (
            "The KETTLE is blue, the tea is hot",
            vec![2, 4, 5, 6, 7, 1, 4, 8, 6, 9, 3],
        ),
    ] {
        let calculated = calculation::embed(&tiny, &ids);
        // Among others of other lengths, so that filling up shows.
        let others = [text, "tea", &"the tea is blue ".repeat(5)];
        let vectors = embed(&encoder, &others).await;
        for (is, expected) in vectors[0].iter().zip(&calculated) {
            assert!((is - expected).abs() < 1e-5, "{text}: {is} {expected}");
        }
        let length: f32 = vectors[0].iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-5, "{length}");
    }
}

#[tokio::test]
async fn a_text_is_truncated_at_the_models_limit() {
    let folder = Tiny::default().write();
    let limits = folder.path().join("sentence_bert_config.json");
    fs::write(&limits, r#"{"max_seq_length": 8, "do_lower_case": false}"#).unwrap();
    let encoder = LocalEncoder::open(folder.path()).unwrap();
    let six = "the kettle is blue tea hot";
    let vectors = embed(
        &encoder,
        &[six, &format!("{six} the tea"), "the kettle is blue tea"],
    )
    .await;
    assert_eq!(
        vectors[0], vectors[1],
        "what comes after six words is not read"
    );
    assert_ne!(vectors[0], vectors[2]);
}

#[tokio::test]
async fn a_placeholder_depends_on_the_content_and_not_on_the_position() {
    let name = |folder: &Path| -> ModelName { LocalEncoder::open(folder).unwrap().info().model };
    let tiny = Tiny::default();
    let (here, there) = (tiny.write(), tiny.write());
    let first = name(here.path());
    assert!(first.as_str().starts_with("bert-16-"), "{first}");
    assert_eq!(first, name(there.path()));
    let limits = r#"{"max_seq_length": 9}"#;
    fs::write(there.path().join("sentence_bert_config.json"), limits).unwrap();
    assert_ne!(first, name(there.path()), "it reads less of a text");
    let other = Tiny { seed: 2, ..tiny };
    assert_ne!(first, name(other.write().path()), "it has other weights");
}

#[tokio::test]
async fn mean_pooling_is_the_default() {
    let folder = Tiny::default().write();
    let said = LocalEncoder::open(folder.path()).unwrap();
    fs::remove_file(folder.path().join("modules.json")).unwrap();
    fs::remove_dir_all(folder.path().join("1_Pooling")).unwrap();
    let unsaid = LocalEncoder::open(folder.path()).unwrap();
    assert_eq!(said.info(), unsaid.info());
    assert_eq!(embed(&said, &["tea"]).await, embed(&unsaid, &["tea"]).await);
}

#[tokio::test]
async fn parts_are_searched_where_the_modules_file_says() {
    let folder = Tiny::default().write();
    let at = |name: &str| folder.path().join(name);
    let said = LocalEncoder::open(folder.path()).unwrap();
    fs::create_dir(at("0_Transformer")).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::rename(at(name), at("0_Transformer").join(name)).unwrap();
    }
    let modules = r#"[{"idx": 0, "name": "0", "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]"#;
    fs::write(at("modules.json"), modules).unwrap();
    assert_eq!(
        said.info(),
        LocalEncoder::open(folder.path()).unwrap().info()
    );
}

#[tokio::test]
async fn many_callers_take_turns() {
    let folder = Tiny::default().write();
    let encoder = LocalEncoder::open(folder.path()).unwrap();
    let many = vec!["the tea is hot".to_owned(); 300];
    let calls = (0..4).map(|_| encoder.embed(&many));
    let answers = futures_util::future::join_all(calls).await;
    let first = embed(&encoder, &["the tea is hot"]).await;
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(answer.len(), 300);
        let apart = |a: &[f32], b: &[f32]| {
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max)
        };
        assert!(answer.iter().all(|vector| apart(vector, &first[0]) < 1e-5));
    }
}
