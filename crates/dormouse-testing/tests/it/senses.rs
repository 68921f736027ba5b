use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
};

use dormouse_contracts::{
    Audience, BoxFuture, EntityId, Perception, Presence, SenseError, SenseErrorKind, Senses, Words,
    WorldId,
};
use dormouse_testing::{
    FakeSenses, Perceive, conformance,
    conformance::{SensesFixture, SensesLeft},
};

use crate::complaint;

fn id(name: &str) -> EntityId {
    EntityId::try_new(name).unwrap()
}

fn fixture(world: &FakeSenses) -> SensesFixture {
    let world = world.clone();
    SensesFixture {
        observer: id("assistant:dormouse"),
        another: id("assistant:vole"),
        stranger: id("assistant:hatter"),
        happen: Arc::new(move |observer, words| {
            world.deliver(&observer, Perceive::page("Alice", &words));
            Box::pin(async {})
        }),
    }
}

fn fake() -> FakeSenses {
    let world = FakeSenses::new();
    world.enter(&id("assistant:dormouse"));
    world.enter(&id("assistant:vole"));
    world
}

#[tokio::test]
async fn the_fake_senses_keep_every_promise() {
    let world = fake();
    let left = conformance::senses(&world, fixture(&world)).await;
    conformance::senses_reopened(&world, fixture(&world), left).await;
}

/// What a world can get wrong about what it delivers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    NumbersRepeat,
    NumbersWithGaps,
    NumbersFromZero,
    OrderOfNumbersChanged,
    OrderOfWordsChanged,
    NamesAnotherWorld,
    ReadingForgets,
    ReturnsTheNumberItself,
    ReturnsTheNewestFirst,
    IgnoresTheLimit,
    PageOverTheBound,
    PageTooShort,
    WaitOverTheBound,
    PerceptionsOfAnother,
    NumbersOfAnother,
    StrangersPerceive,
    AbsentWhereItIs,
    WaitNeverReturns,
    WaitMissesWhatIsThere,
    WaitReturnsNothing,
    WaitReturnsWhatCameBefore,
    OnlyOneMayWait,
    AcknowledgementIsIgnored,
    AcknowledgementForgetsAll,
    AcknowledgementIsTakenBack,
    AcknowledgementOfAnother,
    AcknowledgementSwallowsWhatFollows,
    LastDeliveryForgetsAcknowledged,
}

/// A world over a proper one whose senses have a defect.
struct Wrong {
    inner: FakeSenses,
    defect: Defect,
    /// Up to where the defective world takes the feed for acknowledged.
    forgotten: AtomicU64,
    somebody_waits: AtomicBool,
}

impl Wrong {
    fn new(defect: Defect) -> Self {
        Self {
            inner: fake(),
            defect,
            forgotten: AtomicU64::new(0),
            somebody_waits: AtomicBool::new(false),
        }
    }

    /// The kept feed after a number, without a bound.
    async fn feed(&self, observer: &EntityId, after: u64) -> Result<Vec<Perception>, SenseError> {
        let number = |it: &Perception| it.attested.delivery.number;
        let mut feed: Vec<Perception> = Vec::new();
        loop {
            let last = feed.last().map_or(after, number);
            let page = self.inner.perceptions(observer, last, 256).await?;
            if page.is_empty() {
                break;
            }
            feed.extend(page);
        }
        if *observer == id("assistant:dormouse") {
            let forgotten = self.forgotten.load(SeqCst);
            feed.retain(|it| number(it) > forgotten);
        }
        Ok(feed)
    }

    fn spoil(&self, page: &mut Vec<Perception>) {
        match self.defect {
            Defect::NumbersRepeat => each(page, |number| number.div_ceil(2)),
            Defect::NumbersWithGaps => each(page, |number| number * 2),
            Defect::NumbersFromZero => each(page, |number| number - 1),
            Defect::OrderOfNumbersChanged => page.reverse(),
            Defect::OrderOfWordsChanged => {
                let words: Vec<Words> = page.iter().rev().map(|it| it.words.clone()).collect();
                for (perception, words) in page.iter_mut().zip(words) {
                    perception.words = words;
                }
            }
            Defect::NamesAnotherWorld => {
                for perception in page {
                    perception.attested.delivery.world = WorldId::try_new("another").unwrap();
                }
            }
            _ => {}
        }
    }

