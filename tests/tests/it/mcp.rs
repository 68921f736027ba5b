//! A memory for an agent that was not written for this project, over both generations of the protocol.

use std::path::Path;

use dormouse_tests::{Program, mcp};
use serde_json::{Value, json};

#[tokio::test]
async fn an_agent_of_the_python_sdk_remembers_and_recalls_in_both_generations_of_the_protocol() {
    let Some(mut agent) = mcp() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/mcp/agent.py");
    let program = Program::over(folder.path());
    let ended = agent
        .arg(script)
        .arg(program.file())
        .arg(folder.path())
        .output();
    let ended = ended.await.unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );

    let said = String::from_utf8(ended.stdout).unwrap();
    let visits: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let modes: Vec<_> = visits.iter().map(|visit| &visit["mode"]).collect();
    assert_eq!(modes, ["legacy", "auto", "2026-07-28"]);
    for (before, visit) in visits.iter().enumerate() {
        assert_eq!(
            visit["tools"],
            json!(["remember", "recall", "why", "forget", "restore"])
        );
        assert_eq!(visit["new"], true);
        assert_eq!(
            visit["found"].as_array().unwrap().len(),
            before + 1,
            "{visit}"
        );
        assert!(
            visit["text"]
                .as_str()
                .unwrap()
                .contains("Alice: Alice keeps her"),
            "{visit}"
        );
        assert_eq!(
            visit["wrong"],
            json!([true, "tokens is 0; expected 1 to 16384"])
        );
    }
}
