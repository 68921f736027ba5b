//! Accepting messages: classified, written, and only then acknowledged.

use std::collections::BTreeMap;

use dormouse_classify::{Capture, Classification, Verdict, classify, find_mention, source_trust};
use dormouse_contracts::{Perception, Seq, WorldId};
use tokio::sync::oneshot;

use super::{Assistant, RunError, Saved, answer};
use crate::{
    event::{Event, Perceived},
    handle::{Accepted, Command, PerceiveError},
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
    answers: Vec<(Reply, Result<Accepted, PerceiveError>)>,
    heard: BTreeMap<WorldId, u64>,
    triggers: usize,
}

impl Assistant {
    /// Accepts messages, together with those that wait behind them: one write for all.
    pub(super) async fn hear(&mut self, mut asked: Vec<Asked>) -> Result<(), RunError> {
        let mut after = None;
        while asked.len() < BATCH && after.is_none() {
            match self.commands.try_recv() {
                Ok(Command::Perceive(perception, reply)) => asked.push((*perception, reply)),
                Ok(other) => after = Some(other),
                Err(_) => break,
            }
        }
        self.hear_all(asked).await?;
        match after {
            Some(command) => Box::pin(self.obey(command)).await,
            None => Ok(()),
        }
    }

    async fn hear_all(&mut self, asked: Vec<Asked>) -> Result<(), RunError> {
        // What came of a call to the outside is written first: its events name their place in the log.
        if self.flush().await? == Saved::No {
            for (_, reply) in asked {
                answer(reply, Err(PerceiveError::Storage));
            }
            return Ok(());
        }
        let mut batch = Batch::default();
        for (perception, reply) in asked {
            let result = self.sort(perception, &mut batch);
            batch.answers.push((reply, result));
        }
        let saved = self.commit(std::mem::take(&mut batch.events)).await?;
        // Whoever learns that a message was accepted must not find the assistant at rest before it was dealt with.
        self.publish();
        for (reply, result) in batch.answers {
            let written = matches!(result, Ok(Accepted::Logged { .. }));
            answer(
                reply,
                if written && saved == Saved::No {
                    Err(PerceiveError::Storage)
                } else {
                    result
                },
            );
        }
        Ok(())
    }

    fn sort(&self, perception: Perception, batch: &mut Batch) -> Result<Accepted, PerceiveError> {
        let delivery = &perception.attested.delivery;
        let in_batch = batch
            .heard
            .get(&delivery.world)
            .copied()
            .unwrap_or_default();
        if self.state.has_heard(&perception) || delivery.number <= in_batch {
            return Ok(Accepted::Duplicate);
        }
        let classification = self.classification(&perception);
        let waiting = self.state.inbox.len() + batch.triggers;
        match classification.verdict {
            Verdict::Ignore => return Ok(Accepted::Ignored { classification }),
            Verdict::Trigger if waiting >= INBOX_LIMIT => {
                return Err(PerceiveError::Full { waiting });
            }
            Verdict::Trigger => batch.triggers += 1,
            Verdict::Context | Verdict::Capture => {}
        }
        batch.heard.insert(delivery.world.clone(), delivery.number);
        let trust = source_trust(&perception.attested, &self.config.classify);
        let tokens = self
            .ports
            .counter
            .count(perception.words.as_claimed())
            .tokens;
        let place = self.state.seq.plus(batch.events.len() as u64).next();
        batch.events.push(Event::Perceived(Perceived {
            perception,
            classification,
            trust,
            tokens,
        }));
        Ok(Accepted::Logged {
            seq: Seq(place.0),
            classification,
            trust,
        })
    }

    fn classification(&self, perception: &Perception) -> Classification {
        let effect_open = self
            .state
            .turn
            .as_ref()
            .is_some_and(|turn| turn.open_effect().is_some());
        let capture = if effect_open {
            Capture::Active
        } else {
            Capture::Inactive
        };
        let mention = find_mention(&perception.words, &self.config.key);
        classify(
            &perception.attested,
            mention,
            capture,
            &self.config.classify,
        )
    }
}
