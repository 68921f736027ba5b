use super::*;

fn secret(text: &str) -> Option<Secret> {
    Some(Secret::try_new(text).unwrap())
}

fn asked(requested: &str) -> EmbedderSettings {
    EmbedderSettings {
        requested: Some(requested.parse().unwrap()),
        ..EmbedderSettings::default()
    }
}

fn available() -> Available {
    Available {
        dormouse_base_url: Some("http://127.0.0.1:8080/v1".to_owned()),
        dormouse_api_key: secret("sk-dormouse"),
        openai_api_key: secret("sk-openai"),
        ..Available::default()
    }
}

/// Provider, address, key and model in one line.
fn shown(choice: Result<EmbedderChoice, EmbedderChoiceError>) -> String {
    let key = |key: Option<Secret>| key.map_or("-".to_owned(), |key| key.expose().to_owned());
    match choice.unwrap() {
        EmbedderChoice::None { reason } => format!("none: {reason:?}"),
        EmbedderChoice::Folder(folder) => format!("folder {}", folder.display()),
        EmbedderChoice::OpenAi(config) => {
            let server = config.server;
            let (url, key) = (server.base_url, key(server.api_key));
            format!("{} {url} {key} {}", server.provider, server.model)
        }
        EmbedderChoice::Ollama(config) => {
            let (url, key) = (config.base_url, key(config.api_key));
            format!("ollama {url} {key} {}", config.model)
        }
    }
}

#[test]
fn each_provider_has_its_embedder() {
    let none = EmbedderSettings::default();
    let by = |chat| shown(choose_embedder(chat, &available(), &none));
    assert_eq!(
        by(ServedBy::OpenAi),
        "openai https://api.openai.com/v1 sk-openai text-embedding-3-small"
    );
    assert_eq!(
        by(ServedBy::Local),
        "local http://127.0.0.1:8080/v1 sk-dormouse default"
    );
    assert_eq!(
        by(ServedBy::Ollama),
        "ollama http://127.0.0.1:11434 - nomic-embed-text"
    );
    for chat in [ServedBy::Anthropic, ServedBy::OpenRouter, ServedBy::Offline] {
        assert_eq!(by(chat), "none: Provider");
    }
    let other = Available {
        openai_base_url: Some("http://127.0.0.1:1".to_owned()),
        dormouse_base_url: None,
        ..available()
    };
    let by = |chat| shown(choose_embedder(chat, &other, &none));
    assert_eq!(
        by(ServedBy::OpenAi),
        "openai http://127.0.0.1:1 sk-openai default"
    );
    assert_eq!(
        by(ServedBy::Local),
        "local http://127.0.0.1:1 sk-openai default"
    );
    let nothing = Available::default();
    let by = |chat| shown(choose_embedder(chat, &nothing, &none));
    assert_eq!(
        by(ServedBy::OpenAi),
        "none: Provider",
        "nobody asked for it by name"
    );
    assert_eq!(by(ServedBy::Local), "none: Provider");
}

#[test]
fn a_requested_embedder_wins_over_the_provider() {
    let by = |requested: &str| {
        shown(choose_embedder(
            ServedBy::OpenAi,
            &available(),
            &asked(requested),
        ))
    };
    assert_eq!(by("none"), "none: Requested");
    assert_eq!(
        by("openai:text-embedding-3-large"),
        "openai https://api.openai.com/v1 sk-openai text-embedding-3-large"
    );
    assert_eq!(
        by("ollama:bge-m3:latest@http://10.0.0.1:11434"),
        "ollama http://10.0.0.1:11434 - bge-m3:latest"
    );
}

#[test]
fn a_key_is_never_sent_to_a_server_it_does_not_belong_to() {
    let by = |requested: &str| {
        shown(choose_embedder(
            ServedBy::OpenAi,
            &available(),
            &asked(requested),
        ))
    };
    assert_eq!(
        by("openai:m@http://elsewhere:1"),
        "local http://elsewhere:1 - m"
    );
    assert_eq!(
        by("openai:m@http://127.0.0.1:8080/v1/"),
        "local http://127.0.0.1:8080/v1/ sk-dormouse m"
    );
    assert_eq!(
        by("openai:m@https://api.openai.com/v1"),
        "local https://api.openai.com/v1 sk-openai m"
    );
    assert_eq!(
        by("openai:m@https://api.openai.com.evil.example/v1"),
        "local https://api.openai.com.evil.example/v1 - m"
    );
    let of_another = Available {
        openai_base_url: Some("http://127.0.0.1:1".to_owned()),
        ..available()
    };
    let foreign = asked("openai:m@https://api.openai.com/v1");
    let shown_of = shown(choose_embedder(ServedBy::OpenAi, &of_another, &foreign));
    assert_eq!(shown_of, "local https://api.openai.com/v1 - m");
    let own = EmbedderSettings {
        api_key: secret("sk-own"),
        ..asked("openai:m@http://elsewhere:1")
    };
    let shown_of = shown(choose_embedder(ServedBy::OpenAi, &available(), &own));
    assert_eq!(shown_of, "local http://elsewhere:1 sk-own m");
}

