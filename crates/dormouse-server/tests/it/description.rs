//! The description of the API, and what is counted.

use std::collections::BTreeSet;

use dormouse_server::openapi;
use serde_json::{Value, json};

use crate::service::Service;

fn described() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

/// Two types of one name would overwrite each other without a word, so they are counted.
#[test]
fn every_path_and_every_type_is_described() {
    let api = described();
    assert_eq!(api["openapi"], "3.1.0");
    let paths = api["paths"].as_object().unwrap();
    let methods = paths.values().map(|path| path.as_object().unwrap().len());
    assert_eq!((paths.len(), methods.sum::<usize>()), (82, 105));
    let schemas = api["components"]["schemas"].as_object().unwrap();
    assert_eq!(
        schemas.len(),
        TYPES,
        "{:?}",
        schemas.keys().collect::<Vec<_>>()
    );
}

/// How many types of requests and answers there are.
const TYPES: usize = 141;

#[test]
fn every_reference_leads_to_a_type_and_every_operation_has_an_id_of_its_own() {
    let api = described();
    let text = api.to_string();
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(api["components"]["schemas"][name].is_object(), "{name}");
    }
    let mut ids = BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(
                ids.insert(id.to_owned()),
                "{method} {path} has the id of another: {id}"
            );
            assert!(operation["responses"]["500"].is_object(), "{method} {path}");
        }
    }
}

#[test]
fn the_documented_paths_are_those_there_are() {
    let documented = include_str!("../../../../docs/rest-api.md");
    for path in described()["paths"].as_object().unwrap().keys() {
        let Some(rest) = path.strip_prefix("/api/ai/assistants/{key}/") else {
            continue;
        };
        let first = rest.split('/').next().unwrap();
        let is_there = documented.contains(&format!("{{key}}/{first}/`"))
            || documented.contains(&format!("`{{key}}/{first}"));
        assert!(
            first.is_empty() || is_there,
            "{path} is not in docs/rest-api.md"
        );
    }
}

#[tokio::test]
async fn no_label_names_an_assistant_a_token_or_what_somebody_sent() {
    let service = Service::open().await;
    service
        .call("POST", "")
        .json(&json!({"key": "hare"}))
        .send()
        .await
        .ok(201);
    service.call("GET", "hare/status/").send().await.ok(200);
    service
        .call("GET", "secret-word/")
        .send()
        .await
        .problem(404, "unknown_assistant");
    service
        .raw("GET", "/another-secret")
        .by(&service.secret)
        .send()
        .await
        .problem(404, "not_found");
    let metrics = service
        .raw("GET", "/metrics")
        .by(&service.secret)
        .send()
        .await;
    let text = String::from_utf8(metrics.body).unwrap();
    for hidden in ["hare", "secret", "Ann", "dormouse/"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    for line in [
        "dormouse_assistants 2",
        "route=\"/api/ai/assistants/{key}/status/\"",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let api = service
        .raw("GET", "/api/openapi.json")
        .by(&service.secret)
        .send()
        .await
        .ok(200);
    assert_eq!(api, described());
    service.close().await;
}
