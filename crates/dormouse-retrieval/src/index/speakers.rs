//! Speakers, and the words by which a question names them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{
    names::{NameRelease, NameTable},
    threads::NONE,
};
use crate::{
    Speaker,
    analyse::{each_word, is_stop_word},
    dates::is_full_month,
};

/// The length of the shortest prefix that names a speaker: "Mel" for Melanie.
const SHORTEST_NICKNAME: usize = 3;

/// Chat roles used as speaker names. A question about "the user" means every user.
const ROLES: [&str; 4] = ["assistant", "system", "tool", "user"];

/// How a word of a query is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordCase {
    /// Capitalised, and not the first word of a sentence.
    AsName,
    /// Any other way.
    AsWord,
}

/// Speakers by number and by the first word of their name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speakers {
    /// By [key](Speaker::key).
    names: NameTable,
    by_first_word: BTreeMap<String, Vec<u32>>,
}

impl Speakers {
    /// Returns the number of a speaker, and counts one more use of it.
    pub(crate) fn hold(&mut self, speaker: Speaker<'_>) -> u32 {
        let (number, is_new) = self.names.hold(&speaker.key());
        if is_new {
            let namesakes = self
                .by_first_word
                .entry(first_word(speaker.name))
                .or_default();
            let place = namesakes.partition_point(|other| *other < number);
            namesakes.insert(place, number);
        }
        number
    }

    /// Releases one use of a speaker; after the last one, the speaker is removed.
    pub(crate) fn release(&mut self, number: u32) {
        if number == NONE {
            return;
        }
        if let NameRelease::Forgotten(key) = self.names.release(number) {
            let word = first_word(Speaker::of_key(&key).name);
            if let Some(namesakes) = self.by_first_word.get_mut(&word) {
                namesakes.retain(|other| *other != number);
                if namesakes.is_empty() {
                    self.by_first_word.remove(&word);
                }
            }
        }
    }

    /// The name of a speaker.
    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        Some(Speaker::of_key(self.names.name(number)?).name)
    }

    /// The numbers of a speaker under all names, by id; without an id, of all speakers with this name.
    pub(crate) fn numbers_of(&self, speaker: Speaker<'_>) -> impl Iterator<Item = u32> {
        let known = self.names.iter();
        let same = known.filter(move |(key, _)| {
            let known = Speaker::of_key(key);
            match speaker.id {
                Some(id) => known.id == Some(id),
                None => known.name == speaker.name,
            }
        });
        same.map(|(_, number)| number)
    }

    /// The [keys](Speaker::key) of all speakers with their numbers, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.iter()
    }

    /// The speakers whose first name is `word`; if there are none, those whose first name starts with it. Stop words,
    /// months and prefixes of names count only if they are capitalised.
    pub(crate) fn named_by(&self, word: &str, written: WordCase) -> impl Iterator<Item = u32> {
        let as_name = written == WordCase::AsName;
        let is_other_word = is_stop_word(word) || is_full_month(word);
        let is_role = ROLES.contains(&word);
        let exact = self
            .by_first_word
            .get(word)
            .filter(|_| (as_name || !is_other_word) && !is_role);
        let is_nickname = as_name && word.len() >= SHORTEST_NICKNAME && !is_other_word;
        let prefixed = (is_nickname && exact.is_none())
            .then(|| self.by_first_word.range(word.to_owned()..))
            .into_iter()
            .flatten()
            .take_while(move |(name, _)| name.starts_with(word))
            .map(|(_, numbers)| numbers);
        exact.into_iter().chain(prefixed).flatten().copied()
    }

    /// Whether the name of a speaker begins with this word.
    pub(crate) fn has_first_word(&self, word: &str) -> bool {
        self.by_first_word.contains_key(word) && !ROLES.contains(&word)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.names.bytes()
            + self
                .by_first_word
                .iter()
                .map(|(word, numbers)| word.len() + numbers.capacity() * 4 + 64)
                .sum::<usize>()
    }
}

fn first_word(name: &str) -> String {
    let mut first = String::new();
    let _first_or_none = each_word(name, |word| {
        first.push_str(word);
        ControlFlow::Break(())
    });
    first
}
