//! `tool_search`: finds tools that the prompt does not list, because their definitions would take too many tokens.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, TOOL_SEARCH,
    table::{Builtin, object, text},
};

/// The longest query, in characters.
const QUERY: usize = 200;

pub(super) const TOOL: Builtin = Builtin {
    name: TOOL_SEARCH,
    description: "Find tools of yours that are not listed here. Search before you say that you cannot do something. What is found can be called from your next step on.",
    parameters: || {
        let mut query = text(QUERY);
        if let Some(query) = query.as_object_mut() {
            let about = "What is to be done, and with what: read a file, weather forecast.";
            query.insert("description".to_owned(), about.into());
        }
        object(&["query"], &json!({"query": query}))
    },
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: true,
    decide: |call| {
        let query = call.text("query").to_owned();
        Ok(BuiltinOutcome::FindTools(query))
    },
};
