use super::*;

fn key(text: &str) -> Option<Secret> {
    Some(Secret::try_new(text).unwrap())
}

fn model(name: &str) -> ModelName {
    ModelName::try_new(name).unwrap()
}

fn everything() -> Available {
    Available {
        dormouse_base_url: Some("http://127.0.0.1:8080".to_owned()),
        dormouse_api_key: key("dormouse-key"),
        openai_api_key: key("openai-key"),
        openai_base_url: Some("http://127.0.0.1:9090".to_owned()),
        anthropic_api_key: key("anthropic-key"),
        anthropic_base_url: Some("http://127.0.0.1:7070".to_owned()),
        openrouter_api_key: key("openrouter-key"),
        ollama_host: Some("10.0.0.1".to_owned()),
        ollama_answers: Some(vec![model("qwen3:8b"), model("second")]),
        ..Available::default()
    }
}

/// Provider, base URL, key, model, reason.
fn shown(available: &Available) -> (String, String, Option<String>, String, ChoiceReason) {
    match choose(available).unwrap() {
        Choice::Offline { reason } => {
            ("offline".into(), String::new(), None, String::new(), reason)
        }
        Choice::Server { config, reason } => (
            config.provider().to_string(),
            config.base_url().to_owned(),
            config.api_key().map(|key| key.expose().to_owned()),
            config.model().to_string(),
            reason,
        ),
    }
}

fn server(
    provider: &str,
    url: &str,
    key: Option<&str>,
    model: &str,
    reason: ChoiceReason,
) -> (String, String, Option<String>, String, ChoiceReason) {
    (
        provider.into(),
        url.into(),
        key.map(Into::into),
        model.into(),
        reason,
    )
}

#[test]
fn the_documented_order_decides() {
    let mut available = everything();
    assert_eq!(
        shown(&available),
        server(
            "local",
            "http://127.0.0.1:8080",
            Some("dormouse-key"),
            "default",
            ChoiceReason::DormouseBaseUrl
        )
    );
    available.dormouse_base_url = None;
    assert_eq!(
        shown(&available),
        server(
            "openai",
            "http://127.0.0.1:9090",
            Some("openai-key"),
            "default",
            ChoiceReason::OpenAiKey
        )
    );
    available.openai_base_url = None;
    assert_eq!(
        shown(&available),
        server(
            "openai",
            "https://api.openai.com/v1",
            Some("openai-key"),
            "gpt-4.1-mini",
            ChoiceReason::OpenAiKey
        )
    );
    available.openai_api_key = None;
    assert_eq!(
        shown(&available),
        server(
            "anthropic",
            "http://127.0.0.1:7070",
            Some("anthropic-key"),
            "default",
            ChoiceReason::AnthropicKey
        )
    );
    available.anthropic_base_url = None;
    assert_eq!(
        shown(&available),
        server(
            "anthropic",
            "https://api.anthropic.com",
            Some("anthropic-key"),
            "claude-haiku-4-5",
            ChoiceReason::AnthropicKey
        )
    );
    available.anthropic_api_key = None;
    assert_eq!(
        shown(&available),
        server(
            "openrouter",
            "https://openrouter.ai/api/v1",
            Some("openrouter-key"),
            "openai/gpt-4.1-mini",
            ChoiceReason::OpenRouterKey
        )
    );
    available.openrouter_api_key = None;
    available.openai_base_url = Some("http://127.0.0.1:9090".to_owned());
    assert_eq!(
        shown(&available),
        server(
            "local",
            "http://127.0.0.1:9090",
            None,
            "default",
            ChoiceReason::OpenAiBaseUrl
        )
    );
    available.openai_base_url = None;
    let ollama = |url, model, reason| server("ollama", url, None, model, reason);
    assert_eq!(
        shown(&available),
        ollama(
            "http://10.0.0.1:11434",
            "qwen3:8b",
            ChoiceReason::OllamaHost
        )
    );
    available.ollama_host = None;
    let here = "http://127.0.0.1:11434";
    assert_eq!(
        shown(&available),
        ollama(here, "qwen3:8b", ChoiceReason::OllamaAnswers)
    );
    available.ollama_answers = Some(vec![]);
    assert_eq!(
        shown(&available).4,
        ChoiceReason::Nothing,
        "nothing to chat with"
    );
    available.requested = Some(ServedBy::Ollama);
    assert_eq!(
        shown(&available),
        ollama(here, "llama3.2", ChoiceReason::Requested)
    );
}

