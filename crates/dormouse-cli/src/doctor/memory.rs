//! Whether the memory can be opened, and goes with the log.

use dormouse_contracts::Seq;
use dormouse_memory::{Memory, Stats};
use dormouse_store::RedbLog;

use super::{Finding, wrong};
use crate::{
    config::Config,
    data::DataFolder,
    exit::Exit,
    grammar::counted,
    log::block_on,
    memory::{CommandError, Place},
};

/// What is to be said of the memory. Neither its encoder nor its index of vectors is asked.
pub(super) fn finding(data: &DataFolder, log: Option<&RedbLog>, config: &Config) -> Finding {
    if !data.memory().exists() {
        let text = "there is no memory yet; play makes it from the log";
        return Finding::Doubtful(text.to_owned());
    }
    let stats = match block_on(stats(data, config)) {
        Ok(Ok(stats)) => stats,
        Ok(Err(error)) => return wrong(&error, error.exit()),
        Err(error) => return wrong(&error, error.exit()),
    };
    let end = match log.map(RedbLog::assistants).transpose() {
        Ok(known) => known.map(|known| {
            let own = |(key, _): &(_, Seq)| *key == config.assistant.key();
            known.into_iter().find(own).map_or(0, |(_, end)| end.0)
        }),
        Err(error) => return wrong(&error, Exit::Damaged),
    };
    let through = stats.log_through;
    match end {
        Some(end) if end < through => Finding::Wrong(
            format!(
                "the memory is newer than the log: it knows the log up to event {through}, and the log ends with \
                 event {end}. Restore both from the same backup, or remove {}, which is made anew from the log",
                data.memory().display()
            ),
            Exit::Damaged,
        ),
        _ => Finding::Fine(format!(
            "the memory can be read: {} in use, taken in from the log through event {through}",
            counted(stats.in_use, "record", "records")
        )),
    }
}

async fn stats(data: &DataFolder, config: &Config) -> Result<Stats, CommandError> {
    let place = Place::of(data.clone(), config.clone());
    let memory: Memory = place.open(None).await?;
    Ok(memory.stats().await?)
}
