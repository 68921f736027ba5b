//! A day of requests: counted, corrected by what came back, and summed up.

use std::{num::NonZeroUsize, sync::Arc};

use dormouse_contracts::{
    ChatRequest, Message, ModelName, ProviderId, Purpose, TokenCounter, Usage, Usd,
};
use dormouse_providers::{
    CachedCounter, CalibratedCounter, Calibration, Family, FamilyEstimate, Ledger, LedgerKey,
    Observed, PriceEntry, PriceTable, count_request, token_counter_for,
};

fn key(provider: &str, model: &str, purpose: Purpose) -> LedgerKey {
    LedgerKey {
        provider: ProviderId::try_new(provider).unwrap(),
        model: ModelName::try_new(model).unwrap(),
        purpose,
    }
}

fn request(turns: usize) -> ChatRequest {
    let messages = (0..turns).map(|turn| Message::User {
        content: format!(
            "Alice said for the {turn}th time that the kettle is in the blue box, and left."
        ),
    });
    ChatRequest {
        messages: messages.collect(),
        ..ChatRequest::default()
    }
}

/// A provider whose vocabulary takes 40 per cent more than is estimated.
fn counted_there(request: &ChatRequest) -> Usage {
    let estimate = count_request(&FamilyEstimate::new(Family::Large), request).total();
    Usage {
        prompt_tokens: estimate * 14 / 10,
        completion_tokens: 50,
        ..Usage::default()
    }
}

#[test]
fn an_estimate_is_close_to_the_providers_count_and_survives_a_restart() {
    let key = key("local", "tiny", Purpose::Answer);
    let estimate = || -> Arc<dyn TokenCounter> {
        let plain = token_counter_for(&key.provider, &key.model);
        Arc::new(CachedCounter::new(plain, NonZeroUsize::new(100).unwrap()))
    };
    let counter = CalibratedCounter::new(estimate());
    for turns in 10..60 {
        let request = request(turns);
        let count = counter.count_request(&request);
        assert_eq!(
            counter.observe(&count, &counted_there(&request)),
            Observed::Learnt
        );
    }
    let kept = serde_json::to_string(&counter.calibration()).unwrap();

    let learnt: Calibration = serde_json::from_str(&kept).unwrap();
    let counter = CalibratedCounter::resumed(estimate(), learnt);
    let next = request(80);
    let (corrected, there) = (
        counter.corrected(&counter.count_request(&next)),
        counted_there(&next),
    );
    assert!(
        corrected.abs_diff(there.prompt_tokens) * 50 < there.prompt_tokens,
        "{corrected} for {there:?}"
    );
}

#[test]
fn the_sum_of_a_day_lists_unknown_costs() {
    let prices = r#"[{ "provider": "local", "model": "tiny*", "input": 1, "output": 2.5, "source": "my electricity" }]"#;
    let prices: Vec<PriceEntry> = serde_json::from_str(prices).unwrap();
    let table = PriceTable::listed().with_overrides(&prices).unwrap();
    let usage = Usage {
        prompt_tokens: 1_000,
        completion_tokens: 100,
        ..Usage::default()
    };
    let said = Usage {
        cost: Usd::from_dollars(0.5),
        ..usage
    };

    let mut day = Ledger::default();
    for (key, usage) in [
        (key("openai", "gpt-5-mini", Purpose::Answer), usage),
        (key("local", "tiny-2", Purpose::Scoring), usage),
        (key("openrouter", "openai/gpt-5", Purpose::Answer), said),
        (key("offline", "offline", Purpose::Heartbeat), usage),
        (key("ollama", "llama3.2", Purpose::Compaction), usage),
    ] {
        day.record(&key, &usage, table.cost(&key.provider, &key.model, &usage));
    }
    day.record_without_usage(&key("openai", "gpt-5-mini", Purpose::Answer));

    let total = day.total();
    assert_eq!(
        total.known,
        Usd::from_picos(450_000_000 + 1_250_000_000 + 500_000_000_000)
    );
    assert_eq!(
        total.to_string(),
        "$0.501700 and 2 requests of unknown price"
    );
    assert_eq!(
        (total.requests, total.prompt_tokens, total.without_usage),
        (6, 5_000, 1)
    );
    assert_eq!(
        day.sum(|it| it.provider.as_str() == "ollama").to_string(),
        "1 request of unknown price"
    );
}
