//! What a query asks for.

use std::{collections::HashSet, ops::ControlFlow};

use dormouse_text::beginning_bytes;

use crate::{
    Feature, Index, NamedTime, Ranking, SearchQuery, Weights,
    analyse::each_word,
    dates::{month_of, named_times},
    index::{lexicon::Posting, speakers::WordCase},
    search::{
        bm25::K1,
        everyday::{alternatives, compounds},
        rarity::Rarity,
        scratch::Scratch,
        spelling::Mended,
    },
    text_features::{Person, asks_when, person_of},
};

/// Only the start of a longer query is read.
const MAX_QUERY_BYTES: usize = 64 * 1024;
/// Only the rarest terms of a longer query count. They must fit the 64 bits of
/// [`FirstPassScore::terms`](super::scratch::FirstPassScore::terms).
pub(super) const MAX_TERMS: usize = 64;

/// A term of the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryTerm {
    /// The term's number in the lexicon; `None` if no unit contains it.
    pub(super) number: Option<u32>,
    /// The term's inverse document frequency, multiplied by `share`.
    pub(super) idf: f32,
    /// How far the query means the term: 1 for its own words, less for words that are only similar to them.
    pub(super) share: f32,
    /// What the term adds to [`QueryPlan::total`].
    pub(super) adds: f32,
    /// The place in the query of the word that the term is, or that it may stand for. Of the terms with the same place, only
    /// the one that counts most in a unit counts there.
    pub(super) word: usize,
}

/// What a query asks for, with terms and speakers as numbers of one index.
#[derive(Debug)]
pub(super) struct QueryPlan<'a> {
    /// The weight of each feature.
    pub(super) weights: &'a Weights,
    /// The distinct terms in order.
    pub(super) terms: Vec<QueryTerm>,
    /// The speakers that the query names, by number.
    pub(super) named: Vec<u32>,
    /// The speakers that the query means by "I" or "you", by number; none if it names a speaker.
    meant: Vec<u32>,
    /// Whether all named speakers have the same name.
    names_one: bool,
    /// The sum of all terms' inverse document frequencies.
    pub(super) total: f32,
    /// The highest possible BM25 score.
    pub(super) most: f32,
    /// The mean number of terms per unit.
    pub(super) mean_turn: f32,
    /// Whether the query asks for a time.
    pub(super) asks_when: bool,
    /// The times that the query names.
    times: Vec<NamedTime>,
}

impl<'a> QueryPlan<'a> {
    pub(super) fn new(index: &'a Index, query: &SearchQuery<'_>) -> Self {
        let text = beginning_bytes(query.text, MAX_QUERY_BYTES);
        let mended = match query.ranking {
            Ranking::Fused => Mended::of(index, text),
            Ranking::PlainBm25 => Mended::unchanged(text),
        };
        let text = &*mended.text;
        let (terms, named) = match query.ranking {
            Ranking::Fused => read_with_names(index, text),
            Ranking::PlainBm25 => (Vec::new(), Vec::new()),
        };
        // A query that only names a speaker asks for what was said about them. The same holds if no unit contains its
        // other words: a unit about the named speaker is a better answer than none.
        let rarity = Rarity::of(index);
        let mut terms = weigh(rarity, &terms, &mended, query.ranking);
        if terms.iter().all(|term| term.number.is_none()) {
            let mut all = Terms::default();
            index.analyser.each_term(text, |term| {
                all.push(term);
                ControlFlow::Continue(())
            });
            terms = weigh(rarity, &all.list, &mended, query.ranking);
        }
        let terms = keep_rarest(terms);
        let total: f32 = terms.iter().map(|term| term.adds).sum();
        let mut names = named.iter().map(|number| index.speakers.name(*number));
        let first = names.next();
        let meant = match named.is_empty() {
            true => meant(index, query, text),
            false => Vec::new(),
        };
        let names_one = first.is_some_and(|first| names.all(|name| name == first));
        Self {
            weights: index.config.weights_for(query),
            terms,
            named,
            meant,
            names_one,
            total: total.max(f32::MIN_POSITIVE),
            most: (total * (K1 + 1.0)).max(f32::MIN_POSITIVE),
            mean_turn: rarity.mean_terms(),
            asks_when: asks_when(text),
            times: named_times(text, query.asked_at),
        }
    }
}

