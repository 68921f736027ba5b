//! Whether speech in a turn reaches the person who asked.

use dormouse_contracts::{Arguments, Audience, Outcome, SourceKind, Speech, SpeechKind};
use serde_json::Value;

use super::view::View;
use crate::state::{CallState, Heard, State, Turn};

/// How an act speaks, and to whom, in a turn that answers a message.
pub(super) struct Speaking<'a> {
    message: &'a Heard,
    kind: SpeechKind,
    to: Option<&'a str>,
}

impl<'a> Speaking<'a> {
    pub(super) fn of(message: &'a Heard, speech: &Speech, arguments: &'a Arguments) -> Self {
        let to = speech.to.as_ref().and_then(|to| arguments.get(to));
        Self {
            message,
            kind: speech.kind,
            to: to.and_then(Value::as_str),
        }
    }

    fn source(&self) -> &'a SourceKind {
        &self.message.perception.attested.source
    }

    /// Whether it speaks in the way in which the message was said.
    fn is_the_same_way(&self) -> bool {
        match (self.source(), self.kind) {
            (SourceKind::Whisper, SpeechKind::Whisper) | (SourceKind::Page, SpeechKind::Page) => {
                true
            }
            (SourceKind::Channel(channel), SpeechKind::Channel) => {
                self.to == Some(channel.as_str())
            }
            (SourceKind::Whisper | SourceKind::Page | SourceKind::Channel(_), _) => false,
            (_, kind) => kind == SpeechKind::Aloud,
        }
    }

    /// Whether it names the sender of the message.
    fn is_to_the_sender(&self, to: &str) -> bool {
        let sender = &self.message.perception.attested.sender;
        let is_id = sender.id().is_some_and(|id| id.as_str() == to);
        is_id || to.trim().to_lowercase() == sender.name().to_lowercase()
    }
}

/// Whether an act speaks to those who heard the message of its turn: in the way in which the message was said, and before the
/// assistant did anything else that may have taken it elsewhere.
pub(super) fn is_answer(
    view: View<'_>,
    turn: &Turn,
    call: &CallState,
    speaking: &Speaking<'_>,
) -> bool {
    speaking.is_the_same_way() && !has_acted(view, turn, call)
}

/// Whether an act before this call may have taken the assistant elsewhere.
fn has_acted(view: View<'_>, turn: &Turn, call: &CallState) -> bool {
    let done = turn.own_steps().flat_map(|step| &step.calls);
    done.take_while(|before| before.id() != call.id())
        .any(|call| call.effect.is_some() && call.may_be_made() && !view.speaks(&call.call.name))
}

/// Whether the words of a call reached the person who asked. The world's attestation decides; without one, the way of
/// speaking decides. If nobody asked, everything counts.
pub(super) fn reaches_the_sender(view: View<'_>, turn: &Turn, call: &CallState) -> bool {
    let (Some(message), Some(effect)) = (turn.message(), &call.effect) else {
        return true;
    };
    let heard_by = match &effect.outcome {
        Some(Outcome::Done(receipt)) => receipt.heard_by.as_ref(),
        Some(Outcome::Rejected(_) | Outcome::Unknown) | None => None,
    };
    let attested = heard_by.and_then(|all| includes(view.state, all, message));
    attested.unwrap_or_else(|| {
        let speech = view.tools.get(&call.call.name);
        let speech = speech.and_then(|tool| tool.speech.as_ref());
        speech.is_none_or(|speech| {
            let speaking = Speaking::of(message, speech, &effect.arguments);
            match (speaking.source(), speaking.kind, speaking.to) {
                (_, SpeechKind::Whisper | SpeechKind::Page, Some(to)) => {
                    speaking.is_to_the_sender(to)
                }
                // A person who whispers is in the same room.
                (SourceKind::Whisper, SpeechKind::Aloud, _) => !has_acted(view, turn, call),
                _ => is_answer(view, turn, call, &speaking),
            }
        })
    })
}

/// Whether the sender is among those who heard it, if that is known. All ids of one person count as one.
fn includes(state: &State, heard_by: &Audience, message: &Heard) -> Option<bool> {
    let sender = message.perception.attested.sender.id()?;
    let id_of = |id| state.identities.id_of(id);
    heard_by.renamed(id_of).includes(id_of(sender))
}
