//! Summing up what was noticed of people, with a model.

use dormouse_contracts::{ChatModel, EntityId};
use dormouse_entities::{
    Consolidation, ConsolidationPolicy, consolidation_batch, read_consolidation,
};
use serde::{Deserialize, Serialize};

use super::{Attempts, Failure, ask};
use crate::memory::{Memory, MemoryError};

/// The most tokens of an answer about one entity.
const REPLY_TOKENS: u32 = 800;

/// What came of summing up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummedUp {
    /// The entities whose observations are in their attributes now.
    pub done: Vec<EntityId>,
    /// Those that failed and are tried again at the next call.
    pub left: Vec<EntityId>,
    /// Those that failed too often and are passed over, until the attempts are counted anew.
    pub gave_up: Vec<EntityId>,
    /// What failed last, if anything did.
    pub failure: Option<Failure>,
}

/// Sums up the observations of the entities with most of them: one request each, at most `policy.max_entities` (5).
///
/// Each is a change of its own, which marks the observations it took in; so dropping the future, or a crash, loses at most
/// one answer, and going on sums nothing up twice. A model that fails leaves the observations as they are and ends the
/// call; an answer that cannot be read leaves only that entity.
///
/// # Errors
///
/// [`MemoryError`] if the memory fails. What a model gets wrong is in the answer.
pub async fn consolidate_entities(
    memory: &Memory,
    model: &dyn ChatModel,
    policy: &ConsolidationPolicy,
    attempts: &mut Attempts,
) -> Result<SummedUp, MemoryError> {
    let mut summed_up = SummedUp::default();
    for consolidation in due(memory, policy, attempts, &mut summed_up) {
        let entity = consolidation.entity().clone();
        let answer = ask(model, consolidation.messages().to_vec(), REPLY_TOKENS).await;
        let read = answer.and_then(|answer| {
            read_consolidation(&answer).map_err(|_unreadable| Failure::Unreadable)
        });
        match read {
            Ok(read) => {
                let change = consolidation.change(read.update);
                memory
                    .change_entity(change, "observations summed up")
                    .await?;
                attempts.succeeded(&key(&entity));
                summed_up.done.push(entity);
            }
            Err(failure) => {
                attempts.failed(&key(&entity));
                summed_up.left.push(entity);
                summed_up.failure = Some(failure);
                if matches!(failure, Failure::Model(_)) {
                    break;
                }
            }
        }
    }
    Ok(summed_up)
}

fn due(
    memory: &Memory,
    policy: &ConsolidationPolicy,
    attempts: &Attempts,
    summed_up: &mut SummedUp,
) -> Vec<Consolidation> {
    let all = ConsolidationPolicy {
        max_entities: usize::MAX,
        ..*policy
    };
    memory.with_entities(|entities| {
        let mut due = Vec::new();
        for entity in consolidation_batch(entities, &all) {
            if attempts.gave_up(&key(entity)) {
                summed_up.gave_up.push(entity.clone());
            } else if due.len() < policy.max_entities {
                let profile = entities.profile(entity);
                due.extend(profile.and_then(|profile| Consolidation::of(profile, policy)));
            }
        }
        due
    })
}

fn key(entity: &EntityId) -> String {
    format!("entity:{entity}")
}
