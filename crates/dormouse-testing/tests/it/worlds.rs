use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use dormouse_contracts::{
    AssistantId, Audience, BoxFuture, Delivery, Effect, EffectInquiry, EffectKey, EntityId,
    Inquire, Observe, Outcome, Perception, Perform, Query, Receipt, Rejection, ToolName,
    WorldError, WorldErrorKind,
};
use dormouse_testing::{
    Behaviour, FakeWorld, Perceive, conformance,
    conformance::{FeedFixture, ListenerFixture, WorldFixture},
};
use serde_json::{Map, Value, json};

use crate::complaint;

fn effect(tool: &str, key: EffectKey) -> Effect {
    Effect {
        key,
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: Map::new(),
        reply_to: None,
        within: None,
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
        feed: None,
        listener: None,
    }
}

fn actor() -> EntityId {
    EntityId::try_new("assistant:dormouse").unwrap()
}

/// The fixture of a world with a feed, in which somebody speaks first.
fn perceiving(read: impl Fn(u64) -> Vec<Perception> + Send + Sync + 'static) -> WorldFixture {
    WorldFixture {
        feed: Some(FeedFixture {
            actor: actor(),
            effect: |key| effect("move", key),
            read: Arc::new(move |after| {
                let perceived = read(after);
                Box::pin(async move { perceived })
            }),
        }),
        ..fixture()
    }
}

fn after(feed: Vec<Perception>, number: u64) -> Vec<Perception> {
    let new = |it: &Perception| it.attested.delivery.number > number;
    feed.into_iter().filter(new).collect()
}

/// A fake world in which moving prints two lines while Bob arrives.
fn printing() -> FakeWorld {
    let world = fake();
    let audience = || Audience::of([actor(), EntityId::try_new("player:Bob").unwrap()]).unwrap();
    world.happen(Perceive::say("Bob", "Where to?").audience(audience()));
    // The suite first carries out four effects that print nothing.
    for _ in 0..4 {
        world.then(Behaviour::Do);
    }
    for _ in 0..3 {
        world.then(Behaviour::Print(vec![
            Perceive::command_output("The Garden"),
            Perceive::movement("Bob", "arrives.").audience(audience()),
            Perceive::command_output("People: Bob"),
        ]));
    }
    world
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
async fn the_fake_world_attests_the_output_of_effects() {
    let world = printing();
    let fed = world.clone();
    let fixture = perceiving(move |number| after(fed.perceptions(), number));
    conformance::world(&world, fixture).await;
    assert_eq!(world.perceptions().len(), 10);
}

/// What a world with a feed can get wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FeedDefect {
    OutputWithoutCause,
    OutputOfAnotherEffect,
    CauseOfNobody,
    MarkMissing,
    MarkTooEarly,
    MarkNotYetDelivered,
    MarkForgotten,
    NumbersWithGaps,
    DeliversAgain,
    AudienceWithoutTheActor,
    AudienceWithoutTheSender,
    ReplyToLater,
}

/// A world over a proper one whose feed has a defect.
#[derive(Clone)]
struct Misperceived {
    inner: FakeWorld,
    defect: FeedDefect,
}

impl Misperceived {
    fn feed(&self) -> Vec<Perception> {
        let mut feed = self.inner.perceptions();
        for perception in &mut feed {
            self.spoil(perception);
        }
        if self.defect == FeedDefect::MarkNotYetDelivered {
            feed.retain(|it| it.words.as_claimed() != "People: Bob");
        }
        feed
    }

    fn spoil(&self, perception: &mut Perception) {
        let attested = &mut perception.attested;
        let is_late = attested.delivery.number > 3;
        match self.defect {
            FeedDefect::OutputWithoutCause => attested.cause = None,
            FeedDefect::OutputOfAnotherEffect if is_late && attested.cause.is_some() => {
                attested.cause = Some(EffectKey::try_new("conformance/printed").unwrap());
            }
            FeedDefect::CauseOfNobody if attested.cause.is_none() => {
                attested.cause = Some(EffectKey::try_new("nobody/1").unwrap());
            }
            FeedDefect::NumbersWithGaps => attested.delivery.number *= 2,
            FeedDefect::AudienceWithoutTheActor if attested.audience.is_some() => {
                attested.audience = Audience::of([EntityId::try_new("player:Bob").unwrap()]);
            }
            FeedDefect::AudienceWithoutTheSender if attested.audience.is_some() => {
                attested.audience = Audience::of([actor()]);
            }
            FeedDefect::ReplyToLater => {
                let number = attested.delivery.number + 1;
                attested.reply_to = Some(Delivery {
                    number,
                    ..attested.delivery.clone()
                });
            }
            _ => {}
        }
    }

    fn spoilt(&self, mut receipt: Receipt) -> Receipt {
        match (self.defect, &mut receipt.last_output) {
            (FeedDefect::MarkMissing, mark) => *mark = None,
            (FeedDefect::MarkTooEarly, Some(mark)) => mark.number -= 2,
            (FeedDefect::NumbersWithGaps, Some(mark)) => mark.number *= 2,
            _ => {}
        }
        receipt
    }
}

