//! What became of each act.

use dormouse_contracts::{
    AssistantId, BoxFuture, Effect, EffectInquiry, EffectKey, EntityId, Inquire, Outcome,
    Rejection, SourceKind, WorldError, WorldErrorKind,
};
use redb::ReadableTable;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    file::{ACTORS, BridgeFile, Changed, RECEIPTS},
    queue::deliver,
    report::Report,
    store_error::{StoreError, WriteError},
};

/// What is known of an act that is to be carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// Nothing. From now on it counts as begun.
    New,
    /// It was begun before, and no outcome was stored: it may have been carried out or not.
    Open,
    /// Its outcome. If the key belongs to another act, this is a rejection.
    Known(Outcome),
}

/// The stored form of a receipt.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    /// The digest of actor, tool and arguments.
    act: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
}

/// Records what became of each act, for a game that does not remember its acts. A receipt is written before the act is
/// carried out, and completed after it. Receipts are kept for ever, about 300 bytes each, without the words of the act.
#[derive(Clone, Debug)]
pub struct Receipts {
    file: BridgeFile,
}

impl Receipts {
    pub(crate) fn of(file: BridgeFile) -> Self {
        Self { file }
    }

    pub(crate) fn file(&self) -> &BridgeFile {
        &self.file
    }

    /// Records that an act begins. Carry it out only after this has returned [`Begun::New`], and store its outcome with
    /// [`finish`](Self::finish). The record is on disk when this returns. If the future is dropped, the act may or may
    /// not count as begun.
    ///
    /// # Errors
    ///
    /// [`WorldError`]; the act must not be carried out then.
    pub async fn begin(&self, effect: &Effect) -> Result<Begun, WorldError> {
        let (key, actor) = (effect.key.clone(), effect.actor.clone());
        let act = digest(effect).map_err(StoreError::from)?;
        let begun = self.file.write(move |writing| {
            let mut receipts = writing.open_table(RECEIPTS)?;
            if let Some(row) = find(&receipts, &key)? {
                return Ok(Changed::No(match row.outcome {
                    _ if row.act != act => Begun::Known(Outcome::Rejected(Rejection::new(
                        format!("the key {key} belongs to another act"),
                    ))),
                    Some(outcome) => Begun::Known(outcome),
                    None => Begun::Open,
                }));
            }
            let row = serde_json::to_string(&Row { act, outcome: None })?;
            receipts.insert(key.as_str(), row.as_str())?;
            writing.open_table(ACTORS)?.insert(actor.as_str(), ())?;
            Ok(Changed::Yes(Begun::New, Vec::new()))
        });
        Ok(begun.await?)
    }

    /// Stores the outcome of an act that was begun, and what observers perceive of the act. One write stores both, so
    /// neither is on disk without the other. An observer that never entered the world perceives nothing. Returns the
    /// outcome. If some of the reports are output of the act, the receipt in the outcome names the last of these
    /// reports. If the act has an outcome already, nothing is written and the first one is returned.
    ///
    /// # Errors
    ///
    /// [`WorldErrorKind::Unanswered`]: the outcome may not be stored.
    pub async fn finish(
        &self,
        key: &EffectKey,
        outcome: Outcome,
        reports: Vec<(EntityId, Report)>,
    ) -> Result<Outcome, WorldError> {
        let (key, world) = (key.clone(), self.file.world().clone());
        let written = self.file.write(move |writing| {
            let mut receipts = writing.open_table(RECEIPTS)?;
            let act = match find(&receipts, &key)? {
                Some(Row {
                    outcome: Some(first),
                    ..
                }) => return Ok(Changed::No(first)),
                Some(Row { act, .. }) => act,
                None => Vec::new(),
            };
            let (mut outcome, mut delivered_to) = (outcome, Vec::new());
            for (observer, report) in reports {
                let is_output = report.source == SourceKind::CommandOutput
                    && report.cause.as_ref() == Some(&key);
                let Some(delivery) = deliver(writing, &world, &observer, report)? else {
                    continue;
                };
                delivered_to.push(observer);
                if let Outcome::Done(receipt) = &mut outcome
                    && is_output
                {
                    receipt.last_output = Some(delivery);
                }
            }
            let row = Row {
                act,
                outcome: Some(outcome.clone()),
            };
            receipts.insert(key.as_str(), serde_json::to_string(&row)?.as_str())?;
            Ok(Changed::Yes(outcome, delivered_to))
        });
        // The act was carried out, even if the write failed.
        let unanswered =
            |error: WriteError| WorldError::new(WorldErrorKind::Unanswered, Some(Box::new(error)));
        written.await.map_err(unanswered)
    }

    /// Removes the record that an act was begun, because the act was certainly not carried out. An act with an outcome
    /// is not changed.
    ///
    /// # Errors
    ///
    /// [`WorldError`]; the act counts as begun then.
    pub async fn cancel(&self, key: &EffectKey) -> Result<(), WorldError> {
        let key = key.clone();
        let cancelled = self.file.write(move |writing| {
            let mut receipts = writing.open_table(RECEIPTS)?;
            if find(&receipts, &key)?.is_none_or(|row| row.outcome.is_some()) {
                return Ok(Changed::No(()));
            }
            receipts.remove(key.as_str())?;
            Ok(Changed::Yes((), Vec::new()))
        });
        Ok(cancelled.await?)
    }

    /// What is known of the act with this key, in the form that [`Inquire::inquire`] returns.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the file could not be read.
    pub async fn known(&self, key: &EffectKey) -> Result<EffectInquiry, WorldError> {
        let key = key.clone();
        let found = (self.file).read(move |reading| find(&reading.open_table(RECEIPTS)?, &key));
        Ok(match found.await? {
            Some(Row { outcome: None, .. }) => EffectInquiry::CannotTell,
            known => known.and_then(|row| row.outcome).into(),
        })
    }

    /// Whether this assistant ever asked for an act.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the file could not be read.
    pub async fn has_acted(&self, assistant: &AssistantId) -> Result<bool, WorldError> {
        let asked = assistant.clone();
        let found = self.file.read(move |reading| {
            let actors = reading.open_table(ACTORS)?;
            Ok(actors.get(asked.as_str())?.is_some())
        });
        Ok(found.await?)
    }
}

impl Inquire for Receipts {
    /// The receipts cannot tell what became of an act that was begun and has no outcome.
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(self.known(&effect.key))
    }
}

fn find(
    receipts: &impl ReadableTable<&'static str, &'static str>,
    key: &EffectKey,
) -> Result<Option<Row>, StoreError> {
    let row = receipts.get(key.as_str())?;
    let row = row.map(|row| serde_json::from_str(row.value()));
    Ok(row.transpose()?)
}

fn digest(effect: &Effect) -> Result<Vec<u8>, serde_json::Error> {
    let act = serde_json::to_vec(&(&effect.actor, &effect.tool, &effect.arguments))?;
    Ok(Sha256::digest(act).to_vec())
}
