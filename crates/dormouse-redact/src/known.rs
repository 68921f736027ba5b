//! Known secrets, in all their encodings.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::Match;

/// Known secrets, such as a program's keys.
///
/// They are found in any letter case and in every encoding: plain, in JSON, in JSON within JSON, in URLs and in base64.
/// A secret that is cut off by the end of the text is found, too. `Debug` shows only the number of secrets.
///
/// ```
/// use dormouse_redact::KnownSecrets;
///
/// let mut known = KnownSecrets::default();
/// known.add("open sesame");
/// assert_eq!(known.scan(b"/?q=open+sesame")[0].range, 4..15);
/// assert_eq!(known.mask("He said: OPEN SESAME!", "***"), "He said: ***!");
/// ```
#[derive(Clone, Default)]
pub struct KnownSecrets {
    secrets: Vec<Vec<u8>>,
    /// All encodings with the index of their secret, longest first.
    forms: Vec<(Vec<u8>, usize)>,
}

/// The shortest base64 form that is searched, without the characters at both ends. Those depend on the bytes around the
/// secret.
const SHORTEST_BASE64: usize = 8;
/// The minimum length of a truncated secret at the end of a text.
const SHORTEST_BEGINNING: usize = 4;

impl KnownSecrets {
    /// Adds a secret. An empty one is ignored.
    pub fn add(&mut self, secret: &str) {
        let is_known = self.secrets.iter().any(|known| known == secret.as_bytes());
        if secret.is_empty() || is_known {
            return;
        }
        let which = self.secrets.len();
        self.secrets.push(secret.as_bytes().to_vec());
        for form in forms(secret) {
            let is_known = |(known, _): &(Vec<u8>, usize)| known.eq_ignore_ascii_case(&form);
            if !self.forms.iter().any(is_known) {
                self.forms.push((form, which));
            }
        }
        self.forms
            .sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    }

    /// Returns the number of secrets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.secrets.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns the secret with this index, or an empty slice if there is none.
    #[must_use]
    pub fn get(&self, which: usize) -> &[u8] {
        self.secrets.get(which).map_or(&[], Vec::as_slice)
    }

    /// Finds every secret in every encoding. A secret that is cut off by the end of the text matches, too. Matches are
    /// unordered and may overlap: see [`merged`](crate::merged).
    #[must_use]
    pub fn scan(&self, text: &[u8]) -> Vec<Match> {
        let mut found = Vec::new();
        for (form, which) in &self.forms {
            let mut from = 0;
            while let Some(start) = position(text, from, form) {
                from = start + form.len();
                found.push(Match::known(start..from, *which));
            }
            if let Some(start) = beginning_at_end(text, form) {
                found.push(Match::known(start..text.len(), *which));
            }
        }
        found
    }

    /// Replaces every secret by `mask`.
    #[must_use]
    pub fn mask(&self, text: &str, mask: &str) -> String {
        crate::scan::replaced(text, &crate::merged(self.scan(text.as_bytes())), |_| mask)
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets")
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

fn position(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let (first, _) = what.split_first()?;
    let mut at = from;
    loop {
        at += text
            .get(at..)?
            .iter()
            .position(|byte| byte.eq_ignore_ascii_case(first))?;
        let there = text.get(at..at + what.len())?;
        if there.eq_ignore_ascii_case(what) {
            return Some(at);
        }
        at += 1;
    }
}

/// If the text ends with the beginning of `what`, returns where that beginning starts.
fn beginning_at_end(text: &[u8], what: &[u8]) -> Option<usize> {
    let longest = what.len().saturating_sub(1).min(text.len());
    let mut lengths = (SHORTEST_BEGINNING..=longest).rev();
    let length = lengths.find(|length| {
        let end = text.get(text.len() - length..).unwrap_or_default();
        end.eq_ignore_ascii_case(what.get(..*length).unwrap_or_default())
    })?;
    Some(text.len() - length)
}

/// Returns the encodings of a secret: plain, in JSON, in JSON within JSON, in URLs, in base64.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let once = in_json(secret);
    let twice = in_json(&once);
    let mut forms = vec![
        secret.as_bytes().to_vec(),
        once.replace('/', "\\/").into_bytes(),
        once.into_bytes(),
        twice.into_bytes(),
    ];
    forms.extend(in_address(secret));
    forms.extend(in_base64(secret.as_bytes()));
    forms
}

fn in_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out
}

/// Percent-encodes, with several sets of unescaped characters, and with spaces as `%20` and as `+`.
fn in_address(secret: &str) -> Vec<Vec<u8>> {
    let encoded = |plain: &[u8], space: &str| {
        let mut out = String::new();
        for byte in secret.bytes() {
            if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
                out.push(char::from(byte));
            } else if byte == b' ' {
                out.push_str(space);
            } else {
                out.push_str(&format!("%{byte:02x}"));
            }
        }
        out.into_bytes()
    };
    let mut forms = Vec::new();
    for plain in [&b""[..], b"-_.~", b"-_.~!$&'()*+,;=:@/?", b"-_.*"] {
        forms.push(encoded(plain, "%20"));
        forms.push(encoded(plain, "+"));
    }
    forms
}

/// Returns the secret in base64, in both alphabets. Inside longer data a secret has three forms, one for each offset
/// modulo three. The characters at both ends are left out, because they also depend on the bytes around the secret.
fn in_base64(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3_usize {
        let mut padded = vec![0; before];
        padded.extend_from_slice(secret);
        // Only characters whose six bits all come from the secret.
        let first = (before * 8).div_ceil(6);
        let last = padded.len() * 8 / 6;
        for encoded in [
            STANDARD_NO_PAD.encode(&padded),
            URL_SAFE_NO_PAD.encode(&padded),
        ] {
            let inner = encoded.as_bytes().get(first..last).unwrap_or_default();
            if inner.len() >= SHORTEST_BASE64 {
                forms.push(inner.to_vec());
            }
        }
    }
    forms
}
