//! The decisions of one host.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dormouse_contracts::AssistantId;

use super::{
    directory::{Entry, Holder, HostName, HostRecord, HostState, Key, Value},
    rendezvous::Fit,
};

/// How many beats of another process with its name a joining host must have read before it gives up. A process that has died leaves
/// at most one that it has read, one that was on its way, and one that an old answer did not have.
const RIVAL_BEATS: u32 = 5;

/// How often a host tries to begin an assistant before it hands it over.
const TRIES: u32 = 3;

/// How quickly hosts notice one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// A host that could not renew its lease for this long lets its assistants go. Others take them after half as long again,
    /// so that it is usually done by then.
    pub(crate) lease: Duration,
    /// How many assistants a host takes or hands over at once.
    pub(crate) moves_at_once: usize,
}

impl Pace {
    fn beat(self) -> Duration {
        self.lease / 3
    }

    fn look(self) -> Duration {
        self.lease / 10
    }

    /// After how long without a beat a host counts as dead, and how long one that has joined is watched before others hand
    /// assistants over to it.
    pub(crate) fn death(self) -> Duration {
        self.lease + self.lease / 2
    }
}

/// Who the host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) name: HostName,
    pub(crate) incarnation: u64,
    pub(crate) weight: u32,
    pub(crate) capacity: u32,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Time has passed.
    Time,
    /// All assistants that there are.
    Enrolled(BTreeSet<AssistantId>),
    /// What the directory has up to the message `last`, in order.
    Looked {
        what: Look,
        entries: Vec<Entry>,
        last: u64,
    },
    /// The directory could not be read.
    LookFailed(Look),
    /// An answer to [`Action::Write`].
    Written(Key, Written),
    /// The assistant is here.
    Began(AssistantId),
    /// Nothing of the assistant runs here, whether or not that was asked for.
    Ended(AssistantId),
    /// The host shall hand everything over and end.
    Leave,
}

/// Which part of the directory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// What came after the last look.
    New,
    All,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Stored {
        revision: u64,
    },
    /// Somebody else has written first. This is there now.
    Refused(Option<Entry>),
    /// It may be stored, or will be.
    Unknown,
}

/// What the host has to do. Every action but [`Action::Gone`] is answered by an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Read the directory.
    Look(Look),
    /// Put a value in the place of the one with this revision; 0: there is none.
    Write {
        key: Key,
        value: Value,
        expected: u64,
    },
    /// Claim the assistant's log and let it live here.
    Begin(AssistantId),
    /// End it here, as far as possible with everything written.
    LetGo(AssistantId),
    /// Nothing is left to do.
    Gone(Gone),
}

/// Why a host ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It was asked to.
    Left,
    /// Another process has its name.
    NameInUse,
}

/// What this host knows of another one.
#[derive(Clone, Debug)]
struct Seen {
    record: HostRecord,
    revision: u64,
    /// When its last beat was read, by the clock of this host. No host compares its clock with another one's.
    beat_at: Duration,
    /// When the first beat of this incarnation was read.
    since: Duration,
}

#[derive(Clone, Debug)]
struct Lease {
    holder: Option<Holder>,
    revision: u64,
}

/// How far an assistant is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hosting {
    Beginning,
    Here,
    LettingGo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not read the directory, or another process may have its name.
    Joining,
    Serving,
    /// It hands over what it has.
    Leaving,
    /// It ends when nothing runs any more.
    Ending(Gone),
    Ended,
}

/// What one host decides: when to beat, which leases to take, which assistants to begin and to let go.
///
/// Its clock only has to run forward, at about the speed of time. What it reads may be old.
#[derive(Debug)]
pub(crate) struct Ownership {
    me: Identity,
    pace: Pace,
    phase: Phase,
    hosts: BTreeMap<HostName, Seen>,
    leases: BTreeMap<AssistantId, Lease>,
    enrolled: BTreeSet<AssistantId>,
    here: BTreeMap<AssistantId, Hosting>,
    /// Assistants that were let go in order to hand them over.
    handing_over: BTreeSet<AssistantId>,
    /// When those that ended by themselves may begin again.
    not_before: BTreeMap<AssistantId, Duration>,
    /// The leases that are being written, and the holders that they will name.
    writing: BTreeMap<AssistantId, Option<Holder>>,
    /// When the beat was sent that is not answered yet.
    beating: Option<Duration>,
    beat_due: Duration,
    /// When the last beat was sent that was stored.
    renewed_at: Option<Duration>,
    is_looking: bool,
    look_due: Duration,
    /// What the next look reads.
    look: Look,
    joined_at: Option<Duration>,
    /// How many beats of other processes with its name it has read.
    rival_beats: u32,
    /// How often in a row an assistant could not begin here.
    failures: BTreeMap<AssistantId, u32>,
}

