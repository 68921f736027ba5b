//! Pauses that providers asked for: showing them, and ending them with `dormouse provider retry`.

use dormouse_contracts::{AssistantId, Clock};
use dormouse_engine::{Event, RetryError, RetryRequested};
use dormouse_host::SystemClock;
use serde::Serialize;

use super::context::Context;
use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, Places, block_on, callers_host, operator,
        remark, retry_command, say, view_state,
    },
    describe,
    exit::{Exit, Report},
};

/// A pause of one service.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "pause")]
struct PauseLine {
    asked_by: String,
    until: String,
}

/// Shows the pauses in force for the selected assistant. Without a log there are none.
pub(super) fn show(context: &Context) -> Result<(), CommandError> {
    let Context {
        places,
        data,
        printing,
        ..
    } = context;
    if !data.log().exists() {
        return Ok(());
    }
    let (key, state) = match view_state(places, data, None, *printing) {
        Ok(found) => found,
        // The list of providers is useful even if the log cannot be read.
        Err(error) => {
            let cause = Report(&error);
            remark(&format!(
                "whether a provider asked for a pause is unknown: {cause}"
            ));
            return Ok(());
        }
    };
    for pause in state.services.pauses.at(SystemClock.now()) {
        let line = PauseLine {
            asked_by: pause.by.to_string(),
            until: pause.until.to_string(),
        };
        printing.print(&line, || {
            let pause = describe::pause(&pause);
            let command = retry_command(data, &key);
            format!("not called {pause}; `{command}` ends the pause")
        })?;
    }
    Ok(())
}

impl CommandFailure for RetryError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// Ends every pause, as an event that says who asked for it.
pub(super) fn end(
    places: &Places,
    asked: Option<AssistantId>,
    by: Option<String>,
) -> Result<Exit, CommandError> {
    let requested_by = operator(by)?;
    let data = crate::data::locate(places.data.as_deref())?;
    let log = AssistantLog::open(places, &data, asked)?;
    let AssistantLog { key, state, .. } = &log;
    let now = SystemClock.now();
    if !state.waits_for_a_model(now) {
        say(&format!(
            "{key} is not waiting for a provider; there is no pause to end"
        ))?;
        return Ok(Exit::Success);
    }
    let when = match log.resident() {
        Some(resident) => {
            // The guards of the models have pauses, too.
            let models = callers_host().map(|host| host.models().to_vec());
            for model in models.unwrap_or_default() {
                model.guard().configuration_changed();
            }
            block_on(resident.handle().retry(requested_by))??;
            "now"
        }
        None => {
            log.append_decided(|state| match state.waits_for_a_model(now) {
                true => {
                    let requested_by = requested_by.clone();
                    Ok(vec![Event::RetryRequested(RetryRequested { requested_by })])
                }
                false => Err(RetryError::NotWaiting),
            })??;
            "at the next start"
        }
    };
    let pauses: Vec<_> = state
        .services
        .pauses
        .at(now)
        .map(|it| describe::pause(&it))
        .collect();
    let ended = match pauses.is_empty() {
        true => "it waited after a failure".to_owned(),
        false => format!("it was not called {}", pauses.join("; ")),
    };
    let waiting = describe::waiting(state);
    say(&format!(
        "{key}'s model is called again {when}; {ended}. Messages waiting for it: {waiting}"
    ))?;
    Ok(Exit::Success)
}
