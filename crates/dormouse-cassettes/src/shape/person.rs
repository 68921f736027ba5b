//! E-mail addresses, and the names of home folders.

use super::{
    Kind, Span,
    bytes::{at, back, before, part, past},
};

/// The longest name before the `@`, and the longest host behind it, in bytes.
const LONGEST_LOCAL: usize = 320;
const LONGEST_HOST: usize = 255;
/// The longest name of a user that is looked at.
const LONGEST_USER: usize = 64;

/// Finds e-mail addresses, also with their `@` as it is in an address of the web.
pub(super) fn emails(text: &[u8], spans: &mut Vec<Span>) {
    for (sign, byte) in text.iter().enumerate() {
        let host = match byte {
            b'@' => sign + 1,
            b'%' if part(text, sign, sign + 3) == b"%40" => sign + 3,
            _ => continue,
        };
        let mut start = back(text, sign, LONGEST_LOCAL, is_local);
        // What follows a backslash is a line end or the like, as JSON within text has it.
        if before(text, start) == b'\\' && matches!(at(text, start), b'n' | b'r' | b't') {
            start += 1;
        }
        let end = past(text, host, LONGEST_HOST, is_host);
        let name = part(text, host, end);
        let trailing = name
            .iter()
            .rev()
            .take_while(|byte| b".-".contains(byte))
            .count();
        let end = end - trailing;
        if start < sign && is_domain(part(text, host, end)) {
            spans.push(Span::shape(start..end, Kind::Email));
        }
    }
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".!$%*+^_|~-".contains(&byte) || byte >= 0x80
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-".contains(&byte) || byte >= 0x80
}

/// At least two labels, the last of two letters or more.
fn is_domain(host: &[u8]) -> bool {
    let mut labels = host.rsplit(|byte| *byte == b'.');
    let last = labels.next().unwrap_or_default();
    let is_word = last.len() >= 2 && last.iter().any(|byte| !byte.is_ascii_digit());
    is_word && labels.next().is_some_and(|label| !label.is_empty())
}

/// Finds the names of users in paths of their home folders.
pub(super) fn home_folders(text: &[u8], spans: &mut Vec<Span>) {
    const FOLDERS: [&[u8]; 2] = [b"home", b"users"];
    for (sign, byte) in text.iter().enumerate() {
        let folder = match byte {
            b'/' | b'\\' => sign + 1,
            b'%' if part(text, sign, sign + 3).eq_ignore_ascii_case(b"%2f") => sign + 3,
            _ => continue,
        };
        let found = FOLDERS
            .iter()
            .find(|known| part(text, folder, folder + known.len()).eq_ignore_ascii_case(known));
        let Some(found) = found else {
            continue;
        };
        let slash = folder + found.len();
        let start = if part(text, slash, slash + 3).eq_ignore_ascii_case(b"%2f") {
            slash + 3
        } else {
            past(text, slash, 4, |byte| matches!(byte, b'/' | b'\\'))
        };
        let end = past(text, start, LONGEST_USER, |byte| {
            byte.is_ascii_alphanumeric() || b"._-".contains(&byte) || byte >= 0x80
        });
        if slash < start && start < end {
            spans.push(Span::shape(start..end, Kind::User));
        }
    }
}
