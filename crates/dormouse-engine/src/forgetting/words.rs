//! Finds copies: which runs of words show that a text repeats forgotten words. Such words are called *telling*.
//!
//! A run of words is telling if it is too long to occur by chance: at least [`RUN`] words and [`LETTERS`] letters, and
//! at least two words that are not function words. A shorter message is telling as a whole if one of its words was new.
//! A word with a digit, such as the number of a safe, is telling by itself. Words that somebody else said first are not
//! telling, and neither are words in [`COMMON`] messages of others, because they are usual there. Only hashes are kept,
//! so the memory used grows with the forgotten words, not with the log.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

use dormouse_contracts::{FORGOTTEN, Timestamp};
use dormouse_retrieval::support::is_small_word;

/// How many words a telling run has at least.
const RUN: usize = 4;
/// How many letters and digits a telling run has at least.
const LETTERS: usize = 12;
/// How many words of a telling run are not function words, at least.
const FULL_WORDS: usize = 2;
/// The fewest letters and digits of a word that is telling by itself, or that makes a short message telling.
const RARE_LETTERS: usize = 4;
/// Words in this many messages of others are usual, and not telling.
const COMMON: u8 = 3;
/// A prime by which the hash of a run is multiplied for each word.
const MIX: u64 = 0x0000_0100_0000_01b3;

/// A word of a text.
struct Word {
    hash: u64,
    letters: usize,
    is_full: bool,
    has_digit: bool,
    /// Where it is, in bytes.
    at: Range<usize>,
}

/// Who wrote a text that is to be forgotten, or that may be a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// A person.
    Person,
    /// The assistant, or a model for it.
    Assistant,
}

/// When a run occurred first, and how many others have it.
#[derive(Clone, Copy, Debug)]
struct Telling {
    first: Timestamp,
    by: Speaker,
    others: u8,
}

/// The words of a text that is telling as a whole.
type Whole = (Box<[u64]>, Telling);

impl Telling {
    /// Merges the same words from another place, because two assistants may have heard them.
    fn learn(&mut self, again: Self) {
        self.first = self.first.min(again.first);
        if again.by == Speaker::Person {
            self.by = again.by;
        }
    }

    /// Counts another message with these words. Returns whether they are no longer telling.
    fn is_common_with(&mut self, at: Timestamp, by: Speaker) -> bool {
        // If the assistant repeats somebody's words to many people, each repetition is a copy.
        if by == Speaker::Person || self.by == Speaker::Assistant {
            self.others = self.others.saturating_add(1);
        }
        // What the assistant wrote at the same moment is a copy of the person's words.
        let is_copied = at == self.first && by == Speaker::Person && self.by == Speaker::Assistant;
        at < self.first || is_copied || self.others >= COMMON
    }
}

/// The telling words.
#[derive(Debug, Default)]
pub(super) struct TellingWords {
    /// Long runs.
    runs: HashMap<u64, Telling>,
    /// Texts that are telling as a whole, by their first word: messages that are too short for a run, and texts of a
    /// model.
    whole: HashMap<u64, Vec<Whole>>,
    /// The words that make these texts telling, and words with a digit.
    rare: HashMap<u64, Telling>,
    /// Words with a digit.
    codes: HashSet<u64>,
    /// A text that is taken wherever it occurs, even if it is short.
    always: Vec<u64>,
}

impl TellingWords {
    /// Finds this text wherever it occurs, even in words of others.
    pub(super) fn always(text: &str) -> Self {
        Self {
            always: hashes(text),
            ..Self::default()
        }
    }

    /// Learns a text that is to be forgotten, and when it was heard or noted.
    pub(super) fn learn(&mut self, first: Timestamp, by: Speaker, text: &str) {
        if text == FORGOTTEN {
            return;
        }
        let telling = Telling {
            first,
            by,
            others: 0,
        };
        let put = |known: &mut HashMap<u64, Telling>, hash| {
            known.entry(hash).or_insert(telling).learn(telling);
        };
        let words = words(text);
        let mut has_run = false;
        // A model repeats its own phrases, so a text of a model is telling only as a whole.
        if by == Speaker::Person {
            for start in 0..words.len() {
                if let Some((run, _)) = run_at(&words, start) {
                    put(&mut self.runs, run);
                    has_run = true;
                }
            }
            for word in &words {
                if word.has_digit && word.letters >= RARE_LETTERS {
                    self.codes.insert(word.hash);
                    put(&mut self.rare, word.hash);
                }
            }
        }
        if has_run {
            return;
        }
        let is_rare = |word: &&Word| word.is_full && word.letters >= RARE_LETTERS;
        for word in words.iter().filter(is_rare) {
            put(&mut self.rare, word.hash);
        }
        // A single word may occur by chance, unless it has a digit.
        if let (Some(first), true) = (words.first(), words.len() > 1) {
            let whole = words.iter().map(|word| word.hash).collect();
            let known = self.whole.entry(first.hash).or_default();
            match known.iter_mut().find(|(known, _)| *known == whole) {
                Some((_, known)) => known.learn(telling),
                None => known.push((whole, telling)),
            }
        }
    }

