//! Reduces a text to the words that say something.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use dormouse_text::fold_look_alikes;

use super::{
    filter::Filter,
    function_words::{Language, Meanings, meanings},
    requests,
};

/// This word replaces every word that denies.
pub(super) const NOT: &str = "not";
/// At least this many digits in a row that are written one by one are one number: "nine four three one" is 9431.
const DIGITS_OF_ONE_NUMBER: usize = 3;

/// What a question ends with. The Greek question mark is left out: it looks like a semicolon, which ends no question in other
/// languages.
const QUESTION_MARKS: [char; 6] = ['?', '？', '؟', '⁇', '⁈', '⁉'];
/// What other sentences end with.
const SENTENCE_ENDS: [char; 5] = ['.', '!', '…', '。', '！'];
/// Signs that may be written between a minus and its number.
const CURRENCIES: [char; 4] = ['$', '\u{20ac}', '\u{a3}', '\u{a5}'];
/// What is written in front of a number below zero.
const MINUS: [char; 5] = ['-', '\u{2212}', '\u{2013}', '\u{fe63}', '\u{ff0d}'];

/// A word that says something, in its base form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it is a number or a name, which a paraphrase does not replace.
    pub(super) is_exact: bool,
}

/// A word of a text, in lower case, and what follows from it alone.
#[derive(Debug)]
pub(super) struct KnownWord {
    text: Box<str>,
    pub(super) base: Box<str>,
    /// Of the base form.
    pub(super) bits: Filter,
    pub(super) meanings: Meanings,
    is_number: bool,
}

/// Words in the order of a text.
pub(super) type KnownWords = Vec<Rc<KnownWord>>;

/// The most words that are kept.
const WORDS_KEPT: usize = 4_096;

thread_local! {
    // Most words of a text were in an earlier one, and finding a base form is slow. It depends on the word alone.
    static WORDS: RefCell<HashMap<Box<str>, Rc<KnownWord>>> = RefCell::default();
}

impl KnownWord {
    fn of(word: &str) -> Self {
        let base = crate::base_form(word);
        Self {
            text: word.into(),
            bits: Filter::of(&base),
            base: base.into(),
            meanings: meanings(word),
            is_number: is_number(word),
        }
    }
}

/// What is known of these words.
pub(super) fn known(words: &[String]) -> KnownWords {
    WORDS.with_borrow_mut(|kept| {
        let known = words.iter().map(|word| {
            if let Some(known) = kept.get(word.as_str()) {
                return Rc::clone(known);
            }
            if kept.len() >= WORDS_KEPT {
                kept.clear();
            }
            let known = Rc::new(KnownWord::of(word));
            kept.insert(word.as_str().into(), Rc::clone(&known));
            known
        });
        known.collect()
    })
}

/// The words of a text, in its order, in lower case, with numbers as digits. Small words are included.
pub(super) fn spelled(text: &str) -> KnownWords {
    known(&spelled_words(text))
}

/// The same, as plain words.
pub(super) fn spelled_words(text: &str) -> Vec<String> {
    let text = fold_look_alikes(text).to_lowercase();
    let text = apart_from_denials(joined_digits(with_signs(&text)));
    signed(as_digits(crate::words(&text)))
}

