//! The configuration file.
//!
//! `docs/configuration.md` lists its fields. An error names file, line, column and field; no field is ignored or guessed.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use dormouse_providers::PriceEntry;
use schemars::JsonSchema;
use serde::Deserialize;

mod admission;
mod budgets;
mod change;
mod checks;
mod compaction;
mod delegation;
mod entry;
mod evennia;
mod goals;
mod journal;
mod layers;
mod located;
mod mcp;
mod memory;
mod mistake;
mod numbers;
mod own;
mod position;
mod prices;
mod prompting;
mod provider;
mod section;
mod sections;
mod server;
mod sleep;
mod table;
mod telemetry;
mod tools;
mod values;
mod words;
mod world;

pub use admission::AdmissionSection;
pub use budgets::BudgetsSection;
pub use change::{AskedSettings, SettingChangeError, SettingsChange};
pub use checks::Conflict;
pub use compaction::{CompactionSection, WindowShare};
pub use delegation::DelegationSection;
pub use entry::{DEFAULT_TEMPLATE, EXECUTION_FIELDS, TemplateError};
pub use evennia::{EvenniaSection, GameAccount};
pub use goals::GoalsSection;
pub use journal::JournalSection;
pub use layers::{Given, InvalidValue, ValueOrigin};
pub use mcp::{McpPlace, McpPolicySection, McpSection, McpServerSection};
pub use memory::{MemorySection, QdrantSection, VectorBackend};
pub use numbers::Seconds;
pub use own::OwnSection;
pub use prompting::PromptSection;
pub use provider::{HeartbeatPolicy, ProviderSection};
pub(crate) use sections::character_name;
pub use sections::{
    AssistantSection, ClassifySection, DEFAULT_KEY, ExecutionSection, LimitsSection, TrustSection,
};
pub use server::ServerSection;
pub use sleep::SleepSection;
pub use table::{
    Applies, MayHoldAKey, Missing, Setting, UnknownSetting, example, find, missing, schema,
    settings,
};
pub use telemetry::TelemetrySection;
pub use tools::{ToolRetrySection, ToolsSection};
pub use values::inline;
pub use world::{WorldKind, WorldSection, privacy};

use mistake::Mistake;

#[cfg(test)]
mod tests;

/// A larger file is not a configuration, in bytes.
const LIMIT: u64 = 1 << 20;

