//! A server that embeds by hashing.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use dormouse_providers::{
    OllamaConfig, OllamaEmbedder, OpenAiConfig, OpenAiEmbedder, OpenAiEmbedderConfig, Secret,
};
use dormouse_testing::HashedEmbedder;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpListener, task::JoinSet};

use crate::server::read_request;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) head: String,
    pub(crate) body: Value,
    pub(crate) input: Vec<String>,
}

/// A status and a body.
pub(crate) type Answer = (&'static str, String);

pub(crate) struct EmbeddingServer {
    pub(crate) url: String,
    sent: Arc<Mutex<Vec<Sent>>>,
    _tasks: JoinSet<()>,
}

impl EmbeddingServer {
    pub(crate) async fn answering(answer: impl Fn(&Sent) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = sent.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let Some(request) = read_request(&mut socket).await else {
                    continue;
                };
                let request = read(&request);
                let (status, body) = answer(&request);
                log.lock().unwrap().push(request);
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                // The client may have disconnected.
                socket.write_all((head + &body).as_bytes()).await.ok();
            }
        });
        Self {
            url,
            sent,
            _tasks: tasks,
        }
    }

    pub(crate) fn openai(&self, dimensions: Option<NonZeroUsize>) -> OpenAiEmbedder {
        openai_at(&self.url, dimensions)
    }

    pub(crate) fn ollama(&self) -> OllamaEmbedder {
        OllamaEmbedder::try_new(OllamaConfig {
            base_url: self.url.clone(),
            api_key: None,
            model: "tiny".parse().unwrap(),
        })
        .unwrap()
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }
}

pub(crate) fn openai_at(url: &str, dimensions: Option<NonZeroUsize>) -> OpenAiEmbedder {
    OpenAiEmbedder::try_new(OpenAiEmbedderConfig {
        server: OpenAiConfig {
            provider: "local".parse().unwrap(),
            base_url: url.to_owned(),
            api_key: Some(Secret::try_new("sk-secret-key").unwrap()),
            model: "tiny".parse().unwrap(),
        },
        dimensions,
    })
    .unwrap()
}

fn read(request: &str) -> Sent {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let input = body["input"].as_array().unwrap().iter();
    Sent {
        head: head.to_owned() + "\r\n",
        input: input
            .map(|text| text.as_str().unwrap().to_owned())
            .collect(),
        body,
    }
}

/// As OpenAI answers; it takes no empty text.
pub(crate) fn openai_answer(sent: &Sent) -> Answer {
    if sent.input.iter().any(String::is_empty) {
        let said =
            json!({"error": {"message": "'$.input' is invalid.", "type": "invalid_request_error"}});
        return ("400 Bad Request", said.to_string());
    }
    let dimensions = sent.body["dimensions"].as_u64().unwrap_or(8);
    let hashed = HashedEmbedder::new(usize::try_from(dimensions).unwrap());
    let items = sent.input.iter().enumerate().map(|(index, text)| {
        json!({"object": "embedding", "index": index, "embedding": vector(&hashed, text)})
    });
    let data: Vec<Value> = items.collect();
    let answer = json!({"object": "list", "model": "tiny", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}});
    ("200 OK", answer.to_string())
}

/// As Ollama answers.
pub(crate) fn ollama_answer(sent: &Sent) -> Answer {
    let hashed = HashedEmbedder::new(8);
    let vectors: Vec<_> = sent
        .input
        .iter()
        .map(|text| vector(&hashed, text))
        .collect();
    let answer = json!({"model": "tiny", "embeddings": vectors, "total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8});
    ("200 OK", answer.to_string())
}

/// What it sends as a space was empty.
fn vector(hashed: &HashedEmbedder, text: &str) -> Vec<f32> {
    hashed.vector(text.trim())
}
