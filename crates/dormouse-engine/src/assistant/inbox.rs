//! Accepting messages: classified, written, and only then acknowledged.

use std::collections::BTreeMap;

use dormouse_classify::{
    Classification, MessageVerdict, Rule, classify, find_mention, source_trust,
};
use dormouse_contracts::{Attested, Delivery, Perception, WorldId};
use dormouse_text::{escape_id, is_blank};
use tokio::sync::oneshot;

use super::{Assistant, RunError, Saved, answer};
use crate::{
    event::{Event, NameDoubt, Perceived},
    handle::{Accepted, Command, PerceiveError},
    render,
    state::People,
    status::Activity,
};

/// How many messages are written at once.
const BATCH: usize = 64;
/// How many messages may wait for an answer.
const INBOX_LIMIT: usize = 1_000;

type Reply = oneshot::Sender<Result<Accepted, PerceiveError>>;
type Asked = (Perception, Reply);

/// A batch of messages while it is sorted.
#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    answers: Vec<Sorted>,
    heard: BTreeMap<WorldId, u64>,
    /// The people whom the batch has met.
    people: People,
    triggers: usize,
}

/// A message, the reply to its sender, and whether that reply holds only once the batch is on disk.
struct Sorted {
    delivery: Delivery,
    reply: Reply,
    result: Result<Accepted, PerceiveError>,
    needs_disk: bool,
}

impl Assistant {
    /// Accepts messages, together with those that wait after them: one write for all. Returns the command that ended
    /// the row of messages, if there was one.
    pub(super) async fn hear(&mut self, first: Asked) -> Result<Option<Command>, RunError> {
        let mut asked = vec![first];
        let mut after = None;
        while asked.len() < BATCH && after.is_none() {
            match self.commands.try_recv() {
                Ok(Command::Perceive(perception, reply)) => asked.push((*perception, reply)),
                Ok(other) => after = Some(other),
                Err(_) => break,
            }
        }
        self.hear_all(asked).await?;
        Ok(after)
    }

    async fn hear_all(&mut self, asked: Vec<Asked>) -> Result<(), RunError> {
        let mut batch = Batch::default();
        for (perception, reply) in asked {
            let delivery = perception.attested.delivery.clone();
            let (result, needs_disk) = self.sort(perception, &mut batch);
            batch.answers.push(Sorted {
                delivery,
                reply,
                result,
                needs_disk,
            });
        }
        let saved = match std::mem::take(&mut batch.events) {
            events if events.is_empty() => Saved::Yes,
            events => self.commit(events).await?,
        };
        // A caller who learns that a message was accepted must not find the assistant at rest before it was dealt with.
        self.publish();
        for Sorted {
            delivery,
            reply,
            result,
            needs_disk,
        } in batch.answers
        {
            let result = if needs_disk && saved == Saved::No {
                Err(self.unwritable())
            } else {
                result
            };
            self.note_refusal(delivery, &result);
            answer(reply, result);
        }
        Ok(())
    }

    /// The error for callers whose message could not be written.
    fn unwritable(&self) -> PerceiveError {
        let cause = match &self.progress.activity {
            Activity::Stalled { cause } => cause.clone(),
            _ => "it was not reached".to_owned(),
        };
        PerceiveError::Storage { cause }
    }

    /// Notes that a delivery was taken in, or remembers the first one of each world that was refused, until it is
    /// accepted. If a later one were accepted first, the refused one would look like a duplicate.
    fn note_refusal(&mut self, delivery: Delivery, result: &Result<Accepted, PerceiveError>) {
        let Delivery { world, number } = delivery;
        match result {
            Ok(_) => {
                if self.progress.refused.get(&world) == Some(&number) {
                    self.progress.refused.remove(&world);
                }
                // A message that was ignored can be behind one that could not be written.
                if !self.progress.refused.contains_key(&world) {
                    self.progress.taken_in.note(world, number);
                }
            }
            Err(_) => {
                let first = self.progress.refused.entry(world).or_insert(number);
                *first = number.min(*first);
            }
        }
    }

    /// Decides the reply to a message, and whether that reply holds only once the batch is on disk.
    fn sort(
        &mut self,
        perception: Perception,
        batch: &mut Batch,
    ) -> (Result<Accepted, PerceiveError>, bool) {
        let delivery = perception.attested.delivery.clone();
        if self.state.delivered.contains(&perception) {
            return (Ok(Accepted::Duplicate), false);
        }
        if batch
            .heard
            .get(&delivery.world)
            .is_some_and(|last| delivery.number <= *last)
        {
            return (Ok(Accepted::Duplicate), true);
        }
        if let Some(refused) = self.progress.refused.get(&delivery.world).copied()
            && delivery.number > refused
        {
            return (Err(PerceiveError::Behind { refused }), false);
        }
        let classification = self.classification(&perception);
        let waiting =
            self.state.turns.waiting().len() + self.state.turns.aside().len() + batch.triggers;
        match classification.verdict {
            MessageVerdict::Ignore => return (Ok(Accepted::Ignored { classification }), false),
            MessageVerdict::Trigger if waiting >= INBOX_LIMIT => {
                let refused = Err(PerceiveError::Full { waiting });
                self.note_refusal(delivery, &refused);
                return (refused, false);
            }
            MessageVerdict::Trigger => batch.triggers += 1,
            MessageVerdict::Context | MessageVerdict::Capture => {}
        }
        batch.heard.insert(delivery.world, delivery.number);
        let seq = self.state.seq.plus(batch.events.len() as u64).next();
        let perceived = self.perceived(perception, classification, &batch.people);
        batch
            .people
            .meet(&perceived.perception.attested, &perceived.doubts);
        let trust = perceived.trust;
        batch.events.push(Event::Perceived(perceived));
        (
            Ok(Accepted::Logged {
                seq,
                classification,
                trust,
            }),
            true,
        )
    }

    fn perceived(
        &self,
        perception: Perception,
        classification: Classification,
        batch: &People,
    ) -> Perceived {
        let trust = source_trust(&perception.attested, &self.config.classify);
        let doubts = self.doubts(&perception.attested, batch);
        // Counts what a prompt will show, not what was said: a line break takes more tokens in a prompt.
        let shown = render::perception(&perception, trust, &doubts, usize::MAX);
        let tokens = self.ports.counter.count(&shown).tokens;
        Perceived {
            perception,
            classification,
            trust,
            tokens,
            doubts,
        }
    }

    /// What makes the name of a sender suspicious. The operator is warned once.
    fn doubts(&self, attested: &Attested, batch: &People) -> Vec<NameDoubt> {
        let people = &self.state.people;
        let own = [self.config.key.as_str(), render::YOU];
        let own = own.into_iter().chain(self.config.name.as_deref());
        let doubts = people.doubts(attested, batch, own);
        let is_new = !people.knows(attested) && !batch.knows(attested);
        if let (true, Some(id)) = (is_new, attested.sender.id()) {
            for doubt in &doubts {
                tracing::warn!(sender = escape_id(id.as_str()), %doubt, "a name is not what it seems");
            }
        }
        doubts
    }

    fn classification(&self, perception: &Perception) -> Classification {
        if is_blank(perception.words.as_claimed()) {
            return Classification {
                verdict: MessageVerdict::Ignore,
                rule: Rule::Fallback,
            };
        }
        let mention = find_mention(&perception.words, &self.config.key);
        classify(&perception.attested, mention, &self.config.classify)
    }
}
