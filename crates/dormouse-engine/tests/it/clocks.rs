//! Clocks that jump, by minutes or by ten years, forward and back.

use dormouse_contracts::ModelErrorKind;
use dormouse_engine::Rest;
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use proptest::prelude::*;
use serde_json::json;

use crate::home::{Home, in_virtual_time, minutes};

const TEN_YEARS: i64 = 87_600;

/// What happens before a message comes.
#[derive(Clone, Debug)]
struct Before {
    /// By how many hours somebody sets the clock.
    hours: i64,
    /// The program is killed after that.
    is_killed: bool,
    /// The first call of the model for the message fails, and the clock is set again while the message waits.
    fails: Option<(ModelErrorKind, i64)>,
}

fn befores() -> impl Strategy<Value = Vec<Before>> {
    let hours = || prop_oneof![Just(0), -TEN_YEARS..TEN_YEARS, -2_i64..3];
    let kind = prop_oneof![
        Just(ModelErrorKind::TimedOut),
        Just(ModelErrorKind::RateLimited(None)),
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
        turns.extend(
            before
                .fails
                .iter()
                .map(|(kind, _)| ScriptedTurn::Fail(*kind)),
        );
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
        while answers() < number {
            life.handle.at_rest().await;
            if let (Some((_, hours)), 0) = (&before.fails, waits) {
                home.set_clock(*hours);
            }
            waits += 1;
            assert!(waits < 60, "message {number} is not answered: {befores:?}");
            tokio::time::sleep(minutes(1)).await;
        }
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn everybody_is_answered_within_an_hour_however_the_clock_is_set(befores in befores()) {
        in_virtual_time(everybody_is_answered(befores));
    }
}
