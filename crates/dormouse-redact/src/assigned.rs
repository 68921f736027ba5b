//! Values that are called a password, key, token or secret: `password=…`, `"api_key": "…"`, `?key=…`, `the password for
//! the gate is …`.
//!
//! How much a value has to look like a secret depends on its name and on how it is said. After `password=` nearly anything
//! is one; after `the token is` only what no sentence would go on with.

mod value;

use std::{ops::Range, sync::LazyLock};

use regex::bytes::Regex;

use crate::{
    Match, RedactionProfile, SensitiveKind,
    bytes::{part, past, placeholder},
    rules::{Pattern, compile},
};
use value::{Said, Value};

pub(crate) use value::{is_stand_in, is_sure_credential, no_word};

/// How sure a name is of what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It names a secret and nothing else.
    Strong,
    /// So it does between programs; in games and stories it also names other things.
    BetweenPrograms,
    /// It names other things, too: with few letters they are a model's tokens.
    Weak,
}

struct Name {
    /// A space stands for a space, `_`, `-`, or nothing; a `_` not for a space.
    text: &'static str,
    kind: SensitiveKind,
    weight: Weight,
}

const fn name(text: &'static str, kind: SensitiveKind, weight: Weight) -> Name {
    Name { text, kind, weight }
}

impl Name {
    fn pattern(&self) -> String {
        let letters = self.text.split(' ').map(|word| word.replace('_', "[_-]?"));
        letters.collect::<Vec<_>>().join("[ _-]?")
    }
}

/// What the names of secrets end with; of two that end alike the longer one first.
const NAMES: [Name; 30] = [
    name("password", SensitiveKind::Password, Weight::Strong),
    name("passwd", SensitiveKind::Password, Weight::Strong),
    name("passphrase", SensitiveKind::Password, Weight::Strong),
    name("passcode", SensitiveKind::Password, Weight::Strong),
    name("pass word", SensitiveKind::Password, Weight::Strong),
    name("pwd", SensitiveKind::Password, Weight::Strong),
    name("passwort", SensitiveKind::Password, Weight::Strong),
    name("kennwort", SensitiveKind::Password, Weight::Strong),
    name("api key", SensitiveKind::ApiKey, Weight::Strong),
    name("api token", SensitiveKind::ApiKey, Weight::Strong),
    name("api secret", SensitiveKind::ApiKey, Weight::Strong),
    name("secret access key", SensitiveKind::ApiKey, Weight::Strong),
    name("secret key", SensitiveKind::ApiKey, Weight::Strong),
    name("access key", SensitiveKind::ApiKey, Weight::Strong),
    name("account key", SensitiveKind::ApiKey, Weight::Strong),
    name("client secret", SensitiveKind::ApiKey, Weight::Strong),
    name("private key", SensitiveKind::PrivateKey, Weight::Strong),
    name("access token", SensitiveKind::Token, Weight::Strong),
    name("auth token", SensitiveKind::Token, Weight::Strong),
    name("bot token", SensitiveKind::Token, Weight::Strong),
    name("bearer token", SensitiveKind::Token, Weight::Strong),
    name("refresh token", SensitiveKind::Token, Weight::Strong),
    name("session token", SensitiveKind::Token, Weight::Strong),
    name("security token", SensitiveKind::Token, Weight::Strong),
    name("id_token", SensitiveKind::Token, Weight::Strong),
    name(
        "authorization",
        SensitiveKind::Token,
        Weight::BetweenPrograms,
    ),
    name("cookie", SensitiveKind::Token, Weight::BetweenPrograms),
    name("secret", SensitiveKind::ApiKey, Weight::BetweenPrograms),
    name("token", SensitiveKind::Token, Weight::Weak),
    name("credential", SensitiveKind::Token, Weight::Weak),
];
/// Another weak one, which is not a secret in a sentence.
const SIGNATURE: &str = "signature";
/// Names that mean a key in the query of an address, and many other things elsewhere.
const PARAMETERS: [&str; 8] = [
    "key",
    "token",
    "sig",
    "signature",
    "code",
    "pwd",
    "auth",
    "credential",
];
/// The longest name that is looked at, in bytes. What ends like a name is one.
const LONGEST_NAME: usize = 64;

/// A name, and `:`, `=` or ` is ` behind it. A strong name may say first what it is for: "the password **for the north gate** is".
static SAYS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = |is: fn(Weight) -> bool| {
        let names = NAMES.iter().filter(|name| is(name.weight));
        names.map(Name::pattern).collect::<Vec<_>>().join("|")
    };
    let strong = pattern(|weight| weight == Weight::Strong);
    let other = pattern(|weight| weight != Weight::Strong);
    let sign = "[\"'`*\\\\\\]]{0,4}[ \\t]{0,4}(?::=|=>|={1,2}|:{1,2}|\u{ff1a})[ \\t]{0,4}";
    let is = "[ \\t]{1,4}(?:is now|is:|is|was|will be|ist|war)[ \\t]{1,4}";
    let aside = "[ ](?:for|to|of|on|at|in|f\u{fc}r|von|zu)[ ][^.;!?\\n\\r]{1,44}?";
    compile(&format!(
        "(?i)(?:(?:{strong})(?:{sign}|{is}|{aside}(?:{is}|:[ \\t]{{1,4}}))|(?:{other}|{SIGNATURE})(?:{sign}|{is}))"
    ))
});

