use proptest::prelude::*;

use super::*;

mod exploration;

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: u32) -> Duration {
    seconds * SECOND
}

fn opened() -> Circuit {
    let mut circuit = Circuit::new(BreakerPolicy::service());
    for _ in 0..5 {
        let ticket = circuit.admit(at(0)).unwrap();
        circuit.record(ticket, Health::Unhealthy, at(0));
    }
    assert_eq!(circuit.state(at(0)), CircuitState::Open);
    circuit
}

#[test]
fn the_late_result_of_an_earlier_call_is_ignored() {
    let mut circuit = Circuit::new(BreakerPolicy::service());
    let late: Vec<Ticket> = (0..9).map(|_| circuit.admit(at(0)).unwrap()).collect();
    for _ in 0..5 {
        let ticket = circuit.admit(at(0)).unwrap();
        circuit.record(ticket, Health::Unhealthy, at(0));
    }
    let trial = circuit.admit(at(30)).unwrap();
    for ticket in late {
        let health = if ticket.is_trial() {
            Health::Healthy
        } else {
            Health::Unhealthy
        };
        circuit.record(ticket, health, at(31));
    }
    assert_eq!(circuit.state(at(31)), CircuitState::HalfOpen);
    circuit.record(trial, Health::Healthy, at(31));
    let second = circuit.admit(at(31)).unwrap();
    circuit.record(second, Health::Healthy, at(31));
    assert_eq!(circuit.state(at(31)), CircuitState::Closed);
}

#[test]
fn a_late_refusal_opens_the_circuit_in_every_state_unless_the_configuration_changed() {
    let mut circuit = Circuit::new(BreakerPolicy::service());
    let first = circuit.admit(at(0)).unwrap();
    let second = circuit.admit(at(0)).unwrap();
    for _ in 0..5 {
        let ticket = circuit.admit(at(0)).unwrap();
        circuit.record(ticket, Health::Unhealthy, at(0));
    }
    circuit.record(first, Health::Refused, at(1));
    assert_eq!(circuit.read(at(9000)).reason, Some(OpenReason::Refused));
    circuit.configuration_changed(at(9000));
    circuit.record(second, Health::Refused, at(9001));
    assert_eq!(circuit.state(at(9001)), CircuitState::Closed);
}

#[test]
fn an_inconclusive_trial_does_not_change_the_count_of_good_trials() {
    let mut circuit = opened();
    for health in [Health::Healthy, Health::Irrelevant, Health::Healthy] {
        assert_eq!(circuit.state(at(30)), CircuitState::HalfOpen);
        let trial = circuit.admit(at(30)).unwrap();
        circuit.record(trial, health, at(30));
    }
    assert_eq!(circuit.state(at(30)), CircuitState::Closed);
}

#[test]
fn a_backward_clock_counts_as_no_time() {
    let mut circuit = opened();
    let again = circuit.admit(at(30)).unwrap();
    circuit.record(again, Health::Unhealthy, at(10));
    assert_eq!(circuit.state(at(0)), CircuitState::Open);
    assert!(circuit.admit(at(0)).is_err());
    let far = Duration::MAX;
    let trial = circuit.admit(far).unwrap();
    circuit.record(trial, Health::Unhealthy, far);
    assert_eq!(circuit.state(at(0)), CircuitState::Open);
}

#[test]
fn at_most_as_many_failures_are_kept_as_open_the_circuit() {
    let policy = BreakerPolicy::service()
        .try_with_trip(1000, at(60))
        .unwrap();
    let mut circuit = Circuit::new(policy);
    for millis in 0..3_000 {
        let now = Duration::from_millis(millis * 61);
        let ticket = circuit.admit(now).unwrap();
        circuit.record(ticket, Health::Unhealthy, now);
        assert!(circuit.read(now).failures < 1000);
    }
}

