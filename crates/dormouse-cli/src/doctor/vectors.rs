//! Checks whether the vector index answers, and contains what it should.

use dormouse_host::DataFolder;
use dormouse_memory::{CheckIndexError, IndexReport};
use dormouse_providers::EmbedderChoice;

use super::{Finding, wrong};
use crate::{
    command::{CommandError, MemoryFile, block_on},
    config::{Config, VectorBackend},
    exit::Exit,
    grammar::counted,
    recall,
};

/// The finding about an index on a server. `None` for an index in this process, and for a memory that is missing or
/// cannot be read, because other findings report that.
pub(super) fn finding(data: &DataFolder, config: &Config) -> Option<Finding> {
    let VectorBackend::Qdrant(section) = &config.memory.vectors else {
        return None;
    };
    let file = MemoryFile::new(data.clone(), config.clone());
    if let Ok(EmbedderChoice::None { .. }) = recall::embedder(config) {
        let text = "the vector index is configured but not used: set `embedder` in [memory]";
        return Some(Finding::Doubtful(text.to_owned()));
    }
    match block_on(report(&file)) {
        Ok(Ok(Ok(report))) => report.map(|report| found(&report)),
        Ok(Ok(Err(error))) => Some(match &error {
            CheckIndexError::Memory(_) => return None,
            error => unreachable_at(&section.addresses.join(", "), error),
        }),
        Ok(Err(CommandError::MemoryOpen(_))) => None,
        Ok(Err(error)) => Some(wrong(&error, error.exit())),
        Err(error) => Some(wrong(&error, error.exit())),
    }
}

async fn report(
    file: &MemoryFile,
) -> Result<Result<Option<IndexReport>, CheckIndexError>, CommandError> {
    let memory = file.view_as_configured(&file.key()).await?;
    Ok(memory.check_index().await)
}

fn unreachable_at(addresses: &str, error: &CheckIndexError) -> Finding {
    let cause = crate::exit::Report(error);
    Finding::Wrong(
        format!(
            "the vector index at {addresses} cannot be used: {cause}. Until then recall compares only words"
        ),
        Exit::Failure,
    )
}

fn found(report: &IndexReport) -> Finding {
    let expected: u64 = report.collections.iter().map(|c| c.expected).sum();
    let found: u64 = report.collections.iter().filter_map(|c| c.found).sum();
    let names: Vec<&str> = report.collections.iter().map(|c| c.name.as_str()).collect();
    let place = match names.is_empty() {
        true => report.index.clone(),
        false => format!("{}, {}", report.index, names.join(", ")),
    };
    let points = counted(expected, "point", "points");
    if report.waiting > 0 {
        let waiting = counted(report.waiting, "change waits", "changes wait");
        return Finding::Doubtful(format!(
            "the vector index ({place}) has {found} of {points}; {waiting}: play or `dormouse memory rebuild` brings \
             them in"
        ));
    }
    let is_whole = report
        .collections
        .iter()
        .all(|c| c.found.unwrap_or(0) == c.expected);
    if is_whole {
        Finding::Fine(format!("the vector index ({place}) has its {points}"))
    } else {
        Finding::Doubtful(format!(
            "the vector index ({place}) has {found} of {points}: play fills it again when it notices, and `dormouse memory \
             rebuild` at once"
        ))
    }
}
