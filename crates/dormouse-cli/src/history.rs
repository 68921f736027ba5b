//! `dormouse history`: what prompts show of earlier turns.

use clap::Subcommand;
use dormouse_engine::{ResetError, reset_history};

use crate::{
    command::{AssistantLog, CommandError, CommandFailure, Places, Whose, block_on, operator, say},
    exit::Exit,
    grammar::counted,
};

/// Managing the history.
#[derive(Debug, Subcommand)]
pub(crate) enum History {
    /// Leave earlier turns out of prompts, reset the error counts, and clear the emergency stop if it is on. Log and
    /// memory keep everything
    Reset {
        #[command(flatten)]
        of: Whose,
        /// Who resets the history, for the log [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
}

/// Resets the history, as events that say who did it.
pub(crate) fn run(places: &Places, command: History) -> Result<Exit, CommandError> {
    let History::Reset { of, by } = command;
    let by = operator(by)?;
    let data = crate::data::locate(places.data.as_deref())?;
    let log = AssistantLog::open(places, &data, of.assistant)?;
    let AssistantLog { key, state, .. } = &log;
    match log.resident() {
        Some(resident) => block_on(resident.handle().reset_history(&by))??,
        None => drop(log.append_decided(|state| Ok::<_, ResetError>(reset_history(state, &by)))??),
    }
    let turns = counted(state.history.turns().len() as u64, "turn", "turns");
    let cleared = match state.stop.is_on() {
        true => "; the emergency stop is cleared",
        false => "",
    };
    say(&format!(
        "the history of {key} is reset by {by}: {turns} left out of prompts{cleared}"
    ))?;
    Ok(Exit::Success)
}

impl CommandFailure for ResetError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}
