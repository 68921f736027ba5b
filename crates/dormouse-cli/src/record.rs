//! `dormouse record` and `--replay`: exchanges with models, kept in a file and played back from it.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use dormouse_cassettes::{
    About, AcceptedFindings, Cassette, CassetteReadError, Finding, FindingKind, IgnoredPath,
    Player, PlayerConfig, Recorder, RecorderConfig, SaveError, ScrubRules,
};
use dormouse_contracts::{Clock, invariant};
use dormouse_engine::ToolCalling;
use dormouse_host::SystemClock;
use dormouse_providers::{Network, Secret, ServedBy};

use crate::{args::Record, exit::Exit, grammar::counted, provider::ProviderFlags};

/// Paths that a replay does not compare: a prompt contains the time of day and remembered lines.
const PROMPTS: [&str; 4] = ["/messages", "/input", "/instructions", "/system"];

/// An address at which no server listens; a replay calls no server.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Recording or replaying cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TapeError {
    /// A file already exists at the path of the new one.
    #[error("{} already exists and is not overwritten. Name a new file", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// There is no folder for the new file.
    #[error("{} cannot be written: there is no such folder", file.display())]
    NoFolder {
        /// The file.
        file: PathBuf,
    },
    /// The recording cannot be opened.
    #[error("the recording {} cannot be opened", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What the operating system reported.
        source: io::Error,
    },
    /// The recording cannot be read.
    #[error("the recording {} cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: CassetteReadError,
    },
    /// The recording holds no request to a model.
    #[error("the recording {} holds no request to a model", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// The recording holds something that may be a secret or personal data.
    #[error(
        "nothing was written to {}: {} in it may be secrets or personal data ({first}{}). Check the requests and \
        replies; --accept writes the file anyway",
        file.display(), findings.len(), if findings.len() > 1 { ", and more" } else { "" }
    )]
    Suspicious {
        /// The file.
        file: PathBuf,
        /// The first of them.
        first: String,
        /// All of them.
        findings: Vec<Finding>,
    },
    /// The recording could not be written.
    #[error("the recording {} could not be written", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: SaveError,
    },
}

impl TapeError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Exists { .. }
            | Self::NoFolder { .. }
            | Self::Open { .. }
            | Self::Read { .. }
            | Self::Empty { .. } => Exit::Usage,
            Self::Suspicious { .. } | Self::Write { .. } => Exit::Failure,
        }
    }
}

/// What happens to calls to models.
#[derive(Clone, Debug, Default)]
pub(crate) enum Tape {
    /// They are sent.
    #[default]
    None,
    /// They are sent, and recorded.
    Recording(Recorder),
    /// They are answered from a recording.
    Replaying(Player),
}

impl Tape {
    /// The network settings with this tape in use.
    pub(crate) fn network(&self, network: Network) -> Network {
        match self {
            Self::None => network,
            Self::Recording(recorder) => network.recording(recorder.clone()),
            Self::Replaying(player) => network.replaying(player.clone()),
        }
    }

    /// The notice at the end of a visit about recorded exchanges that were not used.
    pub(crate) fn left(&self) -> Option<String> {
        let Self::Replaying(player) = self else {
            return None;
        };
        let left = u32::try_from(player.remaining()).unwrap_or(u32::MAX);
        let exchanges = "recorded exchange was not asked for.";
        let more = "recorded exchanges were not asked for.";
        (left > 0).then(|| counted(left, exchanges, more))
    }
}

/// A recorder for a new file, for a visit with this provider. The recording never contains the keys.
pub(crate) fn recorder(
    record: &Record,
    provider: &str,
    keys: &[&Secret],
) -> Result<Recorder, TapeError> {
    if record.file.exists() {
        let file = record.file.clone();
        return Err(TapeError::Exists { file });
    }
    let folder = record
        .file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let file = record.file.clone();
        return Err(TapeError::NoFolder { file });
    }
    // A key that is too short to search for is skipped: a text so short does not look like a key.
    let rules = keys.iter().fold(ScrubRules::new(), |rules, key| {
        rules.clone().with_secret(key.expose()).unwrap_or(rules)
    });
    Ok(Recorder::new(RecorderConfig {
        about: About {
            recorded_at: SystemClock.now(),
            program: concat!("dormouse ", env!("CARGO_PKG_VERSION")).to_owned(),
            service: provider.to_owned(),
            note: record.note.clone().unwrap_or_default(),
        },
        rules,
        ..RecorderConfig::default()
    }))
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// How many exchanges.
    pub(crate) exchanges: usize,
    /// How many strings in them look random: mostly request ids.
    pub(crate) random: usize,
}

