//! A learnt decision whether a message contains a standing order: the sum of the weights of its features.
//!
//! The rules know forms ("always …", "call me …"). Most people say something about themselves instead, next to a question: "We've
//! no oven here. What could I bake?". The weights are learnt from messages of people who knew no rule, and from ordinary talk.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{
    OrderKind,
    recognise::{commands, judged},
    sentence::Sentence,
};

/// The weights, one feature a line: `dormouse-eval orders-learn` makes them.
const WEIGHTS: &str = include_str!("learnt/weights.txt");
/// Words of one class, one class a line: its name, then its words.
const CLASSES: &str = include_str!("learnt/classes.txt");

/// The feature that every message has.
const BIAS: &str = "bias";
/// Lengths of sentences and texts above these are not told apart.
const MOST_FOURS: usize = 4;
const MOST_SENTENCES: usize = 3;
/// The sum of weights from which a message counts as an order.
const LEAST: f32 = 0.0;
/// The same if the rules found an order. It was chosen on what the weights were learnt from, and on talk that they were not learnt from.
const LEAST_FOR_INSTRUCTION: f32 = -1.2;
/// The same if the rules found what the speaker likes: people say so in talk, too.
const LEAST_FOR_PREFERENCE: f32 = -1.0;
/// A message of one sentence of at most so many words says nothing else than what the rules found: "I prefer green tea".
const SHORT: usize = 6;

static WEIGHT_OF: LazyLock<HashMap<&'static str, f32>> = LazyLock::new(|| {
    let lines = WEIGHTS.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (feature, weight) = line.split_once('\t')?;
            Some((feature, weight.parse().ok()?))
        })
        .collect()
});

static CLASSES_OF: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut of: HashMap<_, Vec<_>> = HashMap::new();
    for line in CLASSES.lines() {
        let mut words = line.split_whitespace();
        let Some(class) = words.next() else { continue };
        for word in words {
            of.entry(word).or_default().push(class);
        }
    }
    of
});

/// What the learnt decision looks at in a text, each feature once, in the order of the alphabet.
///
/// A feature is a word, a class of words, a pair of neighbours of these, the length and kind of a sentence, the first word and the
/// classes of the sentence before and after it, or what the rules of [`orders_in`](super::orders_in()) found.
/// `dormouse-eval orders-learn` gives each a weight.
#[must_use]
pub fn order_features(text: &str) -> Vec<String> {
    let (sentences, found) = judged(text);
    let mut all: Vec<_> = features(&sentences, &found).concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The decision about a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// The sum of all weights.
    sum: f32,
    /// Whether it has one short sentence.
    is_short: bool,
    /// The sentence with the largest sum of its own, among those that may be an order.
    pub(super) sentence: Option<usize>,
}

impl Judgement {
    /// Of these sentences, with what the rules found in each. `may_be` says whether a sentence may be an order that only this
    /// decision finds.
    pub(super) fn of(
        sentences: &[Sentence<'_>],
        found: &[Option<OrderKind>],
        may_be: impl Fn(&Sentence<'_>) -> bool,
    ) -> Self {
        let weight = |feature: &String| {
            let weight = WEIGHT_OF.get(feature.as_str());
            weight.copied().unwrap_or_default()
        };
        let features = features(sentences, found);
        let mut seen = HashSet::new();
        let mut sum = 0.0;
        let mut best: Option<(usize, f32)> = None;
        for (place, (own, sentence)) in features.iter().zip(sentences).enumerate() {
            let own_sum: f32 = own.iter().map(weight).sum();
            // A feature counts once in a message, as in what the weights were learnt from.
            sum += own
                .iter()
                .filter(|feature| seen.insert(feature.as_str()))
                .map(weight)
                .sum::<f32>();
            if best.is_none_or(|(_, best)| own_sum > best) && may_be(sentence) {
                best = Some((place, own_sum));
            }
        }
        let sentence = best.map(|(place, _)| place);
        let is_short = matches!(sentences, [only] if only.words.len() <= SHORT);
        Self {
            sum,
            is_short,
            sentence,
        }
    }

    /// Whether the message contains an order that no rule found.
    pub(super) fn finds(self) -> bool {
        self.sum >= LEAST
    }

    /// Whether an order that the rules found counts. What takes an order back always does.
    pub(super) fn confirms(self, kind: OrderKind) -> bool {
        if self.is_short {
            return true;
        }
        match kind {
            OrderKind::Instruction => self.sum >= LEAST_FOR_INSTRUCTION,
            OrderKind::Preference => self.sum >= LEAST_FOR_PREFERENCE,
            OrderKind::Withdrawal => true,
        }
    }
}

/// The kind of an order that only this decision finds: what somebody says about themselves is a preference.
pub(super) fn kind(words: &[&str], is_polite: bool) -> OrderKind {
    let to_listener = words
        .iter()
        .any(|word| has_class(word, "you") || *word == "let's");
    match to_listener || commands(words) || is_polite {
        true => OrderKind::Instruction,
        false => OrderKind::Preference,
    }
}

fn has_class(word: &str, class: &str) -> bool {
    classes(word).contains(&class)
}

fn classes(word: &str) -> &'static [&'static str] {
    const NUMBER: &[&str] = &["number"];
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return NUMBER;
    }
    CLASSES_OF.get(word).map_or(&[], Vec::as_slice)
}

