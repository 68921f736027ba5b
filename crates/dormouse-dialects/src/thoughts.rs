//! Thoughts that a model prints into its text.

/// What stands around them.
const TAGS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
];

/// Where the thoughts of a text begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// There are none.
    None,
    /// At a tag, with which the text begins.
    Tagged,
    /// Nowhere: chat templates that open them by themselves leave only the tag that closes them. What stands before it
    /// may as well be words with a tag quoted in them.
    Missing,
}

/// A text and its thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split<'t> {
    pub(crate) opening: Opening,
    pub(crate) thoughts: &'t str,
    pub(crate) text: &'t str,
}

/// Takes the thoughts off a text. They end at the last tag that closes them: whatever a model quotes while it
/// thinks stays a thought.
pub(crate) fn split(text: &str) -> Split<'_> {
    let text = text.trim();
    for (open, close) in TAGS {
        if let Some(inner) = text.strip_prefix(open) {
            let (thoughts, text) = inner.rsplit_once(close).unwrap_or((inner, ""));
            return Split {
                opening: Opening::Tagged,
                thoughts: thoughts.trim(),
                text: text.trim(),
            };
        }
    }
    let alone = TAGS.iter().find_map(|(_, close)| {
        let (before, behind) = text.rsplit_once(close)?;
        let is_line = before.is_empty() || before.ends_with('\n');
        let is_end = behind.is_empty() || behind.starts_with(['\n', '\r']);
        (is_line && is_end).then_some((before, behind))
    });
    match alone {
        Some((thoughts, text)) => Split {
            opening: Opening::Missing,
            thoughts: thoughts.trim(),
            text: text.trim(),
        },
        None => Split {
            opening: Opening::None,
            thoughts: "",
            text,
        },
    }
}
