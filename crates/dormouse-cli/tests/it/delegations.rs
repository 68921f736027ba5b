//! `dormouse delegation`: tasks that assistants give to each other.

use std::time::Duration;

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, EffectKey, NewEvent, ReadEvents, Seq, Timestamp, Trust,
};
use dormouse_engine::{
    DelegatedTask, DelegatedWords, DelegationFailure, Event, Insulation, TaskCancelled,
    TaskReceived,
};
use dormouse_store::RedbLog;
use serde_json::Value;

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

fn task(number: u32, at: Timestamp) -> DelegatedTask {
    DelegatedTask {
        key: EffectKey::try_new(format!("mole/1/{number}")).unwrap(),
        chain: vec![AssistantId::try_new("mole").unwrap()],
        task: DelegatedWords {
            text: format!("count the boats {number}"),
            trust: Trust::try_new(0.7).unwrap(),
            audience: None,
        },
        briefing: None,
        insulation: Insulation::Delegate,
        summarize: false,
        tokens: 5_000,
        quota: 0,
        expires_at: at.plus(Duration::from_secs(600)),
    }
}

#[tokio::test]
async fn tasks_of_assistants_are_listed_from_both_sides() {
    let home = Home::new();
    ok(home.run(&["assistant", "create", "rat"], ""));
    let command = |args: &[&str]| {
        let args = [&["delegation"], args, &["--assistant", "rat"]].concat();
        ok(home.run(&args, "")).out
    };
    assert_eq!(command(&["list"]), "no task\n");
    assert!(command(&["status"]).contains("execution.sub_agents_enabled is false; has 0"));
    {
        let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
        let key = AssistantId::try_new("rat").unwrap();
        let stored = log.read(&key, Seq::ZERO, 100).await.unwrap();
        let last = stored.last().unwrap();
        let received = |number| {
            let task = task(number, last.at);
            Event::TaskReceived(TaskReceived { task })
        };
        let over = |number, cause| {
            let key = task(number, last.at).key;
            Event::TaskCancelled(TaskCancelled { key, cause })
        };
        let late = over(1, DelegationFailure::TimedOut);
        let cancelled = over(2, DelegationFailure::Cancelled);
        let events = [received(1), received(2), received(3), late, cancelled];
        let events = events.iter().map(|event| event.encode(last.at).unwrap());
        let request = AppendRequest {
            assistant: key,
            expected: last.seq,
            events: events.collect::<Vec<NewEvent>>(),
        };
        log.append(request).await.unwrap();
        log.close();
    }
    let open = command(&["list"]);
    assert!(
        open.contains("taken, from mole: to be done until"),
        "{open}"
    );
    assert_eq!(open.lines().count(), 1, "{open}");
    let all = command(&["list", "--all", "--json"]);
    let codes: Vec<Value> = all
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error_code"].clone())
        .collect();
    assert_eq!(codes, ["timed_out".into(), "cancelled".into(), Value::Null]);
    let status: Value = serde_json::from_str(&command(&["status", "--json"])).unwrap();
    assert_eq!(
        (&status["taken"], &status["enabled"]),
        (&1.into(), &false.into())
    );
    let shown = ok(home.run(&["log", "show", "--assistant", "rat"], "")).out;
    assert!(
        shown.contains("from mole: count the boats 1 (trust 0.7"),
        "{shown}"
    );
    assert!(shown.contains("[cancelled]"), "{shown}");
}
