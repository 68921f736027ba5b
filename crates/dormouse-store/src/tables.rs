//! The tables of the file and the order of their keys.

use dormouse_contracts::{AssistantId, Seq};
use redb::TableDefinition;

type Bytes = &'static [u8];

/// Place of an event → its record.
pub(crate) const EVENTS: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("events");
/// Assistant → where its log ends.
pub(crate) const HEADS: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("heads");
/// Place of a snapshot → the snapshot.
pub(crate) const SNAPSHOTS: TableDefinition<'static, Bytes, Bytes> =
    TableDefinition::new("snapshots");
/// Name of a fact about the file → the fact.
pub(crate) const META: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("meta");

/// A key's assistant and place: the name, a zero byte (which no name contains), the place big-endian.
/// Compared byte by byte, keys of one assistant are neighbours and in the order of their places.
pub(crate) fn key(assistant: &AssistantId, seq: Seq) -> Vec<u8> {
    let name = assistant.as_str().as_bytes();
    let mut key = Vec::with_capacity(name.len() + 9);
    key.extend_from_slice(name);
    key.push(0);
    key.extend_from_slice(&seq.0.to_be_bytes());
    key
}

/// The assistant and place a key stands for, if it is a key at all.
pub(crate) fn parse_key(key: &[u8]) -> Option<(AssistantId, Seq)> {
    let (rest, seq) = key.split_last_chunk::<8>()?;
    let (zero, name) = rest.split_last()?;
    if *zero != 0 {
        return None;
    }
    let name = std::str::from_utf8(name).ok()?;
    Some((
        AssistantId::try_new(name).ok()?,
        Seq(u64::from_be_bytes(*seq)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assistant() -> impl Strategy<Value = AssistantId> {
        "[A-Za-z0-9_.-]{1,6}".prop_map(|name| AssistantId::try_new(name).unwrap())
    }

    proptest! {
        #[test]
        fn keys_sort_by_assistant_and_then_by_place(
            a in assistant(), b in assistant(), m in any::<u64>(), n in any::<u64>(),
        ) {
            prop_assert_eq!(parse_key(&key(&a, Seq(m))), Some((a.clone(), Seq(m))));
            let by_key = key(&a, Seq(m)).cmp(&key(&b, Seq(n)));
            prop_assert_eq!(by_key, (a.as_str(), m).cmp(&(b.as_str(), n)));
        }
    }

    #[test]
    fn bytes_that_are_no_key_are_not_taken_for_one() {
        assert_eq!(parse_key(b""), None);
        assert_eq!(parse_key(b"alice12345678"), None);
        assert_eq!(parse_key(b"\x0012345678"), None);
    }
}
