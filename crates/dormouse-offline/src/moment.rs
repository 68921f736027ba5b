//! Moments in words: when something is due, by the words of a request. Hours are those of UTC.

use std::time::Duration;

use dormouse_contracts::Timestamp;

use crate::{
    english::{
        later::MARKERS,
        times::{
            AT, DEADLINES, EVERY, HALVES, IT_IS, JOINS, LENGTHS, MOMENTS, NEARLY, NUMBERS, ON,
            PARTS, REPEATS, UNITS, VAGUE, WEEKDAYS,
        },
    },
    words::{Word, begins, longest},
};

/// The latest moment that counts: a year from now.
pub(crate) const FURTHEST: Duration = Duration::from_secs(366 * 86_400);
const DAY: u64 = 86_400;
/// The minutes after midnight of a day without an hour.
const MORNING: u64 = 480;

/// Whether the words ask for something again and again: "every day", "daily at six". What follows "that" is a fact, and
/// asks for nothing.
pub(crate) fn repeats(words: &[Word]) -> bool {
    let is_fact = |word: &Word| word.text == "that";
    let asked = words.split(is_fact).next().unwrap_or_default();
    let names_when = |word: &Word| {
        let word = word.text.as_str();
        EVERY.contains(&word)
            || WEEKDAYS.contains(&word)
            || find(PARTS, word).is_some()
            || find(UNITS, word).is_some()
    };
    (0..asked.len()).any(|at| {
        let behind = rest_of(asked, at + 1);
        let is_plural_day = || {
            let word = asked.get(at).and_then(|it| it.text.strip_suffix('s'));
            word.is_some_and(|day| WEEKDAYS.contains(&day))
        };
        // "About the daily bread" only names something.
        let is_adverb = behind.is_empty() || at == 0 || is(behind, 0, AT);
        (is(asked, at, &["every", "each"]) && behind.iter().take(3).any(names_when))
            || is_plural_day()
            || (is_adverb && is(asked, at, REPEATS))
    })
}

/// If the first words name a moment at which it is too late ("before seven"): how many words.
pub(crate) fn deadline(words: &[Word], now: Timestamp) -> Option<usize> {
    if !is(words, 0, DEADLINES) {
        return None;
    }
    let verb = longest(rest_of(words, 1), IT_IS).unwrap_or(0);
    let behind = rest_of(words, 1 + verb);
    let named = clock(behind, Lead::Optional, now).or_else(|| clock(behind, Lead::Day, now));
    let (count, _) = named.or_else(|| length(behind, Lead::Needed, now))?;
    Some(count + 1 + verb)
}

/// Whether these words, which follow a moment, begin with another moment, or join one to it: "and at eight", "seven or eight".
pub(crate) fn is_joined(words: &[Word], now: Timestamp) -> bool {
    let hour = |at| clock(rest_of(words, at), Lead::Optional, now).map(|(count, _)| at + count);
    let is_listed = hour(0).is_some_and(|end| is(words, end, JOINS));
    let joins = |at| {
        let behind = rest_of(words, at + 1);
        is(words, at, JOINS)
            && (time_at(behind, now).is_some() || (at == 0 && hour(at + 1).is_some()))
    };
    is_listed || time_at(words, now).is_some() || (0..words.len()).any(joins)
}

/// The first moment that the words name, and where they name it. A moment at which it is too late does not count.
pub(crate) fn moment(words: &[Word], now: Timestamp) -> Option<(usize, usize, Timestamp)> {
    let mut from = 0;
    while from < words.len() {
        let rest = rest_of(words, from);
        if let Some(count) = deadline(rest, now) {
            from += count;
            continue;
        }
        // "Today at noon" has passed, and its hour must not be read as that of tomorrow.
        if begins(rest, "today") > 0 && time_at(rest, now).is_none() {
            let hour = clock(rest_of(rest, 1), Lead::Needed, now);
            from += 1 + hour.map_or(0, |(count, _)| count);
            continue;
        }
        let found = match from {
            0 => time_first(rest, now).or_else(|| time_after_for(rest, now)),
            _ => time_at(rest, now),
        };
        if let Some((count, due_at)) = found {
            return Some((from, from + count, due_at));
        }
        from += 1;
    }
    // A day without an hour counts at the end, too.
    (1..words.len()).find_map(|from| {
        let (count, due_at) = soon(clock(rest_of(words, from), Lead::Day, now)?, now)?;
        let is_end = from + count == words.len() && !is(words, from - 1, DEADLINES);
        is_end.then_some((from, from + count, due_at))
    })
}

/// What must precede a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// "at", "in".
    Needed,
    /// Nothing.
    Optional,
    /// A day, which needs no hour.
    Day,
}

/// If the first words name a future moment: how many words, and which moment.
pub(crate) fn time_at(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    let found = length(words, Lead::Needed, now)
        .or_else(|| clock(words, Lead::Needed, now))
        .or_else(|| it_is(words, now))?;
    soon(found, now)
}

