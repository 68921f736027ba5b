//! Rules that are said as a statement or in a few words, and not as a command: "every answer should end with a summary", "two
//! lines at most", "nothing with peanuts, ever", "one condition: you keep my secret".

use super::{
    lists::{DESCRIBED, IDIOMS, MANNERS, SAID},
    manner::{asks, is_command, is_lasting, is_momentary, mentions_said},
};
use crate::orders::clause::Clause;

/// What an assistant makes for somebody, as far as it is more than words.
#[rustfmt::skip]
const MADE: &[&str] = &[
    "idea", "ideas", "menu", "menus", "meal", "meals", "dinner", "dish", "dishes", "recipe", "plan", "plans", "tip", "tips",
    "exercise", "exercises", "workout", "workouts", "instructions", "directions", "playlist", "playlists", "schedule",
    "appointments", "meetings", "reminders", "letter", "letters", "report", "reports", "email", "message", "chart", "charts", "picks", "text",
    "texts", "gifts", "presents", "drafts", "emails", "itinerary", "times", "amounts", "distances", "measurements", "anything",
    "everything",
];

/// Nouns for what somebody lays down: "my one request is …", "house rule: …".
#[rustfmt::skip]
const LAID_DOWN: &[&str] = &[
    "rule", "rules", "condition", "conditions", "request", "requests", "wish", "agreement", "deal", "requirement",
    "requirements", "preference", "preferences", "reminder",
];

/// What may be laid down in two words: "language: Dutch".
const FIELDS: &[&str] = &[
    "language", "tone", "length", "format", "style", "units", "spelling", "pronouns", "voice",
    "mood",
];

/// Words that make a phrase a sentence: verbs with their subject, and question words.
#[rustfmt::skip]
const FINITE: &[&str] = &[
    "is", "are", "was", "were", "am", "has", "have", "had", "will", "would", "can", "could", "did", "does", "do", "i", "i'm",
    "i'd", "i've", "you", "you're", "we", "we're", "he", "she", "they", "it's", "that's", "there's", "what", "how", "who",
];

/// Whether the clause lays down a rule.
pub(super) fn is_norm(clause: Clause<'_>, is_polite: bool) -> bool {
    let words = clause.words;
    !is_momentary(words)
        && (is_required(words)
            || is_laid_down(words)
            || is_secret(words)
            || is_excluded(words)
            || is_custom(words)
            || is_phrase(clause, is_polite)
            || is_field(clause))
}

pub(super) fn is_made(word: &str) -> bool {
    MADE.contains(&word) || SAID.contains(&word)
}

/// "Every answer should end with a summary", "I request that no names be recorded".
fn is_required(words: &[&str]) -> bool {
    if let [
        "i",
        "request" | "demand" | "ask" | "insist",
        "that",
        rest @ ..,
    ]
    | ["it's", "my", _, "that", rest @ ..] = words
    {
        return rest.contains(&"be") || matches!(rest, ["you", rest @ ..] if asks(rest));
    }
    let modal = words.windows(2).position(|two| {
        matches!(
            two,
            ["should" | "shouldn't" | "must" | "mustn't", _]
                | ["ought" | "need" | "needs" | "have" | "has", "to"]
        )
    });
    let Some(subject) = modal.and_then(|at| words.get(..at)) else {
        return false;
    };
    let general = |word: &str| {
        #[rustfmt::skip]
        let all = [
            "every", "each", "all", "any", "no", "my", "your", "our", "anything", "everything",
        ];
        all.contains(&word) || word.ends_with('s') && is_made(word)
    };
    let theirs = ["my", "your", "our", "you", "any", "anything", "everything"];
    let is_theirs = subject.iter().any(|word| theirs.contains(word));
    subject
        .first()
        .is_some_and(|first| general(first) || MANNERS.contains(first))
        && subject
            .iter()
            .any(|word| SAID.contains(word) || is_theirs && MADE.contains(word))
        && !words
            .iter()
            .any(|word| matches!(*word, "always" | "usually"))
        && !words
            .windows(2)
            .any(|two| matches!(two, ["should" | "must", "have"]))
}

/// "My one request is that you don't …", "our agreement is that you …".
fn is_laid_down(words: &[&str]) -> bool {
    const LONGEST: usize = 4;
    let Some(is) = words
        .iter()
        .take(LONGEST + 1)
        .position(|word| matches!(*word, "is" | "are"))
    else {
        return false;
    };
    let subject = words.get(..is).unwrap_or_default();
    matches!(subject, ["my" | "our" | "one" | "another", ..])
        && subject.iter().any(|word| LAID_DOWN.contains(word))
        && matches!(
            words.get(is + 1..),
            Some(["that", "you", ..] | ["you" | "to" | "for" | "no" | "never", ..])
        )
}

