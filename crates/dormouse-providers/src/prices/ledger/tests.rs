use proptest::prelude::*;

use super::*;
use crate::CostSource;

fn key(model: &str, purpose: Purpose) -> LedgerKey {
    LedgerKey {
        provider: ProviderId::try_new("openai").unwrap(),
        model: ModelName::try_new(model).unwrap(),
        purpose,
    }
}

fn known(picos: u64) -> Cost {
    Cost::Known {
        amount: Usd::from_picos(picos),
        source: CostSource::ByProvider,
    }
}

const USAGE: Usage = Usage {
    prompt_tokens: 10,
    completion_tokens: 3,
    cached_tokens: 4,
    cache_write_tokens: 2,
    reasoning_tokens: 1,
    cost: None,
};

#[test]
fn unknown_costs_are_listed_next_to_the_sum() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.total().to_string(), "$0.000000");
    ledger.record_without_usage(&key("a", Purpose::Answer));
    assert_eq!(ledger.total().to_string(), "1 request of unknown price");
    ledger.record(&key("a", Purpose::Answer), &USAGE, known(12_300_000_000));
    ledger.record(&key("b", Purpose::Scoring), &USAGE, Cost::Unknown);
    ledger.record(&key("b", Purpose::Scoring), &USAGE, Cost::Unknown);
    assert_eq!(
        ledger.total().to_string(),
        "$0.012300 and 3 requests of unknown price"
    );
    assert!(!ledger.total().is_complete());
}

#[test]
fn a_sum_with_a_lower_bound_is_a_lower_bound() {
    let mut ledger = Ledger::default();
    let source = CostSource::ByConfiguration;
    let amount = Usd::from_picos(1_000_000);
    ledger.record(
        &key("a", Purpose::Answer),
        &USAGE,
        Cost::AtLeast { amount, source },
    );
    ledger.record(&key("a", Purpose::Answer), &USAGE, known(1_000_000));
    assert_eq!(ledger.total().to_string(), "at least $0.000002");
}

#[test]
fn entries_are_separate_by_model_and_purpose_and_can_be_summed_by_each() {
    let mut ledger = Ledger::default();
    ledger.record(&key("a", Purpose::Answer), &USAGE, known(5));
    ledger.record(&key("a", Purpose::Heartbeat), &USAGE, known(7));
    ledger.record(&key("b", Purpose::Answer), &USAGE, known(11));
    assert_eq!(ledger.lines().count(), 3);
    assert_eq!(
        ledger.sum(|it| it.purpose == Purpose::Answer).known,
        Usd::from_picos(16)
    );
    let a = ledger.sum(|it| it.model.as_str() == "a");
    assert_eq!(
        (a.requests, a.prompt_tokens, a.completion_tokens),
        (2, 20, 6)
    );
    assert_eq!(
        (a.cached_tokens, a.cache_write_tokens, a.reasoning_tokens),
        (8, 4, 2)
    );
    assert!(
        ledger
            .to_string()
            .starts_with("openai a answer, 1 request: $0.000001\n")
    );
}

#[test]
fn a_ledger_read_back_is_the_one_that_was_written() {
    let mut ledger = Ledger::default();
    ledger.record(&key("a", Purpose::Answer), &USAGE, known(5));
    ledger.record_without_usage(&key("b", Purpose::Compaction));
    let json = serde_json::to_string(&ledger).unwrap();
    assert_eq!(serde_json::from_str::<Ledger>(&json).unwrap(), ledger);
}

fn cost() -> impl Strategy<Value = Cost> {
    let source = CostSource::ByConfiguration;
    prop_oneof![
        Just(Cost::Unknown),
        any::<u64>().prop_map(known),
        any::<u64>().prop_map(move |picos| Cost::AtLeast {
            amount: Usd::from_picos(picos),
            source
        }),
    ]
}

proptest! {
    #[test]
    fn merged_ledgers_always_equal_the_whole(
        costs in prop::collection::vec((cost(), "[ab]"), 0..20),
        cut in 0usize..20,
    ) {
        let (mut whole, mut left, mut right) = (Ledger::default(), Ledger::default(), Ledger::default());
        for (at, (cost, model)) in costs.iter().enumerate() {
            let key = key(model, Purpose::Answer);
            whole.record(&key, &USAGE, *cost);
            if at < cut { &mut left } else { &mut right }.record(&key, &USAGE, *cost);
        }
        left.merge(&right);
        prop_assert_eq!(left, whole);
    }

    #[test]
    fn a_sum_with_an_unknown_part_is_never_rendered_as_a_plain_amount(
        costs in prop::collection::vec(cost(), 1..20),
    ) {
        let mut ledger = Ledger::default();
        for cost in &costs {
            ledger.record(&key("a", Purpose::Answer), &USAGE, *cost);
        }
        let text = ledger.total().to_string();
        let unknown = costs.contains(&Cost::Unknown);
        prop_assert_eq!(text.contains("of unknown price"), unknown);
        let bound = costs.iter().any(|cost| matches!(cost, Cost::AtLeast { .. }));
        prop_assert_eq!(text.contains("at least"), bound);
    }
}
