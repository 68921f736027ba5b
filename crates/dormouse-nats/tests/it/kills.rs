//! Servers are killed under writers: what was acknowledged is stored, once, in order, and the chain holds.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use dormouse_contracts::{AppendErrorKind, Seq};
use dormouse_nats::NatsLog;
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::{
    append, assistant, is_quick, read_all,
    server::{Cluster, Settings},
};

const LIVES: usize = 4;

/// The answers that one writer got.
#[derive(Default)]
struct Written {
    acknowledged: Vec<(u64, String)>,
    conflicts: u32,
}

/// Appends to one life until told to stop, as one of two that compete: after a conflict it reads where the log ends, and claims it.
async fn write(log: NatsLog, name: &str, writer: usize, stop: &AtomicBool) -> Written {
    let life = assistant(name);
    let mut written = Written::default();
    let mut end = 0;
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let payload = format!("{writer}:{number}");
        match append(&log, &life, end, payload.clone()).await {
            Ok(seq) => {
                end = seq.0;
                written.acknowledged.push((end, payload));
            }
            Err(error)
                if matches!(
                    error.kind(),
                    AppendErrorKind::Conflict { .. } | AppendErrorKind::Closed
                ) =>
            {
                written.conflicts += 1;
                end = log.claim(&life).await.unwrap().1.0;
            }
            Err(error) => panic!("{error}: {:?}", error_source(&error)),
        }
    }
    written
}

fn error_source(error: &dyn std::error::Error) -> String {
    error.source().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_servers_lose_nothing_that_was_acknowledged_and_store_nothing_twice() {
    let Some(mut cluster) = Cluster::start(3, Settings::default()) else {
        return;
    };
    let kills = if is_quick() { 2 } else { 16 };
    let started = Instant::now();
    let stop = AtomicBool::new(false);
    let names: Vec<String> = (0..LIVES).map(|life| format!("life-{life}")).collect();
    let mut logs = Vec::new();
    for _ in 0..2 {
        logs.push(cluster.connect().await);
    }
    // The first life has two writers, the others one each.
    let mut writers = vec![write(logs[1].clone(), &names[0], 1, &stop)];
    for name in &names {
        writers.push(write(logs[0].clone(), name, 0, &stop));
    }
    let client = cluster.client().await;
    let killer = async {
        let mut killed = 0;
        while killed < kills {
            let Some(leader) = cluster.leader(&client).await else {
                continue;
            };
            // Three times the leader, then another server.
            let victim = if killed % 4 == 3 {
                (leader + 1) % 3
            } else {
                leader
            };
            cluster.nodes[victim].kill();
            killed += 1;
            // What is acknowledged now is on two servers.
            let probe = format!("probe-{killed}");
            append(&logs[0], &assistant(&probe), 0, "still here")
                .await
                .unwrap();
            cluster.nodes[victim].start();
        }
        stop.store(true, Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(join_all(writers), killer);

    let reader = cluster.connect().await;
    let (mut acknowledged, mut stored) = (0, 0);
    for (life, name) in names.iter().enumerate() {
        let life_id = assistant(name);
        let events = read_all(&reader, &life_id).await.unwrap();
        let report = reader.verify(&life_id).await.unwrap();
        assert_eq!(report.broken, None);
        assert_eq!(report.last, Seq(events.len() as u64));
        let by_writer = written.iter().skip(if life == 0 { 0 } else { life + 1 });
        let mine = by_writer.take(if life == 0 { 2 } else { 1 });
        let mut promised = 0;
        for (seq, payload) in mine.flat_map(|written| &written.acknowledged) {
            promised += 1;
            let found = &events[*seq as usize - 1];
            assert_eq!(found.payload, payload.as_bytes(), "event {seq} of {name}");
        }
        let different: HashSet<_> = events.iter().map(|event| &event.payload).collect();
        assert_eq!(different.len(), events.len(), "nothing is stored twice");
        assert_eq!(promised, events.len(), "nothing is stored unacknowledged");
        acknowledged += promised;
        stored += events.len();
    }
    let conflicts: u32 = written.iter().map(|written| written.conflicts).sum();
    println!(
        "{kills} kills in {:.1} s: {acknowledged} acknowledged, {stored} stored, {conflicts} conflicts of two writers",
        started.elapsed().as_secs_f64()
    );
    assert!(acknowledged > 50 && conflicts > 0);
}
