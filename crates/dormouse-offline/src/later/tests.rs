use dormouse_contracts::Timestamp;
use proptest::prelude::*;

use super::{request::LONGEST, *};
use crate::{
    intent::{Intent, recognise},
    promise::reminder,
    words::words,
};

/// Requests that the rules were written from: what is said, what it waits for, and for whom it is. Alice speaks.
const KNOWN: &str = include_str!("known.txt");
/// Requests that were written before the rules, and from which no rule was made.
const HELD_OUT: &str = include_str!("held_out.txt");
/// Remarks and questions that only look like requests.
const REMARKS: &str = include_str!("remarks.txt");

type Phrasing<'a> = (&'a str, &'a str, &'a str);

fn phrasings(lines: &str) -> Vec<Phrasing<'_>> {
    let row = |line| {
        let [message, waits, who] = str::split(line, " | ").collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}")
        };
        (message, waits, who)
    };
    let rows: Vec<_> = lines.lines().map(row).collect();
    assert_eq!(rows.len(), 100);
    rows
}

/// A Monday, 17:40.
fn now() -> Timestamp {
    "2026-11-23T17:40:00Z".parse().unwrap()
}

fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    let day = |at: Timestamp| at.as_micros().div_euclid(86_400_000_000);
    match day(at) - day(now()) {
        0 => text[11..16].to_owned(),
        days => format!("+{days} {}", &text[11..16]),
    }
}

fn person(who: &Person) -> String {
    match who {
        Person::Me => "me".to_owned(),
        Person::Named(name) => name.clone(),
        Person::Anybody => "anybody".to_owned(),
        Person::Pronoun => "?".to_owned(),
    }
}

/// What a message is understood as, as the corpus writes it: what it waits for, and for whom.
pub(crate) fn understood(message: &str) -> Option<(String, String)> {
    let text = match recognise(message, &["Dormouse"]) {
        Intent::Later(text) => text,
        Intent::Remind(text) => {
            let reminder = reminder(&text, now()).ok()?;
            return Some((format!("at {}", moment(reminder.due_at)), "me".to_owned()));
        }
        _ => return None,
    };
    let later = later(&text, &words(&text), now())?.ok()?;
    let at = later.due_at.map(|at| format!("at {}", moment(at)));
    let events = later.when.iter().map(|event| {
        let kind = serde_json::to_value(event.kind).unwrap();
        let kind = kind.as_str().unwrap();
        match event.words.is_empty() {
            true => format!("{kind} {}", person(&event.who)),
            false => format!("{kind} {}", event.words),
        }
    });
    let all: Vec<_> = at.into_iter().chain(events).collect();
    let until = later.until.map(|until| format!(" until {}", moment(until)));
    let waits = format!("{}{}", all.join("; "), until.unwrap_or_default());
    Some((waits, person(&later.who)))
}

/// How many of these are understood as expected, and those that are not.
fn score(phrasings: &[Phrasing<'_>]) -> (usize, Vec<String>) {
    let mut missed = Vec::new();
    for (message, waits, who) in phrasings {
        let found = understood(message);
        let fits = match (*waits, &found) {
            ("refused", found) => found.is_none(),
            (waits, Some(found)) => *found == (waits.to_owned(), (*who).to_owned()),
            (_, None) => false,
        };
        if !fits {
            missed.push(format!("{message}\n    {waits} | {who}\n    {found:?}"));
        }
    }
    (phrasings.len() - missed.len(), missed)
}

#[test]
fn most_natural_phrasings_of_a_commitment_are_understood_without_a_model() {
    let (known, missed) = score(&phrasings(KNOWN));
    eprintln!("known: {known} of {}\n{}", 100, missed.join("\n"));
    let (held_out, missed) = score(&phrasings(HELD_OUT));
    eprintln!("held out: {held_out} of {}\n{}", 100, missed.join("\n"));
    assert!(known >= 98, "known: {known}");
    assert!(held_out >= 88, "held out: {held_out}");
}

/// Something else would be done than what was asked: worse than not understanding.
#[test]
fn hardly_any_phrasing_is_understood_as_something_else() {
    let wrong = |phrasings: &[Phrasing<'_>]| -> Vec<String> {
        let all = phrasings.iter().filter_map(|(message, waits, who)| {
            let found = understood(message)?;
            let is_right = found == ((*waits).to_owned(), (*who).to_owned());
            (!is_right).then(|| format!("{message}: {found:?}"))
        });
        all.collect()
    };
    let wrong = [wrong(&phrasings(KNOWN)), wrong(&phrasings(HELD_OUT))].concat();
    eprintln!(
        "understood as something else: {} of 200\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(wrong.len() <= 2, "{wrong:?}");
}

#[test]
fn no_remark_that_only_looks_like_it_becomes_a_commitment() {
    let taken = REMARKS.lines().filter_map(|remark| {
        let found = understood(remark)?;
        Some(format!("{remark}: {found:?}"))
    });
    let taken: Vec<_> = taken.collect();
    eprintln!(
        "remarks taken for a commitment: {} of {}",
        taken.len(),
        REMARKS.lines().count()
    );
    assert_eq!(taken, Vec::<String>::new());
}

#[test]
fn what_is_told_is_told_in_the_words_of_the_request() {
    let what = |text: &str| later(text, &words(text), now()).unwrap().unwrap().what;
    for (text, expected) in [
        (
            "When Bob comes, tell him that I took his hat.",
            "I took his hat",
        ),
        (
            "Remind me to feed my cat when Carol arrives",
            "feed your cat",
        ),
        (
            "remind me when Bob comes that he owes me money",
            "he owes you money",
        ),
        ("Let me know when Bob arrives.", ""),
        (
            "Tell Bob tomorrow at eight that the boat leaves.",
            "the boat leaves",
        ),
    ] {
        assert_eq!(what(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn whatever_is_said_is_read_in_bounds(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "when", "if", "Bob", "comes", "tell", "him", "me", "that", "or", "before", "eight", "within", "the", "next",
                "hour", "door", "opens", ",", "in", "ten", "minutes", "remind", "should", "you", "see", "she", "is", "here",
            ]),
            0..60,
        ),
    ) {
        let text = parts.join(" ");
        if let Some(Ok(later)) = later(&text, &words(&text), now()) {
            prop_assert!(later.when.len() <= 4);
            prop_assert!(later.due_at.is_some() || !later.when.is_empty());
            prop_assert!(later.due_at.is_none_or(|at| at > now()) && later.until.is_none_or(|at| at > now()));
            prop_assert!(later.what.chars().count() <= LONGEST + 1);
            prop_assert!(later.who != Person::Pronoun);
        }
    }
}
