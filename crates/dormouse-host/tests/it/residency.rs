//! Who is awake, who is put away, and what wakes them. Time is virtual once it is paused.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dormouse_contracts::{Author, Clock, EntityId, ModelErrorKind, ReadEvents, Senses, Seq};
use dormouse_engine::{Activity, CommitmentOutcome, RosterChange, State};
use dormouse_host::{Host, Summary, SystemClock, Tail, roster::RosterDecision};
use dormouse_sandbox::{Character, CharacterKind};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};
use tokio::{
    runtime,
    task::yield_now,
    time::{Instant, advance, pause, resume, sleep, sleep_until},
};

use crate::tea_house::{Folder, admit_alice, alice, key, open, open_with, page, say};

/// Lets time pass until everybody is put away.
async fn let_a_while_pass(host: &Host) -> Vec<Summary> {
    loop {
        // Paused time runs ahead whenever the process waits for its disk, so it is paused only here.
        pause();
        // Small steps: on a slow machine there are thousands of them, and what is due in hours must not come.
        advance(Duration::from_millis(100)).await;
        resume();
        if let Some(residents) = settled(host).await {
            return residents;
        }
    }
}

/// All residents, if all are put away and no delivery is about to wake one of them.
async fn settled(host: &Host) -> Option<Vec<Summary>> {
    let mut residents = Vec::new();
    for _ in 0..20 {
        host.world().last_delivery(&alice()).await.unwrap();
        residents = host.residents().await;
    }
    let is_anybody_awake = residents.iter().any(|resident| resident.is_awake);
    (!is_anybody_awake).then_some(residents)
}

fn memories(state: &dormouse_engine::State) -> u64 {
    state.counts.remembered
}

#[tokio::test]
async fn two_residents_share_a_log_and_each_hears_what_is_said_to_it_although_it_was_put_away() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    for name in ["mole", "rat"] {
        drop(host.wake(&key(name)).await.unwrap());
    }
    let away = let_a_while_pass(&host).await;
    let keys: Vec<_> = away.iter().map(|resident| resident.key.as_str()).collect();
    assert_eq!(keys, ["mole", "rat"]);

    page(&host, "Rat", "remember that the boat is green").await;
    // It wakes by itself; asking for it joins it, or wakes it before the message does.
    let rat = host.wake(&key("rat")).await.unwrap();
    while rat.handle().status().memories == 0 {
        rat.handle().at_rest().await;
        yield_now().await;
    }
    let found = rat
        .memory()
        .recall("Which colour is the boat?")
        .await
        .unwrap();
    assert!(found.items[0].record.text.contains("the boat is green"));
    let mole = host.wake(&key("mole")).await.unwrap();
    let state = mole.handle().inspect().await.unwrap();
    assert_eq!(memories(&state), 0, "it was not said to the mole");
    host.close().await;
}

#[tokio::test]
async fn a_change_that_changes_nothing_wakes_nobody_and_writes_nothing() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    drop(host.wake(&key("mole")).await.unwrap());
    let_a_while_pass(&host).await;
    let before = host.known().unwrap();
    for change in [
        RosterChange::Tagged(BTreeSet::new()),
        RosterChange::Restored,
    ] {
        let by_ada = RosterDecision {
            author: Author::Operator("Ada".to_owned()),
            reason: "for nothing".to_owned(),
        };
        let changed = host.change_roster(&key("mole"), change, by_ada).await;
        assert_eq!(changed.unwrap(), None);
        assert!(host.residents().await.iter().all(|it| !it.is_awake));
        assert_eq!(host.known().unwrap(), before);
    }
    host.close().await;
}

