use std::collections::BTreeSet;

use dormouse_contracts::Usd;

use super::*;
use crate::{MaxPrice, server::written};

#[test]
fn default_routing_is_not_sent() {
    let first = ModelName::try_new("a/b").unwrap();
    let routing = Routing {
        models: vec![first.clone()],
        ..Routing::default()
    };
    assert_eq!(
        (routing.models_json(&first), routing.provider_json()),
        (None, None)
    );
}

#[test]
fn every_routing_option_is_written() {
    let first = ModelName::try_new("a/b").unwrap();
    let routing = Routing {
        models: vec![ModelName::try_new("c/d").unwrap()],
        order: vec!["anthropic".to_owned(), "azure".to_owned()],
        fallbacks: Fallbacks::Refused,
        data_collection: DataCollection::Denied,
        retention: DataRetention::None,
        max_price: MaxPrice {
            prompt: Usd::from_dollars(0.5),
            completion: Usd::from_dollars(2.0),
        },
    };
    assert_eq!(routing.models_json(&first), Some(json!(["a/b", "c/d"])));
    assert_eq!(
        routing.provider_json(),
        Some(json!({
            "order": ["anthropic", "azure"], "allow_fallbacks": false, "data_collection": "deny", "zdr": true,
            "max_price": {"prompt": 0.5, "completion": 2.0},
        }))
    );
}

fn marked(stable: usize, model: &str) -> Value {
    let messages = json!([
        {"role": "system", "content": "s"}, {"role": "assistant", "tool_calls": []}, {"role": "user", "content": "u"},
    ]);
    let (model, without) = (ModelName::try_new(model).unwrap(), BTreeSet::new());
    let mut body = WireRequestBuilder::new(&model, &without);
    body.set_written("messages", written(&messages));
    let mut written = body.finish();
    mark(&mut written, stable, model.as_str());
    let written: Value = serde_json::from_slice(&written.json().unwrap()).unwrap();
    written["messages"].clone()
}

#[test]
fn the_last_stable_message_with_a_text_is_marked() {
    let with_mark =
        |text| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    for stable in [1, 2] {
        let messages = marked(stable, "anthropic/claude-sonnet-4.5");
        assert_eq!(messages[0]["content"], with_mark("s"));
        assert_eq!(messages[2]["content"], "u");
    }
    for stable in [3, usize::MAX] {
        let messages = marked(stable, "google/gemini-2.5-pro");
        assert_eq!(messages[0]["content"], "s");
        assert_eq!(messages[2]["content"], with_mark("u"));
    }
}

#[test]
fn nothing_is_marked_without_stable_messages_or_for_automatic_caches() {
    let unmarked = marked(0, "anthropic/claude-sonnet-4.5");
    assert_eq!(unmarked[0]["content"], "s");
    assert_eq!(marked(3, "openai/gpt-5"), unmarked);
}

#[test]
fn a_header_value_is_cleaned_and_bounded() {
    let sent = |text: &str| value(text).map(|value| value.as_bytes().to_vec());
    assert_eq!(sent("Dormouse"), Some(b"Dormouse".to_vec()));
    assert_eq!(
        sent("a\r\nX-\u{200b}Evil: 1"),
        Some(b"a X-Evil: 1".to_vec())
    );
    assert_eq!(
        sent("Siebenschläfer"),
        Some("Siebenschläfer".as_bytes().to_vec())
    );
    assert_eq!(sent(&"ä".repeat(200)).map(|value| value.len()), Some(256));
    assert_eq!((sent(""), sent(" \n")), (None, None));
}
