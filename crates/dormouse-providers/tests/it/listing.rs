use std::error::Error;

use dormouse_contracts::ModelErrorKind;
use dormouse_providers::{
    Available, Choice, ListModelsError, ListedModel, Network, Secret, ServedBy, ServerConfig,
    choose_model, list_models,
};
use serde_json::{Value, json};

use crate::server::{Answer, Server, guarded};

const JSON: &str = "content-type: application/json\r\n";

fn ok(body: &Value) -> Answer {
    Answer::status("200 OK", JSON, &body.to_string())
}

fn config(by: ServedBy, url: &str) -> ServerConfig {
    let requested = format!("{by}:any@{url}").parse().unwrap();
    match choose_model(&requested, &Available::default()).unwrap() {
        Choice::Server { config, .. } => config.with_key(Secret::try_new("sk-secret-key").unwrap()),
        Choice::Offline { .. } => panic!("a server"),
    }
}

async fn listed(by: ServedBy, server: &Server) -> Result<Vec<ListedModel>, ListModelsError> {
    let config = config(by, &server.url);
    guarded(list_models(&config, &Network::direct())).await
}

fn names(models: &[ListedModel]) -> Vec<&str> {
    models.iter().map(|model| model.name.as_str()).collect()
}

/// The first line of each request.
fn asked(server: &Server) -> Vec<String> {
    let lines = server.requests().into_iter();
    lines
        .map(|request| request.lines().next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_provider_is_asked_at_its_place_with_its_key() {
    let list = json!({"object": "list", "data": [{"id": "tiny", "owned_by": "somebody"}]});
    for (by, path, header) in [
        (
            ServedBy::OpenAi,
            "GET /v1/models HTTP/1.1",
            "authorization: bearer sk-secret-key",
        ),
        (
            ServedBy::Local,
            "GET /v1/models HTTP/1.1",
            "authorization: bearer sk-secret-key",
        ),
        (
            ServedBy::OpenRouter,
            "GET /v1/models HTTP/1.1",
            "authorization: bearer sk-secret-key",
        ),
        (
            ServedBy::Anthropic,
            "GET /v1/models?limit=1000 HTTP/1.1",
            "x-api-key: sk-secret-key",
        ),
    ] {
        let server = Server::answering(vec![ok(&list)]).await;
        let models = listed(by, &server).await.unwrap();
        assert_eq!(names(&models), ["tiny"], "{by}");
        assert_eq!(models[0].owned_by.as_deref(), Some("somebody"));
        assert!(models[0].can_chat(), "nothing says otherwise");
        assert_eq!(asked(&server), [path], "{by}");
        let request = server.requests().remove(0).to_ascii_lowercase();
        assert!(request.contains(header), "{request}");
    }
}

#[tokio::test]
async fn a_paged_list_is_read_to_its_end_or_its_bound() {
    let page = |names: &[&str], more: bool| {
        let data: Vec<_> = names.iter().map(|name| json!({"id": name})).collect();
        ok(&json!({"data": data, "has_more": more, "last_id": names.last()}))
    };
    let server = Server::answering(vec![
        page(&["a", "b"], true),
        page(&["b", "c&d"], true),
        page(&["c&d"], true),
    ])
    .await;
    let models = listed(ServedBy::Anthropic, &server).await.unwrap();
    assert_eq!(names(&models), ["a", "b", "c&d"], "each once");
    assert_eq!(
        asked(&server)[1..],
        [
            "GET /v1/models?limit=1000&after_id=b HTTP/1.1",
            "GET /v1/models?limit=1000&after_id=c%26d HTTP/1.1"
        ],
        "a page without anything new is the last"
    );
}

#[tokio::test]
async fn ollama_models_are_queried_and_encoders_are_marked() {
    let tags = json!({"models": [
        {"name": "qwen3:8b", "model": "qwen3:8b", "size": 5_225_388_164_u64, "details": {"family": "qwen3"}},
        {"name": "gone:latest", "model": "gone:latest"},
        {"name": "embedder:latest", "model": "embedder:latest"},
    ]});
    let chat = json!({
        "license": "x".repeat(100_000), "capabilities": ["completion", "tools", "thinking"],
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960}
    });
    let gone = Answer::status(
        "404 Not ChoiceReason",
        JSON,
        r#"{"error":"model not found"}"#,
    );
    let encoder = json!({"capabilities": ["embedding"], "model_info": {"general.architecture": 7}});
    let server = Server::answering(vec![ok(&tags), ok(&chat), gone, ok(&encoder)]).await;
    let models = listed(ServedBy::Ollama, &server).await.unwrap();
    assert_eq!(
        names(&models),
        ["qwen3:8b", "gone:latest", "embedder:latest"]
    );
    assert_eq!(models[0].capabilities, ["completion", "tools", "thinking"]);
    assert_eq!(models[0].context_window, Some(40_960));
    let can_chat = models.iter().map(ListedModel::can_chat);
    assert_eq!(can_chat.collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(asked(&server)[0], "GET /api/tags HTTP/1.1");
    assert_eq!(asked(&server)[3], "POST /api/show HTTP/1.1");
}

#[tokio::test]
async fn an_invalid_list_has_its_kind_and_is_reported_without_the_key() {
    let many: Vec<_> = (0..10_001)
        .map(|n| json!({"id": format!("m{n}")}))
        .collect();
    for (answer, kind) in [
        (
            Answer::status(
                "401 Unauthorized",
                JSON,
                r#"{"error":{"message":"bad key sk-secret-key"}}"#,
            ),
            ModelErrorKind::Auth,
        ),
        (
            Answer::status("404 Not ChoiceReason", "", "sk-secret-key"),
            ModelErrorKind::NotFound,
        ),
        (
            Answer::status("200 OK", "", "<html>sk-secret-key"),
            ModelErrorKind::Malformed,
        ),
        (
            ok(&json!({"data": "sk-secret-key"})),
            ModelErrorKind::Malformed,
        ),
        (
            ok(&json!({"error": "sk-secret-key"})),
            ModelErrorKind::Interrupted,
        ),
        (ok(&json!({"data": many})), ModelErrorKind::Malformed),
        (
            Answer::status("200 OK", JSON, &" ".repeat(9 * 1024 * 1024)),
            ModelErrorKind::Malformed,
        ),
    ] {
        let server = Server::answering(vec![answer]).await;
        let error = listed(ServedBy::OpenAi, &server).await.unwrap_err();
        let shown = shown(&error);
        assert!(!shown.contains("sk-secret"), "{shown}");
        let ListModelsError::Server(error) = error else {
            panic!("{shown}")
        };
        assert_eq!(error.kind(), kind, "{shown}");
    }
    let nowhere = config(ServedBy::OpenAi, "http://user:sk-secret@x");
    let error = list_models(&nowhere, &Network::direct()).await.unwrap_err();
    assert!(matches!(error, ListModelsError::Config(_)));
    assert!(!shown(&error).contains("sk-secret"));
}

fn shown(error: &ListModelsError) -> String {
    let mut shown = format!("{error:?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        shown.push_str(&format!(": {error}"));
        cause = error.source();
    }
    shown
}
