//! `dormouse memory rebind`: binds the memory to another log than the one it was made from.

use dormouse_engine::{CaughtUp, Rebound, catch_up, rebind as bind};
use serde::Serialize;

use crate::{
    command::{CommandError, MemoryFile, Printing},
    exit::Exit,
    grammar::counted,
};

#[derive(Serialize)]
struct ReboundLine {
    r#type: &'static str,
    /// The last event that both logs share; `null` if there was nothing to do.
    shared: Option<u64>,
    /// How many records are kept although their events are missing.
    detached: usize,
    /// The last event that the memory has read.
    through: u64,
}

/// Binds the memory to the log of the data folder, and reads what is new in it. Creates the log if it is missing.
pub(super) async fn rebind(file: &MemoryFile, printing: Printing) -> Result<Exit, CommandError> {
    // The memory is opened first: if it does not exist, no log is created either.
    let memory = file.open().await?;
    let (log, key) = (file.log()?, file.key());
    let rebound = bind(&log, &key, &memory).await?;
    let CaughtUp { through, .. } = catch_up(&log, &key, &memory).await?;
    let (shared, detached) = match rebound {
        Rebound::NothingToDo => (None, 0),
        Rebound::Bound { shared, detached } => (Some(shared.0), detached),
    };
    let line = ReboundLine {
        r#type: "rebound",
        shared,
        detached,
        through: through.0,
    };
    printing.print(&line, || text(&line))?;
    Ok(Exit::Success)
}

fn text(line: &ReboundLine) -> String {
    let (through, detached) = (line.through, line.detached as u64);
    let Some(shared) = line.shared else {
        return format!(
            "nothing to do: the memory follows this log and has read it through event {through}"
        );
    };
    let shared = counted(shared, "event", "events");
    let detached = counted(detached, "record is", "records are");
    format!(
        "the memory now follows this log and has read it through event {through}; this log and the former one share \
         {shared}, and {detached} kept without their events. Nothing was lost"
    )
}
