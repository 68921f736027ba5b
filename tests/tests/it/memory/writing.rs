//! Random changes of a memory.

use dormouse_contracts::{EntityId, Seq, Timestamp, Trust};
use dormouse_entities::{
    ActionText, EntityChange as Known, EntityType, Name, NewObservation, Passage, SpeakerRole,
    StaleAfter, TextLine,
};
use dormouse_memory::{
    Added, ChangeError, Collection, Intake, IntakeStep, LinkKind, LogPosition, Memory, MemoryError,
    Note, RecordId, RecordKind, Taken,
};
use serde_json::json;

use super::{Dice, ledger::LOG_PART, say};

/// Later than anything a note says.
const LATER: Timestamp = Timestamp::from_micros(4_000_000_000_000_000);
const SPEAKERS: [&str; 3] = ["Alice", "Bob", "Carol"];
/// How many people there are.
const PEOPLE: u64 = 5;

/// Changes a memory at random, and prints what was acknowledged.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) memory: Memory,
    pub(super) dice: Dice,
    life: u64,
    steps: u64,
}

impl Writer {
    pub(super) fn new(memory: Memory, life: u64) -> Self {
        Self {
            memory,
            dice: Dice::new(life),
            life,
            steps: 0,
        }
    }

    /// A reason that no other step has. It says how many changes are made for it.
    fn reason(&mut self, size: usize) -> String {
        self.steps += 1;
        format!("life {} step {} of {size}", self.life, self.steps)
    }

    fn note(&self, mark: &str) -> Note {
        let note = Note::new(self.dice.text(mark))
            .said_by(*self.dice.one_of(&SPEAKERS))
            .in_thread("tea house")
            .kind(*self.dice.one_of(&RecordKind::ALL));
        match self.dice.below(4) {
            0 => note.in_collection(*self.dice.one_of(&Collection::ALL)),
            _ => note,
        }
    }

    pub(super) async fn step(&mut self) {
        match self.dice.below(20) {
            0..=4 => self.add().await,
            5..=7 => self.add_some().await,
            8..=13 => self.change_one().await,
            14..=15 => self.know().await,
            16..=17 => self.take_log().await,
            18 => self.embed().await,
            _ => self.save().await,
        }
    }

    pub(super) async fn add(&mut self) {
        let reason = self.reason(1);
        let note = self.note(&format!("n{}x{}", self.life, self.steps));
        let text = note.text().to_owned();
        let added = self.memory.add(note, &reason).await.unwrap();
        say(&json!({ "did": reason, "records": [[added.id(), text]] }));
    }

    async fn add_some(&mut self) {
        let size = 2 + self.dice.below(5);
        let reason = self.reason(size as usize);
        let marks = (0..size).map(|n| format!("n{}x{}x{n}", self.life, self.steps));
        let notes: Vec<Note> = marks.map(|mark| self.note(&mark)).collect();
        let texts: Vec<String> = notes.iter().map(|note| note.text().to_owned()).collect();
        let added = self.memory.add_all(notes, &reason).await.unwrap();
        let ids = added.into_iter().map(Added::id);
        let records: Vec<_> = ids.zip(texts).map(|(id, text)| json!([id, text])).collect();
        say(&json!({ "did": reason, "records": records }));
    }

    async fn change_one(&mut self) {
        let stats = self.memory.stats().await.unwrap();
        if stats.records < 2 {
            return;
        }
        let one = RecordId::event(Seq(1 + self.dice.below(stats.records)));
        let other = RecordId::event(Seq(1 + self.dice.below(stats.records)));
        let change = 1 + self.dice.below(stats.changes);
        let weight = self.dice.below(5) as f32 / 4.0;
        let reason = self.reason(1);
        let memory = &self.memory;
        let done = match self.dice.below(8) {
            0 => memory.supersede(one, Some(other), LATER, &reason).await,
            1 => memory.fold(vec![one], other, &reason).await,
            2 => memory.withdraw(one, &reason).await,
            3 => memory.erase(one, &reason).await,
            4 => {
                memory
                    .link(one, other, LinkKind::Related, weight, &reason)
                    .await
            }
            5 => {
                memory
                    .ignore(self.note("ignored"), Some(one), &reason)
                    .await
            }
            _ => memory.revert(change, &reason).await,
        };
        answer(&reason, done);
    }

