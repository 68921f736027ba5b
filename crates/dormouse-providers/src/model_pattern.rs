//! Patterns of model names in tables, and names without prefixes and suffixes.

/// Why a pattern is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelPatternError {
    /// It is empty.
    #[error("the model is empty; use * for every model")]
    Empty,
    /// It has a `*` before the end.
    #[error("a * is only allowed at the end of a model's name")]
    Star,
    /// It is longer than a model name can be.
    #[error("a model's name has at most 256 bytes")]
    TooLong,
}

/// A pattern: one name and its dated snapshots, or every name with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelPattern {
    Name(String),
    Prefix(String),
}

/// How well a name matches; the greatest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The name starts with the pattern's prefix, which has this many bytes.
    Prefix(usize),
    /// The name is a dated snapshot of the pattern's model.
    Snapshot,
    /// The name is the pattern's model.
    Exact,
}

impl ModelPattern {
    pub(crate) fn try_new(text: &str) -> Result<Self, ModelPatternError> {
        match text.strip_suffix('*') {
            _ if text.is_empty() => Err(ModelPatternError::Empty),
            _ if text.len() > 256 => Err(ModelPatternError::TooLong),
            Some(prefix) if !prefix.contains('*') => Ok(Self::Prefix(prefix.to_owned())),
            None if !text.contains('*') => Ok(Self::Name(text.to_owned())),
            _ => Err(ModelPatternError::Star),
        }
    }

    pub(crate) fn fit(&self, name: &str) -> Option<Fit> {
        match self {
            Self::Prefix(prefix) => name
                .starts_with(prefix)
                .then_some(Fit::Prefix(prefix.len())),
            Self::Name(model) if model == name => Some(Fit::Exact),
            Self::Name(model) => name
                .strip_prefix(model.as_str())
                .is_some_and(is_snapshot)
                .then_some(Fit::Snapshot),
        }
    }
}

/// Whether this is the suffix of a snapshot. `-2025-04-14`, `-20250514`, `-0613`, `@20250514` and `-latest` are;
/// `-mini`, `-4` and `-preview` are not: they belong to other models with other prices.
fn is_snapshot(suffix: &str) -> bool {
    let Some(rest) = suffix.strip_prefix(['-', '@']) else {
        return false;
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = rest.split('-').collect();
    match parts.as_slice() {
        ["latest"] => true,
        [one] => matches!(one.len(), 4 | 8) && digits(one),
        [year, month, day] => {
            (year.len(), month.len(), day.len()) == (4, 2, 2)
                && parts.iter().all(|part| digits(part))
        }
        _ => false,
    }
}

/// Returns the bare model name: without provider (`openai/gpt-4.1`), without base and owner of a fine-tuned model
/// (`ft:gpt-4o:alice::1`), and without suffixes of resellers (`:free`).
pub(crate) fn bare(name: &str) -> &str {
    let name = name.rsplit_once('/').map_or(name, |(_, bare)| bare);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    match name.split_once(':') {
        Some((model, _)) if !model.is_empty() => model,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(pattern: &str, name: &str) -> Option<Fit> {
        ModelPattern::try_new(pattern).unwrap().fit(name)
    }

    #[test]
    fn a_name_matches_itself_and_its_dated_snapshots_only() {
        assert_eq!(fit("gpt-4o", "gpt-4o"), Some(Fit::Exact));
        for name in [
            "gpt-4o-2024-08-06",
            "gpt-4o-20240806",
            "gpt-4o-0806",
            "gpt-4o-latest",
            "gpt-4o@20240806",
        ] {
            assert_eq!(fit("gpt-4o", name), Some(Fit::Snapshot), "{name}");
        }
        for name in [
            "gpt-4o-mini",
            "gpt-4o-mini-2024-07-18",
            "gpt-4",
            "gpt-4o-1",
            "gpt-4o2024",
            "GPT-4o",
            "ft:gpt-4o",
        ] {
            assert_eq!(fit("gpt-4o", name), None, "{name}");
        }
    }

    #[test]
    fn a_prefix_matches_all_names_with_it_and_the_longest_wins() {
        assert!(fit("gpt-5*", "gpt-5-anything") > fit("*", "gpt-5-anything"));
        assert!(fit("gpt-5", "gpt-5-2025-08-07") > fit("gpt-5-2025*", "gpt-5-2025-08-07"));
        assert!(fit("gpt-5", "gpt-5") > fit("gpt-5*", "gpt-5"));
    }

    #[test]
    fn bare_removes_provider_owner_and_suffix() {
        for name in [
            "gpt-4o",
            "openai/gpt-4o",
            "a/b/gpt-4o",
            "ft:gpt-4o:alice::1",
            "openai/gpt-4o:free",
        ] {
            assert_eq!(bare(name), "gpt-4o", "{name}");
        }
        assert_eq!(
            [bare(""), bare("/"), bare(":"), bare("a/:")],
            ["", "", ":", ":"]
        );
    }

    #[test]
    fn an_invalid_pattern_is_rejected_with_the_reason() {
        assert_eq!(ModelPattern::try_new(""), Err(ModelPatternError::Empty));
        assert_eq!(
            ModelPattern::try_new("gpt-*-mini"),
            Err(ModelPatternError::Star)
        );
        assert_eq!(ModelPattern::try_new("gpt**"), Err(ModelPatternError::Star));
        assert_eq!(
            ModelPattern::try_new(&"x".repeat(257)),
            Err(ModelPatternError::TooLong)
        );
    }
}