/// Whether words before a colon announce a rule: "house rule", "two rules for this room".
pub(super) fn announces(lead: &[&str]) -> bool {
    const LONGEST: usize = 6;
    lead.len() <= LONGEST
        && !lead
            .first()
            .is_some_and(|first| ["the", "as", "for", "against", "by"].contains(first))
        && lead.iter().any(|word| LAID_DOWN.contains(word))
}

/// "Keep it to yourself", "not a word to the others", "what I told you stays between us".
pub(super) fn is_secret(words: &[&str]) -> bool {
    let ends = |phrase: &[&str]| words.windows(phrase.len()).any(|part| part == phrase);
    match words {
        [
            "keep",
            "my",
            ..,
            "secret" | "secrets" | "private" | "confidential",
        ] => true,
        ["keep", what, ..] => *what != "your" && ends(&["to", "yourself"]),
        ["not", "a" | "one", "word", to, ..] => matches!(*to, "of" | "about" | "to"),
        ["mum's", "the", "word", ..] => true,
        ["nobody" | "no-one", "else", verb, ..] | ["nobody" | "no-one", verb, ..]
            if ["needs", "has", "must", "should", "is", "may"].contains(verb) =>
        {
            words
                .iter()
                .any(|word| ["know", "hear", "learn", "find"].contains(word))
        }
        [.., "is" | "are", "enough" | "plenty"]
        | [.., "is" | "are", "enough" | "plenty", "for", "me"] => mentions_said(words),
        ["nobody" | "no-one", .., "without", "my", _] | ["no", "one", .., "without", "my", _] => {
            true
        }
        [
            "this" | "that" | "it",
            "stays" | "remains",
            "between",
            ..,
            "us",
        ] => true,
        [
            "what" | "everything",
            said @ ..,
            "is" | "stays",
            "private" | "confidential" | "secret",
        ] => said.iter().any(|word| matches!(*word, "i" | "we")),
        ["what" | "everything" | "this" | "that", ..] => {
            let kept = ends(&["between", "us"])
                || ends(&["between", "you", "and", "me"])
                || ends(&["with", "you"]);
            kept && words
                .iter()
                .any(|word| matches!(*word, "stays" | "remains" | "is"))
        }
        _ => false,
    }
}

/// "Under no circumstances are you to …", "red meat is off the table".
fn is_excluded(words: &[&str]) -> bool {
    match words {
        ["under", "no", "circumstances" | "circumstance", next, ..]
        | ["on", "no", "account", next, ..] => !matches!(
            *next,
            "would" | "did" | "could" | "had" | "have" | "was" | "were" | "will" | "i"
        ),
        [what, .., "fine" | "okay" | "ok" | "allowed" | "welcome"]
        | [
            what,
            ..,
            "fine" | "okay" | "ok" | "allowed" | "welcome",
            "by" | "with",
            "me",
        ] => SAID.contains(what) && words.iter().any(|word| matches!(*word, "is" | "are")),
        ["back", "to", rest @ ..] | ["go" | "switch" | "return", "back", "to", rest @ ..] => {
            mentions_said(rest)
        }
        [what, ..] => {
            let is_out = words.windows(3).any(|part| {
                matches!(
                    part,
                    ["off", "the", "table"] | [_, "off", "limits"] | [_, "off-limits", _]
                )
            });
            let of_speaker = words
                .iter()
                .any(|word| matches!(*word, "me" | "my" | "us" | "our"));
            is_out && (of_speaker || is_made(what))
        }
        [] => false,
    }
}

/// "In this room we only speak Dutch", "we don't do spoilers in here".
fn is_custom(words: &[&str]) -> bool {
    #[rustfmt::skip]
    const PLACES: [&str; 8] = [
        "room", "channel", "chat", "group", "server", "house", "conversation", "thread",
    ];
    let is_here = words.contains(&"here")
        || words.windows(3).any(
            |part| matches!(part, ["in", "this" | "our" | "my", place] if PLACES.contains(place)),
        );
    let we = words.iter().position(|word| *word == "we");
    let does = we.and_then(|we| words.get(we + 1));
    let has = we.and_then(|we| words.get(we + 2)) == Some(&"have");
    is_here
        && !has
        && does.is_some_and(|does| {
            ["only", "don't", "never", "always"].contains(does) || words.contains(&"only")
        })
}

