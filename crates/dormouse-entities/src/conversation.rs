//! Running conversations: what is being talked about, and what is still to be done.

use std::{collections::VecDeque, time::Duration};

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use crate::line::{Line, Passage};

/// What a conversation is about.
pub type Topic = Line<120>;
/// What is to be done for an entity.
pub type ActionText = Line<200>;

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The entity.
    User,
    /// The assistant.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// Tells it from the others in the same conversation; counts up.
    pub number: u64,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Passage,
    /// When.
    pub timestamp: Timestamp,
}

/// Something the assistant means to do for an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingAction {
    /// What it is completed by; unique within the conversation.
    pub id: u64,
    /// What is to be done.
    pub description: ActionText,
    /// The higher, the sooner; 1 where nothing was said.
    pub priority: u8,
    /// When it was decided.
    pub created_at: Timestamp,
}

/// How long nothing may be said before a conversation counts as over: 24 hours where nothing else is said.
///
/// One that was quiet for exactly this long is still running.
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
    /// A span of silence, in whole seconds.
    #[must_use]
    pub fn new(span: Duration) -> Self {
        Self {
            seconds: span.as_secs(),
        }
    }

    /// The span of silence.
    #[must_use]
    pub fn span(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// The running conversation with one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Which one with this entity, from 1.
    pub number: u64,
    /// What it is about, if that was said.
    pub topic: Option<Topic>,
    /// When it began.
    pub started_at: Timestamp,
    /// When something was last said; its beginning where nothing was.
    pub last_message_at: Timestamp,
    /// The latest messages, in order; at most [`Conversation::MOST_MESSAGES`].
    pub messages: Vec<ConversationMessage>,
    /// How many messages there were altogether, those no longer kept included.
    pub message_count: u64,
    /// What is still to be done, in the order it was decided; at most [`Conversation::MOST_ACTIONS`].
    pub pending_actions: Vec<PendingAction>,
    /// The number of the last message or action.
    #[serde(default)]
    pub(crate) last_number: u64,
}

impl Conversation {
    /// The most messages that are kept. The oldest one gives way.
    pub const MOST_MESSAGES: usize = 50;
    /// The most pending actions. Further ones are refused.
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

    /// Has nothing been said for longer than this?
    #[must_use]
    pub fn is_stale(&self, now: Timestamp, after: StaleAfter) -> bool {
        now.since(self.last_message_at) > after.span()
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number = self.last_number.saturating_add(1);
        self.last_number
    }

    pub(crate) fn say(&mut self, role: Role, content: Passage, at: Timestamp) {
        let number = self.next_number();
        self.messages.push(ConversationMessage {
            number,
            role,
            content,
            timestamp: at,
        });
        self.message_count = self.message_count.saturating_add(1);
        self.last_message_at = self.last_message_at.max(at);
        self.drop_surplus();
    }

    pub(crate) fn drop_surplus(&mut self) {
        let surplus = self.messages.len().saturating_sub(Self::MOST_MESSAGES);
        self.messages.drain(..surplus);
    }
}

/// The conversations with one entity that are over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// How many there were altogether, those no longer kept included.
    pub ended: u64,
    /// The latest ones, oldest first; at most [`Archive::MOST`].
    pub conversations: VecDeque<ArchivedConversation>,
}

/// A conversation that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedConversation {
    /// As it was when it ended. Its pending actions were not done.
    pub conversation: Conversation,
    /// When it was put away.
    pub ended_at: Timestamp,
}

impl Archive {
    /// The most conversations that are kept. The oldest one gives way.
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
