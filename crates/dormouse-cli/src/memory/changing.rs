//! Changing what is remembered.

use dormouse::SystemClock;
use dormouse_contracts::{Clock, Timestamp};
use dormouse_memory::{ChangeSeq, RecordId};
use serde::Serialize;

use super::{CommandError, Form, Of, Place, Teller, adding::reason, looking};
use crate::exit::Exit;

#[derive(Serialize)]
struct Changed<'a> {
    r#type: &'static str,
    change: ChangeSeq,
    what: &'a str,
}

/// Says which change was made, so that it can be taken back.
pub(crate) fn told(form: Form, change: ChangeSeq, what: &str) -> Result<Exit, CommandError> {
    let line = Changed {
        r#type: "changed",
        change,
        what,
    };
    Teller::new(form.json).tell(&line, || format!("change {change}: {what}"))?;
    Ok(Exit::Success)
}

/// Takes a change back.
pub(super) async fn undo(place: &Place, change: u64, form: Form) -> Result<Exit, CommandError> {
    let memory = place.open(None).await?;
    let by = memory.revert(change, &reason("taken back")).await?;
    told(form, by, &format!("change {change} taken back"))
}

/// Takes a record out of recall.
pub(super) async fn withdraw(place: &Place, of: Of) -> Result<Exit, CommandError> {
    let memory = place.open(None).await?;
    let change = memory.withdraw(of.id, &reason("withdrawn")).await?;
    told(of.form, change, &format!("{} withdrawn", of.id))
}

/// Removes a record's text.
pub(super) async fn erase(place: &Place, of: Of) -> Result<Exit, CommandError> {
    let memory = place.open(None).await?;
    let change = memory.erase(of.id, &reason("erased")).await?;
    told(
        of.form,
        change,
        &format!("{} erased from the memory for good", of.id),
    )
}

/// Ends what a record says.
pub(super) async fn supersede(
    place: &Place,
    of: Of,
    by: Option<RecordId>,
    since: Option<Timestamp>,
) -> Result<Exit, CommandError> {
    let memory = place.open(None).await?;
    let until = match (since, by) {
        (Some(since), _) => since,
        (None, Some(by)) => looking::required(&memory, by).await?.valid_from,
        (None, None) => SystemClock.now(),
    };
    let reason = reason("superseded");
    let change = memory.supersede(of.id, by, until, &reason).await?;
    told(
        of.form,
        change,
        &format!("{} superseded as of {until}", of.id),
    )
}
