//! Recognises standing orders in plain English, clause by clause.

mod lists;
mod manner;
mod norm;
mod preference;
mod stance;
mod wanted;
mod withdrawn;

use dormouse_text::beginning_bytes;

use super::{
    OrderKind, OrderPeriod, OrderSubject, OrderText,
    clause::Clause,
    learnt::{self, Judgement},
    sentence::{Sentence, Word, sentences},
    subject,
};

/// The maximum number of orders per text.
const MOST: usize = 5;
/// How much of a text is searched, in bytes.
const LOOKED_AT: usize = 8_000;

/// A standing order found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundOrder {
    /// The kind of request.
    pub kind: OrderKind,
    /// The sentence with the request, without a question at its end.
    pub text: OrderText,
    /// The subject.
    pub subject: Option<OrderSubject>,
    /// How long it lasts, if it says so.
    pub period: Option<OrderPeriod>,
}

/// The kind of the first standing order in a text, if there is one.
///
/// [`orders_in`] explains how, and the limits.
#[must_use]
pub fn recognise(text: &str) -> Option<OrderKind> {
    orders(text).next().map(|found| found.kind)
}

/// The standing orders in a text, in order; at most five, in its first 8,000 bytes.
///
/// An instruction says that it lasts (*always*, *never*, *from now on*, *whenever …, (do)*, *unless I say otherwise*, *every
/// Friday*), or is about how the listener speaks (*answer in French*, *keep your answers short*, *no emojis*, *avoid
/// jargon*, *be honest with me*), or about what the listener has to keep in mind (*remember that I'm vegan*). It may have the
/// form of a command, a wish (*I'd like you to …*), a question (*could you always …?*), a rule (*every answer should …*, *two
/// lines at most*), or follow from a reason (*I'm …, so …*). Preferences begin with *call me*, *I go by*, *I prefer*, *I
/// like/love/hate …*, *my favourite … is*, *my pronouns are*. Other statements that narrow what suits the speaker (*I
/// only travel by train*, *as someone who …*) are preferences only if the same sentence or a neighbouring one asks for
/// advice; a need of body or belief (*I'm allergic to nuts*) always is one. A greeting, a name and *please* may precede
/// them, and a question may follow (*I prefer …, can you …?*). A withdrawal takes back what was asked for: *you can use
/// emojis again*, *forget what I said about tea*, *I changed my mind about …*.
///
/// Learnt weights (`orders/learnt.rs`) confirm what these forms find, and find an order that has none of them: what somebody says
/// about themselves next to a question (*my landlord allows no candles. How …?*). Then the sentence with the most weight is the order.
///
/// Limits: English only, sentence by sentence, by words. Requests about this moment ("tonight", "right now"), other
/// questions, quotations and sentences about others ("she always knocks") do not count. Irony is not recognised. A found
/// order is only a request; [`compile`](super::compile()) decides whether it counts.
#[must_use]
pub fn orders_in(text: &str) -> Vec<FoundOrder> {
    orders(text).take(MOST).collect()
}

fn orders(text: &str) -> impl Iterator<Item = FoundOrder> {
    let (sentences, mut found) = by_rules(text);
    let kinds = kinds(&found);
    let judgement = Judgement::of(&sentences, &kinds, may_be_order);
    for order in &mut found {
        order.take_if(|order| !judgement.confirms(order.kind));
    }
    if kinds.iter().all(Option::is_none) && judgement.finds() {
        let best = judgement.sentence;
        let best = best.and_then(|place| sentences.into_iter().nth(place));
        found.push(best.and_then(found_by_weights));
    }
    found.into_iter().flatten()
}

/// The sentences of a text, and the kind of the order that the rules find in each.
pub(super) fn judged(text: &str) -> (Vec<Sentence<'_>>, Vec<Option<OrderKind>>) {
    let (sentences, found) = by_rules(text);
    let kinds = kinds(&found);
    (sentences, kinds)
}

fn kinds(found: &[Option<FoundOrder>]) -> Vec<Option<OrderKind>> {
    let kinds = found.iter().map(|found| found.as_ref().map(|it| it.kind));
    kinds.collect()
}

