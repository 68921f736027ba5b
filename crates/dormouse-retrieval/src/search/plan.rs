//! What a query asks for.

use std::{collections::HashSet, ops::ControlFlow};

use crate::{
    Feature, Index, NamedTime, Query, Ranking, Weights,
    analyse::each_word,
    dates::{month_of, named_times},
    index::{lexicon::Posting, speakers::Written},
    search::bm25::{K1, inverse_frequency},
    traits::asks_when,
};

/// Of a longer query only the beginning is read.
const MAX_QUERY_BYTES: usize = 64 * 1024;
/// Of more terms only the rarest count. They fit the bits of a number.
pub(super) const MAX_TERMS: usize = 64;

/// A term of the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryTerm {
    /// Its number in the lexicon; `None` if no unit has it.
    pub(super) number: Option<u32>,
    /// How rare it is.
    pub(super) idf: f32,
}

/// What a query asks for, in terms of one index.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// What each feature counts.
    pub(super) weights: &'a Weights,
    /// The distinct terms in order.
    pub(super) terms: Vec<QueryTerm>,
    /// The speakers that the query names, in order of number.
    pub(super) named: Vec<u32>,
    /// The rarity of all terms together.
    pub(super) total: f32,
    /// The highest score that BM25 can give.
    pub(super) most: f32,
    /// How many terms a unit has on average.
    pub(super) mean_turn: f32,
    /// Whether it asks for a time.
    pub(super) asks_when: bool,
    /// The times that it names.
    times: Vec<NamedTime>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(index: &'a Index, query: &Query<'_>) -> Self {
        let text = beginning(query.text);
        let (terms, named) = match query.ranking {
            Ranking::Fused => read_with_names(index, text),
            Ranking::PlainBm25 => (Vec::new(), Vec::new()),
        };
        // A query that only names somebody asks for what was said about them. So does one whose other words nobody ever
        // used: what is known of whom it names is a better answer than none.
        let mut terms = weigh(index, &terms);
        if terms.iter().all(|term| term.number.is_none()) {
            let mut all = Terms::default();
            index.analyser.each_term(text, |term| {
                all.push(term);
                ControlFlow::Continue(())
            });
            terms = weigh(index, &all.list);
        }
        let terms = keep_rarest(terms);
        let total: f32 = terms.iter().map(|term| term.idf).sum();
        Self {
            weights: if query.dense.is_empty() {
                &index.config.lexical_weights
            } else {
                &index.config.hybrid_weights
            },
            terms,
            named,
            total: total.max(f32::MIN_POSITIVE),
            most: (total * (K1 + 1.0)).max(f32::MIN_POSITIVE),
            mean_turn: index.terms as f32 / index.len().max(1) as f32,
            asks_when: asks_when(text),
            times: named_times(text, query.asked_at),
        }
    }
}

impl Plan<'_> {
    /// Where the term at this place of the query occurs.
    pub(super) fn postings<'a>(&self, index: &'a Index, place: usize) -> &'a [Posting] {
        let number = self.terms.get(place).and_then(|term| term.number);
        number.map_or(&[], |number| index.lexicon.postings(number))
    }

    /// Whether the query names this speaker and nobody else.
    pub(super) fn is_named(&self, speaker: u32) -> bool {
        matches!(*self.named, [only] if only == speaker)
    }

    /// What `feature` counts.
    #[inline]
    pub(super) fn weight(&self, feature: Feature) -> f32 {
        self.weights.weight(feature)
    }

    /// Which of the named speakers speak in a session, as a share of them.
    pub(super) fn participation(&self, index: &Index, session: u32) -> f32 {
        let named = self.named.iter();
        let there = named.filter(|speaker| index.threads.takes_part(**speaker, session));
        there.count() as f32 / self.named.len().max(1) as f32
    }

    /// Whether it names any time.
    pub(super) fn names_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// The sessions that begin within the times that it names. A month of any year stands for all of them in the order of
    /// years, as far as there are sessions.
    pub(super) fn sessions<'b>(&'b self, index: &'b Index) -> impl Iterator<Item = u32> + 'b {
        self.times
            .iter()
            .flat_map(|time| time.occurrences(index.threads.times()))
            .flat_map(|(from, until)| index.threads.begun_within(from, until))
    }

    /// How close a time is to the nearest of those that the query names: 1 within it.
    pub(super) fn closeness(&self, at: i64) -> f32 {
        self.times
            .iter()
            .map(|time| closeness(*time, at))
            .fold(0.0, f32::max)
    }
}

