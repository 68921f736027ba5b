//! What a selection removes. One pass over the log in order is enough, because everything is made from earlier events.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::RangeInclusive,
};

use dormouse_contracts::{
    Attribution, CallId, EffectKey, EntityId, Origin, Seq, SourceKind, Sources, StoredEvent,
    Timestamp,
};
use dormouse_entities::{EntityChange, MergedIds};
use dormouse_journal::JournalEntry;
use dormouse_memory::{MemoryChange, Note};
use serde_json::Value;

use super::{
    journal::WrittenDown,
    names::{Addressees, Names},
    selection::Selection,
    tasks::{TakenTasks, task_words},
    words::{Speaker, TellingWords},
};
use crate::{
    builtin,
    event::{
        Consultation, EntityChanged, Event, GoalId, JournalChanged, MemoryChanged, Perceived,
        ProjectId, Remembered, Replied,
    },
    state::{State, Turn},
};

/// What is removed from a log. *Taken* means selected for removal.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Events and parts of events that are taken as a whole.
    pub(super) origins: HashSet<Origin>,
    /// The turns that answered taken messages: first and last event. In order, without overlaps.
    pub(super) turns: Vec<(Seq, Seq)>,
    /// The acts of these turns.
    pub(super) effects: HashSet<EffectKey>,
    /// Acts that name the person as their listener, and the text that replaces the name.
    pub(super) addressed: HashMap<Seq, &'static str>,
    /// Acts that the person cannot have heard.
    pub(super) unheard: HashSet<EffectKey>,
    /// The beginning and the end of each act. In order, without overlaps.
    acts: Vec<(Timestamp, Timestamp)>,
}

impl Taken {
    /// Whether the event is taken as a whole.
    pub(super) fn has(&self, seq: Seq) -> bool {
        self.origins.contains(&Origin::event(seq))
    }

    /// Whether no event is taken.
    fn is_nothing(&self) -> bool {
        self.origins.is_empty()
    }

    /// Whether an origin is taken, by itself or with its event.
    pub(super) fn has_origin(&self, origin: Origin) -> bool {
        self.origins.contains(&origin) || self.has(origin.seq())
    }

    /// Whether a taken act was under way at this time.
    pub(super) fn acted_at(&self, at: Timestamp) -> bool {
        let after = self.acts.partition_point(|(begun, _)| *begun <= at);
        let act = after.checked_sub(1).and_then(|act| self.acts.get(act));
        act.is_some_and(|(_, done)| at <= *done)
    }

    /// Whether the event is in a turn that answered a taken message.
    pub(super) fn is_in_turn(&self, seq: Seq) -> bool {
        let after = self.turns.partition_point(|(first, _)| *first <= seq);
        let turn = after.checked_sub(1).and_then(|turn| self.turns.get(turn));
        turn.is_some_and(|(_, last)| seq <= *last)
    }
}

/// Reads a log in its order.
pub(super) struct Collector<'s> {
    selection: &'s Selection,
    taken: Taken,
    /// The words that identify copies, in this log and in others.
    words: &'s mut TellingWords,
    /// The time of the event that is read.
    at: Timestamp,
    /// The first event of the turn under way, if its message is taken.
    turn: Option<Seq>,
    /// The calls of taken replies in turns that are not taken.
    calls: HashSet<CallId>,
    /// The state so far. Needed only while the log may have replies and notes that list no sources.
    older: Option<Box<State>>,
    /// The sources of the present reply, if it lists none.
    sources: Option<Sources>,
    observations: Observations,
    /// The tasks of assistants that are taken, in this log and in others.
    tasks: &'s mut TakenTasks,
    /// The goals that are taken.
    goals: HashSet<GoalId>,
    /// The projects that are taken.
    projects: HashSet<ProjectId>,
    journal: WrittenDown,
    addressees: Addressees<'s>,
}

impl<'s> Collector<'s> {
    pub(super) fn new(
        selection: &'s Selection,
        names: &'s Names,
        effects: HashSet<EffectKey>,
        (words, tasks): (&'s mut TellingWords, &'s mut TakenTasks),
    ) -> Self {
        Self {
            selection,
            taken: Taken {
                effects,
                ..Taken::default()
            },
            words,
            at: Timestamp::EPOCH,
            turn: None,
            calls: HashSet::new(),
            older: Some(Box::default()),
            sources: None,
            observations: Observations::default(),
            tasks,
            goals: HashSet::new(),
            projects: HashSet::new(),
            journal: WrittenDown::default(),
            addressees: Addressees::new(selection, names),
        }
    }