/// The same where a request names its moment first. There, a day needs no hour.
pub(crate) fn time_first(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    time_at(words, now).or_else(|| soon(clock(words, Lead::Day, now)?, now))
}

/// A moment after "for", with which an alarm is set.
fn time_after_for(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    let lead = Some(begins(words, "for")).filter(|lead| *lead > 0)?;
    let behind = rest_of(words, lead);
    let found = length(behind, Lead::Optional, now)
        .or_else(|| clock(behind, Lead::Optional, now))
        .or_else(|| clock(behind, Lead::Day, now))?;
    let (count, due_at) = soon(found, now)?;
    // "For two eggs" does not name a moment.
    let is_whole = count == behind.len() || is(behind, count, &["to", "about", "of", "that"]);
    is_whole.then_some((count + lead, due_at))
}

fn soon(found: (usize, Timestamp), now: Timestamp) -> Option<(usize, Timestamp)> {
    let is_soon = found.1 > now && found.1.since(now) <= FURTHEST;
    is_soon.then_some(found)
}

/// "when it is six", "as soon as it is evening".
fn it_is(words: &[Word], now: Timestamp) -> Option<(usize, Timestamp)> {
    let marker = longest(words, MARKERS)?;
    let verb = longest(rest_of(words, marker), IT_IS)?;
    let mut at = marker + verb;
    while is(words, at, NEARLY) {
        at += 1;
    }
    let behind = rest_of(words, at);
    let part = behind.first().and_then(|word| find(PARTS, &word.text));
    let (count, due_at) = match part {
        Some((_, hour)) => (1, next(hour * 60, true, None, None, now)?),
        None => clock(behind, Lead::Optional, now)?,
    };
    Some((at + count, due_at))
}

/// "in ten minutes", "two hours from now", "after half an hour", "in two and a half hours", "in an hour and ten minutes".
fn length(words: &[Word], lead: Lead, now: Timestamp) -> Option<(usize, Timestamp)> {
    let leads = usize::from(is(words, 0, &["in", "after", "within"]));
    let (count, seconds) = amount(words.get(leads..)?)?;
    let mut end = leads + count;
    let mut total = seconds;
    if is(words, end, &["and"])
        && let Some((count, more)) = amount(rest_of(words, end + 1))
        && more < seconds
    {
        (end, total) = (end + 1 + count, total.checked_add(more)?);
    }
    let from_now = begins(rest_of(words, end), "from now");
    if leads == 0 && from_now == 0 && lead == Lead::Needed {
        return None;
    }
    Some((end + from_now, now.plus(Duration::from_secs(total))))
}

/// "ten minutes", "two and a half hours", "half an hour": how many words, and how many seconds.
fn amount(words: &[Word]) -> Option<(usize, u64)> {
    let fixed = LENGTHS.iter().find_map(|(phrase, seconds)| {
        let count = begins(words, phrase);
        (count > 0).then_some((count, *seconds))
    });
    if fixed.is_some() {
        return fixed;
    }
    let number = number(&words.first()?.text)?;
    let half = begins(rest_of(words, 1), "and a half");
    let (_, seconds) = find(UNITS, &words.get(1 + half)?.text)?;
    let whole = number.checked_mul(seconds)?;
    let extra = if half > 0 { seconds / 2 } else { 0 };
    Some((2 + half, whole.checked_add(extra)?))
}

/// "at six", "by half past seven", "tomorrow morning", "on Monday at noon", "at 18:30 tomorrow", "this evening at eight".
fn clock(words: &[Word], lead: Lead, now: Timestamp) -> Option<(usize, Timestamp)> {
    let mut at = 0;
    let mut days = None;
    let mut half = None;
    let mut part = None;
    // A day or a part of it may come before the hour.
    if let Some((count, ahead)) = day(words, now) {
        (days, at) = (Some(ahead), count);
        if let Some((_, hour)) = words.get(at).and_then(|word| find(PARTS, &word.text)) {
            (part, at) = (Some(hour), at + 1);
        }
    } else if let Some((count, is_late)) = half_of_day(words) {
        (half, at) = (Some(is_late), count);
        part = Some(if is_late { 19 } else { 8 });
    }
    let is_named = at > 0 || lead == Lead::Optional;
    let leads = is(words, at, AT);
    let hour = words.get(at + usize::from(leads)..).and_then(hour_of_day);
    let alone = days.filter(|days| lead == Lead::Day && *days > 0);
    let (minutes, certain, mut count) = match (hour, part, alone) {
        (Some((count, minutes, certain)), ..) if leads || is_named || certain => {
            (minutes, certain, at + usize::from(leads) + count)
        }
        (_, Some(hour), _) => (hour * 60, true, at),
        (_, None, Some(_)) => (MORNING, true, at),
        (_, None, None) => return None,
    };
    for _ in 0..2 {
        let rest = rest_of(words, count);
        if let Some((more, is_late)) = half_of_day(rest) {
            (half, count) = (Some(is_late), count + more);
        } else if let (Some((more, ahead)), None) = (day(rest, now), days) {
            (days, count) = (Some(ahead), count + more);
        }
    }
    let half = half.or(part.filter(|_| !certain).map(|hour| hour >= 12));
    Some((count, next(minutes, certain, half, days, now)?))
}