/// A word in the sense in which a text uses it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meant<'a> {
    /// It denies.
    Not,
    /// A word of the name of the speaker.
    Speaker(&'a KnownWord),
    /// A small word.
    Small(&'a KnownWord),
    /// A word that says something.
    Content(&'a KnownWord),
}

impl<'a> Meant<'a> {
    /// Its base form, and the bits of that.
    pub(super) fn base(self) -> (&'a str, Filter) {
        match self {
            Self::Not => (NOT, Filter::of(NOT)),
            Self::Speaker(word) | Self::Small(word) | Self::Content(word) => {
                (&word.base, word.bits)
            }
        }
    }

    /// Whether it is a number or the name of the speaker.
    pub(super) fn is_exact(self) -> bool {
        match self {
            Self::Not | Self::Small(_) => false,
            Self::Speaker(_) => true,
            Self::Content(word) => word.is_number,
        }
    }

    /// Whether it is one of these words.
    fn is_among(self, names: &BTreeSet<String>) -> bool {
        matches!(self, Self::Content(word) if names.contains(&*word.text))
    }
}

/// What the words of a text mean. Words with which speakers refer to themselves become the words of the speaker's name.
pub(super) fn meant<'a>(
    words: &'a [Rc<KnownWord>],
    language: Language,
    speaker: &'a [Rc<KnownWord>],
) -> impl Iterator<Item = Meant<'a>> {
    words.iter().flat_map(move |word| {
        let nobody: &[Rc<KnownWord>] = &[];
        let (name, itself) = if language.denies(word.meanings) {
            (nobody, Some(Meant::Not))
        } else if language.is_myself(word.meanings) {
            // Without a speaker nobody is meant, and the word is as small as any other.
            (speaker, speaker.is_empty().then_some(Meant::Small(word)))
        } else if language.is_function(word.meanings) {
            (nobody, Some(Meant::Small(word)))
        } else {
            (nobody, Some(Meant::Content(word)))
        };
        name.iter().map(|name| Meant::Speaker(name)).chain(itself)
    })
}

/// The words that say something, in base form.
pub(super) fn content_words(
    words: &[Rc<KnownWord>],
    language: Language,
    names: &BTreeSet<String>,
    speaker: &[Rc<KnownWord>],
) -> Vec<Word> {
    let meant = meant(words, language, speaker);
    let content = meant.filter(|word| !matches!(word, Meant::Small(_)));
    let content = content.map(|word| Word {
        text: word.base().0.to_owned(),
        is_exact: word.is_exact() || word.is_among(names),
    });
    let mut content: Vec<Word> = content.collect();
    // In "my own Alice", spoken by Alice, the name would otherwise occur twice in a row.
    content.dedup();
    content
}

/// The words of a text that are written as names: with a capital letter, but not at the beginning of a sentence.
pub(super) fn names(text: &str, language: Language) -> BTreeSet<String> {
    if !language.names_are_capital() {
        return BTreeSet::new();
    }
    let text = fold_look_alikes(text);
    let mut names = BTreeSet::new();
    let mut begins = true;
    for chunk in text.split_whitespace() {
        let first = chunk.chars().find(|c| c.is_alphanumeric());
        if !begins && first.is_some_and(char::is_uppercase) {
            names.extend(crate::words(&chunk.to_lowercase()));
        }
        begins = chunk.ends_with(['.', '!', '?', ':', '"', '”']);
    }
    names
}

/// Every word in base form, small ones included; every word that denies becomes [`NOT`].
pub(super) fn raw(
    words: &[Rc<KnownWord>],
    language: Language,
    speaker: &[Rc<KnownWord>],
) -> Vec<String> {
    let words = meant(words, language, speaker);
    words.map(|word| word.base().0.to_owned()).collect()
}

/// What a text asserts: its sentences that do not end with a question mark, and what it asks to be remembered.
pub(super) fn assertions(text: &str) -> Cow<'_, str> {
    if !text.contains(QUESTION_MARKS) {
        return Cow::Borrowed(text);
    }
    let mut asserted = String::with_capacity(text.len());
    let mut sentence = String::new();
    for chunk in text.split_inclusive(char::is_whitespace) {
        sentence.push_str(chunk);
        // The marks at the end of the word: `?"`, `?!`, `...`
        let word = chunk.trim_end();
        let marks = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let marks = word.strip_prefix(marks).unwrap_or_default();
        let asks = marks.contains(QUESTION_MARKS);
        if asks {
            if let Some(clause) = requests::to_remember(&sentence) {
                asserted.push_str(clause);
                asserted.push_str(". ");
            }
            sentence.clear();
        } else if marks.contains(SENTENCE_ENDS) {
            asserted.push_str(&sentence);
            sentence.clear();
        }
    }
    asserted.push_str(&sentence);
    Cow::Owned(asserted)
}

pub(super) fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.chars().all(|c| c.is_numeric())
}

