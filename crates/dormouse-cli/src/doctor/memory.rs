//! Checks whether the memory can be opened, and belongs to the log.

use dormouse_host::DataFolder;
use dormouse_memory::Stats;
use dormouse_store::RedbLog;

use super::{Finding, wrong};
use crate::{
    command::{CommandError, MemoryFile, Mismatch, block_on, check_follows, rebuild_command},
    config::Config,
    exit::Exit,
    grammar::counted,
};

/// The finding about the memory. Its encoder is not called.
pub(super) fn finding(data: &DataFolder, log: Option<&RedbLog>, config: &Config) -> Finding {
    if !data.memory(&config.assistant.key()).exists() {
        let text = "there is no memory yet; play makes it from the log";
        return Finding::Doubtful(text.to_owned());
    }
    let examined = block_on(examined(data, log, config)).map(|examined| {
        examined
            .map_err(|error| MemoryFile::new(data.clone(), config.clone()).with_rebuild_hint(error))
    });
    match examined {
        Ok(Ok(Examined::Follows(stats))) if stats.log_through > 0 && !data.log().exists() => {
            Finding::Wrong(log_is_missing(data, config, &stats), Exit::Damaged)
        }
        Ok(Ok(Examined::Follows(stats))) => {
            let (in_use, through) = (stats.in_use, stats.log_through);
            if let Some(last) = last_event(log, config).filter(|last| *last > through) {
                return Finding::Doubtful(format!(
                    "the memory has read the log through event {through} of {last}; the next start reads the rest"
                ));
            }
            let in_use = counted(in_use, "record", "records");
            Finding::Fine(format!(
                "the memory can be read: {in_use} in use; it has read the log through event {through}"
            ))
        }
        Ok(Ok(Examined::Strays(mismatch))) => wrong(&*mismatch, Exit::Damaged),
        Ok(Err(error)) => wrong(&error, error.exit()),
        Err(error) => wrong(&error, error.exit()),
    }
}

/// What is wrong with the memories of the other assistants of the log.
pub(super) fn of_others(data: &DataFolder, log: Option<&RedbLog>, config: &Config) -> Vec<Finding> {
    let known = log.and_then(|log| log.assistants().ok());
    let others = known.into_iter().flatten().map(|(key, _)| key);
    let others = others.filter(|key| *key != config.assistant.key() && data.memory(key).exists());
    let wrong = others.filter_map(|key| {
        let mut its = config.clone();
        its.assistant.set_key(key.clone());
        match finding(data, log, &its) {
            Finding::Wrong(text, exit) => Some(Finding::Wrong(format!("{key}: {text}"), exit)),
            _ => None,
        }
    });
    wrong.collect()
}

fn log_is_missing(data: &DataFolder, config: &Config, stats: &Stats) -> String {
    format!(
        "the log {} is missing, and the memory {} contains it up to event {}. Restore both from the same backup. Or begin a \
         new log: `{} --yes` empties the memory; `dormouse memory export` before that saves the records",
        data.log().display(),
        data.memory(&config.assistant.key()).display(),
        stats.log_through,
        rebuild_command(data)
    )
}

/// The last event of the assistant's log.
fn last_event(log: Option<&RedbLog>, config: &Config) -> Option<u64> {
    let key = config.assistant.key();
    let assistants = log?.assistants().ok()?;
    let mut its = assistants.into_iter().filter(|(known, _)| *known == key);
    its.next().map(|(_, last)| last.0)
}

/// A file that an interrupted rebuild of a memory left behind.
pub(super) fn leftover(data: &DataFolder, config: &Config) -> Option<Finding> {
    let file = data.memory_being_made(&config.assistant.key());
    file.exists().then(|| {
        Finding::Doubtful(format!(
            "{} is left of a rebuild that was interrupted; the next start removes it",
            file.display()
        ))
    })
}

enum Examined {
    Follows(Stats),
    Strays(Box<Mismatch>),
}

async fn examined(
    data: &DataFolder,
    log: Option<&RedbLog>,
    config: &Config,
) -> Result<Examined, CommandError> {
    let memory = MemoryFile::new(data.clone(), config.clone()).open().await?;
    if let Some(log) = log
        && let Err(mismatch) = check_follows(data, log, &memory).await
    {
        return Ok(Examined::Strays(mismatch));
    }
    Ok(Examined::Follows(memory.stats().await?))
}
