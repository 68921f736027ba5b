use std::collections::BTreeSet;

use super::*;

fn provider(name: &str) -> ProviderId {
    ProviderId::try_new(name).unwrap()
}

fn model(name: &str) -> ModelName {
    ModelName::try_new(name).unwrap()
}

fn input(table: &PriceTable, by: &str, name: &str) -> Option<u64> {
    Some(table.price(&provider(by), &model(name))?.input().picos())
}

fn entry(by: &str, name: &str, input: f64) -> PriceEntry {
    serde_json::from_value(serde_json::json!({
        "provider": by, "model": name, "input": input, "output": 2.0 * input,
    }))
    .unwrap()
}

const USAGE: Usage = Usage {
    prompt_tokens: 1_000,
    completion_tokens: 100,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    cost: None,
};

#[test]
fn every_listed_price_is_valid_dated_sourced_and_unique() {
    let file: File = serde_json::from_str(include_str!("../prices.json")).unwrap();
    let mut seen = BTreeSet::new();
    for entry in &file.prices {
        let (_, price) = Price::listed(entry).unwrap();
        assert!(!price.source().is_empty(), "{entry:?}");
        assert!(
            entry.output == 0.0 || price.output() >= price.input(),
            "{entry:?}"
        );
        assert!(
            price.cached_input() <= price.input() && price.input() <= price.cache_write(),
            "{entry:?}"
        );
        assert!(
            seen.insert((entry.provider.clone(), entry.model.clone())),
            "{entry:?}"
        );
    }
    assert_eq!(PriceTable::listed().len(), file.prices.len());
    assert!(!PriceTable::listed().is_empty());
}

#[test]
fn a_price_for_the_full_name_wins_over_one_for_the_bare_name() {
    let bare = entry("openai", "gpt-x", 1.0);
    let whole = entry("openai", "openai/gpt-x", 3.0);
    for entries in [[&bare, &whole], [&whole, &bare]] {
        let table = PriceTable::listed().with_overrides(entries).unwrap();
        assert_eq!(input(&table, "openai", "openai/gpt-x"), Some(3_000_000));
        assert_eq!(input(&table, "openai", "gpt-x"), Some(1_000_000));
    }
}

#[test]
fn the_default_models_of_the_providers_have_a_price() {
    let table = PriceTable::listed();
    assert_eq!(input(&table, "openai", "gpt-4.1-mini"), Some(400_000));
    assert_eq!(
        input(&table, "openai", "gpt-4.1-mini-2025-04-14"),
        Some(400_000)
    );
    assert_eq!(
        input(&table, "openai", "openai/gpt-4.1-mini"),
        Some(400_000)
    );
    assert_eq!(
        input(&table, "anthropic", "claude-3-opus-20240229"),
        Some(15_000_000)
    );
    assert_eq!(
        input(&table, "openai", "gpt-4o-2024-05-13"),
        Some(5_000_000)
    );
}

#[test]
fn a_name_that_only_resembles_a_listed_one_has_no_price() {
    let table = PriceTable::listed();
    for name in [
        "gpt-4o-audio-preview",
        "gpt-5-chat-latest-x",
        "ft:gpt-4o:alice::1",
        "claude-opus-4-9",
        "anthropic/gpt-5",
    ] {
        assert_eq!(input(&table, "openai", name), None, "{name}");
        assert_eq!(input(&table, "anthropic", name), None, "{name}");
    }
}

#[test]
fn models_of_other_servers_have_no_list_price() {
    let table = PriceTable::listed();
    for by in ["openrouter", "ollama", "local"] {
        for name in ["gpt-4.1-mini", "openai/gpt-4.1-mini", "llama3.2"] {
            assert_eq!(
                table.cost(&provider(by), &model(name), &USAGE),
                Cost::Unknown
            );
        }
    }
}

#[test]
fn the_offline_model_costs_nothing_and_that_is_known() {
    let cost = PriceTable::listed().cost(&provider("offline"), &model("offline"), &USAGE);
    assert_eq!(
        cost,
        Cost::Known {
            amount: Usd::ZERO,
            source: CostSource::Nobody
        }
    );
}

#[test]
fn a_price_from_the_provider_wins_over_the_table() {
    let said = Usage {
        cost: Some(Usd::from_picos(7)),
        ..USAGE
    };
    for by in ["openai", "openrouter"] {
        assert_eq!(
            PriceTable::listed().cost(&provider(by), &model("gpt-5"), &said),
            Cost::Known {
                amount: Usd::from_picos(7),
                source: CostSource::ByProvider
            }
        );
    }
}

#[test]
fn user_prices_win_over_list_prices_and_better_matches_win() {
    let entries = [
        entry("openai", "*", 9.0),
        entry("openai", "gpt-5*", 8.0),
        entry("openai", "gpt-5", 7.0),
        entry("local", "*", 0.0),
    ];
    let table = PriceTable::listed().with_overrides(&entries).unwrap();
    assert_eq!(input(&table, "openai", "gpt-5-2025-08-07"), Some(7_000_000));
    assert_eq!(input(&table, "openai", "gpt-5-mini"), Some(8_000_000));
    assert_eq!(input(&table, "openai", "gpt-4.1"), Some(9_000_000));
    assert_eq!(input(&table, "anthropic", "claude-opus-5"), Some(5_000_000));
    assert_eq!(
        table.cost(&provider("local"), &model("tiny"), &USAGE),
        Cost::Known {
            amount: Usd::ZERO,
            source: CostSource::ByConfiguration
        }
    );
}

#[test]
fn two_prices_for_one_model_are_refused() {
    let entries = [entry("openai", "gpt-5", 1.0), entry("openai", "gpt-5", 2.0)];
    let error = PriceTable::listed().with_overrides(&entries).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the price of openai \"gpt-5\": two entries set it; expected one"
    );
}

#[test]
fn a_prompt_beyond_the_tier_costs_at_least_what_the_table_says() {
    let cost = |prompt_tokens| {
        let usage = Usage {
            prompt_tokens,
            ..USAGE
        };
        PriceTable::listed().cost(&provider("anthropic"), &model("claude-sonnet-4-5"), &usage)
    };
    assert!(matches!(cost(200_000), Cost::Known { .. }));
    let beyond = cost(200_001);
    assert!(matches!(beyond, Cost::AtLeast { .. }));
    assert_eq!(
        beyond.to_string(),
        "at least $0.601503, by the list prices of 2026-09-07"
    );
}
