//! Computes the trust of a text that was made from other texts. It depends on which of them supply the words of the
//! text.
//!
//! Notes of an assistant and facts that a model extracts follow this rule.
//!
//! A model that writes a note names its sources, but it may be wrong or misled about them. So a named source counts
//! only for what it says. Every other text that the model was shown is a source, too, if it supplies something that the
//! named ones lack.

mod analysed;
mod filter;
mod function_words;
mod requests;
mod supplied;
mod words;

use std::{borrow::Cow, collections::BTreeSet};

use dormouse_contracts::{FORGOTTEN, Trust};

pub use analysed::AnalysedText;
use function_words::Language;
pub use function_words::is_small_word;
use supplied::{Sought, Supplied};
use words::{NOT, Word, content_words, names, raw, spelled};

/// The highest trust of a text with a part that no source supplies: the model inferred that part.
pub const INFERRED: Trust = match Trust::try_new(0.6) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// The trust of a name: anybody may have chosen it.
pub const OF_NAMES: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// A text that a model was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownText<'a> {
    /// How far it is believed.
    pub trust: Trust,
    /// The attested name of the speaker, or empty.
    pub speaker: String,
    /// The name of the channel on which it was said, or empty.
    pub channel: String,
    /// Other attested facts about it that a note may repeat, such as the day.
    pub around: String,
    /// What it says.
    pub words: Cow<'a, str>,
    /// Whether it is only the name of somebody or something.
    pub is_name: bool,
}

impl<'a> ShownText<'a> {
    /// A text about which nothing is attested.
    #[must_use]
    pub fn text(trust: Trust, words: impl Into<Cow<'a, str>>) -> Self {
        Self {
            trust,
            speaker: String::new(),
            channel: String::new(),
            around: String::new(),
            words: words.into(),
            is_name: false,
        }
    }

    /// The name of somebody or something. It has little trust, because a name can be chosen to make a claim.
    #[must_use]
    pub fn name(name: impl Into<Cow<'a, str>>) -> Self {
        Self {
            is_name: true,
            ..Self::text(OF_NAMES, name)
        }
    }
}

/// How far a text is believed, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// How far it is believed.
    pub trust: Trust,
    /// Whether it has a part that no shown text supplies.
    pub is_inferred: bool,
    /// The index of the other text that lowered the trust to its value, if one did.
    pub lowered_by: Option<usize>,
    /// The indexes of the other texts that it may be made from, too: all that supply a word, and all that lower the
    /// trust. The trust is the lowest of the named texts, these texts, and [`INFERRED`] if it is inferred.
    pub sources: BTreeSet<usize>,
}

impl Support {
    /// Records that it may be made from this text, too.
    fn rests_on(&mut self, index: usize, shown: &ShownText<'_>) {
        self.sources.insert(index);
        if shown.trust < self.trust {
            self.trust = shown.trust;
            self.lowered_by = Some(index);
        }
    }
}

