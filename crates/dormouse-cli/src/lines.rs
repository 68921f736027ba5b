//! Lines for people: the only place where a command makes lines of text.

use std::fmt;

use crate::neutralise::neutralise;

/// Replaces a line break in a text from outside.
const LINE_BREAK: &str = " ⏎ ";

/// Some lines that belong together. The first begins at the margin, and the others are indented.
///
/// Only the program begins a line. A line break inside one comes from outside, and is shown as `⏎`. So no text from
/// outside can imitate a line of the program, neither at the margin nor indented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines(Vec<String>);

impl From<Vec<String>> for Lines {
    fn from(lines: Vec<String>) -> Self {
        Self(lines)
    }
}

impl From<String> for Lines {
    fn from(line: String) -> Self {
        Self(vec![line])
    }
}

impl From<&str> for Lines {
    fn from(line: &str) -> Self {
        Self::from(line.to_owned())
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (line, number) in self.0.iter().zip(0_u64..) {
            if number > 0 {
                f.write_str("\n    ")?;
            }
            let parts = line.split(['\n', '\r']).map(str::trim_end);
            let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
            f.write_str(&neutralise(&parts.join(LINE_BREAK)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dormouse_text::is_hidden;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_break_of_a_text_begins_no_line() {
        let forged = "tea\r\nok    the log\n\nfact; trust 1.00".to_owned();
        let lines = Lines::from(vec!["1  Alice:".to_owned(), forged]);
        assert_eq!(
            lines.to_string(),
            "1  Alice:\n    tea ⏎ ok    the log ⏎ fact; trust 1.00"
        );
    }

    proptest! {
        #[test]
        fn there_are_as_many_lines_as_the_program_wrote_and_nothing_hidden(
            texts in prop::collection::vec("(\\PC|[\\x00-\\x1f\\x7f-\\x9f\u{202a}-\u{202e}\u{2028}\u{2029}]){0,40}", 1..5)
        ) {
            let count = texts.len();
            let shown = Lines::from(texts).to_string();
            prop_assert_eq!(shown.split('\n').count(), count);
            prop_assert!(shown.chars().all(|c| c == '\n' || !is_hidden(c)), "{:?}", shown);
            prop_assert!(shown.split('\n').skip(1).all(|line| line.starts_with("    ")));
        }
    }
}
