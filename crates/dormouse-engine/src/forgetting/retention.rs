//! Finds old messages that nothing kept refers to.

use std::collections::{BTreeSet, HashMap, HashSet};

use dormouse_contracts::{
    AssistantId, Author, EffectKey, FORGOTTEN, LoadSnapshot, Origin, ReadEvents, Seq, Sources,
    Timestamp, each_event,
};
use dormouse_memory::{MemoryChange, Note};

use super::collect::rests_on;
use crate::{
    event::{DelegationEnded, Event, MemoryChanged, Perceived, TaskDelegated, TaskOutcome},
    replay::{ReplayError, restore},
    state::{Trigger, Turn},
};

/// The messages in a log that were heard before a moment and are referred to by no note, fact, observation or order, and by
/// no call that noted or planned something in answering them. Messages that wait for an answer are not among them.
/// Tasks of other assistants, and the ends of tasks that were given away, count as messages. The sources of a task
/// count as referred to until the end of the task is itself old enough.
///
/// # Errors
///
/// [`ReplayError`], which names the first event that could not be read.
pub async fn unreferred<L: ReadEvents + LoadSnapshot + ?Sized>(
    log: &L,
    key: &AssistantId,
    before: Timestamp,
) -> Result<BTreeSet<Seq>, ReplayError> {
    let mut references = References::new(before);
    each_event(log, key, .., |stored| {
        // Most of a log are events that neither refer to others nor belong to the end of a turn.
        if matters(&stored.kind) {
            references.take_in(stored.seq, stored.at, &Event::decode(stored)?);
        }
        Ok::<_, ReplayError>(())
    })
    .await?;
    let state = restore(log, key).await?;
    let waiting = state.turns.waiting().map(Trigger::seq);
    let open = state.turns.open().map(Turn::trigger_seq);
    let tasks = state.delegations.taken_tasks();
    let tasks = tasks.filter(|task| task.is_open()).map(|task| task.seq);
    references.referred.extend(waiting.chain(open).chain(tasks));
    Ok(references.end(state.seq))
}

fn matters(kind: &str) -> bool {
    matches!(
        kind,
        "perceived"
            | "tick_started"
            | "tick_ended"
            | "remembered"
            | "memory_changed"
            | "entity_changed"
            | "effect_intended"
            | "goal_created"
            | "goal_updated"
            | "goal_completed"
            | "task_delegated"
            | "task_received"
            | "delegation_ended"
            | "project_created"
            | "project_updated"
            | "project_swapped"
            | "self_noted"
            | "self_note_dropped"
            | "journal_changed"
    )
}

/// The references between events.
struct References {
    before: Timestamp,
    /// Messages. They may also arrive while another one is answered.
    heard: HashSet<Seq>,
    old: BTreeSet<Seq>,
    referred: BTreeSet<Seq>,
    /// First and last event of each tick, and what it answered.
    ticks: Vec<(Seq, Seq, Seq)>,
    tick: Option<(Seq, Seq)>,
    /// The acts by the messages that they answer.
    acts: HashMap<EffectKey, Seq>,
    /// Perceptions in which the world repeated an act.
    echoes: HashMap<Seq, EffectKey>,
    /// The tasks that were given to others, oldest first.
    given: Vec<Given>,
}

/// A task that was given to another assistant.
struct Given {
    task: TaskDelegated,
    /// The trigger of the turn that gave it.
    trigger: Option<Seq>,
    is_old: bool,
    /// How it ended, if it has.
    end: Option<End>,
}

/// The end of a task. The turn that deals with it shows the task as well.
struct End {
    seq: Seq,
    is_old: bool,
    is_failure: bool,
}

impl Given {
    /// Whether its sources must be kept.
    fn is_kept(&self, referred: &BTreeSet<Seq>) -> bool {
        let is_due = |end: &End| end.is_old && !referred.contains(&end.seq);
        !self.is_old || !self.end.as_ref().is_some_and(is_due)
    }
}

impl References {
    fn new(before: Timestamp) -> Self {
        Self {
            before,
            heard: HashSet::new(),
            old: BTreeSet::new(),
            referred: BTreeSet::new(),
            ticks: Vec::new(),
            tick: None,
            acts: HashMap::new(),
            echoes: HashMap::new(),
            given: Vec::new(),
        }
    }

