//! Payment card numbers: a table of schemes, and the Luhn check.

use crate::{
    Match, RedactionProfile, SensitiveKind,
    bytes::{at, before, part, past},
};

/// The minimum and the maximum number of digits of a card.
const SHORTEST: usize = 13;
const LONGEST: usize = 19;

/// The cards of a scheme.
struct Scheme {
    /// The range of the first four digits.
    beginning: (u16, u16),
    /// The range of the number of digits.
    digits: (usize, usize),
    /// Whether the first digits are specific to the scheme. The other schemes are searched for only in wide profiles:
    /// one in ten ids of 16 to 19 digits that start with 6 would pass the check.
    sure: bool,
}

const fn scheme(beginning: (u16, u16), digits: (usize, usize), sure: bool) -> Scheme {
    Scheme {
        beginning,
        digits,
        sure,
    }
}

const SCHEMES: [Scheme; 21] = [
    // Visa.
    scheme((4000, 4999), (13, 13), true),
    scheme((4000, 4999), (16, 16), true),
    scheme((4000, 4999), (19, 19), true),
    // Mastercard.
    scheme((2221, 2720), (16, 16), true),
    scheme((5100, 5599), (16, 16), true),
    // American Express.
    scheme((3400, 3499), (15, 15), true),
    scheme((3700, 3799), (15, 15), true),
    // Diners Club.
    scheme((3000, 3059), (14, 14), true),
    scheme((3600, 3699), (14, 14), true),
    scheme((3800, 3899), (14, 14), true),
    scheme((3000, 3059), (15, 19), false),
    scheme((3600, 3699), (15, 19), false),
    scheme((3800, 3999), (14, 19), false),
    // JCB.
    scheme((3528, 3589), (16, 16), true),
    scheme((3528, 3589), (17, 19), false),
    // Discover.
    scheme((6011, 6011), (16, 16), true),
    scheme((6440, 6599), (16, 16), true),
    // UnionPay.
    scheme((6200, 6299), (16, 19), true),
    // Maestro and local schemes.
    scheme((5000, 5099), (16, 19), false),
    scheme((5600, 5899), (16, 19), false),
    scheme((6000, 6999), (16, 19), false),
];
/// The usual groups of digits on a card.
const GROUPS: [&[usize]; 4] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3]];

/// Finds numbers with the length, the prefix and the check digit of a card.
pub(crate) fn cards(text: &[u8], profile: RedactionProfile, found: &mut Vec<Match>) {
    let mut from = 0;
    while from < text.len() {
        let start = past(text, from, usize::MAX, |byte| !byte.is_ascii_digit());
        // A card number starts at the start of a group of digits, never inside one.
        from = past(text, start, usize::MAX, |byte| byte.is_ascii_digit()).max(from + 1);
        if is_first(text, start, profile)
            && let Some(end) = card_at(text, start, profile)
        {
            found.push(Match::new(start..end, SensitiveKind::CardNumber));
            from = end;
        }
    }
}

/// Returns the end of the card at `start`: groups of digits with one space or hyphen between them.
fn card_at(text: &[u8], start: usize, profile: RedactionProfile) -> Option<usize> {
    let mut digits = Vec::with_capacity(LONGEST);
    let mut groups = Vec::new();
    let mut end = start;
    let mut card_end = None;
    loop {
        let group = past(text, end, LONGEST + 1, |byte| byte.is_ascii_digit());
        if group == end {
            return card_end;
        }
        digits.extend(part(text, end, group).iter().map(|byte| byte - b'0'));
        groups.push(group - end);
        if digits.len() > LONGEST {
            return card_end;
        }
        if ends_number(text, group, profile)
            && is_grouped(&groups, profile)
            && is_card(&digits, profile)
        {
            card_end = Some(group);
        }
        if !matches!(at(text, group), b' ' | b'-') {
            return card_end;
        }
        end = group + 1;
    }
}

/// Whether a new number starts at `start`. In `3.4111…`, the digits after the point continue a number.
fn is_first(text: &[u8], start: usize, profile: RedactionProfile) -> bool {
    let last = before(text, start);
    let is_sign = last == b'.' || last == b',' && !profile.is_wide();
    let is_inside = is_sign && before(text, start.saturating_sub(1)).is_ascii_digit();
    !last.is_ascii_alphanumeric() && !is_inside
}

fn ends_number(text: &[u8], end: usize, profile: RedactionProfile) -> bool {
    let next = at(text, end);
    let is_fraction = matches!(next, b'.' | b',') && at(text, end + 1).is_ascii_digit();
    !next.is_ascii_alphanumeric() && (profile.is_wide() || !is_fraction)
}

fn is_grouped(groups: &[usize], profile: RedactionProfile) -> bool {
    profile.is_wide() || groups.len() == 1 || GROUPS.contains(&groups)
}

fn is_card(digits: &[u8], profile: RedactionProfile) -> bool {
    if digits.len() < SHORTEST {
        return false;
    }
    let first_four = digits.iter().take(4);
    let first_four = first_four.fold(0_u16, |number, digit| number * 10 + u16::from(*digit));
    let known = SCHEMES.iter().any(|scheme| {
        (scheme.beginning.0..=scheme.beginning.1).contains(&first_four)
            && (scheme.digits.0..=scheme.digits.1).contains(&digits.len())
            && (scheme.sure || profile.is_wide())
    });
    known && has_check_digit(digits)
}

/// The Luhn check: every second digit from the right counts double, as the sum of its digits.
fn has_check_digit(digits: &[u8]) -> bool {
    let from_right = digits.iter().rev().enumerate();
    let sum = from_right.fold(0_u32, |sum, (place, digit)| {
        let counted = u32::from(*digit) << (place % 2);
        sum + counted / 10 + counted % 10
    });
    sum.is_multiple_of(10)
}
