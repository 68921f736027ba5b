//! A message, or the result of a tool, cut to a number of tokens.

use dormouse_contracts::{Origin, TokenCounter};
use dormouse_text::beginning;

use crate::{
    render,
    state::{Heard, Trigger},
};

/// A text as it is shown, and its number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) tokens: u32,
}

impl Heard {
    fn shown(&self, max_chars: usize) -> String {
        render::perception(
            Origin::event(self.seq),
            &self.perception,
            self.trust,
            &self.doubts,
            max_chars,
        )
    }

    /// The message as it is shown within `cap` tokens: whole, or its beginning. The line that the world vouches for and
    /// the note on what is missing are always included, even if they alone take more.
    pub(in crate::prompt) fn within(&self, cap: u32, counter: &dyn TokenCounter) -> Excerpt {
        let whole = Excerpt {
            text: self.shown(usize::MAX),
            tokens: self.tokens,
        };
        whole.within(cap, counter, |chars| self.shown(chars))
    }

    /// How many tokens it takes within `cap`. A message that fits was counted on arrival and is not counted again.
    pub(super) fn tokens_within(&self, cap: u32, counter: &dyn TokenCounter) -> u32 {
        if self.tokens <= cap {
            self.tokens
        } else {
            self.within(cap, counter).tokens
        }
    }
}

impl Trigger {
    /// The message, or what became due, as it is shown within `cap` tokens.
    pub(in crate::prompt) fn within(&self, cap: u32, counter: &dyn TokenCounter) -> Excerpt {
        match self {
            Self::Message(heard) => heard.within(cap, counter),
            Self::Occasion(occasion) => {
                let whole = Excerpt {
                    text: occasion.text.clone(),
                    tokens: occasion.tokens,
                };
                whole.within(cap, counter, |chars| {
                    beginning(&occasion.text, chars).to_owned()
                })
            }
        }
    }

    /// How many tokens it takes within `cap`.
    pub(super) fn tokens_within(&self, cap: u32, counter: &dyn TokenCounter) -> u32 {
        match self {
            Self::Message(heard) => heard.tokens_within(cap, counter),
            Self::Occasion(occasion) if occasion.tokens <= cap => occasion.tokens,
            Self::Occasion(_) => self.within(cap, counter).tokens,
        }
    }
}

impl Excerpt {
    /// The result of a tool as it is shown within `cap` tokens: whole, or its beginning and a note.
    pub(super) fn of_result(result: &str, cap: u32, counter: &dyn TokenCounter) -> Self {
        let whole = Self {
            text: result.to_owned(),
            tokens: counter.count(result).tokens,
        };
        whole.within(cap, counter, |chars| {
            let shown = beginning(result, chars);
            let rest = result.len() - shown.len();
            format!("{shown}… (the result goes on for {rest} more bytes, which are not shown)")
        })
    }

    /// This text if it takes at most `cap` tokens, otherwise as much of it as fits; `shown` returns its form with that
    /// many characters.
    fn within(self, cap: u32, counter: &dyn TokenCounter, shown: impl Fn(usize) -> String) -> Self {
        if self.tokens <= cap {
            return self;
        }
        // Starts with as many characters as would fit if all took the same number of tokens. If the first ones take
        // more than the others (a text that goes from Chinese to spaces), each further attempt drops at least half of
        // them.
        let mut chars = scaled(self.text.chars().count(), cap, self.tokens);
        loop {
            let text = shown(chars);
            let tokens = counter.count(&text).tokens;
            if tokens <= cap || chars == 0 {
                return Self { text, tokens };
            }
            chars = scaled(chars, cap, tokens).min(chars / 2);
        }
    }
}

fn scaled(chars: usize, cap: u32, tokens: u32) -> usize {
    let scaled = chars as u128 * u128::from(cap) / u128::from(tokens.max(1));
    usize::try_from(scaled).unwrap_or(usize::MAX)
}
