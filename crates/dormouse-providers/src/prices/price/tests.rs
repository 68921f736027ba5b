use proptest::prelude::*;

use super::*;

fn entry(input: f64, output: f64) -> PriceEntry {
    PriceEntry {
        provider: ProviderId::try_new("openai").unwrap(),
        model: "gpt-5".to_owned(),
        input,
        output,
        cached_input: None,
        cache_write: None,
        dearer_beyond: None,
        as_of: None,
        source: String::new(),
    }
}

fn price(entry: &PriceEntry) -> Price {
    Price::configured(entry).unwrap().1
}

fn with_cache() -> Price {
    price(&PriceEntry {
        cached_input: Some(0.3),
        cache_write: Some(3.75),
        ..entry(3.0, 15.0)
    })
}

#[test]
fn every_kind_of_token_is_charged_once_at_its_own_price() {
    let usage = Usage {
        prompt_tokens: 1_000,
        completion_tokens: 100,
        cached_tokens: 600,
        cache_write_tokens: 300,
        reasoning_tokens: 40,
        cost: None,
    };
    // 100 × 3 + 600 × 0.3 + 300 × 3.75 + 100 × 15, in millionths of a dollar.
    assert_eq!(with_cache().cost(&usage), Usd::from_picos(3_105_000_000));
}

#[test]
fn a_single_token_of_the_cheapest_model_has_a_price() {
    let usage = Usage {
        prompt_tokens: 1,
        ..Usage::default()
    };
    assert_eq!(
        price(&entry(0.000_001, 0.0)).cost(&usage),
        Usd::from_picos(1)
    );
}

#[test]
fn a_cache_larger_than_the_prompt_is_not_believed() {
    let usage = Usage {
        prompt_tokens: 10,
        cached_tokens: u32::MAX,
        cache_write_tokens: u32::MAX,
        ..Usage::default()
    };
    assert_eq!(with_cache().cost(&usage), Usd::from_picos(30_000_000));
}

#[test]
fn excess_thoughts_are_charged_as_the_reply() {
    let usage = Usage {
        completion_tokens: 10,
        reasoning_tokens: 50,
        ..Usage::default()
    };
    assert_eq!(with_cache().cost(&usage), Usd::from_picos(750_000_000));
}

#[test]
fn without_a_cache_price_cached_tokens_cost_like_the_prompt() {
    let price = price(&entry(2.0, 8.0));
    assert_eq!(
        (price.cached_input(), price.cache_write()),
        (price.input(), price.input())
    );
}

#[test]
fn invalid_entries_are_rejected_with_their_position() {
    let negative = Price::configured(&entry(-1.0, 8.0)).unwrap_err();
    assert_eq!(
        negative.to_string(),
        "the price of openai \"gpt-5\": input is negative; use 0 if it is free"
    );
    let problem = |entry: PriceEntry| Price::configured(&entry).unwrap_err().problem();
    let output = PriceField::Output;
    assert_eq!(
        problem(entry(2.0, f64::INFINITY)),
        PriceProblem::Absurd(output)
    );
    assert_eq!(problem(entry(2.0, 10_001.0)), PriceProblem::Absurd(output));
    assert_eq!(
        problem(entry(2.0, f64::NEG_INFINITY)),
        PriceProblem::Negative(output)
    );
    assert!(matches!(
        problem(entry(2.0, f64::NAN)),
        PriceProblem::NotANumber(_)
    ));
    assert_eq!(
        problem(entry(2.0, 0.000_000_5)),
        PriceProblem::TooPrecise(output)
    );
    let starred = PriceEntry {
        model: "a*b".to_owned(),
        ..entry(1.0, 1.0)
    };
    assert_eq!(
        problem(starred),
        PriceProblem::Model(ModelPatternError::Star)
    );
}

#[test]
fn a_price_is_rendered_as_vendors_write_it() {
    assert_eq!(
        with_cache().to_string(),
        "$3 in, $0.3 cached, $3.75 to cache, $15 out for a million tokens, by the configured prices"
    );
    let tiered = PriceEntry {
        dearer_beyond: Some(272_000),
        ..entry(0.05, 0.4)
    };
    assert_eq!(
        price(&tiered).to_string(),
        "$0.05 in, $0.4 out for a million tokens, for prompts of up to 272000 tokens, by the configured prices"
    );
}

#[test]
fn an_unknown_field_in_an_entry_is_rejected() {
    let text = r#"{"provider":"openai","model":"gpt-5","input":1,"output":2,"chached_input":1}"#;
    assert!(serde_json::from_str::<PriceEntry>(text).is_err());
    let text = r#"{"provider":"openai","model":"gpt-5","input":"1","output":2}"#;
    assert!(serde_json::from_str::<PriceEntry>(text).is_err());
}

fn usage() -> impl Strategy<Value = Usage> {
    let tokens = || prop_oneof![0u32..5_000, any::<u32>()];
    (tokens(), tokens(), tokens(), tokens(), tokens()).prop_map(
        |(
            prompt_tokens,
            completion_tokens,
            cached_tokens,
            cache_write_tokens,
            reasoning_tokens,
        )| Usage {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
            cache_write_tokens,
            reasoning_tokens,
            cost: None,
        },
    )
}

proptest! {
    #[test]
    fn a_cost_is_always_between_the_lowest_and_highest_price_of_its_tokens(usage in usage()) {
        let cost = u128::from(with_cache().cost(&usage).picos());
        let prompt = u128::from(usage.prompt_tokens);
        let reply = u128::from(usage.completion_tokens.max(usage.reasoning_tokens)) * 15_000_000;
        prop_assert!(cost >= prompt * 300_000 + reply);
        prop_assert!(cost <= prompt * 3_750_000 + reply);
    }

    #[test]
    fn a_price_with_six_digits_is_always_taken_exactly(picos in 0u64..=10_000_000_000) {
        let per_million = format!("{}.{:06}", picos / 1_000_000, picos % 1_000_000);
        let price = price(&entry(per_million.parse().unwrap(), 0.0));
        prop_assert_eq!(price.input(), Usd::from_picos(picos));
    }

    #[test]
    fn no_number_makes_a_price_panic(input: f64, output: f64) {
        let _either = Price::configured(&entry(input, output));
    }
}
