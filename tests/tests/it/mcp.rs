//! A memory for an agent that was not written for this project, over both generations of the protocol.

use std::{path::Path, process::Stdio};

use dormouse_tests::{Program, mcp};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

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

/// How often the server is killed.
const KILLS: u64 = 6;

/// A client that writes and reads lines itself.
struct Agent {
    server: Child,
    calls: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Agent {
    async fn begin(program: &Program, memory: &Path) -> Self {
        let mut command = Command::new(program.file());
        command.args(["mcp", "--memory"]).arg(memory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.kill_on_drop(true).spawn().unwrap();
        let mut agent = Self {
            calls: server.stdin.take().unwrap(),
            answers: BufReader::new(server.stdout.take().unwrap()).lines(),
            server,
        };
        let client = json!({ "name": "agent", "version": "1" });
        let begin =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        agent.say(0, "initialize", &begin).await;
        agent.hears().await;
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        agent
            .calls
            .write_all(format!("{begun}\n").as_bytes())
            .await
            .unwrap();
        agent
    }

    async fn say(&mut self, id: u64, method: &str, params: &Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let line = format!("{request}\n");
        self.calls.write_all(line.as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.say(id, "tools/call", &params).await;
    }

    async fn hears(&mut self) -> Value {
        let line = self.answers.next_line().await.unwrap().expect("an answer");
        serde_json::from_str(&line).unwrap()
    }
}

#[tokio::test]
async fn what_was_answered_survives_a_kill_and_a_key_makes_a_call_safe_to_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let (program, memory) = (
        Program::over(folder.path()),
        folder.path().join("notes.redb"),
    );
    let note = |number: u64| json!({ "text": format!("Box {number} holds a lamp."), "key": format!("note-{number}") });
    let (mut next, mut answered) = (0, 0);
    for kill in 1..=KILLS {
        let mut agent = Agent::begin(&program, &memory).await;
        // What had no answer before the kill is said again, and more is said than is waited for.
        for number in answered..answered + 20 {
            agent.call(number + 1, "remember", &note(number)).await;
            next = next.max(number + 1);
        }
        for _ in 0..kill {
            let heard = agent.hears().await;
            assert_eq!(heard["result"]["isError"], false, "{heard}");
            answered += 1;
        }
        agent.server.start_kill().unwrap();
        agent.server.wait().await.unwrap();
    }

    let mut agent = Agent::begin(&program, &memory).await;
    for number in 0..next {
        agent.call(number + 1, "remember", &note(number)).await;
        agent.hears().await;
    }
    agent
        .call(0, "recall", &json!({ "query": "lamp", "tokens": 16_384 }))
        .await;
    let found = agent.hears().await;
    let items = found["result"]["structuredContent"]["items"]
        .as_array()
        .unwrap();
    assert_eq!(items.len() as u64, next, "{found}");
}
