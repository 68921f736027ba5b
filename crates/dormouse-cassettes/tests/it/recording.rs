//! What a recorder keeps and what it leaves out.

use std::{thread, time::Duration};

use dormouse_cassettes::{
    Body, Ending, Exchange, Hosts, Recorder, RecorderConfig, RecorderLimits, RuleError, ScrubRules,
};
use http::{HeaderMap, HeaderName, StatusCode};
use proptest::prelude::*;

use crate::support::{headers, post, record};

fn recorder(limits: RecorderLimits) -> Recorder {
    Recorder::new(RecorderConfig {
        limits,
        ..RecorderConfig::default()
    })
}

#[test]
fn only_listed_headers_are_recorded_and_the_host_is_not() {
    let recorder = recorder(RecorderLimits::default());
    let sent = headers(&[
        ("authorization", "Bearer abc"),
        ("x-api-key", "abc"),
        ("cookie", "a=b"),
        ("openai-organization", "org-x"),
        ("x-anything-else", "abc"),
        ("anthropic-version", "2023-06-01"),
    ]);
    let got = headers(&[
        ("set-cookie", "a=b"),
        ("retry-after", "3"),
        ("x-request-id", "req_1"),
        ("anthropic-ratelimit-requests-remaining", "7"),
        ("content-length", "1"),
    ]);
    let mut exchange = recorder.begin(post(
        "https://alice:pw@intern.example.com/v1/x#there",
        &sent,
        b"",
    ));
    exchange.answered(StatusCode::TOO_MANY_REQUESTS, &got, Duration::ZERO);
    exchange.ended(Ending::Whole);

    let cassette = recorder.cassette();
    let [
        Exchange {
            request,
            response: Some(response),
            ..
        },
    ] = cassette.exchanges.as_slice()
    else {
        panic!("{cassette:?}");
    };
    let names = |headers: &[dormouse_cassettes::Header]| -> Vec<String> {
        headers.iter().map(|header| header.name.clone()).collect()
    };
    assert_eq!(names(&request.headers), ["anthropic-version"]);
    let mut kept = names(&response.headers);
    kept.sort();
    assert_eq!(
        kept,
        [
            "anthropic-ratelimit-requests-remaining",
            "retry-after",
            "x-request-id"
        ]
    );
    assert_eq!(
        (request.target.as_str(), &request.host, &request.body),
        ("/v1/x", &None, &Body::Empty)
    );
    assert!(!cassette.to_text().contains("intern"));
}

#[test]
fn a_host_is_kept_if_configured_and_a_secret_header_never() {
    let config = RecorderConfig {
        hosts: Hosts::Kept,
        ..RecorderConfig::default()
    };
    let recorder = Recorder::new(config);
    record(
        &recorder,
        post("http://alice:pw@localhost:8080/x", &HeaderMap::new(), b""),
        &[],
    );
    let host = recorder.cassette().exchanges[0].request.host.clone();
    assert_eq!(host.as_deref(), Some("localhost:8080"));

    let refused = ScrubRules::new().with_header(HeaderName::from_static("cookie"));
    assert_eq!(refused.unwrap_err(), RuleError::HeaderNeverRecorded);
    let refused = ScrubRules::new().with_secret(" none\n");
    assert_eq!(refused.unwrap_err(), RuleError::SecretTooShort { bytes: 4 });
}

#[test]
fn a_dropped_exchange_is_recorded_as_abandoned() {
    let recorder = recorder(RecorderLimits::default());
    let none = HeaderMap::new();
    let mut exchange = recorder.begin(post("/a", &none, b""));
    exchange.answered(StatusCode::OK, &none, Duration::ZERO);
    exchange.chunk(b"half", Duration::ZERO);
    assert_eq!(
        (recorder.in_flight(), recorder.cassette().exchanges.len()),
        (1, 0)
    );
    drop(exchange);
    assert_eq!(recorder.in_flight(), 0);
    let exchange = recorder.cassette().exchanges[0].clone();
    assert_eq!(exchange.ending, Ending::Abandoned);
    assert_eq!(exchange.response.unwrap().body(), b"half");
}

#[test]
fn a_contradictory_ending_is_corrected_and_its_reason_scrubbed() {
    let recorder = recorder(RecorderLimits::default());
    let none = HeaderMap::new();
    recorder.begin(post("/a", &none, b"")).ended(Ending::Whole);
    let reason = format!("no route to 203.0.113.9 {}", "ä".repeat(1000));
    recorder
        .begin(post("/b", &none, b""))
        .ended_because(Ending::NeverReached, &reason);
    let exchanges = recorder.cassette().exchanges;
    assert_eq!(
        (exchanges[0].ending, &exchanges[0].response),
        (Ending::NeverReached, &None)
    );
    assert!(exchanges[1].reason.starts_with("no route to [ip-1] ä"));
    assert!(exchanges[1].reason.len() <= Exchange::LONGEST_REASON_BYTES);
}

