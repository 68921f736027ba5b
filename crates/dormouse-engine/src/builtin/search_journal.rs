//! `search_journal`: looks into the journal.

use std::{borrow::Cow, time::Duration};

use dormouse_contracts::{CachePolicy, CacheScope, Hit, ToolCategory};
use dormouse_journal::{EntryLabel, JournalQuery, JournalSearch};
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, MemoryQuery,
    call::Call,
    journal::{days_back, labels, least_trust, row, with_withheld},
    table::{Builtin, LINE_LIMIT, object, text},
};
use crate::privacy::{known_journal, listeners};

/// The answer to the same question is used again for 300 seconds, in later ticks only if the same people listen.
pub(super) const CACHE: CachePolicy = CachePolicy {
    scope: CacheScope::Session,
    ttl: Some(Duration::from_secs(300)),
};

pub(super) const TOOL: Builtin = Builtin {
    name: "search_journal",
    description: "Search your journal. Returns the entries that fit best, and why.",
    parameters: || {
        object(
            &["query"],
            &json!({
                "query": text(LINE_LIMIT),
                "tags": labels("Only entries with all of these."),
                "days_back": days_back(),
                "related_to_project": {"type": "string", "minLength": 1, "maxLength": EntryLabel::LIMIT},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                "semantic": {
                    "type": "boolean",
                    "default": true,
                    "description": "false: only entries that contain the query as it is.",
                },
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: false,
    decide: |call| Ok(decide(call).unwrap_or_else(BuiltinOutcome::Refused)),
};

/// A search by text is decided at once. Any other search first asks the encoder for similar entries.
fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, String> {
    let query = query(call)?;
    if query.mode == JournalSearch::Text {
        return Ok(found(call, &query));
    }
    Ok(BuiltinOutcome::AskMemory(MemoryQuery::SimilarEntries {
        query: query.query,
        limit: query.limit,
        listeners: listeners(call.state, call.turn),
    }))
}

/// Decides a search, once the encoder has said which memory records are similar.
pub(super) fn with_similar(call: &Call<'_>, hits: &[Hit]) -> Result<BuiltinOutcome, String> {
    let mut query = query(call)?;
    query.mode = JournalSearch::Ranked {
        dense: call.state.journal.hits_on_entries(hits),
    };
    Ok(found(call, &query))
}

fn query(call: &Call<'_>) -> Result<JournalQuery, String> {
    let mut query = JournalQuery::ranked(call.text("query"));
    if call.arguments.get("semantic").and_then(Value::as_bool) == Some(false) {
        query.mode = JournalSearch::Text;
    }
    query.tags = call.labels("tags").map_err(|error| error.to_string())?;
    query.days_back = call.whole("days_back");
    let project = call.text("related_to_project");
    if !project.is_empty() {
        let project = EntryLabel::try_new(project).map_err(|error| error.to_string())?;
        query.related_to_project = Some(project);
    }
    if let Some(limit) = call.whole("limit") {
        query.limit = usize::try_from(limit).unwrap_or(usize::MAX);
    }
    Ok(query)
}

fn found(call: &Call<'_>, query: &JournalQuery) -> BuiltinOutcome {
    let (known, withheld) = known_journal(call.state, call.turn);
    let found = match &known {
        Cow::Borrowed(_) => call.state.journal.search(query, call.now),
        Cow::Owned(known) => call.state.journal.search_in(known, query, call.now),
    };
    let rows = found.iter().map(|found| {
        let mut row = row(&call.state.journal, found.entry);
        if let Value::Object(fields) = &mut row {
            fields.insert("why".to_owned(), found.why.to_string().into());
            if found.repeats > 0 {
                fields.insert("said_again".to_owned(), found.repeats.into());
            }
        }
        row
    });
    let result = json!({"entries": rows.collect::<Vec<_>>()});
    BuiltinOutcome::Listed {
        events: Vec::new(),
        result: with_withheld(result, withheld),
        trust: least_trust(found.iter().map(|found| found.entry)),
    }
}
