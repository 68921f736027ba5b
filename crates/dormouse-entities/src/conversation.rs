//! Running conversations: topic, messages and pending actions.

use std::{collections::VecDeque, time::Duration};

use dormouse_contracts::{Audience, Awaited, FORGOTTEN, Sources, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::line::{Passage, TextLine};

/// The topic of a conversation.
pub type Topic = TextLine<120>;
/// The text of a pending action.
pub type ActionText = TextLine<200>;

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpeakerRole {
    /// The entity.
    User,
    /// The assistant.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// The number of the message, unique in its conversation, ascending.
    pub number: u64,
    /// The speaker.
    pub role: SpeakerRole,
    /// The words.
    pub content: Passage,
    /// The time of the message.
    pub timestamp: Timestamp,
}

/// Something that the assistant intends to do for an entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingAction {
    /// The id, unique in the conversation; used to complete the action.
    pub id: u64,
    /// The action.
    pub description: ActionText,
    /// The priority, higher is sooner; 1 by default.
    pub priority: u8,
    /// When it was decided.
    pub created_at: Timestamp,
    /// The moment when it is due, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// It waits for `due_at` or for any of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Awaited>,
    /// When it becomes too late, if it ever does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The trust of what it was made from. An unknown source has low trust, because anybody may have caused it.
    #[serde(default = "unknown_source")]
    pub trust: Trust,
    /// Who perceived what it was made from, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// What it was made from; empty if that is not known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

/// The trust of an action of unknown source: that of a text without an author.
pub(crate) const UNKNOWN_SOURCE: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

fn unknown_source() -> Trust {
    UNKNOWN_SOURCE
}

/// The time of silence after which a conversation counts as over: 24 hours by default.
///
/// A conversation that was silent for exactly this time is still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StaleAfter {
    seconds: u64,
}

impl Default for StaleAfter {
    fn default() -> Self {
        Self { seconds: 86_400 }
    }
}

impl StaleAfter {
    /// A time of silence, in whole seconds.
    #[must_use]
    pub fn new(span: Duration) -> Self {
        Self {
            seconds: span.as_secs(),
        }
    }

    /// The time of silence.
    #[must_use]
    pub fn span(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// The running conversation with one entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// The number of the conversation with this entity, from 1.
    pub number: u64,
    /// The topic, if it is known.
    pub topic: Option<Topic>,
    /// When it began.
    pub started_at: Timestamp,
    /// The time of the last message, or of the start without messages.
    pub last_message_at: Timestamp,
    /// The latest messages, in order; at most [`Conversation::MOST_MESSAGES`].
    pub messages: Vec<ConversationMessage>,
    /// The number of all messages, including those no longer kept.
    pub message_count: u64,
    /// The pending actions, oldest first; at most [`Conversation::MOST_ACTIONS`].
    pub pending_actions: Vec<PendingAction>,
    /// The number of the last message or action.
    #[serde(default)]
    pub(crate) last_number: u64,
}

impl PendingAction {
    /// Whether it waits for a moment, or for something that may happen.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.due_at.is_some() || !self.when.is_empty()
    }

    /// The condition that it waits for, as text for people and models: "at 2026-11-23T18:00:00Z or when player:bob
    /// arrives"; empty if it waits for nothing.
    #[must_use]
    pub fn condition(&self) -> String {
        Awaited::condition(self.due_at, &self.when, self.until)
    }
}

impl Conversation {
    /// How many messages are kept. A new one replaces the oldest.
    pub const MOST_MESSAGES: usize = 50;
    /// The maximum number of pending actions. Further ones are refused.
    pub const MOST_ACTIONS: usize = 20;

    pub(crate) fn new(number: u64, topic: Option<Topic>, at: Timestamp) -> Self {
        Self {
            number,
            topic,
            started_at: at,
            last_message_at: at,
            messages: Vec::new(),
            message_count: 0,
            pending_actions: Vec::new(),
            last_number: 0,
        }
    }

    /// Whether the conversation has been silent for longer than this. The moment of a pending action counts like a message: a
    /// promise for tomorrow keeps the conversation running. A conversation with an action that waits for something else never
    /// becomes stale.
    #[must_use]
    pub fn is_stale(&self, now: Timestamp, after: StaleAfter) -> bool {
        let mut actions = self.pending_actions.iter();
        if actions.any(|it| !it.when.is_empty() && it.until.is_none()) {
            return false;
        }
        let moments = self.pending_actions.iter();
        let moments = moments.flat_map(|it| it.due_at.into_iter().chain(it.until));
        let last = moments.fold(self.last_message_at, Timestamp::max);
        now.since(last) > after.span()
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number = self.last_number.saturating_add(1);
        self.last_number
    }

    /// Adds a message. A forgotten one is counted, but not stored.
    pub(crate) fn say(&mut self, role: SpeakerRole, content: Passage, at: Timestamp) {
        let number = self.next_number();
        if content.as_str() != FORGOTTEN {
            self.messages.push(ConversationMessage {
                number,
                role,
                content,
                timestamp: at,
            });
        }
        self.message_count = self.message_count.saturating_add(1);
        self.last_message_at = self.last_message_at.max(at);
        self.drop_surplus();
    }

    pub(crate) fn drop_surplus(&mut self) {
        let surplus = self.messages.len().saturating_sub(Self::MOST_MESSAGES);
        self.messages.drain(..surplus);
    }
}

/// The archived conversations with an entity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    /// The number of all ended conversations, including those no longer kept.
    pub ended: u64,
    /// The latest ones, oldest first; at most [`Archive::MOST`].
    pub conversations: VecDeque<ArchivedConversation>,
}

/// A conversation that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchivedConversation {
    /// The conversation at its end. Its pending actions were not completed.
    pub conversation: Conversation,
    /// The time of the end.
    pub ended_at: Timestamp,
}

impl Archive {
    /// How many conversations are kept. A new one replaces the oldest.
    pub const MOST: usize = 20;

    pub(crate) fn put(&mut self, conversation: Conversation, at: Timestamp) {
        self.ended = self.ended.max(conversation.number);
        self.conversations.push_back(ArchivedConversation {
            conversation,
            ended_at: at,
        });
        while self.conversations.len() > Self::MOST {
            self.conversations.pop_front();
        }
    }
}