#[test]
fn exchanges_are_in_the_order_of_their_requests() {
    let recorder = recorder(RecorderLimits::default());
    let none = HeaderMap::new();
    let first = recorder.begin(post("/first", &none, b""));
    recorder
        .begin(post("/second", &none, b""))
        .ended(Ending::NeverReached);
    first.ended(Ending::NeverReached);
    let targets: Vec<_> = recorder
        .cassette()
        .exchanges
        .into_iter()
        .map(|exchange| exchange.request.target)
        .collect();
    assert_eq!(targets, ["/first", "/second"]);
}

#[test]
fn clones_on_many_threads_record_into_one_cassette() {
    let recorder = recorder(RecorderLimits::default());
    thread::scope(|scope| {
        for _ in 0..4 {
            let recorder = recorder.clone();
            scope.spawn(move || {
                for _ in 0..25 {
                    record(
                        &recorder,
                        post("/a", &HeaderMap::new(), b"{}"),
                        &[b"alice@example.org"],
                    );
                }
            });
        }
    });
    let cassette = recorder.cassette();
    assert_eq!(cassette.exchanges.len(), 100);
    let same = |exchange: &Exchange| exchange.response.as_ref().unwrap().body() == b"[email-1]";
    assert!(cassette.exchanges.iter().all(same));
}

#[test]
fn a_truncated_body_is_marked_and_its_replay_is_cut_off() {
    let recorder = recorder(RecorderLimits {
        exchange_bytes: 1000,
        ..RecorderLimits::default()
    });
    let none = HeaderMap::new();
    let chunk = [b'x'; 400];
    record(
        &recorder,
        post("/a", &none, &[b'y'; 100]),
        &[chunk.as_slice(); 100],
    );
    let exchange = recorder.cassette().exchanges[0].clone();
    let response = exchange.response.as_ref().unwrap();
    assert_eq!(
        (response.body().len(), response.left_out_bytes),
        (900, 39_100)
    );
    assert!(exchange.is_cut_short());
    assert_eq!(
        (exchange.ending, exchange.replayed_ending()),
        (Ending::Whole, Ending::CutOff)
    );
}

#[test]
fn a_secret_across_the_limit_is_replaced_whole() {
    let rules = ScrubRules::new()
        .with_secret("correct horse battery")
        .unwrap();
    let limits = RecorderLimits {
        exchange_bytes: 100,
        ..RecorderLimits::default()
    };
    let recorder = Recorder::new(RecorderConfig {
        rules,
        limits,
        ..RecorderConfig::default()
    });
    let body = format!("{}correct horse battery staple", "x".repeat(90));
    record(
        &recorder,
        post("/a", &HeaderMap::new(), b""),
        &[body.as_bytes()],
    );
    let body = recorder.cassette().exchanges[0]
        .response
        .as_ref()
        .unwrap()
        .body();
    assert_eq!(body, format!("{}[secret-1]", "x".repeat(90)).into_bytes());
}

#[test]
fn too_many_chunks_are_joined_and_counted() {
    let recorder = recorder(RecorderLimits {
        chunks: 3,
        ..RecorderLimits::default()
    });
    record(
        &recorder,
        post("/a", &HeaderMap::new(), b""),
        &[b"a", b"b", b"c", b"d", b"e"],
    );
    let response = recorder.cassette().exchanges[0].response.clone().unwrap();
    let chunks: Vec<_> = response
        .chunks
        .iter()
        .map(|chunk| chunk.bytes.as_slice())
        .collect();
    assert_eq!(chunks, [&b"a"[..], b"b", b"cde"]);
    assert_eq!(response.joined_chunks, 2);
}

proptest! {
    #[test]
    fn a_cassette_is_never_longer_than_its_limit(
        cassette_bytes in 0_usize..6_000,
        exchanges in prop::collection::vec((0_usize..900, prop::collection::vec(any::<u8>(), 0..300)), 0..12),
    ) {
        let recorder = recorder(RecorderLimits { cassette_bytes, exchanges: 10, ..RecorderLimits::default() });
        for (number, (asked, answer)) in exchanges.iter().enumerate() {
            let target = format!("/{number}");
            record(&recorder, post(&target, &HeaderMap::new(), &vec![b'q'; *asked]), &[answer]);
        }
        let cassette = recorder.cassette();
        // Besides the exchanges there are a few lines about the whole.
        prop_assert!(cassette.to_text().len() <= cassette_bytes + 200);
        let all = cassette.exchanges.len() as u64 + cassette.left_out_exchanges;
        prop_assert_eq!(all, exchanges.len() as u64);
        // A smaller one may find room after a larger one did not.
        for exchange in &cassette.exchanges {
            let number: usize = exchange.request.target[1..].parse().unwrap();
            let (asked, answer) = &exchanges[number];
            if exchange.request.left_out_bytes > 0 {
                prop_assert_eq!(exchange.request.left_out_bytes, *asked as u64);
                let response = exchange.response.as_ref().unwrap();
                prop_assert!(response.chunks.is_empty());
                prop_assert!(answer.is_empty() || response.left_out_bytes > 0);
            }
        }
    }
}
