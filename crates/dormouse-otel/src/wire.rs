//! Spans in the form of the protocol: OTLP, as protobuf.

use dormouse_contracts::Timestamp;
use opentelemetry_proto::tonic::{
    collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue, any_value::Value},
    resource::v1::Resource,
    trace::v1::{
        self as otlp, ResourceSpans, ScopeSpans, Status, span::SpanKind, status::StatusCode,
    },
};
use prost::Message;

use crate::span::{Span, SpanValue};

/// Which names the attributes have.
const SCHEMA: &str = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";

/// The body of a request with these spans.
pub(crate) fn body(spans: &[Span]) -> Vec<u8> {
    let scope = InstrumentationScope {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let resource = Resource {
        attributes: vec![
            attribute("service.name", &"dormouse".into()),
            attribute("service.version", &env!("CARGO_PKG_VERSION").into()),
        ],
        ..Resource::default()
    };
    let request = ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(resource),
            scope_spans: vec![ScopeSpans {
                scope: Some(scope),
                spans: spans.iter().map(encoded).collect(),
                schema_url: SCHEMA.to_owned(),
            }],
            schema_url: String::new(),
        }],
    };
    request.encode_to_vec()
}

/// How many spans the collector did not take although it took the request, and what it says about it. A body that cannot be read says
/// nothing.
pub(crate) fn left_out(body: &[u8]) -> (u64, String) {
    let answer = ExportTraceServiceResponse::decode(body).ok();
    let partial = answer.and_then(|answer| answer.partial_success);
    partial.map_or((0, String::new()), |partial| {
        let rejected = u64::try_from(partial.rejected_spans).unwrap_or(0);
        (rejected, partial.error_message)
    })
}

fn encoded(span: &Span) -> otlp::Span {
    let kind = match span.is_call {
        true => SpanKind::Client,
        false => SpanKind::Internal,
    };
    let status = span.error.as_ref().map(|why| Status {
        message: why.clone(),
        code: StatusCode::Error.into(),
    });
    let attributes = span.attributes.iter();
    otlp::Span {
        trace_id: span.trace.to_vec(),
        span_id: span.id.to_vec(),
        parent_span_id: span.parent.map(Vec::from).unwrap_or_default(),
        name: span.name.clone(),
        kind: kind.into(),
        start_time_unix_nano: nanos(span.began_at),
        end_time_unix_nano: nanos(span.ended_at),
        attributes: attributes
            .map(|(name, value)| attribute(name, value))
            .collect(),
        status,
        ..otlp::Span::default()
    }
}

fn attribute(name: &str, value: &SpanValue) -> KeyValue {
    KeyValue {
        key: name.to_owned(),
        value: Some(any(value)),
        ..KeyValue::default()
    }
}

fn any(value: &SpanValue) -> AnyValue {
    let value = match value {
        SpanValue::Text(text) => Value::StringValue(text.clone()),
        SpanValue::Whole(number) => Value::IntValue(*number),
        SpanValue::Real(number) => Value::DoubleValue(*number),
        SpanValue::Flag(flag) => Value::BoolValue(*flag),
        SpanValue::Texts(texts) => {
            let texts = texts.iter().map(|text| any(&text.as_str().into()));
            let values = texts.collect();
            Value::ArrayValue(ArrayValue { values })
        }
    };
    AnyValue { value: Some(value) }
}

/// Nanoseconds since 1970; times before that do not exist in the protocol.
fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_micros())
        .unwrap_or(0)
        .saturating_mul(1_000)
}
