use super::*;

const LEASE: Duration = Duration::from_secs(9);
const PACE: Pace = Pace {
    lease: LEASE,
    moves_at_once: 4,
};
const STEP: Duration = Duration::from_millis(100);

/// Hosts over a directory that always works. Each is its decisions, and what it has begun.
#[derive(Default)]
struct Hosts {
    now: Duration,
    revision: u64,
    directory: BTreeMap<Key, Entry>,
    hosts: BTreeMap<String, Host>,
    gone: Vec<(String, Gone)>,
    enrolled: BTreeSet<AssistantId>,
    /// How long an assistant takes to begin or to go.
    takes: Duration,
    /// How often an assistant began.
    begun: usize,
    /// How often one could not begin.
    failed: usize,
    /// The host on which none can begin.
    unable: Option<String>,
}

struct Host {
    machine: Ownership,
    seen: u64,
    living: BTreeSet<AssistantId>,
    /// What it will hear, and when.
    pending: Vec<(Duration, Input)>,
    is_paused: bool,
}

impl Hosts {
    fn with(assistants: usize) -> Self {
        let enrolled = (0..assistants).map(|it| AssistantId::try_new(format!("life-{it}")));
        Self {
            enrolled: enrolled.map(Result::unwrap).collect(),
            ..Self::default()
        }
    }

    fn join(&mut self, name: &str, weight: u32, capacity: u32) {
        let incarnation = self.revision + 100;
        let identity = Identity {
            name: HostName::try_new(name).unwrap(),
            incarnation,
            weight,
            capacity,
        };
        let host = Host {
            machine: Ownership::new(identity, PACE),
            seen: 0,
            living: BTreeSet::new(),
            pending: vec![(self.now, Input::Time)],
            is_paused: false,
        };
        self.hosts.insert(name.to_owned(), host);
    }

    fn tell(&mut self, name: &str, input: Input) {
        let now = self.now;
        let host = self.hosts.get_mut(name).unwrap();
        host.pending.push((now, input));
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += STEP;
            let names: Vec<_> = self.hosts.keys().cloned().collect();
            for name in names {
                self.run_host(&name);
            }
        }
    }

    fn run_host(&mut self, name: &str) {
        let Some(mut host) = self.hosts.remove(name) else {
            return;
        };
        if host.is_paused {
            self.hosts.insert(name.to_owned(), host);
            return;
        }
        let now = self.now;
        if host.machine.due().is_some_and(|due| due <= now) {
            host.pending.push((now, Input::Time));
        }
        while let Some(at) = host.pending.iter().position(|(at, _)| *at <= now) {
            let (_, input) = host.pending.remove(at);
            match &input {
                Input::Began(assistant) => {
                    self.begun += 1;
                    host.living.insert(assistant.clone());
                }
                Input::Ended(assistant) => {
                    host.living.remove(assistant);
                }
                _ => {}
            }
            for action in host.machine.step(now, input) {
                match action {
                    Action::Look(what) => {
                        let seen = if what == Look::All { 0 } else { host.seen };
                        let new = self.directory.values().filter(|it| it.revision > seen);
                        let mut new: Vec<_> = new.cloned().collect();
                        new.sort_by_key(|it| it.revision);
                        host.seen = self.revision;
                        host.pending
                            .push((now, Input::Enrolled(self.enrolled.clone())));
                        let looked = Input::Looked {
                            what,
                            entries: new,
                            last: self.revision,
                        };
                        host.pending.push((now, looked));
                    }
                    Action::Write {
                        key,
                        value,
                        expected,
                    } => {
                        let found = self.directory.get(&key).cloned();
                        let written = if found.as_ref().map_or(0, |it| it.revision) == expected {
                            self.revision += 1;
                            let revision = self.revision;
                            let entry = Entry {
                                key: key.clone(),
                                revision,
                                value,
                            };
                            self.directory.insert(key.clone(), entry);
                            Written::Stored { revision }
                        } else {
                            Written::Refused(found)
                        };
                        host.pending.push((now, Input::Written(key, written)));
                    }
                    Action::Begin(assistant) if self.unable.as_deref() == Some(name) => {
                        host.pending
                            .push((now + self.takes, Input::Ended(assistant)));
                    }
                    Action::Begin(assistant) => {
                        host.pending
                            .push((now + self.takes, Input::Began(assistant)));
                    }
                    Action::LetGo(assistant) => {
                        host.pending
                            .push((now + self.takes, Input::Ended(assistant)));
                    }
                    Action::Gone(why) => {
                        self.gone.push((name.to_owned(), why));
                        return;
                    }
                }
            }
        }
        self.hosts.insert(name.to_owned(), host);
    }

    /// How many assistants each host has. Every assistant is in at most one.
    fn counts(&self) -> Vec<(&str, usize)> {
        let mut all = BTreeSet::new();
        for host in self.hosts.values().filter(|it| !it.is_paused) {
            for assistant in &host.living {
                assert!(all.insert(assistant), "{assistant} lives twice");
            }
        }
        let count = |(name, host): (&'static str, &Host)| (name, host.living.len());
        let names = ["a", "b", "c", "d"].into_iter();
        names
            .filter_map(|name| self.hosts.get(name).map(|host| count((name, host))))
            .collect()
    }

    fn total(&self) -> usize {
        self.counts().iter().map(|(_, count)| count).sum()
    }
}

