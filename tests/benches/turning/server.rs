//! A server with OpenAI's API in a process of its own, so that what it takes of the processor is not counted.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use dormouse_tests::WIND;
use serde_json::{Value, json};

/// How many steps a turn has.
pub(super) const STEPS: usize = 5;
/// The variable by which the process knows that it is the server.
const SERVES: &str = "DORMOUSE_BENCH_SERVES";

/// The bodies of the last requests of a turn, by their step.
type Bodies = Arc<Mutex<[Vec<u8>; STEPS]>>;

/// A running server. Dropping it kills its process.
pub(super) struct Server {
    pub(super) url: String,
    process: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Server {
    pub(super) fn start() -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .env(SERVES, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        let url = format!("http://{}/v1", address.trim());
        Self { url, process }
    }

    /// What it was sent in the last turn.
    pub(super) async fn last_bodies(&self, client: &reqwest::Client) -> Vec<Vec<u8>> {
        let answer = client.get(format!("{}/bodies", self.url)).send();
        let bodies = answer.await.unwrap().bytes().await.unwrap();
        let bodies: Vec<String> = serde_json::from_slice(&bodies).unwrap();
        assert!(bodies.iter().all(|body| !body.is_empty()));
        bodies.into_iter().map(String::into_bytes).collect()
    }
}

/// Serves until the input ends, if this process is the server; otherwise answers no.
pub(crate) fn serves() -> bool {
    if env::var_os(SERVES).is_none() {
        return false;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let bodies = Bodies::default();
        for connection in listener.incoming() {
            let connection = connection.unwrap();
            connection.set_nodelay(true).unwrap();
            let bodies = Arc::clone(&bodies);
            // Until the client hangs up between two requests.
            thread::spawn(move || while answer(&connection, &bodies).is_some() {});
        }
    });
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
    true
}

fn answer(connection: &TcpStream, bodies: &Bodies) -> Option<()> {
    let mut reader = BufReader::new(connection);
    let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).ok()?;
    while line != "\r\n" {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (kind, reply) = match first.split(' ').nth(1)? {
        "/v1/bodies" => ("application/json", sent(bodies)),
        _ => ("text/event-stream", reply(body, bodies)),
    };
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{reply}",
        reply.len()
    );
    let mut writer = connection;
    writer.write_all(answer.as_bytes()).ok()
}

fn sent(bodies: &Bodies) -> String {
    let bodies = bodies.lock().unwrap();
    let texts = bodies.iter().map(|body| String::from_utf8_lossy(body));
    json!(texts.collect::<Vec<_>>()).to_string()
}

/// Looks around and asks for the wind, twice each, then answers.
fn reply(body: Vec<u8>, bodies: &Bodies) -> String {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let messages = request.get("messages").and_then(Value::as_array).unwrap();
    let is = |message: &&Value, role: &str| message.get("role").is_some_and(|it| it == role);
    let lately = messages.iter().rev();
    let step = lately
        .take_while(|message| !is(message, "user"))
        .filter(|message| is(message, "tool"))
        .count();
    let asked = messages.iter().rev().find(|message| is(message, "user"));
    let asked = asked.and_then(|message| message.get("content")?.as_str());
    // What is remembered comes before what was said.
    let wants_a_goal = asked.is_some_and(|asked| asked.trim_end().ends_with("keep a goal"));
    let (tool, arguments) = match step {
        0 if wants_a_goal => (
            "add_goal",
            json!({"description": "see the sea", "due_at": "2100-01-01T00:00:00Z"}),
        ),
        _ if wants_a_goal => ("page", json!({"to": "Alice", "message": "I shall."})),
        0 => ("inspect_location", json!({})),
        1 | 3 => (WIND, json!({"thing": "the attic"})),
        2 => ("inspect_location", json!({"detail_level": "brief"})),
        _ => (
            "page",
            json!({"to": "Alice", "message": "The room is as it was, and the wind is calm."}),
        ),
    };
    if let Some(place) = bodies.lock().unwrap().get_mut(step) {
        *place = body;
    }
    let call = json!({"tool_calls": [{"index": 0, "id": format!("call_{}", messages.len()), "type": "function",
        "function": {"name": tool, "arguments": arguments.to_string()}}]});
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "c", "model": "tiny", "choices": [choice]})
        )
    };
    let usage =
        json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
    let (called, finished) = (
        chunk(call, Value::Null),
        chunk(json!({}), "tool_calls".into()),
    );
    format!("{called}{finished}data: {usage}\n\ndata: [DONE]\n\n")
}