    /// Ends at the last event of the log.
    pub(super) fn end(mut self, last: Seq) -> Taken {
        self.end_turn(last);
        self.taken
    }

    fn end_turn(&mut self, last: Seq) {
        if let Some(first) = self.turn.take() {
            self.taken.turns.push((first, last));
        }
    }

    /// Folds an event after it was read.
    pub(super) fn fold(&mut self, stored: &StoredEvent, event: &Event) {
        if let Event::Replied(Replied {
            sources: Some(_), ..
        }) = event
        {
            // All later versions of the program list sources, too.
            self.older = None;
        }
        if let Some(state) = &mut self.older {
            match (event, self.sources.take()) {
                (Event::Replied(replied), Some(sources)) => {
                    let replied = Replied {
                        sources: Some(sources),
                        ..replied.clone()
                    };
                    state.apply(stored.seq, stored.at, &Event::Replied(replied));
                }
                _ => state.apply(stored.seq, stored.at, event),
            }
        }
    }

    /// The sources of something that lists none, found among what its turn showed.
    fn of_older(&self, of: impl FnOnce(&State, &Turn) -> Sources) -> Sources {
        // While nothing is taken, sources do not matter.
        let state = self.older.as_deref().filter(|_| !self.taken.is_nothing());
        let turn = state.and_then(|state| Some((state, state.turns.current()?)));
        turn.map(|(state, turn)| of(state, turn))
            .unwrap_or_default()
    }

    /// Reads the next event.
    pub(super) fn take_in(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        self.at = at;
        self.addressees.take_in(seq, event);
        match event {
            Event::Perceived(perceived) => self.perceived(seq, at, perceived),
            Event::TickStarted(started) => {
                self.end_turn(Seq(seq.0.saturating_sub(1)));
                if self.taken.has(started.trigger) {
                    self.turn = Some(seq);
                }
            }
            Event::TickEnded(_) => self.end_turn(seq),
            Event::Remembered(remembered) => self.remembered(seq, at, remembered),
            Event::EntityChanged(changed) => self.entity_changed(seq, at, changed),
            Event::MemoryChanged(changed) => self.memory_changed(seq, at, changed),
            Event::JournalChanged(changed) => self.journal_changed(seq, at, changed),
            Event::GoalCreated(it) if self.noted(seq, at, event) => {
                self.goals.insert(it.id);
            }
            Event::ProjectCreated(it) if self.noted(seq, at, event) => {
                self.projects.insert(it.id);
            }
            Event::GoalUpdated(_)
            | Event::GoalCompleted(_)
            | Event::ProjectUpdated(_)
            | Event::ProjectSwapped(_)
            | Event::SelfNoted(_)
            | Event::FellAsleep(_)
            | Event::WokeUp(_) => {
                self.noted(seq, at, event);
            }
            // The turns for a taken goal are taken, too. These events identify them.
            Event::GoalPursued(it) if self.goals.contains(&it.id) => {
                self.take_only(Origin::event(seq));
            }
            Event::TaskDelegated(_)
            | Event::TaskReceived(_)
            | Event::TaskAnswered(_)
            | Event::DelegationEnded(_) => self.delegation(seq, at, event),
            Event::Consulted(consulted) => {
                let is_taken = match &consulted.about {
                    Consultation::Extraction { records } => {
                        records.iter().any(|record| self.taken.has_origin(*record))
                    }
                    Consultation::Judgement { extraction, .. } => self.taken.has(*extraction),
                    Consultation::EntityConsolidation {
                        entity,
                        observations,
                    } => {
                        self.selection.is_person(Some(entity))
                            || self.observations.is_taken(entity, observations)
                    }
                    Consultation::Scoring { entries } => self.journal.has_any(entries),
                    Consultation::Questions { .. } => self.journal.is_reflection_taken(),
                    Consultation::Insights { evidence } => {
                        self.journal.is_reflection_taken()
                            || evidence.iter().any(|piece| self.taken.has_origin(*piece))
                    }
                };
                let is_here = || {
                    self.selection
                        .is_here(Origin::event(seq), at, [&*consulted.reply.content])
                };
                if is_taken || is_here() {
                    self.take_only(Origin::event(seq));
                }
            }
            Event::HistorySummarized(made) => {
                let is_taken = made.span.turns.iter().any(|turn| self.taken.has(*turn))
                    || self.rests_on_taken(&made.sources);
                let origin = Origin::event(seq);
                if is_taken || self.selection.is_here(origin, at, [&*made.reply.content]) {
                    self.take_only(origin);
                }
            }
            Event::EffectIntended(intended) => {
                let mark = self.addressees.mark_of(intended);
                self.taken.addressed.extend(mark.map(|mark| (seq, mark)));
                if self.selection.is_left_out_of(intended.within.as_ref()) {
                    self.taken.unheard.insert(intended.key.clone());
                }
                let texts: Vec<_> = intended
                    .arguments
                    .values()
                    .filter_map(Value::as_str)
                    .collect();
                let origin = Origin::event(seq);
                let is_selected = self.taken.effects.contains(&intended.key)
                    || self.selection.is_here(origin, at, texts.iter().copied());
                if is_selected {
                    self.act(intended.key.clone());
                    // The assistant's own words were selected themselves, not only as part of a turn.
                    self.take(origin, Speaker::Person, texts);
                } else if self.turn.is_some() || self.calls.contains(&intended.call) {
                    self.act(intended.key.clone());
                    self.take_only(origin);
                }
            }
            Event::ApprovalRequested(requested) if self.calls.contains(&requested.call) => {
                self.take_only(Origin::event(seq));
            }
            Event::ApprovalRequested(requested) => {
                let texts = requested.arguments.values().filter_map(Value::as_str);
                self.take_here(seq, at, &texts.collect::<Vec<_>>());
            }
            Event::EffectSettled(settled) if self.taken.effects.contains(&settled.key) => {
                self.take_only(Origin::event(seq));
                if let Some((_, done)) = self.taken.acts.last_mut() {
                    *done = at;
                }
            }
            Event::Unanswered(unanswered) if self.taken.has(unanswered.trigger) => {
                self.take_only(Origin::event(seq));
            }
            Event::Delayed(delayed) if self.taken.has(delayed.trigger) => {
                self.take_only(Origin::event(seq));
            }
            Event::Replied(replied) => self.replied(seq, at, replied),
            Event::ToolAnswered(answered) if self.calls.contains(&answered.call) => {
                self.take_only(Origin::event(seq));
            }
            Event::ToolAnswered(answered) => self.take_here(seq, at, &[&*answered.content]),
            Event::Recollected(_) | Event::ParseFailed(_) => self.take_here(seq, at, &[]),
            _ => {}
        }
    }