#[test]
fn assistants_spread_over_hosts_by_their_weights_and_stay_there() {
    let mut hosts = Hosts::with(200);
    hosts.join("a", 100, 1_000);
    hosts.join("b", 300, 1_000);
    hosts.run(4 * LEASE);
    let counts = hosts.counts();
    let [("a", a), ("b", b)] = counts[..] else {
        panic!("{counts:?}");
    };
    assert_eq!(a + b, 200);
    assert!((35..65).contains(&a), "{counts:?}");
    let begun = hosts.begun;
    hosts.run(10 * LEASE);
    assert_eq!(hosts.begun, begun, "nobody moves without a reason");
}

#[test]
fn a_host_that_joins_gets_its_share_once_it_has_stayed() {
    let mut hosts = Hosts::with(90);
    hosts.join("a", 1, 1_000);
    hosts.join("b", 1, 1_000);
    hosts.run(9 * LEASE);
    let begun = hosts.begun;
    hosts.join("c", 1, 1_000);
    hosts.run(LEASE);
    assert_eq!(
        hosts.begun, begun,
        "a host that has just joined may not stay"
    );
    hosts.run(9 * LEASE);
    let moved = hosts.begun - begun;
    let counts = hosts.counts();
    assert_eq!(hosts.total(), 90);
    assert!((20..40).contains(&moved), "{moved}: {counts:?}");
    assert_eq!(counts.last().unwrap().1, moved, "only its share moves");
}

#[test]
fn the_assistants_of_a_host_that_dies_live_elsewhere_within_two_leases() {
    let mut hosts = Hosts::with(12);
    for name in ["a", "b", "c"] {
        hosts.join(name, 1, 1_000);
    }
    hosts.run(4 * LEASE);
    assert_eq!(hosts.total(), 12);
    hosts.hosts.remove("a");
    hosts.run(2 * LEASE);
    assert_eq!(hosts.total(), 12, "{:?}", hosts.counts());
}

#[test]
fn a_host_that_was_paused_for_too_long_lets_everything_go_at_once() {
    let mut hosts = Hosts::with(6);
    hosts.join("a", 1, 1_000);
    hosts.join("b", 1, 1_000);
    hosts.run(4 * LEASE);
    hosts.hosts.get_mut("a").unwrap().is_paused = true;
    hosts.run(3 * LEASE);
    assert_eq!(hosts.hosts["b"].living.len(), 6, "the other host has all");
    let host = hosts.hosts.get_mut("a").unwrap();
    host.is_paused = false;
    assert!(!host.living.is_empty());
    hosts.run(STEP);
    assert!(hosts.hosts["a"].living.is_empty());
    hosts.run(8 * LEASE);
    assert_eq!(hosts.total(), 6);
    assert!(hosts.counts().iter().all(|(_, count)| *count > 0));
}

#[test]
fn a_host_that_leaves_hands_over_one_after_the_other_and_says_goodbye() {
    let mut hosts = Hosts::with(20);
    hosts.takes = Duration::from_millis(300);
    hosts.join("a", 1, 1_000);
    hosts.join("b", 1, 1_000);
    hosts.run(6 * LEASE);
    assert_eq!(hosts.total(), 20);
    hosts.tell("a", Input::Leave);
    for _ in 0..40 {
        hosts.run(Duration::from_millis(500));
        assert!(
            hosts.total() >= 20 - 2 * PACE.moves_at_once,
            "all others live on meanwhile: {:?}",
            hosts.counts()
        );
    }
    assert_eq!(hosts.gone, [("a".to_owned(), Gone::Left)]);
    assert_eq!(hosts.counts(), [("b", 20)]);
    // The last host ends, too, although nobody takes what it has.
    hosts.tell("b", Input::Leave);
    hosts.run(2 * LEASE);
    assert!(hosts.hosts.is_empty());
    // One that starts again need not wait for anybody's death.
    hosts.join("a", 1, 1_000);
    hosts.run(LEASE);
    assert_eq!(hosts.counts(), [("a", 20)]);
}

