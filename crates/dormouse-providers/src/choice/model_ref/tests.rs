use proptest::prelude::*;

use super::*;

fn served(by: ServedBy, model: &str, base_url: Option<&str>) -> ModelRef {
    ModelRef::Served {
        by,
        model: model.parse().unwrap(),
        base_url: base_url.map(str::to_owned),
    }
}

#[test]
fn only_requested_fields_are_written() {
    for (text, model_ref) in [
        ("offline", ModelRef::Offline),
        ("openai:gpt-5", served(ServedBy::OpenAi, "gpt-5", None)),
        (
            "openrouter:openai/gpt-5:nitro",
            served(ServedBy::OpenRouter, "openai/gpt-5:nitro", None),
        ),
        (
            "ollama:hf.co/a/b:Q4@http://10.0.0.1:11434",
            served(
                ServedBy::Ollama,
                "hf.co/a/b:Q4",
                Some("http://10.0.0.1:11434"),
            ),
        ),
        (
            "local:@cf/meta/llama@https://example.com/v1",
            served(
                ServedBy::Local,
                "@cf/meta/llama",
                Some("https://example.com/v1"),
            ),
        ),
    ] {
        assert_eq!(text.parse(), Ok(model_ref.clone()), "{text}");
        assert_eq!(model_ref.to_string(), text);
        assert_eq!(format!(" {text}\n").parse(), Ok(model_ref));
    }
}

#[test]
fn an_invalid_model_names_the_valid_forms_and_is_not_repeated() {
    let error = |text: &str| {
        let error = text.parse::<ModelRef>().unwrap_err();
        assert!(!error.to_string().contains("sk-secret"), "{error}");
        error
    };
    for text in [
        "",
        "sk-secret",
        "OpenAI:m",
        "gpt-5",
        "http://127.0.0.1:1",
        ":m",
    ] {
        assert_eq!(error(text), ModelRefError::Unknown, "{text}");
    }
    for text in [
        "openai",
        "openai:",
        "openai:@",
        "openai:@http://127.0.0.1:1",
    ] {
        assert_eq!(
            error(text),
            ModelRefError::NoModel(ServedBy::OpenAi),
            "{text}"
        );
    }
    for text in ["ollama:m@", "ollama:m@sk-secret", "ollama:m@ftp://x"] {
        assert_eq!(
            error(text),
            ModelRefError::Address(ServedBy::Ollama),
            "{text}"
        );
    }
    assert_eq!(error("offline:x"), ModelRefError::OfflineTakesNoModel);
    assert!(matches!(error("local:a\u{7}b"), ModelRefError::Model(_)));
    let shown = error("anthropic").to_string();
    assert_eq!(
        shown,
        "anthropic: needs a model name, as in anthropic:MODEL"
    );
}

proptest! {
    #[test]
    fn every_accepted_source_round_trips(text in "(openai|ollama|local):[!-~ ]{0,30}") {
        if let Ok(model_ref) = text.parse::<ModelRef>() {
            prop_assert_eq!(model_ref.to_string().parse(), Ok(model_ref));
        }
    }
}
