//! A server of embeddings, for tests of whole programs.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::{Value, json};

use crate::embedder::HashedEmbedder;

/// Starts a server on the loopback interface and returns its address, such as `http://127.0.0.1:40001`. The server has
/// the embedding API of Ollama and answers with the vectors of a [`HashedEmbedder`]. The server stops when the test's
/// process ends.
///
/// The model `small` has vectors of 64 numbers; those of every other model have 256.
///
/// # Panics
///
/// If no port is free.
#[must_use]
pub fn embedding_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        // An error of one client, such as an early disconnect, does not stop the server.
        listener.incoming().flatten().for_each(|client| {
            answer(client).ok();
        });
    });
    format!("http://{address}")
}

fn answer(mut client: TcpStream) -> io::Result<()> {
    let request = body(&mut BufReader::new(client.try_clone()?))?;
    let model = request.get("model").and_then(Value::as_str);
    let model = model.unwrap_or_default();
    let hashed = HashedEmbedder::new(if model == "small" { 64 } else { 256 });
    let texts = request.get("input").and_then(Value::as_array);
    let vectors: Vec<_> = texts
        .into_iter()
        .flatten()
        .filter_map(|text| Some(hashed.vector(text.as_str()?)))
        .collect();
    let body = json!({"model": model, "embeddings": vectors}).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(
        client,
        "{head}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The JSON body of a request. Its length is in the header.
fn body(reader: &mut impl BufRead) -> io::Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
