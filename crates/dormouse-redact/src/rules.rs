//! The table of patterns.
//!
//! A single search of the `regex` crate takes linear time. Finding all matches of a text takes linear time only if no
//! match is much shorter than the text that was read to find it. So patterns are greedy and have no optional ends. For
//! the same reason a search continues after the end of a match, even if the validator rejects the match.

use std::ops::Range;

use crate::{
    Match, RedactionProfile, SensitiveKind,
    assigned::{is_stand_in, is_sure_credential, no_word},
    bytes::{at, part},
    network,
    pattern::{Pattern, behind_boundary},
};

/// The part of a match that is the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secret {
    Whole,
    /// Everything after the character of [`BOUNDARY`](crate::pattern::BOUNDARY).
    Word,
    /// The first group.
    Group,
}

/// A match before validation.
struct Candidate<'a> {
    text: &'a [u8],
    range: Range<usize>,
    profile: RedactionProfile,
}

impl Candidate<'_> {
    fn bytes(&self) -> &[u8] {
        part(self.text, self.range.start, self.range.end)
    }
}

/// Which characters a text has. The entry of a small letter is set if the text has the letter in either case, that of a
/// capital only if it has the capital. The entry of `0` is set for any digit.
struct Signs([bool; 256]);

impl Signs {
    fn of(text: &[u8]) -> Self {
        let mut signs = Self([false; 256]);
        // One look at each byte; what follows from it is added once.
        text.iter().for_each(|byte| signs.add(*byte));
        for capital in b'A'..=b'Z' {
            if signs.has(capital) {
                signs.add(capital.to_ascii_lowercase());
            }
        }
        if (b'0'..=b'9').any(|digit| signs.has(digit)) {
            signs.add(b'0');
        }
        signs
    }

    fn add(&mut self, sign: u8) {
        if let Some(there) = self.0.get_mut(usize::from(sign)) {
            *there = true;
        }
    }

    fn has(&self, sign: u8) -> bool {
        self.0.get(usize::from(sign)).is_some_and(|there| *there)
    }

    fn have(&self, needs: &str) -> bool {
        needs.bytes().all(|byte| self.has(byte))
    }
}

struct Rule {
    kind: SensitiveKind,
    secret: Secret,
    /// What every match has, in the form of [`Signs`]. Most texts lack it, and are not searched.
    needs: &'static str,
    pattern: Pattern,
    counts: fn(&Candidate<'_>) -> bool,
    /// Whether a match may continue on the next line. True only for forms that never occur in prose.
    wraps: bool,
}

const fn rule(
    kind: SensitiveKind,
    secret: Secret,
    needs: &'static str,
    pattern: &'static str,
    counts: fn(&Candidate<'_>) -> bool,
) -> Rule {
    Rule {
        kind,
        secret,
        needs,
        pattern: Pattern::new(pattern),
        counts,
        wraps: false,
    }
}

const fn wrapping(kind: SensitiveKind, needs: &'static str, pattern: &'static str) -> Rule {
    Rule {
        kind,
        secret: Secret::Word,
        needs,
        pattern: Pattern::new(pattern),
        counts: always,
        wraps: true,
    }
}

fn always(_: &Candidate<'_>) -> bool {
    true
}

/// Whether somebody may have typed it as a password: it is not a word of a sentence, a number, or a part of an address.
fn is_typed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_alphabetic) && no_word(value) && !is_stand_in(value)
}

