//! Phone numbers.

use crate::{
    Match, SensitiveKind,
    bytes::{at, before, begins_number, part, past},
};

/// The longest number with its punctuation, in bytes.
const LONGEST: usize = 40;

/// Finds phone numbers with a country code, and national numbers in the usual groups of digits.
pub(crate) fn phones(text: &[u8], found: &mut Vec<Match>) {
    let mut from = 0;
    while from < text.len() {
        let is_start = match at(text, from) {
            b'+' => !before(text, from).is_ascii_alphanumeric(),
            b'(' | b'0'..=b'9' => begins_number(text, from) && before(text, from) != b'+',
            _ => false,
        };
        let end = if is_start { phone_at(text, from) } else { None };
        from = match end {
            Some(end) => {
                found.push(Match::new(from..end, SensitiveKind::Phone));
                end
            }
            None => from + 1,
        };
    }
}

fn phone_at(text: &[u8], start: usize) -> Option<usize> {
    if at(text, start) == b'+' {
        return international_at(text, start + 1);
    }
    let run_end = past(text, start, LONGEST, |byte| {
        byte.is_ascii_digit() || b" ()+-./".contains(&byte)
    });
    let end = trimmed(text, start, run_end);
    let run = part(text, start, end);
    (is_national(run) && !at(text, end).is_ascii_alphanumeric()).then_some(end)
}

/// Returns the end of the number whose country code starts here.
fn international_at(text: &[u8], first: usize) -> Option<usize> {
    let run_end = past(text, first, LONGEST, |byte| {
        byte.is_ascii_digit() || b" ()-./".contains(&byte)
    });
    let end = trimmed(text, first, run_end);
    let is_code = matches!(at(text, first), b'1'..=b'9');
    (is_code && (7..=15).contains(&digits(part(text, first, end)))).then_some(end)
}

/// Removes punctuation at the end.
fn trimmed(text: &[u8], start: usize, end: usize) -> usize {
    let run = part(text, start, end);
    end - run
        .iter()
        .rev()
        .take_while(|byte| !byte.is_ascii_digit())
        .count()
}

fn digits(run: &[u8]) -> usize {
    run.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// Whether this is a national number, such as `(555) 012-3456`, `555-012-3456` or `1-555-012-3456`. Also accepts an
/// area code that starts with `0`, a separator and the rest, as in `030 / 1234567`, and an international number that
/// starts with `00`.
fn is_national(run: &[u8]) -> bool {
    let groups = run.split(|byte| !byte.is_ascii_digit());
    let groups: Vec<&[u8]> = groups.filter(|group| !group.is_empty()).collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let count = digits(run);
    match lengths.as_slice() {
        [3, 3, 4] => true,
        [1, 3, 3, 4] => run.starts_with(b"1"),
        [first, _, ..] => {
            let is_area = run.starts_with(b"0") || run.starts_with(b"(0");
            let is_international = run.starts_with(b"00") && count >= 10;
            let has_area =
                (3..=6).contains(first) && at(run, usize::from(run.starts_with(b"(")) + 1) != b'0';
            is_area && (has_area || is_international) && (9..=15).contains(&count)
        }
        [_] => run.starts_with(b"00") && !run.starts_with(b"000") && (11..=15).contains(&count),
        [] => false,
    }
}
