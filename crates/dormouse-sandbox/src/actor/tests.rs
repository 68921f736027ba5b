//! What is left of a change when the disk fails under it.

use std::{
    io,
    path::Path,
    pin::Pin,
    sync::{Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use dormouse_contracts::{
    AssistantId, Effect, EffectInquiry, EffectKey, EntityId, Inquire, Outcome, Perform, Senses,
    Timestamp, ToolName, Words,
};
use dormouse_database::DatabaseSource;
use dormouse_testing::ManualClock;
use redb::StorageBackend;
use serde_json::json;

use super::*;
use crate::{
    Act, ActError, Character, CharacterKind, Sandbox,
    file::{KIND, write_tables},
};

/// A disk that can fail. Its bytes outlive its handles.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Platter>>);

#[derive(Debug, Default)]
struct Platter {
    bytes: Vec<u8>,
    syncs: u64,
    /// How many writing operations still succeed; without end if none.
    left: Option<u64>,
    /// Whether more than one operation fails.
    lasting: bool,
    /// How long the file may get, in bytes; without end if none.
    room: Option<u64>,
    /// The number of the error by which operations fail; that of a full disk if none.
    errno: Option<i32>,
}

impl Disk {
    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap()
    }

    /// Fails for good after so many operations.
    fn fail_after(&self, operations: u64) {
        let mut platter = self.platter();
        (platter.left, platter.lasting) = (Some(operations), true);
    }

    /// Fails one operation after so many.
    fn fail_once_after(&self, operations: u64) {
        let mut platter = self.platter();
        (platter.left, platter.lasting) = (Some(operations), false);
    }

    fn mend(&self) {
        self.platter().left = None;
    }

    /// A world on this disk.
    fn world(&self) -> Sandbox {
        let clock = ManualClock::new(Timestamp::EPOCH);
        let create = |writing: &_| write_tables(writing, Timestamp::EPOCH);
        let database = DatabaseHandle::on(Box::new(self.clone()), &KIND, create).unwrap();
        Sandbox::start(Path::new("disk"), database, Arc::new(clock)).unwrap()
    }

    /// Another disk with the same bytes, on which everything works.
    fn copy(&self) -> Self {
        let bytes = self.platter().bytes.clone();
        Self(Arc::new(Mutex::new(Platter {
            bytes,
            ..Platter::default()
        })))
    }
}

impl DatabaseSource for Disk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.clone()))
    }

    fn snapshot(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.copy()))
    }
}

