//! `dormouse emergency clear`: letting a stopped assistant go on.

use std::{
    env,
    io::{self, Write},
};

use dormouse::SystemClock;
use dormouse_contracts::{Append, AppendError, AppendRequest, AssistantId, Clock};
use dormouse_engine::{EmergencyStopCleared, Event, restore};

use crate::{
    args::{Emergency, Places},
    data::{DataFolder, quoted},
    describe,
    exit::Exit,
    log::{self, LogError},
    neutralise::neutralise,
};

/// The stop could not be cleared; it is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmergencyError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("--by names nobody: say who clears the emergency stop")]
    Unnamed,
    #[error("the stop could not be cleared")]
    Append(#[from] AppendError),
}

impl EmergencyError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Log(error) => error.exit(),
            Self::Unnamed => Exit::Usage,
            Self::Append(_) => Exit::Failure,
        }
    }
}

/// Clears the stop, as an event that says who did.
pub(crate) fn run(places: &Places, command: Emergency) -> Result<Exit, EmergencyError> {
    let Emergency::Clear { of, by } = command;
    if by.as_ref().is_some_and(|by| by.trim().is_empty()) {
        return Err(EmergencyError::Unnamed);
    }
    let data = DataFolder::locate(places.data.as_deref()).map_err(LogError::from)?;
    let (log, key) = log::open(places, &data, of.assistant)?;
    let state = log::block_on(restore(&log, &key))?.map_err(LogError::from)?;
    let said = match &state.stopped {
        None => format!("{key} is not stopped; there is nothing to clear"),
        Some(stopped) => {
            let by = by.unwrap_or_else(user);
            let at = SystemClock.now();
            let cleared = Event::EmergencyStopCleared(EmergencyStopCleared {
                cleared_by: by.clone(),
            });
            let request = AppendRequest {
                assistant: key.clone(),
                expected: state.seq,
                events: vec![cleared.encode(at).map_err(LogError::from)?],
            };
            log::block_on(log.append(request))??;
            let cause = describe::stop_cause(&stopped.cause);
            let waiting = describe::waiting(&state);
            format!(
                "{key} was stopped at {} ({cause}); cleared by {by}. Messages that wait for its next start: {waiting}",
                stopped.at
            )
        }
    };
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{}", neutralise(&said)).and_then(|()| out.flush());
    written.map_err(LogError::from)?;
    Ok(Exit::Success)
}

/// The command that clears the stop of this assistant.
pub(crate) fn clear_command(data: &DataFolder, key: &AssistantId) -> String {
    let whose = match key.as_str() {
        "dormouse" => String::new(),
        key => format!(" --assistant {}", quoted(key)),
    };
    format!("dormouse emergency clear{whose} {}", data.flag())
}

/// The name of whoever runs the program, as far as the environment tells.
fn user() -> String {
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .unwrap_or_else(|| "somebody at the command line".to_owned())
}
