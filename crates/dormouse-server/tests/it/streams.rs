//! Events as they come, and clients that do not read them.

use std::time::Duration;

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_server::Right;
use serde_json::json;
use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};

use crate::service::{Service, key};

const LIMIT: Duration = Duration::from_secs(60);

/// Reads from a stream until its text satisfies the condition.
async fn read_until(stream: &mut TcpStream, is_enough: impl Fn(&str) -> bool) -> String {
    let mut bytes = Vec::new();
    let reading = async {
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if is_enough(&text) {
                return text;
            }
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).await.unwrap();
            assert_ne!(count, 0, "the stream ended: {text}");
            bytes.extend_from_slice(&piece[..count]);
        }
    };
    timeout(LIMIT, reading).await.expect("the events come")
}

/// The ids of events in a text.
fn ids(text: &str) -> Vec<u64> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("id: "));
    lines.map(|id| id.parse().unwrap()).collect()
}

#[tokio::test]
async fn events_come_once_and_in_order_from_where_a_reader_was() {
    let service = Service::open().await;
    let words = json!({"words": "Hello"});
    service
        .call("POST", "dormouse/interact/")
        .json(&words)
        .send()
        .await
        .ok(200);
    let log = service.host.log();
    let written = log.read(&key("dormouse"), Seq::ZERO, 10_000).await.unwrap();
    let last = written.last().unwrap().seq.0;
    let all: Vec<u64> = (1..=last).collect();

    let mut stream = service.call("GET", "dormouse/events/?after=0").open().await;
    let text = read_until(&mut stream, |text| ids(text).len() >= all.len()).await;
    assert!(text.starts_with("HTTP/1.1 200"));
    assert!(text.contains("text/event-stream"));
    assert_eq!(ids(&text)[..all.len()], all[..]);
    drop(stream);

    let resumed = service
        .call("GET", "dormouse/events/?after=0")
        .with("last-event-id", "3");
    let mut stream = resumed.open().await;
    let text = read_until(&mut stream, |text| ids(text).len() >= all.len() - 3).await;
    assert_eq!(ids(&text)[..all.len() - 3], all[3..]);

    // Without a position the stream has only new events, and a new event arrives at once.
    let mut fresh = service.call("GET", "dormouse/events/").open().await;
    read_until(&mut fresh, |text| text.contains("\r\n\r\n")).await;
    service
        .call("POST", "dormouse/interact/")
        .json(&words)
        .send()
        .await
        .ok(200);
    let text = read_until(&mut fresh, |text| text.contains("\"perceived\"")).await;
    assert!(ids(&text)[0] > last);

    for wrong in ["x", "-1", ""] {
        let call = service
            .call("GET", "dormouse/events/")
            .with("last-event-id", wrong);
        call.send().await.problem(400, "invalid_request");
    }
    let call = service.call("GET", "dormouse/events/?after=999999");
    call.send().await.problem(400, "invalid_request");
    service.close().await;
}

#[tokio::test]
async fn a_stream_ends_with_its_token_and_with_the_service() {
    let service = Service::open().await;
    let bob = service.token("Bob", &[Right::Read], None);
    let mut stream = service
        .call("GET", "dormouse/events/")
        .by(&bob)
        .open()
        .await;
    read_until(&mut stream, |text| text.contains("\r\n\r\n")).await;
    let mut other = service.call("GET", "dormouse/events/").open().await;
    read_until(&mut other, |text| text.contains("\r\n\r\n")).await;
    service.tokens().revoke("Bob").unwrap();
    let words = json!({"words": "Hello"});
    service
        .call("POST", "dormouse/interact/")
        .json(&words)
        .send()
        .await
        .ok(200);
    let text = read_until(&mut stream, |text| text.contains("token_ended")).await;
    assert!(
        !text.contains("perceived"),
        "nothing is shown to a token that ended"
    );
    timeout(LIMIT, service.close())
        .await
        .expect("open streams do not hold up the end");
    let mut rest = Vec::new();
    timeout(LIMIT, other.read_to_end(&mut rest))
        .await
        .expect("the stream ends")
        .unwrap();
}

#[tokio::test]
async fn a_hundred_clients_that_never_read_cost_nobody_anything() {
    let service = Service::with("streams = 100\nrequests_per_minute = 100000\nburst = 1000").await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        let mut stream = service.call("GET", "dormouse/events/?after=0").open().await;
        // The connections are accepted, and then read nothing.
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        silent.push(stream);
    }
    service
        .call("GET", "dormouse/events/")
        .send()
        .await
        .problem(503, "too_many_streams");
    for number in 0..20 {
        let words = json!({"words": format!("Hello {number}")});
        let answered = service
            .call("POST", "dormouse/interact/")
            .json(&words)
            .send()
            .await
            .ok(200);
        assert_eq!(answered["outcome"], "answered");
    }
    let metrics = service
        .raw("GET", "/metrics")
        .by(&service.secret)
        .send()
        .await;
    let text = String::from_utf8(metrics.body).unwrap();
    assert!(text.contains("dormouse_event_streams 100"), "{text}");
    drop(silent);
    timeout(LIMIT, service.close())
        .await
        .expect("they do not hold up the end");
}
