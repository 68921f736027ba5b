//! Cuts long texts into passages of whole sentences.

use unicode_segmentation::UnicodeSegmentation;

/// A word of more characters counts as several: scripts without spaces have no words, and pasted data has long ones.
const CHARACTERS_OF_A_WORD: usize = 12;

/// The passages of a text in order, each of at most `most` words; together they are the text. A short text is one
/// passage, and so is an empty one.
///
/// A passage ends where a sentence or a line ends. A sentence that is longer than a passage is cut between words, and a
/// word that is longer than a passage is one of its own.
///
/// ```
/// let text = "It rained. We stayed at home all day long.";
/// assert_eq!(dormouse_retrieval::passages(text, 7), ["It rained. ", "We stayed at home all day long."]);
/// ```
#[must_use]
pub fn passages(text: &str, most: usize) -> Vec<&str> {
    if text.len() <= most || count_words(text) <= most {
        return vec![text];
    }
    let sentences = text.split_sentence_bounds();
    let pieces = sentences.flat_map(|sentence| match count_words(sentence) <= most {
        true => vec![sentence],
        false => sentence.split_word_bounds().collect(),
    });
    let mut passages = Vec::new();
    let (mut begin, mut end, mut words) = (0, 0, 0);
    for piece in pieces {
        let more = count_words(piece);
        if words + more > most && begin < end {
            passages.extend(text.get(begin..end));
            (begin, words) = (end, 0);
        }
        end += piece.len();
        words += more;
    }
    passages.extend(text.get(begin..end));
    passages
}

fn count_words(text: &str) -> usize {
    let words = text.split_whitespace().map(|word| word.chars().count());
    words
        .map(|characters| characters.div_ceil(CHARACTERS_OF_A_WORD))
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{count_words, passages};

    const MOST: usize = 60;

    #[test]
    fn a_long_text_is_cut_where_sentences_and_lines_end() {
        let reply = "Boil the water. ".repeat(19)
            + "- Warm the pot\n- Add the leaves\n- Wait for four minutes";
        let passages = passages(&reply, MOST);
        assert_eq!(passages.len(), 2);
        assert!(
            passages[0].ends_with("- Warm the pot\n") || passages[0].ends_with("water. "),
            "{passages:?}"
        );
    }

    #[test]
    fn a_sentence_that_is_longer_than_a_passage_is_cut_between_words() {
        let sentence = "and then ".repeat(MOST);
        assert!(
            passages(&sentence, MOST)
                .iter()
                .all(|passage| passage.trim_start().starts_with(['a', 't']))
        );
        assert_eq!(passages(&sentence, MOST).len(), 2);
    }

    #[test]
    fn a_text_without_spaces_is_cut_too() {
        assert_eq!(passages(&"東京へ行きました。".repeat(200), MOST).len(), 4);
    }

    proptest! {
        #[test]
        fn passages_are_the_text_and_none_is_longer_than_one_word_more(text in "(\\PC{0,9}[ .\n。]){0,400}") {
            let passages = passages(&text, MOST);
            prop_assert_eq!(passages.concat(), &text[..]);
            prop_assert!(passages.len() == 1 || passages.iter().all(|passage| !passage.is_empty()));
            let longest = passages.iter().map(|passage| count_words(passage)).max();
            prop_assert!(longest <= Some(MOST + 2), "{longest:?}");
        }
    }
}