/// The sentences of a text, and the order that the rules find in each.
fn by_rules(text: &str) -> (Vec<Sentence<'_>>, Vec<Option<FoundOrder>>) {
    let sentences: Vec<_> = sentences(beginning(text)).collect();
    let advice: Vec<_> = sentences
        .iter()
        .map(|it| stance::asks_advice(&it.plain(), it.is_question))
        .collect();
    let found = sentences.iter().enumerate().map(|(place, sentence)| {
        // What somebody says about themselves matters to the advice that they ask for just before or after it.
        let near = [place.checked_sub(1), Some(place + 1)];
        let is_for_advice = near
            .into_iter()
            .flatten()
            .any(|near| advice.get(near) == Some(&true));
        found(sentence.clone(), is_for_advice)
    });
    let found = found.collect();
    (sentences, found)
}

/// Whether a sentence may be an order that no rule finds: a statement, a question after a statement, or one to the listener.
fn may_be_order(sentence: &Sentence<'_>) -> bool {
    let words = sentence.plain();
    let whole = Clause::new(&words, &sentence.words);
    !sentence.is_question
        || matches!(
            words.as_slice(),
            ["can" | "could" | "would" | "will", "you" | "we", ..]
        )
        || whole.parts().any(|(_, then)| asks(then.words))
}

/// The order in a sentence that only the learnt weights find.
fn found_by_weights(mut sentence: Sentence<'_>) -> Option<FoundOrder> {
    let period = take_period(&mut sentence.words);
    let words = sentence.plain();
    let whole = Clause::new(&words, &sentence.words);
    let mut parts = whole.parts();
    let before_question = parts.find(|(_, then)| sentence.is_question && asks(then.words));
    let said = before_question.map_or(whole, |(before, _)| before);
    Some(FoundOrder {
        kind: learnt::kind(said.words, sentence.is_polite),
        text: OrderText::shortened(said_text(&sentence, said, whole)?)?,
        subject: subject::of(said.words),
        period,
    })
}

/// The text of a clause that a sentence begins with.
fn said_text<'a>(sentence: &Sentence<'a>, said: Clause<'_>, whole: Clause<'_>) -> Option<&'a str> {
    if said.end() == whole.end() {
        return Some(sentence.text);
    }
    let text = sentence.text.get(..said.end())?;
    Some(text.trim_end_matches([',', ':', '–', '—']))
}

/// What a withdrawal is about; empty for every other text.
pub(super) fn withdrawn_by(text: &str) -> Vec<String> {
    let withdrawn = sentences(beginning(text)).find_map(|sentence| {
        let words = sentence.plain();
        let clause = Clause::new(&words, &sentence.words);
        let in_part = || {
            clause
                .parts()
                .find_map(|(_, then)| withdrawn::withdrawn(then.without_fillers()))
        };
        withdrawn::withdrawn(clause)
            .or_else(in_part)
            .map(subject::words_of)
    });
    withdrawn.unwrap_or_default()
}

pub(super) fn beginning(text: &str) -> &str {
    beginning_bytes(text, LOOKED_AT)
}

/// The order in a sentence. `is_for_advice` says whether a neighbouring sentence asks for advice.
fn found(mut sentence: Sentence<'_>, is_for_advice: bool) -> Option<FoundOrder> {
    let period = take_period(&mut sentence.words);
    let words = sentence.plain();
    let whole = Clause::new(&words, &sentence.words);
    let (kind, said, governing) = match sentence.is_question {
        true => in_question(whole, sentence.is_polite)?,
        false => {
            // In one sentence, a request takes precedence over a statement about oneself.
            let stance = || {
                let first = whole.before_pause().words;
                let is_need = stance::is_need(first) || stance::is_abstaining(first);
                let is_stance = is_need || is_for_advice && stance::is_stance(whole.words);
                is_stance.then_some((OrderKind::Preference, whole))
            };
            let (kind, governing) = in_statement(whole, sentence.is_polite).or_else(stance)?;
            (kind, whole, governing)
        }
    };
    Some(FoundOrder {
        kind,
        text: OrderText::shortened(said_text(&sentence, said, whole)?)?,
        subject: subject::of(governing.words),
        period,
    })
}

