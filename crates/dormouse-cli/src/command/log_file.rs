//! Opening the log of the data folder, and finding the selected assistant.

#[cfg(test)]
mod tests;

use std::path::Path;

use dormouse_contracts::{AssistantId, Seq};
use dormouse_engine::{DecidedEvents, Event, State, append_decided, restore};
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
        let log = OpenLog::new(log, block_on(resident(&key))??);
        let state = block_on(state_of(&log, &key))??;
        #[cfg(test)]
        tests::meanwhile(&log, &key);
        Ok(Self { log, key, state })
    }

    /// The assistant, if it runs in this process. In that case the assistant itself writes to its log.
    pub(crate) fn resident(&self) -> Option<&Awake> {
        self.log.resident()
    }

    /// The log, for reading.
    pub(crate) fn events(&self) -> &OpenLog {
        &self.log
    }

    /// Reads the state again.
    pub(crate) fn look_again(&mut self) -> Result<(), CommandError> {
        self.state = block_on(state_of(&self.log, &self.key))??;
        Ok(())
    }

    /// Decides events by the state and appends them; without events nothing is written. They are decided again if the assistant,
    /// or another command, wrote something meanwhile. Returns the decided events, or why nothing was decided.
    pub(crate) fn append_decided<E>(
        &self,
        decide: impl Fn(&State) -> Result<Vec<Event>, E>,
    ) -> Result<Result<DecidedEvents, E>, CommandError> {
        let mut refused = None;
        let decide = |state: &State| {
            let decided = decide(state).map_err(|why| refused = Some(why));
            Ok::<_, CommandError>(decided.unwrap_or_default())
        };
        // The first attempt uses the state that the command has already read.
        let mut seen = Some(self.state.clone());
        let (log, key) = (&self.log, &self.key);
        let look = || {
            let seen = seen.take();
            async move {
                match seen {
                    Some(state) => Ok(state),
                    None => state_of(log, key).await,
                }
            }
        };
        let decided = append_decided(log, key, &SystemClock, look, decide);
        let decided = block_on(decided)??;
        Ok(refused.map_or(Ok(decided), Err))
    }
}

/// The state at the end of the log.
async fn state_of(log: &OpenLog, key: &AssistantId) -> Result<State, CommandError> {
    let state = match log.resident() {
        Some(resident) => resident.handle().inspect().await,
        None => None,
    };
    match state {
        Some(state) => Ok(state),
        None => Ok(restore(log, key).await?),
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
