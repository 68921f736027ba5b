//! No output contains the key, with any provider and any fault.

use std::{
    error::Error,
    io::Write,
    sync::{Arc, Mutex},
};

use dormouse_contracts::{ChatModel, complete};
use dormouse_providers::{
    AnthropicModel, Available, Choice, Network, OllamaModel, OpenAiModel, OpenRouterModel, Secret,
    ServedBy, ServerConfig, choose_model, list_models,
};

use crate::server::{Answer, Server, Then, guarded, hello};

const KEY: &str = "sk-secret-key";

/// Everything that is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Everything that an error and its sources print.
fn error_text(error: &(dyn Error + 'static)) -> String {
    let mut shown = format!("{error:?} {error:#?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        shown.push_str(&format!(" {error:?} {error:#?} {error}"));
        cause = error.source();
    }
    shown
}

fn config(by: ServedBy, url: &str) -> ServerConfig {
    let requested = format!("{by}:any@{url}").parse().unwrap();
    match choose_model(&requested, &Available::default()).unwrap() {
        Choice::Server { config, .. } => config.with_key(Secret::try_new(KEY).unwrap()),
        Choice::Offline { .. } => panic!("a server"),
    }
}

/// The model, and its debug output.
fn open(config: ServerConfig) -> (Box<dyn ChatModel>, String) {
    fn shown<M: ChatModel + std::fmt::Debug + 'static>(model: M) -> (Box<dyn ChatModel>, String) {
        let shown = format!("{model:?} {model:#?}");
        (Box::new(model), shown)
    }
    match config {
        ServerConfig::OpenAi(config) => shown(OpenAiModel::try_new(config).unwrap()),
        ServerConfig::Anthropic(config) => shown(AnthropicModel::try_new(config).unwrap()),
        ServerConfig::OpenRouter(config) => shown(OpenRouterModel::try_new(*config).unwrap()),
        ServerConfig::Ollama(config) => shown(OllamaModel::try_new(config).unwrap()),
        other => panic!("a new kind of server, to be added here: {other:?}"),
    }
}

/// Answers that repeat the key everywhere a server can.
fn repeating() -> Vec<Answer> {
    let said =
        format!(r#"{{"error":{{"message":"bad key {KEY}","type":"{KEY}","code":"{KEY}"}}}}"#);
    let headers = format!("x-request-id: {KEY}\r\nrequest-id: {KEY}\r\nretry-after: {KEY}\r\n");
    let stream = |kind: &str, body: &str| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{headers}connection: close\r\n\r\n"
        );
        Answer::raw(head + body, Then::Close)
    };
    vec![
        Answer::status("401 Unauthorized", &headers, &said),
        Answer::status("400 Bad Request", &headers, &format!("<p>{KEY}")),
        Answer::status("500 Oops", &headers, &said),
        Answer::status("200 OK", &format!("content-type: text/{KEY}\r\n"), KEY),
        Answer::status("200 OK", &format!("content-encoding: {KEY}\r\n"), KEY),
        stream("text/event-stream", &format!("data: {said}\n\n")),
        stream(
            "text/event-stream",
            &format!("event: error\ndata: {said}\n\n"),
        ),
        stream("text/event-stream", &format!("data: {KEY}\n\n")),
        stream("application/x-ndjson", &format!("{said}\n")),
        stream(
            "application/x-ndjson",
            &format!("{{\"error\":\"{KEY}\"}}\n"),
        ),
        stream("application/x-ndjson", &format!("{{{KEY}\n")),
        Answer::raw(KEY, Then::Close),
        Answer::raw("", Then::Close),
    ]
}

#[tokio::test]
async fn no_debug_or_error_output_contains_the_key() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let mut texts = Vec::new();
    for by in ServedBy::ALL
        .into_iter()
        .filter(|by| *by != ServedBy::Offline)
    {
        let answers = repeating().len();
        let server = Server::answering(repeating().into_iter().chain(repeating()).collect()).await;
        let config = config(by, &server.url);
        texts.push(format!("{config:?} {config:#?}"));
        let (model, shown) = open(config.clone());
        texts.push(shown);
        for _ in 0..answers {
            let error = guarded(complete(&*model, &hello())).await.unwrap_err();
            texts.push(error_text(&error));
            texts.push(error.request_id().unwrap_or_default().to_owned());
        }
        for _ in 0..answers {
            let error = guarded(list_models(&config, &Network::direct()))
                .await
                .unwrap_err();
            texts.push(error_text(&error));
        }
        let sent = server.requests();
        assert_eq!(sent.len(), 2 * answers, "{by}");
        let with_key = sent.iter().filter(|sent| sent.contains(KEY));
        assert_eq!(with_key.count(), 2 * answers, "the server itself gets it");
    }
    tracing::error!("the log is read");
    texts.push(String::from_utf8(log.0.lock().unwrap().clone()).unwrap());
    assert!(texts.last().unwrap().contains("the log is read"));
    for text in &texts {
        let mut lines = text.lines();
        let shown = lines.find(|line| line.to_lowercase().contains("sk-sec"));
        assert_eq!(shown, None);
    }
}
