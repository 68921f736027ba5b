//! What is scrubbed, and what is unchanged.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn scrubbed(text: &str) -> String {
    Scrubber::new(ScrubRules::new()).text(text)
}

fn with_secret(secret: &str) -> Scrubber {
    Scrubber::new(ScrubRules::new().with_secret(secret).unwrap())
}

#[test]
fn equal_secrets_have_equal_placeholders() {
    let text = "alice@example.org, bob@example.org, Alice@Example.org";
    assert_eq!(scrubbed(text), "[email-1], [email-2], [email-1]");
}

#[test]
fn a_known_secret_has_one_placeholder_in_all_its_forms() {
    let mut scrubber = with_secret("p\"w/ö rd&more");
    let written = json!({ "a": "p\"w/ö rd&more", "b": "{\"c\":\"p\\\"w/ö rd&more\"}" }).to_string();
    assert_eq!(
        scrubber.text(&written),
        r#"{"a":"[secret-1]","b":"{\"c\":\"[secret-1]\"}"}"#
    );
    assert_eq!(
        scrubber.target("/a?b=p%22w%2F%C3%B6+rd%26more"),
        "/a?b=[secret-1]"
    );
    assert_eq!(
        scrubber.target("/a?key=p%22w%2f%c3%b6%20rd%26more"),
        "/a?key=[secret-1]"
    );
}

#[test]
fn a_secret_name_makes_a_json_value_secret() {
    let text =
        r#"{"api_key": "y", "token": "Hi", "token_type": "bearer", "password":"a b", "n": 1}"#;
    let expected = r#"{"api_key": "[secret-1]", "token": "Hi", "token_type": "bearer", "password":"[secret-2]", "n": 1}"#;
    assert_eq!(scrubbed(text), expected);
}

/// A memory hides all of them, and a recording goes to other people.
#[test]
fn passwords_hidden_in_memories_are_hidden_in_recordings() {
    for (text, expected) in [
        ("my password is 123456", "my password is [secret-1]"),
        (
            "the password for the north gate is Mellon99!",
            "the password for the north gate is [secret-1]",
        ),
        ("api key: 9f8e7d", "api key: [secret-1]"),
        ("the token is a1b2c3d4", "the token is [secret-1]"),
        ("client-secret => q1w2e3", "client-secret => [secret-1]"),
        ("pass word: tiger5", "pass word: [secret-1]"),
    ] {
        assert_eq!(scrubbed(text), expected);
    }
}

