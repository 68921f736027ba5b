//! How far a text is believed that was made from other texts, by which of them supply its words.
//!
//! A model that notes something names its sources, but it may have been misled about them, or mislead. So the named
//! sources count only for what they say. Every other text that the model was shown and that supplies something which
//! the named ones lack is a source, too.

mod function_words;
mod words;

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use dormouse_contracts::Trust;

use function_words::Language;
use words::{NOT, Word, names, spelled, telling};

/// The most trust of what no source supplies: the model inferred it.
pub(crate) const INFERRED: Trust = match Trust::try_new(0.6) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// A text that a model was shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown<'a> {
    pub(crate) trust: Trust,
    /// The name of who said it, which the world attests, or nothing.
    pub(crate) speaker: String,
    /// What else the world attests about it and a note may repeat, such as the day and the channel.
    pub(crate) around: String,
    pub(crate) words: Cow<'a, str>,
}

impl<'a> Shown<'a> {
    /// A text of which nobody attests anything.
    pub(crate) fn text(trust: Trust, words: impl Into<Cow<'a, str>>) -> Self {
        Self {
            trust,
            speaker: String::new(),
            around: String::new(),
            words: words.into(),
        }
    }
}

/// How far a text is believed, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Support {
    pub(crate) trust: Trust,
    /// Whether nothing that was shown supplies a part of it.
    pub(crate) is_inferred: bool,
    /// Which of the other texts lowered the trust, if one did.
    pub(crate) lowered_by: Option<usize>,
}

/// How far `text` is believed if it was made from `named`, while `others` were shown as well. Words of `given` need no
/// source. Pure.
///
/// The trust is the lowest of
///
/// - the named texts;
/// - every other text that supplies a word, a name or a number which the named ones lack, or two neighbouring words of
///   `text` that are not neighbours in any named text: the words of a trusted message in another order say something
///   else;
/// - [`INFERRED`], if nobody supplies a word;
/// - everything that was shown, if nobody supplies a number, a name, or more than half of the words: then it may be
///   another wording of any of it.
///
/// Without a named text everything that was shown may be the source.
pub(crate) fn support(
    text: &str,
    given: &str,
    named: &[&Shown<'_>],
    others: &[&Shown<'_>],
) -> Support {
    let note = Note::of(text, given);
    let mut supplied = Supplied::default();
    for shown in named {
        supplied.add(&Supplied::by(&note, shown));
    }
    let trusts = named.iter().map(|shown| shown.trust);
    let mut support = Support {
        trust: trusts.fold(Trust::FULL, Trust::lowest),
        is_inferred: false,
        lowered_by: None,
    };
    let lacking = note.lacking(&supplied);
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (index, shown) in others.iter().enumerate() {
        let could_lower = shown.trust < support.trust;
        if !could_lower && lacking.words.is_empty() {
            continue;
        }
        let other = Supplied::by(&note, shown);
        let words = lacking.words.iter().map(|word| word.text.as_str());
        // Nearly every line denies something; which words it denies is in the pairs.
        let words = words.filter(|word| *word != NOT);
        let words: Vec<&str> = words.filter(|word| other.words.contains(*word)).collect();
        let has_pair = lacking.pairs.iter().any(|pair| other.pairs.contains(pair));
        if could_lower && (!words.is_empty() || has_pair) {
            support.trust = shown.trust;
            support.lowered_by = Some(index);
        }
        known.extend(words);
    }
    let unknown = lacking
        .words
        .iter()
        .filter(|word| !known.contains(word.text.as_str()));
    let unknown: Vec<&Word> = unknown.copied().collect();
    if !unknown.is_empty() || note.words.is_empty() {
        support.is_inferred = true;
        support.trust = support.trust.lowest(INFERRED);
    }
    let is_mostly_unknown = 2 * unknown.len() > note.words.len();
    if is_mostly_unknown || unknown.iter().any(|word| word.is_exact) {
        for (index, shown) in others.iter().enumerate() {
            if shown.trust < support.trust {
                support.trust = shown.trust;
                support.lowered_by = Some(index);
            }
        }
    }
    support
}

/// Whether one text alone says everything that `text` says, in the same order. Words of `given` need no source. Pure.
pub(crate) fn says_all(text: &str, given: &str, shown: &Shown<'_>) -> bool {
    let note = Note::of(text, given);
    let lacking = note.lacking(&Supplied::by(&note, shown));
    !note.words.is_empty() && lacking.words.is_empty() && lacking.pairs.is_empty()
}

/// A text whose sources are looked for.
struct Note {
    words: Vec<Word>,
    language: Language,
    /// The words for which no source is needed.
    given: BTreeSet<String>,
}

/// What a note says that its named sources do not.
struct Lacking<'a> {
    words: Vec<&'a Word>,
    pairs: Vec<(String, String)>,
}

/// The words of a note that some texts say, and the neighbours among their words.
#[derive(Default)]
struct Supplied {
    words: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
}

impl Note {
    fn of(text: &str, given: &str) -> Self {
        let spelled_text = spelled(text);
        let language = Language::of(&spelled_text);
        let names = names(text, language);
        let given = telling(&spelled(given), language, &BTreeSet::new(), &[]);
        let mut words = telling(&spelled_text, language, &names, &[]);
        words.retain(|word| !word.text.is_empty());
        Self {
            words,
            language,
            given: given.into_iter().map(|word| word.text).collect(),
        }
    }

    fn lacking(&self, supplied: &Supplied) -> Lacking<'_> {
        let has =
            |word: &Word| supplied.words.contains(&word.text) || self.given.contains(&word.text);
        let words = self.words.iter().filter(|word| !has(word)).collect();
        let pairs = pairs(&self.words);
        let pairs = pairs.filter(|pair| !supplied.pairs.contains(pair));
        Lacking {
            words,
            pairs: pairs.collect(),
        }
    }
}

