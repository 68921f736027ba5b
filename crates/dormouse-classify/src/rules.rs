//! The rules of classification, in order.

use dormouse_contracts::{Attested, Sender, SourceKind};
use serde::{Deserialize, Serialize};

use crate::{
    ChannelAction, ChannelConfig, Classification, ClassifyConfig, Mention, RoomPolicy, Rule,
    Verdict,
};

/// Whether a tool of the assistant is collecting the output of a command right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capture {
    /// It is: the assistant's own output belongs to that command.
    Active,
    /// It is not.
    Inactive,
}

/// Decides what becomes of a message. The rules are tried in order, and the first that matches decides:
///
/// | rule | condition | verdict |
/// | --- | --- | --- |
/// | 0 | interaction is disabled | IGNORE |
/// | 1a | own, and marked as the assistant's message | IGNORE |
/// | 1b | own, and a command's output is being captured | CAPTURE |
/// | 1c | own otherwise | CONTEXT |
/// | 2 | addressing is enabled, and an @mention is in the text or the server routed it as addressed | TRIGGER |
/// | 3 | whisper or page | TRIGGER |
/// | 4 | another assistant speaks | CONTEXT |
/// | 5 | the sender may trigger | TRIGGER |
/// | 6 | the channel is configured, or it was said aloud in a room and rooms are not ignored | as configured |
/// | 7 | otherwise | IGNORE |
///
/// *Own* is what the server attributes to the assistant itself ([`Sender::Myself`]) and the output of its
/// commands ([`SourceKind::CommandOutput`]), which many worlds attribute to nobody. *Aloud in a room* are say,
/// pose and emit, and what was addressed to the assistant while addressing is disabled.
///
/// So an assistant that another one addresses, whispers to or pages is triggered, since rules 2 and 3 come
/// before 4. A pure function without heap use, in time logarithmic in the size of the configuration. The
/// words of the message are no argument; the crate's documentation shows what that prevents.
#[must_use]
pub fn classify(
    attested: &Attested,
    mention: Mention,
    capture: Capture,
    config: &ClassifyConfig,
) -> Classification {
    let (verdict, rule) = if !config.interaction_enabled {
        (Verdict::Ignore, Rule::InteractionDisabled)
    } else if is_own(attested) {
        own(attested, capture)
    } else if config.enable_addressing && is_addressed(attested, mention) {
        (Verdict::Trigger, Rule::Addressing)
    } else if is_direct(&attested.source) {
        (Verdict::Trigger, Rule::DirectMessage)
    } else if matches!(attested.sender, Sender::Assistant { .. }) {
        (Verdict::Context, Rule::CrossTalk)
    } else if may_trigger(attested, config) {
        (Verdict::Trigger, Rule::TriggerPermission)
    } else if let Some(verdict) = configured(&attested.source, config) {
        (verdict, Rule::Configured)
    } else {
        (Verdict::Ignore, Rule::Fallback)
    };
    Classification { verdict, rule }
}

/// Whether the server says that the assistant itself brought it forth.
pub(crate) fn is_own(attested: &Attested) -> bool {
    matches!(attested.sender, Sender::Myself { .. })
        || matches!(attested.source, SourceKind::CommandOutput)
}

fn own(attested: &Attested, capture: Capture) -> (Verdict, Rule) {
    match (&attested.sender, capture) {
        (Sender::Myself { marked: true }, _) => (Verdict::Ignore, Rule::OwnMessage),
        (_, Capture::Active) => (Verdict::Capture, Rule::OwnCapture),
        (_, Capture::Inactive) => (Verdict::Context, Rule::OwnOutput),
    }
}

fn is_addressed(attested: &Attested, mention: Mention) -> bool {
    mention == Mention::Addressed || matches!(attested.source, SourceKind::Addressed)
}

fn is_direct(source: &SourceKind) -> bool {
    matches!(source, SourceKind::Whisper | SourceKind::Page)
}

fn may_trigger(attested: &Attested, config: &ClassifyConfig) -> bool {
    attested
        .sender
        .id()
        .is_some_and(|id| config.trigger_permissions.contains(id))
}

/// What the operator configured for this source, if anything.
fn configured(source: &SourceKind, config: &ClassifyConfig) -> Option<Verdict> {
    match source {
        SourceKind::Channel(id) => config
            .channels
            .get(id)
            .map(ChannelConfig::action)
            .map(action_verdict),
        SourceKind::Addressed | SourceKind::Say | SourceKind::Pose | SourceKind::Emit => {
            room_verdict(config.rooms)
        }
        // A kind of source that the rules do not know is nothing to the assistant until they do.
        _ => None,
    }
}

fn action_verdict(action: ChannelAction) -> Verdict {
    match action {
        ChannelAction::Trigger => Verdict::Trigger,
        ChannelAction::Context => Verdict::Context,
        ChannelAction::Ignore => Verdict::Ignore,
    }
}

fn room_verdict(rooms: RoomPolicy) -> Option<Verdict> {
    match rooms {
        RoomPolicy::Trigger => Some(Verdict::Trigger),
        RoomPolicy::Context => Some(Verdict::Context),
        RoomPolicy::Ignore => None,
    }
}
