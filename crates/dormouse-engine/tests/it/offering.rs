//! More tools than their definitions may take tokens: some are offered, and the others are found by a search.

use std::sync::{Arc, Mutex};

use dormouse_contracts::{
    BoxFuture, ChatRequest, Effect, EffectInquiry, Inquire, Observe, Outcome, Perform, Query,
    Receipt, Rejection, ToolCategory, ToolName, ToolSource, ToolSourceName, ToolSpec, WorldError,
};
use dormouse_engine::{
    ContextConfig, ContextType, Event, OfferCause, ToolAnswered, ToolsOffered, Verdict,
    preview_prompt,
};
use dormouse_testing::{CountTokens, ScriptedTurn};
use dormouse_tools::NamedToolSource;
use serde_json::{Value, json};

use crate::{
    home::{Home, key, shown},
    trust::{alice, live, noop},
};

/// Tools that do nothing but note their calls.
#[derive(Default)]
struct Shelf {
    tools: Vec<ToolSpec>,
    called: Mutex<Vec<String>>,
}

impl Shelf {
    fn note(&self, tool: &ToolName) {
        self.called.lock().unwrap().push(tool.to_string());
    }

    fn called(&self) -> Vec<String> {
        self.called.lock().unwrap().clone()
    }
}

impl Observe for Shelf {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        self.note(&query.tool);
        Box::pin(async { Ok(Ok(json!({"ok": true}))) })
    }
}

impl Perform for Shelf {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        self.note(&effect.tool);
        Box::pin(async { Ok(Outcome::Done(Receipt::new(json!({"ok": true})))) })
    }
}

impl Inquire for Shelf {
    fn inquire<'a>(&'a self, _: &'a Effect) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async { Ok(EffectInquiry::CannotTell) })
    }
}

impl ToolSource for Shelf {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.clone()
    }
}

fn tool(name: &str, description: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    ToolSpec::query(ToolName::try_new(name).unwrap(), description, schema)
}

/// Forty tools of five words each that nobody asks for, and three that somebody may.
fn many() -> Vec<ToolSpec> {
    let mut tools: Vec<_> = (0..40)
        .map(|it| tool(&format!("gadget{it}"), "Whirr, click, hum and beep."))
        .collect();
    tools.insert(20, tool("get_forecast", "The weather forecast of a place."));
    tools.push(ToolSpec {
        category: ToolCategory::SafeChain,
        ..ToolSpec::effect(
            ToolName::try_new("lock_door").unwrap(),
            "Lock a door of the house.",
            json!({"type": "object", "properties": {}}),
        )
    });
    tools.push(tool(
        "read_tides",
        &format!("High water. {}", "and low ".repeat(500)),
    ));
    tools
}

fn with_shelf(turns: impl IntoIterator<Item = ScriptedTurn>) -> (Home, Arc<Shelf>) {
    let shelf = Arc::new(Shelf {
        tools: many(),
        ..Shelf::default()
    });
    let home = Home::new(turns).with_tools(NamedToolSource {
        name: ToolSourceName::try_new("shelf").unwrap(),
        source: Arc::clone(&shelf) as _,
    });
    (home, shelf)
}

/// A home with these tools and a budget of so many tokens next to the core.
async fn home(turns: impl IntoIterator<Item = ScriptedTurn>, room: u32) -> (Home, Arc<Shelf>) {
    let (home, shelf) = with_shelf(turns);
    let budget = core().await + room;
    (home.configured(|config| config.tool_tokens = budget), shelf)
}

/// How many tokens the tools take that are always offered, as the counter of these tests counts.
async fn core() -> u32 {
    let (home, _) = with_shelf([noop()]);
    let home = home.configured(|config| config.tool_tokens = 1);
    live(&home, [alice("Hello.")]).await;
    let choices = offered(&home);
    assert_eq!((choices.len(), choices[0].left_out), (1, 46));
    assert_eq!(choices[0].tools, []);
    choices[0].tokens
}

fn offered(home: &Home) -> Vec<ToolsOffered> {
    let events = home.events().into_iter();
    let offered = events.filter_map(|event| match event {
        Event::ToolsOffered(it) => Some(it),
        _ => None,
    });
    offered.collect()
}

