//! A request in a vendor's format.

use std::collections::BTreeSet;

use dormouse_contracts::{ModelName, RequestField};
use serde_json::{Map, Value};

/// A request in a vendor's format.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WireRequest {
    /// The body.
    pub(crate) body: Map<String, Value>,
    /// The optional fields in it, by the vendor's names.
    pub(crate) optional: Vec<(String, RequestField)>,
    /// The requested fields that are not in it.
    pub(crate) left_out: Vec<RequestField>,
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
            if !self.written.body.contains_key(name) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