/// The trust of `text` if a model made it from the texts `named` and was also shown `others`. `subject` is the name of
/// the person or thing that it is a note about. Pure.
///
/// The trust is the lowest of
///
/// - the named texts;
/// - every other text that supplies a word, a name or a number that the named ones lack, or two neighbouring words of
///   `text` that are not neighbours in any named text: in another order, the words of a trusted message say something
///   else;
/// - every other text with a run of three words of `text`, small ones included, that no named text has. If `text` is
///   shorter, all of it is the run. A part of the name of somebody who was heard is not a run;
/// - [`INFERRED`], if one of the words is supplied by no text, or if `text` has only small words, denials and names of
///   those who were heard. In the latter case every text that has a run of it counts, too;
/// - everything that was shown, if a number, a name, or more than half of the words are supplied by no text: then
///   `text` may be a rewording of anything.
///
/// A question asserts nothing: the questions of the named texts supply nothing. The questions of other texts can lower
/// the trust. A request to remember something asserts it, even in the form of a question ("Could you remember that
/// ...?").
///
/// Without a named text everything that was shown may be the source.
///
/// A text also supplies the names of its speaker and its channel: the whole name, or one word of it if `text` contains
/// no other word of it. So "Bob found the key" has the trust of the message in which Bob says so. But the words of a
/// name in another order are a claim with the trust of the name. If `text` begins with its subject, and that is one
/// word, the word needs no source.
#[must_use]
pub fn support(
    text: &str,
    subject: &str,
    named: &[&AnalysedText<'_>],
    others: &[&AnalysedText<'_>],
) -> Support {
    let note = Note::of(text);
    let supplied = Together::of(named.iter().map(|shown| shown.asserted().supplied(&note)));
    let trusts = named.iter().map(|shown| shown.trust);
    let mut support = Support {
        trust: trusts.fold(Trust::FULL, Trust::lowest),
        is_inferred: false,
        lowered_by: None,
        sources: BTreeSet::new(),
    };
    let of_named = support.trust;
    let mut as_names = note.subject(subject);
    as_names.extend(note.used_as(supplied.names()));
    let lacking = note.lacking(&supplied, &as_names);
    let others: Vec<_> = others
        .iter()
        .map(|shown| (*shown, shown.supplied(&note)))
        .collect();
    // People who were heard have a name that the world attests, and may be called by it.
    let heard = others.iter().filter(|(shown, _)| !shown.is_name);
    let heard = heard.map(|(_, other)| *other);
    let attested: BTreeSet<&[String]> = supplied
        .names()
        .chain(heard.clone().flat_map(names_of))
        .collect();
    let raw_names = supplied.0.iter().copied().chain(heard);
    let raw_names: BTreeSet<&Vec<String>> = raw_names.flat_map(|it| &it.raw_names).collect();
    as_names.extend(note.used_as(attested.iter().copied()));
    let runs = note.runs(&raw_names);
    let lacking_runs: Vec<&Sought> = runs.iter().filter(|run| !supplied.has_run(run)).collect();
    let mut known: BTreeSet<usize> = BTreeSet::new();
    for (index, (shown, other)) in others.iter().enumerate() {
        let could_lower = shown.trust < of_named;
        if !could_lower && lacking.words.is_empty() {
            continue;
        }
        let names = note.used_as(names_of(other));
        let is_supplied = |at: &usize| match shown.is_name {
            true => !as_names.contains(at) && note.is_in(*at, other),
            false => names.contains(at) || note.is_in(*at, other),
        };
        // Denials do not count here, because nearly every line has one. The pairs show which words it denies.
        let words = lacking.words.iter().copied();
        let words = words.filter(|at| !note.denies(*at)).filter(is_supplied);
        let words: Vec<usize> = words.collect();
        let has_run = || lacking_runs.iter().any(|run| other.has_run(run));
        let has_pair = || {
            lacking.pairs.iter().any(|at| {
                let is_name =
                    shown.is_name && as_names.contains(at) && as_names.contains(&(at + 1));
                !is_name && note.has_pair(*at, other)
            })
        };
        if !words.is_empty() || could_lower && (has_pair() || has_run()) {
            support.rests_on(index, shown);
        }
        if words.is_empty() || shown.asserts_all() {
            known.extend(words);
        } else {
            let asserted = shown.asserted().supplied(&note);
            let words = words.into_iter();
            known.extend(words.filter(|at| names.contains(at) || note.is_in(*at, asserted)));
        }
    }
    let unknown = lacking.words.iter().filter(|at| !known.contains(at));
    let unknown: Vec<&Word> = unknown.filter_map(|at| note.words.get(*at)).collect();
    if !unknown.is_empty() {
        support.is_inferred = true;
        support.trust = support.trust.lowest(INFERRED);
    }
    // A text that was forgotten since may have contained any of the unknown words.
    for (index, (shown, _)) in others.iter().enumerate() {
        if !unknown.is_empty() && shown.trust < support.trust && shown.words == FORGOTTEN {
            support.rests_on(index, shown);
        }
    }
    let says_nothing = note.says_nothing(&as_names);
    if says_nothing {
        support.is_inferred = true;
        support.trust = support.trust.lowest(INFERRED);
        // Small words are in nearly every text, so the named texts may have such a run by chance.
        let before = support.trust;
        for (index, (shown, other)) in others.iter().enumerate() {
            if shown.trust < before && runs.iter().any(|run| other.has_run(run)) {
                support.rests_on(index, shown);
            }
        }
    }
    let is_mostly_unknown = 2 * unknown.len() > note.words.len();
    if is_mostly_unknown || unknown.iter().any(|word| word.is_exact) {
        let before = support.trust;
        for (index, (shown, other)) in others.iter().enumerate() {
            // A name of one word cannot be reworded, and people who were heard have messages of their own among the
            // texts.
            let may_be_source =
                || !shown.is_name || other.says_something() && !other.is_one_of(&attested);
            if shown.trust < before && may_be_source() {
                support.rests_on(index, shown);
            }
        }
    }
    support
}

/// Whether one text alone says everything that `text` says, in the same order. `subject` is as for [`support`]. Pure.
#[must_use]
pub fn says_all(text: &str, subject: &str, shown: &AnalysedText<'_>) -> bool {
    let note = Note::of(text);
    let supplied = Together::of([shown.asserted().supplied(&note)]);
    let mut as_names = note.subject(subject);
    as_names.extend(note.used_as(supplied.names()));
    let lacking = note.lacking(&supplied, &as_names);
    !note.says_nothing(&as_names) && lacking.words.is_empty() && lacking.pairs.is_empty()
}

/// A word of a text, and which texts contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuppliedWord {
    /// Whether it is a name or a number.
    pub is_exact: bool,
    /// The indexes of the texts that contain it.
    pub by: BTreeSet<usize>,
}

/// The words of `text` that no text of `known` contains, each with the texts of `others` that contain it. Words that no
/// text contains, small words, denials and names of those who were heard are left out. Pure.
#[must_use]
pub fn suppliers(
    text: &str,
    known: &[&AnalysedText<'_>],
    others: &[&AnalysedText<'_>],
) -> Vec<SuppliedWord> {
    let note = Note::of(text);
    let supplied = Together::of(known.iter().map(|shown| shown.supplied(&note)));
    let others: Vec<_> = others
        .iter()
        .map(|shown| (shown.is_name, shown.supplied(&note)))
        .collect();
    let heard = others.iter().filter(|(is_name, _)| !is_name);
    let heard = heard.flat_map(|(_, other)| names_of(other));
    let names: BTreeSet<&[String]> = supplied.names().chain(heard).collect();
    let lacking = note.lacking_words(&supplied, &note.used_as(names));
    let lacking = lacking.into_iter().filter(|at| !note.denies(*at));
    let words = lacking.map(|at| SuppliedWord {
        is_exact: note.words.get(at).is_some_and(|word| word.is_exact),
        by: (0..)
            .zip(&others)
            .filter(|(_, (_, other))| note.is_in(at, other))
            .map(|(index, _)| index)
            .collect(),
    });
    words.filter(|word| !word.by.is_empty()).collect()
}

/// Whether `name` contains a word of `text` that none of `others` contains. Pure.
#[must_use]
pub fn is_only_in_name(text: &str, name: &AnalysedText<'_>, others: &[&AnalysedText<'_>]) -> bool {
    let note = Note::of(text);
    let name = name.supplied(&note);
    // Nothing else has to be looked at if the name says no word of it.
    if !(0..note.words.len()).any(|at| note.is_in(at, name)) {
        return false;
    }
    let supplied = Together::of(others.iter().map(|shown| shown.supplied(&note)));
    let as_names = note.used_as(supplied.names());
    let mut words = note.lacking_words(&supplied, &as_names).into_iter();
    words.any(|at| note.is_in(at, name))
}

/// How many neighbouring words two texts must share so that it is hardly a coincidence.
const RUN: usize = 3;

/// The text whose trust is computed.
struct Note {
    words: Vec<Word>,
    /// The words in the form in which they are looked for in other texts.
    sought: Vec<Sought>,
    /// Each word but the last with the one that follows it.
    pairs: Vec<Sought>,
    /// All words, small ones included.
    raw: Vec<String>,
    language: Language,
}

/// The places of words.
type Places = BTreeSet<usize>;

/// What a note says that its named sources do not.
struct Lacking {
    /// The places of words.
    words: Vec<usize>,
    /// The places of the first of two neighbours.
    pairs: Vec<usize>,
}

/// What several texts supply.
struct Together<'a>(Vec<&'a Supplied>);

impl<'a> Together<'a> {
    fn of(texts: impl IntoIterator<Item = &'a Supplied>) -> Self {
        Self(texts.into_iter().collect())
    }

    fn names(&self) -> impl Iterator<Item = &'a [String]> {
        self.0.iter().copied().flat_map(names_of)
    }

    fn has_run(&self, run: &Sought) -> bool {
        self.0.iter().any(|one| one.has_run(run))
    }
}