    async fn page(
        &self,
        observer: &EntityId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Perception>, SenseError> {
        let feed = self.feed(observer, after).await?;
        let mut page: Vec<_> = feed.iter().take(limit.min(256)).cloned().collect();
        match self.defect {
            Defect::IgnoresTheLimit => page.clone_from(&feed),
            Defect::PageOverTheBound => page = feed.iter().take(limit).cloned().collect(),
            Defect::PageTooShort => page.truncate(100),
            Defect::ReturnsTheNewestFirst => {
                page = feed[feed.len().saturating_sub(limit)..].to_vec();
            }
            Defect::ReturnsTheNumberItself => {
                page = self.feed(observer, after.saturating_sub(1)).await?;
            }
            Defect::PerceptionsOfAnother => {
                let vole = id("assistant:vole");
                let last = self.inner.last_delivery(observer).await?;
                let mut heard = self.feed(&vole, 0).await?;
                each(&mut heard, |number| last + number);
                page.extend(heard);
            }
            Defect::NumbersOfAnother => {
                let others = self.inner.last_delivery(&id("assistant:vole")).await?;
                if *observer != id("assistant:vole") {
                    each(&mut page, |number| number + others);
                }
            }
            Defect::ReadingForgets => {
                let last = page.last().map_or(0, |it| it.attested.delivery.number);
                self.inner.acknowledge(observer, last).await?;
            }
            _ => {}
        }
        self.spoil(&mut page);
        Ok(page)
    }
}

fn each(page: &mut [Perception], number: impl Fn(u64) -> u64) {
    for perception in page {
        let delivery = &mut perception.attested.delivery;
        delivery.number = number(delivery.number);
    }
}

impl Senses for Wrong {
    fn id(&self) -> &WorldId {
        self.inner.id()
    }

    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            match self.page(observer, after, limit).await {
                Err(error)
                    if self.defect == Defect::StrangersPerceive
                        && error.kind() == SenseErrorKind::NotPresent =>
                {
                    Ok(Vec::new())
                }
                answer => answer,
            }
        })
    }

    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            let there = self.page(observer, after, 256).await?;
            match self.defect {
                Defect::WaitMissesWhatIsThere => pending().await,
                Defect::WaitNeverReturns if there.is_empty() => pending().await,
                Defect::WaitReturnsNothing => Ok(there),
                Defect::WaitReturnsWhatCameBefore => self.page(observer, 0, 256).await,
                Defect::WaitOverTheBound => {
                    self.inner.await_perceptions(observer, after).await?;
                    self.feed(observer, after).await
                }
                Defect::OnlyOneMayWait if there.is_empty() => {
                    if self.somebody_waits.swap(true, SeqCst) {
                        pending().await
                    }
                    self.inner.await_perceptions(observer, after).await
                }
                _ => {
                    let mut awaited = self.inner.await_perceptions(observer, after).await?;
                    self.spoil(&mut awaited);
                    Ok(awaited)
                }
            }
        })
    }

    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>> {
        Box::pin(async move {
            let last = self.inner.last_delivery(observer).await?;
            match self.defect {
                Defect::AcknowledgementIsIgnored => {}
                Defect::AcknowledgementForgetsAll => self.forgotten.store(last, SeqCst),
                Defect::AcknowledgementIsTakenBack => {
                    self.forgotten.store(up_to.min(last), SeqCst);
                }
                Defect::AcknowledgementSwallowsWhatFollows => {
                    self.forgotten.fetch_max(up_to, SeqCst);
                }
                Defect::AcknowledgementOfAnother => {
                    for one in [observer, &id("assistant:vole")] {
                        self.inner.acknowledge(one, up_to).await?;
                    }
                }
                _ => self.inner.acknowledge(observer, up_to).await?,
            }
            Ok(())
        })
    }

    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>> {
        Box::pin(async move {
            let last = self.inner.last_delivery(observer).await?;
            if self.defect == Defect::LastDeliveryForgetsAcknowledged {
                let acknowledged = self.inner.acknowledged(observer);
                return Ok(last - acknowledged);
            }
            Ok(last)
        })
    }

    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>> {
        Box::pin(async move {
            let mut presence = self.inner.presence(observer).await?;
            if self.defect == Defect::AbsentWhereItIs {
                presence.audience = Some(Audience::nobody());
            }
            Ok(presence)
        })
    }
}

