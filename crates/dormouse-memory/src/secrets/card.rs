//! Numbers of payment cards.

use super::{
    SecretKind, SecretSpan,
    bytes::{at, before, past},
};

/// How the digits of a card are grouped when they are not written as one.
const GROUPS: [&[usize]; 4] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3]];
/// The digits of the longest card number.
const LONGEST: usize = 19;

/// Finds card numbers: of a known scheme's beginning and length, with a right check digit, written as one or in the
/// usual groups between single spaces or dashes.
pub(super) fn cards(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut from = 0;
    while let Some(start) = next_digit(text, from) {
        let end = past(text, start, |byte| byte.is_ascii_digit());
        from = end;
        let free = !before(text, start).is_ascii_alphanumeric() && !is_inside_number(text, start);
        if !free || end - start > LONGEST {
            continue;
        }
        if let Some(end) = card_at(text, start, end) {
            spans.push(SecretSpan {
                range: start..end,
                kind: SecretKind::CardNumber,
            });
            from = end;
        }
    }
}

fn next_digit(text: &str, from: usize) -> Option<usize> {
    let start = past(text, from, |byte| !byte.is_ascii_digit());
    (start < text.len()).then_some(start)
}

/// Whether the digits at `start` go on a number that began before: `3.4111…`.
fn is_inside_number(text: &str, start: usize) -> bool {
    let point = matches!(before(text, start), b'.' | b',');
    point && before(text, start.saturating_sub(1)).is_ascii_digit()
}

/// Where the card number that begins at `start` ends, if one does. Its first group ends at `end`.
fn card_at(text: &str, start: usize, end: usize) -> Option<usize> {
    if !matches!(end - start, 4 | 13..=LONGEST) {
        return None;
    }
    let mut digits: Vec<u8> = digits_of(text, start, end).collect();
    if is_card(&digits) && is_free_after(text, end) {
        return Some(end);
    }
    let separator = at(text, end);
    if !matches!(separator, b' ' | b'-') {
        return None;
    }
    let mut groups = vec![end - start];
    let mut reached = end;
    let mut found = None;
    while at(text, reached) == separator && groups.len() < 5 {
        let group_end = past(text, reached + 1, |byte| byte.is_ascii_digit());
        let size = group_end - reached - 1;
        if size == 0 || digits.len() + size > LONGEST {
            break;
        }
        digits.extend(digits_of(text, reached + 1, group_end));
        groups.push(size);
        reached = group_end;
        let grouped = GROUPS.iter().any(|usual| **usual == groups);
        if grouped && is_card(&digits) && is_free_after(text, reached) {
            found = Some(reached);
        }
    }
    found
}

fn digits_of(text: &str, start: usize, end: usize) -> impl Iterator<Item = u8> {
    let digits = text.as_bytes().get(start..end).unwrap_or_default();
    digits.iter().map(|digit| digit.wrapping_sub(b'0'))
}

fn is_free_after(text: &str, end: usize) -> bool {
    let next = at(text, end);
    let goes_on = matches!(next, b'.' | b',') && at(text, end + 1).is_ascii_digit();
    !next.is_ascii_alphanumeric() && !goes_on
}

fn is_card(digits: &[u8]) -> bool {
    is_of_a_scheme(digits) && has_check_digit(digits)
}

/// Beginnings and lengths of the large schemes. The long tail of local ones is left out: with it, one in ten numbers
/// of any kind would be a card.
fn is_of_a_scheme(digits: &[u8]) -> bool {
    let first_four = digits
        .iter()
        .take(4)
        .fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    matches!(
        (first_four, digits.len()),
        (4000..=4999, 13 | 16 | 19)
            | (5100..=5599 | 2221..=2720, 16)
            | (3400..=3499 | 3700..=3799, 15)
            | (6011 | 6440..=6599 | 3528..=3589, 16)
            | (3000..=3059 | 3600..=3699 | 3800..=3899, 14)
            | (6200..=6299, 16..=19)
    )
}

/// Luhn's check: every second digit from the right counts twice, and the sum of all digits is a multiple of ten.
fn has_check_digit(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, u32::from(*digit)) {
            (1, digit @ 5..) => 2 * digit - 9,
            (1, digit) => 2 * digit,
            (_, digit) => digit,
        })
        .sum();
    sum.is_multiple_of(10)
}
