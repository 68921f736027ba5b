//! A server that streams a reply of so many tokens to everyone who asks, from a thread of its own.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// How the events of a reply are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// One after the other, as a server does that has each as soon as the model has it.
    EachAlone,
    /// As many at once as the connection takes: no server is as fast.
    AllAtOnce,
}

/// Starts a server of its own that answers every request so. It ends with the process.
pub(crate) fn serving(tokens: usize, pace: Pace) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let events = Arc::new(events(tokens));
    thread::spawn(move || {
        for connection in listener.incoming() {
            let connection = connection.unwrap();
            connection.set_nodelay(true).unwrap();
            let events = Arc::clone(&events);
            // Until the client hangs up between two requests.
            thread::spawn(move || while answer(&connection, &events, pace).is_some() {});
        }
    });
    url
}

/// The events of a reply as OpenAI sends them, some 250 bytes for each token.
fn events(tokens: usize) -> Vec<String> {
    let event = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\
             \"created\":1795219200,\"model\":\"gpt-4.1-mini-2025-04-14\",\"service_tier\":\"default\",\
             \"system_fingerprint\":\"fp_0123456789\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\
             \"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut events = vec![event("{\"role\":\"assistant\",\"content\":\"\"}", "null")];
    events.extend((0..tokens).map(|_| event("{\"content\":\" tea\"}", "null")));
    events.push(event("{}", "\"stop\""));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn answer(connection: &TcpStream, events: &[String], pace: Pace) -> Option<()> {
    read_request(connection)?;
    let mut writer = connection;
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = |event: &String| format!("{:x}\r\n{event}\r\n", event.len());
    writer.write_all(head.as_bytes()).ok()?;
    match pace {
        Pace::EachAlone => {
            for event in events {
                writer.write_all(chunk(event).as_bytes()).ok()?;
            }
        }
        Pace::AllAtOnce => {
            let all: String = events.iter().map(chunk).collect();
            writer.write_all(all.as_bytes()).ok()?;
        }
    }
    writer.write_all(b"0\r\n\r\n").ok()
}

fn read_request(connection: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(connection);
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()
}
