//! Spans, in a program that has them.

use std::sync::Arc;

use dormouse_contracts::{
    AssistantId, BoxFuture, Habitat, ReadError, ReadEvents, Seq, StoredEvent,
};
use dormouse_host::{Host, SystemRandom};
use dormouse_otel::{
    Collector, CollectorError, ExportRange, FollowError, FollowNotice, FollowSettings, Follower,
    Logs, SpanContent, SpanExportError, export as export_spans,
};
use dormouse_store::RedbLog;
use tokio::task::JoinSet;

use super::ExportSpans;
use crate::{
    command::{CommandError, CommandFailure, Places, Printing, block_on, chosen, say, view_log},
    data,
    exit::Exit,
    grammar::counted,
};

/// Neither the command nor the configuration names a collector.
#[derive(Debug, thiserror::Error)]
#[error("no collector is given: name one with --to URL, or set telemetry.endpoint")]
struct NoCollector;

impl CommandFailure for NoCollector {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

impl CommandFailure for CollectorError {
    fn exit(&self) -> Exit {
        match self {
            Self::Address | Self::Credentials => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

impl CommandFailure for SpanExportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Read { .. } | Self::Decode { .. } => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}

/// Makes spans of the log and sends them.
pub(super) fn export(places: &Places, asked: &ExportSpans) -> Result<Exit, CommandError> {
    let data = data::locate(places.data.as_deref())?;
    let (to, content) = match &asked.to {
        // A mistake in the configuration does not prevent looking into the log.
        Some(to) => (to.clone(), asked.content),
        None => {
            let section = places.configuration(&data)?.0.telemetry;
            let to = section.endpoint.ok_or(NoCollector)?;
            (to, asked.content || section.content)
        }
    };
    let collector = Collector::try_new(&to)?;
    let log = view_log(&data.log(), Printing::Text)?;
    let known = log.assistants()?;
    let assistants = match asked.assistants.as_slice() {
        [] => known.into_iter().map(|(key, _)| key).collect(),
        asked => {
            let asked = asked.iter().cloned();
            let chosen = asked.map(|key| chosen(places, &data, Some(key), known.clone()));
            chosen.collect::<Result<Vec<_>, _>>()?
        }
    };
    let range = ExportRange {
        assistants,
        since: asked.since,
        content: content_of(content),
    };
    let sent = export_spans(&log, &range, collector, Arc::new(SystemRandom::default()));
    let report = block_on(Box::pin(sent))??;
    let spans = counted(report.spans, "span", "spans");
    let of = range.assistants.len() as u64;
    let of = counted(of, "assistant", "assistants");
    say(&format!("exported {spans} of {of}"))?;
    if let Some(why) = report.why {
        let left_out = counted(report.left_out, "span", "spans");
        say(&format!("the collector left out {left_out}: {why}"))?;
    }
    Ok(Exit::Success)
}

fn content_of(words: bool) -> SpanContent {
    match words {
        true => SpanContent::Words,
        false => SpanContent::Digest,
    }
}

/// The logs of a running program.
#[derive(Clone)]
struct LiveLogs(RedbLog);

impl ReadEvents for LiveLogs {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.0.read(assistant, after, limit)
    }
}

impl Logs for LiveLogs {
    fn ends(&self) -> Result<Vec<(AssistantId, Seq)>, ReadError> {
        self.0.assistants()
    }

    fn mark(&self) -> u64 {
        self.0.stats().commits
    }
}

/// Why spans cannot be exported while assistants live.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FollowingError {
    #[error("telemetry.endpoint cannot be used")]
    Collector(#[from] CollectorError),
    #[error("spans cannot be exported")]
    Follow(#[from] FollowError),
}

impl CommandFailure for FollowingError {
    fn exit(&self) -> Exit {
        match self {
            Self::Collector(error) => error.exit(),
            Self::Follow(FollowError::File(_)) => Exit::Damaged,
            Self::Follow(_) => Exit::Failure,
        }
    }
}

/// Exports spans of the assistants as long as the task lives, if the configuration names a collector.
pub(crate) async fn follow(
    host: &Host<dyn Habitat>,
    notify: impl Fn(FollowNotice) + Send + Sync + 'static,
) -> Result<JoinSet<()>, FollowingError> {
    let mut tasks = JoinSet::new();
    let section = &host.config().telemetry;
    let Some(endpoint) = &section.endpoint else {
        return Ok(tasks);
    };
    let settings = FollowSettings {
        collector: Collector::try_new(endpoint)?,
        interval: section.interval.0,
        content: content_of(section.content),
        file: host.folder().telemetry(),
    };
    let logs = LiveLogs(host.log().clone());
    let follower = Follower::open(logs, settings, Arc::new(SystemRandom::default()));
    let follower = Box::pin(follower).await?;
    tasks.spawn(Box::pin(follower.run(notify)));
    Ok(tasks)
}
