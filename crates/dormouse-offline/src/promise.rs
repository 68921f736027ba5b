//! Reminders: when and of what, in the words of a request.

use std::time::Duration;

use dormouse_contracts::Timestamp;

use crate::{
    english::times::{HALVES, LENGTHS, MOMENTS, NUMBERS, PARTS, UNITS},
    pattern::text_of,
    phrasing::{tame, to_you},
    words::{Word, begins, words},
};

/// The latest moment of a reminder: a year from now.
const FURTHEST: Duration = Duration::from_secs(366 * 86_400);
const DAY: u64 = 86_400;
/// The longest description, in characters.
const LONGEST: usize = 180;

/// What somebody is to be reminded of, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reminder {
    /// The subject, in the words that the asker will hear.
    pub(crate) what: String,
    pub(crate) due_at: Timestamp,
}

/// What a request lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Time,
    Subject,
}

/// Reads a request: what follows "remind me". `now` is when it was said; hours are those of UTC.
pub(crate) fn reminder(text: &str, now: Timestamp) -> Result<Reminder, Missing> {
    let words = words(text);
    let (from, to, due_at) = moment(&words, now).ok_or(Missing::Time)?;
    let before = words.get(..from).unwrap_or_default();
    let after = words.get(to..).unwrap_or_default();
    let parts = [before, after].map(|words| text_of(text, subject(words)).unwrap_or_default());
    let what = parts.join(" ");
    let what = to_you(tame(what.trim()).trim());
    if what.is_empty() {
        return Err(Missing::Subject);
    }
    let what = dormouse_text::shortened(&what, LONGEST).into_owned();
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
            &["please", "to", "about", "that", "thanks", "and", "at", "by"],
        )
    {
        words = rest;
    }
    words
}

/// The first moment that the words name, and where they name it.
fn moment(words: &[Word], now: Timestamp) -> Option<(usize, usize, Timestamp)> {
    (0..words.len()).find_map(|from| {
        let (count, due_at) = time_at(words.get(from..)?, now)?;
        Some((from, from + count, due_at))
    })
}

/// If the first words name a future moment: how many words, and which moment.
pub(crate) fn time_at(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    let (count, due_at) = length(words, now).or_else(|| clock(words, now))?;
    let is_soon = due_at > now && due_at.since(now) <= FURTHEST;
    is_soon.then_some((count, due_at))
}

/// "in ten minutes", "two hours from now", "after half an hour".
fn length(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    let leads = usize::from(is(words, 0, &["in", "after", "within"]));
    let rest = words.get(leads..)?;
    let fixed = LENGTHS.iter().find_map(|(phrase, seconds)| {
        let count = begins(rest, phrase);
        (count > 0).then_some((count, *seconds))
    });
    let (count, seconds) = match fixed {
        Some(fixed) => fixed,
        None => {
            let amount = number(&rest.first()?.text)?;
            let unit = &rest.get(1)?.text;
            let (_, seconds) = UNITS.iter().find(|(name, _)| name == unit)?;
            (2, amount.checked_mul(*seconds)?)
        }
    };
    let behind = rest.get(count..).unwrap_or_default();
    let from_now = is(behind, 0, &["from"]) && is(behind, 1, &["now"]);
    if leads == 0 && !from_now {
        return None;
    }
    let trails = if from_now { 2 } else { 0 };
    Some((
        leads + count + trails,
        now.plus(Duration::from_secs(seconds)),
    ))
}

/// "at six", "by half past seven", "tomorrow morning", "tomorrow at noon", "at 18:30 tomorrow", "this evening at eight".
fn clock(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    let mut at = 0;
    let mut tomorrow = false;
    let mut half = None;
    let mut part = None;
    // A day or a part of it may come before the hour.
    if is(words, at, &["tomorrow"]) {
        (tomorrow, at) = (true, at + 1);
        if let Some((_, hour)) = words.get(at).and_then(|word| find(PARTS, &word.text)) {
            (part, at) = (Some(hour), at + 1);
        }
    } else if let Some((count, is_late)) = half_of_day(words) {
        (half, at) = (Some(is_late), count);
        part = Some(if is_late { 19 } else { 8 });
    }
    let named_day = at > 0;
    let leads = is(words, at, &["at", "by", "around", "about", "before"]);
    let hour = words.get(at + usize::from(leads)..).and_then(hour_of_day);
    let (minutes, certain, count) = match hour {
        Some((count, minutes, certain)) if leads || named_day || certain => {
            (minutes, certain, at + usize::from(leads) + count)
        }
        _ => (part? * 60, true, at),
    };
    let mut count = count;
    let rest = words.get(count..).unwrap_or_default();
    if let Some((more, is_late)) = half_of_day(rest) {
        (half, count) = (Some(is_late), count + more);
    }
    if is(words, count, &["tomorrow"]) {
        (tomorrow, count) = (true, count + 1);
    }
    let half = half.or(part.filter(|_| !certain).map(|hour| hour >= 12));
    Some((count, next(minutes, certain, half, tomorrow, now)?))
}

/// The next moment at these minutes of a day. An hour on a twelve-hour clock means the nearer of its two moments.
fn next(
    minutes: u64,
    certain: bool,
    half: Option<bool>,
    tomorrow: bool,
    now: Timestamp,
) -> Option<Timestamp> {
    let late = (minutes + 720) % 1_440;
    let options = match (certain || minutes >= 780, half) {
        (true, _) => vec![minutes],
        (false, Some(true)) if minutes < 720 => vec![late],
        (false, Some(false)) if minutes >= 720 => vec![late],
        (false, Some(_)) => vec![minutes],
        (false, None) => vec![minutes, late],
    };
    let seconds = u64::try_from(now.as_micros().div_euclid(1_000_000)).ok()?;
    let today = seconds - seconds % DAY;
    let first = if tomorrow {
        today.checked_add(DAY)?
    } else {
        today
    };
    let moments = options.into_iter().flat_map(|minutes| {
        let at = first.saturating_add(minutes * 60);
        [at, at.saturating_add(DAY)]
    });
    let next = moments.filter(|at| *at > seconds).min()?;
    let micros = i64::try_from(next).ok()?.checked_mul(1_000_000)?;
    Some(Timestamp::from_micros(micros))
}