fn answers(home: &Home, tool: &str) -> Vec<ToolAnswered> {
    let events = home.events().into_iter();
    let answered = events.filter_map(|event| match event {
        Event::ToolAnswered(it) if it.tool == tool => Some(it),
        _ => None,
    });
    answered.collect()
}

fn names(request: &ChatRequest) -> Vec<&str> {
    request.tools.iter().map(|it| it.name.as_str()).collect()
}

fn offers(request: &ChatRequest, tool: &str) -> bool {
    names(request).contains(&tool)
}

fn search(query: &str) -> ScriptedTurn {
    ScriptedTurn::call("tool_search", json!({"query": query}))
}

fn call(tool: &str) -> ScriptedTurn {
    ScriptedTurn::call(tool, json!({}))
}

#[tokio::test(start_paused = true)]
async fn where_everything_fits_all_is_offered_and_nothing_is_recorded() {
    for budget in [0, 1_000_000] {
        let (home, _) = with_shelf([noop()]);
        let home = home.configured(|config| config.tool_tokens = budget);
        live(&home, [alice("How is the weather?")]).await;
        let request = &home.model.requests()[0];
        assert!(offers(request, "get_forecast") && offers(request, "gadget39"));
        assert!(!offers(request, "tool_search"));
        assert_eq!(offered(&home), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_is_offered_the_tools_that_its_words_match_and_they_stay() {
    let turns = [call("get_forecast"), noop(), noop(), noop()];
    let (home, shelf) = home(turns, 40).await;
    let messages = ["Is the weather fine?", "Thank you.", "And tomorrow?"];
    live(&home, messages.map(alice)).await;
    home.no_protocol_was_broken();
    assert_eq!(shelf.called(), ["get_forecast"]);
    let requests = home.model.requests();
    for request in &requests {
        assert!(offers(request, "get_forecast"), "{:?}", names(request));
        assert!(offers(request, "tool_search") && offers(request, "whisper"));
        assert!(!offers(request, "gadget0"));
        assert_eq!(request.tools, requests[0].tools, "a stable prefix");
    }
    let choices = offered(&home);
    assert_eq!(choices.len(), 1, "{choices:?}");
    assert_eq!(
        (choices[0].cause, choices[0].left_out),
        (OfferCause::Turn, 45)
    );
    assert!(choices[0].tokens <= home.config.tool_tokens);
}

#[tokio::test(start_paused = true)]
async fn what_a_search_finds_can_be_called_from_the_next_step_on() {
    let turns = [search("weather forecast"), call("get_forecast"), noop()];
    let (home, shelf) = home(turns, 40).await;
    live(&home, [alice("Should I take my umbrella?")]).await;
    home.no_protocol_was_broken();
    let requests = home.model.requests();
    let offers = requests.iter().map(|it| offers(it, "get_forecast"));
    assert_eq!(offers.collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(shelf.called(), ["get_forecast"]);
    assert!(shown(&requests[1]).contains("The weather forecast of a place."));
    let choices = offered(&home);
    let causes: Vec<_> = choices.iter().map(|it| it.cause).collect();
    assert_eq!(causes, [OfferCause::Turn, OfferCause::Search]);
    assert_eq!(choices[1].found[0].as_str(), "get_forecast");
    // The order of the tools is that of the configuration.
    let place = |name| names(&requests[1]).iter().position(|it| *it == name);
    assert!(place("get_forecast") < place("tool_search"));
}

#[tokio::test(start_paused = true)]
async fn a_search_without_a_match_says_so_and_changes_nothing() {
    let (home, _) = home([search("knitting"), noop()], 40).await;
    live(&home, [alice("Hello.")]).await;
    let found = &answers(&home, "tool_search")[0];
    assert_eq!(found.verdict, Verdict::Success);
    assert!(
        found.content.contains("nothing matches"),
        "{}",
        found.content
    );
    assert_eq!(offered(&home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_was_not_shown_is_not_called_before_the_model_has_read_what_it_does() {
    let turns = [call("lock_door"), call("lock_door"), noop()];
    let (home, shelf) = home(turns, 40).await;
    live(&home, [alice("Hello.")]).await;
    let refused = &answers(&home, "lock_door")[0];
    assert_eq!(refused.verdict, Verdict::Skipped);
    assert!(
        refused.content.contains("was not shown"),
        "{}",
        refused.content
    );
    assert_eq!(shelf.called(), ["lock_door"], "only the second call");
    let requests = home.model.requests();
    assert!(!offers(&requests[0], "lock_door") && offers(&requests[1], "lock_door"));
    assert_eq!(offered(&home)[1].cause, OfferCause::Call);

    // A call in the same reply as the search was made without the definition, too.
    let both = ScriptedTurn::calls([
        ("tool_search", json!({"query": "door"})),
        ("lock_door", json!({})),
    ]);
    let (home, shelf) = self::home([both, noop()], 40).await;
    live(&home, [alice("Hello.")]).await;
    assert_eq!(answers(&home, "lock_door")[0].verdict, Verdict::Skipped);
    assert_eq!(shelf.called(), [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_a_kind_of_tick_excludes_is_neither_found_nor_offered() {
    let turns = [search("weather forecast"), call("get_forecast"), noop()];
    let (home, shelf) = home(turns, 40).await;
    let home = home.configured(|config| {
        let known = many().into_iter().map(|it| it.name.to_string());
        let allowed = known.filter(|it| it != "get_forecast");
        let only = ContextConfig {
            tools: Some(allowed.collect()),
            ..ContextConfig::default()
        };
        config
            .execution
            .contexts
            .insert(ContextType::TickEvent, only);
        config.tool_tokens = 60;
    });
    live(&home, [alice("How is the weather?")]).await;
    assert_eq!(shelf.called(), [] as [&str; 0]);
    let requests = home.model.requests();
    assert!(
        requests
            .iter()
            .all(|it| offers(it, "tool_search") && !offers(it, "get_forecast"))
    );
    let refused = &answers(&home, "get_forecast")[0];
    assert_eq!(refused.verdict, Verdict::Failure);
    assert!(
        refused.content.contains("there is no tool"),
        "{}",
        refused.content
    );
    assert!(
        offered(&home)
            .iter()
            .all(|it| it.tools.iter().all(|it| it.as_str() != "get_forecast"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_definition_beyond_the_budget_is_never_offered_and_the_model_learns_why() {
    let turns = [search("high water"), call("read_tides"), noop()];
    let (home, shelf) = home(turns, 40).await;
    live(&home, [alice("Hello.")]).await;
    let found = &answers(&home, "tool_search")[0];
    assert!(
        found.content.contains(r#""no_room_for":["read_tides"]"#),
        "{}",
        found.content
    );
    let refused = &answers(&home, "read_tides")[0];
    assert!(
        refused.content.contains("tools.definition_tokens"),
        "{}",
        refused.content
    );
    assert_eq!(shelf.called(), [] as [&str; 0]);
    let budget = home.config.tool_tokens;
    assert!(offered(&home).iter().all(|it| it.tokens <= budget));
}

#[tokio::test(start_paused = true)]
async fn a_preview_names_what_is_left_out() {
    let (home, _) = home([noop()], 40).await;
    live(&home, [alice("Is the weather fine?")]).await;
    let counter = |_: &_| Arc::new(CountTokens) as _;
    let of_reply = home.log.events(&key());
    let replied = of_reply.iter().find(|it| it.kind == "replied").unwrap();
    for at in [None, Some(replied.seq)] {
        let preview = preview_prompt(&home.log, &key(), at, None, counter).await;
        let preview = preview.unwrap();
        let has = |name| {
            preview
                .tools
                .iter()
                .any(|it: &ToolName| it.as_str() == name)
        };
        assert!(has("get_forecast") && has("tool_search") && !has("gadget7"));
        let why = preview
            .left_out
            .iter()
            .find(|it| it.part == "tools")
            .unwrap();
        assert!(why.why.starts_with("45 are not shown") && why.why.contains("gadget7"));
    }
}