/// Writes the recording. Refuses if unscrubbed text looks like a secret or personal data. Text that only looks random
/// is counted.
pub(crate) fn save(recorder: &Recorder, record: &Record) -> Result<Written, TapeError> {
    let cassette = recorder.cassette();
    let accepted = if record.accept {
        AcceptedFindings::everything()
    } else {
        AcceptedFindings::nothing().with_kind(FindingKind::Random)
    };
    let findings = cassette.check();
    let is_random = |finding: &&Finding| finding.kind == FindingKind::Random;
    let random = findings.iter().filter(is_random).count();
    let file = record.file.clone();
    match cassette.save(&record.file, &accepted) {
        Ok(()) => Ok(Written {
            exchanges: cassette.exchanges.len(),
            random,
        }),
        Err(SaveError::Suspicious(findings)) => Err(TapeError::Suspicious {
            first: invariant!(
                findings.first().map(ToString::to_string),
                "a suspicion has findings"
            ),
            findings,
            file,
        }),
        Err(source) => Err(TapeError::Write { file, source }),
    }
}

/// A recording to replay, and the flags of the provider that it recorded.
pub(crate) fn replay(
    file: &Path,
    flags: &ProviderFlags,
) -> Result<(Tape, ProviderFlags), TapeError> {
    let open = File::open(file);
    let mut open = open.map_err(|source| TapeError::Open {
        file: file.into(),
        source,
    })?;
    let cassette = Cassette::read(&mut open).map_err(|source| TapeError::Read {
        file: file.into(),
        source,
    })?;
    let flags = offline(&cassette, flags).or_else(|| provider_of(&cassette, flags));
    let flags = flags.ok_or_else(|| TapeError::Empty { file: file.into() })?;
    let ignored = PROMPTS
        .iter()
        .filter_map(|path| IgnoredPath::try_new(path).ok());
    let config = PlayerConfig {
        ignored: ignored.collect(),
        ..PlayerConfig::default()
    };
    Ok((Tape::Replaying(Player::new(cassette, config)), flags))
}

/// The flags for a visit with the offline model. It makes no requests and is deterministic, so its recording only says
/// that it was used.
fn offline(cassette: &Cassette, flags: &ProviderFlags) -> Option<ProviderFlags> {
    let offline = ServedBy::Offline;
    (cassette.about.service == offline.as_str()).then(|| ProviderFlags {
        provider: Some(offline),
        model: None,
        base_url: None,
        ..flags.clone()
    })
}

/// The flags that make requests like those of the recording: derived from its path and its model name.
fn provider_of(cassette: &Cassette, flags: &ProviderFlags) -> Option<ProviderFlags> {
    let request = cassette.exchanges.iter().map(|exchange| &exchange.request);
    let mut requests = request.filter(|request| request.method == "POST");
    let request = requests.next()?;
    let target = &request.target;
    let path = target.split_once('?').map_or(&**target, |(path, _)| path);
    let (provider, prefix) = [
        ("/messages", ServedBy::Anthropic),
        ("/api/chat", ServedBy::Ollama),
        ("/chat/completions", ServedBy::Local),
        ("/responses", ServedBy::Local),
    ]
    .iter()
    .find_map(|(end, by)| path.strip_suffix(end).map(|prefix| (*by, prefix)))?;
    let body: serde_json::Value = serde_json::from_slice(&request.body.to_bytes()).ok()?;
    let model = body
        .get("model")
        .and_then(|model| model.as_str()?.parse().ok());
    let asked = flags.provider.is_some();
    // What this machine has learnt about the model may differ from what was known during the recording.
    let offers_tools = |body: &serde_json::Value| {
        let tools = body.get("tools").and_then(serde_json::Value::as_array);
        tools.is_some_and(|tools| !tools.is_empty())
    };
    let tool_calling = if offers_tools(&body) {
        ToolCalling::Native
    } else {
        ToolCalling::Fallback
    };
    Some(ProviderFlags {
        tool_calling: flags.tool_calling.or(Some(tool_calling)),
        provider: flags.provider.or(Some(provider)),
        model: flags.model.clone().or(model),
        base_url: if asked {
            flags.base_url.clone()
        } else {
            Some(format!("{NOWHERE}{prefix}"))
        },
    })
}

#[cfg(test)]
mod tests;
