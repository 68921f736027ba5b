//! Consolidating the observations about people, with a model.

use dormouse_contracts::{ChatModel, EntityId};
use dormouse_entities::{
    Consolidation, ConsolidationPolicy, consolidation_batch, read_consolidation,
};
use serde::{Deserialize, Serialize};

use super::{
    ask::{Failure, ask},
    attempts::Attempts,
};
use crate::memory::{Memory, MemoryError};

/// The highest number of tokens in a reply about one entity.
const REPLY_TOKENS: u32 = 800;

/// The result of consolidating entities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsolidatedEntities {
    /// The entities whose observations are now in their attributes.
    pub done: Vec<EntityId>,
    /// The entities that failed and are tried again at the next call.
    pub left: Vec<EntityId>,
    /// The entities that failed too often and are skipped until the attempts are counted anew.
    pub gave_up: Vec<EntityId>,
    /// The last failure, if there was one.
    pub failure: Option<Failure>,
}

/// Consolidates the observations of the entities that have most of them: one request each, for at most `policy.max_entities`
/// (5) entities.
///
/// Each result is a change of its own, which marks its observations as consolidated. So dropping the future, or a crash, loses
/// at most one reply, and a repeated call consolidates nothing twice. If the model fails, the observations stay as they are
/// and the call ends; if a reply cannot be read, only that entity is left.
///
/// # Errors
///
/// [`MemoryError`] if the memory fails. A failure of the model is part of the result.
pub async fn consolidate_entities(
    memory: &Memory,
    model: &dyn ChatModel,
    policy: &ConsolidationPolicy,
    attempts: &mut Attempts,
) -> Result<ConsolidatedEntities, MemoryError> {
    let mut consolidated = ConsolidatedEntities::default();
    for consolidation in due(memory, policy, attempts, &mut consolidated) {
        let entity = consolidation.entity().clone();
        let answer = ask(model, consolidation.messages().to_vec(), REPLY_TOKENS).await;
        let read = answer.and_then(|answer| {
            read_consolidation(&answer).map_err(|_unreadable| Failure::Unreadable)
        });
        match read {
            Ok(read) => {
                let change = consolidation.change(read.update);
                memory
                    .change_entity(change, "observations consolidated")
                    .await?;
                attempts.succeeded(&key(&entity));
                consolidated.done.push(entity);
            }
            Err(failure) => {
                attempts.failed(&key(&entity));
                consolidated.left.push(entity);
                consolidated.failure = Some(failure);
                if matches!(failure, Failure::Model(_)) {
                    break;
                }
            }
        }
    }
    Ok(consolidated)
}

fn due(
    memory: &Memory,
    policy: &ConsolidationPolicy,
    attempts: &Attempts,
    consolidated: &mut ConsolidatedEntities,
) -> Vec<Consolidation> {
    let all = ConsolidationPolicy {
        max_entities: usize::MAX,
        ..*policy
    };
    memory.with_entities(|entities| {
        let mut due = Vec::new();
        for entity in consolidation_batch(entities, &all) {
            if attempts.gave_up(&key(entity)) {
                consolidated.gave_up.push(entity.clone());
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
