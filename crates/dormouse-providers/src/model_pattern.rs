//! Which models an entry of a table is for, and what is left of a name without what stands around it.

/// A name that cannot stand in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelPatternError {
    /// It is empty.
    #[error("the model is empty; * stands for every model")]
    Empty,
    /// It has a `*` before its end.
    #[error("a * may only stand at the end of a model's name")]
    Star,
    /// It is longer than the name of a model can be.
    #[error("a model's name has at most 256 bytes")]
    TooLong,
}

/// One name and its dated snapshots, or every name with the same beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelPattern {
    Name(String),
    Prefix(String),
}

/// How well a name fits; the greatest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It begins with this many bytes.
    Prefix(usize),
    /// It is a snapshot of the model.
    Snapshot,
    /// It is the model.
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

/// Is this what vendors append to a model's name for one of its snapshots? `-2025-04-14`, `-20250514`, `-0613`,
/// `@20250514` and `-latest` are; `-mini`, `-4` and `-preview` name another model, which has another price.
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

/// The name of the model alone: without providers before it (`openai/gpt-4.1`), without the base and the owner of a
/// fine-tuned one (`ft:gpt-4o:alice::1`), and without what resellers append (`:free`).
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
    fn a_name_stands_for_itself_and_its_dated_snapshots_alone() {
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
    fn a_prefix_stands_for_everything_that_begins_so_and_the_longer_one_wins() {
        assert!(fit("gpt-5*", "gpt-5-anything") > fit("*", "gpt-5-anything"));
        assert!(fit("gpt-5", "gpt-5-2025-08-07") > fit("gpt-5-2025*", "gpt-5-2025-08-07"));
        assert!(fit("gpt-5", "gpt-5") > fit("gpt-5*", "gpt-5"));
    }

    #[test]
    fn a_bare_name_is_that_of_the_model_alone() {
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
    fn what_is_no_name_is_refused_with_the_reason() {
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
