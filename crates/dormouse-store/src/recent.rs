//! The newest events of the logs that were written last.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{AssistantId, NewEvent, Seq, StoredEvent};

/// How many ends are known at most.
const KEPT: usize = 1_024;
/// How many bytes of events are kept of one log: the events of a few turns.
const BYTES_OF_LOG: usize = 32 * 1024;
/// How many bytes of events are kept of all logs together.
const BYTES: usize = 1024 * 1024;
/// What an event takes in addition to its payload, in bytes.
const BESIDE_PAYLOAD: usize = 128;

/// The newest events of the logs that were written last. Several readers follow each log, and read each event soon after it
/// was written; such a read needs neither the file nor a thread.
#[derive(Debug, Default)]
pub(crate) struct RecentEvents(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    logs: HashMap<AssistantId, Recent>,
    /// What the events of all of them take.
    bytes: usize,
}

/// The last events of a log, without gaps.
#[derive(Debug, Default)]
struct Recent {
    end: Seq,
    events: VecDeque<StoredEvent>,
    bytes: usize,
}

impl RecentEvents {
    /// The events after `after`, at most `limit`; `None` if only the file knows them.
    pub(crate) fn read(
        &self,
        assistant: &AssistantId,
        after: Seq,
        limit: usize,
    ) -> Option<Vec<StoredEvent>> {
        let known = self.lock();
        let recent = known.logs.get(assistant)?;
        let wanted = usize::try_from(recent.end.0.checked_sub(after.0)?).ok()?;
        let skipped = recent.events.len().checked_sub(wanted)?;
        let found = recent.events.iter().skip(skipped).take(limit);
        Some(found.cloned().collect())
    }

    /// These events are on disk, and they follow event `after` of this log.
    pub(crate) fn committed(&self, assistant: &AssistantId, after: Seq, events: Vec<NewEvent>) {
        let mut known = self.lock();
        let known = &mut *known;
        if known.logs.len() >= KEPT && !known.logs.contains_key(assistant) {
            *known = Known::default();
        }
        let recent = match known.logs.get_mut(assistant) {
            Some(recent) => recent,
            None => known.logs.entry(assistant.clone()).or_default(),
        };
        known.bytes = known.bytes.saturating_sub(recent.bytes);
        if recent.end != after {
            recent.drop_events();
            recent.end = after;
        }
        recent.add(events);
        known.bytes = known.bytes.saturating_add(recent.bytes);
        if known.bytes > BYTES {
            known.logs.values_mut().for_each(Recent::drop_events);
            known.bytes = 0;
        }
    }

    /// Forgets everything, because it is not known what the file contains.
    pub(crate) fn forget(&self) {
        *self.lock() = Known::default();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    fn add(&mut self, events: Vec<NewEvent>) {
        for event in events {
            let NewEvent {
                at,
                kind,
                schema,
                payload,
            } = event;
            self.end = self.end.next();
            self.bytes = self.bytes.saturating_add(BESIDE_PAYLOAD + payload.len());
            self.events.push_back(StoredEvent {
                seq: self.end,
                at,
                kind: kind.to_owned(),
                schema,
                payload,
            });
        }
        while self.bytes > BYTES_OF_LOG
            && let Some(oldest) = self.events.pop_front()
        {
            self.bytes = self
                .bytes
                .saturating_sub(BESIDE_PAYLOAD + oldest.payload.len());
        }
    }

    fn drop_events(&mut self) {
        self.events = VecDeque::new();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Timestamp;

    use super::*;

    fn event(bytes: usize) -> NewEvent {
        NewEvent {
            at: Timestamp::EPOCH,
            kind: "woke",
            schema: 2,
            payload: vec![b' '; bytes.saturating_sub(BESIDE_PAYLOAD)],
        }
    }

    fn key(name: &str) -> AssistantId {
        AssistantId::try_new(name).unwrap()
    }

    fn read(recent: &RecentEvents, name: &str, after: u64) -> Option<Vec<u64>> {
        let found = recent.read(&key(name), Seq(after), 10)?;
        Some(found.into_iter().map(|event| event.seq.0).collect())
    }

    #[test]
    fn events_are_kept_without_gaps_and_only_the_newest() {
        let recent = RecentEvents::default();
        assert_eq!(read(&recent, "rat", 0), None);
        recent.committed(&key("rat"), Seq(7), vec![event(10), event(10)]);
        recent.committed(&key("rat"), Seq(9), vec![event(10)]);
        assert_eq!(read(&recent, "rat", 6), None);
        assert_eq!(read(&recent, "rat", 7), Some(vec![8, 9, 10]));
        assert_eq!(read(&recent, "rat", 10), Some(vec![]));
        assert_eq!(read(&recent, "rat", 11), None, "only the file knows better");
        assert_eq!(recent.read(&key("rat"), Seq(7), 1).unwrap().len(), 1);

        recent.committed(&key("rat"), Seq(10), vec![event(BYTES_OF_LOG)]);
        assert_eq!(read(&recent, "rat", 9), None);
        assert_eq!(read(&recent, "rat", 10), Some(vec![11]));
        recent.committed(&key("rat"), Seq(11), vec![event(BYTES_OF_LOG + 1)]);
        assert_eq!(read(&recent, "rat", 11), None);
        assert_eq!(read(&recent, "rat", 12), Some(vec![]));

        recent.committed(&key("rat"), Seq(20), vec![event(1)]);
        assert_eq!(read(&recent, "rat", 12), None);
        assert_eq!(read(&recent, "rat", 20), Some(vec![21]));
    }

    #[test]
    fn all_logs_together_have_a_bound() {
        let recent = RecentEvents::default();
        for number in 0..=BYTES / BYTES_OF_LOG {
            assert!(recent.lock().bytes <= BYTES);
            recent.committed(
                &key(&format!("rat{number}")),
                Seq::ZERO,
                vec![event(BYTES_OF_LOG)],
            );
        }
        assert_eq!(recent.lock().bytes, 0);
        assert_eq!(read(&recent, "rat0", 0), None);
        assert_eq!(
            read(&recent, "rat0", 1),
            Some(vec![]),
            "where it ends is known"
        );
    }
}