#[tokio::test]
async fn a_message_alone_wakes_a_resident_and_the_others_sleep_on() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    for name in ["mole", "rat"] {
        drop(host.wake(&key(name)).await.unwrap());
    }
    let_a_while_pass(&host).await;
    page(&host, "Rat", "remember that the boat is green").await;
    loop {
        let residents = host.residents().await;
        let rat = residents.iter().find(|it| it.key == key("rat")).unwrap();
        let mole = residents.iter().find(|it| it.key == key("mole")).unwrap();
        assert_eq!((mole.is_awake, mole.wakes), (false, 1));
        if rat.wakes == 2 {
            break;
        }
        yield_now().await;
    }
    host.close().await;
}

#[tokio::test]
async fn talk_in_the_room_waits_in_the_world_until_somebody_is_needed_and_is_heard_then() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    drop(host.wake(&key("rat")).await.unwrap());
    let before = let_a_while_pass(&host).await;
    say(&host, "The river is high today.").await;
    assert_eq!(let_a_while_pass(&host).await, before);

    let acted = page(&host, "Rat", "hello").await;
    let rat = host.wake(&key("rat")).await.unwrap();
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    let found = rat.memory().recall("How is the river?").await.unwrap();
    assert!(
        found.items[0]
            .record
            .text
            .contains("The river is high today.")
    );
    drop(rat);

    // A world need not keep an unlimited number of deliveries.
    let before = let_a_while_pass(&host).await;
    for _ in 0..256 {
        say(&host, "Splash.").await;
    }
    let after = let_a_while_pass(&host).await;
    assert_eq!(after[0].wakes, before[0].wakes + 1);
    host.close().await;
}

/// How often the process wakes in an hour in which nothing but this timer runs. Paused time moves by itself from one timer to the
/// next, and the process wakes for each.
async fn wakes_in_an_hour(begin: Instant) -> u64 {
    let metrics = runtime::Handle::current().metrics();
    // At the boundary of a slot of tokio's timer wheel, a timer is not moved to another slot first.
    let slot = Duration::from_millis(64 * 64 * 64);
    let slots = begin.elapsed().as_millis() / slot.as_millis() + 15;
    let parked = metrics.worker_park_count(0);
    sleep_until(begin + slot * u32::try_from(slots).unwrap()).await;
    metrics.worker_park_count(0) - parked
}

#[test]
fn an_idle_hour_wakes_nobody_and_no_timer() {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        // The clock stands still, so this is the moment at which the wheel of timers begins.
        let begin = Instant::now();
        wakes_in_an_hour(begin).await;
        let empty = wakes_in_an_hour(begin).await;
        resume();
        let folder = Folder::new();
        let host = open(folder.path()).await.unwrap();
        admit_alice(&host).await;
        for name in ["mole", "rat", "toad"] {
            drop(host.wake(&key(name)).await.unwrap());
        }
        let before = let_a_while_pass(&host).await;
        pause();
        // Disk threads that still finish may wake it in the first hours; a timer of the host would wake it in every
        // hour.
        let mut woken = Vec::new();
        while woken.last() != Some(&empty) {
            assert!(
                woken.len() < 5,
                "{woken:?} times, and {empty} without a host"
            );
            woken.push(wakes_in_an_hour(begin).await);
        }
        resume();
        assert_eq!(host.residents().await, before);
        host.close().await;
    });
}

#[tokio::test]
async fn what_is_due_wakes_a_resident_that_was_put_away_meanwhile() {
    let folder = Folder::new();
    let pause_of_model = Some(Duration::from_secs(3_600));
    let model = ScriptedModel::new([
        ScriptedTurn::Fail(ModelErrorKind::RateLimited(pause_of_model)),
        ScriptedTurn::call("page", json!({"to": "Alice", "message": "Here I am."})),
    ]);
    let host = open_with(folder.path(), Arc::new(model.clone()))
        .await
        .unwrap();
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(&host, "Rat", "where are you?").await;
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    let activity = rat.handle().status().activity;
    assert!(matches!(activity, Activity::Paused(_)), "{activity:?}");
    drop(rat);
    let away = let_a_while_pass(&host).await;
    assert!(away[0].due.is_some(), "{away:?}");
    assert_eq!(model.requests().len(), 1);

    pause();
    advance(Duration::from_secs(3_600)).await;
    while model.requests().len() < 2 {
        yield_now().await;
    }
    resume();
    let rat = host.wake(&key("rat")).await.unwrap();
    rat.handle().at_rest().await;
    assert_eq!(rat.handle().status().unanswered, 0);
    model.assert_finished();
    host.close().await;
}