/// "tomorrow", "on Monday", "next Friday": how many words, and how many days ahead. A weekday is the next one after today.
fn day(words: &[Word], now: Timestamp) -> Option<(usize, u64)> {
    for (phrase, ahead) in [
        ("today", 0),
        ("tomorrow", 1),
        ("the days after tomorrow", 2),
        ("days after tomorrow", 2),
    ] {
        let count = begins(words, phrase);
        if count > 0 {
            return Some((count, ahead));
        }
    }
    let leads = words.iter().take_while(|it| ON.contains(&&*it.text));
    let leads = leads.count();
    let name = &words.get(leads)?.text;
    let wanted = WEEKDAYS.iter().position(|day| day == name)?;
    let is_said = leads > 0
        || is(words, 1, AT)
        || words
            .get(1)
            .is_some_and(|it| find(PARTS, &it.text).is_some());
    // The first day of the epoch was a Thursday.
    let today = now
        .as_micros()
        .div_euclid(86_400_000_000)
        .checked_add(3)?
        .rem_euclid(7);
    let wanted = i64::try_from(wanted).ok()?;
    let ahead = u64::try_from((wanted - today - 1).rem_euclid(7)).ok()? + 1;
    is_said.then_some((leads + 1, ahead))
}

/// The next moment at these minutes of a day. An hour on a twelve-hour clock means the nearer of its two moments.
fn next(
    minutes: u64,
    certain: bool,
    half: Option<bool>,
    days: Option<u64>,
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
    let first = today.checked_add(days.unwrap_or(0).checked_mul(DAY)?)?;
    // Without a day, a moment that has passed today is the one of tomorrow.
    let latest = if days.is_none() { DAY } else { 0 };
    let moments = options.into_iter().flat_map(|minutes| {
        let at = first.saturating_add(minutes * 60);
        [at, at.saturating_add(latest)]
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
    let is_unit = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| find(UNITS, &word.text).is_some())
    };
    let hours = hours(&first.text).filter(|_| !is_unit(1))?;
    // "six thirty", "six oclock".
    let minutes = words.get(1).and_then(|word| number(&word.text));
    let minutes = minutes.filter(|minutes| (10..60).contains(minutes));
    if let Some(minutes) = minutes.filter(|_| !is_unit(2)) {
        return Some((2, hours * 60 + minutes, hours > 12));
    }
    let count = 1 + usize::from(is(words, 1, &["oclock"]));
    Some((count, hours * 60, hours > 12 || hours == 0))
}

/// "half past six", "quarter to six", "ten minutes past six".
fn past_or_to(words: &[Word]) -> Option<(usize, u64, bool)> {
    let (lead, rest) = match is(words, 0, &["a"]) {
        true => (1, words.get(1..)?),
        false => (0, words),
    };
    let unit = usize::from(is(rest, 1, &["minutes"]));
    if !is(rest, 1 + unit, &["past", "to", "after"]) {
        return None;
    }
    let minutes = match rest.first()?.text.as_str() {
        "half" => 30,
        "quarter" => 15,
        word => number(word).filter(|minutes| *minutes < 60)?,
    };
    let hours = hours(&rest.get(2 + unit)?.text)?;
    let total = match is(rest, 1 + unit, &["to"]) {
        true => (hours * 60 + 720 - minutes) % 720,
        false => hours * 60 + minutes,
    };
    Some((lead + 3 + unit, total, false))
}

fn half_of_day(words: &[Word]) -> Option<(usize, bool)> {
    HALVES.iter().find_map(|(phrase, is_late)| {
        let count = begins(words, phrase);
        (count > 0).then_some((count, *is_late))
    })
}

/// Whether this word, as part of a condition, names no event: it is a number, or true at any time.
pub(crate) fn is_vague(word: &str) -> bool {
    let digits = word.trim_matches(|c: char| c.is_ascii_digit() || [':', '.'].contains(&c));
    digits.is_empty() || VAGUE.contains(&word) || WEEKDAYS.contains(&word) || number(word).is_some()
}

pub(crate) fn rest_of(words: &[Word], at: usize) -> &[Word] {
    words.get(at..).unwrap_or_default()
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
    use super::*;

    #[test]
    fn a_moment_is_said_with_its_day() {
        let at = |text: &str| {
            said_at(
                text.parse().unwrap(),
                "2026-11-23T17:40:00Z".parse().unwrap(),
            )
        };
        assert_eq!(at("2026-11-23T18:00:00Z"), "at 18:00 (UTC)");
        assert_eq!(at("2026-11-24T06:00:00Z"), "tomorrow at 06:00 (UTC)");
        assert_eq!(at("2026-11-30T06:00:00Z"), "on 2026-11-30 at 06:00 (UTC)");
    }
}
