//! Replaces secrets by placeholders.

use std::{collections::HashMap, fmt};

use dormouse_redact::{Match, RedactionProfile, SensitiveKind, merged, scan, scan_query};

use crate::{exchange::Header, headers};

mod body_scan;
mod json;
mod rules;
mod stream;

pub(crate) use body_scan::{BodyMatch, scan_body};
pub use rules::{RuleError, ScrubRules};
pub(crate) use stream::{Edit, Stream};

/// Replaces secrets and personal data by placeholders: `[secret-1]`, `[email-2]`.
///
/// A scrubber gives equal input equal placeholders. It finds the secrets that the rules list, and other secrets by
/// their form, even if one is spread over many events of a stream. JSON stays valid.
///
/// ```
/// use dormouse_cassettes::{ScrubRules, Scrubber};
///
/// let mut scrubber = Scrubber::new(ScrubRules::new().with_secret("open sesame")?);
/// assert_eq!(scrubber.text("Say open sesame to alice@example.org"), "Say [secret-1] to [email-1]");
/// assert_eq!(scrubber.text("open+sesame"), "[secret-1]");
/// # Ok::<(), dormouse_cassettes::RuleError>(())
/// ```
pub struct Scrubber {
    rules: ScrubRules,
    /// The number of each replaced text, by the word of its placeholder.
    names: HashMap<(&'static str, Vec<u8>), usize>,
    counts: HashMap<&'static str, usize>,
}

/// How often a text is scanned at most. A replacement may reveal another match next to it, so the text is scanned again
/// until nothing is found. Usually the second scan finds nothing.
const ROUNDS: usize = 8;

impl Scrubber {
    /// Creates a scrubber without placeholders.
    #[must_use]
    pub fn new(rules: ScrubRules) -> Self {
        Self {
            rules,
            names: HashMap::new(),
            counts: HashMap::new(),
        }
    }

    /// Scrubs a text: JSON, server-sent events, JSON lines, or anything else.
    #[must_use]
    pub fn text(&mut self, text: &str) -> String {
        let bytes = self.bytes(text.as_bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Scrubs bytes, which need not be UTF-8.
    #[must_use]
    pub fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = Stream::default();
        stream.push(bytes);
        self.stream(&mut stream);
        stream.into_bytes()
    }

    pub(crate) fn rules(&self) -> &ScrubRules {
        &self.rules
    }

    /// Scrubs a body. A match can span several chunks; its placeholder is in the first of them.
    pub(crate) fn stream(&mut self, stream: &mut Stream) {
        for _ in 0..ROUNDS {
            let found = scan_body(stream.bytes(), &|text| self.look(text));
            if found.is_empty() {
                return;
            }
            let edits = found
                .into_iter()
                .flat_map(|found| self.edits(found))
                .collect();
            stream.apply(edits);
        }
    }

    /// Scrubs path and query, including the values of secret parameters.
    pub(crate) fn target(&mut self, target: &str) -> String {
        let mut stream = Stream::default();
        stream.push(target.as_bytes());
        // The general rules run first, so that a known secret gets the same placeholder as everywhere else.
        self.stream(&mut stream);
        let named = scan_query(stream.bytes()).into_iter().map(|found| {
            let value = stream.bytes().get(found.range.clone());
            let name = self.name(found.kind, value.unwrap_or_default());
            Edit::new(found.range, name)
        });
        let edits = named.collect();
        stream.apply(edits);
        String::from_utf8_lossy(stream.bytes()).into_owned()
    }

    pub(crate) fn headers(&mut self, headers: Vec<(String, String)>) -> Vec<Header> {
        let headers = headers.into_iter();
        headers
            .map(|(name, value)| Header {
                // Headers must not contain newlines, which would become further headers in a replay.
                value: self.text(&value).replace(['\r', '\n'], " "),
                name,
            })
            .collect()
    }

    /// Scrubs recorded headers and drops those that must not be recorded.
    pub(crate) fn again(&mut self, mut headers: Vec<Header>) -> Vec<Header> {
        headers.retain(|header| !headers::is_never_recorded(&header.name));
        let pairs = headers
            .into_iter()
            .map(|header| (header.name, header.value));
        self.headers(pairs.collect())
    }

    /// Reserves the numbers of a text's placeholders, so that new ones are different.
    pub(crate) fn reserve_numbers(&mut self, text: &str) {
        for label in SensitiveKind::ALL.map(SensitiveKind::label) {
            let beginning = format!("[{label}-");
            let numbers = text.split(&beginning).skip(1).filter_map(|rest| {
                let (number, _) = rest.split_once(']')?;
                number.parse().ok()
            });
            let count = self.counts.entry(label).or_default();
            // The text may contain any number, which must not overflow the counter.
            let most = usize::MAX / 2;
            *count = numbers
                .filter(|number: &usize| *number < most)
                .fold(*count, usize::max);
        }
    }

    /// Scans this text.
    fn look(&self, text: &[u8]) -> Vec<Match> {
        let mut found = self.rules.known().scan(text);
        found.extend(scan(text, RedactionProfile::Recordings));
        merged(found)
    }

    /// Returns the replacement of a match: the placeholder for its first part, nothing for the others.
    fn edits(&mut self, found: BodyMatch) -> Vec<Edit> {
        let identity = match found.known {
            Some(known) => self.rules.known().get(known).to_vec(),
            None => found.text,
        };
        let mut name = self.name(found.kind, &identity);
        if found.is_bare {
            name = format!("\"{name}\"");
        }
        let mut edits = Vec::with_capacity(found.parts.len());
        for part in found.parts {
            edits.push(Edit::new(part, std::mem::take(&mut name)));
        }
        edits
    }

    fn name(&mut self, kind: SensitiveKind, identity: &[u8]) -> String {
        let identity = if kind == SensitiveKind::Email {
            identity.to_ascii_lowercase()
        } else {
            identity.to_vec()
        };
        let label = kind.label();
        let count = self.counts.entry(label).or_default();
        let number = self.names.entry((label, identity)).or_insert_with(|| {
            *count += 1;
            *count
        });
        format!("[{label}-{number}]")
    }
}

impl fmt::Debug for Scrubber {
    /// Shows the number of placeholders only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrubber")
            .field("rules", &self.rules)
            .field("names", &self.names.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
