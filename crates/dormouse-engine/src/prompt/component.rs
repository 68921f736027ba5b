//! The parts of a prompt: their numbers, their purpose, and where they may be placed.

use dormouse_contracts::invariant;
use serde::{Deserialize, Serialize};

/// A part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Component {
    /// How to read the prompt and how to act.
    SystemPrompt,
    /// Who the assistant is.
    CharacterContext,
    /// The people and things involved.
    EntityContext,
    /// What people asked for permanently.
    StandingOrders,
    /// Recalled memories.
    SemanticMemories,
    /// Overheard lines.
    ContextBuffer,
    /// The goals of the assistant.
    Goals,
    /// Earlier turns.
    ConversationHistory,
    /// The trigger of the turn.
    PendingEvent,
    /// What was done about the trigger so far.
    ToolResult,
}

/// The role of a part in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartRole {
    /// The operator of the assistant.
    System,
    /// The world, and those in it.
    User,
    /// All of them, in turns.
    Turns,
}

/// The block of a part. No setting moves it to another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Block {
    /// In the message of the system.
    System,
    /// Between the system message and the trigger.
    Middle,
    /// At the end.
    Terminal,
}

/// The properties of a part.
#[derive(Debug)]
pub struct ComponentRow {
    /// Which part.
    pub component: Component,
    /// Its number, which is its place in the documented order.
    pub id: u16,
    /// Its name in settings.
    pub key: &'static str,
    /// Who speaks in it.
    pub role: PartRole,
    /// Whether it is the same in each prompt until the configuration changes.
    pub is_static: bool,
    /// Why it is there.
    pub why: &'static str,
}

const fn row(
    component: Component,
    id: u16,
    key: &'static str,
    role: PartRole,
    why: &'static str,
) -> ComponentRow {
    ComponentRow {
        component,
        id,
        key,
        role,
        is_static: matches!(role, PartRole::System),
        why,
    }
}

/// All parts, in the documented order.
pub static COMPONENTS: [ComponentRow; 10] = [
    row(
        Component::SystemPrompt,
        0,
        "system_prompt",
        PartRole::System,
        "how to read a prompt, how to act, and which memory is for what",
    ),
    row(
        Component::CharacterContext,
        1_000,
        "character_context",
        PartRole::System,
        "who the assistant is",
    ),
    row(
        Component::EntityContext,
        1_500,
        "entity_context",
        PartRole::User,
        "the people and things involved, from the memory",
    ),
    row(
        Component::StandingOrders,
        1_600,
        "standing_orders",
        PartRole::User,
        "what people asked for, for good",
    ),
    row(
        Component::SemanticMemories,
        2_000,
        "semantic_memories",
        PartRole::User,
        "what the memory holds about it",
    ),
    row(
        Component::ContextBuffer,
        3_000,
        "context_buffer",
        PartRole::User,
        "what was overheard lately",
    ),
    row(
        Component::Goals,
        4_000,
        "goals",
        PartRole::User,
        "what the assistant pursues",
    ),
    row(
        Component::ConversationHistory,
        5_000,
        "conversation_history",
        PartRole::Turns,
        "what was said and done before",
    ),
    row(
        Component::PendingEvent,
        6_000,
        "pending_event",
        PartRole::User,
        "what calls for the turn",
    ),
    row(
        Component::ToolResult,
        7_000,
        "tool_result",
        PartRole::Turns,
        "what was done about it so far",
    ),
];

/// The order of the middle block that keeps the beginning of a prompt stable: what changes least comes first.
const STABLE: [Component; 6] = [
    Component::Goals,
    Component::ConversationHistory,
    Component::EntityContext,
    Component::StandingOrders,
    Component::SemanticMemories,
    Component::ContextBuffer,
];

impl Component {
    /// All of them, in the documented order.
    pub const ALL: [Self; 10] = [
        Self::SystemPrompt,
        Self::CharacterContext,
        Self::EntityContext,
        Self::StandingOrders,
        Self::SemanticMemories,
        Self::ContextBuffer,
        Self::Goals,
        Self::ConversationHistory,
        Self::PendingEvent,
        Self::ToolResult,
    ];

    /// The properties of this part.
    #[must_use]
    pub fn row(self) -> &'static ComponentRow {
        let [first, ..] = &COMPONENTS;
        let row = COMPONENTS.iter().find(|row| row.component == self);
        invariant!(row, "each part has a row", first)
    }

    /// The part of this key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        let row = COMPONENTS.iter().find(|row| row.key == key)?;
        Some(row.component)
    }

    /// Whether every prompt needs it.
    #[must_use]
    pub fn is_needed(self) -> bool {
        let is_terminal = block_of(self.row().id) == Block::Terminal;
        is_terminal || self == Self::SystemPrompt
    }

    /// Whether it can be put before or behind others.
    #[must_use]
    pub fn is_movable(self) -> bool {
        block_of(self.row().id) == Block::Middle
    }

    /// Its place in the stable order, if it has one there.
    pub(super) fn stable_place(self) -> Option<usize> {
        STABLE.iter().position(|it| *it == self)
    }
}

/// Where a part with this number may stand.
pub(super) fn block_of(id: u16) -> Block {
    match id {
        0..1_500 => Block::System,
        1_500..6_000 => Block::Middle,
        _ => Block::Terminal,
    }
}

/// The part after which an operator's own part with this number comes.
pub(super) fn followed_by(id: u16) -> Component {
    let before = COMPONENTS.iter().rev().find(|row| row.id <= id);
    before.map_or(Component::SystemPrompt, |row| row.component)
}
