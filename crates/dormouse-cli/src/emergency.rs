//! `dormouse emergency`: stopping an assistant, showing why it is stopped, and clearing the stop.

use clap::Subcommand;
use dormouse_contracts::AssistantId;
use dormouse_engine::{
    ClearError, SafetyCounters, State, StopCause, StopError, Stopped, clear_stop, trigger_stop,
};
use dormouse_host::DataFolder;
use serde::Serialize;

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, Places, Whose, block_on,
        clear_command, operator, say, view_state,
    },
    describe,
    exit::Exit,
    grammar::counted,
};

/// Managing the emergency stop.
#[derive(Debug, Subcommand)]
pub(crate) enum Emergency {
    /// Trigger the stop: messages are kept, and none is answered until the stop is cleared
    Stop {
        #[command(flatten)]
        of: Whose,
        /// Who stops the assistant, for the log [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// Why, for the log and for people who inspect the assistant
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "",
            hide_default_value = true
        )]
        reason: String,
    },
    /// Show whether the assistant is stopped, since when and why; the exit code is 5 if it is
    Show {
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Clear the stop: the next start answers the waiting messages
    Clear {
        #[command(flatten)]
        of: Whose,
        /// Who clears the stop, for the log [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
}

/// Triggers the stop, shows it, or clears it.
pub(crate) fn run(places: &Places, command: Emergency) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    match command {
        Emergency::Show { of, json } => return show(places, &data, of, json),
        Emergency::Stop { of, by, reason } => {
            let by = operator(by)?;
            stop(
                &mut AssistantLog::open(places, &data, of.assistant)?,
                &by,
                &reason,
            )?;
        }
        Emergency::Clear { of, by } => {
            let by = operator(by)?;
            clear(&mut AssistantLog::open(places, &data, of.assistant)?, &by)?;
        }
    }
    Ok(Exit::Success)
}

/// Triggers the stop, as an event that says who did it.
fn stop(log: &mut AssistantLog, by: &str, reason: &str) -> Result<(), CommandError> {
    let stopped = match log.resident() {
        Some(resident) => block_on(resident.handle().stop(by, reason))?,
        None => {
            let stop = |state: &State| {
                let stop = trigger_stop(state, by, reason).ok_or(StopError::AlreadyOn)?;
                Ok(vec![stop])
            };
            log.append_decided(stop)?.map(drop)
        }
    };
    log.look_again()?;
    let AssistantLog { key, state, .. } = log;
    match (stopped, state.stop.stopped()) {
        (Err(StopError::AlreadyOn), Some(stopped)) => {
            let (at, cause) = (stopped.at, why(stopped));
            return say(&format!("{key} is already stopped, since {at}: {cause}"));
        }
        (stopped, _) => stopped?,
    }
    let waiting = describe::waiting(state);
    say(&format!(
        "{key} is stopped by {by}; messages waiting until the stop is cleared: {waiting}"
    ))
}

/// Clears the stop, as an event that says who did it.
fn clear(log: &mut AssistantLog, by: &str) -> Result<(), CommandError> {
    let was_stopped = log.state.stop.stopped().cloned();
    let (cleared, answered) = match log.resident() {
        Some(resident) => (
            block_on(resident.handle().clear_stop(by))?,
            "messages answered now",
        ),
        None => {
            let clear = |state: &State| {
                let cleared = clear_stop(state, by).ok_or(ClearError::NotActive)?;
                Ok(vec![cleared])
            };
            (
                log.append_decided(clear)?.map(drop),
                "messages waiting for the next start",
            )
        }
    };
    log.look_again()?;
    let AssistantLog { key, state, .. } = log;
    match cleared {
        Err(ClearError::NotActive) => {
            return say(&format!("{key} is not stopped; there is nothing to clear"));
        }
        cleared => cleared?,
    }
    let was = was_stopped.map(|stopped| {
        let (at, cause) = (stopped.at, why(&stopped));
        format!("was stopped at {at} ({cause})")
    });
    let was = was.unwrap_or_else(|| "was stopped".to_owned());
    let waiting = describe::waiting(state);
    say(&format!(
        "{key} {was}; cleared by {by}; {answered}: {waiting}"
    ))
}

/// Why it was stopped.
fn why(stopped: &Stopped) -> String {
    describe::stop_reason(&stopped.cause, stopped.reason.as_deref())
}

impl CommandFailure for StopError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

impl CommandFailure for ClearError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// The stop as JSON.
#[derive(Serialize)]
struct StopLine<'a> {
    r#type: &'static str,
    assistant: &'a AssistantId,
    /// When it was triggered; `null` while the assistant is not stopped.
    stopped_at: Option<String>,
    cause: Option<&'a StopCause>,
    /// The reason that somebody gave.
    reason: Option<&'a str>,
    waiting: usize,
    #[serde(flatten)]
    counters: &'a SafetyCounters,
}

/// Shows whether the assistant is stopped, since when, why, and how many messages wait.
fn show(
    places: &Places,
    data: &DataFolder,
    of: Whose,
    json: JsonFlag,
) -> Result<Exit, CommandError> {
    let printing = json.printing();
    let (key, state) = view_state(places, data, of.assistant, printing)?;
    let (stopped, waiting) = (state.stop.stopped(), describe::waiting(&state));
    let counters = SafetyCounters::of(&state);
    let line = StopLine {
        r#type: "emergency",
        assistant: &key,
        stopped_at: stopped.map(|stopped| stopped.at.to_string()),
        cause: stopped.map(|stopped| &stopped.cause),
        reason: stopped.and_then(|stopped| stopped.reason.as_deref()),
        waiting,
        counters: &counters,
    };
    let counts = describe::safety(&counters);
    let waits = counted(waiting as u64, "message waits", "messages wait");
    printing.print(&line, || match stopped {
        None => format!("{key} is not stopped; {waits}{counts}"),
        Some(stopped) => {
            let (at, cause) = (stopped.at, why(stopped));
            let clear = clear_command(data, &key);
            format!(
                "{key} has been stopped since {at}: {cause}; {waits}{counts}. `{clear}` lets it go on"
            )
        }
    })?;
    Ok(match stopped {
        None => Exit::Success,
        Some(_) => Exit::Stopped,
    })
}
