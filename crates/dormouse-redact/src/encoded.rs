//! Secrets in base64.

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::{Match, bytes::past, pattern::Pattern};

/// Accepts input without padding and with trailing bits, since the text may be truncated.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

static RUN: Pattern = Pattern::new(r"[A-Za-z0-9+/_-]{20,}");

/// Finds runs of base64 characters whose decoded text contains a secret.
pub(crate) fn in_base64(text: &[u8], scan: impl Fn(&[u8]) -> Vec<Match>, found: &mut Vec<Match>) {
    for run in RUN.all(text) {
        let Some(says) = decoded(run.as_bytes()) else {
            continue;
        };
        let inside = scan(&says);
        let secret = inside.iter().find(|one| one.kind.is_credential());
        if let Some(secret) = secret {
            let padded = past(text, run.end(), 2, |byte| byte == b'=');
            found.push(Match::new(run.start()..padded, secret.kind));
        }
    }
}

/// Decodes a run, if it is text.
fn decoded(run: &[u8]) -> Option<Vec<u8>> {
    // The first few characters rule out most runs.
    let says = |run: &[u8]| {
        let standard: Vec<u8> = run
            .iter()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            })
            .collect();
        let says = FORGIVING.decode(standard).ok()?;
        let is_text = says
            .iter()
            .all(|byte| *byte >= 0x20 || byte.is_ascii_whitespace());
        is_text.then_some(says)
    };
    says(run.get(..16)?)?;
    let whole = run.len() - usize::from(run.len() % 4 == 1);
    let says = says(run.get(..whole)?)?;
    std::str::from_utf8(&says).is_ok().then_some(says)
}