    /// Comes to know something of a person.
    async fn know(&mut self) {
        let entity = person(self.dice.below(PEOPLE));
        let other = person(self.dice.below(PEOPLE));
        let text = self.dice.text("noticed");
        let change = match self.dice.below(11) {
            0..=2 => Known::Created {
                name: Name::try_new(entity.to_string()).unwrap(),
                entity,
                entity_type: EntityType::Player,
            },
            3 => Known::Interacted {
                entity,
                trust: Trust::FULL,
            },
            4 => observed(entity, &text),
            5 => Known::ConversationStarted {
                entity,
                topic: None,
                stale_after: StaleAfter::default(),
            },
            6 => Known::MessageAdded {
                entity,
                role: SpeakerRole::User,
                content: Passage::try_new(text).unwrap(),
            },
            7 => Known::ActionAdded {
                entity,
                description: ActionText::try_new(text).unwrap(),
                priority: 1,
                due_at: None,
                trust: None,
                audience: None,
                sources: dormouse_contracts::Sources::default(),
                when: Vec::new(),
                until: None,
            },
            8 => Known::Merged {
                from: entity,
                into: other,
            },
            9 => Known::Unmerged { entity },
            _ => Known::Deleted { entity },
        };
        self.change_entity(change).await;
    }

    pub(super) async fn change_entity(&mut self, change: Known) {
        let reason = self.reason(1);
        let done = self.memory.change_entity(change, &reason).await;
        answer(&reason, done);
    }

    /// Takes in the next part of a log. Each third event is about a person, all are notes.
    async fn take_log(&mut self) {
        let after = self.memory.log_position().await.unwrap().seq;
        let through = after + 1 + self.dice.below(LOG_PART);
        let mut items = Vec::new();
        for event in after + 1..=through {
            let note = self.note(&format!("event{event}"));
            // Parts of events, which no record is that was added without a log.
            let id = RecordId::event(Seq(event)).part(1).unwrap();
            let of_event = |step| Intake {
                event: Seq(event),
                at: LATER,
                author: None,
                reason: super::ledger::FROM_THE_LOG.to_owned(),
                step,
            };
            items.push(of_event(IntakeStep::Note(id, Box::new(note))));
            if event % 3 == 0 {
                // The name of a person who is made known anew with each event is never refused.
                let entity = EntityId::try_new(format!("guest:{event}")).unwrap();
                let known = Known::Created {
                    name: Name::try_new(format!("Guest {event}")).unwrap(),
                    entity,
                    entity_type: EntityType::Npc,
                };
                items.push(of_event(IntakeStep::Entity(Box::new(known))));
            }
        }
        let position = LogPosition {
            seq: through,
            hash: u128::from(through),
        };
        let taken = self.memory.take_log(after, position, items).await.unwrap();
        assert_eq!(
            taken,
            Taken::Through {
                through: position,
                refused: 0
            }
        );
        say(&json!({ "log": through }));
    }

    async fn embed(&mut self) {
        let through = self.memory.stats().await.unwrap().changes;
        let progress = self.memory.index_pending(usize::MAX).await.unwrap();
        assert_eq!(progress.interrupted_by, None);
        say(&json!({ "embedded": through }));
    }

    pub(super) async fn save(&mut self) {
        self.memory.checkpoint().await.unwrap();
        say(&json!({ "saved": true }));
    }
}

fn person(number: u64) -> EntityId {
    EntityId::try_new(format!("person:{number}")).unwrap()
}

pub(super) fn observed(entity: EntityId, text: &str) -> Known {
    Known::Observed {
        entity,
        observation: NewObservation {
            content: TextLine::try_new(text).unwrap(),
            source: TextLine::try_new("direct").unwrap(),
            trust: Trust::FULL,
            origin: None,
            audience: None,
            sources: dormouse_contracts::Sources::default(),
        },
    }
}

/// Prints the result of a change: made, or refused because it does not fit.
fn answer(reason: &str, done: Result<u64, MemoryError>) {
    match done {
        Ok(_) => say(&json!({ "did": reason })),
        Err(MemoryError::Change(refusal)) => refused(&refusal),
        Err(error) => panic!("{error:?}"),
    }
}

fn refused(refusal: &ChangeError) {
    say(&json!({ "refused": refusal.to_string() }));
}
