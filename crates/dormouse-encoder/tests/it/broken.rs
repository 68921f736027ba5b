use std::{error::Error, fs, path::Path};

use dormouse_contracts::{Embedder, ModelErrorKind};
use dormouse_encoder::{LocalEncoder, LocalEncoderError};
use serde_json::json;

use crate::{
    encoding::{embed, texts},
    tiny::{Tiny, config},
};

/// The error after this change of a valid folder.
fn error(spoil: impl FnOnce(&Path)) -> LocalEncoderError {
    let folder = Tiny::default().write();
    spoil(folder.path());
    let error = LocalEncoder::open(folder.path()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains(folder.path().to_str().unwrap()),
        "it says where: {message}"
    );
    assert!(message.contains(';'), "it says what helps: {message}");
    error
}

fn with_file(name: &str, content: impl AsRef<[u8]>) -> LocalEncoderError {
    error(|folder| fs::write(folder.join(name), content).unwrap())
}

fn with_config(name: &str, value: serde_json::Value) -> LocalEncoderError {
    let mut config = config();
    config[name] = value;
    with_file("config.json", config.to_string())
}

#[test]
fn a_missing_folder_and_a_file_in_its_place_are_reported() {
    let nowhere = LocalEncoder::open(Path::new("/nowhere/at/all")).unwrap_err();
    assert_eq!(
        nowhere.to_string(),
        "there is no folder /nowhere/at/all; name one that holds config.json, tokenizer.json and model.safetensors of a sentence-transformers model"
    );
    let folder = Tiny::default().write();
    let file = LocalEncoder::open(&folder.path().join("config.json"));
    assert!(matches!(file, Err(LocalEncoderError::NoFolder { .. })));
}

#[test]
fn a_missing_file_is_named() {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let error = error(|folder| fs::remove_file(folder.join(name)).unwrap());
        let LocalEncoderError::NoFile { path } = &error else {
            panic!("{error:?}")
        };
        assert!(path.ends_with(name));
    }
    let empty = tempfile::tempdir().unwrap();
    let nothing = LocalEncoder::open(empty.path());
    assert!(matches!(nothing, Err(LocalEncoderError::NoFile { .. })));
}

#[test]
fn an_unreadable_file_is_reported_with_the_system_error() {
    let error = error(|folder| {
        fs::remove_file(folder.join("config.json")).unwrap();
        fs::create_dir(folder.join("config.json")).unwrap();
    });
    assert!(matches!(error, LocalEncoderError::Read { .. }), "{error:?}");
    assert!(error.source().is_some());
}

#[test]
fn files_with_the_wrong_content_are_reported() {
    for name in [
        "config.json",
        "tokenizer.json",
        "modules.json",
        "1_Pooling/config.json",
    ] {
        for content in [
            "",
            "{",
            "[1]",
            "null",
            "version https://git-lfs.github.com/spec/v1",
        ] {
            let error = with_file(name, content);
            let LocalEncoderError::Unreadable { path, .. } = &error else {
                panic!("{name} {content:?}: {error:?}")
            };
            assert!(path.ends_with(name));
        }
    }
    let error = with_config("hidden_act", json!("swish"));
    assert!(matches!(error, LocalEncoderError::Unreadable { .. }));
}

#[test]
fn an_unsupported_architecture_is_named() {
    let error = with_config("model_type", json!("distilbert"));
    assert!(
        error
            .to_string()
            .contains("of the type \"distilbert\", but only \"bert\" is supported")
    );
    let unnamed = with_file("config.json", "{}");
    assert!(matches!(unnamed, LocalEncoderError::Architecture { .. }));
}

#[test]
fn an_impossible_model_is_rejected_before_any_calculation() {
    for (name, value) in [
        ("hidden_size", 0),
        ("num_attention_heads", 0),
        ("num_attention_heads", 3),
        ("num_hidden_layers", 0),
        ("max_position_embeddings", 2),
    ] {
        let error = with_config(name, json!(value));
        let message = error.to_string();
        assert!(
            matches!(error, LocalEncoderError::Impossible { .. }),
            "{message}"
        );
        assert!(message.contains(name), "{message}");
    }
    let error = with_file("sentence_bert_config.json", r#"{"max_seq_length": 0}"#);
    assert!(error.to_string().contains("max_seq_length"), "{error}");
}

#[test]
fn unknown_pooling_is_rejected() {
    let maximum = r#"{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": false}"#;
    let error = with_file("1_Pooling/config.json", maximum);
    assert!(matches!(error, LocalEncoderError::Pooling { .. }));
    let dense = r#"[{"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}]"#;
    let error = with_file("modules.json", dense);
    assert!(matches!(error, LocalEncoderError::Pooling { .. }));
}

#[test]
fn broken_weights_are_reported_without_reading_past_the_file() {
    let good = {
        let folder = Tiny::default().write();
        fs::read(folder.path().join("model.safetensors")).unwrap()
    };
    let mut boundless = good.clone();
    boundless[..8].fill(0xff);
    let mut spoilt = good.clone();
    spoilt[9] = b'!';
    for weights in [
        &[][..],
        b"version https://git-lfs.github.com/spec/v1",
        &good[..4],
        &good[..good.len() / 2],
        &good[..good.len() - 1],
        &boundless,
        &spoilt,
    ] {
        let error = with_file("model.safetensors", weights);
        assert!(
            matches!(error, LocalEncoderError::Weights { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn weights_of_another_model_are_reported() {
    let error = with_config("hidden_size", json!(32));
    assert!(
        matches!(error, LocalEncoderError::Weights { .. }),
        "{error:?}"
    );
    let error = with_config("num_hidden_layers", json!(3));
    assert!(
        error
            .source()
            .unwrap()
            .to_string()
            .contains("encoder.layer.2"),
        "{error:?}"
    );
}

#[test]
fn non_finite_weights_are_found_when_the_model_is_opened() {
    let damage = |name: &str, place, number| match (name, place) {
        ("encoder.layer.1.output.dense.bias", 7) => f32::NAN,
        _ => number,
    };
    let folder = Tiny { seed: 1, damage }.write();
    let error = LocalEncoder::open(folder.path()).unwrap_err();
    assert!(
        matches!(error, LocalEncoderError::Damaged { .. }),
        "{error:?}"
    );
    assert!(
        error.source().unwrap().to_string().contains("not finite"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_token_with_invalid_weights_fails_alone() {
    let damage = |name: &str, place: usize, number| match (name, place / 16) {
        ("embeddings.word_embeddings.weight", 8) => f32::NAN,
        _ => number,
    };
    let folder = Tiny { seed: 1, damage }.write();
    let encoder = LocalEncoder::open(folder.path()).unwrap();
    let error = encoder
        .embed(&texts(&["the kettle", "hot tea"]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Malformed);
    assert_eq!(error.provider().as_str(), "folder");
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("weights are damaged: vector 1"), "{cause}");
    assert_eq!(embed(&encoder, &["the kettle"]).await.len(), 1);
}

#[test]
fn a_tokenizer_with_more_tokens_than_the_model_is_rejected() {
    let error = error(|folder| {
        let path = folder.join("tokenizer.json");
        let tokenizer = fs::read_to_string(&path).unwrap();
        fs::write(path, tokenizer.replace("\"kettle\":5", "\"kettle\":5000")).unwrap();
    });
    assert!(
        matches!(error, LocalEncoderError::Damaged { .. }),
        "{error:?}"
    );
}
