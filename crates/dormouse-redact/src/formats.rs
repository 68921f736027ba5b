//! Keys that say by their beginning whose they are.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::{
    Match, RedactionProfile, SensitiveKind,
    bytes::past,
    rules::{BOUNDARY, behind_boundary, compile},
};

/// The form of a service's keys.
struct Format {
    /// How they begin.
    beginning: &'static str,
    /// How many characters follow at least: fewer than the services document, so that a key that was cut off is recognised.
    least: usize,
    sure: Sure,
}

/// How much a beginning says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sure {
    /// Nothing else begins like that.
    Alone,
    /// Words and names do, too, so that what is remembered needs a random rest.
    IfRandom,
}

const fn sure(beginning: &'static str, least: usize) -> Format {
    Format {
        beginning,
        least,
        sure: Sure::Alone,
    }
}

const fn random(beginning: &'static str, least: usize) -> Format {
    Format {
        beginning,
        least,
        sure: Sure::IfRandom,
    }
}

/// Keys of letters, digits, `_` and `-`.
const FORMATS: [Format; 108] = [
    // Models: OpenAI, Anthropic (`sk-ant-`), OpenRouter (`sk-or-`), DeepSeek and others; AWS Bedrock is `ABSK`.
    random("sk-", 8),
    random("sk_", 12),
    random("gsk_", 8),
    random("xai-", 12),
    random("pplx-", 12),
    random("nvapi-", 12),
    random("hf_", 12),
    random("api_org_", 20),
    random("r8_", 12),
    random("fw_", 16),
    random("csk-", 12),
    random("tgp_v1_", 12),
    random("jina_", 12),
    random("tvly-", 12),
    random("ABSK", 24),
    sure("bedrock-api-key-", 16),
    sure("lsv2_pt_", 16),
    sure("lsv2_sk_", 16),
    // Google.
    sure("AIza", 16),
    sure("GOCSPX-", 12),
    // Where code and packages are kept.
    sure("ghp_", 12),
    sure("gho_", 12),
    sure("ghu_", 12),
    sure("ghs_", 12),
    sure("ghr_", 12),
    sure("github_pat_", 12),
    sure("glpat-", 10),
    sure("gldt-", 12),
    sure("glrt-", 12),
    sure("glcbt-", 12),
    sure("glptt-", 12),
    sure("glft-", 12),
    sure("glsoat-", 12),
    sure("gloas-", 12),
    sure("glagent-", 12),
    sure("ATATT3", 20),
    sure("ATBB", 24),
    random("npm_", 20),
    sure("pypi-AgE", 8),
    random("rubygems_", 24),
    sure("CLOJARS_", 24),
    sure("dckr_pat_", 12),
    sure("dckr_oat_", 12),
    sure("sgp_", 24),
    sure("sqp_", 24),
    sure("squ_", 24),
    sure("sqa_", 24),
    random("tfp_", 24),
    // Chat.
    sure("xoxb-", 8),
    sure("xoxp-", 8),
    sure("xoxa-", 8),
    sure("xoxr-", 8),
    sure("xoxs-", 8),
    sure("xoxe-", 8),
    random("xapp-", 8),
    random("ntn_", 24),
    random("secret_", 32),
    random("lin_api_", 12),
    random("lin_oauth_", 12),
    // Payment and shops.
    sure("sk_live_", 8),
    sure("sk_test_", 8),
    sure("pk_live_", 8),
    sure("rk_live_", 8),
    sure("rk_test_", 8),
    sure("whsec_", 12),
    sure("sq0atp-", 16),
    sure("sq0csp-", 16),
    random("EAAA", 40),
    sure("shpat_", 12),
    sure("shpss_", 12),
    sure("shpca_", 12),
    sure("shppa_", 12),
    sure("shippo_live_", 16),
    random("EZAK", 40),
    sure("FLWSECK-", 12),
    sure("FLWSECK_TEST-", 12),
    // Clouds and what runs in them.
    sure("dop_v1_", 12),
    sure("doo_v1_", 12),
    sure("dor_v1_", 12),
    random("dapi", 32),
    sure("NRAK-", 20),
    sure("NRJS-", 16),
    sure("glsa_", 20),
    sure("glc_", 28),
    sure("sntrys_", 20),
    sure("sntryu_", 20),
    sure("pscale_tkn_", 20),
    sure("pscale_pw_", 20),
    sure("pscale_oauth_", 20),
    random("pul-", 32),
    random("pnu_", 28),
    random("sbp_", 28),
    sure("sb_secret_", 16),
    sure("HRKU-", 20),
    sure("FlyV1 fm2_", 40),
    random("fo1_", 32),
    sure("CFPAT-", 28),
    sure("AKCp", 40),
    random("LTAI", 16),
    random("figd_", 24),
    sure("PMAK-", 24),
    random("phx_", 28),
    sure("xkeysib-", 32),
    sure("xsmtpsib-", 32),
    sure("rdme_", 32),
    random("duffel_live_", 24),
    random("ico-", 32),
    sure("AGE-SECRET-KEY-1", 8),
];
/// Keys with points inside.
const DOTTED: [Format; 11] = [
    random("AQ.", 24),
    sure("ya29.", 12),
    random("SG.", 16),
    random("hvs.", 12),
    random("hvb.", 12),
    random("hvr.", 12),
    random("dp.pt.", 24),
    random("dp.st.", 24),
    sure("dt0c01.", 24),
    random("sk.eyJ", 20),
    random("ops_eyJ", 20),
];
/// The shortest stretch of letters and digits, with both in it, that makes a rest random.
const RANDOM_STRETCH: usize = 12;

