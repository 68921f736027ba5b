//! Merging two running conversations, and reverting that.

use super::apart::{back, back_list};
use crate::conversation::{Conversation, ConversationMessage, PendingAction};

/// The merged conversation. It keeps the pending actions of both, even above the limit.
pub(super) fn combine(
    from: Option<&Conversation>,
    into: Option<&Conversation>,
    next: u64,
) -> Option<Conversation> {
    let (from, into) = match (from, into) {
        (None, into) => return into.cloned(),
        (Some(from), None) => {
            return Some(Conversation {
                number: next,
                ..from.clone()
            });
        }
        (Some(from), Some(into)) => (from, into),
    };
    let mut both = into.clone();
    let (newer, older) = if from.last_message_at > into.last_message_at {
        (from, into)
    } else {
        (into, from)
    };
    both.topic = newer.topic.clone().or_else(|| older.topic.clone());
    both.started_at = into.started_at.min(from.started_at);
    both.last_message_at = newer.last_message_at;
    let shift = into.last_number;
    both.messages.extend(from.messages.iter().map(|message| {
        let number = message.number.saturating_add(shift);
        ConversationMessage {
            number,
            ..message.clone()
        }
    }));
    both.messages.sort_by_key(|message| message.timestamp);
    both.message_count = into.message_count.saturating_add(from.message_count);
    let actions = from.pending_actions.iter().map(|action| PendingAction {
        id: action.id.saturating_add(shift),
        ..action.clone()
    });
    both.pending_actions.extend(actions);
    both.last_number = shift.saturating_add(from.last_number);
    both.drop_surplus();
    Some(both)
}

/// The conversations of the merged and the remaining entity. If the conversation has ended since the merge, both stay
/// ended. Completed actions stay completed.
pub(super) fn separate(
    kept: Option<&Conversation>,
    before: Option<&Conversation>,
    after: Option<&Conversation>,
    now: Option<&Conversation>,
) -> (Option<Conversation>, Option<Conversation>) {
    let (Some(after), Some(now)) = (after, now.filter(|now| is_still(after, now))) else {
        return (None, now.cloned());
    };
    let shift = before.map_or(0, |before| before.last_number);
    let mut from = kept.cloned();
    if let Some(from) = &mut from {
        from.pending_actions
            .retain(|action| has_action(now, action.id.saturating_add(shift)));
    }
    let own = match before {
        _ if now == after => before.cloned(),
        Some(before) => Some(continued(before, after, now)),
        None => begun_since(after, now),
    };
    (from, own)
}

/// The running conversation without the effect of one change on its topic and pending actions. A conversation that has ended
/// since stays ended.
pub(super) fn without(
    before: Option<&Conversation>,
    after: Option<&Conversation>,
    now: Option<&Conversation>,
) -> Option<Conversation> {
    let (Some(before), Some(after), Some(now)) = (before, after, now) else {
        return now.cloned();
    };
    if before.number != now.number {
        return Some(now.clone());
    }
    let same = |a: &PendingAction, b: &PendingAction| a.id == b.id;
    let (then, since) = (&before.pending_actions, &after.pending_actions);
    Some(Conversation {
        topic: back(&before.topic, &after.topic, &now.topic),
        pending_actions: back_list(then, since, &now.pending_actions, same),
        ..now.clone()
    })
}

fn is_still(then: Option<&Conversation>, now: &Conversation) -> bool {
    then.is_some_and(|then| then.number == now.number)
}

fn has_action(conversation: &Conversation, id: u64) -> bool {
    let mut actions = conversation.pending_actions.iter();
    actions.any(|action| action.id == id)
}

/// The remaining entity's conversation without the other's part.
fn continued(before: &Conversation, after: &Conversation, now: &Conversation) -> Conversation {
    let since = now.message_count.saturating_sub(after.message_count);
    let mut own = Conversation {
        number: now.number,
        topic: back(&before.topic, &after.topic, &now.topic),
        started_at: before.started_at,
        last_message_at: if since == 0 {
            before.last_message_at
        } else {
            now.last_message_at
        },
        messages: back_list(&before.messages, &after.messages, &now.messages, |a, b| {
            a.number == b.number
        }),
        message_count: before.message_count.saturating_add(since),
        pending_actions: back_list(
            &before.pending_actions,
            &after.pending_actions,
            &now.pending_actions,
            |a, b| a.id == b.id,
        ),
        last_number: now.last_number,
    };
    own.drop_surplus();
    own
}

/// The part since the merge, if the remaining entity had no conversation before.
fn begun_since(after: &Conversation, now: &Conversation) -> Option<Conversation> {
    let mut own = continued(
        &Conversation::new(now.number, None, now.last_message_at),
        after,
        now,
    );
    if own.messages.is_empty() && own.pending_actions.is_empty() && now.topic == after.topic {
        return None;
    }
    let first = own.messages.first().map(|message| message.timestamp);
    own.started_at = first.unwrap_or(own.started_at);
    Some(own)
}
