//! Every sequence of events up to some length, against a rule that looks back over all that happened.

use std::collections::HashSet;

use super::*;

/// Opens at 2 failures within less than 3 s; open for 1 s, 2 s, then 3 s; 2 good trials close it.
fn policy() -> BreakerPolicy {
    BreakerPolicy::service()
        .try_with_trip(2, at(3))
        .and_then(|policy| policy.try_with_cooldown(at(1), at(3)))
        .and_then(|policy| policy.try_with_close_after(2))
        .unwrap()
}

/// How many calls may be under way at once.
const CALLS: usize = 2;
const LENGTH: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Call {
    /// Where in the account it was admitted.
    at: usize,
    trial: bool,
}

/// What happened that mattered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry {
    Opened(u32),
    Closed,
    Refused,
    Reconfigured,
    Failed(u32),
    TrialWentWell,
}

/// The rule over again, as a reader of an account rather than as a machine: it keeps no state but what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Account {
    entries: Vec<Entry>,
    now: u32,
    calls: Vec<Call>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Closed,
    Open { wait: u32 },
    HalfOpen { busy: bool },
    Refused,
}

impl Account {
    /// The place of the last change of state.
    fn turn(&self) -> Option<usize> {
        let turn = |entry: &Entry| !matches!(entry, Entry::Failed(_) | Entry::TrialWentWell);
        self.entries.iter().rposition(turn)
    }

    fn since_turn(&self) -> &[Entry] {
        &self.entries[self.turn().map_or(0, |turn| turn + 1)..]
    }

    /// How long it stays open, from how often it opened since it was last closed or answered a trial.
    fn cooldown(&self) -> u32 {
        let opened = self
            .entries
            .iter()
            .rev()
            .take_while(|entry| {
                !matches!(
                    entry,
                    Entry::Closed | Entry::Reconfigured | Entry::TrialWentWell
                )
            })
            .filter(|entry| matches!(entry, Entry::Opened(_)))
            .count();
        [0, 1, 2][..].get(opened).copied().unwrap_or(3)
    }

    fn mode(&self) -> Mode {
        match self.turn().map(|turn| self.entries[turn]) {
            Some(Entry::Refused) => Mode::Refused,
            Some(Entry::Opened(when)) => match (when + self.cooldown()).checked_sub(self.now) {
                None | Some(0) => Mode::HalfOpen {
                    busy: self.calls.iter().any(|call| self.is_current_trial(call)),
                },
                Some(wait) => Mode::Open { wait },
            },
            _ => Mode::Closed,
        }
    }

    fn is_current(&self, call: &Call) -> bool {
        self.turn().is_none_or(|turn| call.at > turn)
    }

    fn is_current_trial(&self, call: &Call) -> bool {
        call.trial && self.is_current(call)
    }

    fn is_of_this_configuration(&self, call: &Call) -> bool {
        let changed = |entry: &Entry| *entry == Entry::Reconfigured;
        self.entries
            .iter()
            .rposition(changed)
            .is_none_or(|changed| call.at > changed)
    }

    fn admit(&mut self) -> bool {
        let trial = match self.mode() {
            Mode::Closed => false,
            Mode::HalfOpen { busy: false } => true,
            Mode::HalfOpen { busy: true } | Mode::Open { .. } | Mode::Refused => return false,
        };
        let at = self.entries.len();
        self.calls.push(Call { at, trial });
        true
    }

    fn end(&mut self, index: usize, health: Health) {
        let mode = self.mode();
        let call = self.calls.remove(index);
        if health == Health::Refused && self.is_of_this_configuration(&call) {
            if mode != Mode::Refused {
                self.entries.push(Entry::Refused);
            }
        } else if self.is_current(&call) {
            self.count(mode, health);
        }
    }

    fn count(&mut self, mode: Mode, health: Health) {
        let now = self.now;
        match (mode, health) {
            (Mode::Closed, Health::Unhealthy) => {
                self.entries.push(Entry::Failed(now));
                let recent = |entry: &&Entry| matches!(entry, Entry::Failed(at) if now - at < 3);
                if self.since_turn().iter().filter(recent).count() >= 2 {
                    self.entries.push(Entry::Opened(now));
                }
            }
            (Mode::HalfOpen { .. }, Health::Unhealthy) => self.entries.push(Entry::Opened(now)),
            (Mode::HalfOpen { .. }, Health::Healthy) => {
                self.entries.push(Entry::TrialWentWell);
                if self.since_turn().len() >= 2 {
                    self.entries.push(Entry::Closed);
                }
            }
            _ => {}
        }
    }
}