/// The kind of the order in a statement, and the clause that contains it.
fn in_statement(whole: Clause<'_>, is_polite: bool) -> Option<(OrderKind, Clause<'_>)> {
    if let [.., "they" | "he" | "she", "say" | "says" | "said"] | [.., "my", _, "says" | "said"] =
        whole.words
    {
        return None;
    }
    if let Some(kind) = kind(whole, is_polite) {
        return Some((kind, whole));
    }
    let announced = whole.after_pause().map(|rest| (whole.before_pause(), rest));
    let announced = announced.filter(|(lead, _)| norm::announces(lead.words));
    if let Some((lead, rest)) = announced.or_else(|| whole.around_colon()) {
        let is_announced = norm::announces(lead.words);
        let rest = rest.without_fillers();
        if (is_announced || is_lead(lead.words))
            && let Some(found) = in_statement(rest, true)
        {
            return Some(found);
        }
        if is_announced {
            return Some((OrderKind::Instruction, rest));
        }
    }
    whole.parts().find_map(|(before, then)| {
        // After a comma alone, another sentence may begin that has nothing to do with the first: "stop it, you're funny".
        let begins = matches!(then.words, ["so" | "please" | "don't" | "let's" | "no", ..]);
        let commands = matches!(
            then.words,
            [
                "but" | "and",
                "please" | "call" | "don't" | "never" | "always" | "only" | "no" | "from" | "stop",
                ..
            ] | [
                "be" | "keep" | "use" | "answer" | "reply" | "avoid" | "skip",
                ..
            ]
        );
        let begins = begins
            || commands && !then.is_name(0)
            || stance::is_stance(before.words)
            || matches!(before.words, ["because" | "since" | "as" | "given", ..])
            || matches!(
                then.words,
                ["which", "means", ..]
                    | ["and" | "but", "i" | "i'd", ..]
                    | [
                        "you",
                        "can" | "may" | "must" | "should" | "needn't" | "don't",
                        ..
                    ]
                    | [_, "please"]
                    | [_, _, "please"]
            )
            || matches!(then.words, ["it's", _, "not", _])
                && before
                    .words
                    .iter()
                    .any(|word| ["told", "name", "name's", "called"].contains(word));
        let then_words = match then.words {
            ["which" | "that", "means" | "meant", ..] => then.without(2),
            _ => then.without_fillers(),
        };
        if begins && let Some(kind) = kind(then_words, is_polite) {
            return Some((kind, then_words));
        }
        if withdrawn::withdrawn(then_words).is_some() {
            return Some((OrderKind::Withdrawal, then_words));
        }
        if preference::is_naming(then_words)
            || matches!(then.words, ["but", "i'd" | "i", ..])
                && preference::is_preference(then_words)
        {
            return Some((OrderKind::Preference, then_words));
        }
        wanted::follows(before.words, then.words).then_some((OrderKind::Instruction, then_words))
    })
}

/// Whether words before a colon only lead to what follows: "one thing though", and not "the sign says".
fn is_lead(words: &[&str]) -> bool {
    let says = [
        "says", "said", "say", "reads", "read", "asks", "asked", "told", "wrote", "called", "of",
        "into",
    ];
    !matches!(words, ["the" | "he" | "she" | "they", ..])
        && !manner::is_doing(words)
        && !words.iter().any(|word| says.contains(word))
}

/// The same for a question. Only what precedes a question at the end is part of the order: "I prefer trains, what's the best
/// way to Lyon?".
fn in_question(whole: Clause<'_>, is_polite: bool) -> Option<(OrderKind, Clause<'_>, Clause<'_>)> {
    // "Never tell my brother, ok?" is a statement with a tag.
    let tag = whole.parts().find(|(_, then)| {
        matches!(
            then.words,
            ["ok" | "okay" | "please" | "right" | "alright" | "yeah"]
                | ["will" | "would" | "can" | "could", "you"]
        )
    });
    if let Some((before, _)) = tag
        && let Some((kind, governing)) = in_statement(before, is_polite)
    {
        return Some((kind, before, governing));
    }
    if wanted::is_asked(whole.words) {
        return Some((OrderKind::Instruction, whole, whole));
    }
    let mut parts = whole.parts();
    let (before, asked) = parts.find(|(_, then)| asks(then.words))?;
    let is_stance = || {
        (stance::is_stance(before.words) || stance::is_identity(before.words))
            && stance::asks_advice(asked.words, true)
    };
    let (kind, governing) = match in_statement(before, is_polite) {
        Some(found) => found,
        None if is_stance() => (OrderKind::Preference, before),
        None if wanted::is_asked(asked.without_fillers().words) => {
            return Some((OrderKind::Instruction, whole, asked));
        }
        None => return None,
    };
    Some((kind, before, governing))
}

