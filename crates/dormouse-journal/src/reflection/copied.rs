//! What a conclusion must copy from its sources: names, numbers, quotations and denials.

use std::{collections::BTreeSet, fmt};

use dormouse_retrieval::{denies, words};

use super::ReflectionEvidence;

/// Something in a conclusion that none of its sources has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invention {
    /// A number, or a word with a digit.
    Number(String),
    /// A word with a capital letter in the middle of a sentence.
    Name(String),
    /// A text of several words in quotation marks.
    Quotation(String),
    /// A statement that something is not so.
    Denial,
}

impl fmt::Display for Invention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "the number {number}"),
            Self::Name(name) => write!(f, "the name {name}"),
            Self::Quotation(words) => write!(f, "the quotation \"{words}\""),
            Self::Denial => f.write_str("a denial"),
        }
    }
}

/// The first invention of a text: something that none of its sources has. Names are not checked in a language that
/// writes all nouns with a capital letter.
pub(super) fn invention(text: &str, sources: &[&ReflectionEvidence]) -> Option<Invention> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for source in sources {
        known.extend(words(&source.content));
        known.extend(words(source.from.name().unwrap_or_default()));
        known.extend(words(&source.at.to_string()));
    }
    let is_known = |word: &str| words(word).iter().all(|part| known.contains(part));
    let has_digit = |word: &&str| word.contains(|c: char| c.is_numeric());
    let mut numbers = text.split_whitespace().filter(has_digit);
    if let Some(number) = numbers.find(|word| !is_known(word)) {
        return Some(Invention::Number(bare(number)));
    }
    let said: Vec<String> = sources
        .iter()
        .map(|source| plain(&source.content))
        .collect();
    let mut quotations = quotations(text).into_iter();
    if let Some(words) =
        quotations.find(|words| !said.iter().any(|text| text.contains(&plain(words))))
    {
        return Some(Invention::Quotation(words.to_owned()));
    }
    let contents = sources.iter().map(|source| source.content.as_str());
    if !capitalises_nouns(contents) {
        let mut names = inner_words(text).filter(|word| is_capitalised(word));
        if let Some(name) = names.find(|word| !is_known(word)) {
            return Some(Invention::Name(bare(name)));
        }
    }
    let is_denied = sources.iter().any(|source| denies(&source.content));
    (denies(text) && !is_denied).then_some(Invention::Denial)
}

/// The parts of a text in quotation marks that have at least two words.
fn quotations(text: &str) -> Vec<&str> {
    let is_mark = |c: char| matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
    let parts = text.split(is_mark).skip(1).step_by(2);
    parts
        .filter(|part| part.split_whitespace().count() >= 2)
        .collect()
}

/// The words of a text with one space between them, so that punctuation makes no difference.
fn plain(text: &str) -> String {
    words(text).join(" ")
}

/// The words of a text that do not begin a sentence.
fn inner_words(text: &str) -> impl Iterator<Item = &str> {
    let mut begins = true;
    text.split_whitespace().filter(move |word| {
        let is_inner = !begins;
        begins = word.ends_with(['.', '!', '?', ':']);
        is_inner
    })
}

fn is_capitalised(word: &str) -> bool {
    let letters = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_first_person = matches!(letters.split(['\'', '’']).next(), Some("I"));
    letters.starts_with(char::is_uppercase) && !is_first_person
}

/// Whether a language writes common nouns with a capital letter, by the share of capitalised words: one in four in
/// German, one in ten in English talk about people.
fn capitalises_nouns<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let (mut all, mut capitalised) = (0_usize, 0_usize);
    for word in texts.flat_map(inner_words) {
        all += 1;
        capitalised += usize::from(is_capitalised(word));
    }
    all >= 10 && capitalised * 6 > all
}

fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}
