//! A log is written, closed, opened again, read and verified.

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, NewEvent, ReadEvents, Seq, Timestamp,
};
use dormouse_store::RedbLog;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal.redb");
    let alice = AssistantId::try_new("alice")?;

    let log = RedbLog::open(&path)?;
    let events = ["woke", "heard", "said"].map(|kind| NewEvent {
        at: Timestamp::EPOCH,
        kind,
        schema: 1,
        payload: b"{}".to_vec(),
    });
    log.append(AppendRequest {
        assistant: alice.clone(),
        expected: Seq::ZERO,
        events: events.to_vec(),
    })
    .await?;
    log.close();

    let log = RedbLog::open_existing(&path)?;
    let mut lines = String::new();
    for event in log.read(&alice, Seq::ZERO, 100).await? {
        lines += &format!("{} {} {}\n", event.seq, event.at, event.kind);
    }
    std::io::Write::write_all(
        &mut std::io::stdout(),
        format!("{lines}{}\n", log.verify()?).as_bytes(),
    )?;
    Ok(())
}