#[test]
fn a_requested_provider_wins_over_everything_found() {
    let mut available = everything();
    available.model = Some(ModelName::try_new("mine").unwrap());
    for (asked, provider, key) in [
        (ServedBy::OpenAi, "openai", Some("openai-key")),
        (ServedBy::Anthropic, "anthropic", Some("anthropic-key")),
        (ServedBy::OpenRouter, "openrouter", Some("openrouter-key")),
        (ServedBy::Ollama, "ollama", None),
        (ServedBy::Local, "local", Some("dormouse-key")),
    ] {
        available.requested = Some(asked);
        let (shown_provider, _, key_seen, model, reason) = shown(&available);
        assert_eq!(
            (shown_provider.as_str(), key_seen.as_deref()),
            (provider, key)
        );
        assert_eq!((model.as_str(), reason), ("mine", ChoiceReason::Requested));
    }
    available.requested = Some(ServedBy::Offline);
    assert_eq!(
        choose(&available),
        Ok(Choice::Offline {
            reason: ChoiceReason::Requested
        })
    );
}

#[test]
fn an_unusable_request_is_an_error_and_not_replaced() {
    let asked = |asked| {
        choose(&Available {
            requested: Some(asked),
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
        asked(ServedBy::Anthropic),
        "the provider anthropic needs a key: set ANTHROPIC_API_KEY"
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
    assert_eq!(shown(&available).2, None, "OpenAI's key stays at home");
}

#[test]
fn no_choice_prints_a_key() {
    let available = everything();
    let printed = format!("{available:?} {:?}", choose(&available));
    assert!(!printed.contains("-key"), "{printed}");
}

#[test]
fn the_names_of_the_providers_are_read_as_they_are_written() {
    for served_by in ServedBy::ALL {
        assert_eq!(served_by.to_string().parse(), Ok(served_by));
    }
    assert_eq!("OpenAI".parse::<ServedBy>(), Err(ServedByError));
}

#[test]
fn a_listed_model_uses_the_address_of_its_provider() {
    let available = everything();
    let chosen = |requested: &str| choose_model(&requested.parse().unwrap(), &available);
    let shown = |requested: &str| match chosen(requested).unwrap() {
        Choice::Offline { .. } => "offline".to_owned(),
        Choice::Server { config, .. } => format!(
            "{} {} {} {}",
            config.provider(),
            config.base_url(),
            config.api_key().map_or("-", Secret::expose),
            config.model()
        ),
    };
    assert_eq!(shown("offline"), "offline");
    assert_eq!(
        shown("local:tiny"),
        "local http://127.0.0.1:8080 dormouse-key tiny"
    );
    assert_eq!(
        shown("openrouter:a/b:free"),
        "openrouter https://openrouter.ai/api/v1 openrouter-key a/b:free"
    );
    assert_eq!(
        shown("ollama:qwen3:8b"),
        "ollama http://10.0.0.1:11434 - qwen3:8b"
    );
    assert_eq!(
        shown("anthropic:claude-x@http://elsewhere"),
        "anthropic http://elsewhere - claude-x"
    );
    assert_eq!(
        shown("openai:m@http://127.0.0.1:9090/v1/"),
        "openai http://127.0.0.1:9090/v1/ openai-key m"
    );
    assert_eq!(
        shown("openai:m@https://api.openai.com/v1"),
        "openai https://api.openai.com/v1 - m",
        "the key that was found belongs elsewhere"
    );
    assert_eq!(
        shown("openrouter:m@https://openrouter.ai.evil.example/api/v1"),
        "openrouter https://openrouter.ai.evil.example/api/v1 - m"
    );
    let nothing = Available::default();
    let error = choose_model(&"openai:m".parse().unwrap(), &nothing).unwrap_err();
    assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn an_address_without_a_model_name_is_rejected() {
    for text in [
        "openai:",
        "openai:@",
        "openai:@http://127.0.0.1:1",
        "local:@http:8080",
        "ollama:@https:x",
    ] {
        let requested = text.parse::<ModelRef>();
        assert!(
            matches!(requested, Err(ModelRefError::NoModel(_))),
            "{text}: {requested:?}"
        );
    }
}

#[test]
fn a_server_of_any_api_accepts_a_replaced_key() {
    for by in ServedBy::ALL {
        let server = ServerConfig::at(by, "http://x", key("old-key"), model("m"));
        let server = server.with_key(Secret::try_new("own-key").unwrap());
        assert_eq!(server.api_key().map(Secret::expose), Some("own-key"));
        assert_eq!(server.provider().as_str(), by.as_str());
    }
}

#[cfg(feature = "openai")]
#[test]
fn every_server_opens_or_names_the_fault_of_its_address() {
    let network = crate::Network::direct();
    let open = |requested: &str| {
        let choice = choose_model(&requested.parse().unwrap(), &everything()).unwrap();
        let Choice::Server { config, .. } = choice else {
            panic!("{requested} is a server")
        };
        open_model(&config, &network).map(|model| model.identity().0.to_string())
    };
    let servers = ServedBy::ALL.into_iter();
    for by in servers.filter(|by| *by != ServedBy::Offline) {
        assert_eq!(open(&format!("{by}:m")).unwrap(), by.as_str());
        let wrong = format!("{by}:m@http://user:sk-secret@x");
        let Err(error) = open(&wrong) else {
            panic!("{wrong}")
        };
        assert!(!format!("{error} {error:?}").contains("sk-"), "{error}");
    }
}