#[test]
fn openai_without_a_key_names_the_variable_to_set() {
    let nothing = Available::default();
    let error = choose_embedder(ServedBy::Offline, &nothing, &asked("openai:m")).unwrap_err();
    assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn an_invalid_embedder_names_the_valid_forms() {
    let error = |text: &str| text.parse::<EmbedderRef>().unwrap_err();
    for text in [
        "",
        "sk-secret",
        "None",
        "fastembed",
        "http://127.0.0.1:1",
        "file:/x",
    ] {
        assert_eq!(error(text), EmbedderRefError::Unknown, "{text}");
        assert!(!error(text).to_string().contains("sk-secret"));
    }
    for text in [
        "openai",
        "openai:",
        "ollama:",
        "ollama:@",
        "openai:@http://127.0.0.1:1",
    ] {
        assert_eq!(error(text), EmbedderRefError::NoModel, "{text}");
    }
    for text in [
        "openai:m@",
        "openai:m@127.0.0.1:1",
        "ollama:m@ftp://x",
        "ollama:m@sk-secret",
    ] {
        assert_eq!(error(text), EmbedderRefError::Address, "{text}");
    }
    assert!(matches!(
        error("openai:a\u{7}b"),
        EmbedderRefError::Model(_)
    ));
    let model = "@cf/baai/bge-small-en".parse().unwrap();
    let requested = EmbedderRef::OpenAi {
        model,
        base_url: None,
    };
    assert_eq!("openai:@cf/baai/bge-small-en".parse(), Ok(requested));
}

#[test]
fn the_text_after_folder_colon_is_the_path() {
    let folder = |text: &str| text.parse::<EmbedderRef>();
    assert_eq!(
        folder("folder:C:/models"),
        Ok(EmbedderRef::Folder("C:/models".into()))
    );
    assert_eq!(folder("folder:"), Err(EmbedderRefError::NoPath));
    assert_eq!(folder("folder"), Err(EmbedderRefError::NoPath));
}

#[test]
fn a_program_without_the_encoder_refuses_folders_when_it_parses_them() {
    let program = EmbedderOpener::without_folders();
    let refused = program.parse("folder:/models/minilm").unwrap_err();
    assert_eq!(refused, EmbedderRefError::NotBuiltIn);
    assert!(
        refused
            .to_string()
            .contains("build it again with --features encoder")
    );
    assert!(program.parse("ollama:m").is_ok());
    let with_encoder = EmbedderOpener::with_folders(|_| Err("no model".into()));
    assert_eq!(
        with_encoder.parse("folder:/m"),
        Ok(EmbedderRef::Folder("/m".into()))
    );
}

#[test]
fn a_choice_opens_or_names_what_is_missing() {
    let opener = EmbedderOpener::with_folders(|folder| {
        Err(format!("no model in {}", folder.display()).into())
    });
    let open = |choice| match opener.open(choice) {
        Ok(Some(embedder)) => embedder.info().model.to_string(),
        Ok(None) => "none".to_owned(),
        Err(error) => error.to_string(),
    };
    let none = EmbedderChoice::None {
        reason: NoEmbedder::Requested,
    };
    assert_eq!(open(none), "none");
    let nowhere = open(EmbedderChoice::Folder("/nowhere/at/all".into()));
    let server = |requested: &str| {
        open(choose_embedder(ServedBy::Offline, &available(), &asked(requested)).unwrap())
    };
    let (openai, ollama) = (server("openai:m"), server("ollama:m"));
    assert_eq!(nowhere, "no model in /nowhere/at/all");
    if cfg!(feature = "openai") {
        assert_eq!((&*openai, &*ollama), ("m", "m"));
        let wrong = server("openai:m@http://user:sk-secret@x");
        assert!(
            wrong.contains("must not contain a user") && !wrong.contains("sk-"),
            "{wrong}"
        );
    } else {
        assert!(
            openai.ends_with("build it again with --features openai"),
            "{openai}"
        );
    }
}