impl Ownership {
    pub(crate) fn new(me: Identity, pace: Pace) -> Self {
        Self {
            me,
            pace,
            phase: Phase::Joining,
            hosts: BTreeMap::new(),
            leases: BTreeMap::new(),
            enrolled: BTreeSet::new(),
            here: BTreeMap::new(),
            handing_over: BTreeSet::new(),
            not_before: BTreeMap::new(),
            writing: BTreeMap::new(),
            beating: None,
            beat_due: Duration::ZERO,
            renewed_at: None,
            is_looking: false,
            look_due: Duration::ZERO,
            look: Look::All,
            joined_at: None,
            rival_beats: 0,
            failures: BTreeMap::new(),
        }
    }

    /// Takes in what happened, and decides what to do.
    pub(crate) fn step(&mut self, now: Duration, input: Input) -> Vec<Action> {
        self.take_in(now, input);
        let mut actions = Vec::new();
        self.decide_look(now, &mut actions);
        self.decide_phase(now, &mut actions);
        self.decide_beat(now, &mut actions);
        self.decide_lives(now, &mut actions);
        actions
    }

    /// When time alone changes something.
    pub(crate) fn due(&self) -> Option<Duration> {
        if self.phase == Phase::Ended {
            return None;
        }
        let look = (!self.is_looking).then_some(self.look_due);
        let beat = (self.beating.is_none() && self.beats()).then_some(self.beat_due);
        let is_alone = !self.here.is_empty();
        let alone = self.renewed_at.map(|at| at + self.pace.lease);
        let alone = alone.filter(|_| is_alone && self.here.values().any(|it| it.is_wanted()));
        [look, beat, alone].into_iter().flatten().min()
    }

    fn take_in(&mut self, now: Duration, input: Input) {
        match input {
            Input::Time => {}
            Input::Enrolled(enrolled) => self.enrolled = enrolled,
            Input::Looked {
                what,
                entries,
                last,
            } => {
                self.is_looking = false;
                self.look_due = now + self.pace.look();
                self.joined_at.get_or_insert(now);
                if what == Look::All {
                    // What a server does not have that has seen more was removed.
                    self.leases.retain(|_, lease| lease.revision > last);
                }
                for entry in entries {
                    self.note(now, entry);
                }
            }
            Input::LookFailed(what) => {
                self.is_looking = false;
                self.look_due = now + self.pace.look();
                if what == Look::All {
                    self.look = Look::All;
                }
            }
            Input::Written(Key::Host(_), written) => self.beat_written(now, written),
            Input::Written(Key::Life(assistant), written) => {
                let holder = self.writing.remove(&assistant).flatten();
                match written {
                    Written::Stored { revision } => {
                        self.leases.insert(assistant, Lease { holder, revision });
                    }
                    Written::Refused(Some(entry)) => self.note(now, entry),
                    // A leader that was replaced may have said this. If this host forgot the lease, it would not see it again: its
                    // looks are past it.
                    Written::Refused(None) => {
                        self.look = Look::All;
                        self.look_due = now;
                    }
                    // The look finds out. If the write is stored only after it, the next one is refused.
                    Written::Unknown => self.look_due = now,
                }
            }
            Input::Began(assistant) => {
                self.failures.remove(&assistant);
                if let Some(hosting @ Hosting::Beginning) = self.here.get_mut(&assistant) {
                    *hosting = Hosting::Here;
                }
            }
            Input::Ended(assistant) => {
                let hosting = self.here.remove(&assistant);
                if hosting == Some(Hosting::Beginning) {
                    let failures = self.failures.entry(assistant.clone()).or_default();
                    *failures += 1;
                    if *failures >= TRIES {
                        // Another host may be able to.
                        self.handing_over.insert(assistant.clone());
                    }
                }
                if hosting != Some(Hosting::LettingGo) {
                    // It was fenced, or could not begin. The lease may already name another host.
                    self.look_due = now;
                    let again = now + self.pace.beat();
                    self.not_before.insert(assistant, again);
                }
            }
            Input::Leave => {
                if matches!(self.phase, Phase::Joining | Phase::Serving) {
                    self.phase = Phase::Leaving;
                    self.beat_due = now;
                }
            }
        }
    }

