//! Quotes outside text line by line, so that no part of it can pass for something else.

use dormouse_contracts::invariant;
use dormouse_text::{beginning, escape_template_tokens, is_hidden};

/// The mark before each line that somebody wrote.
const MARK: &str = "\n> ";

/// A text with a mark before each of its lines, and how much was left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    pub(super) text: String,
    /// How many blank lines were left out because they follow another one.
    pub(super) blank_lines_left_out: usize,
    /// How many bytes at the end of the text are not shown.
    pub(super) bytes_left_out: usize,
}

/// Puts a mark before each line of `words`. At most `max_chars` characters are returned, and only one of consecutive
/// blank lines: otherwise a text of only line ends would become several times as long. The result contains no token of
/// a chat template.
pub(super) fn quote(words: &str, max_chars: usize) -> Quoted {
    let safe = escape_template_tokens(words);
    let mut quoted = quote_lines(&safe, max_chars);
    // An escape keeps the number of characters, but not of bytes; the missing part is reported in bytes of the
    // original.
    let shown = safe.len() - quoted.bytes_left_out;
    let shown = invariant!(safe.get(..shown), "a quotation is cut between characters");
    let shown = shown.chars().count();
    quoted.bytes_left_out = words.len() - beginning(words, shown).len();
    quoted
}

fn quote_lines(words: &str, max_chars: usize) -> Quoted {
    let mut quoted = Quoted {
        text: String::new(),
        blank_lines_left_out: 0,
        bytes_left_out: words.len(),
    };
    let mut room = max_chars;
    let (mut after_blank, mut after_return) = (false, false);
    for line in words.split_inclusive(is_line_break) {
        let text = line.trim_end_matches(is_line_break);
        let is_blank = text.trim().is_empty();
        // A carriage return and a line feed are one line end.
        let is_second_half = after_return && line == "\n";
        after_return = line.ends_with('\r');
        if is_blank && after_blank && !is_second_half {
            quoted.blank_lines_left_out += 1;
        } else if !is_second_half {
            let shown = if is_blank { "" } else { text };
            let Some(bytes) = quoted.push(shown, &mut room) else {
                return quoted;
            };
            if bytes < shown.len() {
                quoted.bytes_left_out -= bytes;
                return quoted;
            }
            after_blank = is_blank;
        }
        quoted.bytes_left_out -= line.len();
    }
    quoted
}

impl Quoted {
    /// Adds a line, or the part of it for which there is room. Returns how many bytes of it that is; `None` if there is
    /// no room for any of it.
    fn push(&mut self, line: &str, room: &mut usize) -> Option<usize> {
        let rest = room.checked_sub(MARK.len())?;
        if rest == 0 && !line.is_empty() {
            return None;
        }
        self.text.push_str(MARK);
        let shown = beginning(line, rest);
        self.text.extend(shown.chars().map(visible));
        *room = rest.saturating_sub(shown.chars().count());
        Some(shown.len())
    }
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Joiners and selectors stay: without them some scripts and emoji cannot be written. Every other hidden character
/// could carry text that people do not see.
fn visible(c: char) -> char {
    let is_part_of_writing = matches!(c, '\t' | '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    if is_hidden(c) && !is_part_of_writing {
        '\u{fffd}'
    } else {
        c
    }
}
