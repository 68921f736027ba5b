//! What is refused when connecting, and what no server accepts.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
};

use dormouse_contracts::{AppendErrorKind, SaveSnapshot, Seq, Snapshot};
use dormouse_nats::{NatsConfig, NatsConnectError, NatsDurability, NatsFault, NatsLog};

use crate::{
    SHORT, append, assistant, fault, read_all,
    server::{Cluster, Settings, ask, login},
};

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_acknowledge_before_they_sync_are_refused_unless_allowed_by_name() {
    let lazy = Settings {
        sync: "2m",
        ..Settings::default()
    };
    let Some(cluster) = Cluster::start(1, lazy) else {
        return;
    };
    let refused = NatsLog::connect(&cluster.config()).await.unwrap_err();
    assert!(
        matches!(&refused, NatsConnectError::AcknowledgesBeforeSync { server } if server == "n0"),
        "{refused}"
    );
    let mut config = cluster.config();
    config.durability = NatsDurability::AskServers(login("dormouse"));
    let refused = NatsLog::connect(&config).await.unwrap_err();
    assert!(
        matches!(&refused, NatsConnectError::SystemAccount { .. }),
        "{refused}"
    );
    config.durability = NatsDurability::AcknowledgedBeforeSync;
    let log = NatsLog::connect(&config).await.unwrap();
    append(&log, &assistant("alice"), 0, "one").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_with_settings_that_could_lose_events_is_refused() {
    let Some(cluster) = Cluster::start(1, Settings::default()) else {
        return;
    };
    let client = cluster.client().await;
    let body = r#"{"name":"DORMOUSE","subjects":["DORMOUSE.>"],"retention":"limits","storage":"memory","num_replicas":1,"discard":"new","deny_delete":true,"deny_purge":true,"allow_direct":true}"#;
    ask(&client, "$JS.API.STREAM.CREATE.DORMOUSE", body)
        .await
        .unwrap();
    let refused = NatsLog::connect(&cluster.config()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        r#"stream DORMOUSE has storage "memory"; expected "file""#
    );
}

/// Greets as a server of this version, and answers pings.
fn pretend(version: &'static str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("nats://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let info = format!(
            r#"INFO {{"server_id":"X","server_name":"old","version":"{version}","go":"","host":"","port":1,"headers":true,"max_payload":1048576,"proto":1,"jetstream":true}}"#
        );
        stream.write_all(format!("{info}\r\n").as_bytes()).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            if line.starts_with("PING") && stream.write_all(b"PONG\r\n").is_err() {
                return;
            }
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_can_accept_two_writers_is_refused() {
    let address = pretend("2.10.27");
    let config = NatsConfig::new([address], NatsDurability::AcknowledgedBeforeSync);
    let refused = NatsLog::connect(&config).await.unwrap_err();
    assert!(
        matches!(&refused, NatsConnectError::Version { version, .. } if version == "2.10.27"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_append_larger_than_the_server_allows_is_refused_with_the_limit() {
    let small = Settings {
        max_payload: "64KB",
        ..Settings::default()
    };
    let Some(cluster) = Cluster::start(1, small) else {
        return;
    };
    let log = cluster.connect().await;
    let alice = assistant("alice");
    let limit = log.max_append_bytes();
    assert_eq!(limit, 64 * 1024 - 512);
    let refused = append(&log, &alice, 0, vec![7; limit]).await.unwrap_err();
    assert_eq!(refused.kind(), AppendErrorKind::Unacceptable);
    assert!(
        matches!(fault(&refused), NatsFault::TooLarge { limit: l, .. } if *l == limit),
        "{:?}",
        fault(&refused)
    );
    // What fits is written, up to the last byte that does: the rest of a message is 195 bytes with this key and kind.
    let frame = limit - 4 - 2 - 8 - 8 - 16 - 8 - 32 - 6 - 4 - 8 - 2 - 6 - 4 - 32;
    assert!(append(&log, &alice, 0, vec![7; frame + 1]).await.is_err());
    append(&log, &alice, 0, vec![7; frame]).await.unwrap();
    // A snapshot is cut into parts.
    let snapshot = Snapshot {
        seq: Seq(1),
        schema: 1,
        payload: vec![9; 3 * limit + 1],
    };
    log.save_snapshot(&alice, snapshot.clone()).await.unwrap();
    let loaded = dormouse_contracts::LoadSnapshot::load_snapshot(&log, &alice, Seq(1)).await;
    assert!(loaded.unwrap() == Some(snapshot));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_refuses_and_keeps_what_it_has() {
    let full = Settings {
        max_store: "2MB",
        ..Settings::default()
    };
    let Some(cluster) = Cluster::start(1, full) else {
        return;
    };
    let mut config = cluster.config();
    config.patience = SHORT;
    let log = NatsLog::connect(&config).await.unwrap();
    let alice = assistant("alice");
    let mut written = 0;
    let refused = loop {
        match append(&log, &alice, written, vec![1; 100_000]).await {
            Ok(seq) => written = seq.0,
            Err(error) => break error,
        }
        assert!(written < 100, "a full store must refuse");
    };
    assert_eq!(refused.kind(), AppendErrorKind::Storage);
    assert!(written > 5, "{written} events fit");
    let all = read_all(&cluster.connect().await, &alice).await.unwrap();
    assert_eq!(all.len() as u64, written);
    println!("full after {written} events: {}", fault(&refused));
}
