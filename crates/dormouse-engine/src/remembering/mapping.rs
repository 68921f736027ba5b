//! What each event means for a memory. Pure: the division of events into pages has no influence on the result.

use std::collections::BTreeMap;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{
    Attribution, Audience, Author, ChannelId, EntityId, Origin, Outcome, Place, Sender, Seq,
    SourceKind, SpeechKind, Timestamp, Trust,
};
use dormouse_entities::{Entities, EntityChange, OrderKind, Passage, SpeakerRole, orders_in};
use dormouse_memory::{Derivation, Intake, IntakeStep, LogPosition, Note, RecordKind};
use dormouse_redact::{RedactionProfile, mask};
use dormouse_text::beginning;

use super::{
    context::{Context, Read, Trigger},
    journal, place,
    reading::Triggers,
};
use crate::event::{
    EffectIntended, EntityChanged, Event, MemoryChanged, Perceived, Remembered, SpokenWords,
};

/// The longest name of a speaker that is kept, in characters.
const NAME_LIMIT: usize = 64;
/// The trust of the assistant's own words if an older program did not record what they came from.
const UNKNOWN_PROVENANCE: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// The reason of changes that follow from events without a decision.
const REASON: &str = "taken in from the log";

/// Whether an event means anything to a memory.
pub(crate) fn is_for_memory(event: &Event) -> bool {
    matches!(
        event,
        Event::Perceived(_)
            | Event::EffectSettled(_)
            | Event::Remembered(_)
            | Event::EntityChanged(_)
            | Event::MemoryChanged(_)
            | Event::Forgotten(_)
            | Event::CommitmentEnded(_)
            | Event::JournalChanged(_)
    )
}

/// What a page of events means.
pub(super) struct Page {
    pub(super) items: Vec<Intake>,
    /// The last event of the page. The page may end before the last given event.
    pub(super) through: LogPosition,
    /// The context in which the events after it continue.
    pub(super) context: Context,
}

/// What a page of events means to a memory that knows these people and things. `context` is the context before the
/// page.
pub(super) fn page(
    known: &Entities,
    events: &[Read],
    triggers: &Triggers,
    context: Context,
) -> Page {
    let mut mapping = Mapping {
        known,
        met: BTreeMap::new(),
        items: Vec::new(),
    };
    let mut page = Page {
        items: Vec::new(),
        through: LogPosition::default(),
        context,
    };
    let mut last = None;
    for read in events {
        // After a command creates, merges or renames an entity, later events mean something else, so such an event has
        // a page of its own.
        let is_alone = match &read.event {
            Some(Event::EntityChanged(changed)) => !changed.is_by_call(),
            Some(Event::Forgotten(_)) => true,
            _ => false,
        };
        if is_alone && !mapping.items.is_empty() || !mapping.take(read, &page.context) {
            break;
        }
        if let Some(event) = &read.event {
            let find = |seq: Seq| triggers.get(&seq).cloned();
            page.context.follow(event, find);
        }
        last = Some(read);
        if is_alone {
            break;
        }
    }
    page.items = mapping.items;
    // A position is a hash of the event, so only the one that is needed is computed.
    page.through = last.map(Read::position).unwrap_or_default();
    page
}

pub(super) struct Mapping<'a> {
    /// The people and things that are known before the page.
    known: &'a Entities,
    /// The people in this page, their names, and whether they are known from then on.
    met: BTreeMap<EntityId, (String, bool)>,
    items: Vec<Intake>,
}

