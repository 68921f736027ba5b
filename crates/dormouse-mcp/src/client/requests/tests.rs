use std::iter::repeat_n;

use super::*;

fn gate() -> RequestGate {
    let allowed = McpRequests {
        model_requests: 2,
        ..McpRequests::default()
    };
    RequestGate::new("bad", allowed, SharedModel::default())
}

fn wanted(texts: impl IntoIterator<Item = String>) -> CreateMessageRequestParams {
    let blocks = texts.into_iter().map(SamplingMessageContentBlock::text);
    let message = SamplingMessage::new_multiple(Role::User, blocks.collect());
    CreateMessageRequestParams::new(vec![message], 10)
}

#[test]
fn a_request_to_the_model_has_a_bound_of_parts() {
    let request = |count| gate().request(&wanted(repeat_n(String::new(), count)));
    assert!(request(MOST_PARTS).is_ok());
    for count in [MOST_PARTS + 1, 100_000] {
        assert!(matches!(request(count), Err(Refusal::TooLong)), "{count}");
    }
    let mut empty = wanted([]);
    empty.messages = repeat_n(empty.messages[0].clone(), 100_000).collect();
    let refused = gate().request(&empty);
    assert!(matches!(refused, Err(Refusal::TooLong)));
}

#[test]
fn what_the_model_gets_is_bounded_after_escaping() {
    // A letter, what JSON escapes, and what is hidden.
    for letter in ["x", "\"", "\u{202e}", "\u{e0041}"] {
        let bytes = |count| {
            let request = gate().request(&wanted([letter.repeat(count)])).ok()?;
            match request.messages.as_slice() {
                [_, Message::User { content }] => Some(content.len()),
                other => panic!("{other:?}"),
            }
        };
        let sizes: Vec<_> = (8..=14).map(|power| bytes(1 << power)).collect();
        assert!(sizes[0] > Some(256), "{letter:?}: {sizes:?}");
        assert!(
            sizes.iter().all(|bytes| *bytes <= Some(PROMPT_LIMIT)),
            "{letter:?}: {sizes:?}"
        );
        assert_eq!(sizes[6], None, "{letter:?}");
    }
    let hidden = wanted(["\u{e0041}".repeat(PROMPT_LIMIT / 8)]);
    assert!(matches!(gate().request(&hidden), Err(Refusal::TooLong)));
}
