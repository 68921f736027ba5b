//! Parses one model in a server's list.

use dormouse_contracts::{ModelName, Usd};
use serde_json::Value;

use super::{ListedModel, ListedPrice};
use crate::{http::Redact, stream::TokenCounts};

/// The maximum length of a text, in bytes. Longer texts are dropped.
const WORD_LIMIT: usize = 256;

/// The maximum number of texts in a list. Further texts are dropped.
const WORDS_LIMIT: usize = 64;

/// Where servers report the context window: OpenRouter, Anthropic, vLLM, Groq, LM Studio, llama-server.
const WINDOWS: [&str; 7] = [
    "/context_length",
    "/max_input_tokens",
    "/max_model_len",
    "/context_window",
    "/max_context_length",
    "/meta/n_ctx",
    "/meta/n_ctx_train",
];

/// Where servers report the output limit: OpenRouter, Anthropic, Groq.
const OUTPUT_LIMITS: [&str; 3] = [
    "/top_provider/max_completion_tokens",
    "/max_tokens",
    "/max_completion_tokens",
];

/// Parses an entry; `None` if it has no valid name. Other fields are optional.
pub(super) fn read(entry: &Value, redact: &Redact) -> Option<ListedModel> {
    let names = ["id", "model", "name"];
    let mut names = names.iter().filter_map(|name| entry.get(name)?.as_str());
    let name = ModelName::try_new(names.next()?).ok()?;
    // A name that contains the key would reveal it when the name is printed.
    if redact.line(name.as_str()) != name.as_str() {
        return None;
    }
    let words = |name| words(entry.get(name), redact);
    Some(ListedModel {
        name,
        context_window: first(entry, &WINDOWS),
        output_limit: first(entry, &OUTPUT_LIMITS),
        price: entry.get("pricing").and_then(price),
        parameters: words("supported_parameters"),
        capabilities: words("capabilities"),
        owned_by: entry.get("owned_by").and_then(|owner| word(owner, redact)),
    })
}

/// Returns the first positive token count.
fn first(entry: &Value, places: &[&str]) -> Option<u32> {
    let mut counts = places
        .iter()
        .filter_map(|place| TokenCounts::tokens(entry.pointer(place)));
    counts.find(|count| *count > 0)
}

/// Returns the texts of a list.
pub(super) fn words(list: Option<&Value>, redact: &Redact) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|entry| word(entry, redact))
        .take(WORDS_LIMIT)
        .collect()
}

fn word(value: &Value, redact: &Redact) -> Option<String> {
    let text = value.as_str()?;
    let is_kept = !text.is_empty() && text.len() <= WORD_LIMIT;
    is_kept.then(|| redact.line(text))
}

/// Parses OpenRouter's price: dollars per token, as text. A negative price depends on the routed model and is unknown.
fn price(pricing: &Value) -> Option<ListedPrice> {
    let of = |name| {
        let value: &Value = pricing.get(name)?;
        let dollars = match value.as_str() {
            Some(text) => text.parse().ok()?,
            None => value.as_f64()?,
        };
        Usd::from_dollars(dollars)
    };
    Some(ListedPrice {
        input: of("prompt")?,
        output: of("completion")?,
        cached_input: of("input_cache_read"),
        cache_write: of("input_cache_write"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Secret;

    fn read_plain(entry: &Value) -> Option<ListedModel> {
        read(entry, &Redact::default())
    }

    #[test]
    fn all_openrouter_fields_of_a_model_are_read() {
        let entry = json!({
            "id": "a/b", "context_length": 200_000, "supported_parameters": ["tools", 7, "seed"],
            "top_provider": {"max_completion_tokens": 64_000},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003", "image": "0"}
        });
        let model = read_plain(&entry).unwrap();
        let price = ListedPrice {
            input: Usd::from_picos(3_000_000),
            output: Usd::from_picos(15_000_000),
            cached_input: Some(Usd::from_picos(300_000)),
            cache_write: None,
        };
        assert_eq!(model.price, Some(price));
        assert_eq!(model.parameters, ["tools", "seed"]);
        assert_eq!(
            (model.context_window, model.output_limit),
            (Some(200_000), Some(64_000))
        );
    }

    #[test]
    fn an_unknown_price_is_never_zero() {
        for pricing in [
            json!({"prompt": "-1", "completion": "-1"}),
            json!({"prompt": "0.1"}),
            json!({"prompt": "NaN", "completion": "inf"}),
            json!({"prompt": null, "completion": ""}),
            json!("free"),
        ] {
            let model = read_plain(&json!({"id": "m", "pricing": pricing})).unwrap();
            assert_eq!(model.price, None, "{pricing}");
        }
        let free = json!({"id": "m", "pricing": {"prompt": "0", "completion": 0}});
        assert_eq!(read_plain(&free).unwrap().price.unwrap().input, Usd::ZERO);
    }

    #[test]
    fn every_servers_field_names_are_understood() {
        for (entry, window, limit) in [
            (
                json!({"id": "m", "max_input_tokens": 9, "max_tokens": 3}),
                Some(9),
                Some(3),
            ),
            (json!({"id": "m", "max_model_len": 9}), Some(9), None),
            (
                json!({"id": "m", "meta": {"n_ctx_train": 9}}),
                Some(9),
                None,
            ),
            (
                json!({"id": "m", "context_length": -1, "context_window": 9}),
                Some(9),
                None,
            ),
            (json!({"id": "m", "context_length": 1e300}), None, None),
            (json!({"id": "m", "context_length": 0}), None, None),
        ] {
            let model = read_plain(&entry).unwrap();
            let shown = (model.context_window, model.output_limit);
            assert_eq!(shown, (window, limit), "{entry}");
        }
    }

    #[test]
    fn an_entry_with_an_invalid_name_or_the_key_in_it_is_skipped() {
        let redact = Redact::new(Some(&Secret::try_new("sk-secret-key").unwrap()));
        for name in [
            "",
            "a\nb",
            "sk-secret-key",
            "m/SK-secret-KEY:free",
            &"x".repeat(10_000),
        ] {
            assert_eq!(read(&json!({ "id": name }), &redact), None, "{name}");
        }
        let entry = json!({"id": "m", "owned_by": "sk-secret-key", "capabilities": ["x".repeat(257), "sk-secret-key"]});
        let model = read(&entry, &redact).unwrap();
        assert_eq!(model.owned_by.as_deref(), Some("***"));
        assert_eq!(model.capabilities, ["***"]);
    }

    proptest! {
        #[test]
        fn every_rendered_text_is_bounded(word in "\\PC{0,300}", count in 0_usize..200) {
            let entry = json!({"id": "m", "owned_by": word, "capabilities": vec![&word; count]});
            let model = read_plain(&entry).unwrap();
            let owner = model.owned_by.unwrap_or_default();
            prop_assert!(owner.len() <= WORD_LIMIT && model.capabilities.len() <= WORDS_LIMIT);
        }
    }
}
