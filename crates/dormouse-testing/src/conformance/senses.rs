//! The promises of what a world delivers.

mod acknowledging;
mod numbers;
mod waiting;

use std::{fmt, sync::Arc};

use dormouse_contracts::{
    BoxFuture, EntityId, PERCEPTIONS_PAGE, Perception, SenseErrorKind, Senses, WorldId,
};

/// Lets an observer, and nobody else, perceive these words.
type Happen = Arc<dyn Fn(EntityId, String) -> BoxFuture<'static, ()> + Send + Sync>;

/// What the suite needs to know about a world.
#[derive(Clone)]
pub struct SensesFixture {
    /// Somebody who perceives. No entry of its feed was acknowledged yet.
    pub observer: EntityId,
    /// Somebody else who perceives.
    pub another: EntityId,
    /// Somebody who is not in this world.
    pub stranger: EntityId,
    /// Lets only one of the two perceive something that contains these words. The perception can be read when the
    /// future is ready. Calls may run at the same time.
    pub happen: Happen,
}

impl fmt::Debug for SensesFixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SensesFixture")
            .field("observer", &self.observer)
            .field("another", &self.another)
            .field("stranger", &self.stranger)
            .finish_non_exhaustive()
    }
}

/// What [`senses()`] leaves behind, for [`senses_reopened`] to find.
#[derive(Clone, Debug)]
pub struct SensesLeft {
    world: WorldId,
    last: u64,
    kept: Vec<Perception>,
}

/// Checks the promises of [`Senses`].
///
/// Lets about 290 things happen to two observers. The world must be reachable, and nothing else may happen to these two
/// meanwhile. If a wait is still pending after 1,000 further calls to the world, the suite assumes that it does not
/// return. Other tasks run between these calls.
///
/// To check what the world keeps over a restart, close and open it, and then await [`senses_reopened`].
///
/// # Panics
///
/// At the first broken promise.
pub async fn senses(senses: &dyn Senses, fixture: SensesFixture) -> SensesLeft {
    let at = Checked { senses, fixture };
    at.strangers_have_no_senses().await;
    at.who_is_there_perceives_what_is_said_there().await;
    at.deliveries_are_numbered_in_order().await;
    at.a_feed_is_read_from_any_number().await;
    at.pages_are_bounded_and_follow_each_other().await;
    at.feeds_are_apart().await;
    at.waits_return_when_something_happens().await;
    at.acknowledged_deliveries_are_gone_and_the_others_stay()
        .await;
    at.left().await
}

/// Checks that a world that was closed and opened again keeps what [`senses()`] left.
///
/// # Panics
///
/// If a delivery is missing or different, or a number is used twice.
pub async fn senses_reopened(senses: &dyn Senses, fixture: SensesFixture, left: SensesLeft) {
    let at = Checked { senses, fixture };
    assert_eq!(
        *senses.id(),
        left.world,
        "a world has the same id after a restart"
    );
    assert_eq!(
        at.last().await,
        left.last,
        "the numbering goes on after a restart"
    );
    let kept = at.all().await;
    let kept: Vec<_> = (kept.into_iter())
        // An acknowledgement may be lost in the restart, so earlier perceptions may be delivered again.
        .skip_while(|it| Some(number(it)) < left.kept.first().map(number))
        .collect();
    assert_eq!(
        kept, left.kept,
        "what was not acknowledged is kept over a restart"
    );
    at.happens("after a restart").await;
    let new = at.read(left.last, 2).await;
    assert_eq!(
        new.iter().map(number).collect::<Vec<_>>(),
        [left.last + 1],
        "a number is not used again after a restart"
    );
}

fn number(perception: &Perception) -> u64 {
    perception.attested.delivery.number
}

fn numbers_of(perceived: &[Perception]) -> Vec<u64> {
    perceived.iter().map(number).collect()
}

/// A world while it is checked.
struct Checked<'a> {
    senses: &'a dyn Senses,
    fixture: SensesFixture,
}

impl Checked<'_> {
    async fn happens(&self, words: &str) {
        self.happens_to(&self.fixture.observer, words).await;
    }

    async fn happens_to(&self, observer: &EntityId, words: &str) {
        (self.fixture.happen)(observer.clone(), format!("conformance: {words}")).await;
    }

    async fn read(&self, after: u64, limit: usize) -> Vec<Perception> {
        self.read_of(&self.fixture.observer, after, limit).await
    }

    async fn read_of(&self, observer: &EntityId, after: u64, limit: usize) -> Vec<Perception> {
        let read = self.senses.perceptions(observer, after, limit).await;
        let read = read.unwrap();
        assert!(
            read.iter().all(|it| number(it) > after),
            "only what comes after the number is returned: {:?} after {after}",
            numbers_of(&read)
        );
        read
    }

    /// Everything that is kept, page by page.
    async fn all(&self) -> Vec<Perception> {
        let mut all: Vec<Perception> = Vec::new();
        loop {
            let after = all.last().map_or(0, number);
            let page = self.read(after, usize::MAX).await;
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    async fn last(&self) -> u64 {
        self.last_of(&self.fixture.observer).await
    }

    async fn last_of(&self, observer: &EntityId) -> u64 {
        self.senses.last_delivery(observer).await.unwrap()
    }

    async fn acknowledge(&self, up_to: u64) {
        let observer = &self.fixture.observer;
        self.senses.acknowledge(observer, up_to).await.unwrap();
    }

    async fn strangers_have_no_senses(&self) {
        let stranger = &self.fixture.stranger;
        let kinds = [
            (self.senses.perceptions(stranger, 0, 1).await).map(drop),
            (self.senses.await_perceptions(stranger, 0).await).map(drop),
            self.senses.acknowledge(stranger, 1).await,
            (self.senses.last_delivery(stranger).await).map(drop),
            (self.senses.presence(stranger).await).map(drop),
        ];
        for kind in kinds.map(|answer| answer.map_err(|error| error.kind())) {
            assert_eq!(
                kind,
                Err(SenseErrorKind::NotPresent),
                "an observer that is not in this world gets `NotPresent`"
            );
        }
    }

    async fn who_is_there_perceives_what_is_said_there(&self) {
        for observer in [&self.fixture.observer, &self.fixture.another] {
            let presence = self.senses.presence(observer).await.unwrap();
            let includes = presence.audience.and_then(|all| all.includes(observer));
            assert_ne!(
                includes,
                Some(false),
                "an observer is among those who perceive what is said where it is"
            );
        }
    }

    async fn left(&self) -> SensesLeft {
        for nth in 1..=3 {
            self.happens(&format!("before a restart {nth}")).await;
        }
        let last = self.last().await;
        self.acknowledge(last - 2).await;
        let kept = self.all().await;
        assert_eq!(
            numbers_of(&kept),
            [last - 1, last],
            "what was not acknowledged is kept"
        );
        SensesLeft {
            world: self.senses.id().clone(),
            last,
            kept,
        }
    }
}

/// How many perceptions the suite causes to fill more than a page.
const MANY: usize = PERCEPTIONS_PAGE + 4;