impl QueryPlan<'_> {
    /// The postings of the query's term at this place.
    pub(super) fn postings<'a>(&self, index: &'a Index, place: usize) -> &'a [Posting] {
        let number = self.terms.get(place).and_then(|term| term.number);
        number.map_or(&[], |number| index.lexicon.postings(number))
    }

    /// Whether the query names this speaker, and no speaker with another name.
    pub(super) fn is_named(&self, speaker: u32) -> bool {
        self.names_one && self.named.contains(&speaker)
    }

    /// Whether the query means this speaker by "I" or "you".
    pub(super) fn is_meant(&self, speaker: u32) -> bool {
        self.meant.contains(&speaker)
    }

    /// The weight of `feature`.
    #[inline]
    pub(super) fn weight(&self, feature: Feature) -> f32 {
        self.weights.weight(feature)
    }

    /// The share of the named speakers who speak in a session. Speakers of one name count as one.
    #[inline]
    pub(super) fn participation(&self, index: &Index, scratch: &mut Scratch, session: u32) -> f32 {
        if self.named.is_empty() {
            return 0.0;
        }
        // Cached per session, plus one: zero means "not computed".
        let known = scratch.participations.at(session);
        if known > 0.0 {
            return known - 1.0;
        }
        let named = self.named.iter();
        let mut there = named.filter(|speaker| index.threads.takes_part(**speaker, session));
        let share = if self.names_one {
            f32::from(u8::from(there.next().is_some()))
        } else {
            there.count() as f32 / self.named.len() as f32
        };
        scratch.participations.set(session, share + 1.0);
        scratch.asked_sessions.push(session);
        share
    }

    /// Whether the query names a time.
    pub(super) fn names_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// The sessions that begin within the named times. A month without a year means that month of every year, within
    /// the time range of the index.
    pub(super) fn sessions<'b>(&'b self, index: &'b Index) -> impl Iterator<Item = u32> + 'b {
        self.times
            .iter()
            .flat_map(|time| time.occurrences(index.threads.times()))
            .flat_map(|(from, until)| index.threads.begun_within(from, until))
    }

    /// How close a time is to the nearest named time: 1 within it.
    pub(super) fn closeness(&self, at: i64) -> f32 {
        self.times
            .iter()
            .map(|time| closeness(*time, at))
            .fold(0.0, f32::max)
    }
}

/// The speakers that a query means by "I" or "you".
fn meant(index: &Index, query: &SearchQuery<'_>, text: &str) -> Vec<u32> {
    let speaker = match person_of(text) {
        Some(Person::Asker) => query.asker.unwrap_or("user".into()),
        Some(Person::Asked) => "assistant".into(),
        None => return Vec::new(),
    };
    index.speakers.numbers_of(speaker).collect()
}

