use std::io::Cursor;

use dormouse_cassettes::{
    AcceptedFindings, Cassette, Player, PlayerConfig, Recorder, RecorderConfig, ScrubRules,
};
use dormouse_contracts::{ChatRequest, Message, ModelError, ModelErrorKind, complete};
use dormouse_providers::{Network, OpenAiConfig, OpenAiModel, Secret};

use crate::{
    replying::HELLO,
    server::{Answer, Server, Then, guarded, hello},
};

fn model(network: &Network, url: &str) -> OpenAiModel {
    let config = OpenAiConfig {
        provider: "local".parse().unwrap(),
        base_url: url.to_owned(),
        api_key: Some(Secret::try_new("sk-secret-key").unwrap()),
        model: "tiny".parse().unwrap(),
    };
    OpenAiModel::on(network, config).unwrap()
}

fn rules() -> ScrubRules {
    ScrubRules::new().with_secret("sk-secret-key").unwrap()
}

async fn ask(model: &OpenAiModel, text: &str) -> Result<String, ModelError> {
    let request = ChatRequest {
        messages: vec![Message::User {
            content: text.to_owned(),
        }],
        ..hello()
    };
    let reply = guarded(complete(model, &request)).await?;
    Ok(reply.content)
}

/// What was recorded, written into a file and read again.
fn read_again(recorder: &Recorder) -> Cassette {
    let cassette = recorder.cassette();
    assert!(cassette.check().is_empty(), "{:?}", cassette.check());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tea.json");
    cassette.save(&file, &AcceptedFindings::nothing()).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("sk-secret-key"), "{text}");
    Cassette::read(&mut Cursor::new(text)).unwrap()
}

#[tokio::test]
async fn a_recording_is_replayed_without_a_server() {
    let cut_off = Answer::stream(
        "data: {\"choices\":[{\"delta\":{\"content\":\"Go\"}}]}\n\n",
        Then::Close,
    );
    let refused =
        r#"{"error":{"message":"Incorrect API key: sk-secret-key","code":"invalid_api_key"}}"#;
    let answers = vec![
        Answer::stream(HELLO, Then::Close).bytes(),
        cut_off,
        Answer::status("401 Unauthorized", "", refused),
    ];
    let server = Server::answering(answers).await;
    let recorder = Recorder::new(RecorderConfig {
        rules: rules(),
        ..RecorderConfig::default()
    });
    let live = model(&Network::direct().recording(recorder.clone()), &server.url);
    let mut seen = Vec::new();
    for text in ["Hello?", "And sk-secret-key?", "Are you there?"] {
        seen.push(ask(&live, text).await.map_err(|error| error.kind()));
    }
    assert_eq!(
        seen,
        [
            Ok("Good day, schöner Tag.".to_owned()),
            Err(ModelErrorKind::Interrupted),
            Err(ModelErrorKind::Auth),
        ]
    );

    let player = Player::new(
        read_again(&recorder),
        PlayerConfig {
            rules: rules(),
            ..PlayerConfig::default()
        },
    );
    // There is no server at this address.
    let replayed = model(
        &Network::direct().replaying(player.clone()),
        "http://127.0.0.1:9",
    );
    for (text, seen) in ["Hello?", "And sk-secret-key?", "Are you there?"]
        .iter()
        .zip(seen)
    {
        assert_eq!(
            ask(&replayed, text).await.map_err(|error| error.kind()),
            seen
        );
    }
    assert_eq!(player.remaining(), 0);
}

#[tokio::test]
async fn an_unreachable_server_is_not_named() {
    let recorder = Recorder::new(RecorderConfig::default());
    let network = Network::direct().recording(recorder.clone());
    let nobody = model(&network, "http://localhost:9");
    let error = ask(&nobody, "Hello?").await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unreachable);
    let reason = recorder.cassette().exchanges[0].reason.clone();
    assert!(reason.contains("refused"), "{reason}");
    assert!(!reason.contains("localhost"), "{reason}");
    assert!(!reason.contains(":9"), "{reason}");
}

#[tokio::test]
async fn an_unrecorded_request_is_refused_with_the_difference() {
    let server = Server::answering(vec![Answer::stream(HELLO, Then::Close)]).await;
    let recorder = Recorder::new(RecorderConfig::default());
    let live = model(&Network::direct().recording(recorder.clone()), &server.url);
    ask(&live, "Hello?").await.unwrap();
    let player = Player::new(recorder.cassette(), PlayerConfig::default());
    let replayed = model(&Network::direct().replaying(player), "http://127.0.0.1:9");
    let error = ask(&replayed, "Good night.").await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Refused);
    let shown = format!("{error:?}");
    assert!(shown.contains("/messages/0/content"), "{shown}");
}
