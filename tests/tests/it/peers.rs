//! Turns of two tools, over real HTTP, with servers that were not written for this project.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{ModelName, Outcome, ProviderId, ToolSource};
use dormouse_engine::{AssistantConfig, Event, Rest, StopReason, ToolCalling};
use dormouse_providers::{OpenAiConfig, OpenAiModel};
use dormouse_sandbox::CharacterKind;
use dormouse_tests::{Peer, Program, Resident, Server};

use crate::{
    account::{Account, events},
    host::{Host, entity, key},
};

/// What the peers are asked; aimock goes by these words.
fn question(form: ToolCalling) -> &'static str {
    match form {
        ToolCalling::Native => "look around and greet me",
        ToolCalling::Fallback => "look around and greet me, in fallback form",
    }
}

/// How the peers greet. What the tiny model says behind it is left to its noise.
fn greeting(peer: Peer) -> &'static str {
    match peer {
        Peer::Aimock => "Hello from aimock.",
        Peer::LlamaServer => "Hello from the tiny model",
    }
}

fn model(server: &Server) -> OpenAiModel {
    let config = OpenAiConfig {
        provider: ProviderId::try_new("local").unwrap(),
        base_url: server.base_url(),
        api_key: None,
        model: ModelName::try_new("tiny").unwrap(),
    };
    OpenAiModel::try_new(config).expect("the address is valid")
}

/// One turn of an assistant in this process, gone over event by event.
async fn turn_in_process(peer: Peer, form: ToolCalling) {
    let Some(server) = peer.start().await else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let host = Host::open(folder.path());
    let (me, alice, key) = (entity("assistant:1"), entity("player:1"), key("dormouse"));
    let kind = CharacterKind::Assistant(key.clone());
    host.join(&me, "Dormouse", kind).await;
    host.join(&alice, "Alice", CharacterKind::Player).await;
    let mut config = AssistantConfig::new(key.clone());
    config.tool_calling = form;
    config.temperature = Some(0.0);
    config.max_tokens = Some(400);
    let ports = host.ports(&key, Arc::new(model(&server)));
    let resident = Resident::wake(config, host.sandbox.specs(), ports).await;

    let number = host
        .whisper(&alice, (&me, "Dormouse"), question(form))
        .await;
    for perception in host.perceived(&me, 0).await {
        resident.hear(perception).await;
    }
    assert_eq!(resident.rest().await, Rest::Settled, "{}", server.said());
    let spent = resident.handle().status().spent;
    resident.end().await;

    let events = events(&host.log, &key).await;
    let events: Vec<_> = events.into_iter().map(|(_, event)| event).collect();
    assert_eq!(
        calls(&events, form),
        ["inspect_location", "say"],
        "{}",
        server.said()
    );
    assert!(
        events.iter().any(|event| matches!(event,
            Event::ToolAnswered(answered) if answered.content.contains("The Common Room"))),
        "the look is answered before the greeting"
    );
    let account = Account::of(&host, &key).await;
    account.every_message_is_answered_once();
    let heard = account.triggers().next().unwrap();
    assert_eq!(heard.delivery(), number);
    assert_eq!(heard.closed, [StopReason::TerminalTool]);
    assert!(heard.answers()[0].starts_with(greeting(peer)), "{heard:?}");
    let done = host.sandbox.effects(0).await.unwrap();
    assert!(matches!(done[..], [ref only] if matches!(only.outcome, Outcome::Done(_))));
    let perceived = host.perceived(&alice, 0).await;
    let perceived = perceived.iter().map(|one| one.words.as_claimed());
    assert!(
        perceived
            .clone()
            .any(|words| words.starts_with(greeting(peer))),
        "{:?}",
        perceived.collect::<Vec<_>>()
    );
    assert_eq!((spent.replies, spent.failures), (2, 0));
    assert!(spent.prompt_tokens > 0 && spent.completion_tokens > 0);
}

/// The tools called, in order. The form decides whether the server or the engine read the calls.
fn calls(events: &[Event], form: ToolCalling) -> Vec<String> {
    let mut names = Vec::new();
    for event in events {
        if let Event::Replied(replied) = event {
            let by_server = replied.reply.tool_calls.len();
            match form {
                ToolCalling::Native => assert_eq!(by_server, replied.calls.len(), "{replied:?}"),
                ToolCalling::Fallback => assert_eq!(by_server, 0, "{replied:?}"),
            }
            assert!(
                replied.reply.usage.is_some(),
                "the server counts: {replied:?}"
            );
            names.extend(replied.calls.iter().map(|call| call.name.clone()));
        }
    }
    names
}

/// One turn through the program itself.
async fn turn_through_the_program(peer: Peer, form: ToolCalling) {
    let Some(server) = peer.start().await else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = Program::over(folder.path());
    let url = server.base_url();
    let way = match form {
        ToolCalling::Native => "native",
        ToolCalling::Fallback => "fallback",
    };
    let asked = ["play", "--json", "--provider", "local", "--base-url", &url];
    let further = ["--model", "tiny", "--tool-calling", way];
    let mut child = program.start(&[&asked[..], &further[..]].concat());
    child.write(question(form)).await;
    let (printed, status) = child.finish().await;
    assert!(status.success(), "{status}: {}", program.complaints());

    let of = |kind: &'static str| printed.iter().filter(move |line| line["type"] == kind);
    assert_eq!(of("ready").next().unwrap()["provider"], "local");
    let accepted = of("message").find(|line| line["text"] == question(form));
    assert_eq!(accepted.unwrap()["classification"], "trigger");
    let greeted = of("world").filter(|line| line["by"] == "Dormouse");
    let greeted: Vec<_> = greeted.map(|line| line["text"].as_str().unwrap()).collect();
    assert!(
        matches!(greeted[..], [only] if only.starts_with(greeting(peer))),
        "{greeted:?}"
    );
    let ended = of("event").find(|line| line["kind"] == "tick_ended");
    assert_eq!(ended.unwrap()["data"]["reason"], "terminal_tool");
    check_folder(folder.path()).await;
}

async fn check_folder(data: &Path) {
    let host = Host::open(data);
    let account = Account::of(&host, &key("dormouse")).await;
    account.every_message_is_answered_once();
    assert_eq!(account.triggers().count(), 1);
}

#[tokio::test]
async fn aimock_drives_a_turn_of_two_tools_in_native_form() {
    Box::pin(turn_in_process(Peer::Aimock, ToolCalling::Native)).await;
}

#[tokio::test]
async fn aimock_drives_a_turn_of_two_tools_in_fallback_form() {
    Box::pin(turn_in_process(Peer::Aimock, ToolCalling::Fallback)).await;
}

#[tokio::test]
async fn aimock_drives_a_turn_of_two_tools_through_the_program() {
    turn_through_the_program(Peer::Aimock, ToolCalling::Native).await;
}

#[tokio::test]
async fn llama_server_drives_a_turn_of_two_tools_in_native_form() {
    Box::pin(turn_in_process(Peer::LlamaServer, ToolCalling::Native)).await;
}

#[tokio::test]
async fn llama_server_drives_a_turn_of_two_tools_in_fallback_form() {
    Box::pin(turn_in_process(Peer::LlamaServer, ToolCalling::Fallback)).await;
}

#[tokio::test]
async fn llama_server_drives_a_turn_of_two_tools_through_the_program() {
    turn_through_the_program(Peer::LlamaServer, ToolCalling::Fallback).await;
}