#[tokio::test]
async fn a_promise_wakes_a_resident_that_was_put_away_and_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(
        &host,
        "Rat",
        "could you remind me in two hours to paint my boat?",
    )
    .await;
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    let said = |state: &dormouse_engine::State| {
        let steps = state.history.turns().flat_map(|turn| &turn.steps);
        let calls = steps.flat_map(|step| &step.calls);
        let reminders = calls.filter(|call| {
            call.call.name == "page" && call.call.arguments.contains("paint your boat")
        });
        reminders.count()
    };
    let promised = said(&rat.handle().inspect().await.unwrap());
    assert_eq!(promised, 1, "it says what it promises");
    drop(rat);
    let away = let_a_while_pass(&host).await;
    assert!(away[0].due.is_some(), "{away:?}");

    pause();
    advance(Duration::from_secs(2 * 3_600)).await;
    while host.residents().await[0].wakes < 2 {
        yield_now().await;
    }
    resume();
    let rat = host.wake(&key("rat")).await.unwrap();
    rat.handle().at_rest().await;
    let state = rat.handle().inspect().await.unwrap();
    assert_eq!(
        (said(&state), state.promises.iter().len()),
        (promised + 1, 0)
    );
    drop(rat);
    let away = let_a_while_pass(&host).await;
    assert_eq!(away[0].due, None, "{away:?}");
    host.close().await;
}

/// A host in which the rat has set itself a goal, and was put away then.
async fn with_goal(folder: &Folder, repeats: &str) -> (Host, ScriptedModel) {
    let goal = json!({"description": "sweep the house", "repeats": repeats});
    let model = ScriptedModel::new([
        ScriptedTurn::call("add_goal", goal),
        ScriptedTurn::call("page", json!({"to": "Alice", "message": "I will."})),
    ]);
    let model = model.then_for_ever(ScriptedTurn::call("noop", json!({})));
    let host = open_with(folder.path(), Arc::new(model.clone()))
        .await
        .unwrap();
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(&host, "Rat", "sweep the house, again and again").await;
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    drop(rat);
    assert_eq!(model.requests().len(), 2);
    (host, model)
}

#[tokio::test]
async fn a_due_goal_wakes_a_resident_that_was_put_away() {
    let folder = Folder::new();
    let (host, model) = with_goal(&folder, "every 2 hours").await;
    let away = let_a_while_pass(&host).await;
    assert!(away[0].due.is_some(), "{away:?}");
    for times in 1..=3 {
        pause();
        advance(Duration::from_secs(2 * 3_600)).await;
        while model.requests().len() < 2 + times {
            yield_now().await;
        }
        resume();
        let away = let_a_while_pass(&host).await;
        assert!(away[0].due.is_some(), "{away:?}");
    }
    assert_eq!(model.requests().len(), 5);
    host.close().await;
}

#[tokio::test]
async fn a_day_with_goals_that_are_not_due_wakes_nobody_and_writes_nothing() {
    let folder = Folder::new();
    let (host, model) = with_goal(&folder, "every 3 days").await;
    let before = (let_a_while_pass(&host).await, host.known().unwrap());
    pause();
    let metrics = runtime::Handle::current().metrics();
    let parked = metrics.worker_park_count(0);
    sleep(Duration::from_secs(24 * 3_600)).await;
    let woken = metrics.worker_park_count(0) - parked;
    assert!(
        woken <= 20,
        "a timer an hour would wake it 24 times: {woken}"
    );
    let after = (host.residents().await, host.known().unwrap());
    assert_eq!(after, before);
    assert_eq!(model.requests().len(), 2);
    host.close().await;
}

