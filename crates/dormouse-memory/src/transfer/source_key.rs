//! The key of a line that has none, so that a line that is imported twice is stored once.

use dormouse_contracts::{AssistantId, Timestamp};
use sha2::{Digest, Sha256};

use crate::record::RecordId;

/// The key of a record of this assistant that has no other one.
pub(crate) fn own_key(assistant: &AssistantId, id: RecordId) -> String {
    format!("{assistant}:{id}")
}

/// The record that a key of this assistant names.
pub(crate) fn own_record(assistant: &str, key: &str) -> Option<RecordId> {
    let (owner, id) = key.rsplit_once(':')?;
    id.parse().ok().filter(|_| owner == assistant)
}

/// A key made from the text, the speaker, the time and the thread: 128 bits of SHA-256. It differs if any of them differs.
#[must_use]
pub fn source_key_of(
    speaker: Option<&str>,
    at: Option<Timestamp>,
    text: &str,
    thread: Option<&str>,
) -> String {
    let mut hash = Sha256::new();
    let at = at.map(|at| at.as_micros().to_string());
    for part in [speaker, at.as_deref(), Some(text), thread] {
        // The lengths distinguish "ab" and "c" from "a" and "bc", and the highest one marks a missing part.
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hash.update(length.to_le_bytes());
        hash.update(part.unwrap_or_default());
    }
    let digits = hash.finalize();
    let digits = digits.iter().take(16).map(|byte| format!("{byte:02x}"));
    format!("content:{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_differ_if_any_part_differs() {
        let noon = Some(Timestamp::from_micros(1));
        let origins = [
            source_key_of(None, None, "tea", None),
            source_key_of(Some(""), None, "tea", None),
            source_key_of(Some("tea"), None, "", None),
            source_key_of(None, noon, "tea", None),
            source_key_of(None, None, "tea", Some("")),
            source_key_of(None, None, "te", Some("a")),
        ];
        for (place, origin) in origins.iter().enumerate() {
            assert_eq!(
                origins.iter().position(|other| other == origin),
                Some(place)
            );
        }
        assert_eq!(source_key_of(None, noon, "tea", None), origins[3]);
    }
}
