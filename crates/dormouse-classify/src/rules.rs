//! The classification rules, in order.

use dormouse_contracts::{Attested, Sender, SourceKind};

use crate::{
    ChannelAction, ChannelConfig, Classification, ClassifyConfig, Mention, MessageVerdict,
    RoomPolicy, Rule,
};

/// Classifies a message. The rules are tried in order, and the first match decides:
///
/// | rule | condition | verdict |
/// | --- | --- | --- |
/// | 0 | interaction is disabled | IGNORE |
/// | 1a | own, and marked as the assistant's message | IGNORE |
/// | 1b | own, and the server attests that it results from an effect of the assistant | CAPTURE |
/// | 1c | own otherwise | CONTEXT |
/// | 2 | addressing is enabled, and an @mention is in the text or the server routed it as addressed | TRIGGER |
/// | 3 | whisper or page | TRIGGER |
/// | 4 | another assistant speaks | CONTEXT |
/// | 5 | the sender may trigger, and does not just arrive or leave | TRIGGER |
/// | 6 | the channel is configured, or it happened in a room and rooms are not ignored | as configured |
/// | 7 | otherwise | IGNORE |
///
/// *Own* means: the server attributes the message to the assistant itself ([`Sender::Myself`]), or it is the output of
/// the assistant's commands ([`SourceKind::CommandOutput`]), which many worlds attribute to no sender. *In a
/// room* means say, pose, emit, arrivals and departures, and addressed messages while addressing is disabled.
///
/// Rule 1b looks at the cause that the server attests, so the same message always gets the same verdict, whether the
/// effect is settled by then or not. An arrival or departure is not speech, so [`SourceKind::Movement`] is never a
/// TRIGGER, neither by a mention nor by permission. Where speech in rooms triggers, a movement is CONTEXT.
///
/// Rules 2 and 3 come before rule 4, so another assistant can trigger this one by addressing, whispering or paging it.
/// Rule 4a ([`Rule::ExchangeLimit`]) bounds how often; it counts messages, so the caller applies it.
/// A pure function without heap allocation, in time logarithmic in the size of the configuration. The words of the
/// message are not an argument; the crate documentation shows what that prevents.
#[must_use]
pub fn classify(attested: &Attested, mention: Mention, config: &ClassifyConfig) -> Classification {
    let (verdict, rule) = if !config.interaction_enabled {
        (MessageVerdict::Ignore, Rule::InteractionDisabled)
    } else if is_own(attested) {
        own(attested)
    } else if config.enable_addressing && is_addressed(attested, mention) {
        (MessageVerdict::Trigger, Rule::Addressing)
    } else if is_direct(&attested.source) {
        (MessageVerdict::Trigger, Rule::DirectMessage)
    } else if matches!(attested.sender, Sender::Assistant { .. }) {
        (MessageVerdict::Context, Rule::CrossTalk)
    } else if may_trigger(attested, config) {
        (MessageVerdict::Trigger, Rule::TriggerPermission)
    } else if let Some(verdict) = configured(&attested.source, config) {
        (verdict, Rule::Configured)
    } else {
        (MessageVerdict::Ignore, Rule::Fallback)
    };
    Classification { verdict, rule }
}

/// Whether the server attributes the message to the assistant itself.
pub(crate) fn is_own(attested: &Attested) -> bool {
    matches!(attested.sender, Sender::Myself { .. })
        || matches!(attested.source, SourceKind::CommandOutput)
}

fn own(attested: &Attested) -> (MessageVerdict, Rule) {
    match (&attested.sender, &attested.cause) {
        (Sender::Myself { marked: true }, _) => (MessageVerdict::Ignore, Rule::OwnMessage),
        (_, Some(_)) => (MessageVerdict::Capture, Rule::OwnCapture),
        (_, None) => (MessageVerdict::Context, Rule::OwnOutput),
    }
}

fn is_addressed(attested: &Attested, mention: Mention) -> bool {
    let is_mentioned = mention == Mention::Addressed && !is_movement(&attested.source);
    is_mentioned || matches!(attested.source, SourceKind::Addressed)
}

/// The world's words about somebody who arrives or leaves. Nobody says them.
fn is_movement(source: &SourceKind) -> bool {
    matches!(source, SourceKind::Movement)
}

fn is_direct(source: &SourceKind) -> bool {
    matches!(source, SourceKind::Whisper | SourceKind::Page)
}

fn may_trigger(attested: &Attested, config: &ClassifyConfig) -> bool {
    let is_permitted = |id| config.trigger_permissions.contains(id);
    !is_movement(&attested.source) && attested.sender.id().is_some_and(is_permitted)
}

/// The operator's setting for this source, if there is one.
fn configured(source: &SourceKind, config: &ClassifyConfig) -> Option<MessageVerdict> {
    match source {
        SourceKind::Channel(id) => config
            .channels
            .get(id)
            .map(ChannelConfig::action)
            .map(action_verdict),
        SourceKind::Addressed | SourceKind::Say | SourceKind::Pose | SourceKind::Emit => {
            room_verdict(config.rooms)
        }
        SourceKind::Movement => room_verdict(config.rooms).map(|_| MessageVerdict::Context),
        // The rules do not know this kind of source, so rule 7 drops it.
        _ => None,
    }
}

fn action_verdict(action: ChannelAction) -> MessageVerdict {
    match action {
        ChannelAction::Trigger => MessageVerdict::Trigger,
        ChannelAction::Context => MessageVerdict::Context,
        ChannelAction::Ignore => MessageVerdict::Ignore,
    }
}

fn room_verdict(rooms: RoomPolicy) -> Option<MessageVerdict> {
    match rooms {
        RoomPolicy::Trigger => Some(MessageVerdict::Trigger),
        RoomPolicy::Context => Some(MessageVerdict::Context),
        RoomPolicy::Ignore => None,
    }
}
