//! Every text is scanned in linear time.

use dormouse_redact::{RedactionProfile, mask, scan};

/// Pieces of adversarial texts. A scan that reads the rest of the text for each of them would take minutes.
const PIECES: &[&str] = &[
    "a",
    " ",
    "\n",
    "4",
    "[",
    "=",
    "/",
    "-",
    "_x",
    "aB3/",
    "é",
    "%",
    "\\",
    "\\u",
    "%4",
    "%61",
    "\\u0061",
    "\u{200b}",
    "password",
    "password:",
    "password=",
    "password is ",
    "password is a",
    "password for ",
    "password for a ",
    "password: a",
    "password=\"",
    "password='",
    "password[",
    "token is ",
    "token:",
    "token=",
    "token:\"",
    "token='\"",
    "xtoken>",
    "secret: ",
    "secret=a\\",
    "pass word ",
    "api_key",
    "--password ",
    "login a password ",
    "curl -u ",
    "curl  ",
    "?key=",
    "&sig=",
    "key-",
    "0:AA",
    "sk-",
    "sk-a ",
    "sk-.",
    "sk-a.",
    "hf_",
    "hf_a_hf_",
    "SG.",
    "SG.a",
    "hvs.a.",
    "AKIA",
    "AKIAA",
    "eyJ",
    "eyJ-",
    "eyJa.",
    "eyJhb.",
    "eyJhb.eyJhbGci.",
    " eyJhbGci.",
    "eyJhbGci",
    "M.",
    "M.abcdef.",
    "Bearer ",
    "bearer a",
    "://",
    "://a:b",
    "://@",
    "a://b:c@",
    "://a:b@c",
    "@",
    "%40",
    "a@",
    "a@b",
    "a@b.",
    "a.b",
    "\u{2f}home/",
    "\u{2f}home/a",
    "\\users\\",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY",
    "-----BEGIN PRIVATE KEY-----",
    "-----END ",
    "PuTTY-User-Key-File-",
    "+1",
    "0 ",
    "(",
    "1.1.1.1",
    "1.",
    "::",
    "a:",
    "1:",
    "4111 ",
    "4111-",
    "4111111111111111",
    "[secret: ",
    "[secret-1",
    "[secret-1]",
    "YWJj",
    "c2st",
    "a1b2c3d4\n",
    "sk-a\na1b2c3d4",
];

#[test]
fn repeated_pieces_of_text_take_linear_work() {
    for piece in PIECES {
        let text = piece.repeat((64 << 10) / piece.len());
        for profile in [RedactionProfile::Memory, RedactionProfile::Inspection] {
            assert!(scan(text.as_bytes(), profile).len() <= text.len());
        }
    }
}

#[test]
fn a_long_text_is_masked_completely() {
    for piece in PIECES {
        let text = piece.repeat((8 << 10) / piece.len());
        let masked = mask(&text, RedactionProfile::Memory);
        assert_eq!(
            scan(masked.as_bytes(), RedactionProfile::Memory),
            [],
            "{piece:?}"
        );
    }
}
