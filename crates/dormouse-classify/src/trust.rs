//! How far a message is trusted, by its source.

use dormouse_contracts::{Attested, SourceKind, Trust};

use crate::{ChannelConfig, ClassifyConfig, rules::is_own};

const DIRECT: Trust = score(0.9);
const ADDRESSED: Trust = score(0.7);
const CHANNEL: Trust = score(0.6);
const SAY: Trust = score(0.4);
const POSE: Trust = score(0.3);
const EMIT: Trust = score(0.2);
const OWN_OUTPUT: Trust = score(0.2);
/// An unknown kind of source gets the lowest trust of the known ones.
const UNKNOWN: Trust = score(0.2);

const fn score(score: f32) -> Trust {
    match Trust::try_new(score) {
        Ok(trust) => trust,
        Err(_) => Trust::NONE,
    }
}

/// Returns how far a message is trusted. Everything derived from the message inherits this score.
///
/// | source | trust | why |
/// | --- | --- | --- |
/// | whisper, page | 0.9 | direct and private |
/// | addressed | 0.7 | public, and meant for the assistant |
/// | channel | 0.6, or what the channel's configuration says | |
/// | say | 0.4 | public |
/// | pose, arrival or departure | 0.3 | an act, open to interpretation |
/// | emit | 0.2 | has no author |
/// | command output | 0.2 | may contain text from anyone |
///
/// An entry for the sender in [`ClassifyConfig::trust_overrides`] replaces all of these, up or down. Command output is
/// the exception: it belongs to the assistant and has no sender. A pure function without heap allocation.
///
/// Neither the words nor an @mention are arguments, so a sender cannot raise the score by writing something. A world
/// whose server parses `@key` itself attests the speech as *addressed*, which it vouches for. In any other world an
/// @mention is only text, and the speech keeps the score of its source.
///
/// The sender's history does not count yet. Until entity profiles enter the score, the operator's overrides are the
/// only judgement of individual senders.
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
        SourceKind::Pose | SourceKind::Movement => POSE,
        SourceKind::Emit => EMIT,
        SourceKind::CommandOutput => OWN_OUTPUT,
        _ => UNKNOWN,
    }
}
