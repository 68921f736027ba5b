use super::*;

fn key(text: &str) -> Option<Secret> {
    Some(Secret::try_new(text).unwrap())
}

fn everything() -> Available {
    Available {
        dormouse_base_url: Some("http://127.0.0.1:8080".to_owned()),
        dormouse_api_key: key("dormouse-key"),
        openai_api_key: key("openai-key"),
        openai_base_url: Some("http://127.0.0.1:9090".to_owned()),
        openrouter_api_key: key("openrouter-key"),
        ..Available::default()
    }
}

/// Provider, base URL, key, model, reason.
fn told(available: &Available) -> (String, String, Option<String>, String, Found) {
    match choose(available).unwrap() {
        Choice::Offline { because } => (
            "offline".into(),
            String::new(),
            None,
            String::new(),
            because,
        ),
        Choice::Server { config, because } => (
            config.provider.to_string(),
            config.base_url,
            config.api_key.map(|key| key.expose().to_owned()),
            config.model.to_string(),
            because,
        ),
    }
}

fn server(
    provider: &str,
    url: &str,
    key: Option<&str>,
    model: &str,
    because: Found,
) -> (String, String, Option<String>, String, Found) {
    (
        provider.into(),
        url.into(),
        key.map(Into::into),
        model.into(),
        because,
    )
}

#[test]
fn the_first_thing_found_in_the_documented_order_decides() {
    let mut available = everything();
    assert_eq!(
        told(&available),
        server(
            "local",
            "http://127.0.0.1:8080",
            Some("dormouse-key"),
            "default",
            Found::DormouseBaseUrl
        )
    );
    available.dormouse_base_url = None;
    assert_eq!(
        told(&available),
        server(
            "openai",
            "http://127.0.0.1:9090",
            Some("openai-key"),
            "default",
            Found::OpenAiKey
        )
    );
    available.openai_base_url = None;
    assert_eq!(
        told(&available),
        server(
            "openai",
            "https://api.openai.com/v1",
            Some("openai-key"),
            "gpt-4.1-mini",
            Found::OpenAiKey
        )
    );
    available.openai_api_key = None;
    assert_eq!(
        told(&available),
        server(
            "openrouter",
            "https://openrouter.ai/api/v1",
            Some("openrouter-key"),
            "openai/gpt-4.1-mini",
            Found::OpenRouterKey
        )
    );
    available.openrouter_api_key = None;
    available.openai_base_url = Some("http://127.0.0.1:9090".to_owned());
    assert_eq!(
        told(&available),
        server(
            "local",
            "http://127.0.0.1:9090",
            None,
            "default",
            Found::OpenAiBaseUrl
        )
    );
    available.openai_base_url = None;
    assert_eq!(told(&available).4, Found::Nothing);
}

#[test]
fn what_was_asked_for_wins_over_everything_found() {
    let mut available = everything();
    available.model = Some(ModelName::try_new("mine").unwrap());
    for (asked, provider, key) in [
        (ServedBy::OpenAi, "openai", Some("openai-key")),
        (ServedBy::OpenRouter, "openrouter", Some("openrouter-key")),
        (ServedBy::Local, "local", Some("dormouse-key")),
    ] {
        available.asked = Some(asked);
        let (told_provider, _, told_key, model, because) = told(&available);
        assert_eq!(
            (told_provider.as_str(), told_key.as_deref()),
            (provider, key)
        );
        assert_eq!((model.as_str(), because), ("mine", Found::Asked));
    }
    available.asked = Some(ServedBy::Offline);
    assert_eq!(
        choose(&available),
        Ok(Choice::Offline {
            because: Found::Asked
        })
    );
}

#[test]
fn what_was_asked_for_but_cannot_be_used_is_said_and_not_replaced() {
    let asked = |asked| {
        choose(&Available {
            asked: Some(asked),
            ..Available::default()
        })
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        asked(ServedBy::OpenAi),
        "the provider openai needs a key: set OPENAI_API_KEY"
    );
    assert_eq!(
        asked(ServedBy::OpenRouter),
        "the provider openrouter needs a key: set OPENROUTER_API_KEY"
    );
    assert_eq!(
        asked(ServedBy::Local),
        "the provider local needs a server: set DORMOUSE_BASE_URL"
    );
}

#[test]
fn a_key_is_never_sent_to_a_server_it_does_not_belong_to() {
    let mut available = everything();
    available.dormouse_api_key = None;
    assert_eq!(told(&available).2, None, "OpenAI's key stays at home");
}

#[test]
fn no_choice_prints_a_key() {
    let available = everything();
    let printed = format!("{available:?} {:?}", choose(&available));
    assert!(!printed.contains("-key"), "{printed}");
}

#[test]
fn the_names_of_the_providers_are_read_as_they_are_written() {
    for served_by in [
        ServedBy::OpenAi,
        ServedBy::OpenRouter,
        ServedBy::Local,
        ServedBy::Offline,
    ] {
        assert_eq!(served_by.to_string().parse(), Ok(served_by));
    }
    assert_eq!("OpenAI".parse::<ServedBy>(), Err(ServedByError));
}
