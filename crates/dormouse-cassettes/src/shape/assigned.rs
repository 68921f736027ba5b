//! What is called a password, key or token: `password=…`, `"api_key": "…"`, `?key=…`.

use super::{
    Kind, Span,
    bytes::{at, part, past},
};

/// What a name ends with whose value is secret; without signs, in small letters.
const NAMES: [&str; 24] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "cookie",
    "idtoken",
    "kennwort",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwort",
    "privatekey",
    "pwd",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "sessiontoken",
    "xapikey",
    "xamzsecuritytoken",
];
/// Names whose value is secret if it is long and one word. With few letters they are a model's tokens.
const NAMES_OF_LONG_VALUES: [&str; 3] = ["token", "credential", "signature"];
/// Names that mean a key in the query of an address, and many other things elsewhere.
const NAMES_OF_PARAMETERS: [&str; 8] = [
    "key",
    "token",
    "sig",
    "signature",
    "code",
    "pwd",
    "auth",
    "credential",
];

/// The longest name that is looked at, in bytes.
const LONGEST_NAME: usize = 64;
/// The longest value in quotes.
const LONGEST_VALUE: usize = 4096;
/// The shortest value, without and with quotes around it.
const SHORTEST_BARE: usize = 6;
const SHORTEST_QUOTED: usize = 4;
/// The shortest value of a name that means other things, too.
const SHORTEST_LONG: usize = 16;
/// From this length on a value without a space is a secret, whatever its letters: to look for names in it again and again would
/// take no end of time.
const ENDLESS: usize = 512;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Secret,
    SecretIfLong,
}

/// Whether a member of this name says a secret, if this is its value.
pub(crate) fn is_named_secret(name: &[u8], value: &[u8]) -> bool {
    let is_secret = match name_of(name) {
        Some(Name::Secret) => !value.is_empty(),
        Some(Name::SecretIfLong) => is_long_word(value),
        None => false,
    };
    is_secret && !is_stand_in(value)
}

/// Finds the values of parameters in a path with a query.
pub(crate) fn parameters(target: &[u8], spans: &mut Vec<Span>) {
    let Some(query) = target.iter().position(|byte| *byte == b'?') else {
        return;
    };
    let mut start = query + 1;
    for pair in part(target, start, target.len()).split(|byte| *byte == b'&') {
        let end = start + pair.len();
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=') {
            let name = plain(pair.get(..equals).unwrap_or_default());
            let value = start + equals + 1;
            let is_key = NAMES.iter().any(|known| name.ends_with(known))
                || NAMES_OF_PARAMETERS.contains(&name.as_str())
                || NAMES_OF_LONG_VALUES
                    .iter()
                    .any(|known| name.ends_with(known));
            if is_key && value < end && !is_stand_in(part(target, value, end)) {
                spans.push(Span::shape(value..end, Kind::Secret));
            }
        }
        start = end + 1;
    }
}

/// Finds names with values in text.
pub(super) fn assigned(text: &[u8], spans: &mut Vec<Span>) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let mut from = 0;
    while from < text.len() {
        let start = past(text, from, usize::MAX, |byte| !is_name(byte));
        let end = past(text, start, usize::MAX, is_name);
        from = end.max(from + 1);
        let name = part(text, start.max(end.saturating_sub(LONGEST_NAME)), end);
        let Some(name) = name_of(name) else {
            continue;
        };
        if let Some(span) = value_after(text, end, name) {
            from = span.range.end;
            spans.push(span);
        }
    }
}

fn value_after(text: &[u8], name_end: usize, name: Name) -> Option<Span> {
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t');
    let sign = past(text, past(text, name_end, 4, is_quote), 4, is_space);
    let after = past(text, sign, 2, |byte| matches!(byte, b':' | b'=' | b'>'));
    if after == sign || at(text, sign) == b'>' {
        return told_after(text, name_end, name);
    }
    let quotes = past(text, after, 4, is_space);
    let start = past(text, quotes, 4, is_quote);
    let is_quoted = start > quotes;
    let start = past_scheme(text, start);
    let (end, shortest) = if is_quoted {
        let quote = at(text, past(text, quotes, 4, is_quote) - 1);
        let end = past(text, start, LONGEST_VALUE, |byte| {
            byte != quote && !matches!(byte, b'\n' | b'\r' | b'\\')
        });
        (end, SHORTEST_QUOTED)
    } else {
        let end = past(text, start, usize::MAX, |byte| {
            !byte.is_ascii_whitespace() && !b"\"'`&,;)}]<>\\{[(".contains(&byte)
        });
        (end, SHORTEST_BARE)
    };
    let value = part(text, start, end);
    let fits = match name {
        Name::Secret => value.len() >= shortest,
        Name::SecretIfLong => value.len() >= ENDLESS || is_long_word(value),
    };
    (fits && !is_stand_in(value)).then(|| Span::shape(start..end, Kind::Secret))
}

