//! How far a message is trusted, by its source.

use dormouse_contracts::{Attested, SourceKind, Trust};
use serde::{Deserialize, Serialize};

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
/// The sender's history does not count here: see [`trust_with_history`].
#[must_use]
pub fn source_trust(attested: &Attested, config: &ClassifyConfig) -> Trust {
    match by_sender(attested, config) {
        Some(trust) => trust,
        None => by_source(&attested.source, config),
    }
}

/// What earlier attested messages of a sender show: how often the sender was perceived, and how far they are trusted by
/// now.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SenderHistory {
    /// How often they were perceived.
    pub interactions: u64,
    /// The trust of the relationship with them. It follows from how they spoke, never from what they said.
    pub trust: Trust,
}

impl SenderHistory {
    /// A history of fewer interactions does not count.
    pub const LEAST_INTERACTIONS: u64 = 5;
    /// How much of the difference between the relationship's trust and 0.5 counts.
    pub const WEIGHT: f64 = 0.2;
    /// The furthest that a history moves the trust of a message.
    pub const MOST: f64 = 0.1;
    /// A history raises no message above this trust.
    pub const HIGHEST: Trust = DIRECT;

    /// How far it moves the trust of a message, rounded to hundredths: a model is shown two digits, and digits that it
    /// is not shown must not decide anything.
    fn step(self) -> f64 {
        let step = Self::WEIGHT * (f64::from(self.trust.score()) - 0.5);
        rounded(step, 100.0).clamp(-Self::MOST, Self::MOST)
    }
}

/// Returns how far a message is trusted if its sender has this history: [`source_trust`], moved by 0.2 of the difference
/// between the trust of the relationship and 0.5.
///
/// The result is at most 0.1 away from the source's trust, and never raised above 0.9. A history of fewer than five
/// interactions changes nothing, and neither does the history of a sender for whom the operator set a trust. A pure
/// function without heap allocation.
#[must_use]
pub fn trust_with_history(
    attested: &Attested,
    config: &ClassifyConfig,
    history: SenderHistory,
) -> Trust {
    let source = source_trust(attested, config);
    let is_new = history.interactions < SenderHistory::LEAST_INTERACTIONS;
    let is_somebody = attested.sender.id().is_some() && !is_own(attested);
    if is_new || !is_somebody || by_sender(attested, config).is_some() {
        return source;
    }
    // The operator can give a channel a trust above 0.9. There, a known sender must not be trusted less than an unknown
    // one.
    let highest = SenderHistory::HIGHEST.score().max(source.score());
    // 0.4 + 0.02 has to be 0.42 in the log, and not 0.42000002.
    #[expect(clippy::cast_possible_truncation, reason = "a score has six digits")]
    let moved = rounded(f64::from(source.score()) + history.step(), 1e6) as f32;
    Trust::try_new(moved.clamp(0.0, highest)).unwrap_or(source)
}

fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

/// The trust that the operator set for the sender.
fn by_sender(attested: &Attested, config: &ClassifyConfig) -> Option<Trust> {
    let id = attested.sender.id().filter(|_| !is_own(attested))?;
    config.trust_overrides.get(id).copied()
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
