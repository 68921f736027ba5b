//! Values with a secret's name: `password=…`, `"api_key": "…"`, `?key=…`, `the password for the gate is …`.
//!
//! The name of a value and the sign before it decide how much the value must look like a secret. After `password=`,
//! nearly every value counts as a secret. After `the token is`, only a value that cannot be a word of a sentence does.

mod value;

use std::{ops::Range, sync::LazyLock};

use regex::bytes::Regex;

use crate::{
    Match, RedactionProfile, SensitiveKind,
    bytes::{part, past, placeholder},
    pattern::{Pattern, compile},
};
use value::{Said, Value};

pub(crate) use value::{is_stand_in, is_sure_credential, no_word};

/// How specific a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// The name always means a secret.
    Strong,
    /// In protocols the name means a secret; in games and stories it also means other things.
    BetweenPrograms,
    /// The name also means other things, whose values are short, such as the tokens of a model.
    Weak,
}

struct Name {
    /// A space matches a space, `_`, `-`, or nothing; a `_` does not match a space.
    text: &'static str,
    /// The text as [`plain`] returns it.
    plain: String,
    kind: SensitiveKind,
    weight: Weight,
}

impl Name {
    fn pattern(&self) -> String {
        let letters = self.text.split(' ').map(|word| word.replace('_', "[_-]?"));
        letters.collect::<Vec<_>>().join("[ _-]?")
    }
}

/// Names of secrets, or the ends of such names.
static NAMES: LazyLock<Vec<Name>> = LazyLock::new(|| {
    use SensitiveKind as Kind;
    use Weight::{BetweenPrograms, Strong, Weak};
    let groups = [
        (
            "password, passwd, passphrase, passcode, pass word, pwd, pw, passwort, kennwort, mot de passe, contrase\u{f1}a, senha, wachtwoord",
            Kind::Password,
            Strong,
        ),
        (
            "api key, api token, api secret, secret access key, secret key, access key, account key, client secret",
            Kind::ApiKey,
            Strong,
        ),
        ("private key", Kind::PrivateKey, Strong),
        (
            "access token, auth token, bot token, bearer token, refresh token, session token, security token, id_token",
            Kind::Token,
            Strong,
        ),
        ("authorization, cookie", Kind::Token, BetweenPrograms),
        ("secret", Kind::ApiKey, BetweenPrograms),
        ("token, credential", Kind::Token, Weak),
    ];
    let names = groups.into_iter().flat_map(|(names, kind, weight)| {
        names.split(", ").map(move |text| Name {
            text,
            plain: plain(text.as_bytes()),
            kind,
            weight,
        })
    });
    names.collect()
});
/// Another weak name. Its value is judged like that of `token`.
const SIGNATURE: &str = "signature";
/// Names that mean a credential only in the query of a URL.
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
/// The longest name that is read, in bytes. Only the end of a longer name is read.
const LONGEST_NAME: usize = 64;

/// A name followed by `:`, `=` or ` is `. A strong name may have a purpose: "the password **for the north gate** is".
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
        // A placeholder contains a name and no value: `[secret: password]`.
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

/// Returns the name at the start of these words.
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

/// Returns the sign between a name and its value.
fn said(says: &[u8]) -> Said {
    let sign = says.trim_ascii_end();
    match sign.last() {
        Some(b'=' | b'>') => Said::Equals,
        // The last byte of a full-width colon.
        Some(b':' | 0x9a) if !sign.ends_with(b" is:") => Said::Colon,
        _ => Said::Is,
    }
}

/// Skips the scheme of credentials, such as `Bearer`.
fn behind_scheme(text: &[u8], start: usize) -> usize {
    let from = past(text, start, 4, |byte| b"\"'`\\".contains(&byte));
    let schemes = [&b"bearer "[..], b"basic ", b"token "];
    let scheme = schemes
        .into_iter()
        .find(|scheme| part(text, from, from + scheme.len()).eq_ignore_ascii_case(scheme));
    scheme.map_or(start, |scheme| from + scheme.len())
}

/// Whether a JSON member with this name and value is a secret: `"api_key": "…"`.
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

/// Finds the values of secret parameters in the query of a URL: `/path?key=…`.
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
    pairs
        .filter_map(|pair| parameter(target, pair.range()))
        .collect()
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
    let ends = |name: &&Name| plain.ends_with(&name.plain);
    let longest = NAMES.iter().filter(ends).max_by_key(|name| name.text.len());
    let signature = || plain.ends_with(SIGNATURE).then_some(Weight::Weak);
    longest.map(|name| name.weight).or_else(signature)
}

/// Keeps lower-case letters and digits: `X-Api_Key` becomes `xapikey`.
fn plain(name: &[u8]) -> String {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}