/// The features of each sentence.
fn features(sentences: &[Sentence<'_>], found: &[Option<OrderKind>]) -> Vec<Vec<String>> {
    let is_asking = sentences.iter().any(|sentence| sentence.is_question);
    let near = |place: Option<usize>| place.and_then(|place| sentences.get(place));
    let each = sentences.iter().enumerate().map(|(place, sentence)| {
        let mut own = of_sentence(sentence);
        if let Some(kind) = found.get(place).copied().flatten() {
            own.push(format!("rule:{kind}"));
        }
        if is_asking {
            own.push("asks".to_owned());
        }
        of_neighbour("before", near(place.checked_sub(1)), &mut own);
        of_neighbour("after", near(Some(place + 1)), &mut own);
        own
    });
    let mut all: Vec<_> = each.collect();
    if let Some(first) = all.first_mut() {
        let count = sentences.len().min(MOST_SENTENCES);
        first.extend([BIAS.to_owned(), format!("sentences:{count}")]);
    }
    all
}

fn of_sentence(sentence: &Sentence<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let is_question = sentence.is_question;
    let end = if is_question { "?" } else { "." };
    let plain = sentence.plain();
    // Each word as itself, if it is not a number, and as its classes; the ends of the sentence count as words.
    let forms = |word: &str| {
        let itself = (!word.starts_with(|c: char| c.is_ascii_digit())).then(|| word.to_owned());
        let classes = classes(word).iter().map(|class| format!("@{class}"));
        itself.into_iter().chain(classes).collect::<Vec<_>>()
    };
    let mut before = vec!["^".to_owned()];
    for word in plain.iter().copied().map(Some).chain([None]) {
        let now = word.map_or_else(|| vec![end.to_owned()], forms);
        for first in &before {
            for second in &now {
                all.push(format!("{first} {second}"));
            }
        }
        if word.is_some() {
            all.extend(now.iter().cloned());
        }
        before = now;
    }
    if is_question {
        all.push("question".to_owned());
    }
    if sentence.is_polite {
        all.push("polite".to_owned());
    }
    all.push(format!("length:{}", (plain.len() / 4).min(MOST_FOURS)));
    all
}

fn of_neighbour(side: &str, neighbour: Option<&Sentence<'_>>, all: &mut Vec<String>) {
    let Some(neighbour) = neighbour else {
        all.push(format!("{side}:none"));
        return;
    };
    let plain = neighbour.plain();
    let kind = if neighbour.is_question { "?" } else { "." };
    all.push(format!("{side}:{kind}"));
    if let Some(first) = plain.first() {
        all.push(format!("{side}:{first}"));
    }
    for class in plain.iter().flat_map(|word| classes(word)) {
        all.push(format!("{side}:@{class}"));
    }
}