static RULES: [Rule; 28] = [
    // An unterminated block extends to the end of the text.
    rule(
        SensitiveKind::PrivateKey,
        Secret::Whole,
        "-bkpvy",
        r"(?s)-----BEGIN [^-]{0,64}PRIVATE KEY.*?(?:-----END [^-]{0,64}-{0,5}|$)",
        always,
    ),
    rule(
        SensitiveKind::PrivateKey,
        Secret::Whole,
        "-kpty",
        r"(?s)PuTTY-User-Key-File-[0-9].*$",
        always,
    ),
    // `scheme://user:password@host`. A recording hides the user, too.
    rule(
        SensitiveKind::Password,
        Secret::Group,
        ":/@",
        r#"://([^\s/?#"'<>`]*:[^\s/?#"'<>`]*)@"#,
        |it| !it.profile.keeps_prose(),
    ),
    rule(
        SensitiveKind::Password,
        Secret::Group,
        ":/@",
        r#"://[^\s/?#"'<>`:]*:([^\s/?#"'<>`]+)@"#,
        |it| it.profile.keeps_prose() && !is_stand_in(it.bytes()),
    ),
    // JSON web tokens: the base64 of `{"`, and parts separated by points. One point is enough, because a token may be
    // truncated.
    wrapping(
        SensitiveKind::Token,
        ".ejy",
        r"(?:^|[^A-Za-z0-9])eyJ[A-Za-z0-9_=-]{5,}(?:\.[A-Za-z0-9_=-]+)+",
    ),
    // AWS ids: a known prefix, then capitals or digits.
    wrapping(
        SensitiveKind::ApiKey,
        "A",
        r"(?:^|[^A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ABIA|ACCA)[A-Z0-9]{16,}",
    ),
    rule(
        SensitiveKind::Token,
        Secret::Group,
        "ab",
        r"(?i)(?:^|[^A-Za-z0-9])(?:bearer|basic)[ \t+]{1,4}([A-Za-z0-9._~+/=*-]{8,})",
        is_carried,
    ),
    // Credentials in command-line arguments.
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "-",
        r#"(?i)--(?:password|passwd|passphrase|token|secret|api-?key)[ \t]{1,4}["']?([^\s"'`<>$-][^\s"'`<>]{3,})"#,
        |it| no_word(it.bytes()),
    ),
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "-:cu",
        r#"(?i)\bcurl[ \t][^\n]{0,200}?[ \t](?:-u|--user)[ =]["']?([^\s"':<>]+:[^\s"'<>]+)"#,
        |it| !is_stand_in(it.bytes()),
    ),
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "dglnpw",
        r"(?i)\blogin[ \t]{1,4}\S{1,64}[ \t]{1,4}password[ \t]{1,4}(\S{4,})",
        |it| no_word(it.bytes()),
    ),
    rule(
        SensitiveKind::Password,
        Secret::Group,
        ":",
        r"(?i)\b(?:log[ -]?in|log[ -]?on|sign[ -]?in|authenticate|auth|connect)(?:[ \t](?:as|with))?[ \t]{1,4}[A-Za-z][A-Za-z0-9_.@+-]{0,63}:([^\s:/<>]{4,64})",
        |it| is_typed(it.bytes()),
    ),
    // What is typed at the first screen of a game: `connect NAME PASSWORD`. A sentence would continue after the
    // password.
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "c",
        r#"(?i)(?:^|[\n"'`])[ \t>]{0,4}(?:connect|create|conn|co|cr|cd|ch)[ \t]{1,4}(?:"[^"\n]{1,64}"|[A-Za-z][^\s"]{0,63})[ \t]{1,4}([^\s"'`<>]{6,64})[ \t]{0,4}(?:$|[\r\n"'`])"#,
        |it| is_typed(it.bytes()),
    ),
    // The command of MUSH, MUX and Evennia that changes a password, and that of their staff.
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "=",
        r#"(?i)(?:^|[\n"'`])[ \t>]{0,4}@?(?:password|passwd)[ \t]{1,4}([^\s=<>]{3,64}[ \t]{0,2}=[ \t]{0,2}[^\s=<>"'`]{3,64})[ \t]{0,4}(?:$|[\r\n"'`])"#,
        |it| it.bytes() != b"old=new" && it.bytes() != b"old = new",
    ),
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "=@",
        r#"(?i)(?:^|[\n"'`])[ \t>]{0,4}@(?:newpassword|newpasswd|userpassword|pcreate)[ \t]{1,4}[^\n=<>]{1,64}=[ \t]{0,2}([^\s=<>"'`\[]{3,64})"#,
        |it| !is_stand_in(it.bytes()),
    ),
    // Commands of chat services and of game servers with accounts.
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "/",
        r#"(?i)(?:^|[\n"'`])[ \t>]{0,4}/(?:login|register|changepassword)((?:[ \t]{1,4}[^\s"'`<>]{4,64}){1,2})[ \t]{0,4}(?:$|[\r\n"'`])"#,
        |it| is_typed(it.bytes().trim_ascii()),
    ),
    rule(
        SensitiveKind::Password,
        Secret::Group,
        "knrsv",
        r#"(?i)\bnickserv[ \t:]{1,4}(?:identify|register)((?:[ \t]{1,4}[^\s"'`<>]{3,64}){1,2})"#,
        |it| is_typed(it.bytes().trim_ascii()),
    ),
    // URLs that contain a credential.
    rule(
        SensitiveKind::Token,
        Secret::Group,
        "./hks",
        r"hooks\.slack\.com/[a-z]{1,12}/([A-Za-z0-9/_-]{20,})",
        always,
    ),
    rule(
        SensitiveKind::Token,
        Secret::Group,
        "./dhkw",
        r"discord(?:app)?\.com/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{20,})",
        always,
    ),
    rule(
        SensitiveKind::Token,
        Secret::Group,
        "=s",
        r"[?&;]sig=([A-Za-z0-9%+/=_-]{20,})",
        always,
    ),
    // Keys without a fixed prefix: Telegram, Discord, Mailchimp, Twilio, Terraform.
    wrapping(
        SensitiveKind::Token,
        ":A",
        r"(?:^|[^A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    ),
    wrapping(
        SensitiveKind::Token,
        ".",
        r"(?:^|[^A-Za-z0-9])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    ),
    wrapping(
        SensitiveKind::ApiKey,
        "",
        r"(?:^|[^A-Za-z0-9])(?:[0-9a-f]{32}-us[0-9]{1,2}|SK[0-9a-f]{32}|key-[0-9a-f]{32})\b",
    ),
    wrapping(
        SensitiveKind::Token,
        ".v1lst",
        r"(?:^|[^A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}",
    ),
    // An e-mail address. In JSON text, the letter after a backslash is an escape and not part of the address.
    rule(
        SensitiveKind::Email,
        Secret::Group,
        ".@",
        r"(?:\\[nrt])?([A-Za-z0-9.!$%*+^_|~\x80-\xff-]+@(?:[A-Za-z0-9\x80-\xff-]+\.)+[A-Za-z0-9\x80-\xff-]*[A-Za-z\x80-\xff][A-Za-z0-9\x80-\xff-]*)",
        is_email,
    ),
    rule(
        SensitiveKind::UserName,
        Secret::Group,
        "",
        r"(?i)[/\\](?:home|users)[/\\]{1,4}([A-Za-z0-9._\x80-\xff-]+)",
        always,
    ),
    // A point or colon at the end belongs to the sentence, not to the address.
    rule(
        SensitiveKind::IpAddress,
        Secret::Whole,
        ".0",
        r"[0-9]+(?:\.[0-9]+)+",
        |it| network::is_version_4(it.text, it.range.start, it.range.end),
    ),
    rule(
        SensitiveKind::IpAddress,
        Secret::Whole,
        ":",
        r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]*(?:[0-9.]*[0-9]|[0-9A-Fa-f]|::)",
        |it| network::is_version_6(it.text, it.range.start, it.range.end),
    ),
    rule(
        SensitiveKind::AccountId,
        Secret::Word,
        "r0",
        r"(?:^|[^A-Za-z0-9])(?:org-|proj_|user-)[A-Za-z0-9]{16,}",
        |it| {
            let ends = !matches!(at(it.text, it.range.end), b'_' | b'-' | b'*');
            ends && it.bytes().iter().any(u8::is_ascii_digit)
        },
    ),
];

