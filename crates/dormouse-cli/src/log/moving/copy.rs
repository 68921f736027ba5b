//! Copies one life from a log to another one, from where an earlier copy has stopped.

use std::collections::BTreeSet;

use dormouse_contracts::{
    AppendError, AppendRequest, AssistantId, EventLog, NewEvent, ReadError, ReadEvents, Seq,
    StoredEvent,
};
use dormouse_engine::{ReplayError, append_until_known, encode_snapshot, replay};

/// How many events, and how many bytes of them, are written at once.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 256 * 1024;

/// A life could not be copied.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyError {
    #[error(
        "event {at} of {key} is not the same in both logs: each has gone on by itself. Nothing was written to {into}; \
         decide which of the two lives goes on, and move it to a place that does not have the other"
    )]
    Diverged {
        key: AssistantId,
        at: Seq,
        into: &'static str,
    },
    #[error(
        "{into} has {theirs} events of {key}, and {from} has {ours}, which are the first of them; move the life the other way"
    )]
    Older {
        key: AssistantId,
        ours: Seq,
        theirs: Seq,
        from: &'static str,
        into: &'static str,
    },
    #[error(
        "the {events} events of {key} fold to the state {ours} in {from} and to {theirs} in {into}; use the log in {from}, \
         and report this"
    )]
    OtherState {
        key: AssistantId,
        events: Seq,
        ours: String,
        theirs: String,
        from: &'static str,
        into: &'static str,
    },
    #[error("events of {key} could not be read from {from}")]
    Read {
        key: AssistantId,
        from: &'static str,
        source: ReadError,
    },
    #[error(
        "events of {key} could not be written to {into}, which has the first {written}; the same command goes on from there"
    )]
    Write {
        key: AssistantId,
        written: Seq,
        into: &'static str,
        source: AppendError,
    },
    #[error("the events of {key} in {from} could not be folded")]
    Fold {
        key: AssistantId,
        from: &'static str,
        source: ReplayError,
    },
    #[error("a state could not be encoded")]
    Encode(#[from] serde_json::Error),
}

/// A log, and how messages name it.
pub(super) struct Side<L> {
    pub(super) log: L,
    pub(super) name: &'static str,
}

/// What was copied.
pub(super) struct Copied {
    /// How many events the life has.
    pub(super) events: Seq,
    /// How many of them were not there yet.
    pub(super) new: u64,
    /// The hash of the state that both logs fold to.
    pub(super) hash: String,
}

/// Names of kinds. An event to append needs one that lives as long as the program, and there are few.
#[derive(Default)]
pub(super) struct Kinds(BTreeSet<&'static str>);

impl Kinds {
    fn of(&mut self, kind: &str) -> &'static str {
        match self.0.get(kind) {
            Some(known) => known,
            None => {
                let kept: &'static str = Box::leak(kind.to_owned().into_boxed_str());
                self.0.insert(kept);
                kept
            }
        }
    }

    fn event(&mut self, stored: StoredEvent) -> NewEvent {
        NewEvent {
            at: stored.at,
            kind: self.of(&stored.kind),
            schema: stored.schema,
            payload: stored.payload,
        }
    }
}