/// The distinct terms of a text without those that name a speaker, and the named speakers.
fn read_with_names(index: &Index, text: &str) -> (Vec<String>, Vec<u32>) {
    let mut terms = Terms::default();
    let mut named = Vec::new();
    let written_as_names = capitalised(text);
    let _whole_text = each_word(text, |word| {
        let before = named.len();
        if named.len() < MOST_NAMED {
            // A stop word or a month names a speaker only if it is capitalised, for example "Will" or "May".
            let written = if written_as_names.contains(word) {
                WordCase::AsName
            } else {
                WordCase::AsWord
            };
            named.extend(index.speakers.named_by(word, written).take(MOST_NAMED));
        }
        // A word that names a speaker is not a term: a unit by Bob need not contain "Bob".
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
    // The other words of a full name ("Bob Miller") are part of the name, too.
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

/// The folded capitalised words of a text, without the first word.
fn capitalised(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut capitalised = HashSet::new();
    // Most texts start with a capital letter, so the first word proves nothing.
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

/// How many named speakers of a query are considered at most. The features distinguish none, one and several; more names
/// change little.
const MOST_NAMED: usize = 16;

/// Distinct terms in order.
#[derive(Default)]
struct Terms {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Terms {
    fn push(&mut self, term: &str) {
        // A query has few distinct terms unless it is a pasted book; then this many are enough to choose from.
        if self.list.len() < 16 * MAX_TERMS && !self.seen.contains(term) {
            self.seen.insert(term.to_owned());
            self.list.push(term.to_owned());
        }
    }
}

/// If no unit contains a word of the query, a similar word takes its place. This is the share of its usual weight with which
/// the similar word counts. The rest stays with the unknown word, which no unit contains.
const SIMILAR: f32 = 0.8;

fn weigh(
    rarity: Rarity<'_>,
    terms: &[String],
    mended: &Mended<'_>,
    ranking: Ranking,
) -> Vec<QueryTerm> {
    let lexicon = &rarity.index.lexicon;
    let occurs = |number: &u32| lexicon.frequency(*number) > 0;
    let known = |term: &String| lexicon.number(term).filter(occurs);
    let mut seen: HashSet<u32> = terms.iter().filter_map(known).collect();
    let mut weighed = Vec::with_capacity(terms.len());
    for (word, term) in terms.iter().enumerate() {
        let number = known(term);
        let mut own = QueryTerm {
            // An unknown term keeps its rarity: the score must show that no unit contains it.
            number,
            idf: rarity.of_term(lexicon.number(term)),
            share: 1.0,
            adds: 0.0,
            word,
        };
        let meant = mended.meant_by(term).iter().filter(|_| number.is_none());
        let meant: Vec<_> = meant.filter(|meant| seen.insert(meant.number)).collect();
        let mut others = match ranking {
            Ranking::Fused => everyday_words(rarity, terms, &own, &mut seen),
            Ranking::PlainBm25 => Vec::new(),
        };
        if !meant.is_empty() {
            own.idf *= 1.0 - SIMILAR;
        } else if number.is_none()
            && let Some(rarest) = others.iter_mut().max_by(|a, b| a.idf.total_cmp(&b.idf))
        {
            // The query is read as if it had the rarest of them.
            own.idf *= 1.0 - SIMILAR;
            rarest.adds = rarest.idf;
        }
        own.adds = own.idf;
        weighed.push(own);
        weighed.extend(meant.into_iter().enumerate().map(|(place, meant)| {
            let share = SIMILAR * meant.likelihood;
            let idf = rarity.of_term(Some(meant.number)) * share;
            QueryTerm {
                number: Some(meant.number),
                idf,
                share,
                adds: idf,
                // Each counts for itself: their likelihoods add up to that of the word.
                word: terms.len() * (place + 1) + word,
            }
        }));
        weighed.extend(others);
    }
    weighed
}

/// If at most [`RARELY`] units contain a word of the query, everyday words are alternatives to it. This is the share of its
/// usual weight with which such a word counts.
const FOR_RARE: f32 = 0.4;
/// If more units than this contain a word of the query, people probably said that word and not an everyday word instead.
const RARELY: usize = 3;
/// The same for a word in more units. From 0.2 on, LoCoMo loses half a point of any@10.
const FOR_COMMON: f32 = 0.1;

/// The known terms that may stand for one of the terms of the query, except those that the query has.
fn everyday_words(
    rarity: Rarity<'_>,
    terms: &[String],
    own: &QueryTerm,
    seen: &mut HashSet<u32>,
) -> Vec<QueryTerm> {
    let frequency = |number| rarity.index.lexicon.frequency(number);
    let share = match own.number.map(frequency) {
        None => SIMILAR,
        Some(frequency) if frequency <= RARELY => FOR_RARE,
        Some(_) => FOR_COMMON,
    };
    let others = compounds(rarity.index, terms, own.word);
    let term = terms.get(own.word).map_or("", String::as_str);
    let others = others.into_iter().chain(alternatives(rarity.index, term));
    let others = others.filter(|number| seen.insert(*number));
    others
        .map(|number| QueryTerm {
            number: Some(number),
            idf: rarity.of_term(Some(number)).min(own.idf) * share,
            share,
            adds: 0.0,
            word: own.word,
        })
        .collect()
}

/// The [`MAX_TERMS`] rarest of the terms with postings, in their order.
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
    // The original order is restored, because the bit of a term is its place in the query.
    known.sort_unstable_by_key(|(place, _)| *place);
    known.into_iter().map(|(_, term)| term).collect()
}

/// The closeness of a unit in the same month as a named day or week.
const SAME_MONTH: f32 = 0.5;
/// For a span of at least this length, the rest of the month does not count.
const MONTH_MICROS: i64 = 28 * 24 * 60 * 60 * 1_000_000;

fn closeness(time: NamedTime, at: i64) -> f32 {
    match time {
        NamedTime::Span { from, until } => {
            let (from, until) = (from.as_micros(), until.as_micros());
            // People talk about a day after it, or shortly before it.
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
    // The same month of another year does not count.
    one.abs_diff(other) <= 31 * 24 * 60 * 60 * 1_000_000 && month_of(one) == month_of(other)
}
