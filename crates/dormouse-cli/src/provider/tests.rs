use std::ffi::OsString;

use dormouse_providers::{Choice, Environment, Network, SecretSource, ServedBy};

use super::{Chosen, ProviderError, ProviderFlags, assemble, select};
use crate::config::ProviderSection;

fn environment(pairs: &'static [(&'static str, &'static str)]) -> Environment {
    Environment::of(|name| {
        let pair = pairs.iter().find(|(key, _)| *key == name);
        pair.map(|(_, value)| OsString::from(value))
    })
}

fn flags(provider: Option<ServedBy>, base_url: Option<&str>) -> ProviderFlags {
    ProviderFlags {
        provider,
        model: None,
        base_url: base_url.map(str::to_owned),
        tool_calling: None,
    }
}

fn select_with(
    flags: &ProviderFlags,
    pairs: &'static [(&'static str, &'static str)],
) -> Result<Chosen, ProviderError> {
    select(flags, &ProviderSection::default(), &environment(pairs))
}

#[test]
fn with_nothing_found_it_is_offline_and_says_so() {
    let chosen = select_with(&flags(None, None), &[("OPENAI_API_KEY", "")]).unwrap();
    assert_eq!(chosen.name().0, "offline");
    assert_eq!(chosen.why, "no key and no server was found");
}

#[test]
fn a_server_named_by_flag_is_local_and_gets_no_key_of_openai() {
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
fn the_key_of_a_server_in_the_environment_goes_to_no_other_server() {
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
    // Without another server it can belong to none but the one that is named.
    let alone = &[("DORMOUSE_API_KEY", "sk-of-one")];
    assert_eq!(key_at("http://127.0.0.1:2", alone), same);
}

#[test]
fn a_flag_wins_over_the_configuration_and_that_over_the_environment() {
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
fn a_server_in_the_configuration_is_for_the_provider_there_alone() {
    let pairs = &[("OPENAI_API_KEY", "sk-1"), ("OWN", "sk-own")];
    let section = ProviderSection {
        base_url: Some("http://127.0.0.1:1".to_owned().into()),
        key_from: Some("env:OWN".parse::<SecretSource>().unwrap().into()),
        ..ProviderSection::default()
    };
    let told = |flags: &ProviderFlags| {
        let chosen = select(flags, &section, &environment(pairs)).unwrap();
        let Choice::Server { config, .. } = &chosen.choice else {
            panic!("a server")
        };
        let key = config.api_key().map(|key| key.expose().to_owned());
        (config.base_url().to_owned(), key.unwrap_or_default())
    };
    let of = |url: &str, key: &str| (url.to_owned(), key.to_owned());
    let here = of("http://127.0.0.1:1", "sk-own");
    assert_eq!(told(&flags(None, None)), here);
    assert_eq!(told(&flags(Some(ServedBy::Local), None)), here);
    assert_eq!(
        told(&flags(Some(ServedBy::OpenAi), None)),
        of("https://api.openai.com/v1", "sk-1")
    );
    assert_eq!(
        told(&flags(None, Some("http://127.0.0.1:2"))),
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
fn a_server_is_refused_where_it_cannot_be_meant() {
    for provider in [ServedBy::OpenRouter, ServedBy::Offline] {
        let refused = select_with(&flags(Some(provider), Some("http://x")), &[]);
        assert!(
            matches!(refused, Err(ProviderError::BaseUrl(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn a_key_that_is_none_is_refused_and_not_repeated() {
    let refused = select_with(&flags(None, None), &[("OPENAI_API_KEY", "sk-1\nsk-2")]).unwrap_err();
    let text = crate::exit::Report(&refused).to_string();
    assert!(
        text.contains("OPENAI_API_KEY") && !text.contains("sk-"),
        "{text}"
    );
}

#[test]
fn what_was_asked_for_and_is_not_there_is_said() {
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
fn the_budget_that_is_told_is_the_one_that_retries_are_taken_from() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _its_clock = runtime.enter();
    let chosen = select_with(&flags(None, None), &[]).unwrap();
    let section = ProviderSection::default();
    let network = Network::direct();
    let models = assemble(&chosen, &section, &[], &network, |_| ()).unwrap();
    let told = || models.board.report().first().and_then(|it| it.retries_left);
    assert_eq!(told(), Some(10));
    for _ in 0..10 {
        models.retry_budget.withdraw().unwrap();
    }
    assert_eq!(told(), Some(0));
}
