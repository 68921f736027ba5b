//! Keys that say by their beginning whose they are, signed tokens, private keys, passwords in addresses.

use super::{
    Kind, Span,
    bytes::{at, begins_word, find, part, past},
};

/// The beginnings of keys, and how many characters follow at least, as the providers document them; counted much shorter than
/// they are, so that one cut off is still recognised.
const PREFIXES: [(&[u8], usize); 48] = [
    // OpenAI, Anthropic (`sk-ant-`), OpenRouter (`sk-or-`), DeepSeek and others.
    (b"sk-", 8),
    (b"sk_", 12),
    (b"pk_live_", 8),
    (b"rk_live_", 8),
    (b"rk_test_", 8),
    (b"gsk_", 8),
    (b"xai-", 12),
    (b"pplx-", 12),
    (b"nvapi-", 12),
    (b"hf_", 12),
    (b"r8_", 12),
    (b"fw_", 16),
    (b"csk-", 12),
    (b"tgp_v1_", 12),
    (b"jina_", 12),
    (b"AIza", 16),
    (b"AQ.", 24),
    (b"ya29.", 12),
    (b"GOCSPX-", 12),
    (b"ghp_", 12),
    (b"gho_", 12),
    (b"ghu_", 12),
    (b"ghs_", 12),
    (b"ghr_", 12),
    (b"github_pat_", 12),
    (b"glpat-", 10),
    (b"npm_", 20),
    (b"pypi-AgE", 8),
    (b"xoxb-", 8),
    (b"xoxp-", 8),
    (b"xoxa-", 8),
    (b"xoxr-", 8),
    (b"xoxs-", 8),
    (b"xapp-", 8),
    (b"whsec_", 12),
    (b"SG.", 16),
    (b"dop_v1_", 12),
    (b"shpat_", 12),
    (b"lin_api_", 12),
    (b"hvs.", 12),
    (b"hvb.", 12),
    (b"dckr_pat_", 12),
    (b"tvly-", 12),
    (b"AGE-SECRET-KEY-1", 8),
    (b"ABSK", 24),
    (b"org-", 16),
    (b"proj_", 16),
    (b"user-", 16),
];
/// The longest part of a token before its first dot.
const LONGEST_TOKEN_HEAD: usize = 4096;
/// The kinds of ids that AWS gives to keys and to those who hold them.
const ACCESS_IDS: [&[u8]; 7] = [
    b"AKIA", b"ASIA", b"AROA", b"AIDA", b"AGPA", b"ANPA", b"ABIA",
];

/// Finds keys by their beginning, signed tokens, and what follows `Bearer` and `Basic`.
pub(super) fn keys(text: &[u8], spans: &mut Vec<Span>) {
    let (mut from, mut head_end) = (0, 0);
    while from < text.len() {
        let is_letter = at(text, from).is_ascii_alphanumeric();
        let found = if is_letter && begins_word(text, from) {
            key_at(text, from, &mut head_end)
        } else {
            None
        };
        from = match found {
            Some(span) => {
                let end = span.range.end;
                spans.push(span);
                end
            }
            None => from + 1,
        };
    }
}

fn key_at(text: &[u8], start: usize, head_end: &mut usize) -> Option<Span> {
    let token = signed_token_at(text, start, head_end);
    if let Some(end) = token.or_else(|| access_id_at(text, start)) {
        return Some(Span::shape(start..end, Kind::Secret));
    }
    if let Some(range) = carried_at(text, start) {
        return Some(Span::shape(range, Kind::Secret));
    }
    let first = at(text, start);
    let (prefix, least) = PREFIXES.iter().find(|(prefix, _)| {
        at(prefix, 0) == first && part(text, start, start + prefix.len()) == *prefix
    })?;
    let rest = start + prefix.len();
    let end = rest_end(text, rest, prefix.ends_with(b"."));
    let follows = part(text, rest, end);
    if end - rest < *least {
        return None;
    }
    let kind = match *prefix {
        b"org-" | b"proj_" | b"user-" => {
            let is_id = follows.iter().all(u8::is_ascii_alphanumeric)
                && follows.iter().any(u8::is_ascii_digit);
            return is_id.then(|| Span::shape(start..end, Kind::Organisation));
        }
        _ => Kind::Secret,
    };
    // A word of small letters alone, such as `hf_hub_download`, is no key.
    let is_key = *prefix == b"sk-"
        || follows
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'*');
    is_key.then(|| Span::shape(start..end, kind))
}

