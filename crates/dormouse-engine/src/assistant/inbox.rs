//! Accepting messages: classified, written, and only then acknowledged.

use std::{collections::BTreeMap, time::Duration};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Delivery, EntityId, Perception, Timestamp, WorldId};
use dormouse_text::escape_id;
use tokio::{sync::oneshot, time::Instant};

use super::{Assistant, RunError, Saved, answer};
use crate::{
    decide::{self, Admitted},
    event::{Event, LinesDropped, Perceived},
    handle::{Accepted, Command, PerceiveError},
    state::{CrossTalk, People, SenderLoads},
    status::Activity,
};

/// How many messages are written at once.
const BATCH: usize = 64;
/// How often lines that were dropped are noted. A crash loses at most the count of this time.
const NOTED_EVERY: Duration = Duration::from_secs(10);
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
    /// The people known before the next message, if they differ from those in the state.
    people: Option<People>,
    /// What other assistants said before the next message.
    cross_talk: CrossTalk,
    /// What senders asked before the next message, if that differs from the state.
    admission: Option<SenderLoads>,
    /// How many messages of the batch wait for an answer, in all and by person.
    triggers: usize,
    waiting: BTreeMap<String, usize>,
    /// Lines that are only counted, by sender.
    dropped: BTreeMap<Option<EntityId>, u64>,
}

/// A message, the reply to its sender, and whether that reply holds only once the batch is on disk.
struct Sorted {
    delivery: Delivery,
    reply: Reply,
    result: Result<Accepted, PerceiveError>,
    needs_disk: bool,
}

impl Assistant {
    /// Accepts a message, together with those that wait behind it, in one write. Returns the first command behind them
    /// that is not a message, if there is one.
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
        self.note_waking();
        // The messages of a batch are judged by each other, so they have one time.
        let now = self.ports.clock.now();
        let mut batch = Batch {
            cross_talk: self.state.cross_talk,
            ..Batch::default()
        };
        for (perception, reply) in asked {
            let perception = self.config.secrets_in_log.perception(perception);
            let delivery = perception.attested.delivery.clone();
            let (result, needs_disk) = self.sort(now, perception, &mut batch);
            batch.answers.push(Sorted {
                delivery,
                reply,
                result,
                needs_disk,
            });
        }
        let saved = match std::mem::take(&mut batch.events) {
            events if events.is_empty() && !self.progress.unwritten.is_in_doubt() => Saved::Yes,
            _ if self.progress.unwritten.is_stuck() => Saved::No,
            events => self.commit_at(now, events).await?,
        };
        // A caller who learns that a message was accepted must not see the assistant at rest before it was handled.
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
        self.count_dropped(now, batch.dropped);
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

