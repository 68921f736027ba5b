//! Lenient parsing of events.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// Parses the data of an event.
///
/// Some servers cut text between the two UTF-16 units of a character and escape each half, which is invalid JSON. Each
/// half becomes U+FFFD, so that the reply is not lost.
pub(crate) fn read<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(data).or_else(|error| match without_halves(data) {
        Some(whole) => serde_json::from_slice(&whole),
        None => Err(error),
    })
}

/// Returns the value, or the default if it has another type.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Returns JSON as text. Most servers send it as a string, some as the JSON value itself.
pub(crate) fn json_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Replaces the escapes of half a character; `None` if there are none.
fn without_halves(data: &[u8]) -> Option<Vec<u8>> {
    let mut whole = data.to_vec();
    let mut is_changed = false;
    let mut at = 0;
    while let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) {
        at += match (rest.first(), unit(rest), rest.get(6..).and_then(unit)) {
            (_, Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (_, Some(0xd800..0xe000), _) => {
                if let Some(digits) = whole.get_mut(at + 2..at + 6) {
                    digits.copy_from_slice(b"fffd");
                    is_changed = true;
                }
                6
            }
            // Skip the escaped character: a backslash there does not start another escape.
            (Some(b'\\'), _, _) => 2,
            _ => 1,
        };
    }
    is_changed.then_some(whole)
}

/// Parses the number of an escape such as `\u00e9` at the start of the text.
fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let mut digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    digits.try_fold(0, |number, digit| Some(number << 4 | digit?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        for (text, said) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ud83d\n\u00e9\ud83D""#, "\u{fffd}\n\u{e9}\u{fffd}"),
            (r#""\\ud83d\ude00""#, "\\ud83d\u{fffd}"),
        ] {
            assert_eq!(
                read::<Value>(text.as_bytes()).unwrap(),
                json!(said),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_json_stays_invalid() {
        for text in [
            r#""\ud83d"#,
            r#""\ud8"#,
            r#"\ud83d"#,
            "\"\\",
            "",
            "\"\u{1}\\ud83d\"",
        ] {
            assert!(read::<Value>(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_characters_are_read_as_they_are(text in any::<String>()) {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
            let written = format!("\"{}\"", units.collect::<String>());
            prop_assert_eq!(read::<Value>(written.as_bytes()).unwrap(), json!(text));
            prop_assert_eq!(without_halves(written.as_bytes()), None);
        }

        #[test]
        fn units_in_any_order_are_read(units in prop::collection::vec(any::<u16>(), 0..20)) {
            let written: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let said = String::from_utf16_lossy(&units);
            prop_assert_eq!(read::<Value>(format!("\"{written}\"").as_bytes()).unwrap(), json!(said));
        }
    }
}
