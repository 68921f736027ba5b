//! A time in a line: RFC 3339 if the calendar covers it, otherwise microseconds since 1970.

use std::fmt;

use dormouse_contracts::{Timestamp, TimestampError};
use dormouse_text::shortened;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(pub(super) Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_rfc3339() {
            Some(text) => serializer.serialize_str(&text),
            None => serializer.serialize_i64(self.0.as_micros()),
        }
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl Visitor<'_> for Read {
    type Value = Moment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"2026-11-21T12:00:00Z\", or microseconds since 1970")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Moment, E> {
        let at = text.trim().parse();
        at.map(Moment).map_err(|error: TimestampError| {
            E::custom(format!("{:?} is {error}", shortened(text, 40)))
        })
    }

    fn visit_i64<E: Error>(self, micros: i64) -> Result<Moment, E> {
        Ok(Moment(Timestamp::from_micros(micros)))
    }

    fn visit_u64<E: Error>(self, micros: u64) -> Result<Moment, E> {
        let micros = i64::try_from(micros).map_err(E::custom)?;
        Ok(Moment(Timestamp::from_micros(micros)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_time_always_reads_as_it_was_written(micros in any::<i64>()) {
            let moment = Moment(Timestamp::from_micros(micros));
            let written = serde_json::to_string(&moment).unwrap();
            prop_assert_eq!(serde_json::from_str::<Moment>(&written).unwrap(), moment);
        }
    }

    #[test]
    fn an_offset_is_understood() {
        let moment: Moment = serde_json::from_str("\"1970-01-01T01:00:00.5+01:00\"").unwrap();
        assert_eq!(moment.0, Timestamp::from_micros(500_000));
    }
}
