//! `set_topic`: says what the running conversation with somebody is about.

use dormouse_contracts::{Origin, ToolCategory};
use dormouse_entities::Topic;
use dormouse_memory::MIN_TRUST;
use serde_json::json;

use super::{
    Basis, BuiltinOutcome, Draft,
    table::{Builtin, entity, object, sources, text},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "set_topic",
    description: "Say what your conversation with somebody is about.",
    parameters: || {
        object(
            &["entity", "topic"],
            &json!({"entity": entity(), "topic": text(120), "sources": sources()}),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let provenance = call.provenance(call.text("topic"), &call.subject())?;
        if provenance.trust < MIN_TRUST {
            let trust = provenance.trust;
            return Ok(BuiltinOutcome::Refused(format!(
                "this is believed {trust}; a topic is believed {MIN_TRUST} at least"
            )));
        }
        let topic = Topic::shortened(call.text("topic"));
        let mut basis = Basis::of(&provenance);
        let message = Origin::event(call.turn.trigger_seq());
        if basis.audience.is_none()
            && provenance
                .sources
                .as_slice()
                .iter()
                .all(|source| *source == message)
        {
            // With privacy "shared" no audience was recorded, but the audience of the message is known.
            basis.audience = Some(call.turn.trigger.known_to());
        }
        let draft = topic.map(|topic| Draft::Topic(topic, basis));
        Ok(call.change(draft, None))
    },
};
