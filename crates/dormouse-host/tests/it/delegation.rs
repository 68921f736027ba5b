//! Tasks that the host carries between two logs.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dormouse_contracts::{
    Append, AppendRequest, Author, ChatRequest, EffectKey, Habitat, Message, NewEvent, ReadEvents,
    Seq, Timestamp,
};
use dormouse_engine::{
    DelegationFailure, EmergencyStopCleared, EmergencyStopTriggered, Event, RosterChange,
    SettingChanged, StopCause, Tag, TaskOutcome, TaskReceived,
};
use dormouse_host::{
    Host, OpenLog,
    roster::{self, Newcomer, RosterDecision},
};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::tea_house::{Folder, admit_alice, key, open_with, page};

const BEGIN: Timestamp = Timestamp::from_micros(1_795_219_200_000_000);

fn by_ada() -> RosterDecision {
    RosterDecision {
        author: Author::Operator("Ada".to_owned()),
        reason: "the house grows".to_owned(),
    }
}

pub(crate) fn last_text(request: &ChatRequest) -> String {
    let text = request
        .messages
        .iter()
        .rev()
        .find_map(|message| match message {
            Message::User { content } => Some(content.clone()),
            _ => None,
        });
    text.unwrap_or_default()
}

/// A model for all assistants. Asked by Alice, it delegates to the tag "river". With a task, it counts. With a result,
/// it tells Alice.
fn model() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::looping(ScriptedTurn::with(|request| {
        let text = last_text(request);
        if text.contains("gives you a task") {
            return ScriptedTurn::text("Three boats.");
        }
        if text.contains("The result: ") || text.contains("was not done: ") {
            let failed = text.split_once("was not done: ");
            let code = failed.and_then(|(_, why)| why.split(['[', ']']).nth(1));
            let told = code.unwrap_or("three boats");
            return ScriptedTurn::call("page", json!({"to": "Alice", "message": told}));
        }
        if text.contains("how many boats") && !text.contains("handed over") {
            return ScriptedTurn::calls([
                (
                    "delegate_task",
                    json!({"task": "count the boats", "to": "river"}),
                ),
                ("noop", json!({})),
            ]);
        }
        ScriptedTurn::call("noop", json!({}))
    })))
}

fn setting(name: &str, new: Value) -> Event {
    Event::SettingChanged(SettingChanged {
        setting: name.to_owned(),
        old: None,
        new: Some(new),
        by: "Ada".to_owned(),
    })
}

/// Writes into the log of somebody who is not awake.
async fn write(host: &Host, of: &str, event: Event) {
    write_at(host, of, event, BEGIN).await;
}

/// Writes at this time.
pub(crate) async fn write_at(host: &Host, of: &str, event: Event, at: Timestamp) {
    let known = host.known().unwrap();
    let last = known.iter().find(|(it, _)| *it == key(of)).unwrap().1;
    let request = AppendRequest {
        assistant: key(of),
        expected: last,
        events: vec![event.encode(at).unwrap()],
    };
    host.log().append(request).await.unwrap();
}

/// A mole that may give tasks away, and a rat with the tag of the river. Neither is awake.
async fn house(folder: &Folder) -> Host {
    let host = open_with(folder.path(), model()).await.unwrap();
    furnish(&host, &["mole", "rat"]).await;
    host
}

/// Admits Alice and those with these keys. They may give tasks away; the rat has the tag of the river.
pub(crate) async fn furnish(host: &Host, names: &[&str]) {
    admit_alice(host).await;
    let clock = dormouse_host::SystemClock;
    for name in names {
        let newcomer = Newcomer {
            key: key(name),
            name: None,
            persona: Some(format!("You are the {name}.")),
            tags: BTreeSet::new(),
        };
        let config = (host.config(), &host.world().landmarks());
        roster::create(host.log(), &clock, config, newcomer, by_ada())
            .await
            .unwrap();
        let allowed = setting("execution.sub_agents_enabled", json!(true));
        write(host, name, allowed).await;
    }
    let river = RosterChange::Tagged(BTreeSet::from([Tag::try_new("river").unwrap()]));
    roster::change(
        &OpenLog::new(host.log().clone(), None),
        &clock,
        &key("rat"),
        river,
        by_ada(),
    )
    .await
    .unwrap();
}

async fn events(host: &Host, of: &str) -> Vec<Event> {
    let stored = host.log().read(&key(of), Seq::ZERO, 1_000).await.unwrap();
    stored.iter().map(|it| Event::decode(it).unwrap()).collect()
}

/// The kinds of the events about tasks.
async fn tasks(host: &Host, of: &str) -> Vec<&'static str> {
    let kinds = events(host, of).await;
    let kinds = kinds.iter().map(Event::kind);
    kinds
        .filter(|kind| {
            kind.contains("task_") && *kind != "task_assessed" || kind.contains("delegat")
        })
        .collect()
}