static FORMAT: LazyLock<Regex> = LazyLock::new(|| pattern(&FORMATS, "[A-Za-z0-9_*-]"));
static DOTTED_FORMAT: LazyLock<Regex> = LazyLock::new(|| pattern(&DOTTED, "[A-Za-z0-9_*.-]"));

/// Servers print keys with stars in their middle. The least number of characters is checked behind a match: a count for
/// each beginning would make a large automaton.
fn pattern(formats: &[Format], rest: &str) -> Regex {
    let beginnings = formats.iter().map(|format| regex::escape(format.beginning));
    let beginnings = beginnings.collect::<Vec<_>>().join("|");
    compile(&format!("{BOUNDARY}(?:{beginnings}){rest}{{8,}}"))
}

/// Finds keys by their beginning.
pub(crate) fn keys(text: &[u8], profile: RedactionProfile, found: &mut Vec<Match>) {
    for (formats, pattern) in [(&FORMATS[..], &FORMAT), (&DOTTED[..], &DOTTED_FORMAT)] {
        for whole in pattern.find_iter(text) {
            let range = behind_boundary(text, whole.range());
            let key = text.get(range.clone()).unwrap_or_default();
            if is_key(key, formats, profile) {
                let padded = past(text, range.end, 2, |byte| byte == b'=');
                found.push(Match::new(range.start..padded, SensitiveKind::ApiKey));
            }
        }
    }
}

fn is_key(key: &[u8], formats: &[Format], profile: RedactionProfile) -> bool {
    formats.iter().any(|format| {
        let rest = key.strip_prefix(format.beginning.as_bytes());
        rest.is_some_and(|rest| rest.len() >= format.least && is_rest(rest, format, profile))
    })
}

fn is_rest(rest: &[u8], format: &Format, profile: RedactionProfile) -> bool {
    match (profile, format.sure) {
        (RedactionProfile::Memory, Sure::IfRandom) => is_random(rest),
        // So many keys begin like that, and are printed in so many ways, that nothing more is asked for.
        _ if format.beginning == "sk-" => profile != RedactionProfile::Memory,
        // A word of small letters alone, such as `hf_hub_download`, is not a key.
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
    fn every_beginning_is_found_in_every_profile() {
        for format in FORMATS.iter().chain(&DOTTED) {
            let rest = "a1B2c3D4e5F6".repeat(4);
            for length in [format.least.max(RANDOM_STRETCH), rest.len()] {
                let key = format!("{}{}", format.beginning, &rest[..length]);
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
    fn every_beginning_begins_a_word() {
        for format in FORMATS.iter().chain(&DOTTED) {
            assert!(at(format.beginning.as_bytes(), 0).is_ascii_alphanumeric());
        }
    }
}
