//! The promises of a world.

mod feed;
mod listener;

use std::fmt;

use dormouse_contracts::{
    Effect, EffectInquiry, EffectKey, Outcome, Query, Receipt, Rejection, World, WorldError,
    WorldErrorKind,
};
pub use feed::FeedFixture;
use futures_util::{FutureExt, future::join_all};
pub use listener::ListenerFixture;
use serde_json::Value;

/// What the suite needs to know about a world.
#[derive(Clone)]
pub struct WorldFixture {
    /// Creates an effect that the world carries out, with the given key. The suite uses keys that begin with
    /// `conformance`.
    pub effect: fn(EffectKey) -> Effect,
    /// An effect that the world rejects. No other effect has its key.
    pub refused: Effect,
    /// A query whose answer stays the same while nothing happens. The suite detects most if the answer shows whether
    /// `effect` was carried out twice.
    pub query: Query,
    /// How to read what the actor of the effects perceives; `None` if this world delivers no perceptions.
    pub feed: Option<FeedFixture>,
    /// Somebody who perceives words of the actor; `None` if nobody does in this world.
    pub listener: Option<ListenerFixture>,
}

impl fmt::Debug for WorldFixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldFixture")
            .field("refused", &self.refused)
            .field("query", &self.query)
            .field("feed", &self.feed)
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

/// Checks the promises of [`Perform`](dormouse_contracts::Perform), [`Observe`](dormouse_contracts::Observe) and
/// [`Inquire`](dormouse_contracts::Inquire).
///
/// If the world has a feed, also checks what the actor perceives of its own effects: see [`FeedFixture`]. If somebody
/// perceives the actor's words, also checks that nobody else does: see [`ListenerFixture`].
///
/// Carries out four effects, three more if there is a feed, and one more if there is a listener. The world must be
/// reachable, and nobody else may change it meanwhile. To check what the world remembers after a restart, close and
/// open it, and then await [`world_reopened`].
///
/// A world without records of its effects may answer [`EffectInquiry::CannotTell`] to every inquiry and
/// [`WorldErrorKind::Unanswered`] to an effect it may have seen.
///
/// # Panics
///
/// At the first broken promise.
pub async fn world(world: &dyn World, fixture: WorldFixture) {
    queries_change_nothing(world, &fixture).await;
    asking_does_not_carry_out(world, &fixture).await;
    effects_happen_once_for_their_key(world, &fixture).await;
    another_key_is_another_effect(world, &fixture).await;
    racing_calls_have_one_outcome(world, &fixture).await;
    dropped_calls_can_be_asked_after(world, &fixture).await;
    refusals_are_final(world, &fixture).await;
    if let Some(feed) = &fixture.feed {
        feed::own_effects_are_attested(world, feed).await;
    }
    if let Some(listener) = &fixture.listener {
        listener::words_reach_only_whom_they_may(world, listener).await;
    }
}

/// Checks that a world that was closed and opened again remembers what [`world()`] did.
///
/// # Panics
///
/// If an effect has another outcome than before, or happens again.
pub async fn world_reopened(world: &dyn World, fixture: WorldFixture) {
    let effect = (fixture.effect)(key(ONCE));
    let before = look(world, &fixture).await;
    let answer = inquire(world, &effect).await;
    assert!(
        matches!(answer, EffectInquiry::Done(_) | EffectInquiry::CannotTell),
        "a performed effect is remembered: {answer:?}"
    );
    if let EffectInquiry::Done(receipt) = answer {
        repeat_done(world, &effect, &receipt).await;
    }
    let after = look(world, &fixture).await;
    assert_eq!(after, before, "nothing happens again");
}

const ONCE: &str = "conformance/once";
const ANOTHER: &str = "conformance/another";
const RACE: &str = "conformance/race";
const DROPPED: &str = "conformance/dropped";
const NEVER: &str = "conformance/never";

pub(super) fn key(text: &str) -> EffectKey {
    EffectKey::try_new(text).unwrap()
}

async fn queries_change_nothing(world: &dyn World, fixture: &WorldFixture) {
    let first = look(world, fixture).await;
    let second = look(world, fixture).await;
    assert_eq!(first, second, "a query changes nothing that a query shows");
}

async fn asking_does_not_carry_out(world: &dyn World, fixture: &WorldFixture) {
    let never = (fixture.effect)(key(NEVER));
    for _ in 0..2 {
        let answer = inquire(world, &never).await;
        assert!(
            matches!(answer, EffectInquiry::NeverSeen | EffectInquiry::CannotTell),
            "this effect was never requested: {answer:?}"
        );
    }
}

