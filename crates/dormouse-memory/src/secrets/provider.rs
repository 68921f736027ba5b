//! Keys that say by their beginning whose they are, and signed tokens.

use super::{
    SecretKind,
    bytes::{at, part, past},
};

/// The beginning of a key, and how many characters follow at least.
struct Prefix {
    text: &'static str,
    rest: usize,
    /// Whether the beginning is also one of words, so that the rest has to be random.
    random: Random,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Random {
    Needed,
    Implied,
}

const fn prefix(text: &'static str, rest: usize, random: Random) -> Prefix {
    Prefix { text, rest, random }
}

/// Taken from what the providers document of their keys. The rest is counted a little shorter than it is, so that a
/// key cut off at its end is still recognised.
const PREFIXES: [Prefix; 38] = [
    // OpenAI, Anthropic (`sk-ant-`), OpenRouter (`sk-or-`), DeepSeek and others.
    prefix("sk-", 20, Random::Needed),
    prefix("gsk_", 30, Random::Implied),
    prefix("xai-", 30, Random::Needed),
    prefix("pplx-", 30, Random::Needed),
    prefix("nvapi-", 30, Random::Needed),
    prefix("hf_", 20, Random::Needed),
    prefix("r8_", 30, Random::Implied),
    prefix("AIza", 30, Random::Implied),
    prefix("ya29.", 20, Random::Implied),
    prefix("GOCSPX-", 20, Random::Implied),
    prefix("ghp_", 20, Random::Implied),
    prefix("gho_", 20, Random::Implied),
    prefix("ghu_", 20, Random::Implied),
    prefix("ghs_", 20, Random::Implied),
    prefix("ghr_", 20, Random::Implied),
    prefix("github_pat_", 20, Random::Implied),
    prefix("glpat-", 16, Random::Implied),
    prefix("npm_", 30, Random::Needed),
    prefix("pypi-AgE", 16, Random::Implied),
    prefix("xoxb-", 12, Random::Implied),
    prefix("xoxp-", 12, Random::Implied),
    prefix("xoxa-", 12, Random::Implied),
    prefix("xoxr-", 12, Random::Implied),
    prefix("xoxs-", 12, Random::Implied),
    prefix("xapp-", 12, Random::Needed),
    prefix("sk_live_", 16, Random::Implied),
    prefix("sk_test_", 16, Random::Implied),
    prefix("rk_live_", 16, Random::Implied),
    prefix("rk_test_", 16, Random::Implied),
    prefix("whsec_", 20, Random::Implied),
    prefix("SG.", 30, Random::Needed),
    prefix("dop_v1_", 40, Random::Implied),
    prefix("shpat_", 24, Random::Implied),
    prefix("lin_api_", 24, Random::Implied),
    prefix("hvs.", 20, Random::Needed),
    prefix("dckr_pat_", 16, Random::Implied),
    prefix("tvly-", 20, Random::Needed),
    prefix("AGE-SECRET-KEY-1", 30, Random::Implied),
];
/// The shortest stretch of letters and digits, with both in it, that makes a rest random.
const RANDOM_STRETCH: usize = 12;

/// Where the key or token that begins at `start` ends, if one does. `start` begins a word.
pub(super) fn key_at(text: &str, start: usize) -> Option<(usize, SecretKind)> {
    if let Some(end) = signed_token_at(text, start) {
        return Some((end, SecretKind::Token));
    }
    if let Some(end) = access_key_at(text, start) {
        return Some((end, SecretKind::ApiKey));
    }
    let first = at(text, start);
    let prefix = PREFIXES.iter().find(|prefix| {
        at(prefix.text, 0) == first && part(text, start, start + prefix.text.len()) == prefix.text
    })?;
    let rest = start + prefix.text.len();
    let end = rest_end(text, rest, prefix);
    let long = end - rest >= prefix.rest;
    let random = prefix.random == Random::Implied || is_random(part(text, rest, end));
    (long && random).then_some((end, SecretKind::ApiKey))
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Where the rest of a key ends. Keys whose beginning ends with a point have at most one more: with any number of
/// them, a text of points would be read again and again.
fn rest_end(text: &str, rest: usize, prefix: &Prefix) -> usize {
    let end = past(text, rest, is_key_byte);
    let goes_on =
        prefix.text.ends_with('.') && at(text, end) == b'.' && is_key_byte(at(text, end + 1));
    let end = if goes_on {
        past(text, end + 1, is_key_byte)
    } else {
        end
    };
    past(text, end, |byte| byte == b'=')
}

fn is_random(rest: &str) -> bool {
    let stretches = rest.split(|letter: char| !letter.is_ascii_alphanumeric());
    stretches.into_iter().any(|stretch| {
        stretch.len() >= RANDOM_STRETCH
            && stretch.bytes().any(|byte| byte.is_ascii_digit())
            && stretch.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// An AWS access key id: four known letters and exactly sixteen capitals or digits.
fn access_key_at(text: &str, start: usize) -> Option<usize> {
    let beginning = part(text, start, start + 4);
    if !matches!(beginning, "AKIA" | "ASIA") {
        return None;
    }
    let end = past(text, start, |byte| byte.is_ascii_alphanumeric());
    let id = part(text, start + 4, end);
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    (id.len() == 16 && id.bytes().all(capital)).then_some(end)
}

/// A JSON web token: the base64 of `{"`, and three parts between dots, the last of which may be empty.
fn signed_token_at(text: &str, start: usize) -> Option<usize> {
    if part(text, start, start + 3) != "eyJ" {
        return None;
    }
    let part_end = |from| {
        past(text, from, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
        })
    };
    let header = part_end(start);
    let payload = part_end(header + 1);
    let dots = at(text, header) == b'.' && at(text, payload) == b'.';
    let long = header - start >= 10 && payload > header + 8;
    if dots && long {
        return Some(part_end(payload + 1));
    }
    None
}
