//! Checks that words reach only those who may perceive them.

use std::{fmt, sync::Arc};

use dormouse_contracts::{
    Audience, BoxFuture, Effect, EffectInquiry, EffectKey, EntityId, Perception, World,
};

use super::{carry_out, inquire, key, refuse};

/// Reads what a listener perceived, oldest first.
type ReadListener = Arc<dyn Fn() -> BoxFuture<'static, Vec<Perception>> + Send + Sync>;

/// What the suite needs to know about somebody who perceives the words of an assistant.
///
/// The suite checks that:
///
/// - words are not said if somebody outside of [`Effect::within`] would perceive them; the rejection names who would
///   have perceived them, and is final;
/// - the same words are said if `within` contains all of these;
/// - a receipt that says who perceived the words names the listener, and nobody whom the rejection did not name.
#[derive(Clone)]
pub struct ListenerFixture {
    /// The listener as the world names it.
    pub listener: EntityId,
    /// Creates an effect with the given key whose words the listener perceives, and perhaps others. The suite uses keys
    /// that begin with `conformance`.
    pub effect: fn(EffectKey) -> Effect,
    /// Reads what the listener perceived, oldest first.
    pub read: ReadListener,
}

impl fmt::Debug for ListenerFixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenerFixture")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

const FOR_NOBODY: &str = "conformance/for_nobody";
const FOR_ANOTHER: &str = "conformance/for_another";
const FOR_ALL: &str = "conformance/for_all";

#[expect(
    clippy::panic,
    reason = "the suite reports a broken promise by a panic"
)]
pub(super) async fn words_reach_only_whom_they_may(world: &dyn World, listener: &ListenerFixture) {
    let before = (listener.read)().await.len();
    let another = EntityId::try_new("conformance:another").unwrap();
    let another = Audience::of([another]).unwrap();
    let mut all = None;
    for (name, within) in [
        (FOR_NOBODY, Audience::nobody()),
        (FOR_ANOTHER, another.clone()),
    ] {
        let effect = Effect {
            within: Some(within.clone()),
            ..(listener.effect)(key(name))
        };
        let rejection = refuse(world, &effect).await;
        let heard_by = rejection.heard_by.clone();
        let Some(heard_by) = heard_by else {
            panic!("the rejection names who would have perceived the words")
        };
        assert!(
            !within.covers(&heard_by),
            "the rejection names who would have perceived the words: {heard_by:?}"
        );
        all = Some(heard_by);
        let repeated = refuse(world, &effect).await;
        assert_eq!(repeated, rejection, "the rejection is final");
        let told = inquire(world, &effect).await;
        let is_remembered = told == EffectInquiry::Rejected(rejection);
        assert!(
            is_remembered || told == EffectInquiry::CannotTell,
            "the rejection is remembered: {told:?}"
        );
    }
    let heard = (listener.read)().await.len();
    assert_eq!(
        heard, before,
        "words are not said if somebody would perceive them who may not"
    );
    let effect = Effect {
        within: all.clone(),
        ..(listener.effect)(key(FOR_ALL))
    };
    let receipt = carry_out(world, &effect).await;
    if let (Some(heard_by), Some(all)) = (&receipt.heard_by, &all) {
        assert_ne!(
            heard_by.includes(&listener.listener),
            Some(false),
            "a receipt names everybody who perceived the words: {heard_by:?}"
        );
        assert!(
            all.covers(heard_by),
            "a receipt names nobody who did not perceive the words: {heard_by:?}"
        );
    }
    let heard = (listener.read)().await.len();
    assert_eq!(
        heard,
        before + 1,
        "words are said if everybody who would perceive them may"
    );
}