impl Perform for Misperceived {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            let is_repeated = self.inner.count(&effect.key) > 0;
            if is_repeated && self.defect == FeedDefect::DeliversAgain {
                self.inner
                    .happen(Perceive::command_output("again").caused_by(effect.key.as_str()));
            }
            Ok(match self.inner.perform(effect).await? {
                Outcome::Done(receipt) => Outcome::Done(self.spoilt(receipt)),
                other => other,
            })
        })
    }
}

impl Observe for Misperceived {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        self.inner.observe(query)
    }
}

impl Inquire for Misperceived {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            Ok(match self.inner.inquire(effect).await? {
                EffectInquiry::Done(receipt) if self.defect == FeedDefect::MarkForgotten => {
                    EffectInquiry::Done(Receipt::new(receipt.detail))
                }
                EffectInquiry::Done(receipt) => EffectInquiry::Done(self.spoilt(receipt)),
                other => other,
            })
        })
    }
}

#[tokio::test]
async fn every_false_fact_about_an_own_effect_is_caught_by_the_check_that_is_about_it() {
    let mark = "the mark of the receipt is the last output";
    let defects = [
        (
            FeedDefect::OutputWithoutCause,
            "names the effect as its cause",
        ),
        (
            FeedDefect::OutputOfAnotherEffect,
            "names the effect as its cause",
        ),
        (
            FeedDefect::CauseOfNobody,
            "an effect that the actor asked for",
        ),
        (FeedDefect::MarkMissing, mark),
        (FeedDefect::MarkTooEarly, mark),
        (FeedDefect::MarkNotYetDelivered, mark),
        (FeedDefect::MarkForgotten, "reports the mark"),
        (FeedDefect::NumbersWithGaps, "without gaps"),
        (
            FeedDefect::DeliversAgain,
            "a repeated request delivers nothing",
        ),
        (
            FeedDefect::AudienceWithoutTheActor,
            "contains the one who perceives",
        ),
        (FeedDefect::AudienceWithoutTheSender, "contains the sender"),
        (FeedDefect::ReplyToLater, "answers an earlier delivery"),
    ];
    for (defect, expected) in defects {
        let world = Misperceived {
            inner: printing(),
            defect,
        };
        let fed = world.clone();
        let fixture = perceiving(move |number| after(fed.feed(), number));
        let said = complaint(conformance::world(&world, fixture)).await;
        let said = said.unwrap_or_else(|| panic!("{defect:?} was not caught"));
        assert!(said.contains(expected), "{defect:?}: {said}");
    }
}

fn bob() -> Audience {
    Audience::of([EntityId::try_new("player:Bob").unwrap()]).unwrap()
}

/// The fixture of a world in which Bob hears what was said aloud.
fn overheard(world: &FakeWorld) -> WorldFixture {
    world.listen(bob());
    let world = world.clone();
    WorldFixture {
        listener: Some(ListenerFixture {
            listener: EntityId::try_new("player:Bob").unwrap(),
            effect: |key| effect("say", key),
            read: Arc::new(move || {
                let said = world.performed().into_iter();
                let heard = said.map(|effect| Perceive::say("Dormouse", effect.key.as_str()));
                let heard = heard.map(Perceive::build).collect();
                Box::pin(async move { heard })
            }),
        }),
        ..fixture()
    }
}

#[tokio::test]
async fn the_fake_world_says_words_only_to_whom_they_are_for() {
    let world = fake();
    conformance::world(&world, overheard(&world)).await;
    assert_eq!(world.performed().len(), 5);
}

/// What a world can get wrong about who perceives words.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ListenerDefect {
    SaysThemAnyway,
    SaysThemAndRejects,
    DoesNotSayWhoListens,
    NamesWhoMay,
    SaysThemTheSecondTime,
    ForgetsTheRejection,
    RejectsEverythingForSome,
    AttestsNobody,
    AttestsTooMany,
}

/// A world over a proper one that gets it wrong.
struct Overhearing {
    inner: FakeWorld,
    defect: ListenerDefect,
}

impl Overhearing {
    async fn aloud(&self, effect: &Effect) -> Result<Outcome, WorldError> {
        let anyway = Effect {
            within: None,
            ..effect.clone()
        };
        self.inner.perform(&anyway).await
    }
}

