//! Conditions on a point's payload, as a server evaluates them.

use std::collections::HashMap;

use qdrant_client::qdrant::{
    Condition, FieldCondition, Filter, Range, Value, condition::ConditionOneOf,
    r#match::MatchValue, value::Kind,
};
use tonic::Status;

pub(crate) type Payload = HashMap<String, Value>;

/// Whether the payload meets all conditions of the filter.
pub(crate) fn admits(filter: &Filter, payload: &Payload) -> Result<bool, Status> {
    if !filter.should.is_empty() || !filter.must_not.is_empty() || filter.min_should.is_some() {
        return Err(Status::unimplemented("the double supports `must` only"));
    }
    for condition in &filter.must {
        if !holds(condition, payload)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn holds(condition: &Condition, payload: &Payload) -> Result<bool, Status> {
    let Some(ConditionOneOf::Field(field)) = &condition.condition_one_of else {
        return Err(Status::unimplemented(
            "the double supports conditions on fields only",
        ));
    };
    let Some(Value { kind: Some(value) }) = payload.get(&field.key) else {
        return Ok(false);
    };
    let is_matched = matched(field, value)?;
    Ok(is_matched
        && field
            .range
            .as_ref()
            .is_none_or(|range| within(range, value)))
}

fn matched(field: &FieldCondition, value: &Kind) -> Result<bool, Status> {
    match field.r#match.as_ref().map(|matched| &matched.match_value) {
        None => Ok(true),
        Some(Some(MatchValue::Keyword(keyword))) => {
            Ok(matches!(value, Kind::StringValue(text) if text == keyword))
        }
        Some(_) => Err(Status::unimplemented(
            "the double supports matches of keywords only",
        )),
    }
}

/// Whether a value is within the bounds. A server compares integers with the bounds as integers, not as floats.
fn within(range: &Range, value: &Kind) -> bool {
    match value {
        Kind::IntegerValue(value) => between(range, value, |bound| bound as i64),
        Kind::DoubleValue(value) => between(range, value, |bound| bound),
        _ => false,
    }
}

fn between<T: PartialOrd>(range: &Range, value: &T, bound: impl Fn(f64) -> T) -> bool {
    range.gte.is_none_or(|least| *value >= bound(least))
        && range.gt.is_none_or(|least| *value > bound(least))
        && range.lte.is_none_or(|most| *value <= bound(most))
        && range.lt.is_none_or(|most| *value < bound(most))
}