#[test]
fn hosts_take_no_more_than_they_may_and_a_joining_one_relieves_them() {
    let mut hosts = Hosts::with(30);
    hosts.join("a", 1, 10);
    hosts.join("b", 9, 12);
    hosts.run(6 * LEASE);
    assert_eq!(hosts.counts(), [("a", 10), ("b", 12)]);
    hosts.join("c", 1, 100);
    hosts.run(6 * LEASE);
    assert_eq!(hosts.total(), 30);
    let begun = hosts.begun;
    hosts.run(10 * LEASE);
    assert_eq!(hosts.begun, begun, "nobody goes back and forth");
}

#[test]
fn the_second_process_of_a_name_waits_and_gives_up_if_the_first_lives() {
    let mut hosts = Hosts::with(3);
    hosts.join("a", 1, 10);
    hosts.run(2 * LEASE);
    let first = hosts.hosts.remove("a").unwrap();
    hosts.join("a", 1, 10);
    let second = hosts.hosts.remove("a").unwrap();
    hosts.hosts.insert("first".to_owned(), first);
    hosts.hosts.insert("second".to_owned(), second);
    hosts.run(6 * LEASE);
    assert_eq!(hosts.gone, [("second".to_owned(), Gone::NameInUse)]);
    assert_eq!(hosts.hosts["first"].living.len(), 3);

    // If the first one is only paused, it loses its name, and everything with it.
    hosts.hosts.get_mut("first").unwrap().is_paused = true;
    hosts.join("a", 1, 10);
    hosts.run(6 * LEASE);
    assert_eq!(hosts.hosts["a"].living.len(), 3);
    hosts.hosts.get_mut("first").unwrap().is_paused = false;
    hosts.run(LEASE);
    assert_eq!(hosts.gone[1], ("first".to_owned(), Gone::NameInUse));
}

#[test]
fn an_assistant_whose_append_was_refused_begins_again_only_if_the_lease_still_names_its_host() {
    let mut hosts = Hosts::with(1);
    hosts.join("a", 1, 10);
    hosts.run(2 * LEASE);
    let life = hosts.enrolled.first().unwrap().clone();
    hosts.tell("a", Input::Ended(life.clone()));
    hosts.run(STEP);
    assert!(hosts.hosts["a"].living.is_empty());
    hosts.run(LEASE / 2);
    assert_eq!(hosts.hosts["a"].living.len(), 1, "nobody else has it");
    hosts.enrolled.clear();
    hosts.run(LEASE);
    assert!(
        hosts.hosts["a"].living.is_empty(),
        "it is not there any more"
    );
}

#[test]
fn an_old_answer_does_not_make_a_host_forget_its_leases() {
    let mut hosts = Hosts::with(6);
    hosts.join("a", 1, 10);
    hosts.run(2 * LEASE);
    hosts.join("b", 1, 10);
    hosts.run(LEASE / 3);
    assert_eq!(hosts.counts(), [("a", 6), ("b", 0)]);
    // Everything ends, and a leader that does not have the leases refuses to change them. Half of them fit the other host better,
    // which sees that the first one has them.
    for life in hosts.enrolled.clone() {
        hosts.tell("a", Input::Ended(life.clone()));
        hosts.tell("a", Input::Written(Key::Life(life), Written::Refused(None)));
    }
    hosts.run(8 * LEASE);
    assert_eq!(hosts.total(), 6, "{:?}", hosts.counts());
}

#[test]
fn an_assistant_that_cannot_begin_on_a_host_lives_on_another_one() {
    let mut hosts = Hosts::with(4);
    hosts.join("a", 1, 10);
    hosts.join("b", 1, 10);
    hosts.unable = Some("a".to_owned());
    // Alone, it tries again and again, but not all the time.
    let second = hosts.hosts.remove("b").unwrap();
    hosts.run(6 * LEASE);
    assert_eq!(hosts.counts(), [("a", 0)]);
    assert!(hosts.failed < 4 * 3 * 7, "{}", hosts.failed);
    hosts.hosts.insert("b".to_owned(), second);
    hosts.run(6 * LEASE);
    assert_eq!(hosts.counts(), [("a", 0), ("b", 4)]);
}
