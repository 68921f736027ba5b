//! The embedders of servers, against a server that embeds by hashing.

mod failing;
mod server;

use std::num::NonZeroUsize;

use dormouse_contracts::{Embedder, ModelErrorKind};
use dormouse_testing::{HashedEmbedder, conformance};
use serde_json::{Value, json};

use self::server::{EmbeddingServer, Sent, ollama_answer, openai_answer};
use crate::server::guarded;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn the_openai_embedder_keeps_the_promises_of_the_port() {
    let server = EmbeddingServer::answering(openai_answer).await;
    guarded(conformance::embedder(&server.openai(None))).await;
    let server = EmbeddingServer::answering(openai_answer).await;
    guarded(conformance::embedder(&server.openai(NonZeroUsize::new(16)))).await;
}

#[tokio::test]
async fn the_ollama_embedder_keeps_the_promises_of_the_port() {
    let server = EmbeddingServer::answering(ollama_answer).await;
    guarded(conformance::embedder(&server.ollama())).await;
}

#[tokio::test]
async fn texts_are_shortened_for_a_server_that_accepts_only_short_ones() {
    let strict = |sent: &Sent| {
        if sent.input.iter().any(|text| text.len() > 500) {
            let said = json!({"error": {"code": 500, "type": "server_error",
                "message": "input (600 tokens) is too large to process. increase the physical batch size"}});
            return ("500 Internal Server Error", said.to_string());
        }
        openai_answer(sent)
    };
    let server = EmbeddingServer::answering(strict).await;
    guarded(conformance::embedder(&server.openai(None))).await;
}

#[tokio::test]
async fn a_request_carries_model_key_and_texts_to_the_path_of_each() {
    let server = EmbeddingServer::answering(openai_answer).await;
    let asked = NonZeroUsize::new(3);
    let vectors = server.openai(asked).embed(&texts(&["tea", ""])).await;
    let hashed = HashedEmbedder::new(3);
    assert_eq!(vectors.unwrap(), [hashed.vector("tea"), hashed.vector("")]);
    let [sent] = &server.sent()[..] else {
        panic!("not one request")
    };
    assert!(sent.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"));
    let head = sent.head.to_ascii_lowercase();
    assert!(head.contains("authorization: bearer sk-secret-key"));
    assert_eq!(
        sent.body,
        json!({"model": "tiny", "input": ["tea", " "], "encoding_format": "float", "dimensions": 3})
    );

    let server = EmbeddingServer::answering(ollama_answer).await;
    server.ollama().embed(&texts(&["tea"])).await.unwrap();
    let [sent] = &server.sent()[..] else {
        panic!("not one request")
    };
    assert!(sent.head.starts_with("POST /api/embed HTTP/1.1\r\n"));
    assert!(!sent.head.to_ascii_lowercase().contains("authorization"));
    assert_eq!(
        sent.body,
        json!({"model": "tiny", "input": ["tea"], "truncate": true}),
        "how long the model stays in memory is the server's to decide"
    );
}

#[tokio::test]
async fn many_texts_become_few_requests() {
    let server = EmbeddingServer::answering(openai_answer).await;
    let many: Vec<String> = (0..1000).map(|n| format!("text {n}")).collect();
    let vectors = guarded(server.openai(None).embed(&many)).await.unwrap();
    let hashed = HashedEmbedder::new(8);
    let expected: Vec<_> = many.iter().map(|text| hashed.vector(text)).collect();
    assert_eq!(vectors, expected);
    let counts: Vec<usize> = server.sent().iter().map(|sent| sent.input.len()).collect();
    assert_eq!(counts, [256, 256, 256, 232]);
}

#[tokio::test]
async fn vectors_are_put_into_the_order_of_their_texts() {
    let backwards = |sent: &Sent| {
        let (status, answer) = openai_answer(sent);
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        answer["data"].as_array_mut().unwrap().reverse();
        (status, answer.to_string())
    };
    let server = EmbeddingServer::answering(backwards).await;
    guarded(conformance::embedder(&server.openai(None))).await;
    let unnumbered = |sent: &Sent| {
        let (status, answer) = openai_answer(sent);
        (status, answer.replace("\"index\"", "\"place\""))
    };
    let server = EmbeddingServer::answering(unnumbered).await;
    guarded(conformance::embedder(&server.openai(None))).await;
}

#[tokio::test]
async fn dimensions_are_known_from_the_first_answer_on_or_when_asked_for() {
    let server = EmbeddingServer::answering(openai_answer).await;
    let embedder = server.openai(None);
    assert_eq!(embedder.info().dimensions, None);
    embedder.embed(&texts(&["tea"])).await.unwrap();
    assert_eq!(embedder.info().dimensions, NonZeroUsize::new(8));
    assert_eq!(embedder.info().model.as_str(), "tiny");
    let asked = NonZeroUsize::new(5);
    assert_eq!(server.openai(asked).info().dimensions, asked);
    let ignorant = |sent: &Sent| {
        let (status, answer) = openai_answer(sent);
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        answer["data"][0]["embedding"] = json!([1.0, 0.0]);
        (status, answer.to_string())
    };
    let server = EmbeddingServer::answering(ignorant).await;
    let error = server
        .openai(asked)
        .embed(&texts(&["tea"]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Malformed);
}
