use std::error::Error;

use dormouse_contracts::{Embedder, ModelError, ModelErrorKind};
use serde_json::{Value, json};

use super::{
    server::{EmbeddingServer, Sent, ollama_answer, openai_answer, openai_at},
    texts,
};
use crate::server::{Answer, Seen, Server, Then, guarded};

const BAD: ModelErrorKind = ModelErrorKind::Malformed;

/// The messages of the error and its sources.
fn shown(error: &ModelError) -> String {
    let mut shown = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        shown.push_str(&format!(": {error}"));
        cause = error.source();
    }
    shown
}

/// The error that two texts lead to, of which only the first request may be answered with this.
async fn error(status: &'static str, body: impl Into<String>) -> ModelError {
    let body = body.into();
    let server = EmbeddingServer::answering(move |_| (status, body.clone())).await;
    let embedder = server.openai(None);
    let error = guarded(embedder.embed(&texts(&["one", "two"])))
        .await
        .unwrap_err();
    assert_eq!(server.sent().len(), 1, "it was sent again");
    assert_eq!(
        embedder.info().dimensions,
        None,
        "a bad answer decides nothing"
    );
    assert!(
        !shown(&error).contains("sk-secret-key"),
        "{}",
        shown(&error)
    );
    error
}

async fn expect(status: &'static str, body: Value, kind: ModelErrorKind, words: &str) {
    let error = error(status, body.to_string()).await;
    assert_eq!(error.kind(), kind, "{}", shown(&error));
    assert!(shown(&error).contains(words), "{}", shown(&error));
}

#[tokio::test]
async fn an_invalid_answer_names_the_fault() {
    let item = |index: u32, embedding: Value| json!({"index": index, "embedding": embedding});
    let ok = |data: Value| json!({ "data": data });
    for (body, words) in [
        (ok(json!([])), "0 vectors came back for 2 texts"),
        (
            ok(json!([item(0, json!([1.0])), item(0, json!([1.0]))])),
            "not numbered from 0",
        ),
        (
            ok(json!([item(1, json!([1.0])), item(2, json!([1.0]))])),
            "not numbered from 0",
        ),
        (
            ok(json!([item(0, json!([1.0])), item(1, json!([]))])),
            "vector 1 of the answer is empty",
        ),
        (
            ok(json!([item(0, json!([1.0])), item(1, json!([1.0, 2.0]))])),
            "vector 1 of the answer has 2 numbers where 1 are expected",
        ),
        (
            ok(json!([item(0, json!([1.0])), item(1, json!([1e300]))])),
            "number out of range",
        ),
        (
            ok(json!([item(0, json!([[1.0]])), item(1, json!([[1.0]]))])),
            "the answer could not be read",
        ),
        (
            ok(json!([item(0, json!([null])), item(1, json!([1.0]))])),
            "the answer could not be read",
        ),
        (json!("sk-secret-key"), "the answer could not be read"),
    ] {
        expect("200 OK", body, BAD, words).await;
    }
    let html = error("200 OK", "<html>Welcome to the hotel</html>").await;
    assert_eq!(html.kind(), BAD);
    assert!(shown(&html).contains("Welcome to the hotel"));
    let not_a_number = r#"{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}"#;
    assert_eq!(error("200 OK", not_a_number).await.kind(), BAD);
}

#[tokio::test]
async fn the_servers_error_message_is_kept() {
    let said = |message: &str| json!({"error": {"message": message, "type": "x"}});
    for (status, body, kind, words) in [
        (
            "401 Unauthorized",
            said("bad key sk-secret-key"),
            ModelErrorKind::Auth,
            "bad key ***",
        ),
        (
            "429 Too Many Requests",
            said("slow down"),
            ModelErrorKind::RateLimited(None),
            "slow down",
        ),
        (
            "501 Not Implemented",
            said("This server does not support embeddings. Start it with `--embeddings`"),
            ModelErrorKind::Refused,
            "--embeddings",
        ),
        (
            "503 Service Unavailable",
            said("Loading model"),
            ModelErrorKind::Unavailable,
            "Loading model",
        ),
        (
            "200 OK",
            json!({"error": {"message": "no credit", "code": 402}}),
            ModelErrorKind::Auth,
            "no credit",
        ),
    ] {
        expect(status, body, kind, words).await;
    }
}

