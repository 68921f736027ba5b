//! Binding the memory to a log that it was not made of.

use std::path::PathBuf;

use dormouse_engine::{CatchUpError, CaughtUp, Rebound, catch_up, check_log, rebind as bind};
use dormouse_memory::Memory;
use dormouse_store::RedbLog;
use serde::Serialize;

use super::{CommandError, Form, Place, Teller};
use crate::{data::DataFolder, exit::Exit, grammar::counted};

#[derive(Serialize)]
struct ReboundLine {
    r#type: &'static str,
    /// The last event that the memory's former log and this one share; `null` where nothing was to be done.
    shared: Option<u64>,
    /// How many records are kept without their events.
    detached: usize,
    /// The event through which the memory has taken in the log.
    through: u64,
}

/// Binds the memory to the log of the data folder, and takes in what is new in that. A log that was lost is begun anew.
pub(super) async fn rebind(place: &Place, form: Form) -> Result<Exit, CommandError> {
    // First, so that where there is no memory either, no log is made.
    let memory = place.open(None).await?;
    let (log, key) = (place.log()?, place.key());
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
    Teller::new(form.json).tell(&line, || told(&line))?;
    Ok(Exit::Success)
}

fn told(line: &ReboundLine) -> String {
    let (through, detached) = (line.through, line.detached as u64);
    let Some(shared) = line.shared else {
        return format!("nothing to do: the memory follows this log, through event {through}");
    };
    let detached = counted(detached, "record comes", "records come");
    format!(
        "the memory follows this log now, through event {through}; the log and the former one share {shared} events, \
         and {detached} from events that it does not hold. Nothing was lost"
    )
}

/// The memory does not belong to the log beside it. Neither was changed.
#[derive(Debug, thiserror::Error)]
#[error(
    "the memory {} does not follow the log {}: {source} (`{command}`)",
    memory.display(),
    log.display()
)]
pub(crate) struct Mismatch {
    memory: PathBuf,
    log: PathBuf,
    command: String,
    #[source]
    source: CatchUpError,
}

/// Whether the memory follows the log. One that cannot be read at the moment is no mismatch.
pub(crate) async fn check(
    data: &DataFolder,
    log: &RedbLog,
    memory: &Memory,
) -> Result<(), Box<Mismatch>> {
    let key = memory.assistant();
    match check_log(log, key, memory).await {
        Err(source) if source.is_mismatch() => Err(Box::new(Mismatch {
            memory: data.memory(key),
            log: data.log(),
            command: format!("dormouse memory rebind {}", data.flag()),
            source,
        })),
        Ok(()) | Err(_) => Ok(()),
    }
}
