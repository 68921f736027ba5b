//! Several sources of tools as one: who has which name, and where a call goes.

use std::sync::Arc;

use dormouse_contracts::{
    Arguments, AssistantId, Effect, EffectInquiry, EffectKey, Inquire, Observe, Outcome, Perform,
    Query, Rejection, ToolName, ToolReach, ToolSource, ToolSourceName, ToolSpec,
};
use dormouse_testing::{FakeWorld, conformance, conformance::WorldFixture};
use dormouse_tools::{NamedToolSource, RouterError, Tool, ToolInfo, ToolRouter, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A tool of this name, which answers with it.
struct Called(&'static str, ToolReach);

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Called {
    type Arguments = Nothing;

    fn info(&self) -> ToolInfo {
        ToolInfo {
            reach: self.1,
            ..ToolInfo::effect(self.0, "A tool.")
        }
    }

    async fn call(&self, _by: &AssistantId, _: Nothing) -> Result<Value, Rejection> {
        match self.0 {
            "fail" => Err(Rejection::new("it fails")),
            name => Ok(json!(name)),
        }
    }
}

fn toolbox(tools: &[(&'static str, ToolReach)]) -> Toolbox {
    let tools = tools.iter();
    tools.fold(Toolbox::new(), |toolbox, (name, reach)| {
        toolbox.with(Called(name, *reach)).unwrap()
    })
}

fn named(name: &str, tools: &[(&'static str, ToolReach)]) -> NamedToolSource {
    NamedToolSource {
        name: ToolSourceName::try_new(name).unwrap(),
        source: Arc::new(toolbox(tools)),
    }
}

fn tool(name: &str) -> ToolName {
    ToolName::try_new(name).unwrap()
}

fn effect(key: &str, name: &str) -> Effect {
    Effect {
        key: EffectKey::try_new(key).unwrap(),
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: tool(name),
        arguments: Arguments::new(),
        reply_to: None,
        within: None,
    }
}

fn query(name: &str) -> Query {
    Query {
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: tool(name),
        arguments: Arguments::new(),
    }
}

fn offered(router: &ToolRouter) -> Vec<String> {
    let tools = router.tools().iter();
    let text =
        |source: Option<&ToolSourceName>| source.map_or("world", ToolSourceName::as_str).to_owned();
    tools
        .map(|tool| {
            let source = text(tool.source.as_ref());
            match tool.is_renamed() {
                true => format!("{} ({} of {source})", tool.spec.name, tool.own_name),
                false => format!("{} of {source}", tool.spec.name),
            }
        })
        .collect()
}

use ToolReach::{Effect as Act, Query as Look};

#[tokio::test]
async fn calls_go_to_the_source_that_has_the_tool_and_under_its_own_name() {
    let world = FakeWorld::new();
    world.answer("inspect_location", json!("a kitchen"));
    let others = vec![
        named("dice", &[("roll", Act), ("move", Act), ("look", Look)]),
        named(
            "cards",
            &[("draw", Act), ("look", Look), ("store_memory", Look)],
        ),
    ];
    let reserved = [tool("store_memory")];
    let router = ToolRouter::try_new(Arc::new(world.clone()), others, &reserved).unwrap();
    assert_eq!(
        offered(&router),
        [
            "say of world",
            "whisper of world",
            "move of world",
            "inspect_location of world",
            "detonate of world",
            "roll of dice",
            "dice_move (move of dice)",
            "dice_look (look of dice)",
            "draw of cards",
            "cards_look (look of cards)",
            "cards_store_memory (store_memory of cards)",
        ]
    );
    let specs: Vec<ToolSpec> = router.tools().iter().map(|it| it.spec.clone()).collect();
    assert_eq!(router.specs(), specs);
    for (key, name, answer) in [
        ("1", "move", json!({ "done": "move" })),
        ("2", "dice_move", json!("move")),
        ("3", "draw", json!("draw")),
    ] {
        let Outcome::Done(receipt) = router.perform(&effect(key, name)).await.unwrap() else {
            panic!("{name} is carried out");
        };
        assert_eq!(receipt.detail, answer);
        let told = router.inquire(&effect(key, name)).await.unwrap();
        assert_eq!(told, EffectInquiry::Done(receipt));
    }
    assert_eq!(world.performed(), [effect("1", "move")]);
    assert_eq!(world.inquiries(), [effect("1", "move").key]);
    for (name, answer) in [
        ("inspect_location", json!("a kitchen")),
        ("cards_store_memory", json!("store_memory")),
    ] {
        assert_eq!(router.observe(&query(name)).await.unwrap(), Ok(answer));
    }
}

#[tokio::test]
async fn an_effect_of_a_source_that_is_gone_is_not_carried_out_by_another() {
    let world = FakeWorld::new();
    let router = ToolRouter::try_new(Arc::new(world.clone()), Vec::new(), &[]).unwrap();
    let gone = effect("1", "roll");
    let told = router.inquire(&gone).await.unwrap();
    assert_eq!(told, EffectInquiry::CannotTell);
    let Outcome::Rejected(rejection) = router.perform(&gone).await.unwrap() else {
        panic!("it was carried out");
    };
    assert_eq!(rejection.reason, "no source has a tool \"roll\" any more");
    let answer = router.observe(&query("peek")).await.unwrap();
    assert!(answer.is_err());
    assert_eq!(world.attempts(), []);
}

#[tokio::test]
async fn a_router_keeps_the_promises_of_a_source() {
    // The other source has the same tools, so all of its names are prefixed.
    let tools = [("ring", Act), ("fail", Act), ("listen", Look)];
    let world = Arc::new(toolbox(&tools));
    let router = ToolRouter::try_new(world, vec![named("b", &tools)], &[]).unwrap();
    for prefix in ["", "b_"] {
        let fixture = WorldFixture {
            effect: match prefix {
                "" => |key| effect(key.as_str(), "ring"),
                _ => |key| effect(key.as_str(), "b_ring"),
            },
            refused: effect("refused", &format!("{prefix}fail")),
            query: query(&format!("{prefix}listen")),
            feed: None,
            listener: None,
        };
        conformance::tool_source(&router, fixture).await;
    }
}

#[test]
fn sources_that_cannot_be_told_apart_are_refused() {
    let refused = |others| {
        let world = Arc::new(FakeWorld::new());
        let error: RouterError = ToolRouter::try_new(world, others, &[]).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        refused(vec![named("dice", &[]), named("dice", &[])]),
        "two tool sources are named \"dice\"; give one of them another name"
    );
    assert_eq!(
        refused(vec![
            named("dice", &[("move", Act)]),
            named("cards", &[("dice_move", Act)]),
        ]),
        "two tools would be offered as \"dice_move\", one of them by the tool source \"cards\"; give that source another name"
    );
}
