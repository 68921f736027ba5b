//! How far results of tools are believed, if their tools declare that.

use std::sync::Arc;

use dormouse_contracts::{
    AssistantId, BoxFuture, Effect, EffectInquiry, Inquire, Observe, Outcome, Perform, Query,
    Rejection, ToolSource, ToolSourceName, ToolSpec, Trust, WorldError,
};
use dormouse_engine::{Event, Verdict};
use dormouse_testing::ScriptedTurn;
use dormouse_tools::{
    NamedToolSource, Tool, ToolInfo, Toolbox,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    home::Home,
    trust::{alice, live, noop},
};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A tool that answers with its name.
struct Named(ToolInfo);

impl Tool for Named {
    type Arguments = Nothing;

    fn info(&self) -> ToolInfo {
        self.0.clone()
    }

    async fn call(&self, _by: &AssistantId, _with: Nothing) -> Result<Value, Rejection> {
        Ok(json!(self.0.name))
    }
}

/// A source whose results are not believed at all.
struct Doubtful(Toolbox);

impl Perform for Doubtful {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        self.0.perform(effect)
    }
}

impl Observe for Doubtful {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        self.0.observe(query)
    }
}

impl Inquire for Doubtful {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        self.0.inquire(effect)
    }
}

impl ToolSource for Doubtful {
    fn specs(&self) -> Vec<ToolSpec> {
        let specs = self.0.specs().into_iter();
        let doubtful = specs.map(|spec| ToolSpec {
            result_trust: Some(Trust::NONE),
            ..spec
        });
        doubtful.collect()
    }
}

/// A home with a tool that reads, one that acts, and one that needs the trust of the surroundings.
fn home(turns: impl IntoIterator<Item = ScriptedTurn>) -> Home {
    let sends = ToolInfo {
        required_trust: Some(Trust::try_new(0.2).unwrap()),
        ..ToolInfo::effect("send", "Send it.")
    };
    let tools = Toolbox::new()
        .with(Named(ToolInfo::query("read", "Read it.")))
        .and_then(|tools| tools.with(Named(ToolInfo::effect("act", "Do it."))))
        .and_then(|tools| tools.with(Named(sends)));
    Home::where_all_is_shared(turns).with_tools(NamedToolSource {
        name: ToolSourceName::try_new("elsewhere").unwrap(),
        source: Arc::new(Doubtful(tools.unwrap())),
    })
}

fn call(tool: &str) -> ScriptedTurn {
    ScriptedTurn::call(tool, json!({}))
}

/// The trust of each result, and how the calls of `send` ended.
fn results(home: &Home) -> (Vec<Option<Trust>>, Vec<Verdict>) {
    let (mut trusts, mut verdicts) = (Vec::new(), Vec::new());
    for event in home.events() {
        match event {
            Event::ToolAnswered(answered) if answered.tool == "send" => {
                verdicts.push(answered.verdict);
            }
            Event::ToolAnswered(answered) if answered.tool != "noop" => trusts.push(answered.trust),
            Event::EffectIntended(intended) => trusts.push(intended.result_trust),
            _ => {}
        }
    }
    (trusts, verdicts)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_trust_is_not_made_after_a_result_that_is_not_believed() {
    for tool in ["read", "act"] {
        let home = home([call(tool), call("send"), call(tool), call("send"), noop()]);
        live(&home, [alice("read it, and send it")]).await;
        let (trusts, verdicts) = results(&home);
        assert_eq!(trusts, [Some(Trust::NONE); 2], "{tool}");
        assert_eq!(verdicts, [Verdict::Deferred, Verdict::Failure], "{tool}");
        home.no_protocol_was_broken();
    }
}

#[tokio::test(start_paused = true)]
async fn reading_a_result_again_does_not_make_it_more_believed() {
    // The first turn has one of these numbers; what is no turn is refused.
    let again = (1..=8).map(|seq| {
        let turn = json!({ "results_of": format!("#{seq}") });
        ("recall_history", turn)
    });
    let home = home([call("read"), noop(), ScriptedTurn::calls(again), noop()]);
    live(&home, [alice("read it"), alice("what was it?")]).await;
    let events = home.events().into_iter();
    let read: Vec<_> = events
        .filter_map(|event| match event {
            Event::ToolAnswered(answered)
                if answered.tool == "recall_history" && answered.verdict == Verdict::Success =>
            {
                Some((answered.trust, answered.content))
            }
            _ => None,
        })
        .collect();
    let [(trust, content)] = &read[..] else {
        panic!("one of them is read back: {read:?}");
    };
    assert!(content.contains("read"), "{content}");
    assert_eq!(*trust, Some(Trust::NONE));
    home.no_protocol_was_broken();
}