impl Mapping<'_> {
    /// Adds an event to the page. Returns false if the event belongs to the next page, because its meaning depends on
    /// changes of this page: somebody has a new name, or somebody who is addressed by name may have just arrived.
    fn take(&mut self, read: &Read, context: &Context) -> bool {
        let (seq, at) = (read.stored.seq, read.stored.at);
        let Some(event) = &read.event else {
            return true;
        };
        match event {
            Event::Perceived(perceived) => return self.perceived(seq, at, perceived),
            Event::EffectSettled(settled) if matches!(settled.outcome, Outcome::Done(_)) => {
                if let Some(intended) = &context.intended
                    && intended.key == settled.key
                {
                    return self.said(seq, at, intended, context.trigger.as_ref());
                }
            }
            Event::Remembered(remembered) => {
                self.remembered(seq, at, remembered, context.trigger.as_ref());
            }
            Event::EntityChanged(changed) => {
                let EntityChanged {
                    change,
                    author,
                    reason,
                } = changed.clone();
                let step = IntakeStep::Entity(Box::new(change));
                self.decided(read, author, reason, step);
            }
            Event::MemoryChanged(changed) => {
                let MemoryChanged {
                    change,
                    author,
                    reason,
                } = changed.clone();
                let step = IntakeStep::Change(Box::new(change));
                self.decided(read, author, reason, step);
            }
            Event::JournalChanged(changed) => {
                journal::changed(self, read, changed, context.trigger.as_ref());
            }
            Event::CommitmentEnded(ended) => {
                let change = EntityChange::ActionEnded {
                    entity: ended.entity.clone(),
                    noted_at: ended.noted_at,
                };
                self.change(change, (seq, at));
            }
            Event::Forgotten(forgotten) => {
                // Nothing is kept about the person. If they speak again, they are a stranger.
                for id in forgotten.selected.ids() {
                    let entity = || id.clone();
                    self.change(EntityChange::Deleted { entity: entity() }, (seq, at));
                    self.change(EntityChange::Purged { entity: entity() }, (seq, at));
                }
            }
            _ => {}
        }
        true
    }

    fn decided(&mut self, read: &Read, author: Author, reason: String, step: IntakeStep) {
        self.items.push(Intake {
            event: read.stored.seq,
            at: read.stored.at,
            author: Some(author),
            reason,
            step,
        });
    }

    pub(super) fn follows(&mut self, (event, at): (Seq, Timestamp), step: IntakeStep) {
        self.items.push(Intake {
            event,
            at,
            author: None,
            reason: REASON.to_owned(),
            step,
        });
    }

    fn change(&mut self, change: EntityChange, event: (Seq, Timestamp)) {
        self.follows(event, IntakeStep::Entity(Box::new(change)));
    }

    fn note(&mut self, (seq, at): (Seq, Timestamp), note: Note) {
        self.note_as(Origin::event(seq), (seq, at), note);
    }

    /// Adds a note, unless no memory accepts it. An event that cannot be stored must not block all later ones.
    pub(super) fn note_as(&mut self, id: Origin, (seq, at): (Seq, Timestamp), note: Note) {
        match note.check() {
            Ok(()) => {
                let note = IntakeStep::Note(id, Box::new(note));
                self.follows((seq, at), note);
            }
            Err(error) => tracing::warn!(%seq, %error, "an event cannot be remembered"),
        }
    }

    /// The note has the time that the world reports. Changes to what is known have the time of arrival, because the
    /// clocks of worlds may be wrong.
    fn perceived(&mut self, seq: Seq, at: Timestamp, perceived: &Perceived) -> bool {
        let attested = &perceived.perception.attested;
        if matches!(attested.sender, Sender::Myself { .. }) {
            return true;
        }
        let Some(changes) = self.meeting(perceived) else {
            return false;
        };
        let words = perceived.perception.words.as_claimed();
        let is_directed = perceived.classification.verdict == MessageVerdict::Trigger;
        let note = Note::new(words)
            .kind(kind(words, is_directed))
            .derivation(Derivation::Heard)
            .at(attested.at)
            .in_thread(place::heard_in(attested))
            .heard_as(attested.source.clone())
            .trusted(perceived.trust)
            .known_to(perceived.known_to());
        let place = attested.place.as_ref().and_then(|place| {
            let name = shortened(&place.name)?;
            let id = place.id.clone();
            Some(Place { id, name })
        });
        let note = place.into_iter().fold(note, Note::in_place);
        self.note((seq, at), note.from(speaker((&attested.sender).into())));
        for change in changes {
            self.change(change, (seq, at));
        }
        if let Some(entity) = attested.sender.id().filter(|_| is_directed) {
            let start = EntityChange::ConversationStarted {
                entity: entity.clone(),
                topic: None,
                stale_after: dormouse_entities::StaleAfter::default(),
            };
            self.change(start, (seq, at));
            self.message(entity, SpeakerRole::User, words, (seq, at));
        }
        true
    }

    fn message(
        &mut self,
        entity: &EntityId,
        role: SpeakerRole,
        words: &str,
        event: (Seq, Timestamp),
    ) {
        // The log may keep secrets; the memory never does.
        if let Some(content) = Passage::shortened(&mask(words, RedactionProfile::Memory)) {
            let entity = entity.clone();
            let added = EntityChange::MessageAdded {
                entity,
                role,
                content,
            };
            self.change(added, event);
        }
    }

    /// The changes that follow from hearing somebody; `None` if they depend on an earlier event of this page.
    fn meeting(&mut self, perceived: &Perceived) -> Option<Vec<EntityChange>> {
        let attested = &perceived.perception.attested;
        let Some(entity) = attested.sender.id() else {
            return Some(Vec::new());
        };
        let name = attested.sender.name();
        if let Some((met_as, is_known)) = self.met.get(entity) {
            let again = EntityChange::Interacted {
                entity: entity.clone(),
                trust: perceived.source_trust(),
            };
            let again = if *is_known { vec![again] } else { Vec::new() };
            return (met_as == name).then_some(again);
        }
        let changes = self.known.heard(attested, perceived.source_trust());
        let met = (name.to_owned(), !changes.is_empty());
        self.met.insert(entity.clone(), met);
        Some(changes)
    }

    /// Adds what the assistant said, once the act is settled.
    fn said(
        &mut self,
        seq: Seq,
        at: Timestamp,
        intended: &EffectIntended,
        trigger: Option<&Trigger>,
    ) -> bool {
        let Some(said) = intended.speech.said(&intended.arguments) else {
            return true;
        };
        let words = said.words;
        let listener = match trigger.map(|trigger| spoken_to(said, trigger)) {
            None | Some(Listener::Nobody) => None,
            Some(Listener::Id(id)) => Some(id),
            Some(Listener::Named(_)) if !self.items.is_empty() => return false,
            Some(Listener::Named(name)) => match self.known.known_as(&name).as_slice() {
                [only] => Some((*only).clone()),
                _ => None,
            },
        };
        let mut note = Note::new(words)
            .derivation(Derivation::Heard)
            .at(at)
            .from(Attribution::Myself)
            .heard_as(said_as(said))
            .trusted(intended.trust.unwrap_or(UNKNOWN_PROVENANCE))
            .known_to(known_to(intended.audience.as_ref()));
        if let Some(trigger) = trigger {
            note = note.in_thread(said_in(said, trigger, listener.as_ref()));
        }
        self.note((seq, at), note);
        if let Some(listener) = listener {
            self.message(&listener, SpeakerRole::Assistant, words, (seq, at));
        }
        true
    }

    fn remembered(
        &mut self,
        seq: Seq,
        at: Timestamp,
        remembered: &Remembered,
        trigger: Option<&Trigger>,
    ) {
        let Remembered {
            text,
            from,
            trust,
            kind,
            about,
            audience,
            origin: _,
            sources,
        } = remembered;
        let mut note = Note::new(text)
            .kind(*kind)
            .derivation(Derivation::Stored)
            .at(at)
            .from(speaker(from.clone()))
            .trusted(*trust)
            .known_to(known_to(audience.as_ref()))
            .derived_from(sources.as_slice().iter().copied());
        if let Some(trigger) = trigger {
            note = note.in_thread(place::heard_in(&trigger.attested));
        }
        // The tag includes the id. Otherwise two people with one name would share their notes.
        let id = about.as_ref().and_then(Attribution::id);
        let tags = about.as_ref().and_then(Attribution::name).into_iter();
        for tag in tags.chain(id.map(EntityId::as_str)).filter_map(shortened) {
            note = note.tagged(tag);
        }
        self.note((seq, at), note);
    }
}