/// Finds names with their values.
pub(crate) fn assigned(text: &[u8], profile: RedactionProfile, found: &mut Vec<Match>) {
    let mut from = 0;
    while let Some(says) = SAYS.find_at(text, from) {
        from = says.end();
        // What a placeholder says is not a value: `[secret: password]`.
        let bracket = says.start().saturating_sub(1);
        if let Some(length) = placeholder(part(text, bracket, text.len())) {
            from = from.max(bracket + length);
            continue;
        }
        let Some(name) = name_at(says.as_bytes()) else {
            continue;
        };
        let said = said(says.as_bytes());
        let start = behind_scheme(text, says.end());
        let Some(value) = value::read(text, start, profile) else {
            continue;
        };
        if is_secret(name, &value, said, text, profile) {
            let range = value.range(text);
            from = range.end.max(from);
            found.push(Match::new(range, name.kind));
        }
    }
}

fn is_secret(
    name: &Name,
    value: &Value,
    said: Said,
    text: &[u8],
    profile: RedactionProfile,
) -> bool {
    let is_surely = match name.weight {
        Weight::Strong => value.is_secret(text, said, profile),
        Weight::BetweenPrograms | Weight::Weak => value.is_surely_secret(text, said),
    };
    let is_likely = || match name.weight {
        Weight::Strong | Weight::BetweenPrograms => value.is_likely(text, said),
        Weight::Weak => said != Said::Is && value.is_long_word(text),
    };
    is_surely || profile.is_wide() && is_likely()
}

/// Which name these words begin with.
fn name_at(says: &[u8]) -> Option<&'static Name> {
    let plain = plain(part(says, 0, LONGEST_NAME));
    let weak = || {
        let token = NAMES.iter().find(|name| name.text == "token");
        token.filter(|_| plain.starts_with(SIGNATURE))
    };
    let begins = |name: &&Name| plain.starts_with(&self::plain(name.text.as_bytes()));
    let longest = NAMES
        .iter()
        .filter(begins)
        .max_by_key(|name| name.text.len());
    longest.or_else(weak)
}

/// Which kind of words a name and its sign end with.
fn said(says: &[u8]) -> Said {
    let sign = says.trim_ascii_end();
    match sign.last() {
        Some(b'=' | b'>') => Said::Equals,
        // The last byte of a full-width colon.
        Some(b':' | 0x9a) if !sign.ends_with(b" is:") => Said::Colon,
        _ => Said::Is,
    }
}

/// Behind the word for the kind of credentials, if there is one.
fn behind_scheme(text: &[u8], start: usize) -> usize {
    let from = past(text, start, 4, |byte| b"\"'`\\".contains(&byte));
    let schemes = [&b"bearer "[..], b"basic ", b"token "];
    let scheme = schemes
        .into_iter()
        .find(|scheme| part(text, from, from + scheme.len()).eq_ignore_ascii_case(scheme));
    scheme.map_or(start, |scheme| from + scheme.len())
}

/// Whether a member of this name says a secret, if this is its value: `"api_key": "…"`.
///
/// ```
/// use dormouse_redact::is_named_secret;
///
/// assert!(is_named_secret(b"X-Api-Key", b"y"));
/// assert!(!is_named_secret(b"token", b"Hello"));
/// assert!(!is_named_secret(b"password", b"<password>"));
/// ```
#[must_use]
pub fn is_named_secret(name: &[u8], value: &[u8]) -> bool {
    let value_is_secret = match weight_of(name) {
        Some(Weight::Strong | Weight::BetweenPrograms) => !value.is_empty(),
        Some(Weight::Weak) => value::is_long_word(value),
        None => false,
    };
    value_is_secret && !is_stand_in(value)
}

/// Finds the values of keys in the query of an address: `/path?key=…`.
///
/// ```
/// use dormouse_redact::scan_query;
///
/// assert_eq!(scan_query(b"/a?key=hunter2&x=1")[0].range, 7..14);
/// ```
#[must_use]
pub fn scan_query(target: &[u8]) -> Vec<Match> {
    static PARAMETER: Pattern = Pattern::new("[?&][^=&]*=[^&]*");
    let query = target.iter().position(|byte| *byte == b'?');
    let pairs = query.map(|_| PARAMETER.all(target)).into_iter().flatten();
    pairs.filter_map(|pair| parameter(target, pair)).collect()
}

fn parameter(target: &[u8], pair: Range<usize>) -> Option<Match> {
    let equals = pair.start
        + part(target, pair.start, pair.end)
            .iter()
            .position(|byte| *byte == b'=')?;
    let name = part(target, pair.start + 1, equals);
    let value = equals + 1..pair.end;
    let is_key = weight_of(name).is_some() || PARAMETERS.contains(&plain(name).as_str());
    let is_secret =
        is_key && !value.is_empty() && !is_stand_in(part(target, value.start, value.end));
    is_secret.then(|| Match::new(value, SensitiveKind::Token))
}

fn weight_of(name: &[u8]) -> Option<Weight> {
    let plain = plain(part(
        name,
        name.len().saturating_sub(LONGEST_NAME),
        name.len(),
    ));
    let ends = |name: &&Name| plain.ends_with(&self::plain(name.text.as_bytes()));
    let longest = NAMES.iter().filter(ends).max_by_key(|name| name.text.len());
    let signature = || plain.ends_with(SIGNATURE).then_some(Weight::Weak);
    longest.map(|name| name.weight).or_else(signature)
}

/// Small letters and digits alone: `X-Api_Key` is `xapikey`.
fn plain(name: &[u8]) -> String {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}
