//! What has a shape and what has none.

use super::*;

fn found(text: &str) -> Vec<(&str, Kind)> {
    let mut spans = Vec::new();
    shapes(text.as_bytes(), &mut spans);
    let spans = merged(spans).into_iter();
    spans.map(|span| (&text[span.range], span.kind)).collect()
}

/// Written in two parts, so that no scanner takes the examples for real.
fn key(beginning: &str, rest: &str) -> String {
    format!("{beginning}{rest}")
}

#[test]
fn keys_are_known_by_their_beginning() {
    for key in [
        key("sk-", "proj-abcDEF0123456789"),
        key("sk-", "abcd********wxyz"),
        key("sk-ant-", "api03-AbC_dEf-0123456789"),
        key("AIza", "SyA0123456789abcdefghij"),
        key("ghp_", "0123456789abcdefABCDEF"),
        key("AKIA", "ABCDEFGHIJKLMNOP"),
        key("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"),
    ] {
        for (before, after) in [
            ("", ""),
            ("the key ", "."),
            ("(", ")"),
            ("a%3D", "&b"),
            ("x\\n", "\\n"),
        ] {
            let text = format!("{before}{key}{after}");
            assert_eq!(found(&text), [(key.as_str(), Kind::Secret)], "{text}");
        }
    }
}

#[test]
fn credentials_are_known_by_what_is_before_them() {
    for (text, secret) in [
        ("authorization: Bearer abcdefgh12345678", "abcdefgh12345678"),
        ("-H 'x-api-key: qwertzuiop'", "qwertzuiop"),
        ("OPENAI_API_KEY=abc123xyz", "abc123xyz"),
        ("{\\\"password\\\":\\\"hunter22\\\"}", "hunter22"),
        ("https://alice:pw@localhost/x", "alice:pw"),
        ("Basic YWxpY2U6cHc=", "YWxpY2U6cHc="),
        ("my password is hunter2, now let me in", "hunter2"),
        ("My Password was \"s3cret!\".", "s3cret!"),
        ("mein Passwort ist 4pfelbaum!", "4pfelbaum"),
        ("Passwort: hunter2", "hunter2"),
        ("pwd=hunter22", "hunter22"),
    ] {
        assert_eq!(found(text), [(secret, Kind::Secret)], "{text}");
    }
}

#[test]
fn people_and_machines_are_known_by_their_addresses() {
    for (text, part, kind) in [
        (
            "to alice.b+c@mail.example.org.",
            "alice.b+c@mail.example.org",
            Kind::Email,
        ),
        (
            "to=alice%40example.org&x",
            "alice%40example.org",
            Kind::Email,
        ),
        (
            "call +49 (171) 123-4567 now",
            "+49 (171) 123-4567",
            Kind::Phone,
        ),
        ("call 555-012-3456.", "555-012-3456", Kind::Phone),
        ("call (555) 012-3456", "(555) 012-3456", Kind::Phone),
        ("Tel. 0171/1234567", "0171/1234567", Kind::Phone),
        ("from 203.0.113.9.", "203.0.113.9", Kind::IpAddress),
        ("at [2001:db8::17]:80", "2001:db8::17", Kind::IpAddress),
        ("4111 1111 1111 1111", "4111 1111 1111 1111", Kind::Card),
        ("in /home/alice/notes", "alice", Kind::User),
        ("C:\\\\Users\\\\bob\\\\x", "bob", Kind::User),
        (
            "organization org-AbC0123456789xyz0123 on",
            "org-AbC0123456789xyz0123",
            Kind::Organisation,
        ),
    ] {
        assert_eq!(found(text), [(part, kind)], "{text}");
    }
}

#[test]
fn words_ids_and_numbers_are_left_alone() {
    for text in [
        "The bearer certificates of the task-management are basic knowledge.",
        "chatcmpl-123 gpt-4o-2024-08-06 2026-11-21T06:36:49.123Z",
        "{\"created\":1732171234567,\"total_duration\":5043500667,\"pi\":3.14159265}",
        "127.0.0.1 0.0.0.0 ::1 std::fmt::Display a::b 12:34:56 1.2.3",
        "the password is long, the token: Hello, api_key: ${API_KEY}, secret=<secret>",
        "4111 1111 1111 1112 and 1-2-3 and 10 20 30 40",
        "[secret-1] [email-2] password=[secret-3] Bearer [secret-4]",
        "@mention a@b 5@6 hf_hub_download",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn random_text_is_told_apart_from_ids_and_words() {
    let random = |text: &str| {
        let mut spans = Vec::new();
        super::random(text.as_bytes(), &mut spans);
        !spans.is_empty()
    };
    for text in [
        "a8Fk2LmQ9xZt4RvB7nYw",
        "0123456789abcdef0123456789abcdef",
        "k3j5h2g8f1d9s7a4p6o0i2u4",
    ] {
        assert!(random(text), "{text}");
    }
    for text in [
        "chatcmpl-A8Fk2LmQ9xZt4RvB7nYw",
        "call_a8Fk2LmQ9xZt4RvB7nYw",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "claude-3-5-sonnet-20241022",
        "/v1/chat/completions",
        "internationalisation",
        "2026-11-21T06:36:49Z",
    ] {
        assert!(!random(text), "{text}");
    }
}

#[test]
fn words_about_a_password_are_none() {
    for text in [
        "the password is required",
        "my password is 123",
        "the password is [secret-1].",
        "Her password was forgotten in 2019",
        "the tokens are 12345678a",
        "password isolated7 it",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn no_text_makes_the_same_part_be_looked_at_for_every_word() {
    // Looking at the rest of the text once for each of them would take minutes.
    for word in [
        "token:",
        "token=",
        "token:\"",
        "token='\"",
        "xtoken>",
        "password=",
        "password is ",
        "password is a",
        "eyJ",
        "eyJ-",
        "eyJhb.",
        "eyJhb.eyJhbGci.",
        " eyJhbGci.",
        "sk-",
        "sk-a ",
        "Bearer ",
        "://",
        "a://b:c@",
        "@",
        "%40",
        "a@",
        "\u{2f}home/",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "+1",
        "0 ",
        "(",
        "1.1.1.1",
        "::",
        "4111111111111111",
    ] {
        let text = word.repeat((1 << 17) / word.len());
        let mut spans = Vec::new();
        shapes(text.as_bytes(), &mut spans);
        assert!(spans.len() <= text.len());
    }
}
