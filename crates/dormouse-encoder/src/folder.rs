//! Reads a model's folder.

use std::path::{Path, PathBuf};

use candle_transformers::models::bert::Config;
use dormouse_text::beginning;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{
    error::LocalEncoderError,
    file::{File, optional, required},
    pooling::Pooling,
};

/// The upper limit of tokens per text.
pub(crate) const MOST_TOKENS: usize = 512;
/// The default number of tokens per text.
pub(crate) const DEFAULT_TOKENS: usize = 256;
/// The smallest token limit that is accepted. The start and end tokens need two of them.
const FEWEST_TOKENS: usize = 8;

/// The content of a folder.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) config: Config,
    pub(crate) pooling: Pooling,
    pub(crate) most_tokens: usize,
    pub(crate) tokenizer: File,
    pub(crate) weights: File,
    /// A hash of everything that vectors depend on, in 16 hexadecimal digits.
    pub(crate) digest: String,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    model_type: String,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    path: PathBuf,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Limits {
    max_seq_length: Option<usize>,
}

impl Folder {
    pub(crate) fn read(folder: &Path) -> Result<Self, LocalEncoderError> {
        if !folder.is_dir() {
            return Err(LocalEncoderError::NoFolder {
                folder: folder.to_owned(),
            });
        }
        let modules = Modules::read(folder)?;
        let inner = folder.join(&modules.transformer);
        let config_file = required(inner.join("config.json"))?;
        let config = config(&config_file)?;
        let limits = optional(inner.join("sentence_bert_config.json"))?;
        let most_tokens = most_tokens(&config, limits.as_ref())?;
        let pooling = match optional(folder.join(&modules.pooling).join("config.json"))? {
            Some(file) => Pooling::read(&file)?,
            None => Pooling::Mean,
        };
        let tokenizer = required(inner.join("tokenizer.json"))?;
        let weights = required(inner.join("model.safetensors"))?;
        let mut hash = Sha256::new();
        for file in [&config_file, &tokenizer, &weights] {
            hash.update(Sha256::digest(&file.bytes));
        }
        hash.update([pooling as u8]);
        hash.update(u64::try_from(most_tokens).unwrap_or(u64::MAX).to_le_bytes());
        let digest = hash.finalize();
        let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
        Ok(Self {
            path: folder.to_owned(),
            config,
            pooling,
            most_tokens,
            tokenizer,
            weights,
            digest: digits.collect(),
        })
    }
}

/// The folders of a model's parts, relative to the model's folder.
struct Modules {
    transformer: PathBuf,
    pooling: PathBuf,
}

impl Modules {
    fn read(folder: &Path) -> Result<Self, LocalEncoderError> {
        let mut found = Self {
            transformer: PathBuf::new(),
            pooling: PathBuf::from("1_Pooling"),
        };
        let Some(file) = optional(folder.join("modules.json"))? else {
            return Ok(found);
        };
        for module in file.parse::<Vec<Module>>()? {
            match module.kind.rsplit('.').next() {
                Some("Transformer") => found.transformer = module.path,
                Some("Pooling") => found.pooling = module.path,
                Some("Normalize") => {}
                _ => return Err(LocalEncoderError::Pooling { path: file.path }),
            }
        }
        Ok(found)
    }
}

fn config(file: &File) -> Result<Config, LocalEncoderError> {
    let kind: Kind = file.parse()?;
    if kind.model_type != "bert" {
        return Err(LocalEncoderError::Architecture {
            path: file.path.clone(),
            kind: beginning(&kind.model_type, 64).into(),
        });
    }
    let config: Config = file.parse()?;
    let heads = config.num_attention_heads;
    let impossible = if config.hidden_size == 0 {
        Some("hidden_size")
    } else if heads == 0 || !config.hidden_size.is_multiple_of(heads) {
        Some("num_attention_heads")
    } else if config.max_position_embeddings < FEWEST_TOKENS {
        Some("max_position_embeddings")
    } else if config.num_hidden_layers == 0 {
        Some("num_hidden_layers")
    } else {
        None
    };
    match impossible {
        Some(what) => Err(LocalEncoderError::Impossible {
            path: file.path.clone(),
            what,
        }),
        None => Ok(config),
    }
}

fn most_tokens(config: &Config, limits: Option<&File>) -> Result<usize, LocalEncoderError> {
    let mut most = DEFAULT_TOKENS;
    if let Some(file) = limits
        && let Some(tokens) = file.parse::<Limits>()?.max_seq_length
    {
        if tokens < FEWEST_TOKENS {
            return Err(LocalEncoderError::Impossible {
                path: file.path.clone(),
                what: "max_seq_length",
            });
        }
        most = tokens;
    }
    let positions = config.max_position_embeddings;
    Ok(most.min(positions).min(MOST_TOKENS))
}
