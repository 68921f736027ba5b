//! Numbered messages, and what is owed for each.

use dormouse_classify::MessageVerdict;

/// How a line is said, and what is owed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Remember,
    Whisper,
    Question,
    Page,
    Overheard,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Remember,
        Self::Whisper,
        Self::Question,
        Self::Page,
        Self::Overheard,
    ];

    /// The kind of the message with this number.
    pub(super) fn of(number: u64) -> Self {
        Self::ALL[number as usize % Self::ALL.len()]
    }

    pub(super) fn line(self, number: u64) -> String {
        match self {
            Self::Remember => format!("remember that item {number} is n{number}"),
            Self::Whisper => format!("whisper Dormouse = hello, it is message n{number}"),
            Self::Question => format!("what is item {}, asks message n{number}?", number / 2),
            Self::Page => format!("page Dormouse = remember that item {number} is n{number}"),
            Self::Overheard => format!("\"nobody needs to answer message n{number}"),
        }
    }

    pub(super) fn verdict(self) -> MessageVerdict {
        match self {
            Self::Overheard => MessageVerdict::Context,
            _ => MessageVerdict::Trigger,
        }
    }
}

/// The number in a message's last word, which is its mark.
pub(super) fn number_in(text: &str) -> Option<u64> {
    let last = text.split_whitespace().next_back()?;
    last.strip_prefix('n')?.trim_end_matches('?').parse().ok()
}
