use proptest::prelude::*;

use super::*;

const ALL: [Family; 7] = [
    Family::OpenAi,
    Family::Claude,
    Family::NewClaude,
    Family::Gemini,
    Family::Qwen,
    Family::Small,
    Family::Large,
];

fn family(provider: &str, model: &str) -> Family {
    Family::of(
        &ProviderId::try_new(provider).unwrap(),
        &ModelName::try_new(model).unwrap(),
    )
}

fn count(family: Family, text: &str) -> u32 {
    FamilyEstimate::new(family).count(text).tokens
}

#[test]
fn a_family_is_recognised_by_the_models_name_at_any_provider() {
    assert_eq!(
        family("openrouter", "anthropic/claude-3-opus"),
        Family::Claude
    );
    assert_eq!(
        family("anthropic", "claude-sonnet-4-5-20250929"),
        Family::Claude
    );
    assert_eq!(
        family("openrouter", "anthropic/claude-opus-4.7"),
        Family::NewClaude
    );
    assert_eq!(family("anthropic", "claude-haiku-5-5"), Family::NewClaude);
    assert_eq!(family("ollama", "qwen3:8b"), Family::Qwen);
    assert_eq!(family("local", "Qwen/Qwen2.5-7B-Instruct"), Family::Qwen);
    assert_eq!(family("ollama", "llama2:13b"), Family::Small);
    assert_eq!(family("ollama", "llama3.2"), Family::Large);
    assert_eq!(family("openai", "gpt-6-sol"), Family::OpenAi);
}

#[test]
fn an_unknown_name_uses_the_vendor_and_then_the_default() {
    assert_eq!(family("openai", "something-new"), Family::OpenAi);
    assert_eq!(family("anthropic", "something-new"), Family::NewClaude);
    assert_eq!(family("local", "default"), Family::Large);
}

#[test]
fn other_scripts_and_digits_are_not_counted_as_english() {
    let estimate = |text| count(Family::Large, text);
    assert!(estimate("日本語のテキスト") >= 6);
    assert!(estimate("3141592653589793") >= 8);
    assert!(count(Family::Qwen, "3141592653589793") >= 16);
    assert!(estimate("  \u{0}\u{7f}\u{200d}\u{feff}") > 0);
}

#[test]
fn an_empty_text_has_no_tokens() {
    for family in ALL {
        assert_eq!(count(family, ""), 0);
    }
}

#[cfg(feature = "tiktoken")]
#[test]
fn an_estimate_is_near_the_measured_vocabulary_for_texts_of_every_kind() {
    let exact = crate::Tiktoken::for_model(&ModelName::try_new("gpt-4o").unwrap()).unwrap();
    let texts = [
        "Alice had been to the seaside once in her life, and had come to the general conclusion that wherever you go \
         you find a kettle. The dormouse, who slept between them, said nothing at all, as is the custom of its kind.",
        "fn weigh(kettle: &Kettle) -> Option<u32> {\n    let mut sum = 0;\n    for part in &kettle.parts {\n        sum += \
         part.weight?;\n    }\n    Some(sum)\n}\n",
        r#"{"name": "whisper", "arguments": {"to": "player:7", "text": "Where is the blue box?"}, "at": 1763200000}"#,
        "会议将于明天上午九点在三楼的会议室举行,请大家准时参加,并带上上周的报告。",
        "Соня спала между ними, и они опирались на неё локтями, разговаривая через её голову.",
        "12, 99.5, 2026-11-21T10:15:00Z, 1000000, 3.14159, 42, 77, 1234567",
    ];
    for text in texts {
        let (estimate, counted) = (count(Family::OpenAi, text), exact.count(text).tokens);
        let ratio = f64::from(estimate) / f64::from(counted);
        assert!(
            (0.7..1.4).contains(&ratio),
            "{estimate} for {counted}: {text}"
        );
    }
}

proptest! {
    #[test]
    fn a_longer_text_never_counts_less(left in "\\PC{0,60}", right in "\\PC{0,60}", pick in 0usize..ALL.len()) {
        let family = ALL[pick];
        let whole = format!("{left}{right}");
        prop_assert!(count(family, &left) <= count(family, &whole));
    }

    #[test]
    fn counts_of_parts_add_up_to_about_the_whole(left in "[ -~\\n]{0,60}", right in "[ -~\\n]{0,60}") {
        let apart = count(Family::Large, &left) + count(Family::Large, &right);
        let whole = count(Family::Large, &format!("{left}{right}"));
        prop_assert!(apart.abs_diff(whole) <= 4, "{} {}", apart, whole);
    }
}
