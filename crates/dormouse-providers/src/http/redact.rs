//! What a server sends, made fit to be told: one line, bounded, and without the key.

use crate::Secret;

/// The longest text that is kept, in characters.
pub(crate) const LONGEST: usize = 300;

/// A beginning of the key that is cut off by the end of a text is hidden from this length on, in bytes.
const TELLTALE: usize = 4;

/// Takes the key out of what goes into errors. Every word of a server that is kept goes through it: servers repeat
/// the key in complaints, and a proxy may repeat it anywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redact {
    /// The key in lower case, as it is and as it stands within JSON text.
    forms: Vec<String>,
}

impl Redact {
    /// Hides this key, if there is one.
    pub(crate) fn new(key: Option<&Secret>) -> Self {
        let plain = key.map(|key| key.expose().to_ascii_lowercase());
        let escaped = plain.as_ref().map(|key| {
            let quoted = serde_json::Value::from(key.as_str()).to_string();
            quoted.trim_matches('"').to_owned()
        });
        // The longer one first, or what is left of it would be told.
        let mut forms: Vec<String> = [escaped, plain].into_iter().flatten().collect();
        forms.dedup();
        Self { forms }
    }

    /// The text in one line, without control characters, and at most [`LONGEST`] characters of it.
    pub(crate) fn line(&self, text: &str) -> String {
        let text = self.hide(text).replace(char::is_control, " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().nth(LONGEST).is_none() {
            return text;
        }
        let kept: String = text.chars().take(LONGEST).collect();
        format!("{kept}…")
    }

    fn hide(&self, text: &str) -> String {
        let forms = self.forms.iter();
        forms.fold(text.to_owned(), |text, form| hide(&text, form))
    }
}

/// The text with `***` for `key`, in whatever case, and for a beginning of it at the very end: a text may have been
/// cut off within the key.
fn hide(text: &str, key: &str) -> String {
    // ASCII alone changes its case here, so that every place is the same in both.
    let lower = text.to_ascii_lowercase();
    let mut hidden = String::with_capacity(text.len());
    let mut told = 0;
    for (at, found) in lower.match_indices(key) {
        hidden.push_str(text.get(told..at).unwrap_or_default());
        hidden.push_str("***");
        told = at + found.len();
    }
    let rest = text.get(told..).unwrap_or_default();
    let beginning = (TELLTALE..key.len()).rev().find_map(|length| {
        let at = rest.len().checked_sub(length)?;
        let end = rest.get(at..)?;
        end.eq_ignore_ascii_case(key.get(..length)?).then_some(at)
    });
    match beginning {
        Some(at) => {
            hidden.push_str(rest.get(..at).unwrap_or_default());
            hidden.push_str("***");
        }
        None => hidden.push_str(rest),
    }
    hidden
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
        for (text, told) in [
            ("sk-Key-12", "***"),
            ("a SK-KEY-12, sk-key-12sk-Key-12 b", "a ***, ****** b"),
            ("cut off: sk-Key", "cut off: ***"),
            ("cut off: sk-", "cut off: sk-"),
            ("ßk-Key-12 \n\u{7} x", "ßk-Key-12 x"),
        ] {
            assert_eq!(redact.line(text), told);
        }
        assert_eq!(Redact::default().line("sk-Key-12"), "sk-Key-12");
    }

    #[test]
    fn a_key_with_quotation_marks_is_hidden_within_json_too() {
        let key = r#"a"b\c"#;
        let json = serde_json::json!({ "said": key }).to_string();
        assert_eq!(hiding(key).line(&json), r#"{"said":"***"}"#);
        assert_eq!(hiding(key).line(key), "***");
    }

    proptest! {
        #[test]
        fn no_text_is_told_with_the_key_in_it(
            key in "[!-)+-~]{1,20}", before in any::<String>(), after in any::<String>(), cut in 0_usize..20,
        ) {
            let redact = hiding(&key);
            let told = redact.line(&format!("{before}{key}{after}"));
            prop_assert!(told.chars().count() <= LONGEST + 1);
            prop_assert!(!told.contains(char::is_control));
            let shown = told.replace("***", " ").to_ascii_lowercase();
            prop_assert!(!shown.contains(&key.to_ascii_lowercase()));
            let begun = key.get(..cut.min(key.len())).unwrap();
            let told = redact.line(&format!("x {begun}")).replace("***", " ");
            prop_assert!(begun.len() < TELLTALE || !told.contains(begun));
        }
    }
}
