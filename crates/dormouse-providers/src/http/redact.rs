//! Prepares server texts for errors: one line, bounded, without keys.

use dormouse_redact::{KnownSecrets, RedactionProfile, mask};

use crate::Secret;

/// The longest text that is kept, in characters.
pub(crate) const LONGEST: usize = 300;

/// Removes keys from texts for errors. Every server text that is kept goes through it: servers repeat the key in errors,
/// and a proxy may repeat it, or its own key, anywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redact {
    known: KnownSecrets,
}

impl Redact {
    /// Creates a redactor that also removes this key, if there is one.
    pub(crate) fn new(key: Option<&Secret>) -> Self {
        let mut known = KnownSecrets::default();
        if let Some(key) = key {
            known.add(key.expose());
        }
        Self { known }
    }

    /// Returns the text as one line without control characters, at most [`LONGEST`] characters.
    pub(crate) fn line(&self, text: &str) -> String {
        let text = self.known.mask(text, "***");
        let text = mask(&text, RedactionProfile::Errors).replace(char::is_control, " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().nth(LONGEST).is_none() {
            return text;
        }
        let kept: String = text.chars().take(LONGEST).collect();
        format!("{kept}…")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hiding(key: &str) -> Redact {
        Redact::new(Some(&Secret::try_new(key).unwrap()))
    }

    #[test]
    fn the_key_is_hidden_in_every_case_and_where_the_text_ends_within_it() {
        let redact = hiding("sk-Key-12");
        for (text, shown) in [
            ("sk-Key-12", "***"),
            ("a SK-KEY-12, sk-key-12sk-Key-12 b", "a ***, ****** b"),
            ("cut off: sk-Key", "cut off: ***"),
            ("cut off: sk-", "cut off: sk-"),
            ("ßk-Key-12 \n\u{7} x", "ßk-Key-12 x"),
        ] {
            assert_eq!(redact.line(text), shown);
        }
        assert_eq!(Redact::default().line("sk-Key-12"), "sk-Key-12");
    }

    /// A proxy may have its own key and repeat that one.
    #[test]
    fn other_peoples_keys_are_redacted_too() {
        for (text, shown) in [
            (
                concat!(
                    "Incorrect API key provided: sk",
                    "-a1B2****wxyz. You can find"
                ),
                "Incorrect API key provided: ***. You can find",
            ),
            (
                "no route to http://proxy:hunter2@127.0.0.1:8080/",
                "no route to http://***@127.0.0.1:8080/",
            ),
            (
                "sent Authorization: Bearer a1B2c3D4e5F6g7",
                "sent Authorization: Bearer ***",
            ),
        ] {
            assert_eq!(hiding("sk-Key-12").line(text), shown);
        }
        let plain = "the field api_key is required; request req_0a1B2c3D4e5F6g7H8i9J0 of 10.0.0.7";
        assert_eq!(hiding("sk-Key-12").line(plain), plain);
    }

    #[test]
    fn a_key_with_quotation_marks_is_redacted_inside_json() {
        let key = r#"a"b\c"#;
        let json = serde_json::json!({ "said": key }).to_string();
        assert_eq!(hiding(key).line(&json), r#"{"said":"***"}"#);
        assert_eq!(hiding(key).line(key), "***");
    }

    proptest! {
        #[test]
        fn no_text_is_rendered_with_the_key(
            key in "[!-)+-~]{1,20}", before in any::<String>(), after in any::<String>(), cut in 0_usize..20,
        ) {
            let redact = hiding(&key);
            let shown = redact.line(&format!("{before}{key}{after}"));
            prop_assert!(shown.chars().count() <= LONGEST + 1);
            prop_assert!(!shown.contains(char::is_control));
            let visible = shown.replace("***", " ").to_ascii_lowercase();
            prop_assert!(!visible.contains(&key.to_ascii_lowercase()));
            let begun = key.get(..cut.min(key.len())).unwrap();
            let shown = redact.line(&format!("x {begun}")).replace("***", " ");
            prop_assert!(begun.len() < 4 || !shown.contains(begun));
        }
    }
}