/// Who may learn the assistant's own words: nobody, if an older program did not record what they came from.
fn known_to(audience: Option<&Audience>) -> Audience {
    audience.cloned().unwrap_or(Audience::nobody())
}

/// To whom something is said.
enum Listener {
    Nobody,
    Id(EntityId),
    /// A person known only by this name.
    Named(String),
}

/// The listener: the named person, or else the sender of the message. On a channel there is no single listener.
fn spoken_to(said: SpokenWords<'_>, trigger: &Trigger) -> Listener {
    let sender = &trigger.attested.sender;
    let id = sender.id().cloned().map_or(Listener::Nobody, Listener::Id);
    match said.to {
        _ if said.kind == SpeechKind::Channel => Listener::Nobody,
        Some(to) if to.to_lowercase() == sender.name().to_lowercase() => id,
        Some(to) => Listener::Named(to.to_owned()),
        None => id,
    }
}

/// How the assistant said something.
fn said_as(said: SpokenWords<'_>) -> SourceKind {
    let channel = || ChannelId::try_new(said.to?).ok();
    match said.kind {
        SpeechKind::Whisper => SourceKind::Whisper,
        SpeechKind::Page => SourceKind::Page,
        SpeechKind::Channel => channel().map_or(SourceKind::Say, SourceKind::Channel),
        _ => SourceKind::Say,
    }
}

fn said_in(said: SpokenWords<'_>, trigger: &Trigger, listener: Option<&EntityId>) -> String {
    let world = &trigger.attested.delivery.world;
    match (said.kind, said.to, listener) {
        (SpeechKind::Channel, Some(channel), _) => place::on_channel(world, channel),
        (SpeechKind::Whisper | SpeechKind::Page, _, Some(listener)) => place::with(world, listener),
        _ => place::around(world),
    }
}

/// A sentence counts as an instruction, or takes one back, only if it was said to the assistant.
fn kind(words: &str, is_directed: bool) -> RecordKind {
    let found = orders_in(words);
    let is_preference = |kind| kind == OrderKind::Preference;
    if is_directed && found.iter().any(|found| !is_preference(found.kind)) {
        RecordKind::Instruction
    } else if found.iter().any(|found| is_preference(found.kind)) {
        RecordKind::Preference
    } else {
        RecordKind::Event
    }
}

/// The same speaker with a name that the memory accepts.
pub(super) fn speaker(from: Attribution) -> Attribution {
    match from {
        Attribution::Entity { id, name } => {
            let name = shortened(&name).unwrap_or_else(|| id.as_str().to_owned());
            Attribution::Entity { id, name }
        }
        Attribution::Named(name) => {
            shortened(&name).map_or(Attribution::Unknown, Attribution::Named)
        }
        from => from,
    }
}

pub(super) fn shortened(name: &str) -> Option<String> {
    let name = beginning(name.trim(), NAME_LIMIT);
    (!name.is_empty()).then(|| name.to_owned())
}
