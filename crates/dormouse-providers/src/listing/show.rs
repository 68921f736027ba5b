//! What Ollama says of a model that it has.

use reqwest::Url;
use serde_json::{Value, json};

use super::{ListedModel, entry};
use crate::{
    http::{Failure, HttpClient},
    stream::Counts,
};

/// How many models are asked after.
const ASKED_AFTER: usize = 64;

/// Adds capabilities and context windows, as far as they are told.
pub(super) async fn add(http: &HttpClient, url: &Url, models: &mut [ListedModel]) {
    for model in models.iter_mut().take(ASKED_AFTER) {
        let asked = json!({ "model": model.name });
        match http.post::<Value>(url, &asked).await {
            Ok(answer) => {
                model.capabilities = entry::words(answer.get("capabilities"), http.redact());
                model.context_window = window(&answer).or(model.context_window);
            }
            // One that is there no more, or a server that does not know the question.
            Err(Failure::Status { .. } | Failure::NoAnswer(_)) => {}
            Err(_) => return,
        }
    }
}

/// What the model was made for: `llama.context_length`, under the name of its architecture.
fn window(answer: &Value) -> Option<u32> {
    let info = answer.get("model_info")?;
    let architecture = info.get("general.architecture")?.as_str()?;
    let length = info.get(format!("{architecture}.context_length"));
    Counts::tokens(length).filter(|length| *length > 0)
}
