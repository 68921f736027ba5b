//! Words of a query that no unit contains, and what their writer may have meant.
//!
//! A misspelt word is rare, and so it would count more than the words that are spelt well, and match nothing. Known words
//! that differ from it by one edit are searched for in addition: a letter too many, too few or wrong, or two letters in
//! the wrong order (Damerau 1964 found four in five misspellings to be of these kinds). Every form that is one edit away
//! is looked up, so the cost depends on the length of the word and not on the size of the index.

use std::{borrow::Cow, collections::HashMap, ops::ControlFlow};

use crate::{
    Index,
    analyse::{each_word, is_stop_word},
    dates::{is_full_month, is_time_word},
    index::speakers::WordCase,
};

/// Shorter words are not compared, because too many words are one edit away from them.
const SHORTEST: usize = 4;
/// Shorter words are not taken for common ones, except for two letters in the wrong order: "wish" is not "with".
const SHORTEST_COMMON: usize = 5;
/// Shorter names are not compared, except for two letters in the wrong order: "Joan" is not "John".
const SHORTEST_NAME: usize = 5;
/// Longer words are not compared: their forms take too long to look up.
const LONGEST: usize = 24;
/// How many unknown words of a query are compared.
const MOST_WORDS: usize = 8;
/// How many known words an unknown one may mean.
const MOST_MEANT: usize = 3;

/// How much likelier a common word is meant than a word of one unit.
const COMMON: f32 = 20.0;
/// How much likelier the name of a speaker is meant than a word of one unit.
const NAME: f32 = 100.0;
/// How much likelier an edit is inside a word than at its first letter.
const INSIDE: f32 = 2.0;

/// A known term that an unknown word may mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meant {
    pub(super) number: u32,
    /// How likely it is meant, among everything that the word may mean.
    pub(super) likelihood: f32,
}

/// A query, read again.
pub(super) struct Mended<'a> {
    /// The query with common words, words of time and names of speakers as they are known.
    pub(super) text: Cow<'a, str>,
    /// What other unknown terms may mean.
    meant: HashMap<String, Vec<Meant>>,
}

impl<'a> Mended<'a> {
    /// A query as it is.
    pub(super) fn unchanged(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            meant: HashMap::new(),
        }
    }

    pub(super) fn of(index: &Index, text: &'a str) -> Self {
        let mut mended = String::new();
        let mut meant = HashMap::new();
        let mut compared = 0;
        let mut is_changed = false;
        for piece in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            if compared < MOST_WORDS
                && let Some(unknown) = Unknown::of(index, word)
            {
                compared += 1;
                match unknown.meaning(index) {
                    Meaning::Word(known) => {
                        is_changed = true;
                        push_as_written(&mut mended, &known, word);
                        mended.push_str(piece.get(word.len()..).unwrap_or_default());
                        continue;
                    }
                    Meaning::Terms(terms) => {
                        meant.insert(unknown.term, terms);
                    }
                }
            }
            mended.push_str(piece);
        }
        Self {
            text: if is_changed {
                Cow::Owned(mended)
            } else {
                Cow::Borrowed(text)
            },
            meant,
        }
    }

    /// What an unknown term may mean.
    pub(super) fn meant_by(&self, term: &str) -> &[Meant] {
        self.meant.get(term).map_or(&[], Vec::as_slice)
    }
}

/// Adds a word with the capital letter that another one begins with.
fn push_as_written(text: &mut String, word: &str, written: &str) {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) if written.starts_with(char::is_uppercase) => {
            text.extend(first.to_uppercase());
            text.push_str(letters.as_str());
        }
        _ => text.push_str(word),
    }
}

/// A word that neither a unit nor the grammar of questions contains.
struct Unknown {
    /// The folded word.
    word: String,
    term: String,
}

enum Meaning {
    /// A word that is read by its form.
    Word(String),
    /// Terms, the likeliest first; none if no known word is similar.
    Terms(Vec<Meant>),
}

impl Unknown {
    fn of(index: &Index, written: &str) -> Option<Self> {
        let is_word = written.chars().all(char::is_alphabetic);
        if !is_word || !(SHORTEST..=LONGEST).contains(&written.len()) {
            return None;
        }
        let mut word = String::new();
        let _only_one = each_word(written, |folded| {
            word.push_str(folded);
            ControlFlow::Continue(())
        });
        let names = |word| index.speakers.named_by(word, WordCase::AsName).next();
        if is_stop_word(&word) || is_time(&word) || names(&word).is_some() {
            return None;
        }
        let term = index.analyser.base_form(&word).into_owned();
        let number = index.lexicon.number(&term);
        let occurs = number.is_some_and(|number| index.lexicon.frequency(number) > 0);
        (!occurs).then_some(Self { word, term })
    }