    /// Learns what somebody else said or wrote.
    pub(super) fn is_known_from(&mut self, at: Timestamp, by: Speaker, text: &str) {
        let words = words(text);
        let mut here = HashSet::new();
        for (start, word) in words.iter().enumerate() {
            if let Some((run, _)) = run_at(&words, start)
                && here.insert(run)
            {
                heard_from(&mut self.runs, run, at, by);
            }
            if here.insert(word.hash) && heard_from(&mut self.rare, word.hash, at, by) {
                self.codes.remove(&word.hash);
            }
            // One of its words may be in another telling text, so that text is counted, too.
            if let Some(known) = self.whole.get_mut(&word.hash) {
                let rest = words.get(start..).unwrap_or_default();
                known.retain_mut(|(whole, telling)| {
                    !begins_with(rest, whole) || !telling.is_common_with(at, by)
                });
            }
        }
    }

    /// The parts of a text that repeat forgotten words, in bytes, in order and without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let words = words(text);
        let mut found: Vec<Range<usize>> = Vec::new();
        for (start, word) in words.iter().enumerate() {
            let run = run_at(&words, start).filter(|(run, _)| self.runs.contains_key(run));
            let code = self.codes.contains(&word.hash).then_some(start);
            let last = run.map(|(_, last)| last).or(code);
            let last = last
                .max(self.whole_at(&words, start))
                .max(self.always_at(&words, start));
            let Some(end) = last.and_then(|last| words.get(last)) else {
                continue;
            };
            let here = word.at.start..end.at.end;
            match found.last_mut() {
                Some(before) if here.start <= before.end => before.end = before.end.max(here.end),
                // Between two runs that follow each other there is only punctuation.
                Some(before)
                    if start > 0
                        && words.get(start - 1).is_some_and(|w| w.at.end == before.end) =>
                {
                    before.end = here.end;
                }
                _ => found.push(here),
            }
        }
        found
    }

    /// The last word of a text that is telling as a whole, if one begins here.
    fn whole_at(&self, words: &[Word], start: usize) -> Option<usize> {
        let known = self.whole.get(&words.get(start)?.hash)?;
        let rest = words.get(start..).unwrap_or_default();
        let fits = |whole: &[u64]| {
            begins_with(rest, whole) && whole.iter().any(|word| self.rare.contains_key(word))
        };
        let fitting = known.iter().filter(|(whole, _)| fits(whole));
        let longest = fitting.map(|(whole, _)| whole.len()).max()?;
        Some(start + longest - 1)
    }

    /// The last word of the text that is taken wherever it is, if it begins here.
    fn always_at(&self, words: &[Word], start: usize) -> Option<usize> {
        let last = self.always.len().checked_sub(1)?;
        let here = words.get(start..=start + last)?;
        let here = here.iter().map(|word| &word.hash);
        here.eq(&self.always).then_some(start + last)
    }

    /// The text with the mark in place of forgotten words; `None` if it has none.
    pub(super) fn scrub(&self, text: &str) -> Option<String> {
        let found = self.find(text);
        if found.is_empty() {
            return None;
        }
        let mut scrubbed = String::with_capacity(text.len());
        let mut end = 0;
        for part in found {
            scrubbed.push_str(text.get(end..part.start).unwrap_or_default());
            scrubbed.push_str(FORGOTTEN);
            end = part.end;
        }
        scrubbed.push_str(text.get(end..).unwrap_or_default());
        Some(scrubbed)
    }

    /// Whether there is nothing to find.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
            && self.whole.is_empty()
            && self.codes.is_empty()
            && self.always.is_empty()
    }
}

/// Counts another message with these words. Returns whether they are no longer telling.
fn heard_from(known: &mut HashMap<u64, Telling>, hash: u64, at: Timestamp, by: Speaker) -> bool {
    let is_common = known
        .get_mut(&hash)
        .is_some_and(|telling| telling.is_common_with(at, by));
    is_common && known.remove(&hash).is_some()
}

/// Whether the words from here on begin with a whole text.
fn begins_with(words: &[Word], whole: &[u64]) -> bool {
    let here = words.get(..whole.len());
    here.is_some_and(|here| here.iter().map(|word| &word.hash).eq(whole.iter()))
}

/// The hashes of the words of a text, to find it in another text.
pub(super) fn hashes(text: &str) -> Vec<u64> {
    words(text).iter().map(|word| word.hash).collect()
}

