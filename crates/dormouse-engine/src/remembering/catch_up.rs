//! Catching up with the log.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_contracts::{AssistantId, ReadError, ReadEvents, Seq};
use dormouse_memory::{LogPosition, Memory, MemoryError, Taken};

use super::{
    context::{Context, Read},
    mapping::{Page, page},
    reading::{Log, PAGE},
};
use crate::event::DecodeError;

/// After how many events the progress of catching up is reported.
const TOLD_EVERY: u64 = 20 * PAGE as u64;

/// A memory could not catch up with its log. It keeps what it has read so far; the next attempt resumes there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatchUpError {
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The log holds an event that this program cannot read.
    #[error("the log cannot be understood")]
    Decode(#[from] DecodeError),
    /// The memory could not be read or written.
    #[error("the memory could not take in the log")]
    Memory(#[from] MemoryError),
    /// The memory belongs to another assistant.
    #[error("the memory is that of {owner}, and the log is that of {key}")]
    OtherAssistant {
        /// Whose memory it is.
        owner: AssistantId,
        /// Whose log it is.
        key: AssistantId,
    },
    /// The memory has read events that the log does not have: it belongs to another log, or the log is an older copy.
    #[error(
        "the memory is newer than the log: it knows the log up to event {through}, and the log ends before. Restore \
         both from the same backup, or make the memory again from this log"
    )]
    Ahead {
        /// The last event that the memory has read.
        through: Seq,
    },
    /// The memory has read another log, or this log was restored to an earlier point and has grown differently since.
    #[error(
        "the memory was made of another log: event {through} of this log is not the one that the memory took in. Restore \
         the log it was made of, or make the memory again from this log"
    )]
    OtherLog {
        /// The last event that the memory has read of its log.
        through: Seq,
    },
}

impl CatchUpError {
    /// Whether memory and log do not belong together. False if one of them just cannot be read at the moment.
    #[must_use]
    pub fn is_mismatch(&self) -> bool {
        match self {
            Self::OtherAssistant { .. } | Self::Ahead { .. } | Self::OtherLog { .. } => true,
            Self::Read(_) | Self::Decode(_) | Self::Memory(_) => false,
        }
    }

    /// Logs a warning: the memory is tried again later.
    pub(crate) fn warn(&self) {
        tracing::warn!(
            error = self as &dyn std::error::Error,
            "the memory did not catch up with the log"
        );
    }
}

/// How far a memory has caught up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaughtUp {
    /// The last event it has read.
    pub through: Seq,
    /// How many events this attempt read.
    pub events: u64,
    /// How many changes were refused because they are not possible. Every attempt refuses them again.
    pub refused: u64,
}

/// Reads the new events in the log of one assistant since the memory's checkpoint, a page at a time: each page and the
/// new checkpoint are one write. Reading the same log again adds nothing, and interruptions do not change the resulting
/// memory.
///
/// From then on the memory refuses every change that does not come from its log.
///
/// Costs two reads if nothing is new. The future can be dropped at any moment; the memory keeps what it has read.
///
/// # Errors
///
/// [`CatchUpError`]; the memory keeps the progress it made.
pub async fn catch_up<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    memory: &Memory,
) -> Result<CaughtUp, CatchUpError> {
    Ok(read_on(log, key, memory).await?.done())
}

async fn read_on<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    memory: &Memory,
) -> Result<Progress, CatchUpError> {
    check_owner(key, memory)?;
    memory.follow_log();
    let log = Log { events: log, key };
    let through = memory.log_position().await?;
    let mut progress = Progress::begin(log.context(through).await?, through);
    while progress.take_page(&log, memory).await? {}
    Ok(progress)
}

/// How far a memory has come in the log of a running assistant, so that neither its position nor the events before it are
/// read again with every message. It is only a hint: a memory refuses a part of a log that does not begin at its own position.
#[derive(Debug, Default)]
pub(crate) struct LastPosition(Mutex<Option<(LogPosition, Context)>>);

impl LastPosition {
    /// Like [`catch_up`], through this event or further. Costs nothing if the memory has read it.
    pub(crate) async fn catch_up_through<L: ReadEvents + ?Sized>(
        &self,
        end: Seq,
        log: &L,
        memory: &Memory,
    ) -> Result<(), CatchUpError> {
        let key = memory.assistant();
        // After an error nothing is known any more, so that the next attempt checks everything.
        let known = self.lock().take();
        let progress = match known {
            None => read_on(log, key, memory).await?,
            Some((through, context)) => {
                let log = Log { events: log, key };
                let mut progress = Progress::begin(context, through);
                while progress.through.seq < end.0 && progress.take_page(&log, memory).await? {}
                progress
            }
        };
        *self.lock() = Some((progress.through, progress.context.clone()));
        progress.done();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<(LogPosition, Context)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a memory follows the log of this assistant. Costs one read, and changes nothing.
///
/// # Errors
///
/// [`CatchUpError`]; if it does not follow, [`CatchUpError::is_mismatch`] is true.
pub async fn check_log<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    memory: &Memory,
) -> Result<(), CatchUpError> {
    check_owner(key, memory)?;
    let through = memory.log_position().await?;
    Log { events: log, key }.check(through).await
}

fn check_owner(key: &AssistantId, memory: &Memory) -> Result<(), CatchUpError> {
    let owner = memory.assistant();
    if owner == key {
        return Ok(());
    }
    Err(CatchUpError::OtherAssistant {
        owner: owner.clone(),
        key: key.clone(),
    })
}

/// How far it has come.
struct Progress {
    context: Context,
    through: LogPosition,
    events: u64,
    refused: u64,
}

impl Progress {
    fn begin(context: Context, through: LogPosition) -> Self {
        Self {
            context,
            through,
            events: 0,
            refused: 0,
        }
    }

    /// Takes in the next page. Returns false at the end of the log.
    async fn take_page<L: ReadEvents + ?Sized>(
        &mut self,
        log: &Log<'_, L>,
        memory: &Memory,
    ) -> Result<bool, CatchUpError> {
        let events = log.page(Seq(self.through.seq), PAGE).await?;
        if events.is_empty() {
            return Ok(false);
        }
        self.take(log, memory, &events).await?;
        Ok(true)
    }

    async fn take<L: ReadEvents + ?Sized>(
        &mut self,
        log: &Log<'_, L>,
        memory: &Memory,
        events: &[Read],
    ) -> Result<(), CatchUpError> {
        let triggers = log.triggers(events).await?;
        let Page {
            items,
            through,
            context,
        } = memory.with_entities(|known| page(known, events, &triggers, self.context.clone()));
        let taken = memory.take_log(self.through.seq, through, items).await?;
        match taken {
            Taken::Through { refused, .. } => {
                let before = self.events;
                self.events += through.seq.saturating_sub(self.through.seq);
                self.refused += refused;
                self.through = through;
                self.context = context;
                if before / TOLD_EVERY != self.events / TOLD_EVERY {
                    tracing::info!(
                        events = self.events,
                        through = through.seq,
                        "the memory takes in its log"
                    );
                }
            }
            // An earlier attempt, whose caller had stopped waiting, took in this page meanwhile.
            Taken::Moved { through } => {
                self.through = through;
                self.context = log.context(through).await?;
            }
        }
        Ok(())
    }

    fn done(self) -> CaughtUp {
        if self.refused > 0 {
            tracing::info!(
                refused = self.refused,
                "changes no longer fitted what the memory knows"
            );
        }
        CaughtUp {
            through: Seq(self.through.seq),
            events: self.events,
            refused: self.refused,
        }
    }
}
