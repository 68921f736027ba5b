use std::ffi::OsString;

use dormouse_providers::{Choice, EmbedderRef, Environment, Network, SecretSource, ServedBy};

use super::{Chosen, ModelSelection, ProviderError, assemble, select};
use crate::{
    config::{Config, ProviderSection},
    recall::embedder,
};

fn environment(pairs: &'static [(&'static str, &'static str)]) -> Environment {
    Environment::of(|name| {
        let pair = pairs.iter().find(|(key, _)| *key == name);
        pair.map(|(_, value)| OsString::from(value))
    })
}

fn flags(provider: Option<ServedBy>, base_url: Option<&str>) -> ModelSelection {
    ModelSelection {
        provider,
        model: None,
        base_url: base_url.map(str::to_owned),
        tool_calling: None,
    }
}

fn select_with(
    flags: &ModelSelection,
    pairs: &'static [(&'static str, &'static str)],
) -> Result<Chosen, ProviderError> {
    select(flags, &ProviderSection::default(), &environment(pairs))
}

#[test]
fn without_any_provider_the_offline_model_is_chosen_and_named() {
    let chosen = select_with(&flags(None, None), &[("OPENAI_API_KEY", "")]).unwrap();
    assert_eq!(chosen.name().0, "offline");
    assert_eq!(chosen.why, "no key and no server was found");
}

#[test]
fn a_server_from_a_flag_is_local_and_gets_no_openai_key() {
    let chosen = select_with(
        &flags(None, Some("http://127.0.0.1:1")),
        &[("OPENAI_API_KEY", "sk-1")],
    )
    .unwrap();
    assert_eq!(
        (chosen.name().0.as_str(), chosen.server()),
        ("local", Some("http://127.0.0.1:1"))
    );
    assert_eq!(chosen.why, "--base-url names a server");
    let Choice::Server { config, .. } = chosen.choice else {
        panic!("a server")
    };
    assert_eq!(config.api_key(), None);
}

#[test]
fn a_key_from_the_environment_is_sent_only_to_its_server() {
    let key_at = |url, pairs| {
        let chosen = select_with(&flags(None, Some(url)), pairs).unwrap();
        let Choice::Server { config, .. } = chosen.choice else {
            panic!("a server")
        };
        config.api_key().map(|key| key.expose().to_owned())
    };
    let both = &[
        ("DORMOUSE_BASE_URL", "http://127.0.0.1:1/v1"),
        ("DORMOUSE_API_KEY", "sk-of-one"),
    ];
    assert_eq!(key_at("http://127.0.0.1:2", both), None);
    let same = Some("sk-of-one".to_owned());
    assert_eq!(key_at("http://127.0.0.1:1/", both), same);
    // Without another server, the key can only belong to the named one.
    let alone = &[("DORMOUSE_API_KEY", "sk-of-one")];
    assert_eq!(key_at("http://127.0.0.1:2", alone), same);
}

#[test]
fn flags_win_over_the_configuration_which_wins_over_the_environment() {
    let pairs = &[("OPENAI_API_KEY", "sk-1"), ("OPENROUTER_API_KEY", "sk-2")];
    let section = ProviderSection {
        kind: Some(ServedBy::OpenRouter),
        ..ProviderSection::default()
    };
    let by_file = select(&flags(None, None), &section, &environment(pairs)).unwrap();
    assert_eq!(
        (by_file.name().0.as_str(), by_file.why.as_str()),
        ("openrouter", "asked for by the configuration")
    );
    let by_flag = select(
        &flags(Some(ServedBy::Offline), None),
        &section,
        &environment(pairs),
    )
    .unwrap();
    assert_eq!(
        (by_flag.name().0.as_str(), by_flag.why.as_str()),
        ("offline", "asked for by --provider")
    );
}

#[test]
fn without_an_embedder_in_the_configuration_the_provider_has_it() {
    let by = |pairs| {
        select_with(&flags(None, None), pairs)
            .unwrap()
            .embedder()
            .to_string()
    };
    let openai = "text-embedding-3-small of openai";
    assert_eq!(by(&[("OPENAI_API_KEY", "sk-1")]), openai);
    assert_eq!(
        by(&[("OLLAMA_HOST", "127.0.0.1")]),
        "nomic-embed-text of ollama"
    );
    assert_eq!(
        by(&[("DORMOUSE_BASE_URL", "http://127.0.0.1:1")]),
        "default of local"
    );
    let none = "none (the provider has no embeddings)";
    for pairs in [
        &[("ANTHROPIC_API_KEY", "sk-1")][..],
        &[("OPENROUTER_API_KEY", "sk-1")],
        &[],
    ] {
        assert_eq!(by(pairs), none);
    }
    // A visit that stays offline sends nothing, even if keys are set.
    let offline = flags(Some(ServedBy::Offline), None);
    let offline = select_with(&offline, &[("OPENAI_API_KEY", "sk-1")]).unwrap();
    assert_eq!(offline.embedder().to_string(), none);

    let mut config = Config::default();
    let keys = environment(&[("OPENAI_API_KEY", "sk-1")]);
    assert_eq!(embedder(&config, &keys).unwrap().to_string(), openai);
    config.memory.embedder = Some(EmbedderRef::None.into());
    assert_eq!(
        embedder(&config, &keys).unwrap().to_string(),
        "none (asked for)"
    );
}

