//! Opening the log of the data folder, and finding the selected assistant.

use std::path::Path;

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, Clock, Seq,
};
use dormouse_engine::{Event, State, restore};
use dormouse_host::{Awake, DataFolder, OpenLog, SystemClock, check_format};
use dormouse_store::{LogOpenError, LogView, RedbLog};

use super::{
    arguments::Places,
    caller::{self, resident},
    error::{CommandError, CommandFailure},
    output::{Printing, ViewOf, label_view},
    runtime::block_on,
};
use crate::exit::Exit;

/// The command cannot tell which assistant is meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssistantError {
    /// The log has no such assistant.
    #[error("the log has no assistant {asked}; it has: {}", list(known))]
    Unknown {
        /// The requested assistant.
        asked: AssistantId,
        /// The assistants in the log.
        known: Vec<AssistantId>,
    },
    /// There are several, and none of them is configured.
    #[error(
        "the log has several assistants; choose one with --assistant: {}",
        list(known)
    )]
    Several {
        /// The assistants in the log.
        known: Vec<AssistantId>,
    },
}

impl CommandFailure for AssistantError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

fn list(known: &[AssistantId]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    let keys: Vec<_> = known.iter().map(AssistantId::as_str).collect();
    keys.join(", ")
}

/// How often a change is decided at most while the assistant keeps writing.
const ATTEMPTS: u32 = 8;

fn is_conflict(error: &AppendError) -> bool {
    matches!(error.kind(), AppendErrorKind::Conflict { .. })
}

/// The log of one assistant, open for writing, and the state it folds to.
pub(crate) struct AssistantLog {
    log: OpenLog,
    pub(crate) key: AssistantId,
    pub(crate) state: State,
}

impl AssistantLog {
    /// Opens the log of the data folder for the requested assistant, the only one in the log, or the configured one.
    pub(crate) fn open(
        places: &Places,
        data: &DataFolder,
        asked: Option<AssistantId>,
    ) -> Result<Self, CommandError> {
        let log = open_log_to_write(data)?;
        let key = chosen(places, data, asked, log.assistants()?)?;
        let resident = block_on(resident(&key))??;
        let state = match &resident {
            Some(resident) => block_on(resident.handle().inspect())?,
            None => None,
        };
        let state = match state {
            Some(state) => state,
            None => block_on(restore(&log, &key))??,
        };
        let log = OpenLog::new(log, resident);
        Ok(Self { log, key, state })
    }

    /// The assistant, if it runs in this process. Then it writes to its log itself.
    pub(crate) fn resident(&self) -> Option<&Awake> {
        self.log.resident()
    }

    /// The log, for reading.
    pub(crate) fn events(&self) -> &OpenLog {
        &self.log
    }

    /// Appends what `decide` returns for the state. Decides again if the assistant wrote to its log meanwhile. Returns
    /// what was appended, or why nothing was.
    pub(crate) fn append_decided<T: Clone, E>(
        &mut self,
        event: fn(T) -> Event,
        decide: impl Fn(&State) -> Result<T, E>,
    ) -> Result<Result<T, E>, CommandError> {
        let mut attempts = 1;
        loop {
            let decided = match decide(&self.state) {
                Ok(decided) => decided,
                refused => return Ok(refused),
            };
            match self.append(&event(decided.clone())) {
                Err(CommandError::Append(error)) if is_conflict(&error) && attempts < ATTEMPTS => {
                    attempts += 1;
                    self.state = block_on(restore(&self.log, &self.key))??;
                }
                appended => return appended.map(|()| Ok(decided)),
            }
        }
    }

    /// Appends one event, unless another process has appended one since the log was opened.
    pub(crate) fn append(&self, event: &Event) -> Result<(), CommandError> {
        self.append_all(std::slice::from_ref(event))
    }

    /// Appends all of these events or none.
    pub(crate) fn append_all(&self, events: &[Event]) -> Result<(), CommandError> {
        let now = SystemClock.now();
        let events: Result<_, _> = events.iter().map(|event| event.encode(now)).collect();
        let request = AppendRequest {
            assistant: self.key.clone(),
            expected: self.state.seq,
            events: events?,
        };
        block_on(self.log.append(request))??;
        Ok(())
    }
}

/// Opens the log of the data folder for reading. Neither the log nor its folder is written.
pub(crate) fn open_log_view(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
    printing: Printing,
) -> Result<(LogView, AssistantId), CommandError> {
    let log = view_log(&data.log(), printing)?;
    let key = chosen(places, data, asked, log.assistants()?)?;
    Ok((log, key))
}

/// The state of the selected assistant. Nothing is written.
pub(crate) fn view_state(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
    printing: Printing,
) -> Result<(AssistantId, State), CommandError> {
    let (log, key) = open_log_view(places, data, asked, printing)?;
    let state = block_on(restore(&log, &key))??;
    Ok((key, state))
}

/// Opens the log of the data folder for writing, or takes the one that the running program has open.
pub(crate) fn open_log_to_write(data: &DataFolder) -> Result<RedbLog, CommandError> {
    if let Some(host) = caller::host() {
        return Ok(host.log().clone());
    }
    block_on(check_format(data))??;
    Ok(RedbLog::open_existing(&data.log())?)
}

/// Opens the log of the data folder for reading, or takes the one that the running program has open.
pub(crate) fn open_view(path: &Path) -> Result<LogView, LogOpenError> {
    match caller::host() {
        Some(host) => Ok(LogView::of(host.log())),
        None => LogView::open(path),
    }
}

/// The states of all assistants. Nothing is written.
pub(crate) fn view_states(
    data: &DataFolder,
    printing: Printing,
) -> Result<Vec<(AssistantId, State)>, CommandError> {
    let log = view_log(&data.log(), printing)?;
    let known = log.assistants()?.into_iter();
    let state = |key: AssistantId| -> Result<_, CommandError> {
        let state = block_on(restore(&log, &key))??;
        Ok((key, state))
    };
    known.map(|(key, _)| state(key)).collect()
}

/// Opens a log that exists for reading, and reports if another process has it open.
pub(crate) fn view_log(path: &Path, printing: Printing) -> Result<LogView, CommandError> {
    let log = open_view(path)?;
    if log.is_in_use() {
        label_view(ViewOf::Log, path, printing)?;
    }
    Ok(log)
}

/// The requested assistant, the only one in the log, or the configured one.
///
/// The configuration is read only if the log has several assistants, so that a mistake in it does not prevent looking
/// into the log.
pub(crate) fn chosen(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
    known: Vec<(AssistantId, Seq)>,
) -> Result<AssistantId, CommandError> {
    let mut known: Vec<_> = known.into_iter().map(|(key, _)| key).collect();
    if let Some(asked) = asked {
        return if known.contains(&asked) {
            Ok(asked)
        } else {
            Err(AssistantError::Unknown { asked, known }.into())
        };
    }
    if known.len() == 1
        && let Some(only) = known.pop()
    {
        return Ok(only);
    }
    let (config, _) = places.configuration(data)?;
    let configured = config.assistant.key();
    if known.is_empty() || known.contains(&configured) {
        Ok(configured)
    } else {
        Err(AssistantError::Several { known }.into())
    }
}
