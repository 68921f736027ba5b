//! Reading a log for a memory: pages of events, and the messages that they refer to.

use std::collections::BTreeMap;

use dormouse_contracts::{AssistantId, ReadEvents, Seq, StoredEvent};
use dormouse_memory::LogPosition;

use super::{
    CatchUpError,
    context::{Context, Read, Trigger, hash},
};
use crate::event::{Event, StopReason};

/// How many events are read at a time.
pub(super) const PAGE: usize = 512;
/// How many events to read back at first, to find the tick that contains an event. A usual tick has fewer events; each
/// further attempt reads twice as many. This happens with every message, and its cost is decoding events.
const LOOK_BACK: usize = 16;

/// The log from which a memory reads.
pub(super) struct Log<'a, L: ?Sized> {
    pub(super) events: &'a L,
    pub(super) key: &'a AssistantId,
}

/// The messages that the ticks of a page work on, by sequence number.
pub(super) type Triggers = BTreeMap<Seq, Trigger>;

impl<L: ReadEvents + ?Sized> Log<'_, L> {
    /// The next events after this sequence number, at most `limit`. Empty at the end of the log.
    pub(super) async fn page(&self, after: Seq, limit: usize) -> Result<Vec<Read>, CatchUpError> {
        let stored = self.events.read(self.key, after, limit).await?;
        let events = stored.into_iter().map(Read::of);
        Ok(events.collect::<Result<_, _>>()?)
    }

    /// The messages that the ticks of a page work on. Most are in the page; the others are looked up.
    pub(super) async fn triggers(&self, page: &[Read]) -> Result<Triggers, CatchUpError> {
        let mut triggers = Triggers::new();
        for read in page {
            if let Some(Event::TickStarted(started)) = &read.event
                && !triggers.contains_key(&started.trigger)
                && let Some(trigger) = self.message(started.trigger, page).await?
            {
                triggers.insert(started.trigger, trigger);
            }
        }
        Ok(triggers)
    }

    async fn message(&self, seq: Seq, page: &[Read]) -> Result<Option<Trigger>, CatchUpError> {
        let here = page.iter().find(|read| read.stored.seq == seq);
        if let Some(read) = here {
            return Ok(trigger(read));
        }
        let Some(before) = seq.0.checked_sub(1) else {
            return Ok(None);
        };
        let found = self.events.read(self.key, Seq(before), 1).await?;
        let found = found.into_iter().next().filter(|stored| stored.seq == seq);
        let read = found.map(Read::of).transpose()?;
        Ok(read.as_ref().and_then(trigger))
    }

    /// Whether a memory that has come to this position follows this log.
    ///
    /// # Errors
    ///
    /// [`CatchUpError::Ahead`] if the log ends before it, and [`CatchUpError::OtherLog`] if the log has a different
    /// event there.
    pub(super) async fn check(&self, through: LogPosition) -> Result<(), CatchUpError> {
        let Some(before) = through.seq.checked_sub(1) else {
            return Ok(());
        };
        let found = self.events.read(self.key, Seq(before), 1).await?;
        expect(through, found.first())
    }

    /// The context at `through`. Reads back to the tick before it, and to the tick that intended the open act.
    ///
    /// # Errors
    ///
    /// As [`Log::check`].
    pub(super) async fn context(&self, through: LogPosition) -> Result<Context, CatchUpError> {
        let mut behind = Vec::new();
        let mut end = Seq(through.seq);
        let mut step = LOOK_BACK;
        while end > Seq(0) {
            let start = Seq(end.0.saturating_sub(step as u64));
            let mut page = self.page(start, step).await?;
            page.retain(|read| read.stored.seq <= end);
            if end.0 == through.seq {
                expect(through, page.last().map(|read| &read.stored))?;
            }
            page.append(&mut behind);
            behind = page;
            if says_all(&behind) {
                break;
            }
            end = start;
            step = (2 * step).min(PAGE);
        }
        let triggers = self.last_trigger(&behind).await?;
        let mut context = Context::default();
        for event in behind.iter().filter_map(|read| read.event.as_ref()) {
            context.follow(event, |seq| triggers.get(&seq).cloned());
        }
        Ok(context)
    }

    /// The message of the last tick. Earlier ones do not matter.
    async fn last_trigger(&self, page: &[Read]) -> Result<Triggers, CatchUpError> {
        let mut ticks = page.iter().rev();
        let last = ticks.find(|read| matches!(read.event, Some(Event::TickStarted(_))));
        match last {
            Some(tick) => self.triggers(std::slice::from_ref(tick)).await,
            None => Ok(Triggers::new()),
        }
    }
}

/// Whether these events are enough to determine the context at their end.
fn says_all(events: &[Read]) -> bool {
    let mut newest_first = events.iter().rev().filter_map(|read| read.event.as_ref());
    let has_tick = newest_first
        .clone()
        .any(|event| matches!(event, Event::TickStarted(_)));
    let knows_the_act = newest_first.any(|event| match event {
        Event::EffectIntended(_) | Event::EffectSettled(_) => true,
        // Only a tick that could not reach its world leaves an act to the next tick.
        Event::TickEnded(ended) => ended.reason != StopReason::WorldUnreachable,
        _ => false,
    });
    has_tick && knows_the_act
}

/// Compares what a memory knows of a position with what the log has there.
fn expect(known: LogPosition, found: Option<&StoredEvent>) -> Result<(), CatchUpError> {
    let through = Seq(known.seq);
    match found.filter(|stored| stored.seq == through) {
        None => Err(CatchUpError::Ahead { through }),
        Some(stored) if hash(stored) == known.hash => Ok(()),
        Some(_) => Err(CatchUpError::OtherLog { through }),
    }
}

fn trigger(read: &Read) -> Option<Trigger> {
    if let Some(Event::Perceived(perceived)) = &read.event {
        Some(Trigger::of(read.stored.seq, perceived))
    } else {
        None
    }
}
