//! Context windows and output limits of models.

use std::sync::LazyLock;

use dormouse_contracts::{ModelName, invariant};
use serde::Deserialize;

use crate::{
    PriceDate,
    model_pattern::{Fit, ModelPattern, bare},
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    limits: Vec<Row>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    window: u32,
    output: Option<u32>,
    #[serde(rename = "as_of")]
    _as_of: PriceDate,
    #[serde(rename = "source")]
    _source: String,
    #[serde(default, rename = "note")]
    _note: String,
}

// An invalid row would be skipped here. A test parses the whole file, so that it has no invalid row.
static KNOWN: LazyLock<Vec<(ModelPattern, Row)>> = LazyLock::new(|| {
    let file = serde_json::from_str(include_str!("limits.json"));
    let rows = invariant!(
        file.map(|file: File| file.limits),
        "a test parses the table, so it is valid"
    );
    rows.into_iter()
        .filter_map(|row| {
            let pattern = ModelPattern::try_new(&row.model).map(Some);
            Some((
                invariant!(pattern, "a test parses the table, so it is valid")?,
                row,
            ))
        })
        .collect()
});

/// Finds the row of a model. OpenRouter writes `claude-sonnet-4.5` for Anthropic's `claude-sonnet-4-5`.
fn row(model: &ModelName) -> Option<&'static Row> {
    let name = bare(model.as_str());
    let dashed = name.replace('.', "-");
    KNOWN
        .iter()
        .filter_map(|(pattern, row)| {
            Some((pattern.fit(name).or_else(|| pattern.fit(&dashed))?, row))
        })
        .max_by_key(|(fit, _): &(Fit, _)| *fit)
        .map(|(_, row)| row)
}

/// Returns the size of a model's context window in tokens, prompt and reply together, if it is known. Provider prefixes
/// are ignored. A dated snapshot has the window of its model, unless the table lists the snapshot itself.
///
/// The table lists the models of vendors, with a date and a source for each. The window of a local model depends on its
/// server and is often much smaller than the model's maximum: ask the server, or use a default.
///
/// # Examples
///
/// ```
/// # use dormouse_contracts::ModelName;
/// use dormouse_providers::context_window;
///
/// assert_eq!(context_window(&ModelName::try_new("anthropic/claude-3-opus")?), Some(200_000));
/// assert_eq!(context_window(&ModelName::try_new("llama3.2")?).unwrap_or(32_768), 32_768);
/// # Ok::<(), dormouse_contracts::IdError>(())
/// ```
#[must_use]
pub fn context_window(model: &ModelName) -> Option<u32> {
    row(model).map(|row| row.window)
}

/// Returns the maximum number of tokens in a reply, including thoughts, if it is known; from the same table as
/// [`context_window`].
#[must_use]
pub fn output_limit(model: &ModelName) -> Option<u32> {
    row(model).and_then(|row| row.output)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn window(name: &str) -> Option<u32> {
        context_window(&ModelName::try_new(name).unwrap())
    }

    #[test]
    fn every_row_is_unique_and_its_window_holds_the_longest_reply() {
        let file: File = serde_json::from_str(include_str!("limits.json")).unwrap();
        let mut seen = BTreeSet::new();
        for row in &file.limits {
            assert!(ModelPattern::try_new(&row.model).is_ok(), "{row:?}");
            assert!((2_048..=10_000_000).contains(&row.window), "{row:?}");
            assert!(
                row.output.is_none_or(|output| output <= row.window),
                "{row:?}"
            );
            assert!(
                !row._source.is_empty() && seen.insert(row.model.clone()),
                "{row:?}"
            );
        }
        assert_eq!(KNOWN.len(), file.limits.len());
    }

    #[test]
    fn the_documented_windows_are_known() {
        assert_eq!(window("gpt-4"), Some(128_000));
        assert_eq!(window("claude-3-opus"), Some(200_000));
    }

    #[test]
    fn a_name_is_known_with_prefixes_dates_and_the_spelling_of_resellers() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
            "anthropic/claude-sonnet-4.5:beta",
        ] {
            assert_eq!(window(name), Some(200_000), "{name}");
        }
        assert_eq!(window("openai/gpt-4.1-mini"), Some(1_047_576));
        assert_eq!(window("gpt-4-0613"), Some(8_192));
        assert_eq!(
            output_limit(&ModelName::try_new("gpt-4o-2024-05-13").unwrap()),
            Some(4_096)
        );
    }

    #[test]
    fn an_unlisted_model_has_no_known_window() {
        for name in [
            "llama3.2",
            "default",
            "offline",
            "gpt-4o-audio-preview",
            "gpt",
            "/",
        ] {
            assert_eq!(window(name), None, "{name}");
        }
    }
}
