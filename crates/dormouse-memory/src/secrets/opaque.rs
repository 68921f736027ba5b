//! Long runs of characters that no language writes: keys of known providers, and whatever else is too random.

use super::{
    SecretKind, SecretSpan,
    bytes::{at, before, part, past},
    provider,
};

/// From this length on a run of small letters, capitals and digits is looked at.
const MIXED_FROM: usize = 24;
/// From this length on a stretch of letters of one case and digits is looked at.
const ONE_CASE_FROM: usize = 32;
/// From this length on hexadecimal digits are a key. SHA-1 and MD5 hashes and UUIDs are shorter.
const HEX_FROM: usize = 48;
/// How often, of a hundred neighbours, the class of characters (small, capital, digit) changes at least in a mixed run.
/// In random base64 it does so 62 times, in words written together about 30.
const MIXED_CHANGES: usize = 45;
/// The same for letters of one case and digits: random base36 has 40, a word with a number at its end 3.
const ONE_CASE_CHANGES: usize = 25;
/// The least entropy of a run's characters, in bits: random ones of 24 characters have 4.3, a pattern that repeats 3.
const ENTROPY: f32 = 3.5;

/// Finds keys of known providers, signed tokens, and runs that are too random.
pub(super) fn runs(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut from = 0;
    loop {
        let start = past(text, from, |byte| !is_run_byte(byte));
        if start >= text.len() {
            return;
        }
        let end = past(text, start, is_run_byte);
        from = match secret_in(text, start, end) {
            Some(span) => {
                let end = span.range.end.max(end);
                spans.push(span);
                end
            }
            None => end,
        };
    }
}

fn is_run_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

fn secret_in(text: &str, start: usize, end: usize) -> Option<SecretSpan> {
    let mut word = start;
    // A known key may begin wherever a word of the run does: after `/`, `+`, or another sign.
    while word < end {
        if !is_inside_word(before(text, word))
            && let Some((key_end, kind)) = provider::key_at(text, word)
        {
            return Some(SecretSpan {
                range: word..key_end.max(end),
                kind,
            });
        }
        word = past(text, word, |byte| byte.is_ascii_alphanumeric()) + 1;
    }
    if is_data(text, start) || !is_random(text, start, end) {
        return None;
    }
    let padded = past(text, end, |byte| byte == b'=');
    Some(SecretSpan {
        range: start..padded,
        kind: SecretKind::RandomKey,
    })
}

fn is_inside_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether what begins here is announced as the content of a file.
fn is_data(text: &str, start: usize) -> bool {
    const ANNOUNCED: &[u8] = b";base64,";
    text.as_bytes()
        .get(..start)
        .is_some_and(|before| before.ends_with(ANNOUNCED))
}

fn is_random(text: &str, start: usize, end: usize) -> bool {
    let run = part(text, start, end);
    if run.len() < MIXED_FROM {
        return false;
    }
    let digits = run.strip_prefix("0x").unwrap_or(run);
    let joined = digits.bytes().filter(|byte| *byte != b'-');
    if joined.clone().all(|byte| byte.is_ascii_hexdigit()) {
        return joined.count() >= HEX_FROM && entropy(run) >= 3.0 && !is_called_a_hash(text, start);
    }
    is_mixed(run) || run.split(['+', '/', '_', '-']).any(is_one_case)
}

fn is_mixed(run: &str) -> bool {
    let classes = Classes::of(run);
    let mixed = classes.small > 0 && classes.capital > 0 && classes.digits >= 2;
    mixed && classes.changes_of_a_hundred() >= MIXED_CHANGES && entropy(run) >= ENTROPY
}

fn is_one_case(stretch: &str) -> bool {
    if stretch.len() < ONE_CASE_FROM || stretch.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    let classes = Classes::of(stretch);
    classes.digits >= 4
        && classes.small + classes.capital >= 4
        && classes.changes_of_a_hundred() >= ONE_CASE_CHANGES
        && entropy(stretch) >= ENTROPY
}

/// How many characters of each class there are, and how often the class changes within stretches of letters and digits.
#[derive(Default)]
struct Classes {
    small: usize,
    capital: usize,
    digits: usize,
    neighbours: usize,
    changes: usize,
}

impl Classes {
    fn of(run: &str) -> Self {
        let mut classes = Self::default();
        let mut last = 0;
        for byte in run.bytes() {
            let class = match byte {
                b'a'..=b'z' => 1,
                b'A'..=b'Z' => 2,
                b'0'..=b'9' => 3,
                _ => 0,
            };
            classes.small += usize::from(class == 1);
            classes.capital += usize::from(class == 2);
            classes.digits += usize::from(class == 3);
            if class != 0 && last != 0 {
                classes.neighbours += 1;
                classes.changes += usize::from(class != last);
            }
            last = class;
        }
        classes
    }

    fn changes_of_a_hundred(&self) -> usize {
        self.changes * 100 / self.neighbours.max(1)
    }
}

/// Shannon's entropy of the characters, in bits.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of characters, for a threshold"
)]
fn entropy(run: &str) -> f32 {
    let mut counts = [0_usize; 256];
    for byte in run.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let length = run.len() as f32;
    let shares = counts.iter().filter(|count| **count > 0);
    shares
        .map(|count| *count as f32 / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// Whether the words before say that it is the hash of something: `sha256:…`, `checksum …`.
fn is_called_a_hash(text: &str, start: usize) -> bool {
    let from = start.saturating_sub(12);
    let words = text.as_bytes().get(from..start).unwrap_or_default();
    let words = words.to_ascii_lowercase();
    let said = |word: &[u8]| words.windows(word.len()).any(|there| there == word);
    at(text, start) != b'/'
        && [
            &b"sha"[..],
            b"hash",
            b"digest",
            b"checksum",
            b"commit",
            b"blake",
        ]
        .into_iter()
        .any(said)
}