    fn meaning(&self, index: &Index) -> Meaning {
        let mut words: Vec<(String, f32)> = Vec::new();
        let mut terms: Vec<(u32, f32)> = Vec::new();
        each_form(&self.word, |form, edit| {
            let (shorter, longer) = (
                form.len().min(self.word.len()),
                form.len().max(self.word.len()),
            );
            let is_common = edit.keeps_letters || longer >= SHORTEST_COMMON;
            let is_name = edit.keeps_letters || shorter >= SHORTEST_NAME;
            if is_common && (is_stop_word(form) || is_time(form)) {
                words.push((form.to_owned(), COMMON * edit.likelihood));
            } else if is_name && index.speakers.has_first_word(form) {
                words.push((form.to_owned(), NAME * edit.likelihood));
            } else if let Some(number) = index.lexicon.number(&index.analyser.base_form(form)) {
                let frequency = index.lexicon.frequency(number) as f32;
                let likelihood = frequency.sqrt() * edit.likelihood;
                match terms.iter_mut().find(|(other, _)| *other == number) {
                    Some((_, other)) => *other = other.max(likelihood),
                    None => terms.push((number, likelihood)),
                }
            }
        });
        terms.retain(|(_, likelihood)| *likelihood > 0.0);
        let all = |list: &mut dyn Iterator<Item = f32>| list.sum::<f32>();
        let of_terms = all(&mut terms.iter().map(|(_, likelihood)| *likelihood));
        let of_words = all(&mut words.iter().map(|(_, likelihood)| *likelihood));
        // The form decides between equal ones, so the order in which forms are made has no influence.
        words.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        if let Some((word, _)) = words.into_iter().next().filter(|_| of_words > of_terms) {
            return Meaning::Word(word);
        }
        // Terms are ordered by their texts' postings, never by number, which depends on the order of insertion.
        terms.sort_by(|(_, x), (_, y)| y.total_cmp(x));
        terms.truncate(MOST_MEANT);
        let meant = terms.into_iter().map(|(number, likelihood)| Meant {
            number,
            likelihood: likelihood / (of_terms + of_words),
        });
        Meaning::Terms(meant.collect())
    }
}

/// Whether a word is read as a time.
fn is_time(word: &str) -> bool {
    is_full_month(word) || is_time_word(word)
}

/// How a form differs from a word.
#[derive(Clone, Copy)]
struct Edit {
    likelihood: f32,
    /// Whether only the order of two letters differs.
    keeps_letters: bool,
}

/// Calls `each` with every form that is one edit away from a word. Forms may repeat.
fn each_form(word: &str, mut each: impl FnMut(&str, Edit)) {
    let mut form = String::with_capacity(word.len() + 4);
    let mut letter = [0; 4];
    let places = word.char_indices().map(|(at, _)| at).chain([word.len()]);
    for at in places {
        let (before, rest) = word.split_at(at);
        let likelihood = if at == 0 { 1.0 } else { INSIDE };
        let mut make = |parts: [&str; 4], keeps_letters| {
            form.clear();
            form.extend(parts);
            let edit = Edit {
                likelihood,
                keeps_letters,
            };
            each(&form, edit);
        };
        let mut letters = rest.chars();
        let first = letters.next();
        let after = letters.as_str();
        if let Some(first) = first {
            make([before, after, "", ""], false);
            if let Some(second) = letters.next().filter(|second| *second != first) {
                let mut swapped = [0; 4];
                let second = second.encode_utf8(&mut swapped);
                let first = first.encode_utf8(&mut letter);
                make([before, second, first, letters.as_str()], true);
            }
        }
        for new in 'a'..='z' {
            let new_letter = new.encode_utf8(&mut letter);
            make([before, new_letter, rest, ""], false);
            if first.is_some_and(|first| first != new) {
                make([before, new_letter, after, ""], false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::each_form;

    #[test]
    fn forms_are_exactly_those_at_one_edit() {
        let mut forms = BTreeSet::new();
        each_form("tea", |form, _| {
            forms.insert(form.to_owned());
        });
        for form in [
            "ea", "ta", "te", "eta", "tae", "team", "stea", "tem", "sea", "teas",
        ] {
            assert!(forms.contains(form), "{form}");
        }
        assert!(!forms.contains("tea") && !forms.contains("steam") && !forms.contains("ate"));
        // 3 without a letter, 2 swapped, 75 replaced, 104 inserted, of which three are made twice.
        assert_eq!(forms.len(), 3 + 2 + 75 + 104 - 3);
    }
}