async fn effects_happen_once_for_their_key(world: &dyn World, fixture: &WorldFixture) {
    let effect = (fixture.effect)(key(ONCE));
    assert_eq!(
        effect.key,
        key(ONCE),
        "the fixture uses the key it is given"
    );
    let answer = inquire(world, &effect).await;
    assert!(
        matches!(answer, EffectInquiry::NeverSeen | EffectInquiry::CannotTell),
        "the suite needs a world that has not seen the effect: {answer:?}"
    );
    let receipt = carry_out(world, &effect).await;
    let after = look(world, fixture).await;
    for _ in 0..3 {
        repeat_done(world, &effect, &receipt).await;
        let answer = inquire(world, &effect).await;
        assert!(
            answer == EffectInquiry::Done(receipt.clone()) || answer == EffectInquiry::CannotTell,
            "an inquiry returns the outcome of the effect: {answer:?}"
        );
    }
    let seen = look(world, fixture).await;
    assert_eq!(seen, after, "the effect happened once, and shows once");
}

async fn another_key_is_another_effect(world: &dyn World, fixture: &WorldFixture) {
    let another = (fixture.effect)(key(ANOTHER));
    let answer = inquire(world, &another).await;
    assert!(
        matches!(answer, EffectInquiry::NeverSeen | EffectInquiry::CannotTell),
        "the same act under another key is another effect: {answer:?}"
    );
    carry_out(world, &another).await;
}

async fn racing_calls_have_one_outcome(world: &dyn World, fixture: &WorldFixture) {
    let effect = (fixture.effect)(key(RACE));
    let answers = join_all((0..4).map(|_| world.perform(&effect))).await;
    let (answered, failed): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    let unanswered = |error: &WorldError| error.kind() == WorldErrorKind::Unanswered;
    assert!(
        failed
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .all(unanswered),
        "a reachable world answers, or reports that it cannot tell: {failed:?}"
    );
    let outcomes: Vec<Outcome> = answered.into_iter().filter_map(Result::ok).collect();
    assert!(!outcomes.is_empty(), "one of several calls is answered");
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcomes.first() == Some(outcome)),
        "calls that race for one key have one outcome: {outcomes:?}"
    );
}

async fn dropped_calls_can_be_asked_after(world: &dyn World, fixture: &WorldFixture) {
    let effect = (fixture.effect)(key(DROPPED));
    // The call is polled once, so that the effect may have started, and then dropped.
    drop(world.perform(&effect).now_or_never());
    let answer = inquire(world, &effect).await;
    assert!(
        !matches!(answer, EffectInquiry::Rejected(_)),
        "it was not refused: {answer:?}"
    );
    if answer == EffectInquiry::NeverSeen {
        carry_out(world, &effect).await;
    }
}

async fn refusals_are_final(world: &dyn World, fixture: &WorldFixture) {
    let refused = &fixture.refused;
    let before = look(world, fixture).await;
    let rejection = refuse(world, refused).await;
    for _ in 0..3 {
        let again = refuse(world, refused).await;
        assert_eq!(again, rejection, "a refusal is the same every time");
        let answer = inquire(world, refused).await;
        assert!(
            answer == EffectInquiry::Rejected(rejection.clone())
                || answer == EffectInquiry::CannotTell,
            "an inquiry returns the refusal: {answer:?}"
        );
    }
    assert!(
        !rejection.reason.trim().is_empty(),
        "a refusal has a reason"
    );
    let after = look(world, fixture).await;
    assert_eq!(after, before, "what is refused does not happen");
}

pub(super) async fn look(world: &dyn World, fixture: &WorldFixture) -> Result<Value, Rejection> {
    world.observe(&fixture.query).await.unwrap()
}

pub(super) async fn inquire(world: &dyn World, effect: &Effect) -> EffectInquiry {
    world.inquire(effect).await.unwrap()
}

#[expect(
    clippy::panic,
    reason = "the suite reports a broken promise by a panic"
)]
async fn carry_out(world: &dyn World, effect: &Effect) -> Receipt {
    match world.perform(effect).await.unwrap() {
        Outcome::Done(receipt) => receipt,
        other => panic!("the fixture's effect is carried out: {other:?}"),
    }
}

#[expect(
    clippy::panic,
    reason = "the suite reports a broken promise by a panic"
)]
async fn refuse(world: &dyn World, effect: &Effect) -> Rejection {
    match world.perform(effect).await.unwrap() {
        Outcome::Rejected(rejection) => rejection,
        other => panic!("the fixture's refused effect is refused: {other:?}"),
    }
}

async fn repeat_done(world: &dyn World, effect: &Effect, receipt: &Receipt) {
    match world.perform(effect).await {
        Ok(outcome) => {
            let had = Outcome::Done(receipt.clone());
            assert_eq!(outcome, had, "a repeated effect has its earlier outcome");
        }
        Err(error) => assert_eq!(
            error.kind(),
            WorldErrorKind::Unanswered,
            "a world that cannot tell what became of an effect fails as unanswered"
        ),
    }
}
