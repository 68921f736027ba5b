use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_contracts::{
    Arguments, AssistantId, BoxFuture, CachePolicy, CacheScope, Effect, EffectInquiry, EffectKey,
    Inquire, Observe, Outcome, Perform, Query, Rejection, ToolName, ToolReach, ToolSource,
    ToolSpec, WorldError,
};
use dormouse_testing::{Behaviour, FakeWorld, conformance, conformance::WorldFixture};
use serde_json::{Value, json};

use crate::complaint;

fn actor() -> AssistantId {
    AssistantId::try_new("dormouse").unwrap()
}

fn effect(key: EffectKey, exit: &str) -> Effect {
    let mut arguments = Arguments::new();
    arguments.insert("exit".to_owned(), exit.into());
    Effect {
        key,
        actor: actor(),
        tool: ToolName::try_new("move").unwrap(),
        arguments,
        reply_to: None,
        within: None,
    }
}

fn fixture() -> WorldFixture {
    WorldFixture {
        effect: |key| effect(key, "north"),
        refused: effect(EffectKey::try_new("refused").unwrap(), "nowhere"),
        query: Query {
            actor: actor(),
            tool: ToolName::try_new("inspect_location").unwrap(),
            arguments: Arguments::new(),
        },
        feed: None,
        listener: None,
    }
}

/// What a source of tools can get wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    OffersOthersTheNextTime,
    OffersOneTwice,
    OffersWhatOnlyTheEngineCanDo,
    DescribesNothing,
    HasNoTime,
    HasNoSchema,
    SpeaksByNothing,
    UsesEffectsAgain,
    LacksTheTool,
    DoesUnknownTools,
    AnswersUnknownTools,
    DoesWhatIsAsked,
    DoesQueries,
    TakesAnyArguments,
    RepeatsEffects,
    ForgetsThatItForgets,
}

/// A source over a fake world, whose query shows how often somebody moved.
struct Source {
    world: FakeWorld,
    defect: Defect,
    offers: AtomicUsize,
}

impl Source {
    fn new(defect: Defect) -> Self {
        Self {
            world: FakeWorld::new(),
            defect,
            offers: AtomicUsize::new(0),
        }
    }

    fn reach(&self, tool: &ToolName) -> Option<ToolReach> {
        let tools = FakeWorld::tools();
        let tool = tools.iter().find(|it| it.name == *tool)?;
        Some(tool.reach)
    }

    /// A refusal is remembered.
    async fn refused(&self, effect: &Effect) -> Result<Outcome, WorldError> {
        if self.world.inquire(effect).await? == EffectInquiry::NeverSeen {
            self.world
                .then(Behaviour::Reject("it cannot be done".to_owned()));
        }
        self.world.perform(effect).await
    }

    async fn done(&self, effect: &Effect) -> Result<Outcome, WorldError> {
        self.world.perform(effect).await
    }
}

impl ToolSource for Source {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut tools = FakeWorld::tools();
        let offers = self.offers.fetch_add(1, Ordering::Relaxed);
        match self.defect {
            Defect::OffersOthersTheNextTime if offers > 0 => tools.truncate(1),
            Defect::OffersOneTwice => tools.push(tools[0].clone()),
            Defect::OffersWhatOnlyTheEngineCanDo => tools[1].reach = ToolReach::Builtin,
            Defect::DescribesNothing => tools[1].description = " ".to_owned(),
            Defect::HasNoTime => tools[1].timeout = std::time::Duration::ZERO,
            Defect::HasNoSchema => tools[1].parameters = json!({}),
            Defect::SpeaksByNothing => {
                tools[0].speech.as_mut().unwrap().words = "mesage".to_owned();
            }
            Defect::UsesEffectsAgain => {
                tools[0].cache = Some(CachePolicy {
                    scope: CacheScope::Tick,
                    ttl: None,
                });
            }
            Defect::LacksTheTool => tools.retain(|tool| tool.name.as_str() != "move"),
            _ => {}
        }
        tools
    }
}

