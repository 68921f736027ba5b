//! A server on this machine that speaks OpenAI's API, in one of several moods.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

/// How the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Correctly.
    Fine,
    /// With its calls printed into the text.
    Printing,
    /// With a web page.
    Html,
    /// With 401, and the key it was given, in several forms.
    Unauthorized,
    /// Without any answer.
    Hanging,
    /// Correctly, but with 400 to every request with tools.
    NoTools,
    /// With 429, and a requested pause of three thousand years.
    Pausing,
    /// The same for the first request, and correctly from then on.
    PausingOnce,
    /// With an empty first reply, and correctly from then on.
    BlankOnce,
}

/// A server. It ends with the test.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Request>>>,
}

/// What it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) body: Value,
}

impl Server {
    pub(crate) fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else {
                    continue;
                };
                let is_first = seen.lock().unwrap().is_empty();
                seen.lock().unwrap().push(request.clone());
                let mood = match mood {
                    Mood::PausingOnce if is_first => Mood::Pausing,
                    Mood::BlankOnce if !is_first => Mood::Fine,
                    mood => mood,
                };
                if mood == Mood::Hanging {
                    kept.push(stream);
                    continue;
                }
                let answer = answer(mood, &request);
                // The client may have disconnected.
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        Self { url, asked }
    }

    /// A server that answers each request with the given reply: see [`events`], [`says`] and [`http`].
    pub(crate) fn scripted(answer: impl Fn(&Request) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else {
                    continue;
                };
                let answer = answer(&request);
                seen.lock().unwrap().push(request);
                // The client may have disconnected.
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        Self { url, asked }
    }

    /// All it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

impl Request {
    /// The message that is to be answered.
    pub(crate) fn message(&self) -> &str {
        let messages = self.body.get("messages").and_then(Value::as_array);
        let mut newest_first = messages.into_iter().flatten().rev();
        let is_user = |it: &&Value| it.get("role").is_some_and(|role| role == "user");
        let content = newest_first.find(is_user).and_then(|it| it.get("content"));
        content.and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it holds results of calls.
    pub(crate) fn has_results(&self) -> bool {
        let messages = self.body.get("messages").and_then(Value::as_array);
        let mut messages = messages.into_iter().flatten();
        messages.any(|it| it.get("role").is_some_and(|role| role == "tool"))
    }

    /// Whether a tool of this name is offered.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        let tools = self.body.get("tools").and_then(Value::as_array);
        let mut tools = tools.into_iter().flatten();
        tools.any(|it| {
            it.pointer("/function/name")
                .is_some_and(|name| name == tool)
        })
    }
}

/// A reply that calls a tool.
pub(crate) fn calls(tool: &str, arguments: &Value) -> String {
    events(vec![call(tool, &arguments.to_string())], "tool_calls")
}

/// A reply that says something in plain text.
pub(crate) fn says(text: &str) -> String {
    events(vec![json!({"content": text})], "stop")
}

/// A reply in these pieces.
pub(crate) fn events(deltas: Vec<Value>, finish: &str) -> String {
    http("200 OK", "text/event-stream", &stream(deltas, finish))
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let (mut length, mut key) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim();
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => key = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        path: first.split(' ').nth(1)?.to_owned(),
        key,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn answer(mood: Mood, request: &Request) -> String {
    let has_tools = request.body.get("tools").is_some();
    match mood {
        Mood::Html => http("200 OK", "text/html", "<html><body>Welcome!</body></html>"),
        Mood::Unauthorized => {
            let body = complaint(request.key.as_deref().unwrap_or_default());
            http("401 Unauthorized", "application/json", &body)
        }
        Mood::NoTools if has_tools => {
            let message = "tools are not supported by this model";
            let body = json!({"error": {"message": message, "type": "invalid_request_error"}});
            http("400 Bad Request", "application/json", &body.to_string())
        }
        Mood::Pausing => http(
            "429 Too Many Requests\r\nretry-after: 99999999999",
            "application/json",
            "{\"error\": {\"message\": \"slow down\"}}",
        ),
        _ if request.path.ends_with("/models") => {
            let models = json!({"data": [
                {"id": "tiny", "max_model_len": 4096, "owned_by": "nobody"},
                {"id": "large", "context_length": 200_000, "pricing": {"prompt": "0.000001", "completion": "0.000002"}},
            ]});
            http("200 OK", "application/json", &models.to_string())
        }
        mood => http("200 OK", "text/event-stream", &spoken(mood, request)),
    }
}

/// An error that repeats the key, plainly and as JSON within JSON.
fn complaint(key: &str) -> String {
    let escaped = json!({ "key": key });
    json!({"error": {
        "message": format!("the key {key} of {escaped} is wrong"),
        "code": key,
    }})
    .to_string()
}

/// The reply as events.
fn spoken(mood: Mood, request: &Request) -> String {
    let tool = request.body.pointer("/tools/0/function/name");
    let first = request.body.pointer("/messages/0/role");
    // An assistant whose model is asked for calls in the text has instructions, and no tools.
    let tool = match tool {
        None if mood == Mood::Printing && first.is_some_and(|role| role != "user") => Some("say"),
        tool => tool.and_then(Value::as_str),
    };
    let (deltas, finish) = match (tool, mood) {
        (_, Mood::BlankOnce) => (Vec::new(), "stop"),
        (Some("report_sum"), Mood::Printing) => (
            vec![json!({"content": "{\"name\": \"report_sum\", \"arguments\": {\"sum\": 5}}"})],
            "stop",
        ),
        (Some(_), Mood::Printing) => (
            vec![
                json!({"content": "{\"name\": \"say\", \"arguments\": {\"message\": \"Good day.\"}}"}),
            ],
            "stop",
        ),
        (Some("report_sum"), _) => (vec![call("report_sum", "{\"sum\": 5}")], "tool_calls"),
        (Some(_), _) => (
            vec![call("say", "{\"message\": \"Good day.\"}")],
            "tool_calls",
        ),
        (None, _) if request.body.get("response_format").is_some() => (
            vec![json!({"content": "{\"animal\": \"cat\", \"legs\": 4}"})],
            "stop",
        ),
        (None, _) => {
            let words = ["one", " two", " three"];
            (words.map(|word| json!({"content": word})).into(), "stop")
        }
    };
    stream(deltas, finish)
}

fn stream(deltas: Vec<Value>, finish: &str) -> String {
    let chunk = |delta: Value, finish: Value| json!({"id": "c", "model": "tiny-2026", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let mut chunks: Vec<_> = deltas
        .into_iter()
        .map(|delta| chunk(delta, Value::Null))
        .collect();
    chunks.push(chunk(json!({}), finish.into()));
    chunks.push(
        json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
    );
    let events: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    events + "data: [DONE]\n\n"
}

fn call(name: &str, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
        "function": {"name": name, "arguments": arguments}}]})
}

pub(crate) fn http(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nx-request-id: req-7\r\n\
         x-ratelimit-limit-requests: 100\r\nx-ratelimit-remaining-requests: 99\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// As RFC 4648 has it, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0_u32, |group, place| {
            group << 8 | u32::from(chunk.get(place).copied().unwrap_or_default())
        });
        for place in 0..4 {
            let letter = LETTERS.get((group >> (18 - 6 * place) & 63) as usize);
            let padded = letter.filter(|_| place <= chunk.len()).unwrap_or(&b'=');
            text.push((*padded).into());
        }
    }
    text
}