#[tokio::test]
async fn every_wrong_world_is_caught_by_the_check_that_is_about_it() {
    let numbered = "one after the other, without gaps and repetitions";
    let defects = [
        (Defect::NumbersRepeat, numbered),
        (Defect::NumbersWithGaps, numbered),
        (Defect::NumbersFromZero, "only what comes after the number"),
        (Defect::OrderOfNumbersChanged, numbered),
        (Defect::OrderOfWordsChanged, "the order in which things"),
        (Defect::NamesAnotherWorld, "names its world"),
        (Defect::ReadingForgets, "reading changes nothing"),
        (Defect::ReturnsTheNumberItself, "only what comes after"),
        (Defect::ReturnsTheNewestFirst, "as many entries as asked"),
        (Defect::IgnoresTheLimit, "as many entries as asked"),
        (Defect::PageOverTheBound, "a page has at most 256"),
        (Defect::PageTooShort, "a page has at most 256"),
        (Defect::WaitOverTheBound, "a wait returns at most 256"),
        (Defect::PerceptionsOfAnother, "only another perceives"),
        (Defect::NumbersOfAnother, "its own numbers"),
        (
            Defect::StrangersPerceive,
            "an observer that is not in this world",
        ),
        (Defect::AbsentWhereItIs, "among those who perceive"),
        (Defect::WaitNeverReturns, "every wait returns when"),
        (Defect::WaitMissesWhatIsThere, "what is there already"),
        (Defect::WaitReturnsNothing, "does not return before"),
        (Defect::WaitReturnsWhatCameBefore, "what is there already"),
        (Defect::OnlyOneMayWait, "every wait returns when"),
        (Defect::AcknowledgementIsIgnored, "is not delivered again"),
        (Defect::AcknowledgementForgetsAll, "acknowledged is kept"),
        (Defect::AcknowledgementIsTakenBack, "is not taken back"),
        (
            Defect::AcknowledgementOfAnother,
            "affects only its own observer",
        ),
        (
            Defect::AcknowledgementSwallowsWhatFollows,
            "what happens after an acknowledgement",
        ),
        (
            Defect::LastDeliveryForgetsAcknowledged,
            "counts those that were acknowledged",
        ),
    ];
    let mut missed = Vec::new();
    for (defect, expected) in defects {
        let world = Wrong::new(defect);
        let suite = conformance::senses(&world, fixture(&world.inner));
        let said = complaint(async { drop(suite.await) }).await;
        if !said.as_ref().is_some_and(|said| said.contains(expected)) {
            missed.push((defect, said));
        }
    }
    assert_eq!(missed, [], "caught for another reason, or not at all");
}

/// What a world can get wrong about a restart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Restart {
    IdIsNew,
    NumberingBeginsAnew,
    LastNumberIsUsedAgain,
    ForgetsWhatWasNotAcknowledged,
}

/// The world of a fixture after a bad restart.
struct Restarted {
    inner: FakeSenses,
    restart: Restart,
    id: WorldId,
}

impl Restarted {
    fn spoilt(&self, mut page: Vec<Perception>) -> Vec<Perception> {
        match self.restart {
            Restart::ForgetsWhatWasNotAcknowledged => page.clear(),
            Restart::LastNumberIsUsedAgain => {
                for perception in &mut page {
                    if perception.words.as_claimed().contains("after a restart") {
                        perception.attested.delivery.number -= 1;
                    }
                }
            }
            Restart::IdIsNew | Restart::NumberingBeginsAnew => {}
        }
        page
    }
}

impl Senses for Restarted {
    fn id(&self) -> &WorldId {
        match self.restart {
            Restart::IdIsNew => &self.id,
            _ => self.inner.id(),
        }
    }

    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            let page = self.inner.perceptions(observer, after, limit).await?;
            let mut page = self.spoilt(page);
            page.retain(|it| it.attested.delivery.number > after);
            Ok(page)
        })
    }

    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        self.inner.await_perceptions(observer, after)
    }

    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>> {
        self.inner.acknowledge(observer, up_to)
    }

    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>> {
        Box::pin(async move {
            let last = self.inner.last_delivery(observer).await?;
            Ok(match self.restart {
                Restart::NumberingBeginsAnew => 0,
                _ => last,
            })
        })
    }

    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>> {
        self.inner.presence(observer)
    }
}

#[tokio::test]
async fn every_wrong_restart_is_caught_by_the_check_that_is_about_it() {
    for (restart, expected) in [
        (Restart::IdIsNew, "the same id after a restart"),
        (Restart::NumberingBeginsAnew, "the numbering goes on"),
        (Restart::LastNumberIsUsedAgain, "is not used again"),
        (
            Restart::ForgetsWhatWasNotAcknowledged,
            "kept over a restart",
        ),
    ] {
        let inner = fake();
        let left: SensesLeft = conformance::senses(&inner, fixture(&inner)).await;
        let world = Restarted {
            inner: inner.clone(),
            restart,
            id: WorldId::try_new("another").unwrap(),
        };
        let suite = conformance::senses_reopened(&world, fixture(&inner), left);
        let said = complaint(suite).await;
        let said = said.unwrap_or_else(|| panic!("{restart:?} was not caught"));
        assert!(said.contains(expected), "{restart:?}: {said}");
    }
}
