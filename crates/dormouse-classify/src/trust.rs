//! How far a message is believed, by where it came from.

use dormouse_contracts::{Attested, SourceKind, Trust};

use crate::{ChannelConfig, ClassifyConfig, rules::is_own};

const DIRECT: Trust = score(0.9);
const ADDRESSED: Trust = score(0.7);
const CHANNEL: Trust = score(0.6);
const SAY: Trust = score(0.4);
const POSE: Trust = score(0.3);
const EMIT: Trust = score(0.2);
const OWN_OUTPUT: Trust = score(0.2);
/// A kind of source that this version does not know is believed no more than the least of those it knows.
const UNKNOWN: Trust = score(0.2);

const fn score(score: f32) -> Trust {
    match Trust::try_new(score) {
        Ok(trust) => trust,
        Err(_) => Trust::NONE,
    }
}

/// Returns how far a message is believed. The score travels with everything that is derived from the message.
///
/// | source | trust | why |
/// | --- | --- | --- |
/// | whisper, page | 0.9 | direct and private |
/// | addressed | 0.7 | public, and meant |
/// | channel | 0.6, or what the channel's configuration says | |
/// | say | 0.4 | public |
/// | pose | 0.3 | an act, open to interpretation |
/// | emit | 0.2 | without an author |
/// | command output | 0.2 | may print what anybody wrote |
///
/// A sender's entry in [`ClassifyConfig::trust_overrides`] replaces all of these, up or down, except for
/// command output, which is the assistant's own and no sender's. A pure function without heap use.
///
/// Neither the words nor an @mention are arguments, so nothing that a sender writes can raise the score: *addressed*
/// is what the server's routing says, and an @mention said aloud stays at 0.4.
///
/// What is not in the score yet: the sender's history. It will enter with entity profiles, which hold what
/// became of earlier interactions; until then the operator's overrides are the only judgement of single senders.
#[must_use]
pub fn source_trust(attested: &Attested, config: &ClassifyConfig) -> Trust {
    let by_sender = attested
        .sender
        .id()
        .filter(|_| !is_own(attested))
        .and_then(|id| config.trust_overrides.get(id));
    match by_sender {
        Some(trust) => *trust,
        None => by_source(&attested.source, config),
    }
}

fn by_source(source: &SourceKind, config: &ClassifyConfig) -> Trust {
    match source {
        SourceKind::Whisper | SourceKind::Page => DIRECT,
        SourceKind::Addressed => ADDRESSED,
        SourceKind::Channel(id) => config
            .channels
            .get(id)
            .and_then(ChannelConfig::trust)
            .unwrap_or(CHANNEL),
        SourceKind::Say => SAY,
        SourceKind::Pose => POSE,
        SourceKind::Emit => EMIT,
        SourceKind::CommandOutput => OWN_OUTPUT,
        _ => UNKNOWN,
    }
}
