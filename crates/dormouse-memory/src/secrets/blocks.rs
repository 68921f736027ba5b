//! Secrets between marks: private keys in PEM blocks, and passwords in addresses.

use super::{
    SecretKind, SecretSpan,
    bytes::{at, part, past},
};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
/// The longest name of a block, in bytes.
const LONGEST_LABEL: usize = 64;

/// Finds private keys in PEM blocks. A block without an end reaches to the end of the text.
pub(super) fn private_keys(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut from = 0;
    while let Some(begin) = find_from(text, from, BEGIN) {
        let label = begin + BEGIN.len();
        from = label;
        let Some(label_end) = find_within(text, label, DASHES) else {
            continue;
        };
        if !part(text, label, label_end).contains("PRIVATE KEY") {
            continue;
        }
        let end = match find_from(text, label_end, END) {
            Some(end) => {
                let label = end + END.len();
                find_within(text, label, DASHES).map_or(label, |label_end| label_end + DASHES.len())
            }
            None => text.len(),
        };
        spans.push(SecretSpan {
            range: begin..end,
            kind: SecretKind::PrivateKey,
        });
        from = end;
    }
}

/// Finds the passwords of `scheme://user:password@host`.
pub(super) fn address_passwords(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut from = 0;
    while let Some(slashes) = find_from(text, from, "://") {
        let start = slashes + 3;
        let end = past(text, start, |byte| {
            !byte.is_ascii_whitespace() && !b"/?#\"'<>`".contains(&byte)
        });
        from = end.max(start);
        let authority = part(text, start, end);
        let Some((user, _host)) = authority.rsplit_once('@') else {
            continue;
        };
        let Some((name, password)) = user.split_once(':') else {
            continue;
        };
        if password.is_empty() || is_stand_in(password) {
            continue;
        }
        let start = start + name.len() + 1;
        spans.push(SecretSpan {
            range: start..start + password.len(),
            kind: SecretKind::Password,
        });
    }
}

/// Whether a value only says where a secret belongs: `****`, `<password>`, `${PASSWORD}`, `%s`, `...`.
pub(super) fn is_stand_in(value: &str) -> bool {
    let first = at(value, 0);
    let last = at(value, value.len().saturating_sub(1));
    let one_character = value.bytes().all(|byte| byte == first) && b"*.xX#_-?".contains(&first);
    one_character
        || matches!((first, last), (b'<', b'>') | (b'{', b'}') | (b'[', b']'))
        || value.starts_with("${")
        || value.starts_with("$(")
        || (value.starts_with('%') && value.len() <= 3)
}

fn find_from(text: &str, from: usize, what: &str) -> Option<usize> {
    text.get(from..)?.find(what).map(|at| from + at)
}

fn find_within(text: &str, from: usize, what: &str) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    rest.windows(what.len())
        .take(LONGEST_LABEL)
        .position(|there| there == what.as_bytes())
        .map(|at| from + at)
}