/// Whether words begin like a command.
pub(super) fn commands(words: &[&str]) -> bool {
    let verbs = [lists::DOING, lists::SPEAKING, lists::HANDLING];
    words.first().is_some_and(|first| {
        verbs.iter().any(|verbs| verbs.contains(first))
            || ["don't", "never", "always", "no", "only", "from"].contains(first)
    })
}

/// Whether words begin like a question.
fn asks(words: &[&str]) -> bool {
    let words = match words {
        ["so" | "and" | "but", rest @ ..] => rest,
        words => words,
    };
    words.first().is_some_and(|first| ASKING.contains(first))
}

/// The first words of questions.
#[rustfmt::skip]
const ASKING: [&str; 34] = [
    "can", "could", "would", "will", "do", "does", "did", "is", "are", "what", "what's", "whats", "which", "where",
    "where's", "how", "how's", "who", "who's", "when", "why", "any", "may", "might", "should", "shall", "have", "has",
    "got", "know", "am", "was", "were", "won't",
];

fn kind(clause: Clause<'_>, is_polite: bool) -> Option<OrderKind> {
    let clause = clause.without_fillers();
    // "You know, I don't eat pork", and not "you know I hate surprises".
    let you_know = (clause.before_pause().words == ["you", "know"]).then_some(2);
    if let Some(lead) = you_know.or_else(|| fact_lead(clause.words)) {
        let fact = clause.without(lead);
        let is_fact = preference::is_preference(fact)
            || stance::is_stance(fact.words)
            || stance::is_identity(fact.words);
        return is_fact.then_some(OrderKind::Preference);
    }
    if withdrawn::withdrawn(clause).is_some() {
        Some(OrderKind::Withdrawal)
    } else if preference::is_preference(clause) {
        Some(OrderKind::Preference)
    } else {
        let is_instruction =
            wanted::is_instruction(clause, is_polite) || norm::is_norm(clause, is_polite);
        is_instruction.then_some(OrderKind::Instruction)
    }
}

/// How many words at the beginning announce a fact about the speaker: "for context", "FYI".
fn fact_lead(words: &[&str]) -> Option<usize> {
    match words {
        ["fyi", ..] => Some(1),
        ["for", "context", ..] | ["heads", "up", ..] | ["full", "disclosure", ..] => Some(2),
        ["a", "heads", "up", ..] | ["for", "your", "information", ..] => Some(3),
        _ => None,
    }
}

/// Phrases that say how long a request lasts.
const PERIODS: [(&[&str], OrderPeriod); 10] = [
    (&["just", "for", "today"], OrderPeriod::Day),
    (&["for", "today"], OrderPeriod::Day),
    (&["today", "only"], OrderPeriod::Day),
    (&["for", "tonight"], OrderPeriod::Day),
    (&["until", "tomorrow"], OrderPeriod::Day),
    (
        &["for", "the", "rest", "of", "the", "day"],
        OrderPeriod::Day,
    ),
    (&["for", "this", "week"], OrderPeriod::Week),
    (&["this", "week", "only"], OrderPeriod::Week),
    (&["until", "next", "week"], OrderPeriod::Week),
    (
        &["for", "the", "rest", "of", "the", "week"],
        OrderPeriod::Week,
    ),
];

/// Takes out the words that say how long a request lasts, so that the rest is like any other request.
fn take_period(words: &mut Vec<Word>) -> Option<OrderPeriod> {
    let plain: Vec<&str> = words.iter().map(|word| word.plain.as_str()).collect();
    let (place, length, period) = PERIODS.iter().find_map(|(phrase, period)| {
        let mut windows = plain.windows(phrase.len());
        let place = windows.position(|part| part == *phrase)?;
        Some((place, phrase.len(), *period))
    })?;
    words.drain(place..place + length);
    Some(period)
}

#[cfg(test)]
mod tests;
