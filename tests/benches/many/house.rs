//! Assistants that share a process, a log and a world, and one person who pages all of them.

use std::{fs, path::Path, time::Duration};

use dormouse_contracts::{AssistantId, ReadError, Seq, each_event};
use dormouse_host::Resident;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{SHOWN, processor::processor_time, room::Room, said::message};

/// The assistants, awake.
pub(super) struct House {
    room: Room,
    residents: Vec<Resident>,
}

/// What happened within the window.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// How many messages of each assistant were over.
    pub(super) each: Vec<u64>,
    /// From each message until it was over.
    latencies: Vec<Duration>,
    pub(super) processor: Duration,
    pub(super) commits: u64,
    pub(super) syncs: u64,
    /// How many messages there were in all, also before and after the window, their bytes, and those of the log that they left.
    pub(super) said: u64,
    pub(super) asked: u64,
    pub(super) logged: u64,
    /// The length of the log's file at the end.
    pub(super) file: u64,
}

impl Answered {
    /// The latency that so many percent of the messages had at most, in milliseconds.
    pub(super) fn latency(&self, percent: usize) -> f64 {
        let place = self.latencies.len() * percent / 100;
        self.latencies
            .get(place)
            .map_or(0.0, |it| it.as_secs_f64() * 1e3)
    }
}

/// What one assistant did.
#[derive(Debug, Default)]
struct Talk {
    said: u64,
    asked: u64,
    /// Of the messages that were over within the window.
    latencies: Vec<Duration>,
}

impl House {
    /// Wakes so many assistants in a new folder, and measures them for a while after they have answered for another.
    pub(super) async fn answers(
        folder: &Path,
        count: usize,
        times: (Duration, Duration),
    ) -> Answered {
        let house = Self::open(folder, count).await;
        let answered = house.talk(times, || {}).await;
        house.close().await;
        answered
    }

    pub(super) async fn open(folder: &Path, count: usize) -> Self {
        let room = Room::open(folder, SHOWN).await;
        let mut residents = Vec::new();
        for number in 0..count {
            let key = AssistantId::try_new(format!("resident-{number}")).unwrap();
            residents.push(room.wake(&key).await);
        }
        Self { room, residents }
    }

    /// Lets all of them answer at once, one message after the other each. `mark` is called when the window begins and ends.
    pub(super) async fn talk(
        &self,
        (before, window): (Duration, Duration),
        mark: impl Fn(),
    ) -> Answered {
        let mut firsts = Vec::new();
        for resident in &self.residents {
            firsts.push(resident.handle().status().seq);
        }
        let begin = Instant::now() + before;
        let end = begin + window;
        let mut talks = JoinSet::new();
        for (place, resident) in self.residents.iter().enumerate() {
            let talk = talk(self.room.clone(), resident.clone(), (begin, end));
            talks.spawn(async move { (place, talk.await) });
        }
        sleep_until(begin).await;
        mark();
        let (busy, written) = (processor_time(), self.room.host.log().stats());
        sleep_until(end).await;
        let mut answered = Answered {
            processor: processor_time() - busy,
            ..Answered::default()
        };
        let now = self.room.host.log().stats();
        mark();
        (answered.commits, answered.syncs) =
            (now.commits - written.commits, now.syncs - written.syncs);
        answered.each = vec![0; self.residents.len()];
        while let Some(ended) = talks.join_next().await {
            let (place, talk) = ended.unwrap();
            *answered.each.get_mut(place).unwrap() = talk.latencies.len() as u64;
            answered.said += talk.said;
            answered.asked += talk.asked;
            answered.latencies.extend(talk.latencies);
        }
        answered.latencies.sort();
        for (resident, first) in self.residents.iter().zip(firsts) {
            answered.logged += self.logged(resident.key(), first).await;
        }
        answered.file = fs::metadata(self.room.host.folder().log()).unwrap().len();
        answered
    }

    pub(super) async fn close(self) {
        drop(self.residents);
        self.room.host.close().await;
    }

    /// The payloads of the events after this one, in bytes.
    async fn logged(&self, key: &AssistantId, first: Seq) -> u64 {
        let mut bytes = 0;
        let counted = each_event(self.room.host.log(), key, first.next().., |stored| {
            bytes += stored.payload.len() as u64;
            Ok::<_, ReadError>(())
        });
        counted.await.unwrap();
        bytes
    }
}

/// Says one thing after the other until the end. Each is answered, settled and on disk before the next.
async fn talk(room: Room, resident: Resident, (begin, end): (Instant, Instant)) -> Talk {
    let mut talk = Talk::default();
    let before = resident.handle().status().spent.replies;
    while Instant::now() < end {
        talk.said += 1;
        let words = message(talk.said);
        talk.asked += words.len() as u64;
        let started = Instant::now();
        room.exchange(&resident, &words).await;
        let over = Instant::now();
        if begin <= over && over < end {
            talk.latencies.push(over - started);
        }
    }
    let replies = resident.handle().status().spent.replies - before;
    assert!(replies >= talk.said, "each message has a turn");
    talk
}