    /// Takes an act. So far only its beginning is known.
    fn act(&mut self, key: EffectKey) {
        self.taken.effects.insert(key);
        self.taken
            .acts
            .push((self.at, Timestamp::from_micros(i64::MAX)));
    }

    /// Takes an event that is selected by its place or its words. Its words do not identify copies.
    fn take_here(&mut self, seq: Seq, at: Timestamp, texts: &[&str]) {
        let origin = Origin::event(seq);
        if self.selection.is_here(origin, at, texts.iter().copied()) {
            self.take_only(origin);
        }
    }

    /// Takes an event, or a part of one, and learns the words that identify copies of it.
    fn take<'a>(&mut self, origin: Origin, by: Speaker, texts: impl IntoIterator<Item = &'a str>) {
        self.take_only(origin);
        // If messages are only too old, their words may be repeated: copies are words of others, or newer.
        if matches!(self.selection, Selection::Unreferred { .. }) {
            return;
        }
        for text in texts {
            self.words.learn(self.at, by, text);
        }
    }

    /// Takes an event whose words do not identify copies.
    fn take_only(&mut self, origin: Origin) {
        self.taken.origins.insert(origin);
    }

    fn perceived(&mut self, seq: Seq, at: Timestamp, perceived: &Perceived) {
        let attested = &perceived.perception.attested;
        let words = perceived.perception.words.as_claimed();
        let origin = Origin::event(seq);
        if self.selection.is_person(attested.sender.id())
            || self.selection.is_here(origin, at, [words])
        {
            // The world words a movement, in the same way for everybody, so these words identify nobody.
            let said = (attested.source != SourceKind::Movement).then_some(words);
            self.take(origin, Speaker::Person, said);
        } else if let Some(cause) = &attested.cause
            && self.taken.effects.contains(cause)
        {
            // The world repeats what the assistant said or did in a turn that is taken.
            self.take_only(origin);
        }
    }

    /// A reply is taken if a source of its words is taken, together with its calls, even if it answers somebody else.
    fn replied(&mut self, seq: Seq, at: Timestamp, replied: &Replied) {
        let reply = &replied.reply;
        self.take_here(seq, at, &[&*reply.content, &*reply.reasoning]);
        let of_older = |state: &State, turn: &Turn| {
            builtin::support_of_reply(&reply.content, &replied.calls, state, turn).1
        };
        // If messages are only too old, a reply that repeats them stays until it is too old itself.
        let is_of_old = matches!(self.selection, Selection::Unreferred { .. });
        if self.turn.is_some() || self.taken.is_nothing() || is_of_old {
            return;
        }
        let sources = match &replied.sources {
            Some(sources) => sources.clone(),
            None => {
                let sources = self.of_older(of_older);
                self.sources = Some(sources.clone());
                sources
            }
        };
        if self.rests_on_taken(&sources) {
            self.take(Origin::event(seq), Speaker::Assistant, [&*reply.content]);
            self.calls
                .extend(replied.calls.iter().map(|call| call.id.clone()));
        }
    }

    fn remembered(&mut self, seq: Seq, at: Timestamp, remembered: &Remembered) {
        let origin = Origin::event(seq);
        let mut who = [Some(&remembered.from), remembered.about.as_ref()]
            .into_iter()
            .flatten();
        let of_older = |state: &State, turn: &Turn| {
            let about = remembered.about.as_ref().and_then(Attribution::name);
            let noted = [&*remembered.text, about.unwrap_or_default()].join("\n");
            builtin::sources_of_note(&noted, state, turn)
        };
        let sources = match remembered.sources.is_empty() {
            true => remembered.rests_on().union(&self.of_older(of_older)),
            false => remembered.rests_on(),
        };
        let is_taken = self.turn.is_some()
            || self.rests_on_taken(&sources)
            || who.any(|who| self.selection.is_of(who))
            || self.selection.is_here(origin, at, [&*remembered.text]);
        if is_taken {
            self.take(origin, Speaker::Assistant, [&*remembered.text]);
        }
    }

    /// Whether something is taken because of its sources. One taken source is enough, because its words may be
    /// repeated.
    fn rests_on_taken(&self, sources: &Sources) -> bool {
        let mut each = sources.as_slice().iter();
        // A full list may lack sources. Messages that are only too old are not taken while anything was made from them.
        let may_lack = sources.is_full()
            && !self.taken.is_nothing()
            && !matches!(self.selection, Selection::Unreferred { .. });
        may_lack || each.any(|source| self.taken.has_origin(*source))
    }

    fn memory_changed(&mut self, seq: Seq, at: Timestamp, changed: &MemoryChanged) {
        let whole = Origin::event(seq);
        match &changed.change {
            MemoryChange::Added { notes } if notes.len() == 1 => {
                notes.iter().for_each(|note| self.note(whole, at, note));
            }
            MemoryChange::Added { notes } => {
                let parts = (1..).map_while(|part| whole.part(part));
                for (origin, note) in parts.zip(notes) {
                    self.note(origin, at, note);
                }
            }
            MemoryChange::Extracted { facts, .. } => {
                let parts = (1..).map_while(|part| whole.part(part));
                for (origin, fact) in parts.zip(facts) {
                    self.note(origin, at, &fact.note);
                }
            }
            _ => {}
        }
    }

    /// Takes a change of the journal as a whole, because all parts of one event have the same sources. A restored entry
    /// is taken with the original entry, and a reflection with the entries that it is about.
    fn journal_changed(&mut self, seq: Seq, at: Timestamp, changed: &JournalChanged) {
        let origin = Origin::event(seq);
        let texts = WrittenDown::texts(changed);
        let is_from = |entry: &JournalEntry| {
            self.selection.is_of(&entry.source_entity)
                || self.rests_on_taken(&entry.provenance.sources)
        };
        let is_taken = !texts.is_empty()
            && (self.turn.is_some() && changed.is_by_call()
                || self.journal.is_taken(changed)
                || changed.entries().any(is_from)
                || self.selection.is_here(origin, at, texts.iter().copied()));
        let has_origin = |origin: Origin| self.taken.has_origin(origin);
        self.journal.take_in(changed, is_taken, has_origin);
        if is_taken {
            self.take(origin, Speaker::Assistant, texts);
        }
    }

    fn note(&mut self, origin: Origin, at: Timestamp, note: &Note) {
        let is_about = |tag: &str| {
            let id = EntityId::try_new(tag).ok();
            self.selection.is_person(id.as_ref())
        };
        let is_span = matches!(self.selection, Selection::Span { .. });
        let is_made_of_others = !note.sources().is_empty();
        let is_taken = note
            .sources()
            .iter()
            .any(|source| self.taken.has_origin(*source))
            || self.selection.is_of(note.speaker())
            || note.tags().any(is_about)
            // The time at which a model derived a fact says nothing about when its sources were heard.
            || (!(is_span && is_made_of_others)
                && self.selection.is_here(origin, at, [note.text()]));
        // An imported line that somebody said counts as that person's.
        let by = match note.speaker() {
            Attribution::Entity { .. } | Attribution::Named(_) => Speaker::Person,
            _ => Speaker::Assistant,
        };
        if is_taken {
            self.take(origin, by, [note.text()]);
        }
    }

    /// Takes words of tasks of assistants. They are taken if they were made in a taken turn, if a source is taken, if
    /// their task is taken in this or another log, or if they themselves are selected.
    fn delegation(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        // Messages that are only too old are removed from each log separately.
        let is_of_old = matches!(self.selection, Selection::Unreferred { .. });
        for words in task_words(seq, event) {
            let is_taken = words.is_own && self.turn.is_some()
                || self.taken.has_origin(words.origin)
                || !is_of_old && (self.tasks.has(&words) || self.rests_on_taken(&words.sources))
                || self.selection.is_here(words.origin, at, [words.text]);
            if !is_taken {
                continue;
            }
            self.take(words.origin, Speaker::Assistant, [words.text]);
            if !is_of_old {
                self.tasks.take(&words);
            }
        }
    }

    /// Takes notes about a goal, a project or the assistant itself, if a source is taken, or if the goal or project is
    /// taken. Returns whether it did.
    fn noted(&mut self, seq: Seq, at: Timestamp, event: &Event) -> bool {
        let origin = Origin::event(seq);
        let belongs_to_taken = match event {
            Event::GoalUpdated(it) => self.goals.contains(&it.id),
            Event::GoalCompleted(it) => self.goals.contains(&it.id),
            Event::ProjectUpdated(it) => self.projects.contains(&it.id),
            // The update is about the former project, and the reason about both.
            Event::ProjectSwapped(it) => {
                let mut both = it.from.iter().chain([&it.to]);
                both.any(|id| self.projects.contains(id))
            }
            _ => false,
        };
        if belongs_to_taken {
            self.take_only(origin);
        }
        let notes = event.noted().map(|(_, notes)| notes).unwrap_or_default();
        let texts: Vec<_> = notes.iter().map(|note| &*note.text).collect();
        if texts.is_empty() {
            return false;
        }
        let is_taken = belongs_to_taken
            || self.turn.is_some()
            || notes.iter().any(|note| self.rests_on_taken(&note.sources))
            || self.selection.is_here(origin, at, texts.iter().copied());
        if is_taken {
            self.take(origin, Speaker::Assistant, texts);
        }
        is_taken
    }

    fn entity_changed(&mut self, seq: Seq, at: Timestamp, changed: &EntityChanged) {
        let origin = Origin::event(seq);
        let texts = texts(&changed.change);
        let is_made_of = match &changed.change {
            EntityChange::Consolidated {
                entity,
                observations,
                ..
            } => self.observations.is_taken(entity, observations),
            _ => false,
        };
        let of_older =
            |state: &State, turn: &Turn| builtin::sources_of_note(&texts.join("\n"), state, turn);
        let mut sources = rests_on(&changed.change);
        if sources.is_empty() && changed.is_by_call() && !texts.is_empty() {
            sources = self.of_older(of_older);
        }
        let is_taken = subjects(&changed.change)
            .iter()
            .any(|id| self.selection.is_person(Some(id)))
            || (self.turn.is_some() && changed.is_by_call())
            || self.rests_on_taken(&sources)
            || is_made_of
            || (!texts.is_empty()
                && self
                    .selection
                    .is_here(origin, at, texts.iter().map(|text| &**text)));
        if is_taken {
            self.take(origin, Speaker::Assistant, texts.iter().map(|text| &**text));
        }
        self.observations.take_in(&changed.change, is_taken);
    }
}

