//! Disguised secrets: escaped, encoded, wrapped, with invisible characters.

use dormouse_redact::{RedactionProfile, SensitiveKind, mask, scan};

const KEY: &str = concat!("sk", "-abcdEFGH1234ijklMNOP5678qrst");

/// Whether everything between the brackets is found, in every profile.
fn hidden(text: &str) {
    let start = text.find('⟦').unwrap();
    let end = text.find('⟧').unwrap() - '⟦'.len_utf8();
    let text = text.replace(['⟦', '⟧'], "");
    for profile in RedactionProfile::ALL {
        let found = scan(text.as_bytes(), profile);
        let whole = found.iter().any(|one| {
            one.range.start <= start && one.range.end >= end && one.kind.is_credential()
        });
        assert!(whole, "{text:?} for {profile:?}: {found:?}");
    }
}

#[test]
fn a_key_with_escapes_of_json_or_an_address_is_found() {
    hidden(&format!("{{\"a\":\"⟦\\u0073{}⟧\"}}", &KEY[1..]));
    hidden(&format!(
        "{{\\\"a\\\":\\\"⟦{}\\\\u0045{}⟧\\\"}}",
        &KEY[..7],
        &KEY[8..]
    ));
    hidden(&format!("/?q=⟦{}⟧&x=1", KEY.replace('-', "%2D")));
    hidden(&format!("/?q=⟦{}⟧&x=1", KEY.replace('-', "%252d")));
    hidden("/?q=password%3D⟦hunter22⟧");
    hidden("{\"q\":\"my \\\"password\\\": \\\"⟦hunter22⟧\\\"\"}");
    hidden("https:\\/\\/bob:⟦tiger5⟧@db\\/x");
    hidden(&format!("a%20Bearer%20⟦{}⟧", &KEY[3..]));
}

#[test]
fn a_key_with_hidden_characters_inside_is_found_whole() {
    for hiding in [
        "\u{200b}",
        "\u{ad}",
        "\u{2060}",
        "\u{feff}",
        "\u{202e}",
        "\u{e0041}",
        "\u{3164}",
        "\u{7}",
        "\u{0}",
        "\u{fe0f}",
        "\\u200b",
        "%E2%80%8B",
        "\u{200b}\u{200d}",
    ] {
        let (start, end) = KEY.split_at(9);
        hidden(&format!("key ⟦{start}{hiding}{end}⟧ end"));
        let spread: String = KEY
            .chars()
            .flat_map(|letter| [letter.to_string(), hiding.to_owned()])
            .collect();
        hidden(&format!(
            "key ⟦{}⟧ end",
            spread.strip_suffix(hiding).unwrap()
        ));
    }
    hidden("pass\u{200b}word=⟦hunter22⟧");
    assert_eq!(
        mask(
            "4111\u{200b}1111\u{200b}1111\u{200b}1111",
            RedactionProfile::Memory
        ),
        "[secret: card number]"
    );
}

#[test]
fn a_key_wrapped_over_lines_is_found_whole() {
    let (start, end) = KEY.split_at(20);
    for line_end in ["\n", "\r\n", "\n    "] {
        hidden(&format!("key:\n⟦{start}{line_end}{end}⟧\nbye"));
        hidden(&format!("⟦{}{line_end}{}⟧", &KEY[..5], &KEY[5..]));
    }
    let token = concat!(
        "eyJ",
        "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
    );
    let (start, end) = token.split_at(64);
    hidden(&format!("⟦{start}\n{end}⟧"));
    // The next line is a sentence, and stays.
    let text = format!("{KEY}\nAlice nods twice");
    assert_eq!(
        mask(&text, RedactionProfile::Memory),
        "[secret: api key]\nAlice nods twice"
    );
}

#[test]
fn a_secret_in_base64_is_found() {
    // `api_key=9f8e7d6c5b4a`, and a key by itself.
    hidden("say ⟦YXBpX2tleT05ZjhlN2Q2YzViNGE=⟧ to it");
    hidden("{\"data\":\"⟦c2stYWJjZEVGR0gxMjM0aWprbE1OT1A1Njc4cXJzdA⟧\"}");
    // `Alice likes tea at four o'clock in the blue house`.
    let text = "QWxpY2UgbGlrZXMgdGVhIGF0IGZvdXIgbydjbG9jayBpbiB0aGUgYmx1ZSBob3VzZQ==";
    assert_eq!(scan(text.as_bytes(), RedactionProfile::Recordings), []);
}

#[test]
fn an_escape_is_never_cut_in_half() {
    let text = r#"to \"\nalice@example.org\" or \u0061lice@example.org"#;
    let found = scan(text.as_bytes(), RedactionProfile::Recordings);
    let found: Vec<_> = found
        .into_iter()
        .map(|one| (&text[one.range], one.kind))
        .collect();
    assert_eq!(
        found,
        [
            ("alice@example.org", SensitiveKind::Email),
            (r"\u0061lice@example.org", SensitiveKind::Email)
        ]
    );
}

#[test]
fn binary_bytes_hide_no_secret() {
    let bytes = [b"\xff\xfe\x80 ", KEY.as_bytes(), b"\xc3\x28\x00"].concat();
    let found = scan(&bytes, RedactionProfile::Recordings);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].range, 4..4 + KEY.len());
}