    /// Takes in a value that may be old.
    fn note(
        &mut self,
        now: Duration,
        Entry {
            key,
            revision,
            value,
        }: Entry,
    ) {
        match (key, value) {
            (Key::Host(name), Value::Host(record)) => {
                let known = self.hosts.get(&name);
                if known.is_some_and(|known| known.revision >= revision) {
                    return;
                }
                if name == self.me.name && record.incarnation != self.me.incarnation {
                    self.rival_beats = self.rival_beats.saturating_add(1);
                }
                let same = known.filter(|it| it.record.incarnation == record.incarnation);
                let since = same.map_or(now, |known| known.since);
                let seen = Seen {
                    record,
                    revision,
                    beat_at: now,
                    since,
                };
                self.hosts.insert(name, seen);
            }
            (Key::Life(assistant), Value::Life(holder)) => {
                let known = self.leases.get(&assistant);
                if known.is_none_or(|known| known.revision < revision) {
                    self.leases.insert(assistant, Lease { holder, revision });
                }
            }
            // A value is of the kind of its key.
            (Key::Host(_), Value::Life(_)) | (Key::Life(_), Value::Host(_)) => {}
        }
    }

    fn beat_written(&mut self, now: Duration, written: Written) {
        let Some(sent_at) = self.beating.take() else {
            return;
        };
        self.beat_due = match written {
            Written::Stored { revision } => {
                self.renewed_at = Some(sent_at);
                let record = self.record();
                let key = Key::Host(self.me.name.clone());
                let value = Value::Host(record);
                self.note(
                    now,
                    Entry {
                        key,
                        revision,
                        value,
                    },
                );
                sent_at + self.pace.beat()
            }
            Written::Refused(found) => {
                // The servers have removed it if it is not there.
                self.hosts.remove(&self.me.name);
                if let Some(entry) = found {
                    self.note(now, entry);
                }
                now
            }
            Written::Unknown => now + self.pace.look(),
        };
    }

    fn decide_look(&mut self, now: Duration, actions: &mut Vec<Action>) {
        if !self.is_looking && self.phase != Phase::Ended && now >= self.look_due {
            self.is_looking = true;
            let what = std::mem::replace(&mut self.look, Look::New);
            actions.push(Action::Look(what));
        }
    }

    /// Whether another process beats under the name of this one.
    fn is_name_used(&self, now: Duration) -> bool {
        let seen = self.hosts.get(&self.me.name);
        let other = seen.filter(|seen| seen.record.incarnation != self.me.incarnation);
        other.is_some_and(|seen| self.is_alive(now, seen))
    }

    fn is_alive(&self, now: Duration, seen: &Seen) -> bool {
        seen.record.state != HostState::Gone && now < seen.beat_at + self.pace.death()
    }

    /// Whether the cluster has heard of this host lately.
    fn is_in_contact(&self, now: Duration) -> bool {
        self.renewed_at.is_some_and(|at| now < at + self.pace.lease)
    }

