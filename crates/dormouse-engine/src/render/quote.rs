//! What somebody wrote, line by line, so that none of it can pass for anything else.

/// What stands before each line that somebody wrote.
const MARK: &str = "\n> ";

/// A text with a mark before each of its lines, and what was left out of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    pub(super) text: String,
    /// How many blank lines were left out because one stands before them.
    pub(super) blank_lines_left_out: usize,
    /// How many bytes at the end of the text are not shown.
    pub(super) bytes_left_out: usize,
}

/// Puts a mark before each line of `words`. No more than `max_chars` characters come out, and of neighbouring blank
/// lines only one: a text of nothing but line ends would come out several times as long as it is.
pub(super) fn quote(words: &str, max_chars: usize) -> Quoted {
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
        // A return and a line feed are one line end.
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
    /// Adds a line, or as much of it as there is room for, and says how many bytes of it that is; nothing if there
    /// is no room for any of it.
    fn push(&mut self, line: &str, room: &mut usize) -> Option<usize> {
        let rest = room.checked_sub(MARK.len())?;
        if rest == 0 && !line.is_empty() {
            return None;
        }
        self.text.push_str(MARK);
        let end = line.char_indices().nth(rest);
        let bytes = end.map_or(line.len(), |(at, _)| at);
        let shown = line.get(..bytes).unwrap_or_default();
        self.text.extend(shown.chars().map(visible));
        *room = rest.saturating_sub(shown.chars().count());
        Some(bytes)
    }
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn visible(c: char) -> char {
    if c.is_control() && c != '\t' {
        '\u{fffd}'
    } else {
        c
    }
}
