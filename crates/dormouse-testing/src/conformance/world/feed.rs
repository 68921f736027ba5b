//! What a world attests when an actor perceives its own effects.

use std::{fmt, sync::Arc};

use dormouse_contracts::{
    Attested, BoxFuture, Delivery, Effect, EffectInquiry, EffectKey, EntityId, Perception, Receipt,
    Sender, SourceKind, World,
};

use super::{carry_out, inquire, key, repeat_done};

/// Reads what the actor perceived after this delivery number, oldest first.
type ReadFeed = Arc<dyn Fn(u64) -> BoxFuture<'static, Vec<Perception>> + Send + Sync>;

/// What the suite needs to know about the feed of the actor.
///
/// The suite checks that:
///
/// - deliveries are numbered without gaps, and a repeated request delivers nothing;
/// - what the actor perceives of its own effects names the effect as its cause, and every cause is an effect of the
///   actor;
/// - all output of an effect is delivered by the time of its receipt, and the receipt's mark names the last of it;
/// - a reply answers an earlier delivery, and an audience contains the sender and the actor.
#[derive(Clone)]
pub struct FeedFixture {
    /// The actor as the world names it.
    pub actor: EntityId,
    /// Creates an effect with the given key that prints something, or at least lets the actor perceive its own act. The
    /// suite is strongest with an effect that has output. The suite uses keys that begin with `conformance`.
    pub effect: fn(EffectKey) -> Effect,
    /// Reads what the actor perceived after this delivery number, oldest first.
    pub read: ReadFeed,
}

impl fmt::Debug for FeedFixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedFixture")
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

const FIRST: &str = "conformance/printed";
const SECOND: &str = "conformance/printed_again";
const REPLY: &str = "conformance/reply";

pub(super) async fn own_effects_are_attested(world: &dyn World, feed: &FeedFixture) {
    let mut keys = Vec::new();
    for name in [FIRST, SECOND] {
        keys.push(key(name));
        let effect = (feed.effect)(key(name));
        carried_out_and_attested(world, feed, &effect, &keys).await;
    }
    keys.push(key(REPLY));
    let answered = (feed.read)(0).await.into_iter().next();
    let reply = Effect {
        reply_to: answered.map(|it| it.attested.delivery),
        ..(feed.effect)(key(REPLY))
    };
    carried_out_and_attested(world, feed, &reply, &keys).await;
}

async fn carried_out_and_attested(
    world: &dyn World,
    feed: &FeedFixture,
    effect: &Effect,
    keys: &[EffectKey],
) {
    let before = last(&(feed.read)(0).await);
    let receipt = carry_out(world, effect).await;
    let perceived = (feed.read)(before).await;
    for (perception, number) in perceived.iter().zip(before + 1..) {
        let attested = &perception.attested;
        assert_eq!(
            attested.delivery.number, number,
            "deliveries are numbered without gaps"
        );
        check_cause(attested, effect, keys);
        check_audience(attested, feed);
        check_reply(attested, effect);
    }
    check_mark(&perceived, effect, &receipt);
    repeat_done(world, effect, &receipt).await;
    let told = inquire(world, effect).await;
    assert!(
        told == EffectInquiry::Done(receipt.clone()) || told == EffectInquiry::CannotTell,
        "an inquiry reports the mark that the receipt had: {told:?}"
    );
    assert_eq!(
        last(&(feed.read)(0).await),
        before + perceived.len() as u64,
        "a repeated request delivers nothing"
    );
}

fn last(perceived: &[Perception]) -> u64 {
    let numbers = perceived.iter().map(|it| it.attested.delivery.number);
    numbers.max().unwrap_or_default()
}

fn is_output(attested: &Attested) -> bool {
    matches!(attested.source, SourceKind::CommandOutput)
}

fn check_cause(attested: &Attested, effect: &Effect, keys: &[EffectKey]) {
    let is_own = matches!(attested.sender, Sender::Myself { .. }) || is_output(attested);
    if is_own {
        assert_eq!(
            attested.cause.as_ref(),
            Some(&effect.key),
            "what the actor perceives of its own effect names the effect as its cause"
        );
    }
    assert!(
        attested
            .cause
            .as_ref()
            .is_none_or(|cause| keys.contains(cause)),
        "a cause is an effect that the actor asked for: {:?}",
        attested.cause
    );
}

fn check_audience(attested: &Attested, feed: &FeedFixture) {
    let Some(audience) = &attested.audience else {
        return;
    };
    assert_ne!(
        audience.includes(&feed.actor),
        Some(false),
        "an audience contains the one who perceives: {audience:?}"
    );
    if let Some(sender) = attested.sender.id() {
        assert_ne!(
            audience.includes(sender),
            Some(false),
            "an audience contains the sender: {audience:?}"
        );
    }
}

fn check_reply(attested: &Attested, effect: &Effect) {
    let Some(answered) = &attested.reply_to else {
        return;
    };
    let Delivery { world, number } = &attested.delivery;
    assert!(
        answered.world == *world && answered.number < *number,
        "a reply answers an earlier delivery: {answered:?}"
    );
    if matches!(attested.sender, Sender::Myself { .. }) {
        assert_eq!(
            Some(answered),
            effect.reply_to.as_ref(),
            "the actor's own reply answers what the effect says that it answers"
        );
    }
}

fn check_mark(perceived: &[Perception], effect: &Effect, receipt: &Receipt) {
    let mut outputs = perceived
        .iter()
        .map(|perception| &perception.attested)
        .filter(|attested| is_output(attested) && attested.cause.as_ref() == Some(&effect.key));
    assert_eq!(
        receipt.last_output.as_ref(),
        outputs.next_back().map(|attested| &attested.delivery),
        "the mark of the receipt is the last output, and that can be read by then"
    );
}
