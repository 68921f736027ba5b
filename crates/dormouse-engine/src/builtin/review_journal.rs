//! `review_journal`: looks back over the journal, and keeps what is concluded.

use dormouse_contracts::ToolCategory;
use dormouse_journal::{JournalEntry, ReviewError, ReviewRequest, SaveSynthesis, SourceType};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    journal::{days_back, labels, least_trust, row, with_entry, with_withheld, written},
    table::{Builtin, LINE_LIMIT, object, sources, text},
};
use crate::privacy::known_journal;

/// How many of the entries a review shows.
const SHOWN: usize = 20;

pub(super) const TOOL: Builtin = Builtin {
    name: "review_journal",
    description: "Look back over your journal, and keep what you conclude from it about the world and its people.",
    parameters: || {
        object(
            &["synthesis"],
            &json!({
                "synthesis": text(LINE_LIMIT),
                "days_back": days_back(),
                "tags": labels("Only entries with all of these."),
                "save_as_entry": {"type": "boolean", "default": true},
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let mut provenance = call.provenance(call.text("synthesis"), "")?;
        provenance.infer();
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let text = call.text("synthesis");
    let mut request = ReviewRequest::new(text);
    request.synthesis = call.new_entry(text, SourceType::Inference, provenance);
    request.days_back = call.whole("days_back").unwrap_or(request.days_back);
    request.tags = call.labels("tags").map_err(|error| error.to_string())?;
    if call.arguments.get("save_as_entry").and_then(Value::as_bool) == Some(false) {
        request.save = SaveSynthesis::No;
    }
    let settings = call.journal_settings();
    let review = call
        .state
        .journal
        .journal()
        .plan_review(request.clone(), call.now, &settings);
    let changes = review.map_err(|error| reason(&error))?.changes;
    // Only entries that everybody who listens perceived are shown.
    let (known, withheld) = known_journal(call.state, call.turn);
    request.save = SaveSynthesis::No;
    let reviewed = known.plan_review(request, call.now, &settings);
    let reviewed = reviewed.map_err(|error| reason(&error))?.reviewed;
    let shown = reviewed
        .iter()
        .take(SHOWN)
        .filter_map(|id| known.entry(*id));
    let shown: Vec<&JournalEntry> = shown.collect();
    let rows = shown.iter().map(|entry| row(&call.state.journal, entry));
    let result = json!({
        "reviewed": reviewed.len(),
        "entries": rows.collect::<Vec<_>>(),
    });
    let mut result = with_withheld(result, withheld);
    let mut events = Vec::new();
    if let Some(entry) = written(&changes) {
        result = with_entry(result, entry);
        events.push(call.journal_changed(changes, TOOL.name)?);
    }
    Ok(BuiltinOutcome::Listed {
        events,
        result,
        trust: least_trust(shown),
    })
}

/// Why a review is refused.
fn reason(error: &ReviewError) -> String {
    match error {
        ReviewError::Entry(entry) => entry.to_string(),
        error => error.to_string(),
    }
}