/// "didn't" as "did not", which the splitter into words would otherwise read as "did".
fn apart_from_denials(text: Cow<'_, str>) -> Cow<'_, str> {
    // Most texts deny nothing in these forms, and need no copy.
    if !text.contains(['\'', '\u{2019}', '\u{2bc}']) && !text.contains("cannot") {
        return text;
    }
    let text = text.replace(['\u{2019}', '\u{2bc}'], "'");
    let text = text
        .replace("can't", "can not")
        .replace("won't", "will not")
        .replace("cannot", "can not");
    Cow::Owned(text.replace("n't", " not"))
}

/// The text with "minus" for the sign of a number, which the splitter into words would otherwise leave out. The dash of
/// "10-20" and of "room-7" is not a sign.
fn with_signs(text: &str) -> Cow<'_, str> {
    if !text.contains(MINUS) {
        return Cow::Borrowed(text);
    }
    let mut signed = String::with_capacity(text.len() + 8);
    let mut before = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let mut after = rest.clone().skip_while(|c| CURRENCIES.contains(c));
        let is_alone =
            before.is_none_or(|before: char| !before.is_alphanumeric() && !MINUS.contains(&before));
        if MINUS.contains(&c) && is_alone && after.next().is_some_and(char::is_numeric) {
            signed.push_str(" minus ");
        } else {
            signed.push(c);
        }
        before = Some(c);
    }
    Cow::Owned(signed)
}

/// Joins "minus" and the number that follows it.
fn signed(words: Vec<String>) -> Vec<String> {
    let mut signed: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        match signed.last_mut() {
            Some(last) if last == "minus" && is_number(&word) => *last = format!("-{word}"),
            _ => signed.push(word),
        }
    }
    signed
}

/// The text without the marks between groups of digits: "1,000" is 1000.
fn joined_digits(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return text;
    }
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| chars.get(at))
            .is_some_and(char::is_ascii_digit)
    };
    let kept = chars.iter().enumerate().filter(|(at, c)| {
        let is_mark = matches!(c, ',' | '\'' | '\u{202f}');
        !(is_mark && is_digit(at.checked_sub(1)) && (1..=3).all(|next| is_digit(Some(at + next))))
    });
    Cow::Owned(kept.map(|(_, c)| *c).collect())
}

/// Writes number words as digits.
fn as_digits(words: Vec<String>) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::with_capacity(words.len());
    let mut tens: Option<u32> = None;
    for word in words {
        let mut word = number_of(&word).map_or(word, |number| number.to_string());
        word.truncate(without_ordinal(&word).len());
        let is_digit = |word: &String| word.len() == 1 && is_number(word);
        // Alone, "one" is more often a pronoun than a number.
        if word == "one" && numbers.last().is_some_and(is_digit) {
            "1".clone_into(&mut word);
        }
        let value = word.parse::<u32>().ok();
        let unit = value.filter(|unit| (1..10).contains(unit));
        if let (Some(tens), Some(unit)) = (tens, unit) {
            // "twenty three" and "twenty-three"
            numbers.pop();
            numbers.push((tens + unit).to_string());
        } else {
            numbers.push(word);
        }
        tens = value.filter(|value| (20..100).contains(value) && value % 10 == 0);
    }
    joined_runs(numbers)
}

fn joined_runs(words: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(words.len());
    let mut run: Vec<String> = Vec::new();
    let flush = |run: &mut Vec<String>, joined: &mut Vec<String>| {
        if run.len() >= DIGITS_OF_ONE_NUMBER {
            joined.push(run.concat());
            run.clear();
        } else {
            joined.append(run);
        }
    };
    for word in words {
        if word.len() == 1 && is_number(&word) {
            run.push(word);
        } else {
            flush(&mut run, &mut joined);
            joined.push(word);
        }
    }
    flush(&mut run, &mut joined);
    joined
}

/// "3rd" as 3.
fn without_ordinal(word: &str) -> &str {
    let ends = ["st", "nd", "rd", "th"];
    let number = ends.iter().find_map(|end| word.strip_suffix(end));
    match number {
        Some(number) if !number.is_empty() && is_number(number) => number,
        _ => word,
    }
}