fn names_of(supplied: &Supplied) -> impl Iterator<Item = &[String]> {
    supplied.names.iter().map(Vec::as_slice)
}

impl Note {
    fn of(text: &str) -> Self {
        let spelled = spelled(text);
        let language = Language::of(spelled.iter().map(|word| word.meanings));
        let names = names(text, language);
        let mut words = content_words(&spelled, language, &names, &[]);
        words.retain(|word| !word.text.is_empty());
        let raw = raw(&spelled, language, &[]);
        let sought = words.iter().map(|word| Sought::of([word.text.as_str()]));
        let following = words.iter().skip(1);
        let pairs = words.iter().zip(following);
        let pairs = pairs.map(|(one, next)| Sought::of([one.text.as_str(), &next.text]));
        Self {
            sought: sought.collect(),
            pairs: pairs.collect(),
            words,
            raw,
            language,
        }
    }

    /// The place of the subject, if the note begins with it and has further words.
    fn subject(&self, subject: &str) -> Places {
        let begins = match (self.words.as_slice(), &*words_of(subject, self.language)) {
            ([first, _, ..], [name]) => first.text == *name,
            _ => false,
        };
        begins.then_some(0).into_iter().collect()
    }

    /// The places at which these names are used. A name is used as a whole, or by one of its words, if no other word of
    /// it occurs elsewhere.
    fn used_as<'n>(&self, names: impl IntoIterator<Item = &'n [String]>) -> Places {
        let names = names.into_iter();
        names.flat_map(|name| self.used_as_one(name)).collect()
    }

    fn used_as_one(&self, name: &[String]) -> Places {
        let is_whole = |window: &[Word]| {
            let words = window.iter().map(|word| &word.text);
            words.eq(name)
        };
        let windows = self.words.windows(name.len().max(1)).enumerate();
        let whole = windows.filter(|(_, window)| is_whole(window));
        let mut places: Places = whole.flat_map(|(at, _)| at..at + name.len()).collect();
        let words = self.words.iter().enumerate();
        let single = words.filter(|(at, word)| !places.contains(at) && name.contains(&word.text));
        let single: Vec<_> = single.collect();
        let is_one = |rest: &[(usize, &Word)]| {
            let mut words = rest.iter().map(|(_, word)| &word.text);
            let first = words.next();
            words.all(|word| Some(word) == first)
        };
        if is_one(&single) {
            places.extend(single.into_iter().map(|(at, _)| at));
        }
        places
    }

    /// Whether a text says the word at a place.
    fn is_in(&self, at: usize, text: &Supplied) -> bool {
        self.sought.get(at).is_some_and(|word| text.says(word))
    }

    /// Whether a text has the word at a place and the one that follows it as neighbours.
    fn has_pair(&self, at: usize, text: &Supplied) -> bool {
        self.pairs.get(at).is_some_and(|pair| text.has_pair(pair))
    }

    /// Its runs of neighbouring words, without those that are a part of one of these names.
    fn runs(&self, names: &BTreeSet<&Vec<String>>) -> Vec<Sought> {
        let length = RUN.min(self.raw.len()).max(1);
        let is_name = |run: &[String]| names.iter().any(|name| contains(name, run));
        let runs = self.raw.windows(length).filter(|run| !is_name(run));
        runs.map(|run| Sought::of(run.iter().map(String::as_str)))
            .collect()
    }

    /// Whether it has only small words, denials, and names.
    fn says_nothing(&self, as_names: &Places) -> bool {
        (0..self.words.len()).all(|at| self.denies(at) || as_names.contains(&at))
    }

    fn denies(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.text == NOT)
    }

    /// What `supplied` lacks of it. Nothing has to supply the words at the places of `as_names`.
    fn lacking(&self, supplied: &Together<'_>, as_names: &Places) -> Lacking {
        let has_pair = |at: usize| supplied.0.iter().any(|one| self.has_pair(at, one));
        let pairs = (0..self.pairs.len()).filter(|at| {
            let is_name = as_names.contains(at) && as_names.contains(&(at + 1));
            !is_name && !has_pair(*at)
        });
        Lacking {
            words: self.lacking_words(supplied, as_names),
            pairs: pairs.collect(),
        }
    }

    fn lacking_words(&self, supplied: &Together<'_>, as_names: &Places) -> Vec<usize> {
        let is_said = |at: usize| supplied.0.iter().any(|one| self.is_in(at, one));
        let words = 0..self.words.len();
        words
            .filter(|at| !as_names.contains(at) && !is_said(*at))
            .collect()
    }
}

/// The words of a name that say something.
fn words_of(name: &str, language: Language) -> Vec<String> {
    let words = content_words(&spelled(name), language, &BTreeSet::new(), &[]);
    words.into_iter().map(|word| word.text).collect()
}

/// Whether one list of words has the other in it, one after the other.
fn contains(words: &[String], run: &[String]) -> bool {
    words.windows(run.len().max(1)).any(|part| part == run)
}

#[cfg(test)]
mod tests;
