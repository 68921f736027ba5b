//! Tasks of three assistants, with every kind of interruption between their logs, in random order.

use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use dormouse_contracts::{Clock, EffectKey, ReadEvents, Seq, Timestamp, Usage};
use dormouse_engine::{
    BudgetSpan, DelegationEnded, EmergencyStopCleared, EmergencyStopTriggered, Event, State,
    StopCause, restore,
};
use dormouse_host::Host;
use dormouse_testing::{ManualClock, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;
use tokio::{runtime::Builder, select, task::yield_now};

use crate::{
    delegation::{furnish, last_text, write_at},
    tea_house::{Folder, key, open_at, page},
};

/// The mole gives a task to the rat, which gives a part of it to the otter.
const ALL: [&str; 3] = ["mole", "rat", "otter"];

fn named(who: usize) -> &'static str {
    ALL.get(who).unwrap()
}

/// Something that happens.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Alice asks the mole.
    Ask,
    /// Somebody lives until there is nothing to do now.
    Live(usize),
    /// The tasks of an assistant are carried.
    Carry(usize),
    /// The same, but interrupted at some point, so any part may have been written.
    CarryPart(usize, u32),
    /// The program ends, and begins again.
    Restart,
    /// Somebody stops an assistant, or lets it go on.
    Stop(usize),
    /// Time passes.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let whom = 0..ALL.len();
    prop_oneof![
        2 => Just(Step::Ask),
        4 => whom.clone().prop_map(Step::Live),
        4 => whom.clone().prop_map(Step::Carry),
        3 => (whom.clone(), 0_u32..60).prop_map(|(whom, after)| Step::CarryPart(whom, after)),
        1 => Just(Step::Restart),
        2 => whom.prop_map(Step::Stop),
        1 => prop_oneof![Just(1), Just(400)].prop_map(Step::Wait),
    ]
}

fn model() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::looping(ScriptedTurn::with(|request| {
        let text = last_text(request);
        let give = |task: &str, to: &str| {
            let call = ("delegate_task", json!({"task": task, "to": to}));
            ScriptedTurn::calls([call, ("noop", json!({}))])
        };
        let is_over = text.contains("The result: ") || text.contains("was not done: ");
        if is_over && text.contains("one pier") {
            return ScriptedTurn::call("answer_task", json!({"result": "three boats"}));
        }
        if is_over || text.contains("handed over") {
            return ScriptedTurn::call("noop", json!({}));
        }
        if text.contains("gives you a task") && text.contains("one pier") {
            return ScriptedTurn::text("Three boats.");
        }
        if text.contains("gives you a task") {
            return give("count the boats of one pier", "otter");
        }
        give("count the boats", "river")
    })))
}

async fn state(host: &Host, of: &str) -> State {
    restore(host.log(), &key(of)).await.unwrap()
}

/// Lets a future go on a number of times, and drops it then.
async fn in_part<F: Future>(future: F, polls: u32) {
    let cut = async {
        for _ in 0..polls {
            yield_now().await;
        }
    };
    select! {
        biased;
        _ = future => {}
        () = cut => {}
    }
}

async fn stop_or_clear(host: &Host, of: &str, now: Timestamp) {
    let by = "Ada".to_owned();
    let event = match state(host, of).await.stop.is_on() {
        true => Event::EmergencyStopCleared(EmergencyStopCleared { cleared_by: by }),
        false => Event::EmergencyStopTriggered(EmergencyStopTriggered {
            cause: StopCause::Operator(by),
            reason: None,
        }),
    };
    write_at(host, of, event, now).await;
}

async fn live(host: &Host, of: &str) {
    host.live_through(&key(of)).await.unwrap();
}

async fn happen(steps: &[Step]) {
    let folder = Folder::new();
    let clock = ManualClock::new(Timestamp::from_micros(1_795_219_200_000_000));
    let mut host = open_at(folder.path(), model(), Arc::new(clock.clone())).await;
    furnish(&host, &ALL).await;
    for name in ALL {
        live(&host, name).await;
    }
    page(&host, "Mole", "how many boats are there?").await;
    for step in steps {
        match *step {
            Step::Ask => drop(page(&host, "Mole", "how many boats are there?").await),
            Step::Live(who) => live(&host, named(who)).await,
            Step::Carry(who) => {
                host.carry_tasks(&key(named(who))).await.unwrap();
            }
            Step::CarryPart(who, polls) => in_part(host.carry_tasks(&key(named(who))), polls).await,
            Step::Restart => {
                host.close().await;
                drop(host);
                host = open_at(folder.path(), model(), Arc::new(clock.clone())).await;
            }
            Step::Stop(who) => stop_or_clear(&host, named(who), clock.now()).await,
            Step::Wait(seconds) => clock.advance(Duration::from_secs(seconds)),
        }
    }
    // Everybody goes on, and the time of every task ends.
    for name in ALL {
        if state(&host, name).await.stop.is_on() {
            stop_or_clear(&host, name, clock.now()).await;
        }
    }
    for _ in 0..3 {
        for name in ALL {
            host.carry_tasks(&key(name)).await.unwrap();
            live(&host, name).await;
        }
    }
    clock.advance(Duration::from_secs(3_600));
    for name in ALL {
        live(&host, name).await;
    }
    check(&host, clock.now()).await;
    host.close().await;
}

/// Every task that was given ended once, was begun at most once, and left nothing reserved.
async fn check(host: &Host, now: Timestamp) {
    let mut begun: BTreeMap<EffectKey, u32> = BTreeMap::new();
    for name in ALL {
        let stored = host
            .log()
            .read(&key(name), Seq::ZERO, 10_000)
            .await
            .unwrap();
        let mut ends: BTreeMap<EffectKey, Vec<DelegationEnded>> = BTreeMap::new();
        let mut reserved = BTreeMap::new();
        let mut replies = 0;
        for stored in &stored {
            match Event::decode(stored).unwrap() {
                Event::TaskDelegated(it) => {
                    reserved.insert(it.task.key.clone(), it.task.tokens);
                    ends.entry(it.task.key).or_default();
                }
                Event::DelegationEnded(it) => ends.get_mut(&it.key).unwrap().push(it),
                Event::TaskReceived(it) => *begun.entry(it.task.key).or_default() += 1,
                Event::Replied(it) => {
                    let of = |usage: Usage| usage.prompt_tokens + usage.completion_tokens;
                    replies += u64::from(it.reply.usage.map_or(it.prompt_tokens + it.tokens, of));
                }
                _ => {}
            }
        }
        let mut spent = replies;
        for (key, ends) in &ends {
            assert_eq!(ends.len(), 1, "{key} of {name} ended so often");
            let end = ends.first().unwrap();
            // Only what no result accounts for stays spent.
            spent += end
                .took
                .map_or(*reserved.get(key).unwrap(), |took| took.tokens);
        }
        let state = state(host, name).await;
        assert_eq!(state.delegations.open().count(), 0, "{name}");
        let open = state.delegations.taken_tasks().filter(|it| it.is_open());
        assert_eq!(open.count(), 0, "{name}");
        assert_eq!(
            state.ledger.spent(BudgetSpan::Life, now).tokens,
            spent,
            "{name}"
        );
    }
    assert!(begun.values().all(|times| *times == 1), "{begun:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 64, ..ProptestConfig::with_cases(effort(48) / 2) })]

    #[test]
    fn each_task_ends_once_is_begun_once_at_most_and_leaves_nothing_reserved(
        steps in prop::collection::vec(step(), 4..14),
    ) {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(happen(&steps));
    }
}