/// Finds all matches of the table. In joined lines (`is_wrapped`), finds only matches of rules that wrap.
pub(crate) fn patterns(
    text: &[u8],
    profile: RedactionProfile,
    is_wrapped: bool,
    found: &mut Vec<Match>,
) {
    let signs = Signs::of(text);
    for rule in &RULES {
        if !profile.covers(rule.kind) || is_wrapped && !rule.wraps || !signs.have(rule.needs) {
            continue;
        }
        for whole in rule.pattern.all(text) {
            let range = secret_of(rule, text, whole.range());
            let candidate = Candidate {
                text,
                range,
                profile,
            };
            if !candidate.range.is_empty() && (rule.counts)(&candidate) {
                found.push(Match::new(candidate.range, rule.kind));
            }
        }
    }
}

fn secret_of(rule: &Rule, text: &[u8], whole: Range<usize>) -> Range<usize> {
    match rule.secret {
        Secret::Whole => whole,
        Secret::Word => behind_boundary(text, whole),
        Secret::Group => {
            let groups = rule.pattern.regex().captures_at(text, whole.start);
            let group = groups.and_then(|groups| groups.get(1));
            group.map_or(0..0, |group| group.range())
        }
    }
}

/// Whether the text after `bearer` or `basic` is a credential, and not just the next word.
fn is_carried(it: &Candidate<'_>) -> bool {
    let token = it.bytes();
    let is_small = token
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || b".-".contains(byte));
    if it.profile.is_wide() {
        return token.len() >= 24 || !is_small;
    }
    is_sure_credential(token)
}

/// Whether the host ends with a name: an address with an IP host does not belong to a person.
fn is_email(it: &Candidate<'_>) -> bool {
    let host = it.bytes().rsplit(|byte| *byte == b'.').next();
    host.is_some_and(|top| top.len() >= 2)
}

#[cfg(test)]
mod tests {
    use proptest::{
        prelude::*,
        string::bytes_regex,
        test_runner::{Config, TestRunner},
    };

    use super::*;
    use crate::pattern::BOUNDARY;

    #[test]
    fn every_match_has_what_its_rule_needs() {
        for rule in &RULES {
            // A generator knows no anchors. Without them a pattern has the same signs.
            let mut source = rule.pattern.source().to_owned();
            for anchor in ["^|", "|$", r"\b", "$"] {
                source = source.replace(anchor, "");
            }
            // The text is the generated match, or holds it.
            let matches = bytes_regex(&format!("(?s-u){source}"));
            let matches = matches.unwrap_or_else(|error| panic!("{source}: {error}"));
            let mut runner = TestRunner::new(Config::with_cases(8));
            let holds = runner.run(&matches, |text| {
                prop_assert!(
                    Signs::of(&text).have(rule.needs),
                    "{:?} lacks {}",
                    text,
                    rule.needs
                );
                Ok(())
            });
            holds.unwrap();
        }
    }

    #[test]
    fn every_pattern_compiles() {
        for rule in &RULES {
            assert!(
                rule.pattern.regex().captures_len() > usize::from(rule.secret == Secret::Group)
            );
            let is_bounded = rule.pattern.source().contains(BOUNDARY);
            assert!(rule.secret != Secret::Word || is_bounded);
        }
    }
}
