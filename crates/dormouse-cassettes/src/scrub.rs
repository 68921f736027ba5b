//! What never gets into a cassette, and what stands in its place.

use std::{collections::HashMap, fmt};

use dormouse_redact::{Match, RedactionProfile, SensitiveKind, merged, scan, scan_query};

use crate::{exchange::Header, headers};

mod json;
mod rules;
mod sight;
mod stream;

pub use rules::{RuleError, ScrubRules};
pub(crate) use sight::{Sighting, sightings};
pub(crate) use stream::{Edit, Stream};

/// Takes out keys and personal data, and puts names in their place: `[secret-1]`, `[email-2]`.
///
/// The same input has the same name for as long as the scrubber lives. What it knows is the rules' secrets and the
/// shapes of others; JSON stays JSON, also in the events of a stream, and a secret that a model spelled out over many
/// events is seen as well.
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
    /// The number of everything that was seen, by the word of its placeholder and what it said.
    names: HashMap<(&'static str, Vec<u8>), usize>,
    counts: HashMap<&'static str, usize>,
}

/// Without its neighbour, what stood beside a secret may be one by itself. So often it is looked again; each round takes
/// away something, and in practice the second finds nothing.
const ROUNDS: usize = 8;

impl Scrubber {
    /// A scrubber that has seen nothing yet.
    #[must_use]
    pub fn new(rules: ScrubRules) -> Self {
        Self {
            rules,
            names: HashMap::new(),
            counts: HashMap::new(),
        }
    }

    /// The text without what must not be in it. JSON, server-sent events and lines of JSON are seen as such.
    #[must_use]
    pub fn text(&mut self, text: &str) -> String {
        let bytes = self.bytes(text.as_bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The same for bytes, which need not be UTF-8.
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

    /// Scrubs a body over the borders of its chunks. What takes the place of something that lies in several chunks
    /// stands in the first of them.
    pub(crate) fn stream(&mut self, stream: &mut Stream) {
        for _ in 0..ROUNDS {
            let seen = sightings(stream.bytes(), &|text| self.look(text));
            if seen.is_empty() {
                return;
            }
            let edits = seen.into_iter().flat_map(|seen| self.edits(seen)).collect();
            stream.apply(edits);
        }
    }

    /// Scrubs path and query: the values of parameters that are keys, too.
    pub(crate) fn target(&mut self, target: &str) -> String {
        let mut stream = Stream::default();
        stream.push(target.as_bytes());
        // First what is known everywhere, so that a known secret has its one name here as well.
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
                // A head may not contain line ends, which would become further headers of a replay.
                value: self.text(&value).replace(['\r', '\n'], " "),
                name,
            })
            .collect()
    }

    /// Headers that were recorded before, without those that never should have been.
    pub(crate) fn again(&mut self, mut headers: Vec<Header>) -> Vec<Header> {
        headers.retain(|header| !headers::is_never_recorded(&header.name));
        let pairs = headers
            .into_iter()
            .map(|header| (header.name, header.value));
        self.headers(pairs.collect())
    }

    /// Counts on behind the placeholders of a text, so that nobody new gets a name that is taken.
    pub(crate) fn count_on(&mut self, text: &str) {
        for label in SensitiveKind::ALL.map(SensitiveKind::label) {
            let beginning = format!("[{label}-");
            let numbers = text.split(&beginning).skip(1).filter_map(|rest| {
                let (number, _) = rest.split_once(']')?;
                number.parse().ok()
            });
            let count = self.counts.entry(label).or_default();
            // No cassette has so many; a made-up number must not run over.
            let most = usize::MAX / 2;
            *count = numbers
                .filter(|number: &usize| *number < most)
                .fold(*count, usize::max);
        }
    }

    /// What must not be in this text.
    fn look(&self, text: &[u8]) -> Vec<Match> {
        let mut found = self.rules.known().scan(text);
        found.extend(scan(text, RedactionProfile::Recordings));
        merged(found)
    }

    /// What takes the place of a sighting: its name where it begins, nothing where it goes on.
    fn edits(&mut self, seen: Sighting) -> Vec<Edit> {
        let identity = match seen.known {
            Some(known) => self.rules.known().get(known).to_vec(),
            None => seen.text,
        };
        let mut name = self.name(seen.kind, &identity);
        if seen.is_bare {
            name = format!("\"{name}\"");
        }
        let mut edits = Vec::with_capacity(seen.parts.len());
        for part in seen.parts {
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
    /// Tells how much was seen and nothing of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrubber")
            .field("rules", &self.rules)
            .field("names", &self.names.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