#[test]
fn a_configured_server_is_used_only_for_its_provider() {
    let pairs = &[("OPENAI_API_KEY", "sk-1"), ("OWN", "sk-own")];
    let section = ProviderSection {
        base_url: Some("http://127.0.0.1:1".to_owned().into()),
        key_from: Some("env:OWN".parse::<SecretSource>().unwrap().into()),
        ..ProviderSection::default()
    };
    let shown = |flags: &ModelSelection| {
        let chosen = select(flags, &section, &environment(pairs)).unwrap();
        let Choice::Server { config, .. } = &chosen.choice else {
            panic!("a server")
        };
        let key = config.api_key().map(|key| key.expose().to_owned());
        (config.base_url().to_owned(), key.unwrap_or_default())
    };
    let of = |url: &str, key: &str| (url.to_owned(), key.to_owned());
    let here = of("http://127.0.0.1:1", "sk-own");
    assert_eq!(shown(&flags(None, None)), here);
    assert_eq!(shown(&flags(Some(ServedBy::Local), None)), here);
    assert_eq!(
        shown(&flags(Some(ServedBy::OpenAi), None)),
        of("https://api.openai.com/v1", "sk-1")
    );
    assert_eq!(
        shown(&flags(None, Some("http://127.0.0.1:2"))),
        of("http://127.0.0.1:2", "")
    );
    let chosen_model = |requested: &str| {
        let chosen = select(&flags(None, None), &section, &environment(pairs)).unwrap();
        match chosen.listed(&requested.parse().unwrap(), None).unwrap() {
            Choice::Offline { .. } => None,
            Choice::Server { config, .. } => config.api_key().map(|key| key.expose().to_owned()),
        }
    };
    assert_eq!(chosen_model("local:m").as_deref(), Some("sk-own"));
    assert_eq!(chosen_model("local:m@http://127.0.0.1:2"), None);
    assert_eq!(chosen_model("openai:m").as_deref(), Some("sk-1"));
    let mut keys: Vec<_> = select(&flags(None, None), &section, &environment(pairs))
        .unwrap()
        .keys()
        .iter()
        .map(|key| key.expose().to_owned())
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys, ["sk-1", "sk-own"]);
}

#[test]
fn a_server_is_refused_for_a_provider_without_a_configurable_address() {
    for provider in [ServedBy::OpenRouter, ServedBy::Offline] {
        let refused = select_with(&flags(Some(provider), Some("http://x")), &[]);
        assert!(
            matches!(refused, Err(ProviderError::BaseUrl(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn an_invalid_key_is_refused_and_not_repeated() {
    let refused = select_with(&flags(None, None), &[("OPENAI_API_KEY", "sk-1\nsk-2")]).unwrap_err();
    let text = dormouse_text::error_chain(&refused);
    assert!(
        text.contains("OPENAI_API_KEY") && !text.contains("sk-"),
        "{text}"
    );
}

#[test]
fn a_provider_without_key_or_address_is_refused_with_advice() {
    let refused = select_with(&flags(Some(ServedBy::OpenAi), None), &[]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the provider openai needs a key: set OPENAI_API_KEY"
    );
    let refused = select_with(&flags(Some(ServedBy::Local), None), &[]).unwrap_err();
    for way in ["--base-url", "[provider]", "DORMOUSE_BASE_URL"] {
        assert!(refused.to_string().contains(way), "{refused}");
    }
}

#[test]
fn the_printed_retry_budget_is_the_one_that_retries_use() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _its_clock = runtime.enter();
    let chosen = select_with(&flags(None, None), &[]).unwrap();
    let section = ProviderSection::default();
    let network = Network::direct();
    let models = assemble(&chosen, &section, &[], &network, |_| ()).unwrap();
    let shown = || models.board.report().first().and_then(|it| it.retries_left);
    assert_eq!(shown(), Some(10));
    for _ in 0..10 {
        models.retry_budget.withdraw().unwrap();
    }
    assert_eq!(shown(), Some(0));
}
