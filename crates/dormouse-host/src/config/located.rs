//! Settings that can only be checked when they are used, with their place in the file.

use std::{fmt::Display, ops::Range, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error};
use toml::Spanned;

use super::{mistake::Mistake, position};

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    span: Range<usize>,
    place: String,
}

impl<T> Located<T> {
    /// As in `dormouse.toml:12:9: provider.key_from`.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Says where the value was given, if that is not a file.
    pub(super) fn name_place(&mut self, place: &str) {
        place.clone_into(&mut self.place);
    }

    /// A mistake in this value.
    pub(super) fn mistake(&self, text: &str, message: &str) -> Mistake {
        Mistake::of_value(text, self.span.clone(), message)
    }

    /// Converts the position in the text to the place in the file.
    pub(super) fn locate(&mut self, file: &str, text: &str) {
        let (line, column) = position::of(text, self.span.start);
        self.place = format!("{file}:{line}:{column}");
        if let Some(field) = position::field(text, self.span.start) {
            self.place += &format!(": {field}");
        }
    }
}

#[cfg(test)]
impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self {
            value,
            span: 0..0,
            place: "dormouse.toml:1:1: test".to_owned(),
        }
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        let span = text.span();
        let value = text.into_inner().parse().map_err(Error::custom)?;
        Ok(Self {
            value,
            span,
            place: String::new(),
        })
    }
}
