use proptest::prelude::*;

use super::*;

fn assistant() -> impl Strategy<Value = AssistantId> {
    "[A-Za-z0-9_.-]{1,6}".prop_map(|name| AssistantId::try_new(name).unwrap())
}

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

fn bob() -> AssistantId {
    AssistantId::try_new("bob").unwrap()
}

fn event(payload: Vec<u8>) -> NewEvent {
    NewEvent {
        at: Timestamp::from_micros(-7),
        kind: "heard",
        schema: 3,
        payload,
    }
}

proptest! {
    #[test]
    fn keys_sort_by_assistant_and_then_by_sequence_number(
        a in assistant(), b in assistant(), m in any::<u64>(), n in any::<u64>(),
    ) {
        prop_assert_eq!(parse_key(&key(&a, Seq(m))), Some((a.clone(), Seq(m))));
        let by_key = key(&a, Seq(m)).cmp(&key(&b, Seq(n)));
        prop_assert_eq!(by_key, (a.as_str(), m).cmp(&(b.as_str(), n)));
    }

    #[test]
    fn an_encoded_event_is_decoded_whole(
        seq in any::<u64>(),
        at in any::<i64>(),
        schema in any::<u16>(),
        payload in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let new = NewEvent { at: Timestamp::from_micros(at), kind: "heard", schema, payload: payload.clone() };
        let bytes = encode_event(&alice(), Seq(seq), &new);
        prop_assert_eq!(decode_event(&bytes), Ok(OwnedEvent {
            assistant: alice(),
            event: StoredEvent {
                seq: Seq(seq),
                at: Timestamp::from_micros(at),
                kind: "heard".into(),
                schema,
                payload,
            },
        }));
    }
}

#[test]
fn bytes_that_are_not_a_key_are_rejected() {
    assert_eq!(parse_key(b""), None);
    assert_eq!(parse_key(b"alice12345678"), None);
    assert_eq!(parse_key(b"\x0012345678"), None);
}

#[test]
fn an_event_at_another_position_is_damaged() {
    let bytes = encode_event(&alice(), Seq(4), &event(b"tea".to_vec()));
    assert!(decode_event_at(&alice(), Seq(4), &bytes).is_ok());
    let elsewhere = [
        decode_event_at(&alice(), Seq(5), &bytes),
        decode_event_at(&bob(), Seq(4), &bytes),
    ];
    assert_eq!(elsewhere, [const { Err(FrameFault::Damaged) }; 2]);
}

#[test]
fn the_bytes_of_format_1_are_these() {
    let bytes = encode_event(&alice(), Seq(4), &event(b"tea".to_vec()));
    let mut expected = vec![0xFE, b'd', b'e', 0xFF];
    expected.extend([0; 4]); // the checksum, computed below
    expected.extend([45 + 1, 0, 0, 0]);
    expected.extend([1, 0]);
    expected.extend([3, 0]);
    expected.extend([4, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0xF9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    expected.extend([5, 5]);
    expected.extend(*b"aliceheardtea");
    let length = u32::try_from(expected.len()).unwrap();
    expected[8..12].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&expected[8..]);
    expected[4..8].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(bytes, expected);
}

#[test]
fn kinds_and_payloads_have_bounds() {
    let kind = |kind| NewEvent {
        kind,
        ..event(Vec::new())
    };
    assert!(!is_acceptable(&kind("")));
    assert!(!is_acceptable(&kind("gehört")));
    assert!(!is_acceptable(&kind(
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    )));
    assert!(is_acceptable(&event(vec![0; MAX_PAYLOAD_BYTES])));
    assert!(!is_acceptable(&event(vec![0; MAX_PAYLOAD_BYTES + 1])));
}

#[test]
fn a_head_is_valid_for_its_own_assistant_only() {
    let bytes = encode_head(&alice(), Seq(9));
    assert_eq!(decode_head(&alice(), &bytes), Ok(Seq(9)));
    assert_eq!(decode_head(&bob(), &bytes), Err(FrameFault::Damaged));
}
