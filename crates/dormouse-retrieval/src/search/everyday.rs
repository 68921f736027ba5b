//! Words that people use for the same thing: everyday synonyms, words of one family, and words written in one or in two.
//!
//! Somebody who asks later seldom uses the words that were said. A table of everyday words (`everyday/words.txt`, our own writing)
//! says which words may stand for each other; a word of a question counts as met, though for less, where one of them occurs.

use std::{collections::HashMap, sync::LazyLock};

use crate::{Index, analyse::Analyser};

/// Groups of words for the same thing, one group a line.
const GROUPS: &str = include_str!("everyday/words.txt");
/// How many alternatives of a word are searched for.
const MOST: usize = 12;
/// The shortest beginning that words of one family share.
const SHORTEST_ROOT: usize = 4;

/// The fewest letters of a part of a word that is written in two.
const SHORTEST_PART: usize = 4;

/// What is added to a root: "compet" and "competit", "perform" and "perform-anc".
const ENDINGS: [&str; 26] = [
    "", "er", "or", "ment", "ness", "ion", "ation", "it", "iv", "al", "ful", "ous", "i", "ist",
    "ism", "abl", "anc", "enc", "ant", "ent", "th", "ship", "e", "ic", "at", "less",
];

/// The terms that may stand for each term.
static MATES: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let analyser = Analyser::new();
    let mut mates: HashMap<String, Vec<String>> = HashMap::new();
    for line in GROUPS.lines() {
        let group: Vec<String> = line
            .split_whitespace()
            .map(|word| analyser.base_form(word).into_owned())
            .collect();
        for term in &group {
            let known = mates.entry(term.clone()).or_default();
            for other in &group {
                if other != term && !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    mates
});

/// The numbers of the known terms that may stand for a term; in the order of the table, then of the family.
pub(super) fn alternatives(index: &Index, term: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut add = |other: &str| {
        let number = index.lexicon.number(other);
        if let Some(number) = number.filter(|number| index.lexicon.frequency(*number) > 0)
            && other != term
            && !numbers.contains(&number)
            && numbers.len() < MOST
        {
            numbers.push(number);
        }
    };
    for other in MATES.get(term).into_iter().flatten() {
        add(other);
    }
    for root in roots(term) {
        for ending in ENDINGS {
            add(&format!("{root}{ending}"));
        }
    }
    numbers
}

/// The known terms for the same thing, written in one word or in two: "smart watch" and "smartwatch". Both parts stand for a word that
/// nobody wrote in one.
pub(super) fn compounds(index: &Index, terms: &[String], place: usize) -> Vec<u32> {
    let known = |term: &str| {
        let number = index.lexicon.number(term);
        number.filter(|number| index.lexicon.frequency(*number) > 0)
    };
    let Some(term) = terms.get(place) else {
        return Vec::new();
    };
    let before = place.checked_sub(1).and_then(|before| terms.get(before));
    let joined = [
        before.map(|before| format!("{before}{term}")),
        terms.get(place + 1).map(|after| format!("{term}{after}")),
    ];
    let mut numbers: Vec<u32> = joined
        .iter()
        .flatten()
        .filter_map(|joined| known(joined))
        .collect();
    if known(term).is_none() && term.is_ascii() {
        let places = SHORTEST_PART..term.len().saturating_sub(SHORTEST_PART - 1);
        let parts = places.filter_map(|at| term.split_at_checked(at));
        let parts = parts.filter_map(|(first, second)| Some([known(first)?, known(second)?]));
        numbers.extend(parts.take(1).flatten());
    }
    numbers
}

/// The beginnings of a term that may be those of its family.
fn roots(term: &str) -> impl Iterator<Item = &str> {
    let is_word = term.bytes().all(|byte| byte.is_ascii_lowercase());
    ENDINGS.into_iter().filter_map(move |ending| {
        let root = term.strip_suffix(ending)?;
        (is_word && root.len() >= SHORTEST_ROOT.max(if ending.is_empty() { 5 } else { 0 }))
            .then_some(root)
    })
}