#[test]
fn a_number_of_json_that_is_a_card_becomes_a_string() {
    assert_eq!(
        scrubbed(r#"{"n":4111111111111111,"m":[1732171234567]}"#),
        r#"{"n":"[card-1]","m":[1732171234567]}"#
    );
}

#[test]
fn every_other_byte_of_a_body_is_unchanged() {
    let body =
        "data: {\"choices\":[ ],\"usage\" :{\"total\":1.0e2}}\r\n\r\n: comment\n\ndata: [DONE]\n\n";
    assert_eq!(scrubbed(body), body);
    let bytes = b"\xff\xfe alice@example.org \x00\x80";
    assert_eq!(
        Scrubber::new(ScrubRules::new()).bytes(bytes),
        b"\xff\xfe [email-1] \x00\x80"
    );
}

#[test]
fn a_secret_spread_over_many_events_is_found() {
    let event = |index: usize, text: &str| {
        let event = json!({ "id": "chatcmpl-1", "choices": [{ "delta": { "content": text }, "index": index }] });
        format!("data: {event}\n\n")
    };
    // Two interleaved replies.
    let body: String = [
        (0, "Write to al"),
        (1, "sk-ab"),
        (0, "ice@exam"),
        (1, "cdefgh12"),
        (0, "ple.org now"),
        (1, "345 !"),
    ]
    .map(|(index, text)| event(index, text))
    .concat();
    let expected: String = [
        (0, "Write to [email-1]"),
        (1, "[secret-1]"),
        (0, ""),
        (1, ""),
        (0, " now"),
        (1, " !"),
    ]
    .map(|(index, text)| event(index, text))
    .concat();
    assert_eq!(scrubbed(&body), expected);
}

#[test]
fn call_arguments_split_over_json_lines_are_read_together() {
    let line = |text: &str| format!("{}\n", json!({ "message": { "arguments": text } }));
    let body = [line("{\"pass"), line("word\": \"hun"), line("ter22\"}")].concat();
    let expected = [line("{\"pass"), line("word\": \"[secret-1]"), line("\"}")].concat();
    assert_eq!(scrubbed(&body), expected);
}

#[test]
fn a_body_cut_inside_a_secret_does_not_end_with_a_part_of_it() {
    let mut scrubber = with_secret("correct horse battery");
    assert_eq!(
        scrubber.text(r#"{"a":"x","b":"the correct hor"#),
        r#"{"a":"x","b":"the [secret-1]"#
    );
    assert_eq!(
        scrubber.text("{\"a\":\"-----BEGIN RSA PRIVATE KEY-----\\nMII"),
        "{\"a\":\"[secret-2]"
    );
}

#[test]
fn a_scrubbed_text_is_not_scrubbed_again() {
    let text = "Authorization: Bearer abcdefgh12345678 from 203.0.113.9, password=hunter22";
    let once = scrubbed(text);
    assert_eq!(
        once,
        "Authorization: Bearer [secret-1] from [ip-1], password=[secret-2]"
    );
    assert_eq!(scrubbed(&once), once);
}

#[test]
fn debug_output_of_rules_and_scrubber_has_no_secret() {
    let mut scrubber = with_secret("correct horse battery");
    assert_eq!(scrubber.text("alice@example.org"), "[email-1]");
    let shown = format!("{scrubber:?}");
    assert!(
        !shown.contains("horse") && !shown.contains("alice"),
        "{shown}"
    );
}

#[test]
fn a_text_of_brackets_takes_linear_work() {
    for text in [
        "[".repeat(300_000),
        "[{\"a\":".repeat(50_000),
        "{\"a".repeat(100_000),
        "eyJ-".repeat(80_000),
        "a@".repeat(150_000),
    ] {
        assert_eq!(scrubbed(&text).len(), text.len());
    }
}

/// JSON as a server may send it.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~\\n\\u{e4}\\u{1f600}]{0,24}".prop_map(Value::from),
        Just(json!("write to alice@example.org or +49 30 1234567")),
        Just(json!("sk-abcdefgh0123456789")),
        Just(json!(4_111_111_111_111_111_u64)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let names = "[a-z_\"\\\\]{0,8}|password|api_key";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_always_stays_json(value in values(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let scrubbed = scrubbed(&text);
        let read: Result<Value, _> = serde_json::from_str(&scrubbed);
        prop_assert!(read.is_ok(), "{text} became {scrubbed}");
        prop_assert!(!scrubbed.contains("alice@example.org"));
        prop_assert!(!scrubbed.contains("sk-abcdefgh0123456789"));
    }

    #[test]
    fn scrubbing_is_idempotent(text in "[ -~\\n]{0,60}|[a-z0-9@.:/+=\"-]{0,60}") {
        let once = scrubbed(&text);
        prop_assert_eq!(scrubbed(&once), once);
    }

    #[test]
    fn a_secret_never_survives_however_a_stream_is_cut(
        secret in "[A-Za-z0-9+/=_. \"\\\\\\u{e4}-]{12,24}".prop_filter("not blank", |text| text.trim().len() >= 10),
        before in "[a-z \"]{0,10}",
        after in "[a-z \"]{0,10}",
        in_events in prop::collection::vec(0_usize..60, 0..6),
        in_chunks in prop::collection::vec(0_usize..900, 0..12),
    ) {
        let said = format!("{before}{secret}{after}");
        let body: String = cut(&said, &in_events).into_iter()
            .map(|piece| format!("data: {}\n\n", json!({ "delta": { "text": piece }, "index": 0 })))
            .collect();
        let mut stream = Stream::default();
        let mut start = 0;
        let mut borders = in_chunks;
        borders.retain(|border| *border < body.len());
        borders.push(body.len());
        borders.sort_unstable();
        for border in borders {
            stream.push(&body.as_bytes()[start..border]);
            start = border;
        }
        with_secret(&secret).stream(&mut stream);

        let joined = String::from_utf8(stream.bytes().to_vec()).unwrap();
        let joined_strings: String = joined.split("\n\n").filter_map(|event| event.strip_prefix("data: "))
            .map(|event| serde_json::from_str::<Value>(event).unwrap()["delta"]["text"].as_str().unwrap().to_owned())
            .collect();
        let secret = secret.trim();
        prop_assert!(!joined_strings.contains(secret), "{joined_strings}");
        prop_assert!(!joined.contains(secret), "{joined}");
        // What stands before it may make it a password by a rule as well, which counts as another secret.
        prop_assert!(joined_strings.contains("[secret-"), "{joined_strings}");
    }
}

/// Splits the text near these positions.
fn cut(text: &str, places: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| crate::slices::boundary(text, *place))
        .collect();
    places.push(text.len());
    places.sort_unstable();
    let mut start = 0;
    let pieces = places.into_iter().map(|end| {
        let piece = text[start..end].to_owned();
        start = end;
        piece
    });
    pieces.collect()
}
