use std::{
    ops::Bound::{self, Excluded, Included, Unbounded},
    sync::Mutex,
};

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, BoxFuture, LoadSnapshot,
    NewEvent, ReadError, ReadEvents, SaveSnapshot, Seq, Snapshot, StoredEvent, Timestamp,
    each_event,
};
use dormouse_testing::{MemoryLog, conformance};

use crate::complaint;

#[tokio::test]
async fn the_log_in_memory_keeps_every_promise() {
    let log = MemoryLog::new();
    conformance::event_log(&log).await;
    conformance::event_log_reopened(&log).await;
}

struct Loss(MemoryLog);

impl conformance::AnswerLoss for Loss {
    fn lose_answers(&self) {
        self.0.lose_next_answers(usize::MAX);
    }

    fn lose_requests(&self) {
        self.0
            .fail_next_appends(usize::MAX, AppendErrorKind::Unknown);
    }

    fn mend(&self) {
        self.0.reopen();
    }
}

#[tokio::test]
async fn the_log_in_memory_writes_nothing_twice_after_a_lost_answer() {
    let log = MemoryLog::new();
    conformance::event_log_in_doubt(&log, &Loss(log.clone())).await;
}

/// A log that takes a repeated request for a new one, or for one that was written.
struct Forgetful {
    inner: MemoryLog,
    appends_again: bool,
}

impl Append for Forgetful {
    fn append(&self, mut request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        let end = Seq(self.inner.events(&request.assistant).len() as u64);
        if self.appends_again {
            request.expected = end;
        } else if request.expected < end {
            let last = request.expected.plus(request.events.len() as u64);
            return Box::pin(async move { Ok(last) });
        }
        self.inner.append(request)
    }
}

impl ReadEvents for Forgetful {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.inner.read(assistant, after, limit)
    }
}

impl SaveSnapshot for Forgetful {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        self.inner.save_snapshot(assistant, snapshot)
    }
}

impl LoadSnapshot for Forgetful {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.inner.load_snapshot(assistant, up_to)
    }
}

#[tokio::test]
async fn a_log_that_writes_twice_or_drops_after_a_lost_answer_is_caught() {
    for (appends_again, expected) in [
        (true, "finds out that it was written"),
        (false, "is an old one"),
    ] {
        let inner = MemoryLog::new();
        let log = Forgetful {
            inner: inner.clone(),
            appends_again,
        };
        let said = complaint(conformance::event_log_in_doubt(&log, &Loss(inner))).await;
        let said = said.unwrap_or_else(|| panic!("{appends_again} was not caught"));
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test]
async fn a_log_that_keeps_only_its_newest_snapshot_keeps_every_promise() {
    let log = Broken::new(Defect::None);
    conformance::event_log(&log).await;
    conformance::event_log_reopened(&log).await;
}

#[tokio::test]
async fn every_event_of_a_range_is_passed_once_and_in_order_over_several_pages() {
    let (log, key) = (MemoryLog::new(), AssistantId::try_new("a").unwrap());
    let event = NewEvent {
        at: Timestamp::EPOCH,
        kind: "woke",
        schema: 1,
        payload: b"{}".to_vec(),
    };
    let request = AppendRequest {
        assistant: key.clone(),
        expected: Seq::ZERO,
        events: vec![event; 1_300],
    };
    log.append(request).await.unwrap();
    let read = async |range: (Bound<u64>, Bound<u64>)| {
        let mut read = Vec::new();
        let range = (range.0.map(Seq), range.1.map(Seq));
        each_event(&log, &key, range, |stored| {
            read.push(stored.seq.0);
            Ok::<_, ReadError>(())
        })
        .await
        .unwrap();
        read
    };
    for (range, first, last) in [
        ((Unbounded, Unbounded), 1, 1_300),
        ((Included(0), Excluded(513)), 1, 512),
        ((Included(512), Included(1_024)), 512, 1_024),
        ((Excluded(1_299), Included(9_999)), 1_300, 1_300),
        ((Included(1_301), Unbounded), 2, 1),
        ((Included(8), Included(7)), 2, 1),
    ] {
        let expected: Vec<u64> = (first..=last).collect();
        assert_eq!(read(range).await, expected, "{range:?}");
    }
}

#[tokio::test]
async fn a_log_that_forgot_everything_is_caught_when_it_is_opened_again() {
    conformance::event_log(&MemoryLog::new()).await;
    let emptied = MemoryLog::new();
    let said = complaint(conformance::event_log_reopened(&emptied)).await;
    assert!(said.unwrap().contains("events of conformance-order"));
}

/// One promise that is broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    IgnoresExpected,
    WritesHalves,
    AcceptsAnyKind,
    SkipsEmptyAppends,
    StartsAtZero,
    ReadsFromIncluding,
    IgnoresLimit,
    DropsPayloadAfter(usize),
    ForgetsTime,
    FoldsCase,
    SharesKeysThatBeginAlike,
    FindsSnapshotsFromTheFuture,
    KeepsFirstSnapshot,
    NeedsItsFuture,
}

/// A log that wraps a correct one and has a defect.
struct Broken {
    inner: MemoryLog,
    defect: Defect,
    newest: Mutex<Vec<(AssistantId, Snapshot)>>,
}

