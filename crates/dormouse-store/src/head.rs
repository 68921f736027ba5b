//! Where an assistant's log ends, written beside its events in the same transaction.
//!
//! It repeats what the last event's key says. That is the point: a log that lost its end to damage
//! would otherwise look like a shorter log, and the next append would write over history.

use dormouse_contracts::{AssistantId, Seq};

use crate::{
    bytes::Fields,
    frame::{self, FrameFault, Magic},
};

pub(crate) fn encode(assistant: &AssistantId, end: Seq) -> Vec<u8> {
    let name = assistant.as_str();
    let mut body = Vec::with_capacity(9 + name.len());
    body.extend_from_slice(&end.0.to_le_bytes());
    body.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    body.extend_from_slice(name.as_bytes());
    frame::seal(Magic::Head, &body)
}

pub(crate) fn decode(assistant: &AssistantId, bytes: &[u8]) -> Result<Seq, FrameFault> {
    let mut fields = Fields::of(frame::unseal(Magic::Head, bytes)?);
    let end = fields.u64().ok_or(FrameFault::Damaged)?;
    let length = usize::from(fields.u8().ok_or(FrameFault::Damaged)?);
    let name = fields.text(length).ok_or(FrameFault::Damaged)?;
    (name == assistant.as_str() && fields.rest().is_empty())
        .then_some(Seq(end))
        .ok_or(FrameFault::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_speaks_for_its_own_assistant_only() {
        let alice = AssistantId::try_new("alice").unwrap();
        let bob = AssistantId::try_new("bob").unwrap();
        let bytes = encode(&alice, Seq(9));
        assert_eq!(decode(&alice, &bytes), Ok(Seq(9)));
        assert_eq!(decode(&bob, &bytes), Err(FrameFault::Damaged));
    }
}