/// What decides which words a text supplies: the language of the note, and the text.
type SuppliedKey = (Language, String, String, String);

/// The most texts whose words are kept.
const SUPPLIED_KEPT: usize = 1_024;

thread_local! {
    // Each reply looks at the same earlier texts again, and finding base forms is slow. The result depends on the key
    // alone.
    static SUPPLIED: RefCell<HashMap<SuppliedKey, Rc<Supplied>>> = RefCell::default();
}

impl Supplied {
    fn by(note: &Note, shown: &Shown<'_>) -> Rc<Self> {
        let key = (
            note.language,
            shown.speaker.clone(),
            shown.around.clone(),
            shown.words.clone().into_owned(),
        );
        SUPPLIED.with_borrow_mut(|kept| {
            if let Some(supplied) = kept.get(&key) {
                return Rc::clone(supplied);
            }
            if kept.len() >= SUPPLIED_KEPT {
                kept.clear();
            }
            let supplied = Rc::new(Self::new(note.language, shown));
            kept.insert(key, Rc::clone(&supplied));
            supplied
        })
    }

    fn new(language: Language, shown: &Shown<'_>) -> Self {
        let mut supplied = Self::default();
        let speaker = spelled(&shown.speaker);
        let words = spelled(&shown.words);
        let none = BTreeSet::new();
        // A note may repeat "my", or name whose it is.
        let as_written = telling(&words, language, &none, &[]);
        supplied.pairs.extend(pairs(&as_written));
        let said = telling(&words, language, &none, &speaker);
        supplied.pairs.extend(pairs(&said));
        let attested = spelled(&shown.around).into_iter().chain(speaker);
        let attested = attested.map(|word| dormouse_retrieval::base_form(&word));
        supplied.words.extend(attested);
        supplied
            .words
            .extend(said.into_iter().map(|word| word.text));
        supplied
    }

    fn add(&mut self, other: &Self) {
        self.words.extend(other.words.iter().cloned());
        self.pairs.extend(other.pairs.iter().cloned());
    }
}

fn pairs(words: &[Word]) -> impl Iterator<Item = (String, String)> {
    let following = words.iter().skip(1);
    words
        .iter()
        .zip(following)
        .map(|(one, next)| (one.text.clone(), next.text.clone()))
}

#[cfg(test)]
mod tests;