    fn decide_phase(&mut self, now: Duration, actions: &mut Vec<Action>) {
        let is_idle = self.here.is_empty() && self.writing.is_empty();
        match self.phase {
            Phase::Joining => {
                // A process that died and started again waits for its own death. Another one that lives goes on beating.
                let Some(joined_at) = self.joined_at else {
                    return;
                };
                if !self.is_name_used(now) {
                    self.phase = Phase::Serving;
                    self.beat_due = now;
                } else if now > joined_at + 2 * self.pace.death() && self.rival_beats >= RIVAL_BEATS
                {
                    self.phase = Phase::Ending(Gone::NameInUse);
                }
            }
            Phase::Serving if self.is_name_used(now) => match self.renewed_at {
                Some(_) => self.phase = Phase::Ending(Gone::NameInUse),
                // Its first look was old, and its first beat was refused.
                None => {
                    self.phase = Phase::Joining;
                    self.joined_at = Some(now);
                }
            },
            Phase::Leaving if self.renewed_at.is_none() || self.is_name_used(now) => {
                self.phase = Phase::Ending(Gone::Left);
            }
            // What could not be handed over is taken by others once this host is gone.
            Phase::Leaving if is_idle && !self.has_leases() => {
                self.phase = Phase::Ending(Gone::Left);
                self.beat_due = now;
            }
            Phase::Serving | Phase::Leaving | Phase::Ending(_) | Phase::Ended => {}
        }
        if let Phase::Ending(why) = self.phase
            && is_idle
            && self.beating.is_none()
            && !self.says_goodbye(now)
        {
            self.phase = Phase::Ended;
            actions.push(Action::Gone(why));
        }
    }

    /// Whether a last beat has to say that the host is gone.
    fn says_goodbye(&self, now: Duration) -> bool {
        let mine = self.hosts.get(&self.me.name);
        let mine = mine.filter(|seen| seen.record.incarnation == self.me.incarnation);
        let is_said = mine.is_none_or(|seen| seen.record.state == HostState::Gone);
        self.phase == Phase::Ending(Gone::Left) && !is_said && self.is_in_contact(now)
    }

    /// Whether leases name this host that can be handed over.
    fn has_leases(&self) -> bool {
        self.enrolled.iter().any(|it| self.is_mine(it))
    }

    fn is_mine(&self, assistant: &AssistantId) -> bool {
        let lease = self.leases.get(assistant);
        lease.is_some_and(|it| it.holder.as_ref().is_some_and(|holder| self.is_me(holder)))
    }

    fn is_me(&self, holder: &Holder) -> bool {
        holder.host == self.me.name && holder.incarnation == self.me.incarnation
    }

    fn beats(&self) -> bool {
        match self.phase {
            Phase::Serving | Phase::Leaving | Phase::Ending(Gone::Left) => true,
            Phase::Joining | Phase::Ending(Gone::NameInUse) | Phase::Ended => false,
        }
    }

    fn decide_beat(&mut self, now: Duration, actions: &mut Vec<Action>) {
        if self.beating.is_some() || !self.beats() || now < self.beat_due {
            return;
        }
        self.beating = Some(now);
        actions.push(Action::Write {
            key: Key::Host(self.me.name.clone()),
            value: Value::Host(self.record()),
            expected: self
                .hosts
                .get(&self.me.name)
                .map_or(0, |seen| seen.revision),
        });
    }

    fn record(&self) -> HostRecord {
        let state = match self.phase {
            Phase::Joining | Phase::Serving => HostState::Serving,
            Phase::Leaving => HostState::Leaving,
            Phase::Ending(_) | Phase::Ended => HostState::Gone,
        };
        HostRecord {
            incarnation: self.me.incarnation,
            state,
            weight: self.me.weight,
            capacity: self.me.capacity,
            hosted: self.hosted(),
        }
    }

    /// How many assistants this host has, or takes now.
    fn hosted(&self) -> u32 {
        let taking = self.writing.keys().filter(|it| !self.is_mine(it)).count();
        let here = self.here.values().filter(|it| it.is_wanted()).count();
        u32::try_from(here + taking).unwrap_or(u32::MAX)
    }
}

impl Hosting {
    /// Whether it is meant to stay.
    fn is_wanted(self) -> bool {
        match self {
            Self::Beginning | Self::Here => true,
            Self::LettingGo => false,
        }
    }
}

/// A host that may get an assistant.
#[derive(Clone, Debug)]
struct Candidate {
    name: HostName,
    incarnation: u64,
    weight: u32,
    /// How many more assistants it takes.
    room: u32,
    /// Whether it has been there long enough, and has enough room, for assistants that have a host.
    is_settled: bool,
}

/// What to do about one assistant.
enum Decision {
    Begin,
    LetGo,
    /// Let it go, and name another host afterwards.
    HandOver,
    /// Name this host.
    Lease(Option<Holder>),
}

