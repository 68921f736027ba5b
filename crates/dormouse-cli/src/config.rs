//! The configuration file.
//!
//! `docs/configuration.md` lists its fields. An error names file, line, column and field; no field is ignored or guessed.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use dormouse_classify::ClassifyConfig;
use dormouse_providers::PriceEntry;
use serde::Deserialize;

mod located;
mod memory;
mod mistake;
mod numbers;
mod position;
mod prices;
mod provider;
mod sections;
mod trust;
mod world;

pub(crate) use memory::{MemorySection, QdrantSection, VectorBackend};
pub(crate) use numbers::Seconds;
pub(crate) use provider::{HeartbeatPolicy, ProviderSection};
pub(crate) use sections::{AssistantSection, DEFAULT_KEY, ExecutionSection, LimitsSection};
pub(crate) use trust::TrustSection;
pub(crate) use world::{privacy, unmatched};

use mistake::Mistake;

#[cfg(test)]
mod tests;

/// A larger file is not a configuration, in bytes.
const LIMIT: u64 = 1 << 20;

/// The whole file. Fields that are not given have their defaults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) assistant: AssistantSection,
    pub(crate) limits: LimitsSection,
    pub(crate) execution: ExecutionSection,
    #[serde(deserialize_with = "world::classify")]
    pub(crate) classify: ClassifyConfig,
    pub(crate) provider: ProviderSection,
    pub(crate) memory: MemorySection,
    pub(crate) trust: TrustSection,
    #[serde(deserialize_with = "prices::prices")]
    pub(crate) prices: Vec<PriceEntry>,
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file could not be read.
    #[error("the configuration {} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{} is too large; expected a configuration of at most {LIMIT} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Something in the file is wrong.
    #[error("{}:{mistake}", path.display())]
    Mistake {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        mistake: Mistake,
    },
}

/// The source of a configuration.
#[derive(Clone, Debug)]
pub(crate) enum ConfigSource {
    /// No file; everything has its default.
    Defaults,
    /// This file.
    File(PathBuf),
}

impl Config {
    /// Reads the requested file, or the default one if it exists.
    pub(crate) fn load(
        asked: Option<&Path>,
        default: &Path,
    ) -> Result<(Self, ConfigSource), ConfigError> {
        let path = asked.unwrap_or(default);
        match read(path) {
            Err(ConfigError::Read { source, .. }) if asked.is_none() && is_absent(&source) => {
                Ok((Self::default(), ConfigSource::Defaults))
            }
            Err(error) => Err(error),
            Ok(bytes) => {
                let file = path.display().to_string();
                let config =
                    parse_bytes(&file, &bytes).map_err(|mistake| ConfigError::Mistake {
                        path: path.into(),
                        mistake,
                    })?;
                Ok((config, ConfigSource::File(path.into())))
            }
        }
    }
}

/// Whether there is no such file. Other errors of the folder are reported where the folder is used.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn read(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let failed = |source| ConfigError::Read {
        path: path.into(),
        source,
    };
    // A pipe or a device has no length, and may be endless.
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(failed)?.take(LIMIT + 1);
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ConfigError::TooLarge { path: path.into() });
    }
    Ok(bytes)
}

fn parse_bytes(file: &str, bytes: &[u8]) -> Result<Config, Mistake> {
    match str::from_utf8(bytes) {
        Ok(text) => parse(file, text),
        Err(error) => {
            let intact = dormouse_contracts::invariant!(
                bytes.get(..error.valid_up_to()),
                "the valid part is a part"
            );
            let text = String::from_utf8_lossy(intact);
            let problem = "the text is not UTF-8".to_owned();
            Err(Mistake::at(&text, text.len(), problem))
        }
    }
}

/// Reads a configuration from its text. The name of the file is for errors that are found later.
fn parse(file: &str, text: &str) -> Result<Config, Mistake> {
    let read = |text: &str| toml::from_str::<Config>(text);
    let mut config = read(text).map_err(|error| Mistake::from_toml(text, &error, read))?;
    if let Some((base_url, error)) = config.provider.wrong_base_url() {
        return Err(base_url.mistake(text, &error.to_string()));
    }
    let ProviderSection {
        key_from,
        certificates,
        ..
    } = &mut config.provider;
    if let Some(key_from) = key_from {
        key_from.locate(file, text);
    }
    if let Some(certificates) = certificates {
        certificates.locate(file, text);
    }
    Ok(config)
}
