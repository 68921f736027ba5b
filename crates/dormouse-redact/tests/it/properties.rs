//! Properties of every text.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use dormouse_redact::{
    ABOUT_ITSELF, KnownSecrets,
    RedactionProfile::{self, Memory},
    is_about_itself, mask, merged, scan,
};
use proptest::prelude::*;

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
        "[\\[\\]\"'`=:&;. ,/*%\\\\\n-]{1,4}",
        "(secret|password|token|key|is|the|for|api) ?",
        "\\\\u00[0-9a-f]{2}",
        "\\PC{0,6}",
    ]
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(secret(), 0..8);
    (pieces, any::<bool>()).prop_map(|(pieces, apart)| pieces.join(if apart { " " } else { "" }))
}

proptest! {
    #[test]
    fn a_masked_text_never_contains_a_secret(text in texts()) {
        for profile in [Memory, RedactionProfile::Errors] {
            let masked = mask(&text, profile).into_owned();
            let left = scan(masked.as_bytes(), profile);
            prop_assert_eq!(left, vec![], "{:?} became {:?}", text, masked);
            prop_assert!(matches!(mask(&masked, profile), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn matches_are_always_ordered_and_disjoint(text in texts()) {
        for profile in RedactionProfile::ALL {
            let mut done = 0;
            for one in scan(text.as_bytes(), profile) {
                prop_assert!(one.range.start >= done && one.range.start < one.range.end);
                prop_assert!(one.range.end <= text.len());
                prop_assert!(profile.covers(one.kind));
                done = one.range.end;
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for profile in RedactionProfile::ALL {
            let is_clean = scan(text.as_bytes(), profile).is_empty();
            prop_assert_eq!(is_clean, mask(&text, profile) == text);
            prop_assert!(scan(&bytes, profile).len() <= bytes.len());
        }
    }

    #[test]
    fn a_text_of_plain_words_is_never_changed(words in prop::collection::vec("[a-z]{1,12}", 0..40)) {
        let text = words.join(" ");
        prop_assert!(matches!(mask(&text, Memory), Cow::Borrowed(_)), "{}", text);
        prop_assert!(matches!(mask(&text, RedactionProfile::Errors), Cow::Borrowed(_)), "{}", text);
    }

    #[test]
    fn a_phrase_about_the_assistant_is_always_detected(
        index in 0..ABOUT_ITSELF.len(), before in "([a-z]{1,5} ){0,4}", after in "( [a-z]{1,5}){0,4}",
    ) {
        // "The character of the village" is not about the assistant.
        prop_assume!(!after.starts_with(" of"));
        let text = format!("{before}{}{after}", ABOUT_ITSELF[index].to_uppercase());
        prop_assert!(is_about_itself(&text, &[]), "{}", text);
    }

    #[test]
    fn a_known_secret_is_found_in_every_form(
        secret in "[ -~]{12,30}",
        before in "[^\\\\]{0,7}",
        after in "\\PC{0,7}",
    ) {
        let mut known = KnownSecrets::default();
        known.add(&secret);
        let found = |text: &str| merged(known.scan(text.as_bytes())).len() == 1;
        let json = secret.replace('\\', "\\\\").replace('"', "\\\"");
        let percent: String = secret.bytes().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        }).collect();
        for form in [&secret, &json, &percent, &secret.to_uppercase()] {
            prop_assert!(!known.scan(format!("{before}{form}{after}").as_bytes()).is_empty(), "{}", form);
        }
        let encoded = STANDARD.encode(format!("{before}{secret}{after}"));
        prop_assert!(!known.scan(encoded.as_bytes()).is_empty(), "{}", encoded);
        prop_assert!(found(secret.get(..secret.len() - 1).unwrap()));
    }
}

#[test]
fn a_known_secret_cut_off_at_the_end_is_found() {
    let mut known = KnownSecrets::default();
    known.add("open sesame");
    for (text, masked) in [
        ("he said open s", "he said ***"),
        ("he said ope", "he said ope"),
        ("open s he said", "open s he said"),
    ] {
        assert_eq!(known.mask(text, "***"), masked);
    }
    assert!(!format!("{known:?}").contains("sesame"));
}
