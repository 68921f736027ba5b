//! Tests of the account itself, since every test here relies on it.

use std::sync::Arc;

use dormouse_contracts::{
    Append, AppendRequest, CallId, Effect, EffectKey, Perform, Timestamp, ToolCategory, ToolName,
    ToolSource,
};
use dormouse_engine::{ActSpeech, AssistantConfig, EffectIntended, EffectSettled};
use dormouse_offline::OfflineModel;
use dormouse_sandbox::CharacterKind;
use dormouse_tests::Resident;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::host::{entity, key};

/// A life of one answered whisper.
async fn a_life() -> (TempDir, Host, AssistantId) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let host = Host::open(folder.path());
    let (me, alice, key) = (entity("assistant:1"), entity("player:1"), key("dormouse"));
    let kind = CharacterKind::Assistant(key.clone());
    host.join(&me, "Dormouse", kind).await;
    host.join(&alice, "Alice", CharacterKind::Player).await;
    let ports = host.ports(&key, Arc::new(OfflineModel::new()));
    let config = AssistantConfig::new(key.clone());
    let resident = Resident::wake(config, host.sandbox.specs(), ports).await;
    host.whisper(&alice, (&me, "Dormouse"), "hello").await;
    for perception in host.perceived(&me, 0).await {
        resident.hear(perception).await;
    }
    resident.rest().await;
    resident.end().await;
    (folder, host, key)
}

/// An act that the engine never decided.
fn forged(actor: &AssistantId) -> Effect {
    Effect {
        key: EffectKey::try_new("forged").unwrap(),
        actor: actor.clone(),
        tool: ToolName::try_new("say").unwrap(),
        arguments: json!({"message": "again"}).as_object().unwrap().clone(),
        reply_to: None,
        within: None,
    }
}

async fn log(host: &Host, assistant: &AssistantId, events: Vec<Event>) {
    let encoded = events.iter().map(|event| event.encode(Timestamp::EPOCH));
    let request = AppendRequest {
        assistant: assistant.clone(),
        expected: Seq(events_of(host, assistant).await),
        events: encoded.collect::<Result<_, _>>().unwrap(),
    };
    host.log.append(request).await.unwrap();
}

async fn events_of(host: &Host, assistant: &AssistantId) -> u64 {
    events(&host.log, assistant).await.len() as u64
}

#[tokio::test]
async fn a_whole_life_passes() {
    let (_folder, host, key) = Box::pin(a_life()).await;
    let account = Account::of(&host, &key).await;
    account.every_message_is_answered_once();
    assert_eq!(account.triggers().count(), 1);
}

#[tokio::test]
#[should_panic(expected = "nothing is done unintended")]
async fn an_act_that_is_not_in_the_log_is_noticed() {
    let (_folder, host, key) = Box::pin(a_life()).await;
    host.sandbox.perform(&forged(&key)).await.unwrap();
    Account::of(&host, &key).await;
}

#[tokio::test]
#[should_panic(expected = "left: 2")]
async fn a_second_answer_is_noticed() {
    let (_folder, host, key) = Box::pin(a_life()).await;
    let effect = forged(&key);
    let outcome = host.sandbox.perform(&effect).await.unwrap();
    let settled = EffectSettled {
        key: effect.key,
        outcome,
        content: String::new(),
        tokens: 0,
    };
    let mut more = begun(&host, &key).await;
    more.push(Event::EffectIntended(intended(&key)));
    more.push(Event::EffectSettled(settled));
    log(&host, &key, more).await;
    Account::of(&host, &key)
        .await
        .every_message_is_answered_once();
}

/// The beginning of the life's only turn, once more.
async fn begun(host: &Host, key: &AssistantId) -> Vec<Event> {
    let events = events(&host.log, key).await.into_iter();
    events
        .map(|(_, event)| event)
        .filter(|event| matches!(event, Event::TickStarted(_)))
        .collect()
}

fn intended(actor: &AssistantId) -> EffectIntended {
    let Effect {
        key,
        tool,
        arguments,
        ..
    } = forged(actor);
    EffectIntended {
        key,
        call: CallId::try_new("forged").unwrap(),
        tool,
        category: ToolCategory::Terminal,
        arguments,
        speech: ActSpeech::Nothing,
        trust: None,
        result_trust: None,
        audience: None,
        within: None,
        approval: None,
    }
}

#[tokio::test]
#[should_panic(expected = "no effect is without its outcome")]
async fn an_effect_without_an_outcome_is_noticed() {
    let (_folder, host, key) = Box::pin(a_life()).await;
    let mut more = begun(&host, &key).await;
    more.push(Event::EffectIntended(intended(&key)));
    log(&host, &key, more).await;
    Account::of(&host, &key).await;
}
