//! Keys with a known prefix. An entry of the tables is `PREFIX LEAST`. LEAST is the minimum number of characters after
//! the prefix. It is below the documented number, so that a truncated key is found.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::{
    Match, RedactionProfile, SensitiveKind,
    bytes::{part, past},
    pattern::{BOUNDARY, behind_boundary, compile},
};

/// The format of a service's keys.
struct Format {
    prefix: &'static str,
    /// The least number of characters after the prefix.
    least: usize,
    /// Whether ordinary words also start with the prefix. Then in a memory only a random rest counts as a key.
    if_random: bool,
}

/// Prefixes that occur only in keys: version control, packages, chat, payment, clouds.
const SURE: &str = "\
    bedrock-api-key- 16, lsv2_pt_ 16, lsv2_sk_ 16, \
    AIza 16, GOCSPX- 12, \
    ghp_ 12, gho_ 12, ghu_ 12, ghs_ 12, ghr_ 12, github_pat_ 12, glpat- 10, gldt- 12, glrt- 12, \
    glcbt- 12, glptt- 12, glft- 12, glsoat- 12, gloas- 12, glagent- 12, ATATT3 20, ATBB 24, \
    pypi-AgE 8, CLOJARS_ 24, dckr_pat_ 12, dckr_oat_ 12, sgp_ 24, sqp_ 24, squ_ 24, sqa_ 24, \
    xoxb- 8, xoxp- 8, xoxa- 8, xoxr- 8, xoxs- 8, xoxe- 8, \
    sk_live_ 8, sk_test_ 8, pk_live_ 8, rk_live_ 8, rk_test_ 8, whsec_ 12, sq0atp- 16, sq0csp- 16, \
    shpat_ 12, shpss_ 12, shpca_ 12, shppa_ 12, shippo_live_ 16, FLWSECK- 12, FLWSECK_TEST- 12, \
    dop_v1_ 12, doo_v1_ 12, dor_v1_ 12, NRAK- 20, NRJS- 16, glsa_ 20, glc_ 28, sntrys_ 20, \
    sntryu_ 20, pscale_tkn_ 20, pscale_pw_ 20, pscale_oauth_ 20, sb_secret_ 16, HRKU- 20, \
    FlyV1 fm2_ 40, CFPAT- 28, AKCp 40, PMAK- 24, xkeysib- 32, xsmtpsib- 32, rdme_ 32, \
    AGE-SECRET-KEY-1 8";
/// Prefixes that words and names also have, such as those of model providers. In memories, the rest must be random.
const IF_RANDOM: &str = "\
    sk- 8, sk_ 12, gsk_ 8, xai- 12, pplx- 12, nvapi- 12, hf_ 12, api_org_ 20, r8_ 12, fw_ 16, \
    csk- 12, tgp_v1_ 12, jina_ 12, tvly- 12, ABSK 24, \
    npm_ 20, rubygems_ 24, tfp_ 24, \
    xapp- 8, ntn_ 24, secret_ 32, lin_api_ 12, lin_oauth_ 12, \
    EAAA 40, EZAK 40, \
    dapi 32, pul- 32, pnu_ 28, sbp_ 28, fo1_ 32, LTAI 16, figd_ 24, phx_ 28, duffel_live_ 24, \
    ico- 32";
/// As [`SURE`], for keys with dots.
const SURE_DOTTED: &str = "\
    ya29. 12, dt0c01. 24";
/// As [`IF_RANDOM`], for keys with dots.
const IF_RANDOM_DOTTED: &str = "\
    AQ. 24, SG. 16, hvs. 12, hvb. 12, hvr. 12, dp.pt. 24, dp.st. 24, sk.eyJ 20, ops_eyJ 20";

/// The shortest run with both letters and digits that counts as random.
const RANDOM_STRETCH: usize = 12;

/// Formats, and a pattern that matches all of them.
type Table = (Vec<Format>, Regex);

/// The first table is for keys of letters, digits, `_` and `-`; the second is for keys that also contain dots.
static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    [
        table(formats(SURE, IF_RANDOM), "[A-Za-z0-9_*-]"),
        table(formats(SURE_DOTTED, IF_RANDOM_DOTTED), "[A-Za-z0-9_*.-]"),
    ]
});

