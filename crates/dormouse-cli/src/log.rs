//! `dormouse log`: looking into the event log. Nothing here makes a file, other than `salvage`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::{AssistantId, ReadError, Seq};
use dormouse_engine::{CatchUpError, ReplayError};
use dormouse_store::{LogOpenError, LogView, RedbLog, SalvageError};

use crate::{
    args::{Log, Places},
    config::{Config, ConfigError},
    data::{DataError, DataFolder},
    exit::Exit,
    neutralise::{indented, neutralise},
    view::{self, Of},
};

mod replay;
mod salvage;
mod show;
mod verify;

use salvage::NewLog;

/// The log could not be looked into.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Open(#[from] LogOpenError),
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    #[error("the log could not be folded")]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Salvage(#[from] SalvageError),
    #[error("{} could not be put in the place of {}; both are as they were", new.display(), log.display())]
    Replace {
        /// The damaged log.
        log: PathBuf,
        /// The new one.
        new: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    #[error("the memory cannot be opened")]
    Memory(#[from] dormouse_memory::MemoryOpenError),
    #[error(transparent)]
    Follow(#[from] CatchUpError),
    #[error("nobody called {asked} is in this log; there are: {}", list(known))]
    NoSuchAssistant {
        /// Who was asked for.
        asked: AssistantId,
        /// Who there is.
        known: Vec<AssistantId>,
    },
    #[error(
        "the log has several assistants: say which with --assistant; there are: {}",
        list(known)
    )]
    WhichAssistant {
        /// Who there is.
        known: Vec<AssistantId>,
    },
    #[error("there is no event {asked}; the log ends at event {end}")]
    NoSuchEvent {
        /// Which was asked for.
        asked: Seq,
        /// The last there is.
        end: Seq,
    },
    #[error("the state could not be put into JSON")]
    Json(#[from] serde_json::Error),
    #[error(
        "the state from the snapshot has hash {from_snapshot}, and the whole log folds to {from_log}"
    )]
    Diverged {
        /// The hash of snapshot and tail.
        from_snapshot: String,
        /// The hash of the whole log.
        from_log: String,
    },
    #[error("the operating system refuses")]
    System(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[from] io::Error),
}

fn list(known: &[AssistantId]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    known
        .iter()
        .map(AssistantId::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

impl LogError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Open(error) => open_exit(error),
            Self::Read(_) | Self::Replay(_) | Self::Diverged { .. } => Exit::Damaged,
            Self::Config(_)
            | Self::NoSuchAssistant { .. }
            | Self::WhichAssistant { .. }
            | Self::NoSuchEvent { .. } => Exit::Usage,
            Self::Memory(error) => crate::memory::open_exit(error),
            Self::Follow(_) => Exit::Damaged,
            Self::Data(_)
            | Self::Salvage(_)
            | Self::Replace { .. }
            | Self::Json(_)
            | Self::System(_)
            | Self::Output(_) => Exit::Failure,
        }
    }
}

/// The exit code for a log that cannot be opened.
pub(crate) fn open_exit(error: &LogOpenError) -> Exit {
    match error {
        LogOpenError::InUse { .. } => Exit::InUse,
        LogOpenError::Empty { .. }
        | LogOpenError::NotALog { .. }
        | LogOpenError::Truncated { .. }
        | LogOpenError::Corrupt { .. }
        | LogOpenError::Newer { .. } => Exit::Damaged,
        _ => Exit::Failure,
    }
}

/// Looks into the log.
pub(crate) fn run(places: &Places, command: Log) -> Result<Exit, LogError> {
    let data = DataFolder::locate(places.data.as_deref())?;
    let path = data.log();
    match command {
        Log::Show { of, from, to, json } => {
            let (log, key) = open_view(places, &data, of.assistant, json)?;
            show::run(&log, &key, show::Range { from, to }, json)
        }
        Log::Verify { json } => verify::run(&path, json),
        Log::Replay { of, at, json } => {
            let (log, key) = open_view(places, &data, of.assistant, json)?;
            replay::run(&log, &key, at.map(Seq), json)
        }
        Log::Salvage {
            into,
            from,
            replace,
        } => {
            let new_log = match replace {
                true => NewLog::Replaces,
                false => NewLog::Stays,
            };
            salvage::run(&data, &from.unwrap_or(path), &into, new_log)
        }
    }
}

/// Opens the log of the data folder, and finds out whose life is meant: the one asked for, the only one there, or
/// the configured one.
pub(crate) fn open(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
) -> Result<(RedbLog, AssistantId), LogError> {
    let log = RedbLog::open_existing(&data.log())?;
    let key = whose(places, data, asked, log.assistants()?)?;
    Ok((log, key))
}

/// The same for reading. Neither the log nor its folder is written.
pub(crate) fn open_view(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
    json: bool,
) -> Result<(LogView, AssistantId), LogError> {
    let log = look(&data.log(), json)?;
    let key = whose(places, data, asked, log.assistants()?)?;
    Ok((log, key))
}

fn whose(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
    known: Vec<(AssistantId, Seq)>,
) -> Result<AssistantId, LogError> {
    let mut known: Vec<_> = known.into_iter().map(|(key, _)| key).collect();
    if let Some(asked) = asked {
        return if known.contains(&asked) {
            Ok(asked)
        } else {
            Err(LogError::NoSuchAssistant { asked, known })
        };
    }
    if known.len() == 1
        && let Some(only) = known.pop()
    {
        return Ok(only);
    }
    let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
    let configured = config.assistant.key();
    if known.is_empty() || known.contains(&configured) {
        Ok(configured)
    } else {
        Err(LogError::WhichAssistant { known })
    }
}

/// Opens a log that exists for reading, and says so if another process has it open.
fn look(path: &Path, json: bool) -> Result<LogView, LogError> {
    let log = LogView::open(path)?;
    if log.is_in_use() {
        view::label(Of::Log, path, json.into())?;
    }
    Ok(log)
}

/// Prints one line, neutralised.
fn print(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", indented(&neutralise(text)))
}

/// A runtime for the few calls that are asynchronous.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, LogError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(LogError::System)?;
    Ok(runtime.block_on(future))
}