/// The whole file. Fields that are not given have their defaults.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "dormouse.toml")]
pub struct Config {
    /// Describes the assistant with this key. The other assistants of the folder are described in their own logs.
    pub assistant: AssistantSection,
    /// Its limits.
    pub limits: LimitsSection,
    /// How much one sender may ask of it.
    pub admission: AdmissionSection,
    /// How far a tick may go; `dormouse exec show` shows it.
    #[serde(deserialize_with = "sections::execution")]
    pub execution: ExecutionSection,
    /// The parts of its prompts; `dormouse prompt` shows them.
    pub prompt: PromptSection,
    /// What the assistant does with a message; the rules are in the docs of dormouse-classify.
    pub classify: ClassifySection,
    /// Which model answers. A key is not a setting, but the place where it is kept is; see "The provider".
    pub provider: ProviderSection,
    /// How its memory recalls, and what it tells. Keys are not settings: they stay in the environment.
    pub memory: MemorySection,
    /// When earlier turns are left out of prompts and summed up. Another model for it: provider.uses.compaction.
    pub compaction: CompactionSection,
    /// How far messages and notes are believed; see trust.md.
    pub trust: TrustSection,
    /// When its goals call for turns, and how much of them is shown.
    pub goals: GoalsSection,
    /// Limits of tasks that are given to other assistants; execution.sub_agents_enabled allows them.
    pub delegation: DelegationSection,
    /// What it keeps for itself: projects, session memory, guidelines.
    pub own: OwnSection,
    /// What it writes down, how important that is, and when it reflects.
    pub journal: JournalSection,
    /// When it sleeps.
    pub sleep: SleepSection,
    /// How many tools a prompt offers, how often they are tried, and when one is no longer called for a while.
    pub tools: ToolsSection,
    /// What may be spent on models; see "Budgets".
    pub budgets: BudgetsSection,
    /// Where the assistants live.
    pub world: WorldSection,
    /// Bounds of requests to the service; see rest-api.md.
    pub server: ServerSection,
    /// Spans of what the assistants do; see operating.md.
    pub telemetry: TelemetrySection,
    /// The game in which they live if world.kind is "evennia"; see evennia.md.
    pub evennia: EvenniaSection,
    /// Servers whose tools the assistants may use; see mcp.md.
    pub mcp: McpSection,
    /// Prices of models that the program does not know.
    #[serde(deserialize_with = "prices::prices")]
    #[schemars(with = "Vec<prices::PriceSection>")]
    pub prices: Vec<PriceEntry>,
    /// The values that are not defaults, by the name of the setting.
    #[serde(skip)]
    given: BTreeMap<String, Given>,
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
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
    /// A variable of the environment is wrong.
    #[error("{variable}: {problem}")]
    Variable {
        /// The variable.
        variable: String,
        /// What is wrong.
        problem: String,
    },
    /// Values of several settings contradict each other, or the world refuses one.
    #[error(transparent)]
    Conflict(#[from] Conflict),
}

/// The source of a configuration.
#[derive(Clone, Debug)]
pub enum ConfigSource {
    /// No file; everything has its default.
    Defaults,
    /// This file.
    File(PathBuf),
}

impl Config {
    /// Reads the requested file, or the default one if it exists. Settings that are not in the file are read from the
    /// environment variables.
    ///
    /// # Errors
    ///
    /// [`ConfigFileError`], with the file, and with line and column if a setting is wrong; or with the variable.
    pub fn load(
        asked: Option<&Path>,
        default: &Path,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(Self, ConfigSource), ConfigFileError> {
        let (mut config, source) = Self::load_file(asked, default)?;
        config.take_variables(variables)?;
        Ok((config, source))
    }

    fn load_file(
        asked: Option<&Path>,
        default: &Path,
    ) -> Result<(Self, ConfigSource), ConfigFileError> {
        let path = asked.unwrap_or(default);
        match read(path) {
            Err(ConfigFileError::Read { source, .. }) if asked.is_none() && is_absent(&source) => {
                Ok((Self::default(), ConfigSource::Defaults))
            }
            Err(error) => Err(error),
            Ok(bytes) => {
                let config =
                    parse_bytes(path, &bytes).map_err(|mistake| ConfigFileError::Mistake {
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

fn read(path: &Path) -> Result<Vec<u8>, ConfigFileError> {
    let failed = |source| ConfigFileError::Read {
        path: path.into(),
        source,
    };
    // A pipe or a device has no length, and may be endless.
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(failed)?.take(LIMIT + 1);
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ConfigFileError::TooLarge { path: path.into() });
    }
    Ok(bytes)
}

fn parse_bytes(file: &Path, bytes: &[u8]) -> Result<Config, Mistake> {
    match str::from_utf8(bytes) {
        Ok(text) => parse(Some(file), text),
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

/// Reads a configuration from its text. The name of the file is used in errors that are found later, and as the origin
/// of the values.
fn parse(file: Option<&Path>, text: &str) -> Result<Config, Mistake> {
    let read = |text: &str| toml::from_str::<Config>(text);
    let mut config = read(text).map_err(|error| Mistake::from_toml(text, &error, read))?;
    if let Some((base_url, error)) = config.provider.wrong_base_url() {
        return Err(base_url.mistake(text, &error.to_string()));
    }
    let Some(file) = file else {
        return Ok(config);
    };
    config.note_file(file, text);
    let file = &file.display().to_string();
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
    let EvenniaSection {
        password_from,
        residents,
        ..
    } = &mut config.evennia;
    let others = residents.values_mut().map(|it| &mut it.password_from);
    let tokens = config.mcp.token_places();
    for place in password_from.iter_mut().chain(others).chain(tokens) {
        place.locate(file, text);
    }
    Ok(config)
}