/// The distinct terms of a text but for those that name a speaker, and the speakers that it names.
fn read_with_names(index: &Index, text: &str) -> (Vec<String>, Vec<u32>) {
    let mut terms = Terms::default();
    let mut named = Vec::new();
    let written_as_names = capitalised(text);
    let _whole_text = each_word(text, |word| {
        let before = named.len();
        if named.len() < MOST_NAMED {
            let written = if written_as_names.contains(word) {
                Written::AsName
            } else {
                Written::AsWord
            };
            named.extend(index.speakers.named_by(word, written).take(MOST_NAMED));
        }
        if named.len() == before {
            index
                .analyser
                .with_term_of_word(word, |term| terms.push(term));
        }
        ControlFlow::Continue(())
    });
    named.sort_unstable();
    named.dedup();
    let mut names = Vec::new();
    for name in named
        .iter()
        .filter_map(|number| index.speakers.name(*number))
    {
        index.analyser.each_term(name, |term| {
            names.push(term.to_owned());
            ControlFlow::Continue(())
        });
    }
    terms.list.retain(|term| !names.contains(term));
    (terms.list, named)
}

/// The folded words of a text that begin with a capital letter, without the first one.
fn capitalised(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut capitalised = HashSet::new();
    for word in words.filter(|word| !word.is_empty()).skip(1) {
        if word.starts_with(char::is_uppercase) {
            let _one_or_more = each_word(word, |word| {
                capitalised.insert(word.to_owned());
                ControlFlow::Continue(())
            });
        }
    }
    capitalised
}

/// It makes a difference whether one is named, or nobody, or several.
const MOST_NAMED: usize = 16;

/// Distinct terms in order.
#[derive(Default)]
struct Terms {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Terms {
    fn push(&mut self, term: &str) {
        // Distinct terms are few unless somebody pastes a book; then this many are enough to choose from.
        if self.list.len() < 16 * MAX_TERMS && !self.seen.contains(term) {
            self.seen.insert(term.to_owned());
            self.list.push(term.to_owned());
        }
    }
}

fn weigh(index: &Index, terms: &[String]) -> Vec<QueryTerm> {
    let weighed = terms.iter().map(|term| {
        let number = index.lexicon.number(term);
        let frequency = number.map_or(0, |number| index.lexicon.frequency(number));
        QueryTerm {
            number: number.filter(|_| frequency > 0),
            idf: inverse_frequency(frequency, index.len()),
        }
    });
    weighed.collect()
}

/// The [`MAX_TERMS`] rarest among those that occur, in their order.
fn keep_rarest(terms: Vec<QueryTerm>) -> Vec<QueryTerm> {
    if terms.len() <= MAX_TERMS {
        return terms;
    }
    let mut known: Vec<(usize, QueryTerm)> = terms
        .into_iter()
        .enumerate()
        .filter(|(_, term)| term.number.is_some())
        .collect();
    known.sort_by(|(_, a), (_, b)| b.idf.total_cmp(&a.idf));
    known.truncate(MAX_TERMS);
    known.sort_unstable_by_key(|(place, _)| *place);
    known.into_iter().map(|(_, term)| term).collect()
}

/// What was said in the month around a day or a week that the query names.
const SAME_MONTH: f32 = 0.5;
const MONTH_MICROS: i64 = 28 * 24 * 60 * 60 * 1_000_000;

fn closeness(time: NamedTime, at: i64) -> f32 {
    match time {
        NamedTime::Span { from, until } => {
            let (from, until) = (from.as_micros(), until.as_micros());
            // People talk of a day when it is over, or when it is to come.
            if (from..until).contains(&at) {
                1.0
            } else if until - from < MONTH_MICROS && is_same_month(from, at) {
                SAME_MONTH
            } else {
                0.0
            }
        }
        NamedTime::Month(month) => f32::from(u8::from(month_of(at) == Some(month))),
    }
}

fn is_same_month(one: i64, other: i64) -> bool {
    one.abs_diff(other) <= 31 * 24 * 60 * 60 * 1_000_000 && month_of(one) == month_of(other)
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(MAX_QUERY_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