/// The known sources of a change.
pub(super) fn rests_on(change: &EntityChange) -> Sources {
    match change {
        EntityChange::Observed { observation, .. } => observation.rests_on(),
        EntityChange::AttributesUpdated { sources, .. }
        | EntityChange::TopicChanged { sources, .. }
        | EntityChange::Consolidated { sources, .. }
        | EntityChange::Judged { sources, .. }
        | EntityChange::ActionAdded { sources, .. } => sources.clone(),
        _ => Sources::default(),
    }
}

/// Whom a change is about.
pub(super) fn subjects(change: &EntityChange) -> Vec<EntityId> {
    let json = serde_json::to_value(change).unwrap_or_default();
    let ids = ["entity", "from", "into"].map(|field| json.get(field).cloned());
    let ids = ids.into_iter().flatten();
    ids.filter_map(|id| serde_json::from_value(id).ok())
        .collect()
}

/// The texts of a change about somebody, except names.
fn texts(change: &EntityChange) -> Vec<String> {
    match change {
        EntityChange::Observed { observation, .. } => vec![observation.content.to_string()],
        EntityChange::AttributesUpdated { update, .. }
        | EntityChange::Consolidated { update, .. } => {
            let preferences = update.preferences.iter();
            let preferences = preferences.map(|(subject, value)| format!("{subject}: {value}"));
            let interests = update.interests.iter().map(ToString::to_string);
            preferences.chain(interests).collect()
        }
        EntityChange::Judged { reason, .. } => vec![reason.to_string()],
        EntityChange::ConversationStarted { topic, .. } => {
            topic.iter().map(ToString::to_string).collect()
        }
        EntityChange::TopicChanged { topic, .. } => vec![topic.to_string()],
        EntityChange::MessageAdded { content, .. } => vec![content.as_str().to_owned()],
        EntityChange::ActionAdded {
            description, when, ..
        } => {
            let words = when.iter().filter_map(|one| one.words.as_ref());
            let words = words.map(ToString::to_string);
            [description.to_string()].into_iter().chain(words).collect()
        }
        _ => Vec::new(),
    }
}

