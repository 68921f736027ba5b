use proptest::prelude::*;

use super::*;

fn served(by: ServedBy, model: &str, base_url: Option<&str>) -> ModelWish {
    ModelWish::Served {
        by,
        model: model.parse().unwrap(),
        base_url: base_url.map(str::to_owned),
    }
}

#[test]
fn what_is_written_is_what_is_asked_for() {
    for (text, wish) in [
        ("offline", ModelWish::Offline),
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
        assert_eq!(text.parse(), Ok(wish.clone()), "{text}");
        assert_eq!(wish.to_string(), text);
        assert_eq!(format!(" {text}\n").parse(), Ok(wish));
    }
}

#[test]
fn what_asks_for_no_model_says_what_would_and_repeats_nothing() {
    let error = |text: &str| {
        let error = text.parse::<ModelWish>().unwrap_err();
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
        assert_eq!(error(text), ModelWishError::Unknown, "{text}");
    }
    for text in [
        "openai",
        "openai:",
        "openai:@",
        "openai:@http://127.0.0.1:1",
    ] {
        assert_eq!(
            error(text),
            ModelWishError::NoModel(ServedBy::OpenAi),
            "{text}"
        );
    }
    for text in ["ollama:m@", "ollama:m@sk-secret", "ollama:m@ftp://x"] {
        assert_eq!(
            error(text),
            ModelWishError::Address(ServedBy::Ollama),
            "{text}"
        );
    }
    assert_eq!(error("offline:x"), ModelWishError::OfflineIsOne);
    assert!(matches!(error("local:a\u{7}b"), ModelWishError::Model(_)));
    let told = error("anthropic").to_string();
    assert_eq!(
        told,
        "anthropic: needs the name of a model behind it, as in anthropic:MODEL"
    );
}

proptest! {
    #[test]
    fn whatever_is_understood_is_written_so_that_it_is_understood_alike(text in "(openai|ollama|local):[!-~ ]{0,30}") {
        if let Ok(wish) = text.parse::<ModelWish>() {
            prop_assert_eq!(wish.to_string().parse(), Ok(wish));
        }
    }
}