async fn told(host: &Host) -> Vec<String> {
    let all = events(host, "mole").await;
    let said = all.iter().filter_map(|event| match event {
        Event::EffectIntended(it) => it.arguments.get("message")?.as_str(),
        _ => None,
    });
    said.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_task_goes_to_somebody_with_the_tag_and_its_result_comes_back_and_is_told() {
    let folder = Folder::new();
    let host = house(&folder).await;
    for name in ["mole", "rat"] {
        host.take_in(&key(name)).await.unwrap();
    }
    drop(host.wake(&key("mole")).await.unwrap());
    page(&host, "Mole", "how many boats are there?").await;
    while told(&host).await.is_empty() {
        yield_now().await;
    }
    assert_eq!(told(&host).await, ["three boats"]);
    assert_eq!(
        tasks(&host, "mole").await,
        ["task_delegated", "delegate_chosen", "delegation_ended"]
    );
    assert_eq!(
        tasks(&host, "rat").await,
        ["task_received", "task_answered"]
    );
    host.close().await;
}

#[tokio::test]
async fn a_task_of_a_stopped_delegate_comes_back_with_emergency_stop() {
    let folder = Folder::new();
    let host = house(&folder).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    rat.handle().stop("Ada", "a test").await.unwrap();
    drop(host.wake(&key("mole")).await.unwrap());
    page(&host, "Mole", "how many boats are there?").await;
    while told(&host).await.is_empty() {
        yield_now().await;
    }
    assert_eq!(told(&host).await, ["emergency_stop"]);
    let ended = events(&host, "mole")
        .await
        .into_iter()
        .find_map(|event| match event {
            Event::DelegationEnded(it) => Some(it.outcome),
            _ => None,
        });
    let stop = TaskOutcome::Failed(DelegationFailure::EmergencyStop);
    assert_eq!(ended, Some(stop));
    drop(rat);
    host.close().await;
}

/// Opens the folder again, as after a crash: nothing is in memory any more.
async fn restarted(host: Host, folder: &Folder) -> Host {
    host.close().await;
    drop(host);
    open_with(folder.path(), model()).await.unwrap()
}

#[tokio::test]
async fn a_crash_between_the_two_logs_loses_nothing_and_does_nothing_twice() {
    let folder = Folder::new();
    let host = house(&folder).await;
    host.live_through(&key("rat")).await.unwrap();
    host.live_through(&key("mole")).await.unwrap();
    page(&host, "Mole", "how many boats are there?").await;
    host.live_through(&key("mole")).await.unwrap();
    assert_eq!(tasks(&host, "mole").await, ["task_delegated"]);

    let host = restarted(host, &folder).await;
    assert_eq!(host.carry_tasks(&key("mole")).await.unwrap(), [key("rat")]);
    let host = restarted(host, &folder).await;
    // What has arrived is not carried again, from either side.
    assert_eq!(host.carry_tasks(&key("mole")).await.unwrap(), []);
    assert_eq!(host.carry_tasks(&key("rat")).await.unwrap(), []);
    host.live_through(&key("rat")).await.unwrap();
    assert_eq!(
        tasks(&host, "rat").await,
        ["task_received", "task_answered"]
    );

    // Only the log of the delegate has the answer: everybody lives on, and the mole fetches it.
    let host = restarted(host, &folder).await;
    for name in ["rat", "mole"] {
        host.take_in(&key(name)).await.unwrap();
    }
    while told(&host).await.is_empty() {
        yield_now().await;
    }
    let host = restarted(host, &folder).await;
    for name in ["rat", "mole"] {
        assert_eq!(host.carry_tasks(&key(name)).await.unwrap(), []);
        host.live_through(&key(name)).await.unwrap();
    }
    assert_eq!(told(&host).await, ["three boats"]);
    assert_eq!(
        tasks(&host, "mole").await,
        ["task_delegated", "delegate_chosen", "delegation_ended"]
    );
    assert_eq!(
        tasks(&host, "rat").await,
        ["task_received", "task_answered"]
    );
    host.close().await;
}

#[tokio::test]
async fn a_task_whose_delegate_was_archived_is_lost_and_says_so() {
    let folder = Folder::new();
    let host = house(&folder).await;
    host.live_through(&key("mole")).await.unwrap();
    page(&host, "Mole", "how many boats are there?").await;
    host.live_through(&key("mole")).await.unwrap();
    host.carry_tasks(&key("mole")).await.unwrap();
    let clock = dormouse_host::SystemClock;
    let archived = RosterChange::Archived;
    roster::change(
        &OpenLog::new(host.log().clone(), None),
        &clock,
        &key("rat"),
        archived,
        by_ada(),
    )
    .await
    .unwrap();
    host.carry_tasks(&key("mole")).await.unwrap();
    host.live_through(&key("mole")).await.unwrap();
    assert_eq!(told(&host).await, ["lost"]);
    host.close().await;
}

#[tokio::test]
async fn a_result_that_comes_when_nobody_waits_changes_nothing() {
    let folder = Folder::new();
    let host = house(&folder).await;
    host.live_through(&key("mole")).await.unwrap();
    page(&host, "Mole", "how many boats are there?").await;
    host.live_through(&key("mole")).await.unwrap();
    host.carry_tasks(&key("mole")).await.unwrap();
    // The same task, in the log of an assistant that was not chosen.
    let given = events(&host, "mole")
        .await
        .into_iter()
        .find_map(|event| match event {
            Event::TaskDelegated(it) => Some(it.task),
            _ => None,
        });
    host.live_through(&key("rat")).await.unwrap();
    host.carry_tasks(&key("rat")).await.unwrap();
    let before = tasks(&host, "mole").await;
    write(
        &host,
        "rat",
        Event::TaskReceived(TaskReceived {
            task: given.unwrap(),
        }),
    )
    .await;
    host.live_through(&key("rat")).await.unwrap();
    assert_eq!(host.carry_tasks(&key("rat")).await.unwrap(), []);
    assert_eq!(tasks(&host, "mole").await, before);
    tokio::time::timeout(Duration::from_secs(60), host.close())
        .await
        .unwrap();
}

fn stop() -> Event {
    Event::EmergencyStopTriggered(EmergencyStopTriggered {
        cause: StopCause::Operator("Ada".to_owned()),
        reason: None,
    })
}

#[tokio::test]
async fn nothing_is_handed_over_for_a_stopped_giver_and_its_delegate_is_called_off() {
    let folder = Folder::new();
    let host = house(&folder).await;
    host.live_through(&key("rat")).await.unwrap();
    host.live_through(&key("mole")).await.unwrap();
    page(&host, "Mole", "how many boats are there?").await;
    host.live_through(&key("mole")).await.unwrap();
    host.carry_tasks(&key("mole")).await.unwrap();
    write(&host, "mole", stop()).await;
    host.live_through(&key("mole")).await.unwrap();
    let ended = ["task_delegated", "delegate_chosen", "delegation_ended"];
    assert_eq!(tasks(&host, "mole").await, ended);
    assert_eq!(host.carry_tasks(&key("mole")).await.unwrap(), [key("rat")]);
    let called_off = ["task_received", "task_cancelled"];
    assert_eq!(tasks(&host, "rat").await, called_off);

    // The assistant is stopped before a delegate was chosen.
    write(&host, "mole", cleared()).await;
    page(&host, "Mole", "how many boats are there?").await;
    host.live_through(&key("mole")).await.unwrap();
    write(&host, "mole", stop()).await;
    assert_eq!(host.carry_tasks(&key("mole")).await.unwrap(), []);
    assert_eq!(tasks(&host, "rat").await, called_off);
    host.close().await;
}

fn cleared() -> Event {
    Event::EmergencyStopCleared(EmergencyStopCleared {
        cleared_by: "Ada".to_owned(),
    })
}

#[tokio::test]
async fn a_log_that_cannot_be_read_holds_up_no_other_task_and_is_tried_again() {
    // The folder is not checked at the end, because this log cannot be decided again.
    let folder = tempfile::tempdir().unwrap();
    let host = open_with(folder.path(), model()).await.unwrap();
    furnish(&host, &["mole", "rat"]).await;
    host.live_through(&key("mole")).await.unwrap();
    page(&host, "Mole", "how many boats are there?").await;
    host.live_through(&key("mole")).await.unwrap();
    // The log of another assistant has an unreadable event.
    let unreadable = AppendRequest {
        assistant: key("otter"),
        expected: Seq::ZERO,
        events: vec![NewEvent {
            kind: "no_such_kind",
            ..stop().encode(BEGIN).unwrap()
        }],
    };
    host.log().append(unreadable).await.unwrap();
    assert_eq!(host.carry_tasks(&key("mole")).await.unwrap(), [key("rat")]);
    assert_eq!(tasks(&host, "rat").await, ["task_received"]);
    // A task for it waits until it can be read, or it is too late.
    let given = events(&host, "mole").await.into_iter();
    let given = given.filter_map(|event| match event {
        Event::TaskDelegated(it) => Some(it),
        _ => None,
    });
    let mut for_otter = given.last().unwrap();
    for_otter.to = Some("otter".to_owned());
    for_otter.task.key = EffectKey::try_new("mole/9/9").unwrap();
    let before = tasks(&host, "mole").await;
    write(&host, "mole", Event::TaskDelegated(for_otter)).await;
    host.carry_tasks(&key("mole")).await.unwrap_err();
    assert_eq!(tasks(&host, "mole").await.len(), before.len() + 1);
    host.close().await;
}
