//! A memory, and the assistants of a service, for agents that were not written for this project, over both generations of the
//! protocol.

use std::{path::Path, process::Stdio, time::Duration};

use dormouse_tests::{LIMIT, Program, mcp, mcp_in_node};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::{Instant, timeout},
};

use crate::service::{Door, Running};

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
        Self::start(command).await
    }

    async fn start(mut command: Command) -> Self {
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

    /// Says something, and reads until both the answer and a notification are there.
    async fn talks_and_is_notified(&mut self, id: u64) {
        let words = json!({ "words": "Hello, where is the kettle?" });
        self.call(id, "talk", &words).await;
        let (mut is_answered, mut is_notified) = (false, false);
        while !(is_answered && is_notified) {
            let heard = timeout(LIMIT, self.hears()).await.unwrap();
            is_answered |= heard["id"] == id && heard["result"]["isError"] == false;
            is_notified |= heard["method"] == "notifications/resources/updated";
        }
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

/// The tools that a token for reading and talking is offered.
const OFFERED: [&str; 8] = [
    "talk", "outcome", "listen", "recall", "why", "journal", "goals", "status",
];

/// A service with a token for Vera, who may read and talk.
async fn service(folder: &Path) -> (Program, Running, String) {
    let bounds = "[server]\nrequests_per_minute = 100000\nburst = 1000\n";
    std::fs::write(folder.join("dormouse.toml"), bounds).unwrap();
    let program = Program::over(folder);
    let create = [
        "token", "create", "Vera", "--allow", "read", "--allow", "talk", "--json",
    ];
    let (printed, status) = program.start(&create).finish().await;
    assert!(status.success(), "{}", program.complaints());
    let secret = printed[0]["secret"].as_str().unwrap().to_owned();
    let running = Running::start(&program, &secret).await;
    (program, running, secret)
}

async fn visitors(mut agent: Command, script: &str, packages: Option<&Path>) {
    let folder = tempfile::tempdir().unwrap();
    let (program, running, secret) = service(folder.path()).await;
    agent.env("DORMOUSE_TOKEN", secret);
    agent.arg(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("peers/mcp")
            .join(script),
    );
    agent.args(packages);
    agent.arg(format!("http://{}", running.door.address));
    let ended = timeout(LIMIT, agent.arg(program.file()).output()).await;
    let ended = ended.expect("the visits take too long").unwrap();
    let complaints = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success(),
        "{complaints}\n{}",
        program.complaints()
    );

    let said = String::from_utf8(ended.stdout).unwrap();
    let visits: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(visits.len(), 6);
    for visit in &visits {
        assert_eq!(visit["tools"], json!(OFFERED), "{visit}");
        assert_eq!(visit["first"]["outcome"], "answered", "{visit}");
        assert_eq!(
            visit["text"], visit["first"]["answer"][0]["words"],
            "{visit}"
        );
        assert_eq!(visit["again"], visit["first"], "said once: {visit}");
        // The TypeScript SDK drops a report that arrives together with the result.
        let may_be_dropped = visit["sdk"] == "typescript" && visit["reports"] == json!([]);
        let is_reported = visit["reports"] == json!([visit["text"]]);
        assert!(is_reported || may_be_dropped, "{visit}");
        assert_eq!(visit["heard"], visit["text"], "{visit}");
        let resources = visit["resources"].as_array().unwrap();
        assert!(
            resources.contains(&json!("dormouse://dormouse/heard")),
            "{visit}"
        );
        assert_eq!(
            visit["prompts"],
            json!(["ask", "catch_up", "what_is_known"])
        );
        assert!(
            visit["prompt"].as_str().unwrap().contains("Is there tea?"),
            "{visit}"
        );
        assert_eq!(visit["refused"], true, "{visit}");
        let is_new = visit["mode"] != "legacy";
        let version = if is_new { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(visit["version"], version, "{visit}");
        assert_eq!(visit["updated"], "dormouse://dormouse/heard", "{visit}");
    }
}

#[tokio::test]
async fn visitors_of_the_python_sdk_talk_over_both_transports_and_generations() {
    if let Some(agent) = mcp() {
        visitors(agent, "visitor.py", None).await;
    }
}

#[tokio::test]
async fn visitors_of_the_typescript_sdk_talk_over_both_transports_and_generations() {
    if let Some((agent, packages)) = mcp_in_node() {
        visitors(agent, "visitor.mjs", Some(&packages)).await;
    }
}

#[tokio::test]
async fn a_client_that_starts_a_program_is_notified_after_the_service_was_killed_too() {
    let folder = tempfile::tempdir().unwrap();
    let (program, running, secret) = service(folder.path()).await;
    let mut command = Command::new(program.file());
    let url = format!("http://{}", running.door.address);
    command
        .args(["mcp", "--url", &url])
        .env("DORMOUSE_TOKEN", secret);
    let mut agent = Agent::start(command).await;
    let heard_of = json!({ "uri": "dormouse://dormouse/heard" });
    agent.say(1, "resources/subscribe", &heard_of).await;
    assert_eq!(agent.hears().await["result"], json!({}));
    agent.talks_and_is_notified(2).await;

    let _running = running.again(&program).await;
    let begun_again = timeout(LIMIT, agent.hears()).await.unwrap();
    assert_eq!(begun_again["params"], heard_of, "{begun_again}");
    agent.talks_and_is_notified(3).await;
}

/// How often the service is killed while somebody talks.
const TALKS: u64 = 12;

/// One call of `talk`, as a client of the old generation sends it. Answers nothing if the service is killed meanwhile.
async fn talk(door: &Door, number: u64) -> Option<Value> {
    let words = json!({ "words": format!("Hello, number {number}"), "key": number.to_string() });
    let params = json!({ "name": "talk", "arguments": words });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = door.answer("POST", "/mcp", &call.to_string()).await?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let answer: Value = serde_json::from_str(body).ok()?;
    let outcome = &answer["result"]["structuredContent"];
    (outcome["outcome"] == "answered").then(|| outcome.clone())
}

#[tokio::test]
async fn a_talk_that_is_killed_and_repeated_under_its_key_is_answered_once() {
    let folder = tempfile::tempdir().unwrap();
    let (program, mut running, _) = service(folder.path()).await;
    let mut answered = 0;
    for number in 0..TALKS {
        let door = running.door.clone();
        // Each talk is killed a little later than the one before it, so at another moment of its way.
        let first = timeout(Duration::from_millis(4 * number), talk(&door, number)).await;
        answered += u64::from(matches!(first, Ok(Some(_))));
        running = running.again(&program).await;
        let begun = Instant::now();
        let outcome = loop {
            if let Some(outcome) = talk(&running.door, number).await {
                break outcome;
            }
            assert!(begun.elapsed() < LIMIT, "talk {number} is not answered");
        };
        if let Ok(Some(first)) = first {
            assert_eq!(first, outcome, "it is the same talk");
        }
        assert_eq!(outcome["answer"].as_array().unwrap().len(), 1, "{outcome}");
    }
    println!("{answered} of {TALKS} talks were answered before the kill");
    let path = "/api/ai/assistants/dormouse/audit/?limit=1000";
    let audit = running.door.answer("GET", path, "").await.unwrap();
    let (_, audit) = audit.split_once("\r\n\r\n").unwrap();
    let audit: Value = serde_json::from_str(audit).unwrap();
    let events = audit["events"].as_array().unwrap();
    let of = |kind: &str, text: &str| {
        let its = events.iter().filter(|it| it["kind"] == kind);
        its.filter(|it| it.to_string().contains(text)).count() as u64
    };
    for number in 0..TALKS {
        // The closing quotation mark tells 1 from 10.
        let words = format!("Hello, number {number}\"");
        assert_eq!(of("perceived", &words), 1, "{words}");
    }
    assert_eq!(of("effect_intended", ""), TALKS);
    assert_eq!(of("effect_settled", "done"), TALKS);
}

#[tokio::test]
async fn the_program_says_what_it_lacks_to_reach_a_service() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::over(folder.path());
    let start = |arguments: &[&str], token: Option<&str>| {
        let mut command = Command::new(program.file());
        command.arg("mcp").args(arguments).env_clear();
        command.envs(token.map(|token| ("DORMOUSE_TOKEN", token)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).kill_on_drop(true);
        command.spawn().unwrap()
    };
    for (arguments, token, complaint) in [
        (&[][..], None, "DORMOUSE_TOKEN is not set"),
        (&[][..], Some(""), "DORMOUSE_TOKEN is not set"),
        (&[][..], Some("dm_x\nhost: evil"), "does not hold a token"),
        (
            &["--url", "https://tea.example"],
            Some("dm_x"),
            "expected http://HOST:PORT",
        ),
        (
            &["--url", "ftp://tea.example"],
            Some("dm_x"),
            "expected http://HOST:PORT",
        ),
        (&["--trust", "0.5"], Some("dm_x"), "--memory"),
    ] {
        let ended = start(arguments, token).wait_with_output().await.unwrap();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?} {token:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains(complaint), "{said}");
    }

    // Nobody listens there: a port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let mut bridge = start(&["--url", &url], Some("dm_x"));
    let mut input = bridge.stdin.take().unwrap();
    let lines = "no json\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    input.write_all(lines.as_bytes()).await.unwrap();
    drop(input);
    let ended = timeout(LIMIT, bridge.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    assert!(ended.status.success());
    let said = String::from_utf8(ended.stdout).unwrap();
    let answers: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2, "{said}");
    assert_eq!(answers[0]["error"]["code"], -32700);
    assert_eq!(answers[1]["id"], 7);
    let why = answers[1]["error"]["message"].as_str().unwrap();
    assert!(why.contains("dormouse serve"), "{why}");
}

#[tokio::test]
async fn what_a_service_refuses_reaches_the_client_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let (program, running, secret) = service(folder.path()).await;
    let mut command = Command::new(program.file());
    let url = format!("http://{}", running.door.address);
    command
        .args(["mcp", "--url", &url])
        .env("DORMOUSE_TOKEN", &secret[..20]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut bridge = command.kill_on_drop(true).spawn().unwrap();
    let mut input = bridge.stdin.take().unwrap();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"}\n";
    input.write_all(line.as_bytes()).await.unwrap();
    let mut answers = BufReader::new(bridge.stdout.take().unwrap()).lines();
    let answer = timeout(LIMIT, answers.next_line())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], "a");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("401"), "{why}");
}
