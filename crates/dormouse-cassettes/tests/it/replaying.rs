//! A player replays the server's answers.

use dormouse_cassettes::{
    Difference, Ending, IgnoredPath, Mode, Player, PlayerConfig, Recorder, RecorderConfig,
    ScrubRules,
};
use http::HeaderMap;

use crate::support::{post, record};

const CHAT: &str = "http://localhost:8080/v1/chat/completions";

fn two_exchanges() -> Recorder {
    let recorder = Recorder::new(RecorderConfig::default());
    let none = HeaderMap::new();
    record(
        &recorder,
        post(CHAT, &none, br#"{"model":"small","seed":1}"#),
        &[b"data: one\n\n", b"data: two\n\n"],
    );
    record(
        &recorder,
        post(CHAT, &none, br#"{"model":"large","seed":2}"#),
        &[b"data: three\n\n"],
    );
    recorder
}

#[test]
fn a_recorded_request_is_answered_with_the_recorded_chunks_and_pauses() {
    let player = Player::new(two_exchanges().cassette(), PlayerConfig::default());
    let none = HeaderMap::new();
    // Another host, other spaces and another order of fields make the same request.
    let asked = br#"{ "seed": 1, "model": "small" }"#;
    let playback = player
        .answer(post("/v1/chat/completions", &none, asked))
        .unwrap();
    assert_eq!(playback.index(), 0);
    assert_eq!(playback.status().unwrap(), 200);
    assert_eq!(playback.headers()["content-type"], "text/event-stream");
    assert_eq!(playback.waited().as_millis(), 20);
    let chunks: Vec<_> = playback
        .chunks()
        .iter()
        .map(|chunk| (chunk.pause().as_millis(), chunk.bytes.as_slice()))
        .collect();
    assert_eq!(chunks, [(3, &b"data: one\n\n"[..]), (3, b"data: two\n\n")]);
    assert_eq!(playback.ending(), Ending::Whole);
    assert_eq!(player.remaining(), 1);
}

#[test]
fn in_order_a_later_exchange_does_not_match() {
    let player = Player::new(two_exchanges().cassette(), PlayerConfig::default());
    let none = HeaderMap::new();
    let asked = br#"{"model":"large","seed":2}"#;
    let refused = player.answer(post(CHAT, &none, asked)).unwrap_err();
    let nearest = refused.nearest().unwrap();
    assert_eq!(nearest.index, 0);
    let Difference::Body {
        pointer,
        recorded,
        asked,
    } = &nearest.difference
    else {
        panic!("{nearest:?}");
    };
    assert_eq!(
        (pointer.as_str(), recorded.to_string(), asked.to_string()),
        ("/model", "\"small\"".to_owned(), "\"large\"".to_owned())
    );
    assert_eq!(player.remaining(), 2);
}

#[test]
fn in_any_order_a_matching_exchange_is_played_once() {
    let mode = Mode::AnyOrder;
    let config = PlayerConfig {
        mode,
        ..PlayerConfig::default()
    };
    let player = Player::new(two_exchanges().cassette(), config);
    let none = HeaderMap::new();
    let asked = br#"{"model":"large","seed":2}"#;
    assert_eq!(player.answer(post(CHAT, &none, asked)).unwrap().index(), 1);
    let refused = player.answer(post(CHAT, &none, asked)).unwrap_err();
    assert_eq!(refused.nearest().unwrap().index, 0);
    let other = player.answer(post(CHAT, &none, br#"{"model":"small","seed":1}"#));
    assert_eq!(other.unwrap().index(), 0);
    let refused = player.answer(post(CHAT, &none, asked)).unwrap_err();
    assert_eq!(refused.nearest(), None);
    assert_eq!(
        refused.to_string(),
        "the cassette has no answer to POST \"/v1/chat/completions\": all its exchanges were played"
    );
}

#[test]
fn ignored_members_may_differ_or_be_missing() {
    let config = PlayerConfig {
        ignored: vec![IgnoredPath::try_new("/seed").unwrap()],
        ..PlayerConfig::default()
    };
    let player = Player::new(two_exchanges().cassette(), config);
    let none = HeaderMap::new();
    assert!(
        player
            .answer(post(CHAT, &none, br#"{"model":"small","seed":9}"#))
            .is_ok()
    );
    assert!(
        player
            .answer(post(CHAT, &none, br#"{"model":"large"}"#))
            .is_ok()
    );
}

#[test]
fn keys_and_placeholder_numbers_do_not_change_a_request() {
    let rules = |secret| ScrubRules::new().with_secret(secret).unwrap();
    let recorder = Recorder::new(RecorderConfig {
        rules: rules("yesterday-key"),
        ..RecorderConfig::default()
    });
    let none = HeaderMap::new();
    let url = |key: &str| format!("{CHAT}?key={key}");
    record(
        &recorder,
        post(
            &url("yesterday-key"),
            &none,
            br#"{"to":"alice@example.org"}"#,
        ),
        &[b"from bob@example.org"],
    );
    record(
        &recorder,
        post(CHAT, &none, br#"{"to":"carol@example.org"}"#),
        &[b"x"],
    );

    let config = PlayerConfig {
        rules: rules("todays-key"),
        ..PlayerConfig::default()
    };
    let player = Player::new(recorder.cassette(), config);
    assert!(
        player
            .answer(post(
                &url("todays-key"),
                &none,
                br#"{"to":"alice@example.org"}"#
            ))
            .is_ok()
    );
    assert!(
        player
            .answer(post(CHAT, &none, br#"{"to":"dave@example.org"}"#))
            .is_ok()
    );
}
