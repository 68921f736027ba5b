//! `add_journal_entry`: writes down what happened.

use dormouse_contracts::{ToolCategory, Trust};
use dormouse_journal::{Importance, SourceType};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    journal::{labels, provided_by, with_entry, written},
    table::{Builtin, LINE_LIMIT, object, sources, text},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "add_journal_entry",
    description: "Write into your journal what happened or what you noticed, in a sentence or two.",
    parameters: || {
        object(
            &["content"],
            &json!({
                "content": text(LINE_LIMIT),
                "tags": labels("Words to find it by."),
                "related_projects": labels("Projects that it belongs to."),
                "source_type": {
                    "enum": SourceType::ALL.map(SourceType::as_str),
                    "description": "How you know it: told, seen, deduced, overheard. Without it: as you were told.",
                },
                "source_trust": {"type": "number", "minimum": 0, "maximum": 1},
                "source_entity": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Who told you."},
                "importance": {"type": "integer", "minimum": 1, "maximum": 10},
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        // Labels and name must be supported by sources, like the words.
        let labels: Vec<String> = ["tags", "related_projects"]
            .into_iter()
            .flat_map(|key| call.read::<Vec<String>>(key))
            .collect();
        let noted = [call.texts(&["content", "source_entity"]), labels.join(" ")].join("\n");
        let provenance = call.provenance(&noted, "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let source_type = match call.text("source_type") {
        "" => {
            let heard = call.turn.message();
            SourceType::of_trigger(heard.map(|heard| &heard.perception.attested.source))
        }
        named => {
            let named = named.parse::<SourceType>();
            named.map_err(|error| error.to_string())?
        }
    };
    let number = |key: &str| call.arguments.get(key).and_then(Value::as_f64);
    let mut new = call.new_entry(call.text("content"), source_type, provenance);
    new.tags = call.labels("tags").map_err(|error| error.to_string())?;
    let projects = call.labels("related_projects");
    new.related_projects = projects.map_err(|error| error.to_string())?;
    #[expect(clippy::cast_possible_truncation, reason = "two digits count")]
    let trust = number("source_trust").map(|score| Trust::try_new(score as f32));
    new.source_trust = trust.transpose().map_err(|error| error.to_string())?;
    let importance = number("importance").map(Importance::try_new);
    new.importance = importance.transpose().map_err(|error| error.to_string())?;
    let named = call.text("source_entity").trim();
    if !named.is_empty() {
        new.source_entity = provided_by(named, provenance);
    }
    let journal = call.state.journal.journal();
    let changes = journal.plan_entry(new, call.now, &call.journal_settings());
    let changes = changes.map_err(|error| error.to_string())?;
    let mut result = match written(&changes) {
        Some(entry) => with_entry(provenance.shown(), entry),
        None => provenance.shown(),
    };
    if let (Some(earlier), Value::Object(fields)) = (call.repeated(&changes), &mut result) {
        fields.insert("repeats".to_owned(), json!(earlier));
    }
    Ok(BuiltinOutcome::Decided {
        events: vec![call.journal_changed(changes, TOOL.name)?],
        result,
    })
}
