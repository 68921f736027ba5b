//! A request in a vendor's words.

use std::collections::BTreeSet;

use dormouse_contracts::RequestField;
use serde_json::{Map, Value};

/// A request in a vendor's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written {
    /// The body.
    pub(crate) body: Map<String, Value>,
    /// The fields in it that a server may do without, by the vendor's names.
    pub(crate) optional: Vec<(String, RequestField)>,
    /// What was asked for and is not in it.
    pub(crate) left_out: Vec<RequestField>,
}

/// A request that is being written.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    without: &'a BTreeSet<RequestField>,
    written: Written,
}

impl<'a> Body<'a> {
    /// An empty one, without those fields.
    pub(crate) fn without(without: &'a BTreeSet<RequestField>) -> Self {
        Self {
            without,
            written: Written::default(),
        }
    }

    /// A field that every server knows.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.written.body.insert(name.to_owned(), value.into());
        self
    }

    /// A field that not every server knows; nothing where it has no value. It is left out where it is known to be unknown.
    pub(crate) fn offer(
        &mut self,
        name: &str,
        field: RequestField,
        value: Option<impl Into<Value>>,
    ) -> &mut Self {
        let Some(value) = value else { return self };
        if self.without.contains(&field) {
            return self.leave_out(field);
        }
        self.written.optional.push((name.to_owned(), field));
        self.set(name, value)
    }

    /// As [`Body::offer`], with a number as short as it was written: 0.7, and not what a larger float makes of it.
    pub(crate) fn offer_number(
        &mut self,
        name: &str,
        field: RequestField,
        value: Option<f32>,
    ) -> &mut Self {
        let value = value.and_then(|number| number.to_string().parse::<f64>().ok());
        self.offer(name, field, value)
    }

    /// Something that was asked for and has no place in this API.
    pub(crate) fn leave_out(&mut self, field: RequestField) -> &mut Self {
        if !self.written.left_out.contains(&field) {
            self.written.left_out.push(field);
        }
        self
    }

    /// Further parameters of the user's. None of them replaces a field that is there.
    pub(crate) fn extra(&mut self, extra: &Map<String, Value>) -> &mut Self {
        for (name, value) in extra {
            if !self.written.body.contains_key(name) {
                self.offer(name, RequestField::Extra(name.clone()), Some(value.clone()));
            }
        }
        self
    }

    /// The request.
    pub(crate) fn finish(self) -> Written {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_to_be_unknown_is_left_out_and_told() {
        let without = BTreeSet::from([RequestField::TopP, RequestField::Extra("seed".to_owned())]);
        let mut body = Body::without(&without);
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