#[tokio::test]
async fn what_waits_at_the_start_is_answered_and_nobody_else_is_woken() {
    let folder = Folder::new();
    {
        let host = open(folder.path()).await.unwrap();
        admit_alice(&host).await;
        for name in ["mole", "rat"] {
            drop(host.wake(&key(name)).await.unwrap());
        }
        let_a_while_pass(&host).await;
        host.close().await;
        // All residents are put away when this is said.
        page(&host, "Rat", "remember that the boat is green").await;
    }
    let host = open(folder.path()).await.unwrap();
    for (known, _) in host.known().unwrap() {
        host.take_in(&known).await.unwrap();
    }
    loop {
        let residents = host.residents().await;
        assert_eq!(residents[0].wakes, 0, "nothing waits for the mole");
        if residents[1].wakes == 1 {
            break;
        }
        yield_now().await;
    }
    let rat = host.wake(&key("rat")).await.unwrap();
    while rat.handle().status().memories == 0 {
        rat.handle().at_rest().await;
        yield_now().await;
    }
    host.close().await;
}

#[tokio::test]
async fn a_tick_that_was_broken_off_goes_on_at_the_next_start_without_another_message() {
    let folder = Folder::new();
    let model = ScriptedModel::new([ScriptedTurn::Hang]);
    let host = open_with(folder.path(), Arc::new(model.clone())).await;
    let host = host.unwrap();
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(&host, "Rat", "where are you?").await;
    rat.heard(&acted.deliveries).await.unwrap();
    while model.requests().is_empty() {
        yield_now().await;
    }
    drop(rat);
    host.close().await;
    drop(host);

    let answer = ScriptedTurn::call("page", json!({"to": "Alice", "message": "Here I am."}));
    let model = ScriptedModel::new([answer]);
    let host = open_with(folder.path(), Arc::new(model.clone())).await;
    let host = host.unwrap();
    host.take_in(&key("rat")).await.unwrap();
    while model.requests().is_empty() {
        yield_now().await;
    }
    let rat = host.wake(&key("rat")).await.unwrap();
    rat.handle().at_rest().await;
    assert_eq!(rat.handle().status().unanswered, 0);
    model.assert_finished();
    drop(rat);
    host.close().await;
}

#[tokio::test]
async fn a_reader_that_stops_delays_nobody_holds_one_page_and_misses_nothing() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let mut slow = Tail::new(host.log(), &key("rat"), rat.handle(), Seq::ZERO);
    let acted = page(&host, "Rat", "remember that box 0 is green").await;
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    let mut seen = vec![slow.next().await.unwrap().unwrap().seq];
    // It reads nothing while the assistant answers twenty messages.
    for number in 1..20 {
        let acted = page(
            &host,
            "Rat",
            &format!("remember that box {number} is green"),
        )
        .await;
        rat.heard(&acted.deliveries).await.unwrap();
        rat.handle().at_rest().await;
    }
    assert_eq!(rat.handle().status().memories, 20, "nobody waited for it");
    let held = format!("{slow:?}").matches("StoredEvent").count();
    assert!((1..=64).contains(&held), "it holds {held} events");
    drop(rat);
    host.close().await;
    while let Some(recorded) = slow.next().await.unwrap() {
        seen.push(recorded.seq);
    }
    let all = host.log().read(&key("rat"), Seq::ZERO, 10_000).await;
    let all: Vec<_> = all.unwrap().iter().map(|event| event.seq).collect();
    assert!(all.len() > 100, "{}", all.len());
    assert_eq!(seen, all);
}