impl Ownership {
    fn decide_lives(&mut self, now: Duration, actions: &mut Vec<Action>) {
        if self.phase == Phase::Ended {
            return;
        }
        let ends = match self.phase {
            Phase::Serving | Phase::Leaving => !self.is_in_contact(now),
            Phase::Joining | Phase::Ending(_) | Phase::Ended => true,
        };
        if ends {
            // Others may begin with them soon.
            self.handing_over.clear();
            let here = self.here.iter().filter(|(_, hosting)| hosting.is_wanted());
            let here: Vec<_> = here.map(|(assistant, _)| assistant.clone()).collect();
            for assistant in here {
                self.apply(assistant, Decision::LetGo, actions);
            }
            return;
        }
        let candidates = self.candidates(now);
        let lives: BTreeSet<_> = self
            .enrolled
            .iter()
            .chain(self.here.keys())
            .cloned()
            .collect();
        for assistant in lives {
            if let Some(decision) = self.decide_life(now, &assistant, &candidates) {
                self.apply(assistant, decision, actions);
            }
        }
    }

    fn decide_life(
        &self,
        now: Duration,
        assistant: &AssistantId,
        candidates: &[Candidate],
    ) -> Option<Decision> {
        if self.writing.contains_key(assistant) {
            return None;
        }
        let here = self.here.get(assistant).copied();
        if !self.enrolled.contains(assistant) {
            return here.filter(|it| it.is_wanted()).map(|_| Decision::LetGo);
        }
        let holder = self.leases.get(assistant).and_then(|it| it.holder.as_ref());
        let holder = holder.filter(|holder| self.is_host(now, holder));
        let is_mine = holder.is_some_and(|holder| self.is_me(holder));
        match here {
            Some(Hosting::LettingGo) => None,
            Some(Hosting::Beginning | Hosting::Here) if holder.is_some() && !is_mine => {
                Some(Decision::LetGo)
            }
            Some(Hosting::Beginning) => None,
            Some(Hosting::Here) if is_mine => {
                let is_moved =
                    self.has_moves_left() && self.moves_to(assistant, candidates).is_some();
                // Without another host it waits for one, or is taken by one that joins later.
                let is_ended = self.phase == Phase::Leaving && candidates.is_empty();
                (is_moved || is_ended).then_some(Decision::HandOver)
            }
            // The holder is gone, and the assistant lives here.
            Some(Hosting::Here) => Some(Decision::Lease(Some(self.holder()))),
            None if is_mine => {
                let may = self.not_before.get(assistant).is_none_or(|at| now >= *at);
                let begins = (may && self.has_moves_left()).then_some(Decision::Begin);
                let is_leaving = self.phase == Phase::Leaving;
                if !is_leaving && !self.handing_over.contains(assistant) {
                    return begins;
                }
                // Nobody else has room: its lease is free, or it stays.
                match self.best_other(assistant, candidates) {
                    Some(next) => Some(Decision::Lease(Some(next))),
                    None if is_leaving => Some(Decision::Lease(None)),
                    None => begins,
                }
            }
            None if holder.is_some() || self.phase == Phase::Leaving => None,
            None => {
                let roomy = || candidates.iter().filter(|it| it.room > 0);
                let able = roomy().filter(|it| self.is_able(assistant, it));
                let best = best(assistant, able).or_else(|| best(assistant, roomy()))?;
                let is_best = best.name == self.me.name && self.hosted() < self.me.capacity;
                (is_best && self.has_moves_left()).then(|| Decision::Lease(Some(self.holder())))
            }
        }
    }

    fn apply(&mut self, assistant: AssistantId, decision: Decision, actions: &mut Vec<Action>) {
        match decision {
            Decision::Begin => {
                self.not_before.remove(&assistant);
                self.handing_over.remove(&assistant);
                self.here.insert(assistant.clone(), Hosting::Beginning);
                actions.push(Action::Begin(assistant));
            }
            Decision::LetGo | Decision::HandOver => {
                if matches!(decision, Decision::HandOver) {
                    self.handing_over.insert(assistant.clone());
                }
                self.here.insert(assistant.clone(), Hosting::LettingGo);
                actions.push(Action::LetGo(assistant));
            }
            Decision::Lease(mut holder) => {
                self.handing_over.remove(&assistant);
                if let Some(holder) = &mut holder {
                    let failures = self.failures.remove(&assistant).unwrap_or(0);
                    let is_unable = failures >= TRIES;
                    holder.unable = match is_unable {
                        true => Some(self.me.incarnation),
                        false => self.unable(&assistant),
                    };
                }
                self.writing.insert(assistant.clone(), holder.clone());
                let expected = self.leases.get(&assistant).map_or(0, |it| it.revision);
                actions.push(Action::Write {
                    key: Key::Life(assistant),
                    value: Value::Life(holder),
                    expected,
                });
            }
        }
    }

