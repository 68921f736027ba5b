//! Secrets that are known word for word, and the forms in which they travel.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::shape::Span;

/// The known secrets.
#[derive(Clone, Default)]
pub(crate) struct Literals {
    secrets: Vec<Vec<u8>>,
    /// The forms of all of them, with the secret each is of; longer ones first.
    forms: Vec<(Vec<u8>, usize)>,
}

/// The shortest form in base64 that is looked for: what is left of a secret when its ends depend on its neighbours.
const SHORTEST_BASE64: usize = 8;
/// So much of a secret at the end of a text is taken for the secret, cut off.
const SHORTEST_BEGINNING: usize = 6;

impl Literals {
    pub(crate) fn add(&mut self, secret: &str) {
        if self.secrets.iter().any(|known| known == secret.as_bytes()) {
            return;
        }
        let which = self.secrets.len();
        self.secrets.push(secret.as_bytes().to_vec());
        for form in forms(secret) {
            if !self.forms.iter().any(|(known, _)| *known == form) {
                self.forms.push((form, which));
            }
        }
        self.forms
            .sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    }

    pub(crate) fn len(&self) -> usize {
        self.secrets.len()
    }

    /// The secret itself, whatever form it was found in.
    pub(crate) fn identity(&self, literal: usize) -> &[u8] {
        self.secrets.get(literal).map_or(&[], Vec::as_slice)
    }

    /// Finds every form of every secret, and the beginning of one at the end of the text.
    pub(crate) fn find(&self, text: &[u8], spans: &mut Vec<Span>) {
        for (form, which) in &self.forms {
            let mut from = 0;
            while let Some(start) = position(text, from, form) {
                from = start + form.len();
                spans.push(Span::literal(start..from, *which));
            }
            if let Some(start) = beginning_at_end(text, form) {
                spans.push(Span::literal(start..text.len(), *which));
            }
        }
    }
}

fn position(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let (first, _) = what.split_first()?;
    let mut at = from;
    loop {
        at += text.get(at..)?.iter().position(|byte| byte == first)?;
        if text.get(at..)?.starts_with(what) {
            return Some(at);
        }
        at += 1;
    }
}

/// Where the text ends with a beginning of `what`, if it does.
fn beginning_at_end(text: &[u8], what: &[u8]) -> Option<usize> {
    let longest = what.len().saturating_sub(1).min(text.len());
    let lengths = (SHORTEST_BEGINNING..=longest).rev();
    let mut starts = lengths.map(|length| text.len() - length);
    starts.find(|start| text.get(*start..).is_some_and(|end| what.starts_with(end)))
}

/// How a secret may be written: as it is; in JSON, and in JSON within JSON; in an address; in base64.
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
    let quoted = serde_json::Value::from(text).to_string();
    let inside = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or(text).to_owned()
}

/// Percent-encoded with digits of both cases; with all signs encoded or those alone that must be; spaces as plus, too.
fn in_address(secret: &str) -> Vec<Vec<u8>> {
    let encoded = |plain: &[u8], space: &str, capital: bool| {
        let mut out = String::new();
        for byte in secret.bytes() {
            if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
                out.push(char::from(byte));
            } else if byte == b' ' {
                out.push_str(space);
            } else if capital {
                out.push_str(&format!("%{byte:02X}"));
            } else {
                out.push_str(&format!("%{byte:02x}"));
            }
        }
        out.into_bytes()
    };
    let mut forms = Vec::new();
    for plain in [&b"-_.~"[..], b"-_.~!$&'()*+,;=:@/?", b"-_.*"] {
        for capital in [true, false] {
            forms.push(encoded(plain, "%20", capital));
            forms.push(encoded(plain, "+", capital));
        }
    }
    forms
}

/// What the secret looks like somewhere within text in base64: three forms, by where it begins, without the
/// characters at either end that depend on its neighbours. In both alphabets.
fn in_base64(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3_usize {
        let mut padded = vec![0; before];
        padded.extend_from_slice(secret);
        // Whole characters are those whose six bits all come from the secret.
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

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    fn found(secret: &str, text: &[u8]) -> bool {
        let mut literals = Literals::default();
        literals.add(secret);
        let mut spans = Vec::new();
        literals.find(text, &mut spans);
        !spans.is_empty()
    }

    #[test]
    fn the_beginning_of_a_secret_at_the_end_of_a_text_is_the_secret() {
        assert!(found("open sesame", b"he said open s"));
        assert!(!found("open sesame", b"he said open"));
        assert!(!found("open sesame", b"open s he said"));
    }

    proptest! {
        #[test]
        fn a_secret_is_found_in_every_form(
            secret in "[ -~]{12,30}",
            before in prop::collection::vec(any::<u8>(), 0..7),
            after in prop::collection::vec(any::<u8>(), 0..7),
        ) {
            let around = |text: &[u8]| [before.as_slice(), text, &after].concat();
            prop_assert!(found(&secret, &around(secret.as_bytes())));
            prop_assert!(found(&secret, &around(serde_json::to_string(&secret).unwrap().as_bytes())));
            let encoded = STANDARD.encode(around(secret.as_bytes()));
            prop_assert!(found(&secret, encoded.as_bytes()), "{encoded}");
        }
    }
}