#[tokio::test]
async fn the_events_of_a_life_can_be_followed_from_any_position() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(&host, "Rat", "remember that the boat is green").await;
    rat.heard(&acted.deliveries).await.unwrap();
    let mut tail = Tail::new(host.log(), &key("rat"), rat.handle(), Seq::ZERO);
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(tail.next().await.unwrap().unwrap().seq);
    }
    rat.handle().at_rest().await;
    let mut resumed = Tail::new(host.log(), &key("rat"), rat.handle(), tail.position());
    drop(tail);
    host.close().await;
    while let Some(recorded) = resumed.next().await.unwrap() {
        seen.push(recorded.seq);
    }
    let all = host
        .log()
        .read(&key("rat"), Seq::ZERO, 10_000)
        .await
        .unwrap();
    let all: Vec<_> = all.iter().map(|event| event.seq).collect();
    assert_eq!(seen, all);
}

#[tokio::test]
async fn somebody_who_is_waited_for_wakes_a_resident_that_was_put_away_and_talk_does_not() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let bob = Character {
        id: EntityId::try_new("player:bob").unwrap(),
        name: "Bob".to_owned(),
        kind: CharacterKind::Player,
    };
    let rat = host.wake(&key("rat")).await.unwrap();
    host.world().join(bob.clone()).await.unwrap();
    host.world().leave(&bob.id).await.unwrap();
    let acted = page(&host, "Rat", "when Bob comes, tell me that my boat is dry").await;
    rat.heard(&acted.deliveries).await.unwrap();
    rat.handle().at_rest().await;
    let open = |state: &State| state.promises.iter().len();
    assert_eq!(open(&rat.handle().inspect().await.unwrap()), 1);
    drop(rat);
    let away = let_a_while_pass(&host).await;
    say(&host, "Bob arrives.").await;
    let talked = let_a_while_pass(&host).await;
    assert_eq!(talked[0].wakes, away[0].wakes, "talk wakes nobody");

    host.world().join(bob).await.unwrap();
    while host.residents().await[0].wakes == away[0].wakes {
        yield_now().await;
    }
    let rat = host.wake(&key("rat")).await.unwrap();
    while rat.handle().inspect().await.unwrap().promises.ended().len() == 0 {
        yield_now().await;
    }
    rat.handle().at_rest().await;
    let state = rat.handle().inspect().await.unwrap();
    let kept = state.promises.ended().map(|it| it.outcome);
    assert_eq!(kept.collect::<Vec<_>>(), [CommitmentOutcome::Kept]);
    assert_eq!(open(&state), 0);
    host.close().await;
}

#[tokio::test]
async fn a_start_of_many_reads_only_the_logs_that_have_grown_since_they_were_put_away() {
    let folder = Folder::new();
    let host = open(folder.path()).await.unwrap();
    admit_alice(&host).await;
    let keys: Vec<_> = (0..70)
        .map(|number| key(&format!("vole{number}")))
        .collect();
    for key in &keys {
        drop(host.wake(key).await.unwrap());
    }
    let before = let_a_while_pass(&host).await;
    host.close().await;
    drop(host);

    let file = folder.path().join("residents.json");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let tomorrow = SystemClock.now().plus(Duration::from_secs(24 * 3_600));
    for one in ["vole5", "vole6"] {
        kept["residents"][one]["due"] = serde_json::to_value(tomorrow).unwrap();
    }
    kept["residents"]["vole6"]["seq"] = json!(0);
    std::fs::write(&file, kept.to_string()).unwrap();

    let host = open(folder.path()).await.unwrap();
    for (_, moved_in) in host.take_in_all(keys).await {
        moved_in.unwrap();
    }
    let after = host.residents().await;
    assert_eq!(after.len(), 70);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.key, after.key);
        assert!(!after.is_awake);
        let is_kept = after.key == key("vole5");
        assert_eq!(after.due, if is_kept { Some(tomorrow) } else { before.due });
    }
    page(&host, "vole7", "remember that the boat is green").await;
    let vole = host.wake(&key("vole7")).await.unwrap();
    while vole.handle().status().memories == 0 {
        vole.handle().at_rest().await;
        yield_now().await;
    }
    drop(vole);
    host.close().await;
}
