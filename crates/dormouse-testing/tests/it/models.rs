use dormouse_contracts::{CallId, ChatDelta, ChatRequest, FinishReason, Message, Usage};
use dormouse_testing::{ScriptedModel, ScriptedTurn, conformance};
use serde_json::json;

use crate::complaint;

fn asking() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "Hm?".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

#[tokio::test]
async fn the_scripted_model_keeps_every_promise() {
    let talk = || ScriptedTurn::text("Here I am.");
    let act = || ScriptedTurn::calls([("say", json!({})), ("move", json!({"exit": "n"}))]);
    for turn in [talk(), act(), ScriptedTurn::with(move |_| talk())] {
        let model = ScriptedModel::looping(turn);
        conformance::chat_model(&model, asking()).await;
    }
}

fn start(index: usize, id: &str, name: &str) -> ChatDelta {
    ChatDelta::CallStart {
        index,
        id: CallId::try_new(id).unwrap(),
        name: name.to_owned(),
    }
}

fn end() -> ChatDelta {
    ChatDelta::Finished(FinishReason::Stop)
}

#[tokio::test]
async fn every_broken_promise_is_caught_by_the_check_that_is_about_it() {
    let text = || ChatDelta::Text("Hm.".to_owned());
    let arguments = ChatDelta::CallArguments {
        index: 1,
        fragment: "{}".to_owned(),
    };
    let broken = [
        (vec![], "says `Finished`"),
        (vec![text()], "says `Finished`"),
        (vec![end(), text()], "nothing but `Usage`"),
        (vec![end(), end()], "nothing but `Usage`"),
        (
            vec![start(0, "a", "say"), arguments],
            "after its `CallStart`",
        ),
        (
            vec![start(0, "a", "say"), start(0, "b", "say")],
            "begins once",
        ),
        (
            vec![start(0, "a", "say"), start(1, "a", "say")],
            "names one call",
        ),
        (vec![start(0, "a", ""), end()], "names a tool"),
    ];
    for (deltas, expected) in broken {
        let turn = ScriptedTurn::Raw(deltas.iter().cloned().map(Ok).collect());
        let model = ScriptedModel::looping(turn);
        let said = complaint(conformance::chat_model(&model, asking())).await;
        let said = said.unwrap_or_else(|| panic!("{deltas:?} was not caught"));
        assert!(said.contains(expected), "{deltas:?}: {said}");
    }
}

#[tokio::test]
async fn the_cost_may_come_after_the_end() {
    let usage = ChatDelta::Usage(Usage::default());
    let turn = ScriptedTurn::Raw(vec![Ok(usage.clone()), Ok(end()), Ok(usage)]);
    conformance::chat_model(&ScriptedModel::looping(turn), asking()).await;
}

#[tokio::test]
async fn a_model_that_answers_once_is_caught() {
    let model = ScriptedModel::new([ScriptedTurn::text("Once.")]);
    let said = complaint(conformance::chat_model(&model, asking())).await;
    assert!(said.unwrap().contains("Refused"));
}
