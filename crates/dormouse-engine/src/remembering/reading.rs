//! Reading a log for a memory: a page of events, with what they refer to.

use std::collections::BTreeMap;

use dormouse_contracts::{AssistantId, ReadEvents, Seq};

use super::{
    CatchUpError,
    context::{Context, Read, Trigger},
};
use crate::event::Event;

/// How many events are read, and taken in, at a time.
pub(super) const PAGE: usize = 512;

/// A log, as a memory reads it.
pub(super) struct Log<'a, L: ?Sized> {
    pub(super) events: &'a L,
    pub(super) key: &'a AssistantId,
}

/// The messages that ticks of a page are about, by place.
pub(super) type Triggers = BTreeMap<Seq, Trigger>;

impl<L: ReadEvents + ?Sized> Log<'_, L> {
    /// The next events after a place. None where the log ends.
    pub(super) async fn page(&self, after: Seq) -> Result<Vec<Read>, CatchUpError> {
        let stored = self.events.read(self.key, after, PAGE).await?;
        let events = stored.into_iter().map(Read::of);
        Ok(events.collect::<Result<_, _>>()?)
    }

    /// The messages that the ticks of a page are about. Most stand in it; the others are looked up.
    pub(super) async fn triggers(&self, page: &[Read]) -> Result<Triggers, CatchUpError> {
        let mut triggers = Triggers::new();
        for read in page {
            if let Event::TickStarted(started) = &read.event
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

    /// What the place `through` is about; goes back to the tick before it.
    ///
    /// # Errors
    ///
    /// [`CatchUpError::Ahead`] if the log ends before that place.
    pub(super) async fn context(&self, through: Seq) -> Result<Context, CatchUpError> {
        let mut behind = Vec::new();
        let mut end = through;
        while end > Seq(0) {
            let start = Seq(end.0.saturating_sub(PAGE as u64));
            let mut page = self.page(start).await?;
            page.retain(|read| read.stored.seq <= end);
            if end == through && page.last().map(|read| read.stored.seq) != Some(through) {
                return Err(CatchUpError::Ahead { through });
            }
            let tick = page
                .iter()
                .any(|read| matches!(read.event, Event::TickStarted(_)));
            page.append(&mut behind);
            behind = page;
            if tick {
                break;
            }
            end = start;
        }
        let triggers = self.last_trigger(&behind).await?;
        let mut context = Context::default();
        for read in &behind {
            context.follow(&read.event, |seq| triggers.get(&seq).cloned());
        }
        Ok(context)
    }

    /// The message of the last tick alone: the ones before do not matter.
    async fn last_trigger(&self, page: &[Read]) -> Result<Triggers, CatchUpError> {
        let mut ticks = page.iter().rev();
        let last = ticks.find(|read| matches!(read.event, Event::TickStarted(_)));
        match last {
            Some(tick) => self.triggers(std::slice::from_ref(tick)).await,
            None => Ok(Triggers::new()),
        }
    }
}

fn trigger(read: &Read) -> Option<Trigger> {
    if let Event::Perceived(perceived) = &read.event {
        Some(Trigger::of(read.stored.seq, perceived))
    } else {
        None
    }
}
