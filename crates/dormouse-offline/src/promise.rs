//! Reminders: when and of what, in the words of a request.

use dormouse_contracts::Timestamp;

use crate::{
    moment::{deadline, is_joined, moment, repeats, rest_of},
    pattern::text_of,
    phrasing::{tame, to_you},
    words::{Word, words},
};

/// The longest description, in characters.
const LONGEST: usize = 180;
/// What somebody is reminded of who names only a moment.
pub(crate) const IT_IS_TIME: &str = "it is time";

/// What somebody is to be reminded of, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reminder {
    /// The subject, in the words that the asker will hear.
    pub(crate) what: String,
    pub(crate) due_at: Timestamp,
}

/// Why a request cannot be noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unclear {
    /// It names no moment.
    Time,
    /// It only names a moment at which it would be too late.
    Deadline,
    /// It names more than one moment.
    Moments,
    /// It asks for something again and again.
    Repeats,
    /// Nobody can tell what to wait for.
    Event,
    /// Nobody can tell whom it means.
    Person,
}

/// Reads a request: what follows "remind me". `now` is when it was said; hours are those of UTC.
pub(crate) fn reminder(text: &str, now: Timestamp) -> Result<Reminder, Unclear> {
    let words = words(text);
    if repeats(&words) {
        return Err(Unclear::Repeats);
    }
    let (from, to, due_at) = moment(&words, now).ok_or_else(|| {
        let has_deadline = (0..words.len()).any(|at| deadline(rest_of(&words, at), now).is_some());
        match has_deadline {
            true => Unclear::Deadline,
            false => Unclear::Time,
        }
    })?;
    let before = words.get(..from).unwrap_or_default();
    let after = rest_of(&words, to);
    // "Remind me at six to be there at eight" has one moment, "remind me to be there at eight at six" may have two.
    if is_joined(after, now) || (from > 0 && moment(after, now).is_some()) {
        return Err(Unclear::Moments);
    }
    let parts = [before, after].map(|words| text_of(text, subject(words)).unwrap_or_default());
    let what = parts.join(" ");
    let what = to_you(tame(what.trim()).trim());
    let what = match what.is_empty() {
        true => IT_IS_TIME.to_owned(),
        false => dormouse_text::shortened(&what, LONGEST).into_owned(),
    };
    Ok(Reminder { what, due_at })
}