/// A rule without a verb: "two lines tops", "plain text please", "temperatures in Celsius", "nothing with nuts, ever".
fn is_phrase(clause: Clause<'_>, is_polite: bool) -> bool {
    const LONGEST: usize = 9;
    let words = clause.before_pause().words;
    let [first, rest @ ..] = words else {
        return false;
    };
    // "Nothing with nuts, ever", and not "in German, nouns always …".
    let mark = clause
        .after_pause()
        .map_or(words, |then| then.before_pause().words);
    let marked = is_polite
        || mark.len() <= 2
            && mark
                .iter()
                .any(|word| ["ever", "always", "thanks"].contains(word))
        || matches!(words, [.., "ever" | "always" | "only"]);
    #[rustfmt::skip]
    let one = [
        "a", "an", "the", "some", "another", "your", "this", "that", "what's", "great", "good", "nice", "lovely",
        "perfect", "wonderful", "brilliant", "excellent", "cool", "funny", "thanks", "thank",
    ];
    match (*first, rest) {
        (_, [_, "at", "a", "time", ..]) => return marked,
        ("everything", ["in", how @ ..]) => return mentions_said(how) || marked,
        ("the", ["shorter" | "simpler" | "briefer", "the", "better"]) => return true,
        (_, [unit, ..]) if mark == ["no", "more"] => return is_made(unit),
        _ => {}
    }
    if words.len() > LONGEST
        || one.contains(first)
        || words.iter().any(|word| FINITE.contains(word))
    {
        return false;
    }
    match rest {
        _ if is_polite && MANNERS.contains(first) && words.len() <= 4 => {
            !["more", "less", "light", "clean"].contains(first)
        }
        [.., "per", unit] | [.., "per", unit, "please"] if SAID.contains(unit) => true,
        [_, unit, ..] if matches!(*first, "max" | "maximum") => is_made(unit),
        ["most", _, unit, ..] if *first == "at" => is_made(unit),
        ["more", "than", _, unit, ..] if matches!(*first, "no" | "not") => is_made(unit),
        [.., what] if *first == "only" => SAID.contains(what) && what.ends_with('s'),
        ["of", "the" | "that" | "your", _, ..] if *first == "less" => true,
        _ if matches!(*first, "less" | "fewer")
            && clause.words.iter().any(|word| SAID.contains(word))
            && clause
                .after_pause()
                .is_some_and(|then| then.words.first() == Some(&"more")) =>
        {
            true
        }
        _ if matches!(*first, "more" | "less" | "fewer") && is_lasting(words) => true,
        _ if *first == "nothing" => marked && !rest.is_empty(),
        _ if *first == "no" => {
            marked
                && !matches!(rest, [] | ["more" | "please"])
                && !rest.iter().take(2).any(|word| IDIOMS.contains(word))
        }
        [unit, .., "tops" | "max" | "maximum"] | [unit, "at", "most", ..] | [unit, "max", ..] => {
            is_made(unit)
                || matches!(
                    *unit,
                    "line" | "lines" | "words" | "pages" | "step" | "thing"
                )
        }
        _ if is_command(words) || DESCRIBED.contains(first) => false,
        [what, ..] if matches!(*first, "fewer" | "less" | "shorter" | "simpler" | "longer") => {
            SAID.contains(what) || mentions_said(rest)
        }
        ["in" | "with" | "without" | "like" | "as", how @ ..] => {
            first.ends_with('s')
                && is_made(first)
                && (marked || !how.is_empty())
                && !matches!(how, ["the" | "my" | "your" | "a" | "this", ..])
        }
        _ if marked => {
            let is_plural = words
                .iter()
                .any(|word| word.ends_with('s') && !matches!(*word, "please" | "thanks"));
            let general = |word: &&str| SAID.contains(word) && (is_plural || FORMS.contains(word));
            words.iter().any(general) && !words.iter().any(|word| matches!(*word, "for" | "more"))
        }
        _ => false,
    }
}

/// How something may be said, in the singular.
#[rustfmt::skip]
const FORMS: &[&str] = &[
    "metric", "imperial", "celsius", "fahrenheit", "utc", "clock", "plain", "markdown", "english", "german", "french",
    "spanish", "italian", "simple", "formal", "lowercase", "humour", "language",
];

/// "Language: Dutch".
fn is_field(clause: Clause<'_>) -> bool {
    clause.around_colon().is_some_and(|(field, _)| {
        matches!(field.words, [name] | ["preferred", name] | ["my", name] if FIELDS.contains(name))
    })
}
