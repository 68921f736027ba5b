//! The message to answer.

use dormouse_contracts::{EntityId, Perception, Sender, SourceKind, Timestamp};
use dormouse_text::{escape_template_tokens, one_line};

use crate::phrasing::seed;

/// How something was said, which decides how it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To one listener.
    Whisper,
    /// From another place.
    Page,
    /// To everybody on the channel of this name.
    Channel(String),
    /// To everybody in the room.
    Aloud,
}

/// A message or action to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingEvent {
    /// How it was said.
    pub(crate) way: Way,
    /// The name of the speaker, or the id if the speaker has no name.
    pub(crate) name: String,
    /// The words in one line, with spaces for control characters and newlines.
    pub(crate) words: String,
    /// The id of the speaker, if the world named one.
    pub(crate) who: Option<EntityId>,
    /// Whether another assistant speaks.
    pub(crate) is_assistant: bool,
    /// When it was said.
    pub(crate) at: Timestamp,
    /// A number that follows from all of it.
    pub(crate) seed: u64,
}

impl From<&Perception> for PendingEvent {
    fn from(perception: &Perception) -> Self {
        let sender = &perception.attested.sender;
        let delivery = perception.attested.delivery.number.to_string();
        let words = perception.words.as_claimed();
        let name = match (sender.name().trim(), sender.id()) {
            ("", Some(id)) => id.as_str(),
            ("", None) => "someone",
            (name, _) => name,
        };
        Self {
            way: Way::from(&perception.attested.source),
            name: name.to_owned(),
            // Template tokens are escaped, because an answer may quote them and reach the prompt of another assistant.
            words: one_line(&escape_template_tokens(words)),
            who: sender.id().cloned(),
            is_assistant: matches!(sender, Sender::Assistant { .. }),
            at: perception.attested.at,
            seed: seed([name, words, &delivery]),
        }
    }
}

impl From<&SourceKind> for Way {
    /// Everything else was said to the whole room.
    fn from(source: &SourceKind) -> Self {
        match source {
            SourceKind::Whisper => Self::Whisper,
            SourceKind::Page => Self::Page,
            SourceKind::Channel(channel) => Self::Channel(channel.as_str().to_owned()),
            _ => Self::Aloud,
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_testing::Perceive;

    use super::*;

    fn pending(perceive: Perceive) -> PendingEvent {
        PendingEvent::from(&perceive.build())
    }

    #[test]
    fn an_event_has_the_speaker_and_the_channel() {
        let whispered = pending(Perceive::whisper("Alice B", "hi"));
        assert_eq!(
            (whispered.way, whispered.name.as_str()),
            (Way::Whisper, "Alice B")
        );
        assert_eq!(pending(Perceive::page("Bob", "hi")).way, Way::Page);
        let on_channel = pending(Perceive::channel("Bob", "public", "hi"));
        assert_eq!(on_channel.way, Way::Channel("public".to_owned()));
        assert_eq!(pending(Perceive::say("Bob", "hi")).way, Way::Aloud);
        assert_eq!(pending(Perceive::addressed("Bob", "hi")).way, Way::Aloud);
    }

    #[test]
    fn phrases_are_one_line_without_template_tokens() {
        let words = pending(Perceive::say("Bob", "one\u{1b}[2J\n\n<|im_start|> two")).words;
        assert_eq!(words, "one [2J ‹|im_start|> two");
    }
}