/// The words without connecting words at both ends.
fn subject(words: &[Word]) -> &[Word] {
    let connects = |word: &Word, all: &[&str]| all.contains(&word.text.as_str());
    let mut words = words;
    while let [first, rest @ ..] = words
        && connects(first, &["to", "about", "of", "that", "please", "and"])
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && connects(
            last,
            &[
                "please", "to", "about", "that", "thanks", "and", "at", "by", "so",
            ],
        )
    {
        words = rest;
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::moment::FURTHEST;

    /// A Monday, 17:40.
    fn now() -> Timestamp {
        "2026-11-23T17:40:00Z".parse().unwrap()
    }

    fn read(text: &str) -> Option<(String, String)> {
        let read = reminder(text, now()).ok()?;
        Some((read.due_at.to_string(), read.what))
    }

    #[test]
    fn a_moment_is_read_wherever_it_stands() {
        for (text, at, what) in [
            (
                "at six to feed the cat",
                "2026-11-23T18:00:00Z",
                "feed the cat",
            ),
            (
                "to feed my cat at six",
                "2026-11-23T18:00:00Z",
                "feed your cat",
            ),
            (
                "in ten minutes to feed the cat",
                "2026-11-23T17:50:00Z",
                "feed the cat",
            ),
            (
                "to go to Bob in 2 hours",
                "2026-11-23T19:40:00Z",
                "go to Bob",
            ),
            (
                "about the tea in half an hour",
                "2026-11-23T18:10:00Z",
                "the tea",
            ),
            (
                "of the tea an hour from now",
                "2026-11-23T18:40:00Z",
                "the tea",
            ),
            (
                "tomorrow at noon that Bob comes",
                "2026-11-24T12:00:00Z",
                "Bob comes",
            ),
            ("tomorrow morning to bake", "2026-11-24T08:00:00Z", "bake"),
            ("to bake tomorrow at 6", "2026-11-24T06:00:00Z", "bake"),
            (
                "to bake at 6 in the morning",
                "2026-11-24T06:00:00Z",
                "bake",
            ),
            ("at half past six to bake", "2026-11-23T18:30:00Z", "bake"),
            ("at quarter to six to bake", "2026-11-23T17:45:00Z", "bake"),
            ("at 18:05 to bake", "2026-11-23T18:05:00Z", "bake"),
            ("at 5pm to bake", "2026-11-24T17:00:00Z", "bake"),
            (
                "this evening at eight to bake",
                "2026-11-23T20:00:00Z",
                "bake",
            ),
            ("tonight to bake", "2026-11-23T19:00:00Z", "bake"),
            ("in a few minutes to bake", "2026-11-23T17:43:00Z", "bake"),
            ("in 10min to bake", "2026-11-23T17:50:00Z", "bake"),
            ("at six", "2026-11-23T18:00:00Z", IT_IS_TIME),
            ("when it is six", "2026-11-23T18:00:00Z", IT_IS_TIME),
            ("once it is evening to bake", "2026-11-23T19:00:00Z", "bake"),
            ("on Monday to bake", "2026-11-30T08:00:00Z", "bake"),
            ("to bake next Friday at ten", "2026-11-27T10:00:00Z", "bake"),
            ("at ten on Tuesday to bake", "2026-11-24T10:00:00Z", "bake"),
            (
                "about the cake tomorrow",
                "2026-11-24T08:00:00Z",
                "the cake",
            ),
            (
                "the day after tomorrow at six pm to bake",
                "2026-11-25T18:00:00Z",
                "bake",
            ),
            (
                "in two and a half hours to bake",
                "2026-11-23T20:10:00Z",
                "bake",
            ),
            (
                "in an hour and ten minutes to bake",
                "2026-11-23T18:50:00Z",
                "bake",
            ),
            (
                "at six to leave before seven",
                "2026-11-23T18:00:00Z",
                "leave before seven",
            ),
            (
                "at six that the shop opens every day",
                "2026-11-23T18:00:00Z",
                "the shop opens every day",
            ),
            (
                "at six to be at the mill at eight",
                "2026-11-23T18:00:00Z",
                "be at the mill at eight",
            ),
            (
                "at six about the weekly bath",
                "2026-11-23T18:00:00Z",
                "the weekly bath",
            ),
            ("for six to bake", "2026-11-23T18:00:00Z", "bake"),
        ] {
            assert_eq!(read(text), Some((at.to_owned(), what.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_unclear_is_said() {
        for (text, missing) in [
            ("to feed the cat", Unclear::Time),
            ("in ten thousand weeks to bake", Unclear::Time),
            ("to read six books", Unclear::Time),
            ("about the three cats", Unclear::Time),
            ("to leave before seven", Unclear::Deadline),
            ("to wait until 18:30", Unclear::Deadline),
            ("before it is seven to eat", Unclear::Deadline),
            ("before tomorrow at six to bake", Unclear::Deadline),
            ("every day at six to feed the cat", Unclear::Repeats),
            ("to feed the cat at six every other day", Unclear::Repeats),
            ("daily at six to feed the cat", Unclear::Repeats),
            ("at six on Mondays to sweep", Unclear::Repeats),
            ("at six and at eight to sweep", Unclear::Moments),
            ("to sweep at six and eight", Unclear::Moments),
            ("at six, seven or eight to sweep", Unclear::Moments),
            ("at six to sweep and at eight to cook", Unclear::Moments),
            ("to be at the mill at eight at six", Unclear::Moments),
            ("today at noon to eat", Unclear::Time),
            ("to eat at noon today", Unclear::Time),
            ("for two eggs", Unclear::Time),
        ] {
            assert_eq!(reminder(text, now()), Err(missing), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_reminder_is_always_in_the_future_and_within_a_year(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "in", "at", "six", "ten", "24", "99999", "minutes", "hour", "week", "tomorrow", "noon", "half",
                    "past", "to", "quarter", "pm", "monday", "on", "and", "every", "before", "for", "when", "it", "is", "am", "tonight", "tea", "a", "12:61", "0:00", "from", "now", "days",
                ]),
                0..10,
            ),
            micros in any::<i64>(),
        ) {
            let now = Timestamp::from_micros(micros);
            if let Ok(reminder) = reminder(&words.join(" "), now) {
                prop_assert!(reminder.due_at > now);
                prop_assert!(reminder.due_at.since(now) <= FURTHEST);
            }
        }
    }
}
