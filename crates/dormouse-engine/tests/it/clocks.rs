//! Clocks that jump, by minutes or by ten years, forward and back.

use std::time::Duration;

use dormouse_contracts::ModelErrorKind;
use dormouse_engine::{Activity, Rest};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::home::{Home, in_virtual_time, minutes};

const TEN_YEARS: i64 = 87_600;
/// The number of model failures after which a message waits.
const FAILURES: usize = 9;

/// What happens before a message arrives.
#[derive(Clone, Debug)]
struct Before {
    /// By how many hours the clock is set.
    hours: i64,
    /// The program is killed after that.
    is_killed: bool,
    /// The model fails so often that the message has to wait, and the clock is set again meanwhile.
    fails: Option<(ModelErrorKind, i64)>,
}

fn befores() -> impl Strategy<Value = Vec<Before>> {
    let hours = || prop_oneof![Just(0), -TEN_YEARS..TEN_YEARS, -2_i64..3];
    let kind = prop_oneof![
        Just(ModelErrorKind::TimedOut),
        Just(ModelErrorKind::RateLimited(Some(minutes(1)))),
        Just(ModelErrorKind::Unavailable),
    ];
    let fails = prop::option::of((kind, hours()));
    let before = (hours(), any::<bool>(), fails);
    let before = before.prop_map(|(hours, is_killed, fails)| Before {
        hours,
        is_killed,
        fails,
    });
    prop::collection::vec(before, 1..5)
}

async fn everybody_is_answered(befores: Vec<Before>) {
    let mut turns = Vec::new();
    for before in &befores {
        let fails = before.fails.iter().flat_map(|(kind, _)| [*kind; FAILURES]);
        turns.extend(fails.map(ScriptedTurn::Fail));
        turns.push(ScriptedTurn::call("say", json!({"message": "hi"})));
    }
    let home = Home::with(ScriptedModel::new(turns));
    let mut life = home.wake().await;
    for (before, number) in befores.iter().zip(1_usize..) {
        home.set_clock(before.hours);
        if before.is_killed {
            life.crash().await;
            life = home.wake().await;
        }
        let message = Perceive::whisper("Alice", &format!("message {number}"));
        life.accept(message.number(number as u64).build()).await;
        let answers = || home.deeds().iter().filter(|deed| *deed == "say hi").count();
        let mut waits = 0;
        if let Some((_, hours)) = before.fails {
            let waits = || {
                let activity = life.handle.status().activity;
                matches!(activity, Activity::Waiting(_) | Activity::Paused(_))
            };
            while !waits() && answers() < number {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            home.set_clock(hours);
        }
        while answers() < number {
            waits += 1;
            assert!(waits < 200, "message {number} is not answered: {befores:?}");
            tokio::time::sleep(minutes(1)).await;
        }
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(64)))]

    #[test]
    fn everybody_is_answered_within_hours_however_the_clock_is_set(befores in befores()) {
        in_virtual_time(everybody_is_answered(befores));
    }
}
