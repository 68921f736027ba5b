//! Helpers for tests of decoders: run a decoder over events and collect its output.

use dormouse_contracts::{ChatDelta, RateLimits, ReplyInfo};
use serde_json::Value;

use super::{Decoder, Draft, Event};
use crate::http::{Failure, Redact};

/// A draft for the tests of decoders.
pub(crate) fn draft() -> Draft {
    let info = ReplyInfo {
        provider: "local".parse().unwrap(),
        model: "tiny".parse().unwrap(),
        served_model: None,
        request_id: None,
        rate_limits: RateLimits::default(),
        left_out: Vec::new(),
    };
    Draft::new(3, info, Redact::default())
}

/// The deltas that a decoder produces from these events.
pub(crate) fn deltas(
    mut decoder: impl Decoder,
    events: &[Value],
) -> Result<Vec<ChatDelta>, Failure> {
    let mut draft = draft();
    for event in events {
        let data = event.to_string();
        let event = Event {
            name: "",
            data: data.as_bytes(),
        };
        decoder.take(event, &mut draft)?;
    }
    draft.end();
    Ok(std::iter::from_fn(|| draft.next()).collect())
}

/// [`deltas`] without the reply's metadata.
pub(crate) fn content(decoder: impl Decoder, events: &[Value]) -> Result<Vec<ChatDelta>, Failure> {
    let mut deltas = deltas(decoder, events)?;
    deltas.retain(|delta| !matches!(delta, ChatDelta::Info(_)));
    Ok(deltas)
}

/// The calls of these deltas as (id, name, arguments), assembled as a caller would.
pub(crate) fn calls(deltas: Vec<ChatDelta>) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for delta in deltas {
        match delta {
            ChatDelta::CallStart { index, id, name } => {
                assert_eq!(index, calls.len());
                calls.push((id.to_string(), name, String::new()));
            }
            ChatDelta::CallArguments { index, fragment } => calls[index].2.push_str(&fragment),
            _ => {}
        }
    }
    calls
}
