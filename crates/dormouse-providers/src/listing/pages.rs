//! Reads lists of models, in one or several pages.

use std::collections::BTreeSet;

use dormouse_contracts::ModelName;
use reqwest::Url;
use serde_json::Value;

use super::{ListedModel, entry};
use crate::http::{ErrorBody, Failure, HttpClient, Redact};

/// The longest answer, in bytes. OpenRouter's has less than one million.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;

/// The maximum number of models in a list.
const MODELS_LIMIT: usize = 10_000;

/// The page size; Anthropic's maximum.
const PAGE: &str = "1000";

/// Reads a list that is in this field of a single answer.
pub(super) async fn one(
    http: &HttpClient,
    url: &Url,
    field: &str,
) -> Result<Vec<ListedModel>, Failure> {
    let answer = http.get::<Value>(url, ANSWER_LIMIT).await?;
    let mut models = Models::default();
    models.take(&answer, field, http.redact())?;
    Ok(models.list)
}

/// Reads a list in pages, each after the last model of the one before.
pub(super) async fn all(http: &HttpClient, url: &Url) -> Result<Vec<ListedModel>, Failure> {
    let mut models = Models::default();
    let mut page = url.clone();
    page.query_pairs_mut().append_pair("limit", PAGE);
    loop {
        let answer = http.get::<Value>(&page, ANSWER_LIMIT).await?;
        let added = models.take(&answer, "data", http.redact())?;
        let more = answer.get("has_more") == Some(&Value::Bool(true));
        let last = answer.get("last_id").and_then(Value::as_str);
        // A page without new models would repeat forever.
        let Some(last) = last.filter(|_| more && added > 0) else {
            return Ok(models.list);
        };
        page = url.clone();
        page.query_pairs_mut()
            .append_pair("limit", PAGE)
            .append_pair("after_id", last);
    }
}

/// The models so far, each name once.
#[derive(Default)]
struct Models {
    list: Vec<ListedModel>,
    names: BTreeSet<ModelName>,
}

impl Models {
    /// Adds a page, and returns how many models are new.
    fn take(&mut self, answer: &Value, field: &str, redact: &Redact) -> Result<usize, Failure> {
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::BrokenOff(ErrorBody::from_json(answer, redact)));
        }
        let list = answer.get(field).unwrap_or(answer);
        let entries = list.as_array().ok_or_else(|| {
            let words = format!("no list of models, in {answer}");
            Failure::NoAnswer(ErrorBody::of(&words, redact))
        })?;
        let before = self.list.len();
        if before.saturating_add(entries.len()) > MODELS_LIMIT {
            return Err(Failure::TooMuch {
                what: "models",
                limit: MODELS_LIMIT,
            });
        }
        for model in entries.iter().filter_map(|one| entry::read(one, redact)) {
            if self.names.insert(model.name.clone()) {
                self.list.push(model);
            }
        }
        Ok(self.list.len() - before)
    }
}
