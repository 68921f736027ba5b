//! Changes to running conversations.

use dormouse_contracts::{EntityId, FORGOTTEN, Timestamp};

use super::{Entities, plan::ChangePlan};
use crate::{
    change::{EntityChange, EntityChangeError},
    conversation::{Archive, Conversation, PendingAction, StaleAfter, Topic, UNKNOWN_SOURCE},
};

impl Entities {
    pub(super) fn start(
        &self,
        entity: &EntityId,
        topic: Option<&Topic>,
        stale_after: StaleAfter,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let id = &self.known(entity)?.entity_id;
        let mut plan = ChangePlan::default();
        let running = self.conversations.get(id).cloned();
        let conversation = match running {
            Some(running) if !running.is_stale(at, stale_after) => Conversation {
                topic: topic.cloned().or(running.topic),
                ..running
            },
            over => {
                let mut archive = self.archives.get(id).cloned().unwrap_or_default();
                if let Some(over) = over {
                    archive.put(over, at);
                    plan.archives.insert(id.clone(), Some(archive.clone()));
                }
                Conversation::new(archive.ended.saturating_add(1), topic.cloned(), at)
            }
        };
        plan.conversations.insert(id.clone(), Some(conversation));
        Ok(plan)
    }

    pub(super) fn end(
        &self,
        entity: &EntityId,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let (id, conversation) = self.running(entity)?;
        let mut plan = ChangePlan::default();
        self.put_away(&mut plan, id, conversation, at);
        Ok(plan)
    }

    pub(super) fn clear_stale(&self, stale_after: StaleAfter, at: Timestamp) -> ChangePlan {
        let mut plan = ChangePlan::default();
        for (id, conversation) in &self.conversations {
            if conversation.is_stale(at, stale_after) {
                self.put_away(&mut plan, id, conversation, at);
            }
        }
        plan
    }

    fn put_away(
        &self,
        plan: &mut ChangePlan,
        id: &EntityId,
        conversation: &Conversation,
        at: Timestamp,
    ) {
        let mut archive: Archive = self.archives.get(id).cloned().unwrap_or_default();
        archive.put(conversation.clone(), at);
        plan.archives.insert(id.clone(), Some(archive));
        plan.conversations.insert(id.clone(), None);
    }

    /// Applies a change to a running conversation. Callers pass only changes of the kinds in [`conversed`]; any other has no
    /// effect.
    pub(super) fn converse(
        &self,
        change: &EntityChange,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let Some(entity) = conversed(change) else {
            return Ok(ChangePlan::default());
        };
        let (id, before) = self.running(entity)?;
        let mut conversation = before.clone();
        alter(&mut conversation, id, change, at)?;
        Ok(ChangePlan::of_conversation(id, conversation))
    }

    fn running(&self, entity: &EntityId) -> Result<(&EntityId, &Conversation), EntityChangeError> {
        let id = &self.known(entity)?.entity_id;
        let conversation = self.conversations.get(id);
        let conversation =
            conversation.ok_or_else(|| EntityChangeError::NoConversation { entity: id.clone() })?;
        Ok((id, conversation))
    }
}

/// The entity of a conversation change; `None` for other changes.
fn conversed(change: &EntityChange) -> Option<&EntityId> {
    match change {
        EntityChange::TopicChanged { entity, .. }
        | EntityChange::MessageAdded { entity, .. }
        | EntityChange::ActionAdded { entity, .. }
        | EntityChange::ActionCompleted { entity, .. }
        | EntityChange::ActionEnded { entity, .. } => Some(entity),
        _ => None,
    }
}

fn alter(
    conversation: &mut Conversation,
    id: &EntityId,
    change: &EntityChange,
    at: Timestamp,
) -> Result<(), EntityChangeError> {
    match change {
        EntityChange::TopicChanged { topic, .. } => {
            conversation.topic = Some(topic.clone()).filter(|topic| topic.as_str() != FORGOTTEN);
        }
        EntityChange::MessageAdded { role, content, .. } => {
            conversation.say(*role, content.clone(), at)
        }
        EntityChange::ActionAdded {
            description,
            priority,
            due_at,
            when,
            until,
            trust,
            audience,
            sources,
            ..
        } => {
            if conversation.pending_actions.len() >= Conversation::MOST_ACTIONS {
                return Err(EntityChangeError::TooManyActions { entity: id.clone() });
            }
            let number = conversation.next_number();
            if description.as_str() == FORGOTTEN {
                return Ok(());
            }
            conversation.pending_actions.push(PendingAction {
                id: number,
                description: description.clone(),
                priority: *priority,
                created_at: at,
                due_at: *due_at,
                when: when.clone(),
                until: *until,
                trust: trust.unwrap_or(UNKNOWN_SOURCE),
                audience: audience.clone(),
                sources: sources.clone(),
            });
        }
        EntityChange::ActionCompleted { action, .. } => {
            let before = conversation.pending_actions.len();
            conversation.pending_actions.retain(|a| a.id != *action);
            if conversation.pending_actions.len() == before {
                return Err(EntityChangeError::UnknownAction {
                    entity: id.clone(),
                    action: *action,
                });
            }
        }
        EntityChange::ActionEnded { noted_at, .. } => {
            let actions = &mut conversation.pending_actions;
            let is_it = |it: &PendingAction| it.waits() && it.created_at == *noted_at;
            if let Some(place) = actions.iter().position(is_it) {
                actions.remove(place);
            }
        }
        _ => {}
    }
    Ok(())
}
