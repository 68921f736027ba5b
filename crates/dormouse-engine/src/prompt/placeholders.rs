//! Placeholders in the operator's texts: `{name}` and the like.

/// Something that a text can name and that has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// The name of the assistant.
    Name,
    /// Its key.
    Key,
    /// The seconds between two ticks.
    TickRate,
    /// After how many ticks it looks back over its journal.
    ReflectionInterval,
    /// The tools as JSON.
    ToolSchemas,
}

impl Placeholder {
    pub(super) const ALL: [Self; 5] = [
        Self::Name,
        Self::Key,
        Self::TickRate,
        Self::ReflectionInterval,
        Self::ToolSchemas,
    ];
    /// The placeholders of all texts except the instructions how to act.
    pub(super) const OF_TEXTS: [Self; 4] = [
        Self::Name,
        Self::Key,
        Self::TickRate,
        Self::ReflectionInterval,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Key => "key",
            Self::TickRate => "tick_rate",
            Self::ReflectionInterval => "reflection_interval",
            Self::ToolSchemas => "tool_schemas",
        }
    }
}

/// A placeholder that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the unknown placeholder {{{word}}}; expected one of {known}")]
pub struct UnknownPlaceholder {
    word: String,
    known: String,
}

/// Checks that each placeholder of a text is known.
pub(super) fn check_placeholders(
    text: &str,
    known: &[Placeholder],
) -> Result<(), UnknownPlaceholder> {
    let is_known = |word: &str| known.iter().any(|it| it.word() == word);
    match pieces(text).find(|(_, word)| word.is_some_and(|word| !is_known(word))) {
        Some((_, Some(word))) => Err(UnknownPlaceholder {
            word: word.to_owned(),
            known: known
                .iter()
                .map(|it| format!("{{{}}}", it.word()))
                .collect::<Vec<_>>()
                .join(", "),
        }),
        _ => Ok(()),
    }
}

/// The text with the values of its placeholders. One that has no value stays as it is.
pub(super) fn filled(text: &str, value: impl Fn(Placeholder) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    for (before, word) in pieces(text) {
        filled.push_str(before);
        let Some(word) = word else { continue };
        let known = Placeholder::ALL.into_iter().find(|it| it.word() == word);
        match known.and_then(&value) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(&format!("{{{word}}}")),
        }
    }
    filled
}

/// A text as pieces, each with the placeholder behind it, if there is one. Other braces, as those of JSON, are text.
fn pieces(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest.take()?;
        for (at, _) in whole.match_indices('{') {
            let (before, behind) = (whole.get(..at)?, whole.get(at + 1..)?);
            let word = behind.split('}').next().filter(|word| is_word(word));
            if let Some(word) = word
                && let Some(after) = behind.get(word.len() + 1..)
            {
                rest = Some(after);
                return Some((before, Some(word)));
            }
        }
        Some((whole, None))
    })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let value = |it| (it == Placeholder::Name).then(|| "Mo {key}".to_owned());
        for (text, expected) in [
            ("{name} and {name}", "Mo {key} and Mo {key}"),
            (
                "{\"tool\": \"x\"} {…} { name } {",
                "{\"tool\": \"x\"} {…} { name } {",
            ),
            ("{{name}}", "{Mo {key}}"),
            ("{key", "{key"),
            ("", ""),
        ] {
            assert_eq!(filled(text, value), expected);
        }
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_those_there_are() {
        let error = check_placeholders("{speaker}", &Placeholder::OF_TEXTS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the unknown placeholder {speaker}; expected one of {name}, {key}, {tick_rate}, {reflection_interval}"
        );
        assert_eq!(check_placeholders("{\"a\": 1}", &[]), Ok(()));
    }
}
