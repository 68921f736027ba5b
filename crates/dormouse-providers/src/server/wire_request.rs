//! A request in a vendor's format.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use dormouse_contracts::{ModelName, RequestField, invariant};
use serde::Serialize;
use serde_json::{Map, Value};

/// A request in a vendor's format.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WireRequest {
    /// The body, apart from the fields that are written already.
    pub(crate) body: Map<String, Value>,
    /// The JSON of the fields that are most of a request: a [`Value`] would copy each of their texts once more.
    fields: BTreeMap<&'static str, Arc<Vec<u8>>>,
    /// The optional fields in it, by the vendor's names.
    pub(crate) optional: Vec<(String, RequestField)>,
    /// The requested fields that are not in it.
    pub(crate) left_out: Vec<RequestField>,
}

impl WireRequest {
    /// Returns the whole body as JSON.
    ///
    /// # Errors
    ///
    /// An error of serde_json, which only a broken value in the body can cause.
    pub(crate) fn json(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec(&self.body)?;
        // A name with its quotation marks, colon and comma takes less than 64 bytes.
        let fields = self.fields.values().map(|field| field.len() + 64);
        json.reserve_exact(fields.sum());
        for (name, field) in &self.fields {
            json.pop();
            if json.len() > 1 {
                json.push(b',');
            }
            serde_json::to_writer(&mut json, name)?;
            json.push(b':');
            json.extend_from_slice(field);
            json.push(b'}');
        }
        Ok(json)
    }

    /// Returns the field `messages`, to be changed.
    pub(crate) fn messages_mut(&mut self) -> Option<&mut Value> {
        if let Some(json) = self.fields.remove("messages") {
            let messages = serde_json::from_slice(&json);
            let messages: Value = invariant!(messages, "what was written as JSON is JSON");
            self.body.insert("messages".to_owned(), messages);
        }
        self.body.get_mut("messages")
    }

    fn has(&self, name: &str) -> bool {
        self.body.contains_key(name) || self.fields.contains_key(name)
    }
}

/// Builds a [`WireRequest`].
#[derive(Debug)]
pub(crate) struct WireRequestBuilder<'a> {
    model: &'a ModelName,
    without: &'a BTreeSet<RequestField>,
    written: WireRequest,
}

impl<'a> WireRequestBuilder<'a> {
    /// Starts a request to `model`; the fields in `without` are left out.
    pub(crate) fn new(model: &'a ModelName, without: &'a BTreeSet<RequestField>) -> Self {
        let mut builder = Self {
            model,
            without,
            written: WireRequest::default(),
        };
        builder.set("model", model.as_str());
        builder
    }

    /// Returns the model of the request.
    pub(crate) fn model(&self) -> &'a ModelName {
        self.model
    }

    /// Returns false if the server is known not to support the field.
    pub(crate) fn supports(&self, field: &RequestField) -> bool {
        !self.without.contains(field)
    }

    /// Sets a field that every server supports.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.written.body.insert(name.to_owned(), value.into());
        self
    }

    /// Sets a long field that every server supports and that is JSON already.
    pub(crate) fn set_written(&mut self, name: &'static str, json: Arc<Vec<u8>>) -> &mut Self {
        self.written.fields.insert(name, json);
        self
    }

    /// Like [`WireRequestBuilder::offer`], for a long field that is [`written`] already.
    pub(crate) fn offer_written(
        &mut self,
        name: &'static str,
        field: RequestField,
        json: Arc<Vec<u8>>,
    ) -> &mut Self {
        if !self.supports(&field) {
            return self.leave_out(field);
        }
        self.written.optional.push((name.to_owned(), field));
        self.written.fields.insert(name, json);
        self
    }

    /// Sets a field that not every server supports, if it has a value. Known unsupported fields are left out.
    pub(crate) fn offer(
        &mut self,
        name: &str,
        field: RequestField,
        value: Option<impl Into<Value>>,
    ) -> &mut Self {
        let Some(value) = value else { return self };
        if !self.supports(&field) {
            return self.leave_out(field);
        }
        self.written.optional.push((name.to_owned(), field));
        self.set(name, value)
    }

    /// Like [`WireRequestBuilder::offer`], with the shortest decimal of the number: 0.7 instead of 0.699999988.
    pub(crate) fn offer_number(
        &mut self,
        name: &str,
        field: RequestField,
        value: Option<f32>,
    ) -> &mut Self {
        let value = value.and_then(|number| number.to_string().parse::<f64>().ok());
        self.offer(name, field, value)
    }

    /// Records that a requested field is left out, because this API does not have it.
    pub(crate) fn leave_out(&mut self, field: RequestField) -> &mut Self {
        if !self.written.left_out.contains(&field) {
            self.written.left_out.push(field);
        }
        self
    }

    /// Sets the user's extra parameters. An existing field keeps its value.
    pub(crate) fn extra(&mut self, extra: &Map<String, Value>) -> &mut Self {
        for (name, value) in extra {
            if !self.written.has(name) {
                self.offer(name, RequestField::Extra(name.clone()), Some(value.clone()));
            }
        }
        self
    }

    /// Returns the request.
    pub(crate) fn finish(self) -> WireRequest {
        self.written
    }
}

/// Returns the JSON of a long field.
pub(crate) fn written(value: &impl Serialize) -> Arc<Vec<u8>> {
    let json = serde_json::to_vec(value);
    Arc::new(invariant!(json, "fields are texts, lists and numbers"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_that_are_written_already_are_a_field_like_any_other() {
        let (model, without) = (ModelName::try_new("m").unwrap(), BTreeSet::new());
        let mut body = WireRequestBuilder::new(&model, &without);
        let extra = json!({"messages": [], "seed": 1});
        body.set_written("messages", written(&["a \"quoted\" text"]))
            .extra(extra.as_object().unwrap());
        let written: Value = serde_json::from_slice(&body.finish().json().unwrap()).unwrap();
        let expected = json!({"model": "m", "seed": 1, "messages": ["a \"quoted\" text"]});
        assert_eq!(written, expected);
    }

    #[test]
    fn known_unsupported_fields_are_left_out_and_reported() {
        let model = ModelName::try_new("m").unwrap();
        let without = BTreeSet::from([RequestField::TopP, RequestField::Extra("seed".to_owned())]);
        let mut body = WireRequestBuilder::new(&model, &without);
        body.set("model", "tiny")
            .offer("temperature", RequestField::Temperature, Some(0.5))
            .offer("top_p", RequestField::TopP, Some(0.5))
            .offer("max_tokens", RequestField::MaxTokens, None::<u32>)
            .extra(
                json!({"seed": 7, "model": "other", "stop": ["x"]})
                    .as_object()
                    .unwrap(),
            );
        let written = body.finish();
        assert_eq!(
            Value::Object(written.body),
            json!({"model": "tiny", "temperature": 0.5, "stop": ["x"]})
        );
        assert_eq!(
            written.left_out,
            [RequestField::TopP, RequestField::Extra("seed".to_owned())]
        );
        assert_eq!(
            written.optional,
            [
                ("temperature".to_owned(), RequestField::Temperature),
                ("stop".to_owned(), RequestField::Extra("stop".to_owned())),
            ]
        );
    }
}