/// The shortest run that begins with this word, and its last word; `None` if the rest of the text is too short.
fn run_at(words: &[Word], start: usize) -> Option<(u64, usize)> {
    let (mut run, mut letters, mut full) = (0_u64, 0, 0);
    for (number, word) in words.iter().enumerate().skip(start) {
        run = run.wrapping_mul(MIX) ^ word.hash;
        letters += word.letters;
        full += usize::from(word.is_full);
        let count = number - start + 1;
        if count >= RUN && letters >= LETTERS && full >= FULL_WORDS {
            return Some((run, number));
        }
    }
    None
}

/// The words of a text, in lower case. A character of a script that puts no spaces between words is a word.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let is_alone = is_alone(c);
        if !c.is_alphanumeric() || is_alone {
            if let Some(start) = start.take() {
                words.extend(word(text, start..at));
            }
            if is_alone {
                words.extend(word(text, at..at + c.len_utf8()));
            }
        } else if start.is_none() {
            start = Some(at);
        }
    }
    if let Some(start) = start {
        words.extend(word(text, start..text.len()));
    }
    words
}

fn word(text: &str, at: Range<usize>) -> Option<Word> {
    let lower = text.get(at.clone())?.to_lowercase();
    let mut hasher = DefaultHasher::new();
    lower.hash(&mut hasher);
    Some(Word {
        hash: hasher.finish(),
        letters: lower.chars().count(),
        is_full: !is_small_word(&lower),
        has_digit: lower.chars().any(char::is_numeric),
        at,
    })
}

/// Whether a character is a word, because its script has no spaces between words.
fn is_alone(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0E7F | 0x0E80..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF
        | 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Timestamp {
        Timestamp::from_micros(i64::try_from(number).unwrap())
    }

    fn telling(said: &[&str], others: &[(u64, &str)]) -> TellingWords {
        let mut telling = TellingWords::default();
        for (number, text) in (10..).zip(said) {
            telling.learn(at(number), Speaker::Person, text);
        }
        for (number, text) in others {
            telling.is_known_from(at(*number), Speaker::Person, text);
        }
        telling
    }

    #[test]
    fn a_run_of_the_words_is_found_in_any_text_and_nothing_else_is_taken() {
        let telling = telling(&["The spare key lies beneath the third flower pot."], &[]);
        for (text, left) in [
            (
                "Alice said: \"the SPARE key lies beneath the third flower pot\"!",
                "Alice said: \"[forgotten]\"!",
            ),
            ("key lies beneath the third", "[forgotten]"),
            ("Where is the key?", "Where is the key?"),
            ("The spare room is cold.", "The spare room is cold."),
        ] {
            let scrubbed = telling.scrub(text);
            assert_eq!(scrubbed.as_deref().unwrap_or(text), left);
            // The rest is not telling any more.
            assert_eq!(telling.scrub(left), None);
        }
    }

    #[test]
    fn what_somebody_else_said_first_is_theirs_and_what_they_repeat_is_not() {
        let words = "the heron nests behind the old mill";
        assert_eq!(telling(&[words], &[(9, words)]).scrub(words), None);
        assert!(telling(&[words], &[(11, words)]).scrub(words).is_some());
    }

    #[test]
    fn what_many_say_tells_nothing_of_anybody() {
        let words = "what is the soup of the day today";
        assert!(
            telling(&[words], &[(11, words), (12, words)])
                .scrub(words)
                .is_some()
        );
        let many = [(11, words), (12, words), (13, words)];
        assert_eq!(telling(&[words], &many).scrub(words), None);
        // Repetitions by the assistant do not make somebody's words usual.
        let mut repeated = telling(&[words], &[]);
        for number in 11..20 {
            repeated.is_known_from(at(number), Speaker::Assistant, words);
        }
        assert!(repeated.scrub(words).is_some());
    }

    #[test]
    fn a_short_message_tells_as_a_whole_if_a_word_of_it_was_new() {
        let ours = telling(
            &["good morning", "it is Rumpelstiltskin", "yes", "try 4711x"],
            &[(2, "Good morning Bob")],
        );
        assert_eq!(ours.scrub("Good morning, Bob. Yes, I will try."), None);
        assert_eq!(
            ours.scrub("She said it is Rumpelstiltskin, and 4711X.")
                .as_deref(),
            Some("She said [forgotten], and [forgotten].")
        );
    }

    #[test]
    fn a_script_without_spaces_is_compared_by_its_characters() {
        let ours = telling(&["钥匙藏在第三个花盆下面的泥土里"], &[]);
        assert!(ours.scrub("他说钥匙藏在第三个花盆下面的泥土里。").is_some());
        assert_eq!(ours.scrub("花盆很漂亮"), None);
    }
}
