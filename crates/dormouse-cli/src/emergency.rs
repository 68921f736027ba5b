//! `dormouse emergency`: stopping an assistant, seeing why it is stopped, letting it go on.

use std::{
    env,
    io::{self, Write},
};

use dormouse::SystemClock;
use dormouse_contracts::{Append, AppendError, AppendRequest, AssistantId, Clock};
use dormouse_engine::{
    EmergencyStopCleared, EmergencyStopTriggered, Event, State, StopCause, restore,
};
use dormouse_store::RedbLog;
use serde::Serialize;

use crate::{
    args::{Emergency, Places, Whose},
    data::{DataFolder, quoted},
    describe,
    exit::Exit,
    grammar::counted,
    json,
    log::{self, LogError},
    neutralise::neutralise,
};

/// The stop could not be triggered, shown or cleared; it is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmergencyError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("--by names nobody: say who does this")]
    Unnamed,
    #[error("the log does not take the event")]
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

/// Triggers the stop, says how it is, or clears it.
pub(crate) fn run(places: &Places, command: Emergency) -> Result<Exit, EmergencyError> {
    let data = DataFolder::locate(places.data.as_deref()).map_err(LogError::from)?;
    match command {
        Emergency::Show { of, json } => show(places, &data, of, json),
        Emergency::Stop { of, by } => change(places, &data, of, by, stop),
        Emergency::Clear { of, by } => change(places, &data, of, by, clear),
    }
}

/// An assistant's log, and what it comes to.
struct Life {
    log: RedbLog,
    key: AssistantId,
    state: State,
}

impl Life {
    fn append(&self, event: &Event) -> Result<(), EmergencyError> {
        let event = event.encode(SystemClock.now()).map_err(LogError::from)?;
        let request = AppendRequest {
            assistant: self.key.clone(),
            expected: self.state.seq,
            events: vec![event],
        };
        log::block_on(self.log.append(request))??;
        Ok(())
    }
}

fn change(
    places: &Places,
    data: &DataFolder,
    of: Whose,
    by: Option<String>,
    change: impl FnOnce(&Life, &str) -> Result<String, EmergencyError>,
) -> Result<Exit, EmergencyError> {
    let by = by.unwrap_or_else(user);
    if by.trim().is_empty() {
        return Err(EmergencyError::Unnamed);
    }
    let (log, key) = log::open(places, data, of.assistant)?;
    let state = log::block_on(restore(&log, &key))?.map_err(LogError::from)?;
    let said = change(&Life { log, key, state }, &by)?;
    print(&format!("{}\n", neutralise(&said)))?;
    Ok(Exit::Success)
}

/// Triggers the stop, as an event that says who did.
fn stop(life: &Life, by: &str) -> Result<String, EmergencyError> {
    let Life { key, state, .. } = life;
    if let Some(stopped) = &state.stopped {
        let (at, cause) = (stopped.at, describe::stop_cause(&stopped.cause));
        return Ok(format!("{key} is stopped already, since {at}: {cause}"));
    }
    let cause = StopCause::Operator(by.to_owned());
    life.append(&Event::EmergencyStopTriggered(EmergencyStopTriggered {
        cause,
    }))?;
    let waiting = describe::waiting(state);
    Ok(format!(
        "{key} is stopped by {by}. Messages that wait until the stop is cleared: {waiting}"
    ))
}

/// Clears the stop, as an event that says who did.
fn clear(life: &Life, by: &str) -> Result<String, EmergencyError> {
    let Life { key, state, .. } = life;
    let Some(stopped) = &state.stopped else {
        return Ok(format!("{key} is not stopped; there is nothing to clear"));
    };
    life.append(&Event::EmergencyStopCleared(EmergencyStopCleared {
        cleared_by: by.to_owned(),
    }))?;
    let (at, cause) = (stopped.at, describe::stop_cause(&stopped.cause));
    let waiting = describe::waiting(state);
    Ok(format!(
        "{key} was stopped at {at} ({cause}); cleared by {by}. Messages that wait for its next start: {waiting}"
    ))
}

/// The stop as JSON.
#[derive(Serialize)]
struct StopLine<'a> {
    r#type: &'static str,
    assistant: &'a AssistantId,
    /// When it was triggered; `null` where it is not on.
    stopped_at: Option<String>,
    cause: Option<&'a StopCause>,
    waiting: usize,
}

/// Says whether the stop is on, since when, why and what waits.
fn show(places: &Places, data: &DataFolder, of: Whose, json: bool) -> Result<Exit, EmergencyError> {
    let (log, key) = log::open_view(places, data, of.assistant, json)?;
    let state = log::block_on(restore(&log, &key))?.map_err(LogError::from)?;
    let (stopped, waiting) = (state.stopped.as_ref(), describe::waiting(&state));
    let line = StopLine {
        r#type: "emergency",
        assistant: &key,
        stopped_at: stopped.map(|stopped| stopped.at.to_string()),
        cause: stopped.map(|stopped| &stopped.cause),
        waiting,
    };
    let waits = counted(waiting as u64, "message waits", "messages wait");
    let text = match stopped {
        None => format!("{key} is not stopped; {waits}"),
        Some(stopped) => {
            let cause = describe::stop_cause(&stopped.cause);
            let clear = clear_command(data, &key);
            let at = stopped.at;
            format!("{key} is stopped since {at}: {cause}; {waits}. `{clear}` lets it go on")
        }
    };
    if json {
        print(&json::line(&line).map_err(LogError::from)?)?;
    } else {
        print(&format!("{}\n", neutralise(&text)))?;
    }
    Ok(match stopped {
        None => Exit::Success,
        Some(_) => Exit::Stopped,
    })
}

fn print(text: &str) -> Result<(), LogError> {
    let mut out = io::stdout().lock();
    Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
}

/// The command that clears the stop of this assistant.
pub(crate) fn clear_command(data: &DataFolder, key: &AssistantId) -> String {
    format!("dormouse emergency clear{} {}", whose(key), data.flag())
}

/// The flag that names an assistant, with a space before it; nothing for the usual one.
pub(crate) fn whose(key: &AssistantId) -> String {
    match key.as_str() {
        "dormouse" => String::new(),
        key => format!(" --assistant {}", quoted(key)),
    }
}

/// The name of whoever runs the program, as far as the environment tells.
pub(crate) fn user() -> String {
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .unwrap_or_else(|| "somebody at the command line".to_owned())
}
