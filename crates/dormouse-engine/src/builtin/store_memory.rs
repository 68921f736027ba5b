//! `store_memory`: keeps one line for good.

use dormouse_contracts::ToolCategory;
use dormouse_memory::RecordKind;
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, MemoryQuery, NotShown,
    call::Call,
    table::{Builtin, LINE_LIMIT, object, sources, text},
};
use crate::event::{Event, Remembered};

pub(super) const TOOL: Builtin = Builtin {
    name: "store_memory",
    description: "Keep one line for good, as a sentence that makes sense on its own. Name its sources: it is trusted like \
                  the least trusted of them, and less if it says more than they do.",
    parameters: || {
        object(
            &["text"],
            &json!({
                "text": text(LINE_LIMIT),
                "kind": {"enum": ["fact", "preference", "instruction", "event", "insight"]},
                "about": {"type": "string", "maxLength": 64, "description": "Whom or what, by name."},
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::AsyncRequired,
    is_look_up: false,
    is_indispensable: true,
    decide,
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let text = call.text("text");
    if text.trim().is_empty() {
        return Ok(BuiltinOutcome::Refused("the text is blank".to_owned()));
    }
    let about = Some(call.text("about").trim()).filter(|about| !about.is_empty());
    let kind = call.text("kind").parse().unwrap_or(RecordKind::Fact);
    // The subject is searched like the text, so it needs the same sources.
    let noted = [text, about.unwrap_or_default()].join("\n");
    let mut provenance = call.claim(&noted, "")?;
    if kind == RecordKind::Insight {
        provenance.infer();
    }
    let belief = provenance.belief();
    let remembered = Remembered {
        text: text.to_owned(),
        from: provenance.from,
        trust: provenance.trust,
        origin: provenance.origin,
        sources: provenance.sources,
        kind,
        about: about.map(|about| call.state.people.attribution(about)),
        audience: provenance.audience,
    };
    let mut result = json!({"stored": text});
    if let (Value::Object(fields), Value::Object(belief)) = (&mut result, belief) {
        fields.extend(belief);
    }
    let sources = call.origins();
    if sources.is_empty() {
        return Ok(BuiltinOutcome::Decided {
            events: vec![Event::Remembered(remembered)],
            result,
        });
    }
    Ok(BuiltinOutcome::AskMemory(MemoryQuery::Store {
        remembered: Box::new(remembered),
        sources,
        result,
    }))
}