    fn take_in(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::Perceived(perceived) => self.perceived(seq, at, perceived),
            Event::TickStarted(started) => {
                self.end_tick(Seq(seq.0.saturating_sub(1)));
                self.tick = Some((seq, started.trigger));
            }
            Event::TickEnded(_) => self.end_tick(seq),
            Event::EffectIntended(intended) => {
                if let Some((_, trigger)) = self.tick {
                    self.acts.insert(intended.key.clone(), trigger);
                }
            }
            Event::Remembered(remembered) => {
                self.refer_to_all(&remembered.rests_on());
                self.refer_to_message();
            }
            Event::MemoryChanged(changed) => self.memory_changed(changed),
            Event::TaskDelegated(it) => self.given.push(Given {
                task: it.clone(),
                trigger: self.tick.map(|(_, trigger)| trigger),
                is_old: at < self.before,
                end: None,
            }),
            Event::TaskReceived(it) => {
                self.heard(seq, at, it.task.task.text == FORGOTTEN);
            }
            Event::DelegationEnded(it) => self.task_ended(seq, at, it),
            Event::EntityChanged(changed) => {
                self.refer_to_all(&rests_on(&changed.change));
                if changed.is_by_call() {
                    self.refer_to_message();
                }
            }
            Event::JournalChanged(changed) => {
                for entry in changed.entries() {
                    self.refer_to_all(&entry.provenance.sources);
                }
                if changed.is_by_call() {
                    self.refer_to_message();
                }
            }
            event => self.noted(event),
        }
    }

    fn perceived(&mut self, seq: Seq, at: Timestamp, perceived: &Perceived) {
        // A perception that repeats an act is kept or removed with the act.
        if let Some(cause) = &perceived.perception.attested.cause {
            self.echoes.insert(seq, cause.clone());
            return;
        }
        self.heard(seq, at, perceived.perception.words.is_forgotten());
    }

    fn heard(&mut self, seq: Seq, at: Timestamp, is_forgotten: bool) {
        self.heard.insert(seq);
        if at < self.before && !is_forgotten {
            self.old.insert(seq);
        }
    }

    fn task_ended(&mut self, seq: Seq, at: Timestamp, ended: &DelegationEnded) {
        let (is_forgotten, is_failure) = match &ended.outcome {
            TaskOutcome::Done(result) => (result.text == FORGOTTEN, false),
            // It has no words, and is removed with the task.
            TaskOutcome::Failed(_) => (true, true),
        };
        self.heard(seq, at, is_forgotten);
        let mut given = self.given.iter_mut();
        let given = given.find(|given| given.task.task.key == ended.key && given.end.is_none());
        if let Some(given) = given {
            given.end = Some(End {
                seq,
                is_old: at < self.before,
                is_failure,
            });
        }
    }

    fn memory_changed(&mut self, changed: &MemoryChanged) {
        let sources = |note: &Note| note.sources().to_vec();
        let referred = match &changed.change {
            MemoryChange::Added { notes } => notes.iter().flat_map(sources).collect(),
            MemoryChange::Extracted { facts, .. } => {
                let facts = facts.iter();
                facts.flat_map(|fact| sources(&fact.note)).collect()
            }
            MemoryChange::Superseded { by, .. } => by.iter().copied().collect(),
            // A record that represents others, or that the operator made public, is kept.
            MemoryChange::Folded { into, .. } => vec![*into],
            MemoryChange::Published { record } => vec![*record],
            MemoryChange::Linked { a, b, .. } => vec![*a, *b],
            _ => Vec::new(),
        };
        referred.into_iter().for_each(|origin| self.refer(origin));
        if matches!(changed.author, Author::Tool(_)) {
            self.refer_to_message();
        }
    }

    fn noted(&mut self, event: &Event) {
        let Some((author, notes)) = event.noted() else {
            return;
        };
        for note in notes {
            self.refer_to_all(&note.sources);
        }
        if matches!(author, Author::Tool(_)) {
            self.refer_to_message();
        }
    }

    fn refer(&mut self, origin: Origin) {
        self.referred.insert(origin.seq());
    }

    fn refer_to_all(&mut self, sources: &Sources) {
        sources
            .as_slice()
            .iter()
            .for_each(|origin| self.refer(*origin));
    }

    /// The notes of a turn refer to the message that it answers.
    fn refer_to_message(&mut self) {
        self.referred.extend(self.tick.map(|(_, trigger)| trigger));
    }

    fn end_tick(&mut self, last: Seq) {
        if let Some((first, trigger)) = self.tick.take() {
            self.ticks.push((first, last, trigger));
        }
    }

    /// The message that an event answers: a turn loses its words as a whole.
    fn answered(&self, seq: Seq) -> Option<Seq> {
        if let Some(cause) = self.echoes.get(&seq) {
            return self.acts.get(cause).copied();
        }
        if self.heard.contains(&seq) {
            return None;
        }
        let after = self.ticks.partition_point(|(first, ..)| *first <= seq);
        let (_, last, trigger) = self.ticks.get(after.checked_sub(1)?)?;
        (seq <= *last).then_some(*trigger)
    }

    fn end(mut self, last: Seq) -> BTreeSet<Seq> {
        self.end_tick(last);
        let answered = self.referred.iter().filter_map(|seq| self.answered(*seq));
        self.referred = answered.chain(self.referred.iter().copied()).collect();
        // A task refers only to earlier events, and only later events can refer to its end.
        let given = std::mem::take(&mut self.given);
        for given in given.iter().rev() {
            if given.is_kept(&self.referred) {
                self.refer_to_all(&given.task.sources);
                let trigger = given.trigger.into_iter();
                let answered = given.task.sources.as_slice().iter();
                let answered = answered.filter_map(|source| self.answered(source.seq()));
                let answered: Vec<_> = trigger.chain(answered).collect();
                self.referred.extend(answered);
            }
        }
        let mut due: BTreeSet<_> = self.old.difference(&self.referred).copied().collect();
        for given in &given {
            let failed = given.end.as_ref().filter(|end| end.is_failure);
            let goes = given.trigger.is_some_and(|trigger| due.contains(&trigger));
            let is_forgotten = given.task.task.task.text == FORGOTTEN;
            if let Some(end) = failed.filter(|_| goes && !is_forgotten) {
                due.insert(end.seq);
            }
        }
        due
    }
}