impl Broken {
    fn new(defect: Defect) -> Self {
        Self {
            inner: MemoryLog::new(),
            defect,
            newest: Mutex::default(),
        }
    }

    fn key(&self, assistant: &AssistantId) -> AssistantId {
        let key = assistant.as_str();
        match self.defect {
            Defect::FoldsCase => AssistantId::try_new(key.to_lowercase()).unwrap(),
            Defect::SharesKeysThatBeginAlike => {
                let end = key.trim_end_matches(['-', '.', '0', '1']).len();
                AssistantId::try_new(&key[..end]).unwrap()
            }
            _ => assistant.clone(),
        }
    }

    fn spoil(&self, request: &mut AppendRequest) -> Result<(), AppendErrorKind> {
        request.assistant = self.key(&request.assistant);
        let end = Seq(self.inner.events(&request.assistant).len() as u64);
        match self.defect {
            Defect::SkipsEmptyAppends if request.events.is_empty() => request.expected = end,
            Defect::IgnoresExpected => request.expected = end,
            Defect::AcceptsAnyKind => request.events.iter_mut().for_each(|e| e.kind = "any"),
            Defect::ForgetsTime => request
                .events
                .iter_mut()
                .for_each(|e| e.at = <_>::default()),
            Defect::DropsPayloadAfter(most) => {
                request
                    .events
                    .iter_mut()
                    .for_each(|e| e.payload.truncate(most));
            }
            Defect::WritesHalves if end == request.expected => {
                let good = |event: &&_| kind_is_short(event);
                let written = request.events.iter().take_while(good).count();
                if written < request.events.len() {
                    request.events.truncate(written);
                    return Err(AppendErrorKind::Unacceptable);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn kind_is_short(event: &dormouse_contracts::NewEvent) -> bool {
    event.kind.is_ascii() && (1..=64).contains(&event.kind.len())
}

impl Append for Broken {
    fn append(&self, mut request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(async move {
            if self.defect == Defect::NeedsItsFuture {
                tokio::task::yield_now().await;
            }
            let spoiled = self.spoil(&mut request);
            let answer = self.inner.append(request).await;
            spoiled.map_err(|kind| AppendError::new(kind, None))?;
            answer
        })
    }
}

impl ReadEvents for Broken {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        Box::pin(async move {
            let key = self.key(assistant);
            let limit = match self.defect {
                Defect::IgnoresLimit => usize::MAX,
                _ => limit,
            };
            let after = match self.defect {
                Defect::ReadsFromIncluding => Seq(after.0.saturating_sub(1)),
                _ => after,
            };
            let mut events = self.inner.read(&key, after, limit).await?;
            if self.defect == Defect::StartsAtZero {
                events.iter_mut().for_each(|event| event.seq.0 -= 1);
            }
            Ok(events)
        })
    }
}

impl SaveSnapshot for Broken {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        Box::pin(async move {
            let key = self.key(assistant);
            let mut newest = self.newest.lock().unwrap();
            let known = newest.iter().position(|(of, _)| *of == key);
            match known {
                Some(_) if self.defect == Defect::KeepsFirstSnapshot => {}
                Some(at) => newest[at].1 = snapshot,
                None => newest.push((key, snapshot)),
            }
            Ok(())
        })
    }
}

impl LoadSnapshot for Broken {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        Box::pin(async move {
            let key = self.key(assistant);
            let newest = self.newest.lock().unwrap();
            let found = newest.iter().find(|(of, _)| *of == key);
            let found = found.map(|(_, snapshot)| snapshot.clone());
            Ok(match self.defect {
                Defect::FindsSnapshotsFromTheFuture => found,
                _ => found.filter(|snapshot| snapshot.seq <= up_to),
            })
        })
    }
}

#[tokio::test]
async fn every_broken_promise_is_caught_by_the_check_that_is_about_it() {
    let defects = [
        (Defect::IgnoresExpected, "after the end of an empty log"),
        (Defect::WritesHalves, "events of conformance-whole"),
        (Defect::AcceptsAnyKind, "its kind"),
        (Defect::SkipsEmptyAppends, "is checked even without events"),
        (Defect::StartsAtZero, "in order and without a gap"),
        (Defect::ReadsFromIncluding, "in order and without a gap"),
        (Defect::IgnoresLimit, "at most `limit` events"),
        (
            Defect::DropsPayloadAfter(1 << 19),
            "event 1 of conformance-large",
        ),
        (Defect::ForgetsTime, "its time"),
        (Defect::FoldsCase, "an append that fits"),
        (Defect::SharesKeysThatBeginAlike, "an append that fits"),
        (
            Defect::FindsSnapshotsFromTheFuture,
            "nothing newer may be found",
        ),
        (Defect::KeepsFirstSnapshot, "the newest up to 5"),
        (
            Defect::NeedsItsFuture,
            "whose future is dropped is still written",
        ),
    ];
    for (defect, expected) in defects {
        let log = Broken::new(defect);
        let said = complaint(conformance::event_log(&log)).await;
        let said = said.unwrap_or_else(|| panic!("{defect:?} was not caught"));
        assert!(said.contains(expected), "{defect:?}: {said}");
    }
}
