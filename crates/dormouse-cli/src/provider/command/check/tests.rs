use dormouse_contracts::{
    ChatDelta, ChatReply, FinishReason, ModelErrorKind, ModelName, ProviderId, RateLimits,
    ReplyInfo, RequestField,
};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use serde_json::Value;

use super::*;

const LIMIT: Duration = Duration::from_secs(5);

/// The verdict of every check of this turn.
async fn answered(turn: ScriptedTurn) -> Vec<(String, String)> {
    let model = ScriptedModel::new([turn]);
    let answer = asking::ask(&model, &checks::words(), LIMIT).await;
    let checks = checks::answer(&answer);
    checks.iter().map(verdict).collect()
}

fn verdict(check: &Check) -> (String, String) {
    let value = check.value();
    let text = |field: &str| value[field].as_str().unwrap().to_owned();
    (text("check"), text("verdict"))
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(check, verdict): &(&str, &str)| ((*check).to_owned(), (*verdict).to_owned());
    expected.iter().map(owned).collect()
}

fn finished(content: &str, reasoning: &str, finish: FinishReason) -> ScriptedTurn {
    let said = [
        ChatDelta::Reasoning(reasoning.to_owned()),
        ChatDelta::Text(content.to_owned()),
        ChatDelta::Finished(finish),
    ];
    ScriptedTurn::Raw(said.into_iter().map(Ok).collect())
}

fn info(left_out: Vec<RequestField>) -> Box<ReplyInfo> {
    Box::new(ReplyInfo {
        provider: ProviderId::try_new("scripted").unwrap(),
        model: ModelName::try_new("scripted").unwrap(),
        served_model: None,
        request_id: None,
        rate_limits: RateLimits::default(),
        left_out,
    })
}

#[tokio::test(start_paused = true)]
async fn the_content_of_a_reply_decides_whether_a_model_is_usable() {
    let stop = FinishReason::Stop;
    assert_eq!(
        answered(ScriptedTurn::text("one two three four")).await,
        pairs(&[("answer", "ok"), ("streaming", "ok")])
    );
    assert_eq!(
        answered(finished("", "", stop.clone())).await,
        pairs(&[("answer", "fail")])
    );
    let thoughts = "I shall count";
    assert_eq!(
        answered(finished("", thoughts, stop)).await[0],
        pairs(&[("answer", "warn")])[0]
    );
    assert_eq!(
        answered(finished("", thoughts, FinishReason::Length)).await[0],
        pairs(&[("answer", "warn")])[0]
    );
    for turn in [
        ScriptedTurn::Fail(ModelErrorKind::Unavailable),
        ScriptedTurn::Hang,
        ScriptedTurn::Stall {
            text: "one".to_owned(),
        },
        ScriptedTurn::CutOff {
            text: "one".to_owned(),
        },
    ] {
        assert_eq!(answered(turn).await, pairs(&[("answer", "fail")]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_given_up_at_its_time() {
    let model = ScriptedModel::looping(ScriptedTurn::Hang);
    let answer = asking::ask(&model, &checks::words(), LIMIT).await;
    assert_eq!((answer.whole, answer.first), (LIMIT, None));
    let probed = probe_tools(&model, LIMIT).await;
    assert_eq!(probed.verdict, ProbeVerdict::Inconclusive);
    assert_eq!(probed.failure().unwrap(), "no answer within 5 s");
    assert_eq!(model.requests().len(), 2, "neither was asked again");
}

#[tokio::test(start_paused = true)]
async fn fields_that_were_left_out_of_a_request_are_named() {
    let fields = vec![
        RequestField::StreamUsage,
        RequestField::Extra("seed".to_owned()),
    ];
    let reply = ChatReply {
        content: "one two three".to_owned(),
        info: Some(info(fields)),
        ..ChatReply::default()
    };
    let model = ScriptedModel::new([ScriptedTurn::Reply(reply)]);
    let answer = asking::ask(&model, &checks::words(), LIMIT).await;
    let checks = checks::answer(&answer);
    let last = checks.last().unwrap().value();
    assert_eq!(last["fields"], json!(["stream_usage", "seed"]));
    assert_eq!(last["verdict"], "warn");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_the_schema_is_reported() {
    let judged = async |content: &str, left_out: Vec<RequestField>| -> (Value, Value) {
        let reply = ChatReply {
            content: content.to_owned(),
            info: Some(info(left_out)),
            ..ChatReply::default()
        };
        let model = ScriptedModel::new([ScriptedTurn::Reply(reply)]);
        let request = checks::json_request();
        let check = checks::json(&asking::ask(&model, &request, LIMIT).await).value();
        (check["verdict"].clone(), check["fits"].clone())
    };
    let fits = " {\"animal\": \"cat\", \"legs\": 4}\n";
    assert_eq!(judged(fits, vec![]).await, (json!("ok"), json!(true)));
    let left_out = vec![RequestField::Output];
    assert_eq!(judged(fits, left_out).await, (json!("warn"), json!(true)));
    for none in [
        "{\"animal\": \"cat\"}",
        "{\"animal\": \"cat\", \"legs\": \"4\"}",
        "{\"animal\": \"cat\", \"legs\": 4, \"more\": 1}",
        "Four.",
        "",
        "```json\n{\"animal\": \"cat\", \"legs\": 4}\n```",
    ] {
        assert_eq!(judged(none, vec![]).await, (json!("warn"), json!(false)));
    }
}

#[test]
fn experience_that_contradicts_the_configuration_is_a_warning() {
    use dormouse_engine::ToolCalling::{Fallback, Native};
    let verdict =
        |learnt, configured| checks::offered(learnt, configured, true).value()["verdict"].clone();
    assert_eq!(verdict(Fallback, None), "ok");
    assert_eq!(verdict(Fallback, Some(Fallback)), "ok");
    assert_eq!(verdict(Fallback, Some(Native)), "warn");
}
