//! `update_entity_profile`: notes lasting attributes of somebody.

use dormouse_contracts::ToolCategory;
use std::collections::BTreeMap;

use dormouse_entities::{AttributeUpdate, CommunicationStyle, Keyword, Phrase, Preference};
use serde_json::json;

use super::{
    Basis, BuiltinOutcome, Draft, NotShown, Provenance,
    call::Call,
    table::{Builtin, entity, object, sources, text},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "update_entity_profile",
    description: "Note lasting traits of somebody. Interests and preferences are added to those known.",
    parameters: || {
        object(
            &["entity"],
            &json!({
                "entity": entity(),
                "communication_style": text(40),
                "temperament": text(40),
                "interests": {"type": "array", "maxItems": 8, "items": text(64)},
                "preferences": {"type": "object", "maxProperties": 8, "additionalProperties": text(200)},
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide,
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let provenance = call.claim(&as_text(call), &call.subject())?;
    let draft = draft(call, &provenance);
    Ok(call.change(draft, Some(provenance.belief())))
}

fn as_text(call: &Call<'_>) -> String {
    let interests: Vec<String> = call.read("interests");
    let preferences: BTreeMap<String, String> = call.read("preferences");
    let preferences = preferences
        .iter()
        .map(|(subject, value)| format!("{subject} {value}"));
    let said = [call.text("communication_style"), call.text("temperament")];
    let said = said.into_iter().map(str::to_owned);
    let said = said.chain(interests).chain(preferences);
    said.collect::<Vec<_>>().join("\n")
}

fn draft(call: &Call<'_>, provenance: &Provenance) -> Option<Draft> {
    let style = Phrase::shortened(call.text("communication_style"));
    let style = style.map(|style| CommunicationStyle::try_from(style.as_str().to_owned()));
    let interests: Vec<String> = call.read("interests");
    let preferences: BTreeMap<String, String> = call.read("preferences");
    let preferences = preferences.iter().filter_map(|(subject, value)| {
        Some((Keyword::shortened(subject)?, Preference::shortened(value)?))
    });
    let update = AttributeUpdate {
        communication_style: style.and_then(Result::ok),
        temperament: Phrase::shortened(call.text("temperament")),
        interests: interests
            .iter()
            .filter_map(|interest| Keyword::shortened(interest))
            .collect(),
        preferences: preferences.collect(),
        ..AttributeUpdate::default()
    };
    (!update.is_empty()).then(|| Draft::Attributes(update, Basis::of(provenance)))
}
