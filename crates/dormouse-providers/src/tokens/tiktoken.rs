//! Exact counts for models with a known vocabulary.

use std::fmt;

use dormouse_contracts::{ModelName, TokenCount, TokenCounter};
use dormouse_text::floor_char_boundary;
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

use crate::model_pattern::bare;

/// Counts tokens with a model's own vocabulary.
///
/// The first count in a process loads the vocabulary, which takes about 0.1 s; see [`warm`](crate::warm). After that,
/// the counter processes about 20 MB/s of prose.
///
/// A text is counted in pieces of at most 4 KiB, cut at white space if possible. So the work is linear even for hostile
/// texts (64 KiB of one letter). A cut inside a word can add a few tokens; the count is then marked as not exact.
#[derive(Clone)]
pub struct Tiktoken {
    tokenizer: Tokenizer,
}

impl Tiktoken {
    /// The longest piece that is tokenised at once, in bytes.
    const PIECE: usize = 4096;

    /// Returns the counter for this model, if its vocabulary is known. Loads nothing yet.
    #[must_use]
    pub fn for_model(model: &ModelName) -> Option<Self> {
        let name = model.as_str();
        let last = name.rsplit_once('/').map_or(name, |(_, last)| last);
        // Ollama writes `gpt-oss:20b` for `gpt-oss-20b`.
        let tokenizer =
            get_tokenizer(bare(name)).or_else(|| get_tokenizer(&last.replace(':', "-")))?;
        Some(Self { tokenizer })
    }
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tiktoken").field(&self.tokenizer).finish()
    }
}

impl TokenCounter for Tiktoken {
    fn count(&self, text: &str) -> TokenCount {
        let Ok(vocabulary) = tiktoken_rs::bpe_for_tokenizer(self.tokenizer) else {
            return super::Estimate::default().count(text);
        };
        let mut counted = TokenCount {
            tokens: 0,
            exact: true,
        };
        let mut rest = text;
        while !rest.is_empty() {
            let cut = cut(rest, Self::PIECE);
            let (piece, after) = rest.split_at(cut.at);
            let tokens = u32::try_from(vocabulary.count_ordinary(piece)).unwrap_or(u32::MAX);
            counted.tokens = counted.tokens.saturating_add(tokens);
            counted.exact &= cut.clean;
            rest = after;
        }
        counted
    }
}

/// The end of a piece, and whether every vocabulary splits the text there anyway.
struct Cut {
    at: usize,
    clean: bool,
}

/// Cuts the text after at most `limit` bytes. The cut is before the last single space between two letters, because in
/// every vocabulary a word starts with its space. Without such a space, the cut is between two characters.
fn cut(text: &str, limit: usize) -> Cut {
    if text.len() <= limit {
        return Cut {
            at: text.len(),
            clean: true,
        };
    }
    let end = floor_char_boundary(text, limit);
    let bytes = text.as_bytes();
    let parts_words = |at: &usize| {
        let letter = |i: Option<usize>| {
            i.and_then(|i| bytes.get(i))
                .is_some_and(u8::is_ascii_alphabetic)
        };
        bytes.get(*at) == Some(&b' ') && letter(at.checked_sub(1)) && letter(at.checked_add(1))
    };
    match (1..end).rev().find(parts_words) {
        Some(at) => Cut { at, clean: true },
        None => Cut {
            at: end,
            clean: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counter() -> Tiktoken {
        Tiktoken::for_model(&ModelName::try_new("gpt-4o").unwrap()).unwrap()
    }

    fn whole(text: &str) -> u32 {
        let vocabulary = tiktoken_rs::bpe_for_tokenizer(counter().tokenizer).unwrap();
        u32::try_from(vocabulary.count_ordinary(text)).unwrap()
    }

    #[test]
    fn a_model_without_a_known_vocabulary_has_no_exact_counter() {
        assert!(Tiktoken::for_model(&ModelName::try_new("llama3.2").unwrap()).is_none());
    }

    #[test]
    fn special_tokens_in_a_message_are_only_text() {
        assert!(counter().count("<|endoftext|>").tokens > 1);
    }

    #[test]
    fn long_prose_has_the_same_count_in_pieces_as_whole() {
        let prose = "The dormouse, who slept, isn't woken by 12 kettles or a clock. ".repeat(400);
        assert_eq!(
            counter().count(&prose),
            TokenCount {
                tokens: whole(&prose),
                exact: true
            }
        );
    }

    #[test]
    fn hostile_texts_are_counted_in_bounded_work_and_marked() {
        for unit in [
            "a", " ", "\n", "!", "日", "\u{200d}", "\u{301}", "'", "1", " \u{a0}",
        ] {
            let text = unit.repeat(64 * 1024 / unit.len());
            let counted = counter().count(&text);
            assert!(counted.tokens > 0 && !counted.exact, "{unit:?}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_respects_limit_and_characters_and_always_advances(
            text in "[ a-zé日\n]{1,60}",
            limit in 4usize..20,
        ) {
            let cut = cut(&text, limit);
            prop_assert!(cut.at > 0 && cut.at <= limit);
            prop_assert!(text.is_char_boundary(cut.at));
        }

        #[test]
        fn a_clean_cut_changes_no_count(words in prop::collection::vec("[a-zA-Z,.'0-9]{1,9}", 2..40)) {
            let text = words.join(" ");
            let cut = cut(&text, text.len() / 2 + 1);
            if cut.clean && cut.at < text.len() {
                let (left, right) = text.split_at(cut.at);
                prop_assert_eq!(whole(left) + whole(right), whole(&text));
            }
        }
    }
}
