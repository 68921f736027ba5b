//! Exporting logs while they are written.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use dormouse_contracts::{AssistantId, Random, ReadError, ReadEvents, Seq};
use dormouse_resilience::{RetryPolicy, RetryPolicyError, RetryVerdict};
use tokio::{task::spawn_blocking, time::sleep};

use crate::{
    collector::Collector,
    export::{Reader, Sent, SpanExportError},
    outbox::Outbox,
    projection::SpanContent,
    sent::{self, SentFileError},
};

/// The longest pause after failures, unless the collector asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The longest pause that a collector may ask for.
const LONGEST_WISH: Duration = Duration::from_secs(3_600);

/// What can be read of all logs.
pub trait Logs: ReadEvents + Clone + 'static {
    /// All assistants, with their last events. May block.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    fn ends(&self) -> Result<Vec<(AssistantId, Seq)>, ReadError>;

    /// A number that changes whenever something is written to a log.
    fn mark(&self) -> u64;
}

/// How logs are followed.
#[derive(Debug)]
pub struct FollowSettings {
    /// Where spans go.
    pub collector: Collector,
    /// How long it waits before it looks again.
    pub interval: Duration,
    /// Whether spans hold words.
    pub content: SpanContent,
    /// The file that says how far each log was sent.
    pub file: PathBuf,
}

/// Something that an operator should know.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowNotice {
    /// Nothing is exported for now; what happens meanwhile is exported later. Comes once for each outage.
    #[error("spans are not exported for now, and will be later")]
    Failing(#[source] FollowError),
    /// Export goes on.
    #[error("spans are exported again")]
    Working,
    /// The collector took a request, but not all its spans. They are not sent again.
    #[error("the collector left {spans} spans out: {why}")]
    LeftOut {
        /// How many.
        spans: u64,
        /// What it said.
        why: String,
    },
}

