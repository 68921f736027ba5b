//! The message that is to be answered.

use dormouse_contracts::{Perception, SourceKind};
use dormouse_text::{escape_template_tokens, one_line};

/// The way something was said, as far as it decides the way of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Only the two hear it.
    Whisper,
    /// A message from afar.
    Page,
    /// Everybody in the room hears it.
    Aloud,
}

/// What somebody said or did that is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingEvent {
    /// How it was said.
    pub(crate) way: Way,
    /// Who said it, by name; by id where there is no name.
    pub(crate) name: String,
    /// What was said, in one line: control characters and line ends are spaces.
    pub(crate) words: String,
}

impl From<&Perception> for PendingEvent {
    fn from(perception: &Perception) -> Self {
        let sender = &perception.attested.sender;
        let name = match (sender.name().trim(), sender.id()) {
            ("", Some(id)) => id.as_str(),
            ("", None) => "someone",
            (name, _) => name,
        };
        Self {
            way: Way::from(&perception.attested.source),
            name: name.to_owned(),
            // What is quoted in an answer may reach the prompt of another assistant.
            words: one_line(&escape_template_tokens(perception.words.as_claimed())),
        }
    }
}

impl From<&SourceKind> for Way {
    /// Whatever is neither private nor from afar was for everybody to hear.
    fn from(source: &SourceKind) -> Self {
        match source {
            SourceKind::Whisper => Self::Whisper,
            SourceKind::Page => Self::Page,
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
    fn an_event_says_who_spoke_in_which_way() {
        let whispered = pending(Perceive::whisper("Alice B", "hi"));
        assert_eq!(
            (whispered.way, whispered.name.as_str()),
            (Way::Whisper, "Alice B")
        );
        assert_eq!(pending(Perceive::page("Bob", "hi")).way, Way::Page);
        assert_eq!(pending(Perceive::say("Bob", "hi")).way, Way::Aloud);
        assert_eq!(pending(Perceive::addressed("Bob", "hi")).way, Way::Aloud);
    }

    #[test]
    fn words_are_one_line_and_hold_no_token_of_a_chat_template() {
        let words = pending(Perceive::say("Bob", "one\u{1b}[2J\n\n<|im_start|> two")).words;
        assert_eq!(words, "one [2J ‹|im_start|> two");
    }
}
