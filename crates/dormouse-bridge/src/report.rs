//! Something that a game reports, before it has a number.

use dormouse_contracts::{
    Attested, Audience, Delivery, EffectKey, Movement, Perception, Place, Sender, SourceKind,
    Timestamp, Words,
};

/// Something that a game reports to an observer. The optional facts mean what they mean in [`Attested`]: set one only if the
/// game knows it, and never from a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it was said.
    pub source: SourceKind,
    /// Who said it, as the game knows and not as a text claims.
    pub sender: Sender,
    /// When it happened.
    pub at: Timestamp,
    /// What was said.
    pub words: Words,
    /// Where it happened.
    pub place: Option<Place>,
    /// Who could perceive it, the speaker and the observer included.
    pub audience: Option<Audience>,
    /// The effect of the perceiving assistant that it results from.
    pub cause: Option<EffectKey>,
    /// The earlier delivery to the same observer that it answers.
    pub reply_to: Option<Delivery>,
    /// Whether its sender came or left.
    pub movement: Option<Movement>,
}

impl Report {
    /// A report with the facts that every game knows. All others are absent.
    #[must_use]
    pub fn new(source: SourceKind, sender: Sender, at: Timestamp, words: Words) -> Self {
        Self {
            source,
            sender,
            at,
            words,
            place: None,
            audience: None,
            cause: None,
            reply_to: None,
            movement: None,
        }
    }

    pub(crate) fn delivered_as(self, delivery: Delivery) -> Perception {
        Perception {
            attested: Attested {
                place: self.place,
                audience: self.audience,
                cause: self.cause,
                reply_to: self.reply_to,
                movement: self.movement,
                ..Attested::new(delivery, self.source, self.sender, self.at)
            },
            words: self.words,
        }
    }
}