    fn holder(&self) -> Holder {
        Holder {
            host: self.me.name.clone(),
            incarnation: self.me.incarnation,
            unable: None,
        }
    }

    /// The process in which the assistant could not begin.
    fn unable(&self, assistant: &AssistantId) -> Option<u64> {
        let holder = self.leases.get(assistant)?.holder.as_ref()?;
        holder.unable
    }

    /// Whether the assistant may begin on this host.
    fn is_able(&self, assistant: &AssistantId, candidate: &Candidate) -> bool {
        self.unable(assistant) != Some(candidate.incarnation)
    }

    /// Whether the holder is a host that lives.
    fn is_host(&self, now: Duration, holder: &Holder) -> bool {
        if self.is_me(holder) {
            return true;
        }
        let seen = self.hosts.get(&holder.host);
        let same = seen.filter(|seen| seen.record.incarnation == holder.incarnation);
        same.is_some_and(|seen| self.is_alive(now, seen))
    }

    /// The hosts that take assistants. This one does not if it is leaving.
    fn candidates(&self, now: Duration) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (name, seen) in &self.hosts {
            let HostRecord {
                incarnation,
                state,
                weight,
                capacity,
                hosted,
            } = seen.record;
            let is_me = *name == self.me.name;
            let serves = match is_me {
                true => self.phase == Phase::Serving,
                false => state == HostState::Serving && self.is_alive(now, seen),
            };
            if !serves || weight == 0 {
                continue;
            }
            let hosted = if is_me { self.hosted() } else { hosted };
            let room = capacity.saturating_sub(hosted);
            // Otherwise a host that is nearly full would get assistants that others then get back.
            let is_roomy = room > capacity / 10;
            candidates.push(Candidate {
                name: name.clone(),
                incarnation,
                weight,
                room,
                is_settled: is_roomy && now >= seen.since + self.pace.death(),
            });
        }
        candidates
    }

    /// The host to which an assistant moves that is here and well.
    fn moves_to(&self, assistant: &AssistantId, candidates: &[Candidate]) -> Option<Holder> {
        let is_overloaded = self.hosted() > self.me.capacity;
        if self.phase == Phase::Leaving || is_overloaded {
            return self.best_other(assistant, candidates);
        }
        let settled = |it: &&Candidate| {
            it.name == self.me.name || it.is_settled && self.is_able(assistant, it)
        };
        let best = best(assistant, candidates.iter().filter(settled))?;
        (best.name != self.me.name).then(|| best.holder())
    }

    fn best_other(&self, assistant: &AssistantId, candidates: &[Candidate]) -> Option<Holder> {
        let others = candidates
            .iter()
            .filter(|it| it.name != self.me.name && it.room > 0);
        best(assistant, others).map(Candidate::holder)
    }

    /// Whether another assistant may be taken or handed over now.
    fn has_moves_left(&self) -> bool {
        let moving = self
            .here
            .values()
            .filter(|it| **it != Hosting::Here)
            .count();
        moving + self.writing.len() < self.pace.moves_at_once
    }
}

impl Candidate {
    fn holder(&self) -> Holder {
        Holder {
            host: self.name.clone(),
            incarnation: self.incarnation,
            unable: None,
        }
    }
}

fn best<'a>(
    assistant: &AssistantId,
    candidates: impl Iterator<Item = &'a Candidate>,
) -> Option<&'a Candidate> {
    let fit = |it: &Candidate| Fit::of(it.name.as_str(), it.weight, assistant.as_str());
    candidates.min_by(|a, b| fit(a).compare(&fit(b)))
}

#[cfg(test)]
mod tests;
