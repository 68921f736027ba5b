//! Pauses that providers asked for: showing them, and ending them.

use std::io::{self, Write};

use dormouse::SystemClock;
use dormouse_contracts::{Append, AppendRequest, AssistantId, Clock};
use dormouse_engine::{Event, RetryRequested, State, restore};
use serde::Serialize;

use super::command::{CommandError, Form, Here};
use crate::{
    args::Places,
    data::DataFolder,
    describe, emergency,
    exit::{Exit, Report},
    log::{self, LogError},
    neutralise::neutralise,
};

/// A pause of one service.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "pause")]
struct PauseLine {
    asked_by: String,
    until: String,
}

/// Shows the pauses that hold for the assistant that is meant. Where there is no log there are none.
pub(super) fn show(here: &Here, form: Form, out: &mut dyn Write) -> Result<(), CommandError> {
    if !here.data.log().exists() {
        return Ok(());
    }
    let (key, pauses) = match look(here, form) {
        Ok((key, state)) => (key, state.pauses.at(SystemClock.now()).collect::<Vec<_>>()),
        // Who can think is worth knowing also where the log cannot be read.
        Err(error) => {
            let text = format!(
                "whether a provider asked for a pause is not known: {}",
                Report(&error)
            );
            drop(writeln!(io::stderr(), "{}", neutralise(&text)));
            return Ok(());
        }
    };
    for pause in pauses {
        let line = PauseLine {
            asked_by: pause.by.to_string(),
            until: pause.until.to_string(),
        };
        let pause = describe::pause(&pause);
        let command = retry_command(&here.data, &key);
        form.tell(
            out,
            &line,
            &format!("not called {pause}; `{command}` ends the pause"),
        )?;
    }
    Ok(())
}

/// The command that ends the pauses of this assistant.
pub(crate) fn retry_command(data: &DataFolder, key: &AssistantId) -> String {
    format!(
        "dormouse provider retry{} {}",
        emergency::whose(key),
        data.flag()
    )
}

fn look(here: &Here, form: Form) -> Result<(AssistantId, State), LogError> {
    let is_json = form == Form::Programs;
    let (log, key) = log::open_view(&here.places, &here.data, None, is_json)?;
    let state = log::block_on(restore(&log, &key))??;
    Ok((key, state))
}

fn read(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
) -> Result<(dormouse_store::RedbLog, AssistantId, State), LogError> {
    let (log, key) = log::open(places, data, asked)?;
    let state = log::block_on(restore(&log, &key))??;
    Ok((log, key, state))
}

/// Ends every pause, as an event that says who wanted it.
pub(super) fn end(
    places: &Places,
    data: &DataFolder,
    asked: Option<AssistantId>,
    by: Option<&str>,
) -> Result<Exit, CommandError> {
    if by.is_some_and(|by| by.trim().is_empty()) {
        return Err(CommandError::Unnamed);
    }
    let (log, key, state) = read(places, data, asked)?;
    let now = SystemClock.now();
    let mut out = io::stdout().lock();
    if !state.waits_for_a_model(now) {
        let text = format!("{key} does not wait for a provider; there is no pause to end");
        writeln!(out, "{}", neutralise(&text))?;
        return Ok(Exit::Success);
    }
    let requested_by = by.map_or_else(emergency::user, str::to_owned);
    let event = Event::RetryRequested(RetryRequested { requested_by });
    let request = AppendRequest {
        assistant: key.clone(),
        expected: state.seq,
        events: vec![event.encode(now)?],
    };
    log::block_on(log.append(request))??;
    let pauses: Vec<_> = state
        .pauses
        .at(now)
        .map(|it| describe::pause(&it))
        .collect();
    let ended = match pauses.is_empty() {
        true => "it waited after a failure".to_owned(),
        false => format!("it was not called {}", pauses.join("; ")),
    };
    let waiting = describe::waiting(&state);
    let text = format!(
        "{key}'s model is called again at the next start; {ended}. Messages that wait for it: {waiting}"
    );
    writeln!(out, "{}", neutralise(&text))?;
    Ok(Exit::Success)
}
