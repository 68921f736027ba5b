//! Questions with typing errors, made from a seed.

use dormouse_contracts::Random;

use crate::{dataset::Dataset, seeded::Seeded};

/// Shorter words are left as they are.
const SHORTEST: usize = 4;
const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// Misspells this share of the words of every question, in `0.0..=1.0`.
pub(crate) fn misspell(dataset: &mut Dataset, share: f64, seed: u64) {
    let random = Seeded::new(seed);
    let conversations = dataset.conversations.iter_mut();
    for question in conversations.flat_map(|conversation| &mut conversation.questions) {
        question.text = misspelt(&question.text, share, &random);
    }
}

/// The text with one typing error in this share of its words of ASCII letters.
fn misspelt(text: &str, share: f64, random: &Seeded) -> String {
    let pieces = text.split_inclusive(|c: char| !c.is_ascii_alphabetic());
    let misspelt = pieces.map(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        let rest = piece.get(word.len()..).unwrap_or_default();
        match word.len() >= SHORTEST && random.unit() < share {
            true => with_error(word, random) + rest,
            false => piece.to_owned(),
        }
    });
    misspelt.collect()
}

/// A word with one error: two letters in the wrong order, a letter too few, too many, or wrong. Each kind and each place is
/// equally likely.
fn with_error(word: &str, random: &Seeded) -> String {
    let mut letters: Vec<u8> = word.bytes().collect();
    let letter = LETTERS
        .get(random.place(LETTERS.len()))
        .copied()
        .unwrap_or(b'e');
    let at = random.place(letters.len());
    match random.place(4) {
        0 => {
            let at = at.min(letters.len() - 2);
            letters.swap(at, at + 1);
        }
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letter),
        _ => {
            if let Some(old) = letters.get_mut(at) {
                *old = letter;
            }
        }
    }
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_the_asked_share_of_long_words_gets_one_error_each() {
        let text = "where the kettle boiled yesterday ".repeat(500);
        let misspelt = misspelt(&text, 0.2, &Seeded::new(1));
        let (was, is): (Vec<_>, Vec<_>) =
            (text.split(' ').collect(), misspelt.split(' ').collect());
        assert_eq!(was.len(), is.len());
        let differing = was.iter().zip(&is).filter(|(was, is)| was != is);
        let differing: Vec<_> = differing.collect();
        assert!((300..480).contains(&differing.len()), "{}", differing.len());
        assert!(
            differing
                .iter()
                .all(|(was, is)| was.len().abs_diff(is.len()) <= 1 && **was != "the")
        );
    }

    #[test]
    fn one_seed_makes_the_same_errors_and_another_makes_others() {
        let text = "Where did Caroline leave the copper kettle?";
        let made = |seed| misspelt(text, 1.0, &Seeded::new(seed));
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
        assert_eq!(misspelt(text, 0.0, &Seeded::new(1)), text);
    }
}
