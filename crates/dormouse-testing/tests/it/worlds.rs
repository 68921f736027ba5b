use std::{collections::HashMap, sync::Mutex};

use dormouse_contracts::{
    AssistantId, BoxFuture, Effect, EffectInquiry, EffectKey, Inquire, Observe, Outcome, Perform,
    Query, Receipt, Rejection, ToolName, WorldError, WorldErrorKind,
};
use dormouse_testing::{FakeWorld, conformance, conformance::WorldFixture};
use serde_json::{Map, Value, json};

use crate::complaint;

fn effect(tool: &str, key: EffectKey) -> Effect {
    Effect {
        key,
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: Map::new(),
    }
}

fn fixture() -> WorldFixture {
    WorldFixture {
        effect: |key| effect("say", key),
        refused: effect("detonate", EffectKey::try_new("refused").unwrap()),
        query: Query {
            actor: AssistantId::try_new("dormouse").unwrap(),
            tool: ToolName::try_new("inspect_location").unwrap(),
            arguments: Map::new(),
        },
    }
}

fn fake() -> FakeWorld {
    let world = FakeWorld::new();
    world.refuse("detonate", "There is nothing to blow up.");
    world.answer("inspect_location", json!({ "room": "kitchen" }));
    world
}

#[tokio::test]
async fn the_fake_world_keeps_every_promise() {
    let world = fake();
    conformance::world(&world, fixture()).await;
    conformance::world_reopened(&world, fixture()).await;
    assert_eq!(world.performed().len(), 4);
}

#[tokio::test]
async fn a_world_without_an_account_keeps_every_promise_too() {
    let world = Broken::new(Defect::CannotTell);
    conformance::world(&world, fixture()).await;
    conformance::world_reopened(&world, fixture()).await;
}

#[tokio::test]
async fn a_world_that_forgot_what_it_did_is_caught_when_it_is_opened_again() {
    let said = complaint(conformance::world_reopened(&fake(), fixture())).await;
    assert!(said.unwrap().contains("what was done is remembered"));
}

/// One promise that is broken, or that a world is free not to make.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    CannotTell,
    RepeatsEffects,
    AnswersAnew,
    ForgetsRefusals,
    RefusesWithoutReason,
    InquiryCarriesOut,
    InquiryForgets,
    LooksAreSeen,
    TakesActsForKeys,
    LooksAwayBeforeActing,
}

/// A world over a proper one, with a defect. Its query shows how often something happened.
struct Broken {
    inner: FakeWorld,
    defect: Defect,
    outcomes: Mutex<HashMap<EffectKey, Outcome>>,
}

impl Broken {
    fn new(defect: Defect) -> Self {
        Self {
            inner: fake(),
            defect,
            outcomes: Mutex::default(),
        }
    }

    /// Checks whether the key is known, lets others have their turn, and then acts as if nothing had happened.
    async fn look_away(&self, effect: &Effect) -> Result<Outcome, WorldError> {
        let known = self.outcomes.lock().unwrap().get(&effect.key).cloned();
        if let Some(outcome) = known {
            return Ok(outcome);
        }
        tokio::task::yield_now().await;
        self.inner.perform(effect).await?;
        let outcome = done(json!(self.inner.attempts().len()));
        let mut outcomes = self.outcomes.lock().unwrap();
        outcomes.insert(effect.key.clone(), outcome.clone());
        Ok(outcome)
    }

    /// The effect, under another key each time it is asked for.
    fn anew(&self, effect: &Effect) -> Effect {
        let key = format!("{}#{}", effect.key, self.inner.attempts().len());
        Effect {
            key: EffectKey::try_new(key).unwrap(),
            ..effect.clone()
        }
    }
}

fn done(detail: Value) -> Outcome {
    Outcome::Done(Receipt { detail })
}

impl Perform for Broken {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            let attempts = self.inner.attempts().len();
            let refused = effect.tool.as_str() == "detonate";
            match self.defect {
                Defect::CannotTell if self.inner.count(&effect.key) > 0 => {
                    Err(WorldError::new(WorldErrorKind::Unanswered, None))
                }
                Defect::RepeatsEffects => self.inner.perform(&self.anew(effect)).await,
                Defect::AnswersAnew if !refused => {
                    self.inner.perform(effect).await?;
                    Ok(done(json!(attempts)))
                }
                Defect::ForgetsRefusals if refused && attempts.is_multiple_of(2) => {
                    self.inner.perform(effect).await?;
                    Ok(done(json!("on second thought")))
                }
                Defect::RefusesWithoutReason if refused => {
                    let reason = String::new();
                    Ok(Outcome::Rejected(Rejection { reason }))
                }
                Defect::TakesActsForKeys => {
                    let key = EffectKey::try_new(effect.tool.as_str()).unwrap();
                    let effect = Effect {
                        key,
                        ..effect.clone()
                    };
                    self.inner.perform(&effect).await
                }
                Defect::LooksAwayBeforeActing if !refused => self.look_away(effect).await,
                _ => self.inner.perform(effect).await,
            }
        })
    }
}

impl Observe for Broken {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move {
            self.inner.observe(query).await?.unwrap();
            let looks = match self.defect {
                Defect::LooksAreSeen => self.inner.queries().len(),
                _ => 0,
            };
            Ok(Ok(json!([self.inner.performed().len(), looks])))
        })
    }
}

impl Inquire for Broken {
    fn inquire<'a>(
        &'a self,
        key: &'a EffectKey,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            match self.defect {
                Defect::CannotTell | Defect::RepeatsEffects => Ok(EffectInquiry::CannotTell),
                Defect::InquiryForgets => Ok(EffectInquiry::NeverSeen),
                Defect::InquiryCarriesOut => {
                    self.inner.perform(&effect("say", key.clone())).await?;
                    self.inner.inquire(key).await
                }
                Defect::TakesActsForKeys => {
                    let key = EffectKey::try_new("say").unwrap();
                    self.inner.inquire(&key).await
                }
                Defect::LooksAwayBeforeActing => {
                    let known = self.outcomes.lock().unwrap().get(key).cloned();
                    match known {
                        Some(Outcome::Done(receipt)) => Ok(EffectInquiry::Done(receipt)),
                        _ => self.inner.inquire(key).await,
                    }
                }
                _ => self.inner.inquire(key).await,
            }
        })
    }
}

#[tokio::test]
async fn every_broken_promise_is_caught_by_the_check_that_is_about_it() {
    let defects = [
        (Defect::RepeatsEffects, "the effect happened once"),
        (Defect::AnswersAnew, "has the outcome it had"),
        (Defect::ForgetsRefusals, "is refused"),
        (Defect::RefusesWithoutReason, "tells the refusal"),
        (Defect::InquiryCarriesOut, "nobody ever asked"),
        (Defect::InquiryForgets, "tells the outcome there was"),
        (Defect::LooksAreSeen, "a query changes nothing"),
        (Defect::TakesActsForKeys, "is another effect"),
        (Defect::LooksAwayBeforeActing, "have one outcome"),
    ];
    for (defect, expected) in defects {
        let world = Broken::new(defect);
        let said = complaint(conformance::world(&world, fixture())).await;
        let said = said.unwrap_or_else(|| panic!("{defect:?} was not caught"));
        assert!(said.contains(expected), "{defect:?}: {said}");
    }
}