/// Returns the number of words, the minutes after midnight, and whether the half of the day is certain.
fn hour_of_day(words: &[Word]) -> Option<(usize, u64, bool)> {
    let first = words.first()?;
    if let Some((_, minutes)) = find(MOMENTS, &first.text) {
        return Some((1, minutes, true));
    }
    if let Some((hours, minutes)) = first.text.split_once([':', '.']) {
        let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
        let fits = hours < 24 && minutes < 60;
        return fits.then_some((1, hours * 60 + minutes, hours == 0 || hours > 12));
    }
    if let Some(spoken) = past_or_to(words) {
        return Some(spoken);
    }
    let hours = hours(&first.text)?;
    // "six thirty", "six oclock".
    let minutes = words.get(1).and_then(|word| number(&word.text));
    let minutes = minutes.filter(|minutes| (10..60).contains(minutes));
    let is_unit = words
        .get(2)
        .is_some_and(|word| UNITS.iter().any(|(unit, _)| *unit == word.text));
    if let Some(minutes) = minutes.filter(|_| !is_unit) {
        return Some((2, hours * 60 + minutes, hours > 12));
    }
    let count = 1 + usize::from(is(words, 1, &["oclock"]));
    Some((count, hours * 60, hours > 12 || hours == 0))
}

/// "half past six", "quarter to six", "ten past six".
fn past_or_to(words: &[Word]) -> Option<(usize, u64, bool)> {
    let (lead, rest) = match is(words, 0, &["a"]) {
        true => (1, words.get(1..)?),
        false => (0, words),
    };
    if !is(rest, 1, &["past", "to", "after"]) {
        return None;
    }
    let minutes = match rest.first()?.text.as_str() {
        "half" => 30,
        "quarter" => 15,
        word => number(word).filter(|minutes| *minutes < 60)?,
    };
    let hours = hours(&rest.get(2)?.text)?;
    let total = match is(rest, 1, &["to"]) {
        true => (hours * 60 + 720 - minutes) % 720,
        false => hours * 60 + minutes,
    };
    Some((lead + 3, total, false))
}

fn half_of_day(words: &[Word]) -> Option<(usize, bool)> {
    HALVES.iter().find_map(|(phrase, is_late)| {
        let count = begins(words, phrase);
        (count > 0).then_some((count, *is_late))
    })
}

fn hours(word: &str) -> Option<u64> {
    number(word).filter(|hours| *hours < 24 && !["a", "an"].contains(&word))
}

fn number(word: &str) -> Option<u64> {
    match find(NUMBERS, word) {
        Some((_, number)) => Some(number),
        None => word.parse().ok().filter(|number| *number < 100_000),
    }
}

fn find<'t>(table: &'t [(&'t str, u64)], word: &str) -> Option<(&'t str, u64)> {
    table.iter().copied().find(|(known, _)| *known == word)
}

fn is(words: &[Word], at: usize, options: &[&str]) -> bool {
    words
        .get(at)
        .is_some_and(|word| options.contains(&word.text.as_str()))
}

/// The moment as it is said at `now`: "at 18:00 (UTC)", "tomorrow at 06:00 (UTC)", "on 2026-11-25 at 06:00 (UTC)".
pub(crate) fn said_at(due_at: Timestamp, now: Timestamp) -> String {
    let text = due_at.to_string();
    let day = |at: Timestamp| at.as_micros().div_euclid(86_400_000_000);
    let (Some(date), Some(hour)) = (text.get(..10), text.get(11..16)) else {
        return "when it is time".to_owned();
    };
    match day(due_at) - day(now) {
        0 => format!("at {hour} (UTC)"),
        1 => format!("tomorrow at {hour} (UTC)"),
        _ => format!("on {date} at {hour} (UTC)"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        ] {
            assert_eq!(read(text), Some((at.to_owned(), what.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        for (text, missing) in [
            ("to feed the cat", Missing::Time),
            ("at six", Missing::Subject),
            ("in ten minutes please", Missing::Subject),
            ("in ten thousand weeks to bake", Missing::Time),
            ("to read six books", Missing::Time),
            ("about the three cats", Missing::Time),
        ] {
            assert_eq!(reminder(text, now()), Err(missing), "{text}");
        }
    }

    #[test]
    fn a_moment_is_said_with_its_day() {
        let at = |text: &str| said_at(text.parse().unwrap(), now());
        assert_eq!(at("2026-11-23T18:00:00Z"), "at 18:00 (UTC)");
        assert_eq!(at("2026-11-24T06:00:00Z"), "tomorrow at 06:00 (UTC)");
        assert_eq!(at("2026-11-30T06:00:00Z"), "on 2026-11-30 at 06:00 (UTC)");
    }

    proptest! {
        #[test]
        fn a_reminder_is_always_in_the_future_and_within_a_year(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "in", "at", "six", "ten", "24", "99999", "minutes", "hour", "week", "tomorrow", "noon", "half",
                    "past", "to", "quarter", "pm", "am", "tonight", "tea", "a", "12:61", "0:00", "from", "now", "days",
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
