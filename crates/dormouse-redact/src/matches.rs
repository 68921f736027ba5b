//! Matches of rules.

use std::ops::Range;

use crate::SensitiveKind;

/// A place in a text with a secret or personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The range of its bytes in the text. It is never empty.
    pub range: Range<usize>,
    /// The kind.
    pub kind: SensitiveKind,
    /// Its index in the [`KnownSecrets`](crate::KnownSecrets) that found it.
    pub known: Option<usize>,
}

impl Match {
    /// A match of a rule.
    #[must_use]
    pub fn new(range: Range<usize>, kind: SensitiveKind) -> Self {
        Self {
            range,
            kind,
            known: None,
        }
    }

    pub(crate) fn known(range: Range<usize>, known: usize) -> Self {
        Self {
            range,
            kind: SensitiveKind::ApiKey,
            known: Some(known),
        }
    }
}

/// Sorts matches and merges overlapping ones. In a merged match, a known secret takes precedence over other matches,
/// and a credential over personal data.
#[must_use]
pub fn merged(mut found: Vec<Match>) -> Vec<Match> {
    // The sort is stable: of two matches with the same start, the one found first stays first.
    found.sort_by_key(|one| one.range.start);
    let mut merged: Vec<Match> = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
                let is_more =
                    one.known.is_some() || one.kind.is_credential() && !last.kind.is_credential();
                if last.known.is_none() && is_more {
                    last.kind = one.kind;
                    last.known = one.known;
                }
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}
