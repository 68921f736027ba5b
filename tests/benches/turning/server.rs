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
/// A message that ends like this is answered at once.
pub(super) const BRIEFLY: &str = "in a word";
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
    pub(super) async fn last_bodies(&self) -> Vec<Vec<u8>> {
        let answer = client().get(format!("{}/bodies", self.url)).send();
        let bodies = answer.await.unwrap().bytes().await.unwrap();
        let bodies: Vec<String> = serde_json::from_slice(&bodies).unwrap();
        assert!(bodies.iter().all(|body| !body.is_empty()));
        bodies.into_iter().map(String::into_bytes).collect()
    }
}

/// A client that goes directly to this machine.
pub(super) fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().no_proxy().build();
    client.unwrap()
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
        _ => reply(body, bodies),
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

/// What the model answers.
enum Answer {
    Call(&'static str, Value),
    /// For a client that has no tool to speak with.
    Words,
}

/// What the room is like, in the end.
const CALM: &str = "The room is as it was, and the wind is calm.";

/// Looks around and asks for the wind, twice each, then answers. Returns the type of the content and the content.
fn reply(body: Vec<u8>, bodies: &Bodies) -> (&'static str, String) {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let messages = request.get("messages").and_then(Value::as_array).unwrap();
    let is = |message: &&Value, role: &str| message.get("role").is_some_and(|it| it == role);
    let lately = messages.iter().rev();
    let step = lately
        .take_while(|message| !is(message, "user"))
        .filter(|message| is(message, "tool"))
        .count();
    let answer = answer_of(&request, messages, step);
    if let Some(place) = bodies.lock().unwrap().get_mut(step) {
        *place = body;
    }
    let finish = match answer {
        Answer::Call(..) => "tool_calls",
        Answer::Words => "stop",
    };
    let said = match answer {
        Answer::Call(tool, arguments) => {
            json!({"role": "assistant", "tool_calls": [{"index": 0, "id": format!("call_{}", messages.len()),
                "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}}]})
        }
        Answer::Words => json!({"role": "assistant", "content": CALM}),
    };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    if request.get("stream") != Some(&Value::Bool(true)) {
        let choice = json!({"index": 0, "message": said, "finish_reason": finish});
        let reply = json!({"id": "c", "object": "chat.completion", "created": 0, "model": "tiny", "choices": [choice],
            "usage": usage});
        return ("application/json", reply.to_string());
    }
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "tiny",
            "choices": choices, "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let piece = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        chunk(json!([choice]), Value::Null)
    };
    let pieces = [
        piece(said, Value::Null),
        piece(json!({}), finish.into()),
        chunk(json!([]), usage),
        "data: [DONE]\n\n".to_owned(),
    ];
    ("text/event-stream", pieces.concat())
}

/// What comes after so many results.
fn answer_of(request: &Value, messages: &[Value], step: usize) -> Answer {
    let asked = messages
        .iter()
        .rev()
        .find(|it| it.get("role").is_some_and(|role| role == "user"));
    let asked = asked.and_then(|message| message.get("content")?.as_str());
    // What is remembered comes before what was said.
    let asks = |end: &str| asked.is_some_and(|asked| asked.trim_end().ends_with(end));
    let page = |words: &str| Answer::Call("page", json!({"to": "Alice", "message": words}));
    let tools = request.get("tools").and_then(Value::as_array);
    let speaks_by_tool = tools.is_some_and(|tools| {
        let named = |tool: &Value| tool.pointer("/function/name") == Some(&"page".into());
        tools.iter().any(named)
    });
    match step {
        0 if asks("keep a goal") => Answer::Call(
            "add_goal",
            json!({"description": "see the sea", "due_at": "2100-01-01T00:00:00Z"}),
        ),
        _ if asks("keep a goal") => page("I shall."),
        _ if asks(BRIEFLY) => page("All is well."),
        0 => Answer::Call("inspect_location", json!({})),
        1 | 3 => Answer::Call(WIND, json!({"thing": "the attic"})),
        2 => Answer::Call("inspect_location", json!({"detail_level": "brief"})),
        _ if speaks_by_tool => page(CALM),
        _ => Answer::Words,
    }
}