proptest! {
    #[test]
    fn a_service_that_fails_half_of_each_minute_recovers(start in 0u32..30, period in prop_oneof![Just(60u32), Just(30), Just(120)]) {
        let is_unhealthy = |now: Duration| now.as_secs() % u64::from(period) < u64::from(period / 2);
        let mut circuit = opened();
        let mut now = at(30 + start);
        let mut trials = 0;
        while is_unhealthy(now) {
            let trial = circuit.admit(now).unwrap();
            circuit.record(trial, Health::Unhealthy, now);
            now += circuit.admit(now).unwrap_err().retry_in.unwrap();
            trials += 1;
            prop_assert!(trials <= 12, "every trial comes in its bad half");
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Wait(Duration),
    Admit,
    /// The call that has been under way longest, or the one after so many others, ends like this.
    End(usize, Health),
    ChangeConfiguration,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let health = prop_oneof![
        6 => Just(Health::Unhealthy),
        4 => Just(Health::Healthy),
        1 => Just(Health::Irrelevant),
        1 => Just(Health::Refused),
    ];
    let event = prop_oneof![
        3 => (0u64..40_000).prop_map(|millis| Event::Wait(Duration::from_millis(millis))),
        8 => Just(Event::Admit),
        8 => (0usize..4, health).prop_map(|(which, health)| Event::End(which, health)),
        1 => Just(Event::ChangeConfiguration),
    ];
    prop::collection::vec(event, 0..200)
}

proptest! {
    #[test]
    fn at_most_one_trial_runs_and_no_call_passes_an_open_circuit(events in events()) {
        let mut circuit = Circuit::new(BreakerPolicy::service());
        let mut now = Duration::ZERO;
        let mut under_way: Vec<Ticket> = Vec::new();
        let mut closed_until: Option<Duration> = None;
        for event in events {
            match event {
                Event::Wait(time) => now += time,
                Event::Admit => match circuit.admit(now) {
                    Ok(ticket) => {
                        prop_assert!(closed_until.is_none_or(|until| now >= until), "before its time");
                        under_way.push(ticket);
                    }
                    Err(open) => if let Some(wait) = open.retry_in {
                        prop_assert!(!wait.is_zero() && wait <= circuit.policy.longest_cooldown());
                        closed_until = Some(now + wait);
                    },
                },
                Event::End(which, health) => if !under_way.is_empty() {
                    let ticket = under_way.remove(which % under_way.len());
                    circuit.record(ticket, health, now);
                },
                Event::ChangeConfiguration => {
                    circuit.configuration_changed(now);
                    closed_until = None;
                }
            }
            if circuit.state(now) != CircuitState::Open {
                closed_until = closed_until.filter(|until| now < *until);
            }
            let trials = under_way.iter().filter(|ticket| ticket.trial && ticket.era == circuit.era);
            prop_assert!(trials.count() <= 1, "more than one trial");
            if circuit.state(now) == CircuitState::Closed {
                prop_assert!(circuit.read(now).failures < circuit.policy.trip_after());
            }
        }
    }

    #[test]
    fn a_recovered_service_is_called_again_after_any_history(events in events()) {
        let mut circuit = Circuit::new(BreakerPolicy::service());
        let mut now = Duration::ZERO;
        for event in events {
            match event {
                Event::Wait(time) => now += time,
                // Every call that is made ends at once, or its caller vanishes.
                Event::Admit | Event::ChangeConfiguration => if let Ok(ticket) = circuit.admit(now) {
                    circuit.record(ticket, Health::Irrelevant, now);
                },
                Event::End(_, Health::Refused) => {}
                Event::End(_, health) => if let Ok(ticket) = circuit.admit(now) {
                    circuit.record(ticket, health, now);
                },
            }
        }
        now += circuit.policy.longest_cooldown();
        for _ in 0..circuit.policy.close_after() {
            let ticket = circuit.admit(now);
            prop_assert!(ticket.is_ok(), "{ticket:?}");
            if let Ok(ticket) = ticket {
                circuit.record(ticket, Health::Healthy, now);
            }
        }
        prop_assert_eq!(circuit.state(now), CircuitState::Closed);
    }
}
