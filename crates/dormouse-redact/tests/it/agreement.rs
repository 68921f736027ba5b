//! Every text of the corpus: the detector finds what both former detectors found, and nothing else.

use dormouse_redact::{
    RedactionProfile::{self, Errors, Inspection, Memory, Recordings},
    SensitiveKind, mask, scan,
};

use crate::corpus::{
    ADDRESSES, CREDENTIALS, Case, HARMLESS, HARMLESS_IN_PROSE, ONLY_PERSONAL, PERSONAL, RANDOM,
};

pub(crate) fn found(text: &str, profile: RedactionProfile) -> Vec<(&str, SensitiveKind)> {
    let found = scan(text.as_bytes(), profile).into_iter();
    found.map(|one| (&text[one.range], one.kind)).collect()
}

fn all_found(cases: &[Case], profile: RedactionProfile) {
    for (text, secrets) in cases {
        let found = found(text, profile);
        assert_eq!(found, *secrets, "{text:?} for {profile:?}");
    }
}

#[test]
fn credentials_are_found_in_memories_and_recordings() {
    all_found(CREDENTIALS, Memory);
    all_found(CREDENTIALS, Recordings);
}

#[test]
fn credentials_are_found_in_errors_unless_they_are_plain_words_or_cards() {
    for (text, secrets) in CREDENTIALS {
        let is_left = ["swordfish", "geheim", "qwertzuiop"];
        if secrets
            .iter()
            .any(|(secret, kind)| *kind == SensitiveKind::CardNumber || is_left.contains(secret))
        {
            continue;
        }
        assert_eq!(found(text, Errors), *secrets, "{text:?}");
    }
}

#[test]
fn personal_data_is_found_only_in_recordings() {
    all_found(PERSONAL, Recordings);
    for (text, secrets) in PERSONAL {
        if secrets.iter().all(|(_, kind)| !kind.is_credential()) {
            assert_eq!(found(text, Memory), [], "{text:?}");
            assert_eq!(found(text, Errors), [], "{text:?}");
        }
    }
}

#[test]
fn random_text_is_found_in_memories_and_inspections() {
    all_found(RANDOM, Memory);
    for (text, _) in RANDOM {
        assert_eq!(found(text, Recordings), [], "{text:?}");
        assert_eq!(found(text, Inspection).len(), 1, "{text:?}");
    }
    for text in [
        "a8Fk2LmQ9xZt4RvB7nYw",
        "0123456789abcdef0123456789abcdef",
        "k3j5h2g8f1d9s7a4p6o0i2u4",
    ] {
        assert_eq!(found(text, Inspection), [(text, SensitiveKind::RandomText)]);
    }
}

#[test]
fn recordings_hide_the_user_of_a_password_and_memories_keep_it() {
    for (text, password, both) in ADDRESSES {
        assert_eq!(found(text, Memory), [(*password, SensitiveKind::Password)]);
        assert_eq!(found(text, Recordings), [(*both, SensitiveKind::Password)]);
        assert_eq!(found(text, Errors), [(*both, SensitiveKind::Password)]);
    }
}

#[test]
fn text_that_resembles_a_secret_is_kept() {
    for text in HARMLESS {
        for profile in [Memory, Recordings, Errors] {
            assert_eq!(found(text, profile), [], "{text:?} for {profile:?}");
        }
        // An inspection may report any text as random, but not as another kind.
        let inspected = found(text, Inspection);
        let is_random = |(_, kind): &(&str, SensitiveKind)| *kind == SensitiveKind::RandomText;
        assert!(inspected.iter().all(is_random), "{text:?}: {inspected:?}");
    }
    for text in HARMLESS_IN_PROSE.iter().chain(ONLY_PERSONAL) {
        assert_eq!(found(text, Memory), [], "{text:?}");
        assert_eq!(mask(text, Memory), *text);
    }
    for text in ["chatcmpl-A8Fk2LmQ9xZt4RvB7nYw", "call_a8Fk2LmQ9xZt4RvB7nYw"] {
        assert_eq!(found(text, Inspection), [], "{text:?}");
    }
}

#[test]
fn a_key_is_found_in_any_context() {
    for key in [
        concat!("sk", "-proj-abcDEF0123456789"),
        concat!("sk", "-ant-api03-AbC_dEf0123456789"),
        concat!("AIza", "SyA0123456789abcdefghij"),
        concat!("ghp", "_0123456789abcdefABCDEF"),
        concat!("AKIA", "ABCDEFGHIJKLMNOP"),
        concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"),
    ] {
        for (before, after) in [
            ("", ""),
            ("the key ", "."),
            ("(", ")"),
            ("a%3D", "&b"),
            ("x\\n", "\\n"),
            ("„", "“"),
            ("鍵は", "です"),
        ] {
            let text = format!("{before}{key}{after}");
            // An inspection may also report the text next to it as random.
            for profile in [Memory, Recordings, Errors] {
                let found = found(&text, profile);
                assert!(
                    matches!(found[..], [(one, _)] if one == key),
                    "{text:?}: {found:?}"
                );
            }
        }
    }
}
