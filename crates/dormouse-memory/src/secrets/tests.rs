use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// What a secret becomes, and nothing else of its text.
#[test]
fn secrets_are_masked_by_what_they_are() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
    let cases = [
        // Keys of known providers. All of them are made up.
        (
            "use sk-abcdEFGH1234ijklMNOP5678qrst now",
            "use [secret: api key] now",
        ),
        ("sk-ant-api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3", "[secret: api key]"),
        (
            "sk-or-v1-0123456789abcdef0123456789abcdef",
            "[secret: api key]",
        ),
        (
            "(ghp_16C7e42F292c6912E7710c838347Ae178B4a)",
            "([secret: api key])",
        ),
        (
            "github_pat_11ABCDEFG0aBcDeFgHiJkL_more",
            "[secret: api key]",
        ),
        ("xoxb-123456789012-abcdefghijkl", "[secret: api key]"),
        ("AKIAIOSFODNN7EXAMPLE.", "[secret: api key]."),
        (
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            "[secret: api key]",
        ),
        ("glpat-ABCDEFGHIJ0123456789", "[secret: api key]"),
        (
            "npm_abcdefghijklmnopqrstuvwxyz0123456789",
            "[secret: api key]",
        ),
        ("hf_abcdefghijKLMNOPQRST0123456789", "[secret: api key]"),
        (
            "https://example.com/sk-abcdEFGH1234ijklMNOP5678qrst",
            "https://example.com/[secret: api key]",
        ),
        // Told.
        (
            "the password is hunter2.",
            "the password is [secret: password].",
        ),
        (
            "My password was \"open sesame\", he said",
            "My password was \"[secret: password]\", he said",
        ),
        (
            "The password for the north gate is Mellon99!",
            "The password for the north gate is [secret: password]",
        ),
        (
            "Password: swordfish\nBob nods",
            "Password: [secret: password]\nBob nods",
        ),
        (
            "password=swordfish&user=bob",
            "password=[secret: password]&user=bob",
        ),
        ("DB_PASSWORD='a b c d'", "DB_PASSWORD='[secret: password]'"),
        (
            "{\"apiKey\": \"abcd\"}",
            "{\"apiKey\": \"[secret: api key]\"}",
        ),
        (
            "config[\"password\"] = \"tiger5\"",
            "config[\"password\"] = \"[secret: password]\"",
        ),
        ("api key: 9f8e7d", "api key: [secret: api key]"),
        (
            "client-secret => q1w2e3",
            "client-secret => [secret: api key]",
        ),
        ("the token is a1b2c3d4", "the token is [secret: token]"),
        ("?token=abc123def&x=1", "?token=[secret: token]&x=1"),
        (
            "Authorization: Bearer abcdef123456",
            "Authorization: Bearer [secret: token]",
        ),
        ("my password is 123456", "my password is [secret: password]"),
        ("pwd：geheim", "pwd：[secret: password]"),
        // In addresses.
        (
            "postgres://bob:tiger@db/x",
            "postgres://bob:[secret: password]@db/x",
        ),
        ("amqp://a:b@c:d@host", "amqp://a:[secret: password]@host"),
        // Signed tokens, private keys.
        (jwt, "[secret: token]"),
        (
            "key:\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nbye",
            "key:\n[secret: private key]\nbye",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIEvQ",
            "[secret: private key]",
        ),
        // Random text.
        (
            "wJa1rXUtn4FEM/K7MD2NG/bPx9RfiCYzQ8pL5Ke",
            "[secret: random key]",
        ),
        ("dGhpcyBJcyBB7x9Qp3Rk2LmZ8vT1==", "[secret: random key]"),
        ("k3j9x0q2m5v8b1n4c7z6l0p9o8i7u6y5", "[secret: random key]"),
        (
            "4f3c2b1a09876543210fedcba98765434f3c2b1a09876543210fedcba9876543",
            "[secret: random key]",
        ),
        // Cards: numbers of test cards.
        (
            "pay 4111 1111 1111 1111 now",
            "pay [secret: card number] now",
        ),
        ("378282246310005", "[secret: card number]"),
        ("3782-822463-10005,", "[secret: card number],"),
        ("5555555555554444", "[secret: card number]"),
    ];
    for (text, masked) in cases {
        assert_eq!(mask(text), masked, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let texts = [
        "",
        "the password is long",
        "The password is required. Please enter your password.",
        "Alice forgot her password again, and the token too.",
        "the password is case-sensitive and well-kept",
        "Password: the one you know from last time",
        "Password: required",
        "password: ********",
        "password=<password>",
        "password=${DB_PASSWORD}",
        "the secret is out",
        "the secret is that she loves tea",
        "The secret: bake it slowly, at level-10 heat.",
        "the token is on the table, worth 50 gold",
        "The token is 2 coins wide",
        "max_tokens: 4096",
        "token_count = 1234567",
        "the password for the vault is held by 3 guards",
        "He wrote a paper on passwords: hunting and storing.",
        "password hashing is slow",
        "risk-assessment-of-the-2024-season-and-more",
        "sk-learn-contrib-is-a-nice-package-2024",
        "task sk-1234",
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "d41d8cd98f00b204e9800998ecf8427e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "2026-11-21T03:31:33.123456Z",
        "1795219200999999",
        "call +49 4111 1111 111",
        "order 4111111111111112",
        "#1234, item-2024-winter-event-chest-00012",
        "obj_4821_of_room_4822_in_zone_7",
        "https://example.com/wiki/Some_Page/2024/11/21/AbCdE",
        "https://alice@example.com:8080/path",
        "/usr/local/lib/python3.12/site-packages/SomePackage/module.py",
        "thisIsAVeryLongCamelCaseIdentifierOfJava2",
        "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "鍵は青い箱にあります。🔑 пароль длинный",
        "Bearer of bad news, basic understanding",
    ];
    for text in texts {
        assert_eq!(find(text), [], "{text}");
        assert!(matches!(mask(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn a_note_is_masked_in_its_text_and_its_tags() {
    let note = Note::new("pwd=hunter22")
        .tagged("tea")
        .tagged("api_key=a1b2c3");
    let expected = Note::new("pwd=[secret: password]")
        .tagged("tea")
        .tagged("api_key=[secret: api key]");
    assert_eq!(masked(note), expected);
}

/// Texts that make a careless scan begin again and again. Each took minutes if it were read more than a few times.
#[test]
fn no_text_is_read_again_and_again() {
    let pieces = [
        "a",
        " ",
        "password",
        "password:",
        "password=",
        "token is ",
        "secret: ",
        "password for ",
        "sk-",
        "sk-.",
        "SG.",
        "eyJ",
        "eyJa.",
        "://",
        "://a:b",
        "://@",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "4111 ",
        "4111-",
        "4",
        "[",
        "[secret: ",
        "password[",
        "password='",
        "=",
        "/",
        "-",
        "_x",
        "aB3/",
        "é",
    ];
    for piece in pieces {
        let text = piece.repeat(60_000 / piece.len());
        let masked = mask(&text);
        assert_eq!(find(&masked), [], "{piece}");
    }
}

fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "sk-[a-zA-Z0-9]{30}",
        "ghp_[a-zA-Z0-9]{36}",
        "(password|api_key|token|pwd)(=|: | is )[a-z0-9A-Z!#]{4,12}",
        "https?://[a-z]{1,4}:[a-z:@]{1,6}@[a-z]{2,5}",
        "[a-zA-Z0-9+/]{20,60}={0,2}",
        "[0-9a-f]{40,70}",
        "4[0-9]{3} [0-9]{4} [0-9]{4} [0-9]{4}",
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("-----END PRIVATE KEY-----".to_owned()),
        Just("[secret: password]".to_owned()),
        Just("[secret: api key]".to_owned()),
        "[\\[\\]\"'`=:&;. ,/*-]{1,4}",
        "(secret|password|token|key|is|the|for|api) ?",
        "\\PC{0,6}",
    ]
}

proptest! {
    #[test]
    fn a_masked_text_never_holds_a_secret(pieces in prop::collection::vec(secret(), 0..8)) {
        for between in ["", " "] {
            let text = pieces.join(between);
            let masked = mask(&text).into_owned();
            prop_assert_eq!(find(&masked), vec![], "{:?} became {:?}", text, masked);
            prop_assert!(matches!(mask(&masked), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn spans_are_always_in_order_apart_and_on_characters(pieces in prop::collection::vec(secret(), 0..8)) {
        let text = pieces.concat();
        let mut done = 0;
        for span in find(&text) {
            prop_assert!(span.range.start >= done && span.range.start < span.range.end);
            prop_assert!(text.get(span.range.clone()).is_some());
            done = span.range.end;
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}") {
        let masked = mask(&text);
        prop_assert_eq!(find(&text).is_empty(), masked == text);
    }

    #[test]
    fn a_text_of_plain_words_is_never_changed(words in prop::collection::vec("[a-z]{1,12}", 0..40)) {
        let text = words.join(" ");
        prop_assert!(matches!(mask(&text), Cow::Borrowed(_)), "{}", text);
    }
}