#[tokio::test]
async fn ollamas_message_about_a_missing_model_is_kept() {
    let body = r#"{"error":"model \"tiny\" not found, try pulling it first"}"#;
    let server =
        EmbeddingServer::answering(move |_| ("404 Not ChoiceReason", body.to_owned())).await;
    let error = guarded(server.ollama().embed(&texts(&["one"])))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    assert!(
        shown(&error).contains("try pulling it first"),
        "{}",
        shown(&error)
    );
    assert_eq!(error.provider().as_str(), "ollama");
    let body = r#"{"error":"the runner went away"}"#;
    let server = EmbeddingServer::answering(move |_| ("200 OK", body.to_owned())).await;
    let error = guarded(server.ollama().embed(&texts(&["one"])))
        .await
        .unwrap_err();
    assert!(
        shown(&error).contains("the runner went away"),
        "{}",
        shown(&error)
    );
    let server = EmbeddingServer::answering(openai_answer).await;
    let error = guarded(server.ollama().embed(&texts(&["one"])))
        .await
        .unwrap_err();
    assert!(shown(&error).contains("0 vectors came back for 1 texts"));
    let server = EmbeddingServer::answering(ollama_answer).await;
    let error = guarded(server.openai(None).embed(&texts(&["one"])))
        .await
        .unwrap_err();
    assert!(shown(&error).contains("0 vectors came back for 1 texts"));
}

#[tokio::test]
async fn vectors_of_another_length_are_rejected() {
    let growing = |sent: &Sent| {
        let length = sent.input[0].len();
        let answer = json!({"data": [{"index": 0, "embedding": vec![1.0; length]}]});
        ("200 OK", answer.to_string())
    };
    let server = EmbeddingServer::answering(growing).await;
    let embedder = server.openai(None);
    guarded(embedder.embed(&texts(&["ab"]))).await.unwrap();
    let error = guarded(embedder.embed(&texts(&["abc"]))).await.unwrap_err();
    assert_eq!(error.kind(), BAD);
    assert!(
        shown(&error).contains("3 numbers where 2 are expected; the model may have changed"),
        "{}",
        shown(&error)
    );
    guarded(embedder.embed(&texts(&["ab"]))).await.unwrap();
}

#[tokio::test]
async fn a_missing_server_is_unreachable_and_a_broken_answer_is_interrupted() {
    let embedder = openai_at("http://127.0.0.1:1", None);
    let error = guarded(embedder.embed(&texts(&["one"]))).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unreachable);
    let cut_off = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"data\":[";
    let server = Server::answering(vec![Answer::raw(cut_off, Then::Close)]).await;
    let embedder = openai_at(&server.url, None);
    let error = guarded(embedder.embed(&texts(&["one"]))).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Interrupted);
}

#[tokio::test]
async fn dropping_a_call_that_hangs_closes_the_connection() {
    let hanging = Answer::raw("HTTP/1.1 200 OK\r\n", Then::Hang);
    let mut server = Server::answering(vec![hanging]).await;
    let embedder = openai_at(&server.url, None);
    {
        let texts = texts(&["one"]);
        let mut call = embedder.embed(&texts);
        tokio::select! {
            answer = &mut call => panic!("nobody answered: {answer:?}"),
            () = server.until(Seen::Request) => {}
        }
    }
    server.until(Seen::Closed).await;
}

#[tokio::test]
async fn an_endless_answer_is_not_read_to_its_end() {
    let endless = "0".repeat(65 * 1024 * 1024);
    let server = EmbeddingServer::answering(move |_| ("200 OK", endless.clone())).await;
    let error = guarded(server.openai(None).embed(&texts(&["one"])))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), BAD);
    assert!(
        shown(&error).contains("more than 67108864 bytes"),
        "{}",
        shown(&error)
    );
}
