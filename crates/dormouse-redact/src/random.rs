//! Finds text that is too random to be words, and is not a usual id.

use crate::{
    Match, RedactionProfile, SensitiveKind,
    bytes::{at, past},
    pattern::Pattern,
};

/// When a run of characters counts as random.
struct Thresholds {
    /// The least length of a run of small letters, capitals and digits.
    mixed_from: usize,
    /// The least number of changes of class (small, capital, digit) per hundred neighbours. Random base64 has 62,
    /// joined words about 30, letters of one case with digits 40, a word with a number at its end 3.
    mixed_changes: usize,
    /// The same for runs of one case with digits.
    one_case_from: usize,
    one_case_changes: usize,
    /// The shortest run of hexadecimal digits that counts as a key.
    hex_from: usize,
}

/// For text that is masked without a review, so a match must be nearly certain. SHA-1 and MD5 hashes and UUIDs are
/// shorter.
const CERTAIN: Thresholds = Thresholds {
    mixed_from: 24,
    mixed_changes: 45,
    one_case_from: 32,
    one_case_changes: 25,
    hex_from: 48,
};
/// For text that a person will review. Shorter hexadecimal numbers are ids.
const SUSPICIOUS: Thresholds = Thresholds {
    mixed_from: 20,
    mixed_changes: 30,
    one_case_from: 20,
    one_case_changes: 30,
    hex_from: 32,
};
/// The least entropy per character of a run that is certainly random, in bits: 24 random characters have 4.3, a
/// repeating pattern 3.
const ENTROPY: f32 = 3.5;
/// The same for hexadecimal digits, of which there are only 16.
const HEX_ENTROPY: f32 = 3.0;
/// Prefixes of ids that servers give to replies, calls, messages and files, and their maximum length.
const IDS: &str = "\
    chatcmpl- cmpl- call_ msg_ toolu_ srvtoolu_ req_ resp_ gen- fp_ run_ fc_ rs_ ws_ item_ step_ \
    file- file_ batch_ thread_ asst_ embd- modelcall_ sha256:";
const LONGEST_ID: usize = 96;

static CERTAIN_RUN: Pattern = Pattern::new(r"[A-Za-z0-9+/_-]{24,}");
static SUSPICIOUS_RUN: Pattern = Pattern::new(r"[A-Za-z0-9+/_=:-]{20,}");

/// Finds random runs of characters.
pub(crate) fn random(text: &[u8], profile: RedactionProfile, found: &mut Vec<Match>) {
    let pattern = if profile.is_wide() {
        &SUSPICIOUS_RUN
    } else {
        &CERTAIN_RUN
    };
    for run in pattern.all(text) {
        let bytes = run.as_bytes();
        let is_random = if profile.is_wide() {
            is_suspicious(bytes)
        } else {
            !is_file(text, run.start()) && is_certain(text, run.start(), bytes)
        };
        if is_random {
            let padded = past(text, run.end(), 2, |byte| byte == b'=');
            found.push(Match::new(run.start()..padded, SensitiveKind::RandomText));
        }
    }
}

fn is_suspicious(run: &[u8]) -> bool {
    if is_uuid(run) || is_known_id(run) {
        return false;
    }
    if is_hex(run) {
        return hex_digits(run) >= SUSPICIOUS.hex_from;
    }
    let is_mixed = |run: &[u8]| {
        let classes = Classes::of(run);
        // Punctuation in a run separates neighbours, so up to eight pairs may be missing.
        classes.neighbours + 8 >= SUSPICIOUS.mixed_from
            && classes.changes * 100 >= classes.neighbours * SUSPICIOUS.mixed_changes
    };
    is_mixed(run)
        || run
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|stretch| stretch.len() >= SUSPICIOUS.one_case_from && is_mixed(stretch))
}

fn is_certain(text: &[u8], start: usize, run: &[u8]) -> bool {
    let digits = run.strip_prefix(b"0x").unwrap_or(run);
    if is_hex(digits) {
        let is_long = hex_digits(digits) >= CERTAIN.hex_from;
        return is_long && entropy(run) >= HEX_ENTROPY && !is_called_a_hash(text, start);
    }
    let classes = Classes::of(run);
    let is_mixed = classes.small > 0 && classes.capital > 0 && classes.digits >= 2;
    is_mixed && classes.changes_of_a_hundred() >= CERTAIN.mixed_changes && entropy(run) >= ENTROPY
        || run
            .split(|byte| b"+/_-".contains(byte))
            .any(is_one_case_random)
}

fn is_one_case_random(stretch: &[u8]) -> bool {
    if stretch.len() < CERTAIN.one_case_from || stretch.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    let classes = Classes::of(stretch);
    classes.digits >= 4
        && classes.small + classes.capital >= 4
        && classes.changes_of_a_hundred() >= CERTAIN.one_case_changes
        && entropy(stretch) >= ENTROPY
}

/// Whether the text before `start` ends with the prefix of an embedded file.
fn is_file(text: &[u8], start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    before.ends_with(b";base64,")
}

fn is_hex(run: &[u8]) -> bool {
    run.iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn hex_digits(run: &[u8]) -> usize {
    run.iter().filter(|byte| byte.is_ascii_hexdigit()).count()
}

fn is_uuid(run: &[u8]) -> bool {
    let groups = run.split(|byte| *byte == b'-');
    is_hex(run) && groups.map(<[u8]>::len).eq([8, 4, 4, 4, 12])
}

fn is_known_id(run: &[u8]) -> bool {
    let rest = IDS
        .split(' ')
        .find_map(|id| run.strip_prefix(id.as_bytes()));
    rest.is_some_and(|rest| {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        rest.len() <= LONGEST_ID && rest.iter().all(is_word)
    })
}

/// Whether the words before the run say that it is a hash: `sha256:…`, `checksum …`.
fn is_called_a_hash(text: &[u8], start: usize) -> bool {
    const WORDS: [&[u8]; 6] = [b"sha", b"hash", b"digest", b"checksum", b"commit", b"blake"];
    let words = text.get(start.saturating_sub(12)..start);
    let words = words.unwrap_or_default().to_ascii_lowercase();
    let has = |word: &&[u8]| words.windows(word.len()).any(|there| there == *word);
    at(text, start) != b'/' && WORDS.iter().any(has)
}

/// Counts of characters by class, and changes of class within runs of letters and digits.
#[derive(Default)]
struct Classes {
    small: usize,
    capital: usize,
    digits: usize,
    neighbours: usize,
    changes: usize,
}

impl Classes {
    fn of(run: &[u8]) -> Self {
        let mut classes = Self::default();
        let mut last = 0;
        for byte in run {
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
fn entropy(run: &[u8]) -> f32 {
    let mut counts = [0_usize; 256];
    for byte in run {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
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