impl<L: ReadEvents> Side<L> {
    async fn page(
        &self,
        key: &AssistantId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, CopyError> {
        let page = self.log.read(key, after, limit).await;
        page.map_err(|source| CopyError::Read {
            key: key.clone(),
            from: self.name,
            source,
        })
    }
}

/// Copies what `to` lacks of a life, and compares the states that both logs fold to. What `to` has must be the beginning of what
/// `from` has.
pub(super) async fn copy(
    from: &Side<impl EventLog>,
    to: &Side<impl EventLog>,
    key: &AssistantId,
    kinds: &mut Kinds,
) -> Result<Copied, CopyError> {
    let common = compare(from, to, key).await?;
    let events = append_rest(from, to, key, (common, kinds)).await?;
    let ours = Box::pin(fold(from, key)).await?;
    let theirs = Box::pin(fold(to, key)).await?;
    let hash = ours.hash()?;
    if (ours.seq, &hash) != (theirs.seq, &theirs.hash()?) {
        return Err(CopyError::OtherState {
            key: key.clone(),
            events,
            ours: hash,
            theirs: theirs.hash()?,
            from: from.name,
            into: to.name,
        });
    }
    if let Err(error) = to.log.save_snapshot(key, encode_snapshot(&theirs)?).await {
        tracing::warn!(%error, "no snapshot was saved; the next start folds more of the log");
    }
    Ok(Copied {
        events,
        new: events.0 - common.0,
        hash,
    })
}

/// How many events both logs have, if those of `to` are the first of `from`.
async fn compare(
    from: &Side<impl EventLog>,
    to: &Side<impl EventLog>,
    key: &AssistantId,
) -> Result<Seq, CopyError> {
    let mut common = Seq::ZERO;
    loop {
        let theirs = to.page(key, common, BATCH).await?;
        if theirs.is_empty() {
            return Ok(common);
        }
        let mut ours = Vec::new();
        while ours.len() < theirs.len() {
            let after = common.plus(ours.len() as u64);
            let page = from.page(key, after, theirs.len() - ours.len()).await?;
            if page.is_empty() {
                break;
            }
            ours.extend(page);
        }
        for (ours, theirs) in ours.iter().zip(&theirs) {
            if ours != theirs {
                return Err(CopyError::Diverged {
                    key: key.clone(),
                    at: theirs.seq,
                    into: to.name,
                });
            }
        }
        if ours.len() < theirs.len() {
            return Err(CopyError::Older {
                key: key.clone(),
                ours: common.plus(ours.len() as u64),
                theirs: end(to, key, common).await?,
                from: from.name,
                into: to.name,
            });
        }
        common = common.plus(theirs.len() as u64);
    }
}

/// The last event of a log.
async fn end(side: &Side<impl EventLog>, key: &AssistantId, after: Seq) -> Result<Seq, CopyError> {
    let mut end = after;
    loop {
        match side.page(key, end, BATCH).await?.last() {
            Some(last) => end = last.seq,
            None => return Ok(end),
        }
    }
}

/// Appends the events after `written`. Returns the last one.
async fn append_rest(
    from: &Side<impl EventLog>,
    to: &Side<impl EventLog>,
    key: &AssistantId,
    (mut written, kinds): (Seq, &mut Kinds),
) -> Result<Seq, CopyError> {
    let mut read = written;
    let mut batch: Vec<NewEvent> = Vec::new();
    loop {
        let page = from.page(key, read, BATCH).await?;
        let is_end = page.is_empty();
        read = page.last().map_or(read, |last| last.seq);
        for stored in page {
            batch.push(kinds.event(stored));
            let bytes: usize = batch.iter().map(|event| event.payload.len()).sum();
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                append(to, key, (&mut written, std::mem::take(&mut batch))).await?;
            }
        }
        if is_end {
            if !batch.is_empty() {
                append(to, key, (&mut written, batch)).await?;
            }
            return Ok(written);
        }
    }
}

async fn append(
    to: &Side<impl EventLog>,
    key: &AssistantId,
    (written, events): (&mut Seq, Vec<NewEvent>),
) -> Result<(), CopyError> {
    let request = AppendRequest {
        assistant: key.clone(),
        expected: *written,
        events,
    };
    let appended = append_until_known(&to.log, request).await;
    *written = appended.map_err(|source| CopyError::Write {
        key: key.clone(),
        written: *written,
        into: to.name,
        source,
    })?;
    Ok(())
}

async fn fold(
    side: &Side<impl EventLog>,
    key: &AssistantId,
) -> Result<dormouse_engine::State, CopyError> {
    let state = replay(&side.log, key, Seq(u64::MAX)).await;
    state.map_err(|source| CopyError::Fold {
        key: key.clone(),
        from: side.name,
        source,
    })
}

#[cfg(test)]
mod tests;
