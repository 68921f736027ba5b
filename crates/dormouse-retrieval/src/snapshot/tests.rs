use dormouse_contracts::Timestamp;
use proptest::prelude::*;

use super::{SnapshotDecodeError, header::HEAD_BYTES};
use crate::{Config, Index, SearchQuery, Unit};

fn sample() -> Index {
    let mut index = Index::default();
    for id in 0..40_u64 {
        index.insert(&Unit {
            id: id * 7,
            text: ["Where is the kettle?", "In the blue box", "茶 🍵", ""][(id % 4) as usize],
            speaker: [Some("Alice"), Some("Bob"), None][(id % 3) as usize].map(Into::into),
            thread: [Some("kitchen"), None][(id % 5 == 0) as usize],
            at: Timestamp::from_micros(i64::try_from(id * id).unwrap() * 60_000_000 - 5),
        });
    }
    index
}

#[test]
fn a_decoded_index_answers_as_the_one_encoded() {
    let index = sample();
    let decoded = Index::decode(&index.encode(), Config::default()).unwrap();
    assert_eq!(decoded.len(), index.len());
    for text in ["kettle", "the blue box of Bob", "茶", "Alice", ""] {
        let query = SearchQuery::new(text);
        assert_eq!(
            decoded.search(&query, 50),
            index.search(&query, 50),
            "{text}"
        );
    }
    for id in 0..300 {
        assert_eq!(decoded.session(id), index.session(id));
        assert_eq!(decoded.neighbours(id, 2), index.neighbours(id, 2));
    }
    assert_eq!(decoded.encode(), index.encode());
}

#[test]
fn an_empty_index_is_encoded_too() {
    let decoded = Index::decode(&Index::default().encode(), Config::default()).unwrap();
    assert!(decoded.is_empty());
}

#[test]
fn equal_units_encode_to_equal_bytes_after_any_history() {
    let mut index = sample();
    let bytes = index.encode();
    for id in [0, 70, 140] {
        let unit = Unit {
            id: id + 1,
            text: "gone soon",
            speaker: Some("Carol".into()),
            thread: Some("kitchen"),
            at: Timestamp::EPOCH,
        };
        index.insert(&unit);
        index.remove(id + 1);
    }
    assert_eq!(index.encode(), bytes);
}

#[test]
fn every_truncation_is_reported() {
    let bytes = sample().encode();
    for length in 0..bytes.len() {
        let error = Index::decode(&bytes[..length], Config::default()).unwrap_err();
        assert!(matches!(
            error,
            SnapshotDecodeError::NotAnIndex | SnapshotDecodeError::Damaged
        ));
    }
}

#[test]
fn another_version_and_another_configuration_are_reported() {
    let mut bytes = sample().encode();
    let other = Config {
        max_terms_per_unit: 5,
        ..Config::default()
    };
    assert_eq!(
        Index::decode(&bytes, other).unwrap_err(),
        SnapshotDecodeError::OtherConfig
    );
    bytes[4] = 200;
    assert_eq!(
        Index::decode(&bytes, Config::default()).unwrap_err(),
        SnapshotDecodeError::Version(200)
    );
}

/// Makes the checksum fit again, so that what is behind it is read.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&bytes[HEAD_BYTES..]);
    let length = (bytes.len() - HEAD_BYTES) as u64;
    bytes[8..16].copy_from_slice(&length.to_le_bytes());
    bytes[16..20].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

proptest! {
    #[test]
    fn a_changed_byte_is_always_reported(at in 0_usize..10_000, by in 1_u8..) {
        let mut bytes = sample().encode();
        let at = at % bytes.len();
        bytes[at] ^= by;
        prop_assert!(Index::decode(&bytes, Config::default()).is_err());
    }

    #[test]
    fn corrupt_bytes_with_a_valid_checksum_never_panic(
        changes in proptest::collection::vec((0_usize..10_000, any::<u8>()), 1..8),
        cut in 0_usize..10_000,
    ) {
        let mut bytes = sample().encode();
        for (at, byte) in changes {
            let at = HEAD_BYTES + at % (bytes.len() - HEAD_BYTES);
            bytes[at] = byte;
        }
        bytes.truncate(HEAD_BYTES.max(bytes.len() - cut % 64));
        if let Ok(index) = Index::decode(&sealed(bytes), Config::default()) {
            let found = index.search(&SearchQuery::new("kettle box 茶"), 10);
            prop_assert!(found.iter().all(|found| index.contains(found.id)));
        }
    }

    #[test]
    fn any_bytes_never_panic(rest in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = sample().encode();
        bytes.truncate(HEAD_BYTES);
        bytes.extend(rest);
        drop(Index::decode(&sealed(bytes), Config::default()));
    }
}