/// Why following cannot go on for now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// Spans could not be made or sent.
    #[error(transparent)]
    Export(#[from] SpanExportError),
    /// The logs could not be listed.
    #[error("the logs could not be listed")]
    List(#[source] ReadError),
    /// The file that says how far the logs were sent cannot be used.
    #[error(transparent)]
    File(#[from] SentFileError),
    /// A thread for the file died.
    #[error("the thread that reads or writes the file ended")]
    Thread,
}

/// A task that follows all logs and exports their spans, from where it ended the last time. The first time it begins with what happens
/// from now on.
///
/// Each span is sent at least once. A place in a log is kept only after the collector has all spans before it; so after a kill some
/// spans may be sent again, under the same ids. What cannot be sent stays in the logs, not in memory.
pub struct Follower<L> {
    logs: L,
    settings: FollowSettings,
    random: Arc<dyn Random>,
    policy: RetryPolicy,
    sent: Sent,
    /// The end of each log when it was last read. Everything up to it is sent, except a tick that is not finished.
    seen: BTreeMap<AssistantId, Seq>,
}

impl<L> std::fmt::Debug for Follower<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<L: Logs> Follower<L> {
    /// Reads how far each log was sent. If nothing was ever sent, the place of each log is written down now.
    ///
    /// # Errors
    ///
    /// [`FollowError`].
    pub async fn open(
        logs: L,
        settings: FollowSettings,
        random: Arc<dyn Random>,
    ) -> Result<Self, FollowError> {
        // Pauses between rounds replace attempts: a round that fails is read again.
        let policy = RetryPolicy::try_new(1, Duration::ZERO, 1.0, Duration::ZERO);
        let policy = policy.map_err(|error: RetryPolicyError| SpanExportError::from(error))?;
        let (file, of) = (settings.file.clone(), logs.clone());
        let opened = spawn_blocking(move || match sent::read(&file)? {
            Some(sent) => Ok(sent),
            None => {
                let ends: Sent = of.ends().map_err(FollowError::List)?.into_iter().collect();
                sent::write(&file, &ends)?;
                Ok::<_, FollowError>(ends)
            }
        });
        let sent = opened.await.map_err(|_ended| FollowError::Thread)??;
        Ok(Self {
            logs,
            settings,
            random,
            policy,
            sent,
            seen: BTreeMap::new(),
        })
    }

    /// Follows the logs until it is dropped.
    pub async fn run(mut self, notify: impl Fn(FollowNotice) + Send + Sync) {
        let mut failures: u32 = 0;
        let mut mark = None;
        loop {
            let now = self.logs.mark();
            let mut pause = self.settings.interval;
            // If nothing was written, nothing is read.
            if mark != Some(now) {
                match self.round(&notify).await {
                    Ok(()) => {
                        mark = Some(now);
                        if failures > 0 {
                            notify(FollowNotice::Working);
                        }
                        failures = 0;
                    }
                    Err(error) => {
                        pause = self.pause(failures, &error);
                        if failures == 0 {
                            notify(FollowNotice::Failing(error));
                        }
                        failures = failures.saturating_add(1);
                    }
                }
            }
            sleep(pause).await;
        }
    }

    /// How long to wait after this failure.
    fn pause(&self, failures: u32, error: &FollowError) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.min(16));
        let step = self.settings.interval.saturating_mul(doubled);
        let step = step.min(LONGEST_PAUSE.max(self.settings.interval));
        // At least half of the step, so that a failing collector has rest.
        let own = step.mul_f64(0.5 + self.random.unit() / 2.0);
        let wish = match error {
            FollowError::Export(SpanExportError::Send(error)) => match error.verdict() {
                RetryVerdict::RetryAfter(wish) => wish.min(LONGEST_WISH),
                RetryVerdict::Retry | RetryVerdict::GiveUp => Duration::ZERO,
            },
            _ => Duration::ZERO,
        };
        own.max(wish)
    }

    /// Sends what was written since the last round.
    async fn round(&mut self, notify: &impl Fn(FollowNotice)) -> Result<(), FollowError> {
        let logs = self.logs.clone();
        let ends = spawn_blocking(move || logs.ends()).await;
        let ends = ends.map_err(|_ended| FollowError::Thread)?;
        let ends = ends.map_err(FollowError::List)?;
        let collector = self.settings.collector.clone();
        let mut outbox = Outbox::new(collector, self.policy.clone(), Arc::clone(&self.random));
        let mut failed = None;
        let mut seen = Vec::new();
        for (assistant, end) in ends {
            if self.seen.get(&assistant) == Some(&end) {
                continue;
            }
            let after = self.sent.get(&assistant).copied().unwrap_or(Seq::ZERO);
            // A log that was replaced by an older one goes on from its own end.
            let after = after.min(end);
            match self.read(&assistant, after, &mut outbox).await {
                Ok(()) => seen.push((assistant, end)),
                // One log that cannot be read does not keep the others back.
                Err(
                    error @ FollowError::Export(
                        SpanExportError::Read { .. } | SpanExportError::Decode { .. },
                    ),
                ) => {
                    failed.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        self.send(&mut outbox).await?;
        self.seen.extend(seen);
        let report = outbox.report();
        if let Some(why) = report.why.clone() {
            let spans = report.left_out;
            notify(FollowNotice::LeftOut { spans, why });
        }
        failed.map_or(Ok(()), Err)
    }

    /// Reads one log to its end.
    async fn read(
        &mut self,
        assistant: &AssistantId,
        after: Seq,
        outbox: &mut Outbox,
    ) -> Result<(), FollowError> {
        let logs = self.logs.clone();
        let mut reader = Reader::open(&logs, assistant, after, self.settings.content).await?;
        while reader.read(None, outbox).await? {
            if outbox.is_full() {
                self.send(outbox).await?;
            }
        }
        Ok(())
    }

    /// Sends what waits, and writes down how far the logs are sent.
    async fn send(&mut self, outbox: &mut Outbox) -> Result<(), FollowError> {
        let sent = outbox.send().await.map_err(SpanExportError::from)?;
        let before = self.sent.clone();
        self.sent.extend(sent);
        if self.sent == before {
            return Ok(());
        }
        let (file, sent) = (self.settings.file.clone(), self.sent.clone());
        let written = spawn_blocking(move || sent::write(&file, &sent)).await;
        Ok(written.map_err(|_ended| FollowError::Thread)??)
    }
}

#[cfg(test)]
mod tests;
