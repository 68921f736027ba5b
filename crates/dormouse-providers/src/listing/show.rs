//! Adds Ollama's details of models.

use reqwest::Url;
use serde_json::{Value, json};

use super::{ListedModel, entry};
use crate::{
    http::{Failure, HttpClient},
    stream::TokenCounts,
};

/// The maximum number of models to query.
const DETAILS_LIMIT: usize = 64;

/// Adds the reported capabilities and context windows.
pub(super) async fn add(http: &HttpClient, url: &Url, models: &mut [ListedModel]) {
    for model in models.iter_mut().take(DETAILS_LIMIT) {
        let body = json!({ "model": model.name });
        match http.post::<Value>(url, &body).await {
            Ok(answer) => {
                model.capabilities = entry::words(answer.get("capabilities"), http.redact());
                model.context_window = window(&answer).or(model.context_window);
            }
            // The model was removed, or the server does not support this request.
            Err(Failure::Status { .. } | Failure::NoAnswer(_)) => {}
            Err(_) => return,
        }
    }
}

/// Returns the model's maximum context: `context_length`, prefixed with the architecture, as in `llama.context_length`.
fn window(answer: &Value) -> Option<u32> {
    let info = answer.get("model_info")?;
    let architecture = info.get("general.architecture")?.as_str()?;
    let length = info.get(format!("{architecture}.context_length"));
    TokenCounts::tokens(length).filter(|length| *length > 0)
}
