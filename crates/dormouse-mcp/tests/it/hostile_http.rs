//! Servers that misbehave over HTTP. Each connection has a thread, as in a server of the time before runtimes: it can hang, and
//! close where it likes.

use std::{
    collections::BTreeMap,
    error::Error,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

use dormouse_contracts::Perform;
use dormouse_mcp::{McpServer, McpTransport};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    client::{LIMIT, agreed, does, effect, outcome, text, write_table},
    hostile::ORDER,
};

/// A row: what the server does, by its tool.
const ROWS: [(&str, &str); 9] = [
    ("echo", "answers"),
    ("cut", "closes the connection in the middle of the answer"),
    ("hangs", "does not answer within the time limit"),
    ("page", "answers with status 500 and a page"),
    (
        "broken",
        "answers with status 500 and an error of the protocol, with an order in it",
    ),
    ("forbidden", "does not know the token any more (status 401)"),
    ("redirect", "sends the call to another address"),
    ("endless_events", "sends events without an end"),
    ("endless_event", "sends an event without an end"),
];

/// What the server was asked, and how often.
type Calls = Arc<Mutex<BTreeMap<String, usize>>>;

/// A server at an address of its own, until the test program ends.
fn start(elsewhere: Option<String>) -> (String, Calls) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let calls = Calls::default();
    let counted = Arc::clone(&calls);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, calls, elsewhere) =
                (stream.unwrap(), Arc::clone(&counted), elsewhere.clone());
            // What a client does that hangs up is no concern of the server.
            thread::spawn(move || drop(converse(stream, &calls, elsewhere.as_deref())));
        }
    });
    (url, calls)
}

/// One request and its answer.
fn converse(
    mut stream: TcpStream,
    calls: &Calls,
    elsewhere: Option<&str>,
) -> Result<(), std::io::Error> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    let mut is_post = None;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let lower = line.trim().to_lowercase();
        is_post.get_or_insert(lower.starts_with("post"));
        if let Some(given) = lower.strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
        if lower.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return stream.write_all(
            b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    };
    let id = &message["id"];
    let result = |value: Value| json!({ "jsonrpc": "2.0", "id": id, "result": value });
    match message["method"].as_str().unwrap_or_default() {
        _ if id.is_null() => stream
            .write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
        "initialize" => answer(
            &mut stream,
            "200 OK",
            &result(json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "hostile", "version": "1" },
            })),
        ),
        "tools/list" => {
            let tools: Vec<_> = ROWS
                .iter()
                .map(|(name, _)| json!({ "name": name, "inputSchema": { "type": "object" } }))
                .collect();
            answer(&mut stream, "200 OK", &result(json!({ "tools": tools })))
        }
        "tools/call" => {
            let tool = message["params"]["name"].as_str().unwrap_or_default();
            *calls.lock().unwrap().entry(tool.to_owned()).or_default() += 1;
            call(&mut stream, tool, id, elsewhere)
        }
        _ => answer(
            &mut stream,
            "200 OK",
            &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32_601, "message": "no such method" } }),
        ),
    }
}

fn answer(stream: &mut TcpStream, status: &str, body: &Value) -> Result<(), std::io::Error> {
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn call(
    stream: &mut TcpStream,
    tool: &str,
    id: &Value,
    elsewhere: Option<&str>,
) -> Result<(), std::io::Error> {
    const EVENTS: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    match tool {
        "echo" => {
            let content = json!({ "content": [{ "type": "text", "text": "hello" }] });
            answer(
                stream,
                "200 OK",
                &json!({ "jsonrpc": "2.0", "id": id, "result": content }),
            )
        }
        "cut" => stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"jsonrpc\"",
        ),
        // Until the client hangs up.
        "hangs" => stream.read(&mut [0]).map(drop),
        "page" => stream.write_all(
            b"HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/html\r\ncontent-length: 5\r\nconnection: close\r\n\r\nsorry",
        ),
        "broken" => answer(
            stream,
            "500 Internal Server Error",
            &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32_603, "message": ORDER } }),
        ),
        "forbidden" => stream.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        ),
        "redirect" => write!(
            stream,
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            elsewhere.unwrap_or_default()
        ),
        "endless_events" => {
            stream.write_all(EVENTS.as_bytes())?;
            let event = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": ORDER } });
            loop {
                write!(stream, "data: {event}\n\n")?;
            }
        }
        _ => {
            stream.write_all(EVENTS.as_bytes())?;
            stream.write_all(b"data: ")?;
            loop {
                stream.write_all(&[b'x'; 1 << 16])?;
            }
        }
    }
}

#[tokio::test]
async fn every_bad_answer_over_http_has_one_outcome_and_the_page_lists_it() {
    let (elsewhere, asked_elsewhere) = start(None);
    let mut table =
        "| the server | the call ends | the server then |\n| --- | --- | --- |\n".to_owned();
    for (tool, what) in ROWS {
        let folder = TempDir::new().unwrap();
        let (url, calls) = start(Some(elsewhere.clone()));
        let mut server = McpServer::new("bad", McpTransport::Http { url, token: None });
        server.policy.timeout = Some(LIMIT);
        let tools = agreed(server, folder.path()).await;
        let (ends, runs) = outcome(&tools, tool, 1).await;
        let times = calls.lock().unwrap().get(tool).copied();
        assert_eq!(times, Some(1), "{tool} is called once");
        table += &format!("| {what} | {ends} | {runs} |\n");
        if runs == "goes on" {
            assert_eq!(text(&does(&tools, "echo", 2).await.unwrap()), "hello");
        }
        tools.close().await;
    }
    assert!(
        asked_elsewhere.lock().unwrap().is_empty(),
        "a redirect is not followed"
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    write_table(&page, "outcomes over HTTP", &table);
}

#[tokio::test]
async fn events_without_an_end_end_the_connection_before_the_time_limit() {
    let folder = TempDir::new().unwrap();
    let (url, _) = start(None);
    let mut server = McpServer::new("bad", McpTransport::Http { url, token: None });
    server.policy.timeout = Some(LIMIT * 100);
    let tools = agreed(server, folder.path()).await;
    let done = tools.perform(&effect("endless_events", 1)).await;
    let why = done.unwrap_err().source().unwrap().to_string();
    assert_eq!(why, "the connection to the server ended");
    tools.close().await;
}
