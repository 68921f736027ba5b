//! Saving what is readable of a damaged log.

use std::{
    io::{self, Write},
    path::Path,
};

use dormouse_store::{OpenError, RedbLog};

use super::{LogError, print};
use crate::exit::Exit;

/// Copies what is readable of the log at `from` into a new one at `into`.
pub(super) fn run(from: &Path, into: &Path) -> Result<Exit, LogError> {
    refuse_if_in_use(from)?;
    let report = dormouse_store::salvage(from, into)?;
    let mut out = io::stdout().lock();
    for readable in &report.assistants {
        print(&mut out, &format!("saved {readable}"))?;
    }
    print(
        &mut out,
        &format!(
            "the new log is {}; {} was only read",
            into.display(),
            from.display()
        ),
    )?;
    out.flush()?;
    Ok(Exit::Success)
}

/// Of a log that is being written, a mixture would be copied.
fn refuse_if_in_use(from: &Path) -> Result<(), LogError> {
    match RedbLog::open_existing(from) {
        Err(error @ (OpenError::InUse { .. } | OpenError::Absent { .. })) => Err(error.into()),
        // Whatever else is wrong with it is why somebody salvages it.
        Ok(_) | Err(_) => Ok(()),
    }
}
