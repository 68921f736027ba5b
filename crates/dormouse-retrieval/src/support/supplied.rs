//! What a text supplies to notes of one language: words, neighbours and names, in a form that is small and quickly asked.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    ShownText,
    filter::Filter,
    function_words::Language,
    words::{Word, base_form, content_words, raw, spelled},
    words_of,
};

/// A word that is looked for, or several that are neighbours.
#[derive(Debug)]
pub(super) struct Sought {
    /// The words with a space around each, so that a text contains this text if it has the words.
    text: String,
    bits: Filter,
}

impl Sought {
    pub(super) fn of<'a>(words: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        Self {
            bits: words.clone().into_iter().map(Filter::of).collect(),
            text: padded(words),
        }
    }
}

/// What a text supplies to the notes of one language. A note is compared with hundreds of texts. The filters rule out
/// nearly all of them without a search.
#[derive(Debug, Default)]
pub(super) struct Supplied {
    /// The words that say something, as they are written.
    content: String,
    /// The same with the name of the speaker for "my", unless that makes no difference.
    meant: String,
    /// What the world attests about it.
    around: String,
    words: Filter,
    /// All words, small ones included.
    raw: String,
    /// The same with the name of the speaker for "my", unless that makes no difference.
    raw_meant: String,
    raw_words: Filter,
    /// All words of the names of its speaker and its channel.
    pub(super) raw_names: Vec<Vec<String>>,
    /// The words of each name by which a note may call somebody or something.
    pub(super) names: Vec<Vec<String>>,
}

/// What decides which words a text supplies: the language of the note, and the text.
type SuppliedKey = (Language, [String; 4], bool);

/// The most texts whose words are kept.
const SUPPLIED_KEPT: usize = 1_024;

thread_local! {
    // The same texts are shown again in each step of a turn, and finding base forms is slow. The result depends on the key
    // alone.
    static SUPPLIED: RefCell<HashMap<SuppliedKey, Arc<Supplied>>> = RefCell::default();
}

impl Supplied {
    pub(super) fn by(language: Language, shown: &ShownText<'_>) -> Arc<Self> {
        let texts = [&shown.speaker, &shown.channel, &shown.around];
        let [speaker, channel, around] = texts.map(String::clone);
        let texts = [speaker, channel, around, shown.words.clone().into_owned()];
        let key = (language, texts, shown.is_name);
        SUPPLIED.with_borrow_mut(|kept| {
            if let Some(supplied) = kept.get(&key) {
                return Arc::clone(supplied);
            }
            if kept.len() >= SUPPLIED_KEPT {
                kept.clear();
            }
            let supplied = Arc::new(Self::new(language, shown));
            kept.insert(key, Arc::clone(&supplied));
            supplied
        })
    }

    pub(super) fn new(language: Language, shown: &ShownText<'_>) -> Self {
        let mut supplied = Self::default();
        let speaker = spelled(&shown.speaker);
        let words = spelled(&shown.words);
        let none = BTreeSet::new();
        // A note may repeat "my", or name whose it is.
        let mut of =
            |written: Vec<String>, meant: Vec<String>, filter: fn(&mut Self) -> &mut Filter| {
                let bits = written.iter().chain(&meant).map(|word| Filter::of(word));
                bits.for_each(|bits| filter(&mut supplied).add(bits));
                let meant = match meant.is_empty() || meant == written {
                    true => String::new(),
                    false => padded(meant.iter().map(String::as_str)),
                };
                (padded(written.iter().map(String::as_str)), meant)
            };
        let texts = |words: Vec<Word>| words.into_iter().map(|word| word.text).collect();
        // Without a speaker nobody is meant by "my".
        let spoken: &[String] = match speaker.is_empty() {
            true => &[],
            false => &words,
        };
        let (content, meant) = of(
            texts(content_words(&words, language, &none, &[])),
            texts(content_words(spoken, language, &none, &speaker)),
            |supplied| &mut supplied.words,
        );
        let (raw_written, raw_meant) = of(
            raw(&words, language, &[]),
            raw(spoken, language, &speaker),
            |supplied| &mut supplied.raw_words,
        );
        (supplied.content, supplied.meant) = (content, meant);
        (supplied.raw, supplied.raw_meant) = (raw_written, raw_meant);
        let attested = spelled(&shown.around);
        let attested: Vec<_> = attested.iter().map(|word| base_form(word)).collect();
        let bits = attested.iter().map(|word| Filter::of(word));
        bits.for_each(|bits| supplied.words.add(bits));
        supplied.around = padded(attested.iter().map(String::as_str));
        let names = [speaker, spelled(&shown.channel)].into_iter();
        let names = names.map(|name| raw(&name, language, &[]));
        supplied.raw_names = names.filter(|name| !name.is_empty()).collect();
        let names = [&shown.speaker, &shown.channel].map(|name| words_of(name, language));
        supplied.names = names.into_iter().filter(|name| !name.is_empty()).collect();
        supplied
    }

    /// Whether it says a word.
    pub(super) fn says(&self, word: &Sought) -> bool {
        let is_in = |text: &String| text.contains(&word.text);
        self.words.may_have(&word.bits) && (is_in(&self.content) || is_in(&self.around))
    }

    /// Whether two words that say something are neighbours in it.
    pub(super) fn has_pair(&self, pair: &Sought) -> bool {
        let is_in = |text: &String| text.contains(&pair.text);
        self.words.may_have(&pair.bits) && (is_in(&self.content) || is_in(&self.meant))
    }

    /// Whether it has this run of words, small ones included.
    pub(super) fn has_run(&self, run: &Sought) -> bool {
        let is_in = |text: &String| text.contains(&run.text);
        self.raw_words.may_have(&run.bits) && (is_in(&self.raw) || is_in(&self.raw_meant))
    }

    /// Whether it has more than one word.
    pub(super) fn says_something(&self) -> bool {
        self.distinct().len() > 1
    }

    /// Whether these are the words of one of the names.
    pub(super) fn is_one_of(&self, names: &BTreeSet<&[String]>) -> bool {
        let words = self.distinct();
        let mut names = names.iter();
        names.any(|name| name.iter().map(String::as_str).collect::<BTreeSet<_>>() == words)
    }

    fn distinct(&self) -> BTreeSet<&str> {
        let words = self.content.split(' ').chain(self.around.split(' '));
        words.filter(|word| !word.is_empty()).collect()
    }
}

/// Words with a space around each, so that a run of them is a part of the text.
fn padded<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::from(" ");
    for word in words {
        text.push_str(word);
        text.push(' ');
    }
    text
}
