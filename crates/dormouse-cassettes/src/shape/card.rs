//! Numbers of payment cards.

use super::{
    Kind, Span,
    bytes::{at, begins_number, part, past},
};

/// Digits of a card.
const SHORTEST: usize = 13;
const LONGEST: usize = 19;

/// Finds numbers that have the length, the beginning and the check digit of a card.
pub(super) fn cards(text: &[u8], spans: &mut Vec<Span>) {
    let mut from = 0;
    while from < text.len() {
        let start = past(text, from, usize::MAX, |byte| !byte.is_ascii_digit());
        // Whatever it is, the next one begins behind this group of digits.
        from = past(text, start, usize::MAX, |byte| byte.is_ascii_digit()).max(from + 1);
        if begins_number(text, start)
            && let Some(end) = card_at(text, start)
        {
            spans.push(Span::shape(start..end, Kind::Card));
            from = end;
        }
    }
}

/// Where the card ends that begins here: digits in groups with one space or hyphen between them.
fn card_at(text: &[u8], start: usize) -> Option<usize> {
    let mut digits = Vec::with_capacity(LONGEST);
    let mut end = start;
    let mut card_end = None;
    loop {
        let group = past(text, end, LONGEST + 1, |byte| byte.is_ascii_digit());
        if group == end {
            return card_end;
        }
        digits.extend(part(text, end, group).iter().map(|byte| byte - b'0'));
        if digits.len() > LONGEST {
            return card_end;
        }
        if !at(text, group).is_ascii_alphanumeric() && is_card(&digits) {
            card_end = Some(group);
        }
        if !matches!(at(text, group), b' ' | b'-') {
            return card_end;
        }
        end = group + 1;
    }
}

fn is_card(digits: &[u8]) -> bool {
    if digits.len() < SHORTEST {
        return false;
    }
    let beginning = digits.iter().take(4);
    let beginning = beginning.fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let length = digits.len();
    let known = match beginning {
        4000..=4999 => matches!(length, 13 | 16 | 19),
        2221..=2720 | 5100..=5599 => length == 16,
        3400..=3499 | 3700..=3799 => length == 15,
        3000..=3059 | 3600..=3699 | 3800..=3999 => matches!(length, 14..=19),
        3528..=3589 | 6011 | 6200..=6299 | 6440..=6599 => matches!(length, 16..=19),
        5000..=5099 | 5600..=5899 | 6000..=6999 => length >= 16,
        _ => false,
    };
    known && has_check_digit(digits)
}

/// Luhn's sum: every second digit from the right counts twice, its own digits added.
fn has_check_digit(digits: &[u8]) -> bool {
    let from_right = digits.iter().rev().enumerate();
    let sum = from_right.fold(0_u32, |sum, (place, digit)| {
        let counted = u32::from(*digit) << (place % 2);
        sum + counted / 10 + counted % 10
    });
    sum.is_multiple_of(10)
}