/// The password of `my password is hunter2`. Of words alone it is not known whether they are one: a password has a digit, and some other
/// sign.
fn told_after(text: &[u8], name_end: usize, name: Name) -> Option<Span> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t');
    let verb = past(text, name_end, 4, is_space);
    let mut verbs = [&b"is"[..], b"was", b"ist", b"war"].into_iter();
    let verb_end = verb
        + verbs
            .find(|known| {
                let end = verb + known.len();
                part(text, verb, end).eq_ignore_ascii_case(known) && is_space(at(text, end))
            })?
            .len();
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let quotes = past(text, verb_end, 4, is_space);
    let start = past(text, quotes, 4, is_quote);
    let end = past(text, start, ENDLESS, |byte| {
        !byte.is_ascii_whitespace() && !b"\"'`,;<>\\".contains(&byte)
    });
    // What stands at its end is the sentence's, unless it is in quotes.
    let value = part(text, start, end);
    let signs = value
        .iter()
        .rev()
        .take_while(|byte| b".!?)]".contains(byte));
    let trailing = if start > quotes { 0 } else { signs.count() };
    let value = part(text, start, end - trailing);
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_other = value.iter().any(|byte| !byte.is_ascii_digit());
    let is_told = name == Name::Secret
        && verb > name_end
        && value.len() >= SHORTEST_BARE
        && has_digit
        && has_other
        && !is_stand_in(value);
    is_told.then(|| Span::shape(start..end - trailing, Kind::Secret))
}

/// Behind the word for the kind of credentials, if there is one.
fn past_scheme(text: &[u8], start: usize) -> usize {
    let mut schemes = [&b"bearer "[..], b"basic ", b"token "].into_iter();
    let scheme =
        schemes.find(|scheme| part(text, start, start + scheme.len()).eq_ignore_ascii_case(scheme));
    start + scheme.map_or(0, <[u8]>::len)
}

fn name_of(name: &[u8]) -> Option<Name> {
    // No name is so long; what ends like one is.
    let name = plain(part(
        name,
        name.len().saturating_sub(LONGEST_NAME),
        name.len(),
    ));
    if NAMES.iter().any(|known| name.ends_with(known)) {
        return Some(Name::Secret);
    }
    let long = NAMES_OF_LONG_VALUES
        .iter()
        .any(|known| name.ends_with(known));
    long.then_some(Name::SecretIfLong)
}

/// Small letters and digits alone: `X-Api_Key` is `xapikey`.
fn plain(name: &[u8]) -> String {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}

fn is_long_word(value: &[u8]) -> bool {
    value.len() >= SHORTEST_LONG
        && value.iter().all(u8::is_ascii_graphic)
        && value
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Whether a value only says where a secret belongs, or where one was: `****`, `<password>`, `${PASSWORD}`, `[secret-1]`,
/// also behind the word for its kind.
fn is_stand_in(value: &[u8]) -> bool {
    let value = [&b"Bearer "[..], b"Basic "]
        .into_iter()
        .find_map(|word| value.strip_prefix(word))
        .unwrap_or(value);
    let first = at(value, 0);
    let last = at(value, value.len().saturating_sub(1));
    let one_sign = value.iter().all(|byte| *byte == first) && b"*.xX#_-?".contains(&first);
    let inside = value
        .get(1..value.len().saturating_sub(1))
        .unwrap_or_default();
    let word = inside
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || b"_- ".contains(byte));
    let marked = matches!((first, last), (b'<', b'>') | (b'{', b'}')) && word;
    let variable = value
        .strip_prefix(b"${")
        .and_then(|rest| rest.strip_suffix(b"}"));
    let variable = variable.is_some_and(|name| {
        name.iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    });
    one_sign || marked || variable || is_placeholder(value)
}

/// `[kind-number]`, as the scrubber writes it; also without its bracket at the end, which a list of signs may end at.
fn is_placeholder(value: &[u8]) -> bool {
    let Some(inside) = value.strip_prefix(b"[") else {
        return false;
    };
    let inside = inside.strip_suffix(b"]").unwrap_or(inside);
    let Some(dash) = inside.iter().position(|byte| *byte == b'-') else {
        return false;
    };
    let (kind, number) = inside.split_at(dash);
    let number = number.get(1..).unwrap_or_default();
    !kind.is_empty()
        && kind.iter().all(u8::is_ascii_lowercase)
        && !number.is_empty()
        && number.iter().all(u8::is_ascii_digit)
}
