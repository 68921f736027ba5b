//! A visit is recorded with a server that was not written for this project, and replayed without a server.

use std::path::Path;

use dormouse_tests::{Peer, Program};
use serde_json::Value;

const QUESTION: &str = "look around and greet me";

/// What the assistant said aloud, in one visit over an empty data folder.
async fn visit(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let program = Program::over(folder);
    let mut child = program.start(arguments);
    child.write(QUESTION).await;
    let (printed, status) = child.finish().await;
    assert!(status.success(), "{status}: {}", program.complaints());
    let said = |line: &&Value| line["type"] == "world" && line["by"] == "Dormouse";
    let said = printed.iter().filter(said);
    said.map(|line| line["text"].as_str().unwrap().to_owned())
        .collect()
}

async fn a_recorded_visit_is_replayed(peer: Peer) {
    let Some(server) = peer.start().await else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("visit.json");
    let file = file.to_str().unwrap();
    let url = server.base_url();
    let recording = [
        "record",
        file,
        "--json",
        "--provider",
        "local",
        "--base-url",
        &url,
        "--model",
        "tiny",
    ];
    let first = folder.path().join("first");
    let said = visit(&first, &recording).await;
    assert!(!said.is_empty(), "{}", server.said());
    // The server is stopped.
    drop(server);
    let second = folder.path().join("second");
    let replayed = visit(&second, &["play", "--replay", file, "--json"]).await;
    assert_eq!(replayed, said);
    let again = Program::over(&first).start(&recording);
    let (_, status) = again.finish().await;
    assert_eq!(status.code(), Some(2), "nothing is ever written over");
}

#[tokio::test]
async fn a_visit_with_aimock_is_recorded_and_replayed() {
    a_recorded_visit_is_replayed(Peer::Aimock).await;
}

#[tokio::test]
async fn a_visit_with_llama_server_is_recorded_and_replayed() {
    a_recorded_visit_is_replayed(Peer::LlamaServer).await;
}
