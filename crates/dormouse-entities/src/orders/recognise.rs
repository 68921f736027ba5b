//! Recognises standing orders in plain English, clause by clause.

mod lists;
mod manner;
mod preference;
mod wanted;
mod withdrawn;

use dormouse_text::beginning_bytes;

use super::{
    OrderKind, OrderPeriod, OrderSubject, OrderText,
    clause::Clause,
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
    sentences(beginning(text)).find_map(|sentence| found(sentence).map(|found| found.kind))
}

/// The standing orders in a text, in order; at most five, in its first 8,000 bytes.
///
/// An instruction says that it lasts (*always*, *never*, *from now on*, *whenever …, (do)*, *unless I say otherwise*, *every
/// Friday*), or is about how the listener speaks (*answer in French*, *keep your answers short*, *no emojis*, *avoid
/// jargon*, *be honest with me*), or about what the listener has to keep in mind (*remember that I'm vegan*). It may have the
/// form of a command, a wish (*I'd like you to …*), a question (*could you always …?*), or follow from a reason (*I'm …, so
/// …*). Preferences begin with *call me*, *I go by*, *I prefer*, *I like/love/hate …*, *my favourite … is*, *my pronouns are*.
/// A greeting, a name and *please* may precede them, and a question may follow (*I prefer …, can you …?*). A withdrawal
/// takes back what was asked for: *you can use emojis again*, *forget what I said about tea*.
///
/// Limits: English only, sentence by sentence, by words. Requests about this moment ("tonight", "right now"), other
/// questions, quotations and sentences about others ("she always knocks") do not count. Irony is not recognised. A found
/// order is only a request; [`compile`](super::compile()) decides whether it counts.
#[must_use]
pub fn orders_in(text: &str) -> Vec<FoundOrder> {
    sentences(beginning(text))
        .filter_map(found)
        .take(MOST)
        .collect()
}

/// What a withdrawal is about; empty for every other text.
pub(super) fn withdrawn_by(text: &str) -> Vec<String> {
    let withdrawn = sentences(beginning(text)).find_map(|sentence| {
        let words = sentence.plain();
        withdrawn::withdrawn(&words).map(subject::words_of)
    });
    withdrawn.unwrap_or_default()
}

pub(super) fn beginning(text: &str) -> &str {
    beginning_bytes(text, LOOKED_AT)
}

fn found(mut sentence: Sentence<'_>) -> Option<FoundOrder> {
    let period = take_period(&mut sentence.words);
    let words = sentence.plain();
    let whole = Clause::new(&words, &sentence.words);
    let (kind, said, governing) = match sentence.is_question {
        true => in_question(whole, sentence.is_polite)?,
        false => {
            let (kind, governing) = in_statement(whole, sentence.is_polite)?;
            (kind, whole, governing)
        }
    };
    let text = match said.end() == whole.end() {
        true => sentence.text,
        false => sentence
            .text
            .get(..said.end())?
            .trim_end_matches([',', ':', '–', '—']),
    };
    Some(FoundOrder {
        kind,
        text: OrderText::shortened(text)?,
        subject: subject::of(governing.words),
        period,
    })
}

/// The kind of the order in a statement, and the clause that contains it.
fn in_statement(whole: Clause<'_>, is_polite: bool) -> Option<(OrderKind, Clause<'_>)> {
    if let Some(kind) = kind(whole, is_polite) {
        return Some((kind, whole));
    }
    whole.parts().find_map(|(before, then)| {
        // After a comma alone, another sentence may begin that has nothing to do with the first: "stop it, you're funny".
        let begins = matches!(then.words, ["so" | "please" | "don't" | "let's" | "no", ..]);
        let commands = matches!(
            then.words,
            [
                "but" | "and",
                "please" | "call" | "don't" | "never" | "always" | "only" | "no",
                ..
            ] | ["keep" | "use" | "answer" | "reply" | "avoid" | "skip", ..]
        );
        let begins = begins || commands && !then.is_name(0);
        let then_words = then.without_fillers();
        if begins && let Some(kind) = kind(then_words, is_polite) {
            return Some((kind, then_words));
        }
        wanted::follows(before.words, then.words).then_some((OrderKind::Instruction, then_words))
    })
}

/// The same for a question. Only what precedes a question at the end is part of the order: "I prefer trains, what's the best
/// way to Lyon?".
fn in_question(whole: Clause<'_>, is_polite: bool) -> Option<(OrderKind, Clause<'_>, Clause<'_>)> {
    if wanted::is_asked(whole.words) {
        return Some((OrderKind::Instruction, whole, whole));
    }
    let asks = |words: &[&str]| {
        let fillers = ["so", "and", "but"];
        let words = match words {
            [first, rest @ ..] if fillers.contains(first) => rest,
            words => words,
        };
        words.first().is_some_and(|first| ASKING.contains(first))
    };
    let mut parts = whole.parts();
    let (before, asked) = parts.find(|(_, then)| asks(then.words))?;
    let (kind, governing) = match in_statement(before, is_polite) {
        Some(found) => found,
        None if wanted::is_asked(asked.without_fillers().words) => {
            return Some((OrderKind::Instruction, whole, asked));
        }
        None => return None,
    };
    Some((kind, before, governing))
}

/// The first words of questions.
const ASKING: [&str; 34] = [
    "can", "could", "would", "will", "do", "does", "did", "is", "are", "what", "what's", "whats",
    "which", "where", "where's", "how", "how's", "who", "who's", "when", "why", "any", "may",
    "might", "should", "shall", "have", "has", "got", "know", "am", "was", "were", "won't",
];

fn kind(clause: Clause<'_>, is_polite: bool) -> Option<OrderKind> {
    let clause = clause.without_fillers();
    if withdrawn::withdrawn(clause.words).is_some() {
        Some(OrderKind::Withdrawal)
    } else if preference::is_preference(clause) {
        Some(OrderKind::Preference)
    } else {
        wanted::is_instruction(clause, is_polite).then_some(OrderKind::Instruction)
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
