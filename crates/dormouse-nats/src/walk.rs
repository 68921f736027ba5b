//! Reads messages of one assistant in order, and verifies that each follows from the one before.

use dormouse_contracts::{AssistantId, ReadError, Seq, StoredEvent};
use tokio::time::{Instant, sleep};

use crate::{
    api::{ApiError, StreamMessage, StreamRequests},
    chain::{ChainBreak, Link},
    fault::Fault,
    frame::{self, Frame},
    life::SURE,
    log::Core,
    outcome::pause,
};

/// How many messages, and how many bytes of them, are asked for at once.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// A page of events is not longer, whatever its reader accepts.
const PAGE_BYTES: usize = 16 * 1024 * 1024;

/// Decodes a message that should follow from `before`.
pub(crate) fn decode(
    assistant: &AssistantId,
    before: &Link,
    message: &StreamMessage,
) -> Result<Frame, ChainBreak> {
    frame::unseal(assistant, &message.payload).map_err(|fault| before.damaged(message.seq, fault))
}

/// A page that is being read.
struct Page {
    after: Seq,
    limit: usize,
    events: Vec<StoredEvent>,
    bytes: usize,
    /// The end of the last message of which all events are in the page or before it.
    cursor: Link,
}

impl Page {
    /// Takes the events of a message. Returns whether the page has room for more.
    fn take(&mut self, link: &Link, frame: Frame) -> bool {
        for event in frame.events {
            if event.seq <= self.after {
                continue;
            }
            if self.events.len() >= self.limit || self.bytes >= PAGE_BYTES {
                return false;
            }
            self.bytes += event.payload.len();
            self.events.push(event);
        }
        self.cursor = link.clone();
        true
    }
}

impl<S: StreamRequests> Core<S> {
    /// Walks from `from` to the message with the stream sequence `to`. Passes each message that follows from the one before,
    /// with the links before and behind it, to `take`, until that returns `false`.
    pub(crate) async fn walk(
        &self,
        assistant: &AssistantId,
        from: Link,
        to: u64,
        mut take: impl FnMut(&Link, &Link, Frame) -> bool + Send,
    ) -> Result<(), Fault> {
        let subject = self.subject(assistant);
        let deadline = Instant::now() + self.patience;
        let (mut at, mut attempt, mut missing) = (from, 0, 0);
        while at.stream_seq < to {
            let messages = match self.after(&subject, at.stream_seq, attempt).await {
                Err(error) if error.is_transient() && Instant::now() < deadline => Vec::new(),
                other => {
                    missing += 1;
                    other?
                }
            };
            if messages.is_empty() {
                attempt += 1;
            } else {
                (attempt, missing) = (0, 0);
            }
            for message in messages {
                let frame = decode(assistant, &at, &message)?;
                let link = at.follow(message.seq, &frame)?;
                if !take(&at, &link, frame) {
                    return Ok(());
                }
                at = link;
            }
            if attempt > 0 {
                if Instant::now() >= deadline && missing >= SURE {
                    let (known, found) = (at.last.next(), at.last);
                    return Err(ChainBreak::Shortened { known, found }.into());
                }
                sleep(pause(attempt)).await;
            }
        }
        Ok(())
    }

    /// Messages after this sequence. Any server answers the first time; if it has none, the leader is asked.
    async fn after(
        &self,
        subject: &str,
        stream_seq: u64,
        attempt: u32,
    ) -> Result<Vec<StreamMessage>, ApiError> {
        let from = stream_seq.saturating_add(1);
        if attempt == 0 {
            return self.api.batch(subject, from, BATCH, BATCH_BYTES).await;
        }
        let next = self.api.next(subject, from).await?;
        Ok(next.into_iter().collect())
    }

    /// Reads a page of events.
    pub(crate) async fn page(
        &self,
        assistant: &AssistantId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        let life = self.life(assistant);
        let (end, cursor) = {
            let mut life = life.lock().await;
            let known = life.end.as_ref().map(|end| end.last);
            // At the end of what is known, another host may have written more.
            let is_enough = known.is_some_and(|known| known > after);
            let seen = match life.broken {
                Some(broken) => Err(broken.into()),
                None if is_enough => Ok(()),
                None => self.catch_up(assistant, &mut life).await,
            };
            let end = life.end.clone().unwrap_or_default();
            // The events before a break are read.
            if end.last <= after {
                return seen.map(|()| Vec::new()).map_err(Fault::into_read_error);
            }
            (end, life.cursor.clone())
        };
        if limit == 0 {
            return Ok(Vec::new());
        }
        let start = match cursor {
            Some(cursor) if cursor.last <= after && after < cursor.last.plus(BATCH as u64) => {
                cursor
            }
            _ => self
                .search(assistant, after, &end)
                .await
                .map_err(Fault::into_read_error)?,
        };
        let mut page = Page {
            after,
            limit,
            events: Vec::new(),
            bytes: 0,
            cursor: start.clone(),
        };
        let walked = self
            .walk(assistant, start, end.stream_seq, |_, link, frame| {
                page.take(link, frame)
            })
            .await;
        if let Err(fault) = walked
            && page.events.is_empty()
        {
            if let Fault::Broken(broken) = &fault {
                self.break_life(assistant, &mut *life.lock().await, *broken);
            }
            return Err(fault.into_read_error());
        }
        life.lock().await.cursor = Some(page.cursor);
        Ok(page.events)
    }

    /// The end of a message that has no event after `after`, as late as possible. Sequences of the stream grow with those of
    /// the assistant, so this is a binary search. It need not be exact: a walk from an earlier message is only longer.
    async fn search(&self, assistant: &AssistantId, after: Seq, end: &Link) -> Result<Link, Fault> {
        let subject = self.subject(assistant);
        let mut found = Link::default();
        if after == Seq::ZERO {
            return Ok(found);
        }
        let mut high = end.stream_seq;
        while found.stream_seq < high {
            let middle = found.stream_seq + (high - found.stream_seq).div_ceil(2);
            let ask = || self.api.batch(&subject, middle, 1, BATCH_BYTES);
            let probe = self.patiently(ask).await?;
            // What is damaged, or is not there, lies ahead: the walk reports it.
            let link = probe.first().and_then(|message| {
                let frame = decode(assistant, &found, message).ok()?;
                Some(Link::of(message.seq, &frame))
            });
            match link {
                Some(link) if link.last <= after && link.stream_seq <= high => found = link,
                _ => high = middle - 1,
            }
        }
        Ok(found)
    }
}