/// The possible numbers of taken observations in their profiles. Whether a repetition got a number depends on its
/// audience and trust, so there is a range for each.
#[derive(Default)]
struct Observations {
    by_entity: HashMap<EntityId, Numbered>,
    merged: MergedIds,
}

#[derive(Clone, Default)]
struct Numbered {
    /// The last number, if no repetition got one.
    least: u64,
    /// The last number, if each repetition got one.
    most: u64,
    known: BTreeSet<String>,
    taken: Vec<RangeInclusive<u64>>,
}

impl Observations {
    fn take_in(&mut self, change: &EntityChange, is_taken: bool) {
        match change {
            EntityChange::Observed {
                entity,
                observation,
            } => {
                let of = self.of(entity);
                let is_new = of.known.insert(observation.content.as_str().to_lowercase());
                of.least += u64::from(is_new);
                of.most += 1;
                if is_taken {
                    of.taken.push(of.least.min(of.most)..=of.most);
                }
            }
            EntityChange::Merged { from, into } => {
                if self.merged.survivor(from) == self.merged.survivor(into) {
                    return;
                }
                let moved = self.of(from).clone();
                let both = self.of(into);
                let (least, most) = (both.least, both.most);
                let shifted = moved.taken.iter();
                both.taken
                    .extend(shifted.map(|it| it.start() + least..=it.end() + most));
                both.known.extend(moved.known);
                both.least += moved.least;
                both.most += moved.most;
            }
            _ => {}
        }
        self.merged.apply(change);
    }

    fn of(&mut self, entity: &EntityId) -> &mut Numbered {
        let survivor = self.merged.survivor(entity).clone();
        self.by_entity.entry(survivor).or_default()
    }

    fn is_taken(&self, entity: &EntityId, numbers: &[u64]) -> bool {
        let of = self.by_entity.get(self.merged.survivor(entity));
        let taken = of.map(|of| of.taken.as_slice()).unwrap_or_default();
        taken
            .iter()
            .any(|range| numbers.iter().any(|number| range.contains(number)))
    }
}
