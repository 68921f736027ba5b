//! Recalling by similarity, with vectors of a server.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
};

use dormouse_testing::HashedEmbedder;
use serde_json::{Value, json};

use crate::program::{Home, Run};

/// A server that embeds as Ollama does; each model has vectors of a length of its own. It ends with the test.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that has left is no trouble of the server's.
            answer(stream.unwrap()).ok();
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body)?;
    let model = body.get("model").and_then(Value::as_str).unwrap();
    let hashed = HashedEmbedder::new(if model == "small" { 64 } else { 256 });
    let texts = body.get("input").and_then(Value::as_array).unwrap().iter();
    let vectors: Vec<_> = texts
        .map(|text| hashed.vector(text.as_str().unwrap()))
        .collect();
    let body = json!({"model": model, "embeddings": vectors}).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let length = body.len();
    write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn done(home: &Home, args: &[&str]) -> Run {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(0), "{args:?}: {} {}", run.out, run.err);
    run
}

fn filled() -> Home {
    let home = Home::new();
    for text in [
        "Alice keeps the peppermint tea in the blue tin on the shelf",
        "Bob sails the old boat to the harbour every single Sunday",
        "the key of the cellar hangs behind the clock in the hall",
    ] {
        done(&home, &["memory", "add", text]);
    }
    home
}

fn mode(home: &Home, embedder: &str) -> Value {
    let args = [
        "memory",
        "search",
        "peppermint",
        "--json",
        "--embedder",
        embedder,
    ];
    let summary = done(home, &args).of_type("recall").remove(0);
    summary.get("mode").unwrap().clone()
}

#[test]
fn vectors_are_made_once_and_recalled_by() {
    let home = filled();
    let small = format!("ollama:small@{}", server());
    let rebuilt = ["memory", "rebuild", "--json", "--embedder", &small];
    assert_eq!(done(&home, &rebuilt).items()[0]["embedded"], 3);
    assert_eq!(done(&home, &rebuilt).items()[0]["embedded"], 0);
    assert_eq!(mode(&home, &small), "words_and_vectors");
    assert_eq!(mode(&home, "none"), "words");
    let stats = done(&home, &["memory", "stats"]).out;
    assert!(stats.contains("vectors of small: in use"), "{stats}");
}

#[test]
fn a_server_that_is_gone_leaves_recall_by_words() {
    let home = filled();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let small = format!("ollama:small@http://{}", gone.local_addr().unwrap());
    drop(gone);
    let run = done(
        &home,
        &["memory", "search", "peppermint", "--embedder", &small],
    );
    assert!(run.out.starts_with("m1  "), "{}", run.out);
    assert!(run.err.contains("recalled by words alone"), "{}", run.err);
    let run = home.run(&["memory", "rebuild", "--embedder", &small], "");
    assert_eq!(run.code, Some(1), "{}", run.out);
    let said = "because the encoder could not be used";
    assert!(run.err.contains(said), "{}", run.err);
}

#[test]
fn another_encoder_is_gone_over_to_and_back() {
    let home = filled();
    let url = server();
    let (small, large) = (format!("ollama:small@{url}"), format!("ollama:large@{url}"));
    done(&home, &["memory", "rebuild", "--embedder", &small]);
    let changed = json!({"words_because": "encoder_changed"});
    assert_eq!(mode(&home, &large), changed);
    let rebuilt = home.run(&["memory", "rebuild", "--embedder", &large], "");
    assert_eq!(rebuilt.code, Some(1), "{}", rebuilt.out);
    let said = "because the vectors are of another encoder: `dormouse memory migrate";
    assert!(rebuilt.err.contains(said), "{}", rebuilt.err);

    let migrate = [
        "memory",
        "migrate",
        "--json",
        "--embedder",
        &large,
        "--former",
        &small,
    ];
    let compared = done(&home, &[&migrate[..], &["--compare"]].concat());
    assert_eq!(compared.items()[0]["switched"], false);
    assert_eq!(mode(&home, &small), "words_and_vectors");

    let migrated = done(&home, &[&migrate[..], &["--force"]].concat());
    assert_eq!(migrated.items()[0]["switched"], true);
    assert_eq!(mode(&home, &large), "words_and_vectors");
    let again = home.run(&migrate, "");
    assert_eq!(again.code, Some(2), "{}", again.out);
    assert!(
        again.err.contains("recall goes by large already"),
        "{}",
        again.err
    );

    let back = done(&home, &["memory", "migrate", "--back"]).out;
    assert!(back.starts_with("recall goes by small"), "{back}");
    assert_eq!(mode(&home, &small), "words_and_vectors");
}

#[test]
fn an_evaluation_measures_words_and_vectors_beside_words() {
    let home = Home::new();
    let talk = json!([{
        "conversation": {"session_1": [
            {"speaker": "Alice", "dia_id": "D1:1", "text": "The kettle is in the blue tin."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "I lost my umbrella."},
        ]},
        "qa": [{"question": "Where is the kettle?", "evidence": ["D1:1"], "category": 4}],
    }]);
    let file = home.write("talk.json", &talk.to_string());
    let small = format!("ollama:small@{}", server());
    let file = file.to_str().unwrap();
    let run = done(
        &home,
        &["eval", "recall", file, "--json", "--embedder", &small],
    );
    let report = &run.items()[0];
    assert_eq!(report["encoder"]["model"], "small");
    let rankings = report["rankings"].as_array().unwrap().iter();
    let rankings: Vec<_> = rankings.map(|block| block["ranking"].clone()).collect();
    assert_eq!(rankings, ["plain_bm25", "words", "words_and_vectors"]);
}
