//! What a query asks for.

use std::ops::ControlFlow;

use crate::{
    Index, NamedTime, Query, Ranking,
    analyse::each_word,
    dates::{month_of, named_times},
    search::bm25::{K1, inverse_frequency},
    traits::asks_when,
};

/// Of a longer query only the beginning is read.
const MAX_QUERY_BYTES: usize = 64 * 1024;
/// Of more terms only the rarest count.
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
pub(super) struct Plan {
    /// The distinct terms in order.
    pub(super) terms: Vec<QueryTerm>,
    /// The speakers that the query names, in order of number.
    pub(super) named: Vec<u32>,
    /// The rarity of all terms together.
    pub(super) total: f32,
    /// The highest score that BM25 can give.
    pub(super) most: f32,
    /// The highest with each term counted by the square of its rarity.
    pub(super) most_rare: f32,
    /// How many terms a unit has on average.
    pub(super) mean_turn: f32,
    /// Whether it asks for a time.
    pub(super) asks_when: bool,
    /// The times that it names.
    times: Vec<NamedTime>,
}

impl Plan {
    pub(super) fn new(index: &Index, query: &Query<'_>) -> Self {
        let text = beginning(query.text);
        let mut reader = Reader::default();
        let names_count = query.ranking == Ranking::Fused;
        let _whole_text = each_word(text, |word| {
            reader.take(index, word, names_count);
            ControlFlow::Continue(())
        });
        let (mut terms, named) = reader.finish();
        // A query that only names somebody asks for what was said about them.
        if terms.is_empty() {
            index.analyser.each_term(text, |term| {
                push_term(&mut terms, term);
                ControlFlow::Continue(())
            });
        }
        let terms = keep_rarest(weigh(index, &terms));
        let total: f32 = terms.iter().map(|term| term.idf).sum();
        let squares: f32 = terms.iter().map(|term| term.idf * term.idf).sum();
        Self {
            terms,
            named,
            total: total.max(f32::MIN_POSITIVE),
            most: (total * (K1 + 1.0)).max(f32::MIN_POSITIVE),
            most_rare: (squares * (K1 + 1.0)).max(f32::MIN_POSITIVE),
            mean_turn: index.terms as f32 / index.len().max(1) as f32,
            asks_when: asks_when(text),
            times: named_times(text, query.asked_at),
        }
    }
}

impl Plan {
    /// Whether the query names this speaker and nobody else.
    pub(super) fn is_named(&self, speaker: u32) -> bool {
        matches!(*self.named, [only] if only == speaker)
    }

    /// How close a time is to the nearest of those that the query names: 1 within it, less beside it, 0 elsewhere.
    pub(super) fn closeness(&self, at: i64) -> f32 {
        self.times
            .iter()
            .map(|time| closeness(*time, at))
            .fold(0.0, f32::max)
    }
}

/// Collects words into terms and named speakers.
#[derive(Default)]
struct Reader {
    terms: Vec<String>,
    named: Vec<u32>,
}

impl Reader {
    fn take(&mut self, index: &Index, word: &str, names_count: bool) {
        if names_count {
            let before = self.named.len();
            self.named.extend(index.speakers.named_by(word).take(16));
            if self.named.len() > before {
                return;
            }
        }
        index.analyser.with_term_of_word(word, |term| {
            push_term(&mut self.terms, term);
        });
    }

    fn finish(mut self) -> (Vec<String>, Vec<u32>) {
        self.named.sort_unstable();
        self.named.dedup();
        (self.terms, self.named)
    }
}

fn push_term(terms: &mut Vec<String>, term: &str) {
    // Distinct terms are few unless somebody pastes a book; then this many are enough to choose from.
    if terms.len() < 16 * MAX_TERMS && !terms.iter().any(|other| other == term) {
        terms.push(term.to_owned());
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

/// Just beside a named time.
const BESIDE: f32 = 0.4;
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// People talk for a month about what happened on a day.
const BESIDE_MICROS: i64 = 31 * DAY_MICROS;

fn closeness(time: NamedTime, at: i64) -> f32 {
    match time {
        NamedTime::Span { from, until } => {
            let (from, until) = (from.as_micros(), until.as_micros());
            if (from..until).contains(&at) {
                1.0
            } else if (from.saturating_sub(BESIDE_MICROS)..until.saturating_add(BESIDE_MICROS))
                .contains(&at)
            {
                BESIDE
            } else {
                0.0
            }
        }
        NamedTime::Month(month) => match month_of(at).map(|at| (at - month).rem_euclid(12)) {
            Some(0) => 1.0,
            Some(1 | 11) => BESIDE,
            _ => 0.0,
        },
    }
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(MAX_QUERY_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