impl Perform for Overhearing {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            if effect.within.is_none() {
                return self.inner.perform(effect).await;
            }
            let rejected = |heard_by| {
                Outcome::Rejected(Rejection {
                    reason: "not for everybody".to_owned(),
                    heard_by,
                })
            };
            match self.defect {
                ListenerDefect::SaysThemAnyway => self.aloud(effect).await,
                ListenerDefect::SaysThemAndRejects => {
                    self.aloud(effect).await?;
                    Ok(rejected(Some(bob())))
                }
                ListenerDefect::DoesNotSayWhoListens => Ok(rejected(None)),
                ListenerDefect::NamesWhoMay => Ok(rejected(effect.within.clone())),
                ListenerDefect::SaysThemTheSecondTime
                    if self.inner.attempts().iter().any(|it| it.key == effect.key) =>
                {
                    let key = format!("{}#2", effect.key);
                    let again = Effect {
                        key: EffectKey::try_new(key).unwrap(),
                        ..effect.clone()
                    };
                    self.aloud(&again).await
                }
                ListenerDefect::RejectsEverythingForSome => match self.inner.perform(effect).await?
                {
                    Outcome::Done(_) => Ok(rejected(Some(bob()))),
                    other => Ok(other),
                },
                ListenerDefect::AttestsNobody | ListenerDefect::AttestsTooMany => {
                    let carol = EntityId::try_new("player:Carol").unwrap();
                    let heard_by = match self.defect {
                        ListenerDefect::AttestsNobody => Audience::nobody(),
                        _ => bob().with(carol),
                    };
                    Ok(match self.inner.perform(effect).await? {
                        Outcome::Done(receipt) => Outcome::Done(Receipt {
                            heard_by: Some(heard_by),
                            ..receipt
                        }),
                        other => other,
                    })
                }
                _ => self.inner.perform(effect).await,
            }
        })
    }
}

impl Observe for Overhearing {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        self.inner.observe(query)
    }
}

impl Inquire for Overhearing {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            let is_for_some = effect.key.as_str().starts_with("conformance/for_");
            if is_for_some && self.defect == ListenerDefect::SaysThemAndRejects {
                return Ok(EffectInquiry::CannotTell);
            }
            Ok(match self.inner.inquire(effect).await? {
                EffectInquiry::Rejected(rejection)
                    if self.defect == ListenerDefect::ForgetsTheRejection
                        && rejection.heard_by.is_some() =>
                {
                    EffectInquiry::NeverSeen
                }
                other => other,
            })
        })
    }
}

#[tokio::test]
async fn every_way_in_which_words_reach_others_is_caught_by_the_check_that_is_about_it() {
    let names = "names who would have perceived the words";
    let defects = [
        (ListenerDefect::SaysThemAnyway, "is refused"),
        (ListenerDefect::SaysThemAndRejects, "words are not said"),
        (ListenerDefect::DoesNotSayWhoListens, names),
        (ListenerDefect::NamesWhoMay, names),
        (ListenerDefect::SaysThemTheSecondTime, "is refused"),
        (ListenerDefect::ForgetsTheRejection, "is remembered"),
        (ListenerDefect::RejectsEverythingForSome, "is carried out"),
        (ListenerDefect::AttestsNobody, "everybody who perceived"),
        (
            ListenerDefect::AttestsTooMany,
            "nobody who did not perceive",
        ),
    ];
    for (defect, expected) in defects {
        let inner = fake();
        let fixture = overheard(&inner);
        let world = Overhearing { inner, defect };
        let said = complaint(conformance::world(&world, fixture)).await;
        let said = said.unwrap_or_else(|| panic!("{defect:?} was not caught"));
        assert!(said.contains(expected), "{defect:?}: {said}");
    }
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
    assert!(said.unwrap().contains("a performed effect is remembered"));
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
    Outcome::Done(Receipt::new(detail))
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
                    Ok(Outcome::Rejected(Rejection::new("")))
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
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            match self.defect {
                Defect::CannotTell | Defect::RepeatsEffects => Ok(EffectInquiry::CannotTell),
                Defect::InquiryForgets => Ok(EffectInquiry::NeverSeen),
                Defect::InquiryCarriesOut => {
                    self.inner.perform(effect).await?;
                    self.inner.inquire(effect).await
                }
                Defect::TakesActsForKeys => {
                    let key = EffectKey::try_new("say").unwrap();
                    let effect = Effect {
                        key,
                        ..effect.clone()
                    };
                    self.inner.inquire(&effect).await
                }
                Defect::LooksAwayBeforeActing => {
                    let known = self.outcomes.lock().unwrap().get(&effect.key).cloned();
                    match known {
                        Some(Outcome::Done(receipt)) => Ok(EffectInquiry::Done(receipt)),
                        _ => self.inner.inquire(effect).await,
                    }
                }
                _ => self.inner.inquire(effect).await,
            }
        })
    }
}

#[tokio::test]
async fn every_broken_promise_is_caught_by_the_check_that_is_about_it() {
    let defects = [
        (Defect::RepeatsEffects, "the effect happened once"),
        (
            Defect::AnswersAnew,
            "a repeated effect has its earlier outcome",
        ),
        (Defect::ForgetsRefusals, "is refused"),
        (Defect::RefusesWithoutReason, "returns the refusal"),
        (Defect::InquiryCarriesOut, "was never requested"),
        (Defect::InquiryForgets, "returns the outcome of the effect"),
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