/// The number that a word means in some language. Words that mean something else in another language (Spanish "once")
/// are not read as numbers.
fn number_of(word: &str) -> Option<u32> {
    Some(match word {
        "zero" | "cero" => 0,
        "two" | "zwei" | "deux" | "dos" | "twee" | "dois" => 2,
        "three" | "third" | "drei" | "trois" | "tres" | "drie" => 3,
        "four" | "fourth" | "vier" | "quatre" | "cuatro" | "quattro" | "quatro" => 4,
        "five" | "fifth" | "funf" | "cinq" | "cinco" | "cinque" | "vijf" => 5,
        "six" | "sixth" | "sechs" | "seis" | "zes" => 6,
        "seven" | "seventh" | "sieben" | "siete" | "sette" | "zeven" => 7,
        "eight" | "eighth" | "acht" | "huit" | "ocho" | "oito" => 8,
        "nine" | "ninth" | "neun" | "neuf" | "nueve" | "negen" => 9,
        "ten" | "tenth" | "zehn" | "dix" | "diez" | "dieci" | "tien" => 10,
        "eleven" | "onze" | "undici" => 11,
        "twelve" | "twelfth" | "zwolf" | "douze" | "doce" | "dodici" | "twaalf" | "dozen" => 12,
        "thirteen" | "dreizehn" | "treize" | "trece" => 13,
        "fourteen" | "vierzehn" | "quatorze" | "catorce" => 14,
        "fifteen" | "funfzehn" | "quinze" | "quince" => 15,
        "sixteen" | "sechzehn" => 16,
        "seventeen" | "siebzehn" => 17,
        "eighteen" | "achtzehn" => 18,
        "nineteen" | "neunzehn" => 19,
        "twenty" | "zwanzig" | "vingt" | "veinte" | "venti" => 20,
        "thirty" | "dreissig" | "trente" | "treinta" | "trenta" => 30,
        "forty" | "vierzig" | "quarante" | "cuarenta" => 40,
        "fifty" | "funfzig" | "cinquante" | "cincuenta" => 50,
        "sixty" | "sechzig" => 60,
        "seventy" | "siebzig" => 70,
        "eighty" | "achtzig" => 80,
        "ninety" | "neunzig" => 90,
        "hundred" | "hundert" | "cien" => 100,
        "thousand" | "tausend" => 1000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let spelled = spelled(text);
        let language = Language::of(spelled.iter().map(|word| word.meanings));
        let words = content_words(
            &spelled,
            language,
            &names(text, language),
            &known(&["alice".to_owned()]),
        );
        words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn numbers_are_equal_in_words_and_in_digits() {
        for (one, other) in [
            ("I have three brothers", "I have 3 brothers"),
            ("it costs 1,000 crowns", "it costs 1000 crowns"),
            ("nine four three one", "9431"),
            ("twenty-three eggs", "23 eggs"),
            ("on the third day", "on the 3rd day"),
            ("ich habe drei Brüder", "ich habe 3 Brüder"),
        ] {
            assert_eq!(told(one), told(other));
        }
        assert_ne!(told("13 eggs"), told("30 eggs"));
    }

    #[test]
    fn a_denial_is_a_word_of_its_own() {
        assert_eq!(told("Bob didn’t lie"), ["bob", "not", "lie"]);
        assert_eq!(told("Bob lied"), ["bob", "lie"]);
        assert_eq!(told("nobody lies"), ["not", "lie"]);
        assert_eq!(told("Das Tor ist nicht offen"), ["tor", "not", "offen"]);
    }

    #[test]
    fn speakers_who_mean_themselves_say_their_name() {
        assert_eq!(told("My horse is called Star"), ["alic", "hors", "star"]);
        assert_eq!(told("Alice's horse is Star"), ["alic", "hors", "star"]);
    }

    #[test]
    fn look_alikes_and_hidden_characters_make_no_other_word() {
        assert_eq!(told("the vаu\u{200b}lt"), told("the vault"));
    }
}