/// The circuit and its specification side by side, with calls in the same order.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Both {
    circuit: Circuit,
    tickets: Vec<Ticket>,
    account: Account,
}

impl Clone for Both {
    fn clone(&self) -> Self {
        let copy = |ticket: &Ticket| Ticket { ..*ticket };
        Self {
            circuit: self.circuit.clone(),
            tickets: self.tickets.iter().map(copy).collect(),
            account: self.account.clone(),
        }
    }
}

impl Both {
    fn now(&self) -> Duration {
        at(self.account.now)
    }

    /// What can happen next.
    fn next(&self) -> Vec<Self> {
        let mut next = vec![self.after(|both| both.account.now += 1)];
        next.push(self.after(|both| {
            both.circuit.configuration_changed(both.now());
            both.account.entries.push(Entry::Reconfigured);
        }));
        if self.tickets.len() < CALLS {
            next.push(self.after(Self::admit));
        }
        for index in 0..self.tickets.len() {
            for health in [
                Health::Healthy,
                Health::Unhealthy,
                Health::Refused,
                Health::Irrelevant,
            ] {
                next.push(self.after(|both| {
                    let ticket = both.tickets.remove(index);
                    both.circuit.record(ticket, health, both.now());
                    both.account.end(index, health);
                }));
            }
        }
        next
    }

    fn after(&self, event: impl FnOnce(&mut Self)) -> Self {
        let mut both = self.clone();
        event(&mut both);
        both
    }

    fn admit(&mut self) {
        let expected = self.account.mode();
        let peeked = self.circuit.peek(self.now());
        let admitted = self.circuit.admit(self.now());
        assert_eq!(
            peeked.err(),
            admitted.as_ref().err().copied(),
            "a look reports what a call would get"
        );
        assert_eq!(admitted.is_ok(), self.account.admit(), "{expected:?}");
        match admitted {
            Ok(ticket) => {
                let trial = matches!(expected, Mode::HalfOpen { .. });
                assert_eq!(ticket.is_trial(), trial);
                self.tickets.push(ticket);
            }
            Err(open) => assert_eq!(Some(open.reason), self.circuit.read(self.now()).reason),
        }
    }

    fn agree(&self) {
        let reading = self.circuit.read(self.now());
        let reported = (reading.state, reading.reason, reading.retry_in);
        let zero = Some(Duration::ZERO);
        let expected = match self.account.mode() {
            Mode::Closed => (CircuitState::Closed, None, zero),
            Mode::Open { wait } => (
                CircuitState::Open,
                Some(OpenReason::Failing),
                Some(at(wait)),
            ),
            Mode::HalfOpen { busy: false } => {
                (CircuitState::HalfOpen, Some(OpenReason::Failing), zero)
            }
            Mode::HalfOpen { busy: true } => (
                CircuitState::HalfOpen,
                Some(OpenReason::TrialUnderWay),
                None,
            ),
            Mode::Refused => (CircuitState::Open, Some(OpenReason::Refused), None),
        };
        assert_eq!(reported, expected, "{self:#?}");
        let trials = self
            .account
            .calls
            .iter()
            .filter(|call| self.account.is_current_trial(call));
        assert!(trials.count() <= 1, "{self:#?}");
    }
}

#[test]
fn the_circuit_matches_its_specification_after_every_sequence_of_events() {
    let start = Both {
        circuit: Circuit::new(policy()),
        tickets: Vec::new(),
        account: Account::default(),
    };
    let mut layer = HashSet::from([start]);
    let mut seen = 0;
    let mut states = [0; 3];
    for _ in 0..LENGTH {
        let mut following = HashSet::new();
        for both in &layer {
            following.extend(both.next());
        }
        following.iter().for_each(Both::agree);
        for both in &following {
            states[both.circuit.state(both.now()) as usize] += 1;
        }
        seen += following.len();
        layer = following;
    }
    assert!(states.iter().all(|count| *count > 1000), "{states:?}");
    assert!(seen > 100_000, "{seen}");
    println!("{seen} situations, by state {states:?}");
}