fn formats(sure: &'static str, if_random: &'static str) -> Vec<Format> {
    let rows = |table: &'static str, if_random: bool| {
        let rows = table.split(", ").filter_map(|row| row.rsplit_once(' '));
        rows.filter_map(move |(prefix, least)| {
            let least = least.parse().ok()?;
            Some(Format {
                prefix,
                least,
                if_random,
            })
        })
    };
    rows(sure, false).chain(rows(if_random, true)).collect()
}

/// The rest of a key may contain `*`, because servers print masked keys. The minimum length is checked after a match,
/// because a count for each prefix would make the automaton large.
fn table(formats: Vec<Format>, rest: &str) -> Table {
    let prefixes = formats.iter().map(|format| regex::escape(format.prefix));
    let prefixes = prefixes.collect::<Vec<_>>().join("|");
    let pattern = compile(&format!("{BOUNDARY}(?:{prefixes}){rest}{{8,}}"));
    (formats, pattern)
}

/// Finds keys by their prefix.
pub(crate) fn keys(text: &[u8], profile: RedactionProfile, found: &mut Vec<Match>) {
    for (formats, pattern) in TABLES.iter() {
        for whole in pattern.find_iter(text) {
            let range = behind_boundary(text, whole.range());
            let key = part(text, range.start, range.end);
            if is_key(key, formats, profile) {
                let padded = past(text, range.end, 2, |byte| byte == b'=');
                found.push(Match::new(range.start..padded, SensitiveKind::ApiKey));
            }
        }
    }
}

fn is_key(key: &[u8], formats: &[Format], profile: RedactionProfile) -> bool {
    formats.iter().any(|format| {
        let rest = key.strip_prefix(format.prefix.as_bytes());
        rest.is_some_and(|rest| rest.len() >= format.least && is_rest(rest, format, profile))
    })
}

fn is_rest(rest: &[u8], format: &Format, profile: RedactionProfile) -> bool {
    match (profile, format.if_random) {
        (RedactionProfile::Memory | RedactionProfile::Values, true) => is_random(rest),
        // Servers print keys with this prefix in so many forms that the rest may be any text.
        _ if format.prefix == "sk-" => !profile.keeps_prose(),
        // Lower-case words, such as `hf_hub_download`, are not keys.
        _ => rest
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'*'),
    }
}

fn is_random(rest: &[u8]) -> bool {
    let stretches = rest.split(|byte| !byte.is_ascii_alphanumeric());
    stretches.into_iter().any(|stretch| {
        stretch.len() >= RANDOM_STRETCH
            && stretch.iter().any(u8::is_ascii_digit)
            && stretch.iter().any(u8::is_ascii_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::at;

    #[test]
    fn every_key_format_is_found_in_every_profile() {
        for format in TABLES.iter().flat_map(|(formats, _)| formats) {
            let rest = "a1B2c3D4e5F6".repeat(4);
            for length in [format.least.max(RANDOM_STRETCH), rest.len()] {
                let key = format!("{}{}", format.prefix, &rest[..length]);
                for profile in RedactionProfile::ALL {
                    let mut found = Vec::new();
                    keys(format!("my {key}!").as_bytes(), profile, &mut found);
                    let whole = Match::new(3..3 + key.len(), SensitiveKind::ApiKey);
                    assert_eq!(found, [whole], "{key}");
                }
            }
        }
    }

    #[test]
    fn every_row_of_the_tables_is_read() {
        let rows = [SURE, IF_RANDOM, SURE_DOTTED, IF_RANDOM_DOTTED]
            .map(|table| table.matches(',').count() + 1);
        let read = TABLES.iter().map(|(formats, _)| formats.len());
        assert_eq!(read.sum::<usize>(), rows.iter().sum());
    }

    #[test]
    fn every_key_format_starts_a_word() {
        for format in TABLES.iter().flat_map(|(formats, _)| formats) {
            assert!(at(format.prefix.as_bytes(), 0).is_ascii_alphanumeric());
        }
    }
}