    /// Notes a delivery as received. If it was refused, remembers it as the first refused one of its world, until it is
    /// accepted. If a later delivery were accepted first, the refused one would look like a duplicate.
    fn note_refusal(&mut self, delivery: Delivery, result: &Result<Accepted, PerceiveError>) {
        let Delivery { world, number } = delivery;
        match result {
            Ok(_) => {
                if self.progress.refused.get(&world) == Some(&number) {
                    self.progress.refused.remove(&world);
                }
                // An ignored message may follow one that could not be written.
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
        now: Timestamp,
        perception: Perception,
        batch: &mut Batch,
    ) -> (Result<Accepted, PerceiveError>, bool) {
        let delivery = perception.attested.delivery.clone();
        if self.state.delivered.contains(&perception) {
            // The message may be among those of which the log did not say whether it has them.
            let needs_disk = self.progress.unwritten.is_in_doubt();
            return (Ok(Accepted::Duplicate), needs_disk);
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
        let view = self.view(now);
        let classification = decide::classification(view, &perception, batch.cross_talk);
        let before = decide::Before {
            admission: batch.admission.as_ref().unwrap_or(&self.state.admission),
            waiting: Some(&batch.waiting),
        };
        let attested = &perception.attested;
        let admitted = decide::admit(view, attested, classification, before);
        let Admitted::Kept {
            classification,
            refused,
        } = admitted
        else {
            let sender = attested.sender.id().cloned();
            *batch.dropped.entry(sender).or_default() += 1;
            return (Ok(Accepted::Dropped { classification }), false);
        };
        let waiting =
            self.state.turns.waiting().len() + self.state.turns.aside().len() + batch.triggers;
        match classification.verdict {
            MessageVerdict::Ignore => return (Ok(Accepted::Ignored { classification }), false),
            MessageVerdict::Trigger if waiting >= INBOX_LIMIT => {
                let refused = Err(PerceiveError::Full { waiting });
                self.note_refusal(delivery, &refused);
                return (refused, false);
            }
            MessageVerdict::Trigger => {
                batch.triggers += 1;
                let person = self.state.identities.person(&attested.sender);
                *batch.waiting.entry(person.to_owned()).or_default() += 1;
            }
            MessageVerdict::Context | MessageVerdict::Capture => {}
        }
        batch.heard.insert(delivery.world, delivery.number);
        let seq = self.state.seq.plus(batch.events.len() as u64).next();
        // The message is judged as if the earlier messages of its batch were already in the state.
        if batch.people.is_none() && !batch.events.is_empty() {
            let mut people = self.state.people.clone();
            batch
                .events
                .iter()
                .for_each(|event| people.apply(now, event));
            batch.people = Some(people);
        }
        let people = batch.people.as_ref().unwrap_or(&self.state.people);
        let perceived = decide::perceived(view, seq, perception, (classification, refused), people);
        warn_of_doubts(&perceived, people);
        let trust = perceived.trust;
        let settings = &self.state.configuration.settings.admission;
        let admission = &mut batch.admission;
        let admission = admission.get_or_insert_with(|| self.state.admission.clone());
        admission.hear(now, &perceived, settings, &self.state.identities);
        let event = Event::Perceived(perceived);
        if let Some(people) = &mut batch.people {
            people.apply(now, &event);
        }
        batch.cross_talk.apply(&event);
        batch.events.push(event);
        (
            Ok(Accepted::Logged {
                seq,
                classification,
                trust,
            }),
            true,
        )
    }
}

/// Lines that were dropped and are not in the log yet. A flood gets one event every few seconds: an event for each line would
/// fill the log as fast as the lines do.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    lines: BTreeMap<Option<EntityId>, u64>,
    /// When they are noted.
    due: Option<Instant>,
}

impl Dropped {
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// How many they are.
    pub(super) fn lines(&self) -> u64 {
        self.lines.values().sum()
    }
}

impl Assistant {
    /// Counts lines that were dropped. The first are noted in the log at once.
    fn count_dropped(&mut self, now: Timestamp, dropped: BTreeMap<Option<EntityId>, u64>) {
        let waiting = &mut self.progress.dropped;
        for (sender, lines) in dropped {
            let all = waiting.lines.entry(sender).or_default();
            *all = all.saturating_add(lines);
        }
        if waiting.due.is_none() {
            self.note_dropped(now);
        }
    }

    /// Notes the lines that were dropped, and waits before the next ones are noted.
    pub(super) fn note_dropped(&mut self, now: Timestamp) {
        let dropped = std::mem::take(&mut self.progress.dropped.lines);
        let is_over = dropped.is_empty();
        self.progress.dropped.due = (!is_over).then(|| Instant::now() + NOTED_EVERY);
        let events = dropped.into_iter();
        let events =
            events.map(|(entity, lines)| Event::LinesDropped(LinesDropped { entity, lines }));
        self.note(now, events.collect());
    }
}

/// Warns the operator, once, of a name that imitates another one.
fn warn_of_doubts(perceived: &Perceived, people: &People) {
    let attested = &perceived.perception.attested;
    if let (false, Some(id)) = (people.knows(attested), attested.sender.id()) {
        for doubt in &perceived.doubts {
            tracing::warn!(sender = escape_id(id.as_str()), %doubt, "a name is not what it seems");
        }
    }
}
