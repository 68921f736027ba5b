//! People who asked an assistant, in the world, to be forgotten.

use dormouse_contracts::AssistantId;
use dormouse_engine::{ForgetRequest, forget_requests};
use dormouse_host::DataFolder;
use dormouse_text::escape_id;
use serde::Serialize;

use super::Forget;
use crate::{
    command::{CommandError, Places, block_on, chosen, say, view_log},
    data::quoted,
    exit::Exit,
};

/// A request, as JSON.
#[derive(Serialize)]
struct RequestLine<'a> {
    r#type: &'static str,
    assistant: &'a AssistantId,
    event: u64,
    at: String,
    person: &'a str,
    name: &'a str,
    text: &'a str,
}

/// Prints the requests that were not granted yet.
pub(super) fn run(places: &Places, command: &Forget) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let printing = command.json.printing();
    let log = view_log(&data.log(), printing)?;
    let assistants = log.assistants()?;
    let whose = match &command.of.assistant {
        None => assistants.into_iter().map(|(key, _)| key).collect(),
        asked => vec![chosen(places, &data, asked.clone(), assistants)?],
    };
    let mut any = false;
    for key in whose {
        for request in block_on(forget_requests(&log, &key))?? {
            any = true;
            let line = RequestLine {
                r#type: "forget_request",
                assistant: &key,
                event: request.event.0,
                at: request.at.to_string(),
                person: request.person.as_str(),
                name: &request.name,
                text: &request.words,
            };
            printing.print(&line, || {
                let ForgetRequest {
                    event, at, words, ..
                } = &request;
                format!(
                    "#{event}  {at}  {}: {words}",
                    describe(&data, &key, &request)
                )
            })?;
        }
    }
    if !any && printing == crate::command::Printing::Text {
        say("nobody waits to be forgotten")?;
    }
    Ok(Exit::Success)
}

/// Who asked whom, and the command that grants it.
pub(crate) fn describe(data: &DataFolder, key: &AssistantId, request: &ForgetRequest) -> String {
    let person = escape_id(request.person.as_str());
    let command = format!(
        "dormouse forget --person {} {}",
        quoted(request.person.as_str()),
        crate::data::flag(data)
    );
    format!(
        "{} ({person}) asked {key} to be forgotten (`{command}`)",
        request.name
    )
}
