//! What a text supplies to notes of one language: words, neighbours and names, in a form that is small and quickly asked.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, hash_map::RandomState},
    hash::BuildHasher,
    sync::Arc,
};

use super::{
    ShownText,
    filter::Filter,
    function_words::Language,
    words::{Meant, meant, raw, spelled},
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
#[derive(Debug, PartialEq, Eq, Hash)]
struct SuppliedKey<S> {
    language: Language,
    speaker: S,
    channel: S,
    around: S,
    words: S,
}

impl SuppliedKey<Box<str>> {
    fn borrowed(&self) -> SuppliedKey<&str> {
        SuppliedKey {
            language: self.language,
            speaker: &self.speaker,
            channel: &self.channel,
            around: &self.around,
            words: &self.words,
        }
    }
}

/// The most texts whose words are kept.
const SUPPLIED_KEPT: usize = 1_024;

/// What texts supplied, by the hash of their key. Of two texts with the same hash the later one is kept.
#[derive(Default)]
struct LastSupplied {
    kept: HashMap<u64, (SuppliedKey<Box<str>>, Arc<Supplied>)>,
    hasher: RandomState,
}

thread_local! {
    // The same texts are shown again in each step of a turn, and splitting them into words is slow. The result depends on the
    // key alone.
    static LAST: RefCell<LastSupplied> = RefCell::default();
}

impl Supplied {
    pub(super) fn by(language: Language, shown: &ShownText<'_>) -> Arc<Self> {
        let key = SuppliedKey {
            language,
            speaker: shown.speaker.as_str(),
            channel: &shown.channel,
            around: &shown.around,
            words: &shown.words,
        };
        LAST.with_borrow_mut(|last| {
            let hash = last.hasher.hash_one(&key);
            if let Some((known, supplied)) = last.kept.get(&hash)
                && known.borrowed() == key
            {
                return Arc::clone(supplied);
            }
            if last.kept.len() >= SUPPLIED_KEPT {
                last.kept.clear();
            }
            let supplied = Arc::new(Self::new(language, shown));
            let key = SuppliedKey {
                language,
                speaker: key.speaker.into(),
                channel: key.channel.into(),
                around: key.around.into(),
                words: key.words.into(),
            };
            last.kept.insert(hash, (key, Arc::clone(&supplied)));
            supplied
        })
    }

    pub(super) fn new(language: Language, shown: &ShownText<'_>) -> Self {
        let (words, speaker) = (spelled(&shown.words), spelled(&shown.speaker));
        let attested = spelled(&shown.around);
        let mut content = PaddedWords::with_room_for(&shown.words);
        let mut written = PaddedWords::with_room_for(&shown.words);
        for word in meant(&words, language, &[]) {
            content.push_content(word);
            written.push(word);
        }
        let mut supplied = Self {
            around: padded(attested.iter().map(|word| &*word.base)),
            ..Self::default()
        };
        attested
            .iter()
            .for_each(|word| supplied.words.add(word.bits));
        // A note may repeat "my", or name whose it is. Without a speaker nobody is meant by it.
        let speaks_of_itself = || words.iter().any(|word| language.is_myself(word.meanings));
        if !speaker.is_empty() && speaks_of_itself() {
            let mut content_meant = PaddedWords::with_room_for(&shown.words);
            let mut written_meant = PaddedWords::with_room_for(&shown.words);
            for word in meant(&words, language, &speaker) {
                content_meant.push_content(word);
                written_meant.push(word);
            }
            supplied.words.add(content_meant.bits);
            supplied.raw_words.add(written_meant.bits);
            supplied.meant = content_meant.text;
            supplied.raw_meant = written_meant.text;
        }
        supplied.words.add(content.bits);
        supplied.raw_words.add(written.bits);
        (supplied.content, supplied.raw) = (content.text, written.text);
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

/// Words with a space around each, as [`padded`] makes them, and their bits.
struct PaddedWords {
    text: String,
    bits: Filter,
    /// Where the last word begins, and whether it is exact.
    last: Option<(usize, bool)>,
}

impl PaddedWords {
    fn with_room_for(text: &str) -> Self {
        let mut padded = String::with_capacity(text.len() + 2);
        padded.push(' ');
        Self {
            text: padded,
            bits: Filter::default(),
            last: None,
        }
    }

    fn push(&mut self, word: Meant<'_>) {
        let (base, bits) = word.base();
        self.bits.add(bits);
        self.text.push_str(base);
        self.text.push(' ');
    }

    /// Adds a word unless it says nothing, or is the last one once more.
    fn push_content(&mut self, word: Meant<'_>) {
        if matches!(word, Meant::Small(_)) {
            return;
        }
        let (base, is_exact) = (word.base().0, word.is_exact());
        let last = self.last.map(|(from, was)| (self.text.get(from..), was));
        let is_repeated = last.is_some_and(|(text, was)| {
            was == is_exact && text.and_then(|text| text.strip_suffix(' ')) == Some(base)
        });
        if !is_repeated {
            self.last = Some((self.text.len(), is_exact));
            self.push(word);
        }
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
