//! The promises of a source of tools.

use std::collections::BTreeSet;

use dormouse_contracts::{
    Arguments, Effect, EffectInquiry, Outcome, Query, ToolName, ToolReach, ToolSource, ToolSpec,
};
use serde_json::Value;

use super::world::{WorldFixture, inquire, key, look, world, world_reopened};

const UNKNOWN: &str = "conformance_unknown_tool";

/// Checks the promises of [`ToolSource`], and those of [`world()`].
///
/// In addition to what [`world()`] does, requests four effects and three queries that must be refused. The fixture's
/// effect and query must be calls of the source's tools. The suite detects most if the tool of the effect requires an
/// argument.
///
/// To check what the source remembers after a restart, close and open it, or create it again, and then await
/// [`tool_source_reopened`].
///
/// # Panics
///
/// At the first broken promise.
pub async fn tool_source(source: &dyn ToolSource, fixture: WorldFixture) {
    the_offer_stays_the_same(source);
    for tool in source.specs() {
        the_tool_can_be_offered(&tool);
    }
    no_two_tools_have_one_name(source);
    let effect = (fixture.effect)(key("conformance/offered"));
    offers(source, &effect.tool, ToolReach::Effect);
    offers(source, &fixture.query.tool, ToolReach::Query);
    what_it_does_not_have_is_refused(source, &fixture).await;
    each_tool_is_used_as_what_it_is(source, &fixture).await;
    arguments_that_do_not_fit_are_refused(source, &fixture).await;
    world(source, fixture).await;
}

/// Checks that a source that was closed and opened again, or created again, repeats nothing that [`tool_source()`] did.
///
/// # Panics
///
/// If an effect has another outcome than before, or happens again, or if the source is certain that it never happened.
pub async fn tool_source_reopened(source: &dyn ToolSource, fixture: WorldFixture) {
    the_offer_stays_the_same(source);
    world_reopened(source, fixture).await;
}

fn the_offer_stays_the_same(source: &dyn ToolSource) {
    assert_eq!(
        source.specs(),
        source.specs(),
        "a source offers the same tools every time"
    );
}

fn no_two_tools_have_one_name(source: &dyn ToolSource) {
    let mut names = BTreeSet::new();
    for tool in source.specs() {
        let is_new = names.insert(tool.name.clone());
        assert!(is_new, "no two tools have one name: {}", tool.name);
    }
}

fn the_tool_can_be_offered(tool: &ToolSpec) {
    let name = &tool.name;
    assert!(
        matches!(tool.reach, ToolReach::Effect | ToolReach::Query),
        "a tool of a source is an effect or a query: {name}"
    );
    assert!(
        !name.as_str().contains('.') && !tool.description.trim().is_empty(),
        "a model can call the tool, and knows what it does: {name}"
    );
    assert!(!tool.timeout.is_zero(), "a call may take some time: {name}");
    let kind = tool.parameters.get("type").and_then(Value::as_str);
    assert_eq!(
        kind,
        Some("object"),
        "the parameters are a JSON Schema of an object: {name}"
    );
    let is_effect = tool.reach == ToolReach::Effect;
    assert!(
        tool.cache.is_none() || !is_effect,
        "only the result of a query is used again: {name}"
    );
    if let Some(speech) = &tool.speech {
        let texts = [Some(&speech.words), speech.to.as_ref()];
        let mut texts = texts.into_iter().flatten();
        assert!(
            is_effect && texts.all(|argument| is_text(tool, argument)),
            "a tool that speaks is an effect, and has texts for its words and its listener: {name}"
        );
    }
}

fn is_text(tool: &ToolSpec, argument: &str) -> bool {
    let properties = tool.parameters.get("properties");
    let kind = properties.and_then(|all| all.get(argument)?.get("type"));
    kind.and_then(Value::as_str) == Some("string")
}

fn offers(source: &dyn ToolSource, name: &ToolName, reach: ToolReach) {
    let tools = source.specs();
    let tool = tools.iter().find(|tool| tool.name == *name);
    assert_eq!(
        tool.map(|tool| tool.reach),
        Some(reach),
        "the fixture's effect calls an effect tool, and its query a query tool: {name}"
    );
}

async fn what_it_does_not_have_is_refused(source: &dyn ToolSource, fixture: &WorldFixture) {
    let tool = || ToolName::try_new(UNKNOWN).unwrap();
    let why = "a tool that it does not have is refused";
    let effect = Effect {
        tool: tool(),
        ..(fixture.effect)(key("conformance/unknown"))
    };
    is_refused(source, fixture, effect, why).await;
    let query = Query {
        tool: tool(),
        ..fixture.query.clone()
    };
    is_not_answered(source, fixture, query, why).await;
}

async fn each_tool_is_used_as_what_it_is(source: &dyn ToolSource, fixture: &WorldFixture) {
    let effect = (fixture.effect)(key("conformance/asked"));
    let Effect {
        actor,
        tool,
        arguments,
        ..
    } = effect.clone();
    let query = Query {
        actor,
        tool,
        arguments,
    };
    let why = "a query of an effect tool is refused";
    is_not_answered(source, fixture, query, why).await;
    let Query {
        tool, arguments, ..
    } = fixture.query.clone();
    let effect = Effect {
        key: key("conformance/looked"),
        tool,
        arguments,
        ..effect
    };
    is_refused(
        source,
        fixture,
        effect,
        "an effect with a query tool is refused",
    )
    .await;
}

async fn arguments_that_do_not_fit_are_refused(source: &dyn ToolSource, fixture: &WorldFixture) {
    let fits = (fixture.effect)(key("conformance/unfit"));
    let tools = source.specs();
    let tool = tools.iter().find(|tool| tool.name == fits.tool);
    let required = tool.and_then(|tool| tool.parameters.get("required")?.as_array());
    if required.is_none_or(Vec::is_empty) {
        return;
    }
    let effect = Effect {
        arguments: Arguments::new(),
        ..fits
    };
    let why = "arguments that do not fit are refused";
    is_refused(source, fixture, effect, why).await;
}

async fn is_refused(source: &dyn ToolSource, fixture: &WorldFixture, effect: Effect, why: &str) {
    let before = look(source, fixture).await;
    let outcome = source.perform(&effect).await.unwrap();
    assert!(
        matches!(outcome, Outcome::Rejected(_)),
        "{why}: {outcome:?}"
    );
    let told = inquire(source, &effect).await;
    assert!(!matches!(told, EffectInquiry::Done(_)), "{why}: {told:?}");
    assert_eq!(look(source, fixture).await, before, "{why}");
}

async fn is_not_answered(source: &dyn ToolSource, fixture: &WorldFixture, query: Query, why: &str) {
    let before = look(source, fixture).await;
    let answer = source.observe(&query).await.unwrap();
    assert!(answer.is_err(), "{why}: {answer:?}");
    assert_eq!(look(source, fixture).await, before, "{why}");
}
