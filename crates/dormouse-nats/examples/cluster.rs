//! Writes to an assistant's log on a cluster, and reads it back: `cluster nats://127.0.0.1:4222`.
//!
//! For a single server without logins and without `sync_interval: always`, as `nats-server --jetstream` starts one.

use std::io::Write;

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, NewEvent, ReadEvents, Seq, Timestamp,
};
use dormouse_nats::{NatsConfig, NatsDurability, NatsLog};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let servers: Vec<String> = std::env::args().skip(1).collect();
    if servers.is_empty() {
        writeln!(out, "usage: cluster ADDRESS…")?;
        return Ok(());
    }
    let mut config = NatsConfig::new(servers, NatsDurability::AcknowledgedBeforeSync);
    config.replicas = 1;
    let log = NatsLog::connect(&config).await?;

    let alice = AssistantId::try_new("alice")?;
    let (epoch, end) = log.claim(&alice).await?;
    let events = ["woke", "heard", "said"].map(|kind| NewEvent {
        at: Timestamp::EPOCH,
        kind,
        schema: 1,
        payload: b"{}".to_vec(),
    });
    log.append(AppendRequest {
        assistant: alice.clone(),
        expected: end,
        events: events.to_vec(),
    })
    .await?;
    writeln!(out, "epoch {epoch} begins after event {end}")?;
    for event in log.read(&alice, Seq::ZERO, 100).await? {
        writeln!(out, "{} {} {}", event.seq, event.at, event.kind)?;
    }
    let report = log.verify(&alice).await?;
    writeln!(
        out,
        "{} events of {} owners, intact: {}",
        report.last,
        report.owners,
        report.broken.is_none()
    )?;
    Ok(())
}