/// Servers print keys with stars in their middle.
fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'*')
}

fn rest_end(text: &[u8], rest: usize, has_dots: bool) -> usize {
    let mut end = past(text, rest, usize::MAX, is_key_byte);
    while has_dots && at(text, end) == b'.' && is_key_byte(at(text, end + 1)) {
        end = past(text, end + 1, usize::MAX, is_key_byte);
    }
    past(text, end, 2, |byte| byte == b'=')
}

/// A JSON web token: the base64 of `{"`, and parts between dots. With one dot it is taken for one that was cut off.
///
/// `head_end` is where the letters end that were looked at last, so that nothing is looked at once for each of its beginnings.
fn signed_token_at(text: &[u8], start: usize, head_end: &mut usize) -> Option<usize> {
    if part(text, start, start + 3) != b"eyJ" {
        return None;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=');
    if start >= *head_end {
        *head_end = past(text, start, usize::MAX, is_part);
    }
    let mut end = *head_end;
    let is_head = (8..=LONGEST_TOKEN_HEAD).contains(&(end - start));
    if !is_head || at(text, end) != b'.' || !is_part(at(text, end + 1)) {
        return None;
    }
    while at(text, end) == b'.' && is_part(at(text, end + 1)) {
        end = past(text, end + 1, usize::MAX, is_part);
    }
    Some(end)
}

/// An AWS id: four known letters and sixteen capitals or digits.
fn access_id_at(text: &[u8], start: usize) -> Option<usize> {
    if !ACCESS_IDS.contains(&part(text, start, start + 4)) {
        return None;
    }
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let end = past(text, start, 64, capital);
    (end - start >= 20).then_some(end)
}

/// What follows the word for a kind of credentials, where it is not just another word.
fn carried_at(text: &[u8], start: usize) -> Option<std::ops::Range<usize>> {
    let word = [&b"bearer"[..], b"basic"]
        .into_iter()
        .find(|word| part(text, start, start + word.len()).eq_ignore_ascii_case(word))?;
    let space = start + word.len();
    let from = past(text, space, 4, |byte| matches!(byte, b' ' | b'\t' | b'+'));
    let from = if part(text, space, space + 3) == b"%20" {
        space + 3
    } else {
        from
    };
    if from == space {
        return None;
    }
    let end = past(text, from, usize::MAX, |byte| {
        byte.is_ascii_alphanumeric() || b"._~+/=-*".contains(&byte)
    });
    let token = part(text, from, end);
    let small = token
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || b".-".contains(byte));
    let is_token = token.len() >= 24 || token.len() >= 8 && !small;
    is_token.then_some(from..end)
}

/// Finds private keys in PEM blocks. One without an end reaches to the end of the text.
pub(super) fn private_keys(text: &[u8], spans: &mut Vec<Span>) {
    let mut from = 0;
    while let Some(begin) = find(text, from, b"-----BEGIN ") {
        let label = begin + b"-----BEGIN ".len();
        from = label;
        let label_end = past(text, label, 64, |byte| byte != b'-');
        if find(part(text, label, label_end), 0, b"PRIVATE KEY").is_none() {
            continue;
        }
        let end = match find(text, label_end, b"-----END ") {
            Some(end) => {
                let dashes = past(text, end + b"-----END ".len(), 64, |byte| byte != b'-');
                past(text, dashes, 5, |byte| byte == b'-')
            }
            None => text.len(),
        };
        spans.push(Span::shape(begin..end, Kind::Secret));
        from = end;
    }
}

/// Finds user and password of `scheme://user:password@host`.
pub(super) fn address_passwords(text: &[u8], spans: &mut Vec<Span>) {
    let mut from = 0;
    while let Some(slashes) = find(text, from, b"://") {
        let start = slashes + 3;
        let end = past(text, start, 512, |byte| {
            !byte.is_ascii_whitespace() && !b"/?#\"'<>`\\".contains(&byte)
        });
        from = end.max(start);
        let authority = part(text, start, end);
        let user = authority
            .iter()
            .rposition(|byte| *byte == b'@')
            .unwrap_or(0);
        let has_password = authority
            .get(..user)
            .is_some_and(|user| user.contains(&b':'));
        if has_password {
            spans.push(Span::shape(start..start + user, Kind::Secret));
        }
    }
}