impl Platter {
    fn use_up(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => {
                self.left = self.left.filter(|_| self.lasting);
                Err(io::Error::from_raw_os_error(self.errno.unwrap_or(28)))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let platter = self.platter();
        let found = platter.bytes.get(start..start + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut platter = self.platter();
        platter.use_up()?;
        if platter.room.is_some_and(|room| len > room) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        platter.bytes.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut platter = self.platter();
        platter.use_up()?;
        platter.syncs += 1;
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        platter.use_up()?;
        let start = offset as usize;
        platter.bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }
}

fn id(text: &str) -> EntityId {
    EntityId::try_new(text).unwrap()
}

fn effect(key: &str) -> Effect {
    Effect {
        key: EffectKey::try_new(key).unwrap(),
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: ToolName::try_new("say").unwrap(),
        arguments: json!({ "message": key }).as_object().unwrap().clone(),
        reply_to: None,
        within: None,
    }
}

async fn move_in(world: &Sandbox) {
    let dormouse = CharacterKind::Assistant(AssistantId::try_new("dormouse").unwrap());
    for (name, kind) in [("Alice", CharacterKind::Player), ("Dormouse", dormouse)] {
        let name = name.to_owned();
        world
            .join(Character {
                id: id(&name),
                name,
                kind,
            })
            .await
            .unwrap();
    }
}

async fn heard(world: &Sandbox, key: &str) -> usize {
    let feed = world.perceptions(&id("Alice"), 0, 100).await.unwrap();
    for (entry, number) in feed.iter().zip(1..) {
        assert_eq!(
            entry.attested.delivery.number, number,
            "the numbers have no gap"
        );
    }
    feed.iter()
        .filter(|entry| entry.words.as_claimed() == key)
        .count()
}

/// Lets the disk fail at every operation of an effect in turn; answers how often the world said that nothing
/// happened, and how often that it cannot tell.
async fn fail_at_every_operation(fail: fn(&Disk, u64)) -> (u32, u32) {
    let disk = Disk::default();
    let world = disk.world();
    move_in(&world).await;
    let (mut nothing, mut unclear) = (0, 0);
    for operations in 0.. {
        let key = format!("effect {operations}");
        let effect = effect(&key);
        fail(&disk, operations);
        let first = world.perform(&effect).await;
        disk.mend();

        let told = world.inquire(&effect).await.unwrap();
        let done = match first {
            Ok(Outcome::Done(receipt)) => {
                assert_eq!(told, EffectInquiry::Done(receipt));
                true
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) if error.kind() == WorldErrorKind::NotReached => {
                assert_eq!(told, EffectInquiry::NeverSeen, "{operations} operations");
                assert_eq!(heard(&world, &key).await, 0);
                nothing += 1;
                false
            }
            Err(error) => {
                assert_eq!(error.kind(), WorldErrorKind::Unanswered);
                unclear += 1;
                false
            }
        };
        assert!(matches!(world.perform(&effect).await, Ok(Outcome::Done(_))));
        assert_eq!(heard(&world, &key).await, 1, "{operations} operations");
        if done {
            break;
        }
    }
    (nothing, unclear)
}

#[tokio::test]
async fn wherever_the_disk_fails_once_the_world_knows_that_nothing_happened_and_goes_on() {
    let (nothing, _) = fail_at_every_operation(Disk::fail_once_after).await;
    assert!(nothing > 0);
}

#[tokio::test]
async fn wherever_the_disk_fails_for_good_an_effect_happens_once_when_it_is_mended() {
    let (_, unclear) = fail_at_every_operation(Disk::fail_after).await;
    assert!(unclear > 0);
}

#[tokio::test]
async fn a_full_disk_refuses_changes_answers_questions_and_takes_up_again_when_there_is_room() {
    let disk = Disk::default();
    let world = disk.world();
    move_in(&world).await;
    let room = disk.platter().bytes.len() as u64 + (1 << 20);
    disk.platter().room = Some(room);
    let say = || Act::Say(Words::try_new("x".repeat(Words::LIMIT)).unwrap());
    let (alice, dormouse) = (id("Alice"), id("Dormouse"));
    let mut said = 0;
    let refused = loop {
        match world.act(&alice, say()).await {
            Ok(_) => said += 1,
            Err(refused) => break refused,
        }
    };
    assert!(
        matches!(&refused, ActError::World(error) if error.kind() == WorldErrorKind::NotReached),
        "{refused:?}"
    );
    assert_eq!(
        world.perceptions(&dormouse, 0, 256).await.unwrap().len(),
        said
    );
    disk.platter().room = None;
    let next = world.act(&alice, say()).await.unwrap();
    assert_eq!(next.deliveries, [(dormouse, said as u64 + 1)]);
}

#[tokio::test]
async fn while_the_disk_is_full_acts_fail_and_nobody_has_moved() {
    let disk = Disk::default();
    let world = disk.world();
    move_in(&world).await;
    let up = || Act::Move {
        direction: "up".to_owned(),
    };
    disk.fail_after(0);
    for _ in 0..3 {
        let moved = world.act(&id("Alice"), up()).await;
        assert!(matches!(moved, Err(ActError::World(_))), "{moved:?}");
    }
    disk.mend();
    let said = Act::Say(Words::try_new("still here").unwrap());
    let said = world.act(&id("Alice"), said).await.unwrap();
    assert_eq!(said.deliveries, [(id("Dormouse"), 1)]);
    world.act(&id("Alice"), up()).await.unwrap();
}

#[tokio::test]
async fn a_feed_that_is_awaited_is_answered_after_a_failure_too() {
    let disk = Disk::default();
    let world = disk.world();
    move_in(&world).await;
    let alice = id("Alice");
    let mut waits = Box::pin(world.await_perceptions(&alice, 1));
    for _ in 0..4 {
        // The world answers in order, so the wait's own questions are answered before this one is.
        tokio::select! {
            biased;
            over = &mut waits => panic!("{over:?}"),
            asked = world.effects(0) => drop(asked.unwrap()),
        }
    }
    disk.fail_after(0);
    world.perform(&effect("lost")).await.unwrap_err();
    disk.mend();
    world.perform(&effect("heard")).await.unwrap();
    assert_eq!(waits.await.unwrap()[0].words.as_claimed(), "heard");
}

#[tokio::test]
async fn effects_that_wait_together_share_a_commit() {
    let disk = Disk::default();
    let world = disk.world();
    move_in(&world).await;
    let syncs = || disk.platter().syncs;
    let before = syncs();
    world.perform(&effect("alone")).await.unwrap();
    let of_one = syncs() - before;

    let before = syncs();
    let effects: Vec<_> = (0..20).map(|number| effect(&format!("{number}"))).collect();
    let mut waiting: Vec<_> = effects.iter().map(|effect| world.perform(effect)).collect();
    send_all_while_the_disk_stands_still(&disk, &mut waiting);
    for done in waiting {
        assert!(matches!(done.await, Ok(Outcome::Done(_))));
    }
    // The first may have gone alone.
    assert!(
        syncs() - before <= 2 * of_one,
        "{} for {of_one}",
        syncs() - before
    );
    assert!(of_one > 0);
}

#[tokio::test]
async fn what_is_in_memory_is_known_without_the_thread_unless_it_is_at_work() {
    let world = Disk::default().world();
    move_in(&world).await;
    let alice = id("Alice");
    let begin = |looking: &mut (dyn Future<Output = _> + Unpin)| {
        Pin::new(looking).poll(&mut Context::from_waker(Waker::noop()))
    };
    let known = begin(&mut world.presence(&alice));
    let Poll::Ready(Ok(known)) = known else {
        panic!("{known:?}");
    };

    let (begun, has_begun) = std::sync::mpsc::channel();
    let (end, may_end) = std::sync::mpsc::channel::<()>();
    let mut at_work = Box::pin(world.moment(move || {
        begun.send(()).unwrap();
        may_end.recv().unwrap();
    }));
    assert!(
        at_work
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    has_begun.recv().unwrap();
    let mut looking = world.presence(&alice);
    assert!(begin(&mut looking).is_pending());
    end.send(()).unwrap();
    at_work.await.unwrap();
    assert_eq!(looking.await.unwrap(), known);
}

fn send_all_while_the_disk_stands_still<F: Future + Unpin>(disk: &Disk, waiting: &mut [F]) {
    let _held = disk.platter();
    for one in waiting {
        let polled = Pin::new(one).poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }
}

#[tokio::test]
async fn while_the_disk_keeps_failing_the_world_still_knows_what_happened() {
    for (errno, said) in [
        (5, "Input/output error"),
        (28, "No space left on device"),
        (30, "Read-only file system"),
    ] {
        keep_failing(errno, said).await;
    }
}

async fn keep_failing(errno: i32, said: &str) {
    for operations in 0.. {
        let disk = Disk::default();
        let world = disk.world();
        move_in(&world).await;
        let effect = effect("tea");
        disk.platter().errno = Some(errno);
        disk.fail_after(operations);
        let first = world.perform(&effect).await;
        // The disk still fails, but a query writes nothing.
        let told = world.inquire(&effect).await.unwrap();
        let feed = world.perceptions(&id("Alice"), 0, 100).await.unwrap();
        match &first {
            Ok(_) => return,
            Err(error) if error.kind() == WorldErrorKind::NotReached => {
                assert_eq!(told, EffectInquiry::NeverSeen, "{operations} operations");
                assert_eq!(feed.len(), 1, "nobody has heard it");
                let again = world.perform(&effect).await.unwrap_err();
                assert_eq!(again.kind(), WorldErrorKind::NotReached);
                assert!(chain(&again).contains(said), "{}", chain(&again));
            }
            Err(_) => {
                assert!(
                    matches!(told, EffectInquiry::Done(_)),
                    "{operations} operations"
                );
                assert_eq!(feed.len(), 2);
            }
        }
        disk.mend();
        assert!(matches!(world.perform(&effect).await, Ok(Outcome::Done(_))));
        assert_eq!(heard(&world, "tea").await, 1, "{operations} operations");
    }
}

/// An error with everything that led to it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
