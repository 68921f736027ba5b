//! A folder with a tiny BERT model, small enough to calculate by hand, with seeded random weights.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const HIDDEN: usize = 16;
pub(crate) const LAYERS: usize = 2;
pub(crate) const HEADS: usize = 2;
const INNER: usize = 24;
const POSITIONS: usize = 64;
const WORDS: [&str; 10] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "kettle", "is", "blue", "tea", "hot",
];

/// What a number is to become, by the name of its tensor and its place in it.
type Damage = fn(&str, usize, f32) -> f32;

#[derive(Clone, Copy)]
pub(crate) struct Tiny {
    pub(crate) seed: u64,
    pub(crate) damage: Damage,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
            seed: 1,
            damage: |_, _, number| number,
        }
    }
}

pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) numbers: Vec<f32>,
}

impl Tiny {
    /// The folder in the format of sentence-transformers. It is deleted on drop.
    pub(crate) fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
        let modules = json!([
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ]);
        write("modules.json", modules.to_string().as_bytes());
        write("config.json", config().to_string().as_bytes());
        write("tokenizer.json", tokenizer().to_string().as_bytes());
        write("model.safetensors", &safetensors(&self.tensors()));
        fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        let mean = json!({"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true});
        write("1_Pooling/config.json", mean.to_string().as_bytes());
        folder
    }

    /// The weights by name.
    pub(crate) fn tensors(&self) -> BTreeMap<String, Tensor> {
        let mut shapes = vec![
            (
                "embeddings.word_embeddings.weight".to_owned(),
                vec![WORDS.len(), HIDDEN],
            ),
            (
                "embeddings.position_embeddings.weight".to_owned(),
                vec![POSITIONS, HIDDEN],
            ),
            (
                "embeddings.token_type_embeddings.weight".to_owned(),
                vec![2, HIDDEN],
            ),
        ];
        let mut linear = |name: String, to: usize, from: usize| {
            shapes.push((format!("{name}.weight"), vec![to, from]));
            shapes.push((format!("{name}.bias"), vec![to]));
        };
        for layer in 0..LAYERS {
            let layer = format!("encoder.layer.{layer}");
            for part in ["query", "key", "value"] {
                linear(format!("{layer}.attention.self.{part}"), HIDDEN, HIDDEN);
            }
            linear(format!("{layer}.attention.output.dense"), HIDDEN, HIDDEN);
            linear(format!("{layer}.intermediate.dense"), INNER, HIDDEN);
            linear(format!("{layer}.output.dense"), HIDDEN, INNER);
        }
        for norm in norms() {
            shapes.push((format!("{norm}.weight"), vec![HIDDEN]));
            shapes.push((format!("{norm}.bias"), vec![HIDDEN]));
        }
        let mut state = self.seed;
        let mut draw = |(name, shape): (String, Vec<usize>)| {
            let count = shape.iter().product();
            let damaged = |place| (self.damage)(&name, place, number(&mut state));
            let numbers = (0..count).map(damaged).collect();
            (name.clone(), Tensor { shape, numbers })
        };
        shapes.into_iter().map(&mut draw).collect()
    }
}

fn norms() -> Vec<String> {
    let layers = (0..LAYERS).flat_map(|layer| {
        let layer = format!("encoder.layer.{layer}");
        [
            format!("{layer}.attention.output.LayerNorm"),
            format!("{layer}.output.LayerNorm"),
        ]
    });
    layers.chain(["embeddings.LayerNorm".to_owned()]).collect()
}

/// The next number, between -0.5 and 0.5.
fn number(state: &mut u64) -> f32 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
}

pub(crate) fn config() -> Value {
    json!({
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "relu", "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER,
        "max_position_embeddings": POSITIONS, "vocab_size": WORDS.len(), "type_vocab_size": 2, "pad_token_id": 0,
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "initializer_range": 0.02,
        "layer_norm_eps": 1e-12, "position_embedding_type": "absolute",
    })
}

fn tokenizer() -> Value {
    let vocabulary: BTreeMap<&str, usize> = WORDS
        .iter()
        .enumerate()
        .map(|(id, word)| (*word, id))
        .collect();
    let special = |id: usize| json!({"id": id, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    let part = |id: usize| json!({"SpecialToken": {"id": WORDS[id], "type_id": 0}});
    let sequence = json!({"Sequence": {"id": "A", "type_id": 0}});
    let known = |id: usize| json!({"id": WORDS[id], "ids": [id], "tokens": [WORDS[id]]});
    json!({
        "version": "1.0",
        // As in real models' files: truncation and padding, which must be ignored.
        "truncation": {"direction": "Right", "max_length": 12, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": (0..4).map(special).collect::<Vec<_>>(),
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": [part(2), sequence.clone(), part(3)], "pair": [part(2), sequence, part(3)],
            "special_tokens": {"[CLS]": known(2), "[SEP]": known(3)},
        },
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
}

/// The file format: the length of the header, the header as JSON, the numbers.
fn safetensors(tensors: &BTreeMap<String, Tensor>) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut numbers = Vec::new();
    for (name, tensor) in tensors {
        let from = numbers.len();
        numbers.extend(
            tensor
                .numbers
                .iter()
                .flat_map(|number| number.to_le_bytes()),
        );
        let place =
            json!({"dtype": "F32", "shape": tensor.shape, "data_offsets": [from, numbers.len()]});
        header.insert(name.clone(), place);
    }
    let header = Value::from(header).to_string();
    let length = u64::try_from(header.len()).unwrap().to_le_bytes();
    [&length[..], header.as_bytes(), &numbers].concat()
}
