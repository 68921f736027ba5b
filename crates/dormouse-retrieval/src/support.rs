//! Computes the trust of a text that was made from other texts, from which of them supply its words.
//!
//! Notes of an assistant and facts that a model extracts follow this rule.
//!
//! A model that writes a note names its sources, but it may be wrong or misled about them. So a named source counts
//! only for what it says. Every other text that the model was shown is a source, too, if it supplies something that the
//! named ones lack.

mod function_words;
mod requests;
mod words;

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use dormouse_contracts::{FORGOTTEN, Trust};

use function_words::Language;
pub use function_words::is_small_word;
use words::{NOT, Word, assertions, names, raw, spelled, telling};

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
/// - [`INFERRED`], if no text supplies one of the words, or if `text` has only small words, denials and names of those
///   who were heard. In the latter case every text that has a run of it counts, too;
/// - everything that was shown, if no text supplies one of the numbers, one of the names, or more than half of the
///   words: then `text` may be a rewording of anything.
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
    named: &[&ShownText<'_>],
    others: &[&ShownText<'_>],
) -> Support {
    let note = Note::of(text);
    let mut supplied = Supplied::default();
    for shown in named {
        supplied.add(&Supplied::by(&note, &asserted(shown)));
    }
    let trusts = named.iter().map(|shown| shown.trust);
    let mut support = Support {
        trust: trusts.fold(Trust::FULL, Trust::lowest),
        is_inferred: false,
        lowered_by: None,
        sources: BTreeSet::new(),
    };
    let of_named = support.trust;
    let mut as_names = note.subject(subject);
    as_names.extend(note.used_as(&supplied.names));
    let lacking = note.lacking(&supplied, &as_names);
    let others: Vec<_> = others
        .iter()
        .map(|shown| (*shown, Supplied::by(&note, shown)))
        .collect();
    // The world attests the names of people who were heard, so a note may use these names.
    let mut attested = supplied.names.clone();
    let mut raw_names = supplied.raw_names.clone();
    for (_, other) in others.iter().filter(|(shown, _)| !shown.is_name) {
        attested.extend(other.names.iter().cloned());
        raw_names.extend(other.raw_names.iter().cloned());
    }
    as_names.extend(note.used_as(&attested));
    let runs = note.runs(&raw_names);
    let lacking_runs: Vec<&String> = runs.iter().filter(|run| !supplied.has(run)).collect();
    let mut known: BTreeSet<usize> = BTreeSet::new();
    for (index, (shown, other)) in others.iter().enumerate() {
        let could_lower = shown.trust < of_named;
        if !could_lower && lacking.words.is_empty() {
            continue;
        }
        let names = note.used_as(&other.names);
        let is_supplied = |at: &usize| match shown.is_name {
            true => !as_names.contains(at) && note.is_in(*at, &other.words),
            false => names.contains(at) || note.is_in(*at, &other.words),
        };
        // Denials do not count here, because nearly every line has one. The pairs show which words it denies.
        let words = lacking.words.iter().copied();
        let words = words.filter(|at| !note.denies(*at)).filter(is_supplied);
        let words: Vec<usize> = words.collect();
        let has_run = || other.has_one_of(&lacking_runs);
        let has_pair = lacking.pairs.iter().any(|(at, pair)| {
            let is_name = shown.is_name && as_names.contains(at) && as_names.contains(&(at + 1));
            !is_name && other.pairs.contains(pair)
        });
        if !words.is_empty() || could_lower && (has_pair || has_run()) {
            support.rests_on(index, shown);
        }
        let asserted = asserted(shown);
        if let Cow::Borrowed(_) = asserted {
            known.extend(words);
        } else {
            let asserted = Supplied::by(&note, &asserted);
            let words = words.into_iter();
            known.extend(words.filter(|at| names.contains(at) || note.is_in(*at, &asserted.words)));
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
        if !unknown.is_empty() && shown.words == FORGOTTEN && shown.trust < support.trust {
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
            if shown.trust < before && runs.iter().any(|run| other.has(run)) {
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
                !shown.is_name || other.says_something() && !other.is_one_of(&attested);
            if may_be_source && shown.trust < before {
                support.rests_on(index, shown);
            }
        }
    }
    support
}

/// Whether one text alone says everything that `text` says, in the same order. `subject` is as for [`support`]. Pure.
#[must_use]
pub fn says_all(text: &str, subject: &str, shown: &ShownText<'_>) -> bool {
    let note = Note::of(text);
    let supplied = Supplied::by(&note, &asserted(shown));
    let mut as_names = note.subject(subject);
    as_names.extend(note.used_as(&supplied.names));
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
    known: &[&ShownText<'_>],
    others: &[&ShownText<'_>],
) -> Vec<SuppliedWord> {
    let note = Note::of(text);
    let mut supplied = Supplied::default();
    for shown in known {
        supplied.add(&Supplied::by(&note, shown));
    }
    let others: Vec<_> = others
        .iter()
        .map(|shown| (shown.is_name, Supplied::by(&note, shown)))
        .collect();
    let mut names = supplied.names.clone();
    for (_, other) in others.iter().filter(|(is_name, _)| !is_name) {
        names.extend(other.names.iter().cloned());
    }
    let lacking = note.lacking(&supplied, &note.used_as(&names)).words;
    let lacking = lacking.into_iter().filter(|at| !note.denies(*at));
    let words = lacking.map(|at| SuppliedWord {
        is_exact: note.words.get(at).is_some_and(|word| word.is_exact),
        by: (0..)
            .zip(&others)
            .filter(|(_, (_, other))| note.is_in(at, &other.words))
            .map(|(index, _)| index)
            .collect(),
    });
    words.filter(|word| !word.by.is_empty()).collect()
}

/// Whether `name` contains a word of `text` that none of `others` contains. Pure.
#[must_use]
pub fn is_only_in_name(text: &str, name: &ShownText<'_>, others: &[&ShownText<'_>]) -> bool {
    let note = Note::of(text);
    let mut supplied = Supplied::default();
    for shown in others {
        supplied.add(&Supplied::by(&note, shown));
    }
    let as_names = note.used_as(&supplied.names);
    let lacking = note.lacking(&supplied, &as_names);
    let name = Supplied::by(&note, name);
    let mut words = lacking.words.into_iter();
    words.any(|at| note.is_in(at, &name.words))
}

/// A text without its questions.
fn asserted<'a>(shown: &'a ShownText<'a>) -> Cow<'a, ShownText<'a>> {
    match assertions(&shown.words) {
        Cow::Borrowed(_) => Cow::Borrowed(shown),
        Cow::Owned(words) => Cow::Owned(ShownText {
            words: words.into(),
            ..shown.clone()
        }),
    }
}

/// How many neighbouring words two texts must share so that it is hardly a coincidence.
const RUN: usize = 3;

/// The text whose trust is computed.
struct Note {
    words: Vec<Word>,
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
    /// Neighbours, each with the place of the first.
    pairs: Vec<(usize, Pair)>,
}

type Pair = (String, String);

/// The words of a note that some texts say, and the neighbours among their words.
#[derive(Default)]
struct Supplied {
    words: BTreeSet<String>,
    pairs: BTreeSet<Pair>,
    /// All words of each text, small ones included, with a space around each.
    raw: BTreeSet<String>,
    /// All words of the names of speakers and channels.
    raw_names: BTreeSet<Vec<String>>,
    /// The words of each name that a note may use for somebody or something.
    names: BTreeSet<Vec<String>>,
}

impl Note {
    fn of(text: &str) -> Self {
        let spelled_text = spelled(text);
        let language = Language::of(&spelled_text);
        let names = names(text, language);
        let mut words = telling(&spelled_text, language, &names, &[]);
        words.retain(|word| !word.text.is_empty());
        let raw = raw(&spelled_text, language, &[]);
        Self {
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

    /// The places where these names are used: the whole name, or one word of it if no other word of it occurs
    /// separately.
    fn used_as(&self, names: &BTreeSet<Vec<String>>) -> Places {
        names
            .iter()
            .flat_map(|name| self.used_as_one(name))
            .collect()
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

    fn is_in(&self, at: usize, words: &BTreeSet<String>) -> bool {
        let word = self.words.get(at);
        word.is_some_and(|word| words.contains(&word.text))
    }

    /// Its runs of neighbouring words, without those that are a part of one of these names.
    fn runs(&self, names: &BTreeSet<Vec<String>>) -> Vec<String> {
        let length = RUN.min(self.raw.len()).max(1);
        let is_name = |run: &[String]| names.iter().any(|name| contains(name, run));
        let runs = self.raw.windows(length).filter(|run| !is_name(run));
        runs.map(padded).collect()
    }

    /// Whether it has only small words, denials, and names.
    fn says_nothing(&self, as_names: &Places) -> bool {
        (0..self.words.len()).all(|at| self.denies(at) || as_names.contains(&at))
    }

    fn denies(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.text == NOT)
    }

    /// The words and pairs of the note that `supplied` lacks. Words at the places `as_names` need no source.
    fn lacking(&self, supplied: &Supplied, as_names: &Places) -> Lacking {
        let places = 0..self.words.len();
        let words = places.filter(|at| !as_names.contains(at) && !self.is_in(*at, &supplied.words));
        let pairs = pairs(&self.words).enumerate().filter(|(at, pair)| {
            let is_name = as_names.contains(at) && as_names.contains(&(at + 1));
            !is_name && !supplied.pairs.contains(pair)
        });
        Lacking {
            words: words.collect(),
            pairs: pairs.collect(),
        }
    }
}

/// The words of a name that say something.
fn words_of(name: &str, language: Language) -> Vec<String> {
    let words = telling(&spelled(name), language, &BTreeSet::new(), &[]);
    words.into_iter().map(|word| word.text).collect()
}

/// Everything that the words supplied by a text depend on: the language of the note, and the text.
type SuppliedKey = (Language, [String; 4], bool);

/// The most texts in the cache below.
const SUPPLIED_KEPT: usize = 1_024;

thread_local! {
    // Each reply looks at the same earlier texts again, and finding base forms is slow. The result depends on the key
    // alone.
    static SUPPLIED: RefCell<HashMap<SuppliedKey, Rc<Supplied>>> = RefCell::default();
}

impl Supplied {
    fn by(note: &Note, shown: &ShownText<'_>) -> Rc<Self> {
        let texts = [&shown.speaker, &shown.channel, &shown.around];
        let [speaker, channel, around] = texts.map(String::clone);
        let texts = [speaker, channel, around, shown.words.clone().into_owned()];
        let key = (note.language, texts, shown.is_name);
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

    fn new(language: Language, shown: &ShownText<'_>) -> Self {
        let mut supplied = Self::default();
        let speaker = spelled(&shown.speaker);
        let words = spelled(&shown.words);
        let none = BTreeSet::new();
        // A note may repeat "my", or write the speaker's name instead.
        let as_written = telling(&words, language, &none, &[]);
        supplied.pairs.extend(pairs(&as_written));
        let said = telling(&words, language, &none, &speaker);
        supplied.pairs.extend(pairs(&said));
        let written = raw(&words, language, &[]);
        let said = raw(&words, language, &speaker);
        supplied.raw.extend([padded(&written), padded(&said)]);
        let names = [speaker, spelled(&shown.channel)].into_iter();
        let names = names.map(|name| raw(&name, language, &[]));
        supplied
            .raw_names
            .extend(names.filter(|name| !name.is_empty()));
        let attested = spelled(&shown.around);
        let attested = attested.iter().map(|word| crate::base_form(word));
        supplied.words.extend(attested);
        let words = as_written.into_iter().map(|word| word.text);
        supplied.words.extend(words);
        let names = [&shown.speaker, &shown.channel].map(|name| words_of(name, language));
        let names = names.into_iter().filter(|name| !name.is_empty());
        supplied.names.extend(names);
        supplied
    }

    fn add(&mut self, other: &Self) {
        self.words.extend(other.words.iter().cloned());
        self.pairs.extend(other.pairs.iter().cloned());
        self.raw.extend(other.raw.iter().cloned());
        self.raw_names.extend(other.raw_names.iter().cloned());
        self.names.extend(other.names.iter().cloned());
    }

    /// Whether it has this run of words.
    fn has(&self, run: &str) -> bool {
        self.raw.iter().any(|text| text.contains(run))
    }

    fn has_one_of(&self, runs: &[&String]) -> bool {
        runs.iter().any(|run| self.has(run))
    }

    /// Whether it has more than one word.
    fn says_something(&self) -> bool {
        self.words.len() > 1
    }

    /// Whether these are the words of one of the names.
    fn is_one_of(&self, names: &BTreeSet<Vec<String>>) -> bool {
        let mut names = names.iter();
        names.any(|name| name.iter().cloned().collect::<BTreeSet<_>>() == self.words)
    }
}

/// Words with a space around each, so that a run of words can be found as a substring.
fn padded(words: &[String]) -> String {
    format!(" {} ", words.join(" "))
}

/// Whether one list of words has the other in it, one after the other.
fn contains(words: &[String], run: &[String]) -> bool {
    words.windows(run.len().max(1)).any(|part| part == run)
}

fn pairs(words: &[Word]) -> impl Iterator<Item = Pair> {
    let following = words.iter().skip(1);
    words
        .iter()
        .zip(following)
        .map(|(one, next)| (one.text.clone(), next.text.clone()))
}

#[cfg(test)]
mod tests;