impl Perform for Source {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            match (self.reach(&effect.tool), self.defect) {
                (None, Defect::DoesUnknownTools) => return self.done(effect).await,
                (Some(ToolReach::Query), Defect::DoesQueries) => return self.done(effect).await,
                (Some(ToolReach::Effect), _) => {}
                _ => return self.refused(effect).await,
            }
            match effect.arguments.get("exit").and_then(Value::as_str) {
                Some("north") => {}
                None if self.defect == Defect::TakesAnyArguments => {}
                _ => return self.refused(effect).await,
            }
            if self.defect == Defect::RepeatsEffects {
                let key = format!("{}#{}", effect.key, self.world.attempts().len());
                let key = EffectKey::try_new(key).unwrap();
                let again = Effect {
                    key,
                    ..effect.clone()
                };
                return self.done(&again).await;
            }
            self.done(effect).await
        })
    }
}

impl Observe for Source {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move {
            match (self.reach(&query.tool), self.defect) {
                (Some(ToolReach::Query), _) => {}
                (None, Defect::AnswersUnknownTools) => {}
                (Some(ToolReach::Effect), Defect::DoesWhatIsAsked) => {
                    let moved = effect(EffectKey::try_new("asked").unwrap(), "north");
                    self.done(&moved).await?;
                    return Ok(Err(Rejection::new("there is nothing to see")));
                }
                _ => return Ok(Err(Rejection::new("there is nothing to see"))),
            }
            Ok(Ok(json!(self.world.performed().len())))
        })
    }
}

impl Inquire for Source {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            match self.defect {
                Defect::RepeatsEffects => Ok(EffectInquiry::CannotTell),
                _ => self.world.inquire(effect).await,
            }
        })
    }
}

#[tokio::test]
async fn a_source_that_keeps_every_promise_passes() {
    let source = Source::new(Defect::None);
    conformance::tool_source(&source, fixture()).await;
    conformance::tool_source_reopened(&source, fixture()).await;
}

#[tokio::test]
async fn every_broken_promise_of_a_source_is_caught_by_the_check_that_is_about_it() {
    let unknown = "a tool that it does not have is refused";
    let defects = [
        (Defect::OffersOthersTheNextTime, "the same tools every time"),
        (Defect::OffersOneTwice, "no two tools have one name"),
        (
            Defect::OffersWhatOnlyTheEngineCanDo,
            "is an effect or a query",
        ),
        (Defect::DescribesNothing, "knows what it does"),
        (Defect::HasNoTime, "may take some time"),
        (Defect::HasNoSchema, "a JSON Schema of an object"),
        (Defect::SpeaksByNothing, "has texts for its words"),
        (Defect::UsesEffectsAgain, "only the result of a query"),
        (Defect::LacksTheTool, "effect calls an effect tool"),
        (Defect::DoesUnknownTools, unknown),
        (Defect::AnswersUnknownTools, unknown),
        (
            Defect::DoesWhatIsAsked,
            "a query of an effect tool is refused",
        ),
        (
            Defect::DoesQueries,
            "an effect with a query tool is refused",
        ),
        (Defect::TakesAnyArguments, "arguments that do not fit"),
        (Defect::RepeatsEffects, "the effect happened once"),
    ];
    for (defect, expected) in defects {
        let source = Source::new(defect);
        let said = complaint(conformance::tool_source(&source, fixture())).await;
        let said = said.unwrap_or_else(|| panic!("{defect:?} was not caught"));
        assert!(said.contains(expected), "{defect:?}: {said}");
    }
}

#[tokio::test]
async fn a_source_that_is_made_anew_and_is_sure_that_nothing_happened_is_caught() {
    conformance::tool_source(&Source::new(Defect::None), fixture()).await;
    let anew = Source::new(Defect::ForgetsThatItForgets);
    let said = complaint(conformance::tool_source_reopened(&anew, fixture())).await;
    let said = said.unwrap();
    assert!(said.contains("a performed effect is remembered"), "{said}");
}
