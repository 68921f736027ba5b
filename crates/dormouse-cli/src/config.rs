//! The configuration file.
//!
//! `docs/configuration.md` lists its fields. Whatever is wrong with it is said with file, line, column and field;
//! nothing of it is ever guessed or passed over.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use dormouse_classify::ClassifyConfig;
use dormouse_providers::PriceEntry;
use serde::Deserialize;

mod memory;
mod numbers;
mod position;
mod provider;
mod sections;
mod senders;

pub(crate) use memory::{MemorySection, QdrantSection, VectorsWish};
pub(crate) use numbers::Seconds;
pub(crate) use provider::{HeartbeatsWish, ProviderSection};
pub(crate) use sections::{AssistantSection, DEFAULT_KEY, ExecutionSection, LimitsSection};
pub(crate) use senders::unmatched;

#[cfg(test)]
mod tests;

/// A larger file is no configuration, in bytes.
const LIMIT: u64 = 1 << 20;

/// The whole file. What is not given has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) assistant: AssistantSection,
    pub(crate) limits: LimitsSection,
    pub(crate) execution: ExecutionSection,
    pub(crate) classify: ClassifyConfig,
    pub(crate) provider: ProviderSection,
    pub(crate) memory: MemorySection,
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
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{} is longer than the {LIMIT} bytes that a configuration may have", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file says something it may not.
    #[error("{}:{mistake}", path.display())]
    Mistake {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        mistake: Mistake,
    },
}

/// Something wrong in the text of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {}{message}", in_field(field.as_deref()))]
pub(crate) struct Mistake {
    /// Counts from 1.
    line: usize,
    /// Counts characters from 1.
    column: usize,
    /// The field with its section, where one can be named.
    field: Option<String>,
    message: String,
}

fn in_field(field: Option<&str>) -> String {
    field.map(|field| format!("{field}: ")).unwrap_or_default()
}

/// What a configuration is read from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// No file; everything has its default.
    Defaults,
    /// This file.
    File(PathBuf),
}

impl Config {
    /// Reads the file that was asked for, or the default one if it is there.
    pub(crate) fn load(
        asked: Option<&Path>,
        default: &Path,
    ) -> Result<(Self, Origin), ConfigError> {
        let path = asked.unwrap_or(default);
        match read(path) {
            Err(ConfigError::Read { source, .. }) if asked.is_none() && is_absent(&source) => {
                Ok((Self::default(), Origin::Defaults))
            }
            Err(error) => Err(error),
            Ok(bytes) => {
                let config = parse_bytes(&bytes).map_err(|mistake| ConfigError::Mistake {
                    path: path.into(),
                    mistake,
                })?;
                Ok((config, Origin::File(path.into())))
            }
        }
    }
}

/// Whether there is no such file. What else is wrong with the folder is said by whoever needs it.
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
    // What is not a plain file tells no length, and may have no end.
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(failed)?.take(LIMIT + 1);
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ConfigError::TooLarge { path: path.into() });
    }
    Ok(bytes)
}

fn parse_bytes(bytes: &[u8]) -> Result<Config, Mistake> {
    match str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let intact = dormouse_contracts::invariant!(
                bytes.get(..error.valid_up_to()),
                "what is valid is a part"
            );
            let (line, column) = position::of(&String::from_utf8_lossy(intact), usize::MAX);
            Err(Mistake {
                line,
                column,
                field: None,
                message: "this is not UTF-8 text".to_owned(),
            })
        }
    }
}

/// Reads a configuration from its text.
fn parse(text: &str) -> Result<Config, Mistake> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = position::of(text, at);
        let mut message = error.message().to_owned();
        if let Some(name) = unknown_field(&message)
            && looks_like_a_key(name)
        {
            message =
                "keys do not belong into a file. Set the environment variable OPENAI_API_KEY, \
                       ANTHROPIC_API_KEY, OPENROUTER_API_KEY or DORMOUSE_API_KEY instead, or say with \
                       key_from under [provider] where the key is"
                    .to_owned();
        }
        Mistake {
            line,
            column,
            field: position::field(text, at),
            message,
        }
    })
}

fn unknown_field(message: &str) -> Option<&str> {
    message.strip_prefix("unknown field `")?.split('`').next()
}

fn looks_like_a_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "key"
        || ["api", "secret", "token", "password"]
            .iter()
            .any(|word| name.contains(word))
}
