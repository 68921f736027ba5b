//! Text that is hidden in base64.

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::{Match, RedactionProfile, bytes::past, rules::Pattern, scan::as_it_stands};

/// Whatever it ends with: it may have been cut off.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

static RUN: Pattern = Pattern::new(r"[A-Za-z0-9+/_-]{20,}");

/// Finds runs of base64 that say a secret.
pub(crate) fn in_base64(text: &[u8], profile: RedactionProfile, found: &mut Vec<Match>) {
    for range in RUN.all(text) {
        let run = text.get(range.clone()).unwrap_or_default();
        let Some(says) = decoded(run) else { continue };
        let inside = as_it_stands(&says, profile);
        let secret = inside.iter().find(|one| one.kind.is_credential());
        if let Some(secret) = secret {
            let padded = past(text, range.end, 2, |byte| byte == b'=');
            found.push(Match::new(range.start..padded, secret.kind));
        }
    }
}

/// The text that a run says, if it says any.
fn decoded(run: &[u8]) -> Option<Vec<u8>> {
    // Most runs are no base64 of a text; a few characters show it.
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
