//! Separates printed thoughts from a text.

/// The tags around thoughts.
const TAGS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
];

/// How the thoughts of a text start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The text has no thoughts.
    None,
    /// With a tag at the start of the text.
    Tagged,
    /// Without a tag: some chat templates open the thoughts themselves, so only the closing tag is in the text. The
    /// text before it may also be an answer that quotes the tag.
    Missing,
}

/// A text and its thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split<'t> {
    pub(crate) opening: Opening,
    pub(crate) thoughts: &'t str,
    pub(crate) text: &'t str,
}

/// Separates the thoughts from a text. They end at the last closing tag: a tag that the model quotes while it thinks
/// does not end them.
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
        // A closing tag without an opening one counts only on a line of its own; within a line it is probably quoted.
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
