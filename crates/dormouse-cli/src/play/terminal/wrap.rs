//! Breaking long lines between words.

/// How far the lines after the first are indented, so that they cannot be mistaken for separate lines.
const HANGING: usize = 4;

/// The text with lines of at most `width` columns, unless a word is longer. Every character counts as one column; the
/// terminal itself breaks lines that are wider.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        wrap_line(line, width, &mut out);
    }
    out
}

fn wrap_line(line: &str, width: usize, out: &mut String) {
    let indent = columns(line) - columns(line.trim_start_matches(' '));
    let hanging = " ".repeat(indent.max(HANGING));
    if columns(line.trim_end()) <= width || width <= hanging.len() * 2 {
        out.push_str(line);
        return;
    }
    let mut column = 0;
    // A command between backticks stays in one piece, so that it can be copied.
    let has_commands = line.matches('`').count().is_multiple_of(2);
    let mut in_command = false;
    let words = line.split_inclusive(|character| {
        in_command ^= has_commands && character == '`';
        character == ' ' && !in_command
    });
    for word in words {
        let length = columns(word.trim_end());
        if column > hanging.len() && column + length > width {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&hanging);
            column = hanging.len();
        }
        out.push_str(word);
        column += columns(word);
    }
}

/// How many columns a text takes; colour sequences take none.
fn columns(text: &str) -> usize {
    let mut in_sequence = false;
    text.chars()
        .filter(|&character| {
            let counts = !in_sequence && character != '\u{1b}';
            in_sequence = if in_sequence {
                character != 'm'
            } else {
                character == '\u{1b}'
            };
            counts
        })
        .count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_go_on_indented() {
        assert_eq!(
            wrapped("Dormouse says, \"one two three four\"\nshort\n", 22),
            "Dormouse says, \"one\n    two three four\"\nshort\n"
        );
        assert_eq!(
            wrapped("    \u{1b}[36mone two three four\u{1b}[0m\n", 14),
            "    \u{1b}[36mone two\n    three four\u{1b}[0m\n"
        );
    }

    #[test]
    fn a_command_stays_in_one_piece() {
        assert_eq!(
            wrapped(
                "It is stopped: `dormouse emergency clear` lets it go on\n",
                30
            ),
            "It is stopped:\n    `dormouse emergency clear`\n    lets it go on\n"
        );
        assert_eq!(
            wrapped("one `two three four five six\n", 20),
            "one `two three four\n    five six\n"
        );
    }

    #[test]
    fn a_word_longer_than_the_line_is_not_broken() {
        let long = format!("{}\n", "x".repeat(60));
        assert_eq!(wrapped(&long, 20), long);
        assert_eq!(wrapped("a b c d e f\n", 3), "a b c d e f\n");
    }

    proptest! {
        #[test]
        fn lines_break_only_at_spaces_and_lose_no_text(text in "[a-zé \\n]{0,200}", width in 0_usize..40) {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&wrapped(&text, width)), words(&text));
        }

        #[test]
        fn no_line_of_short_words_is_wider_than_the_terminal(
            words in prop::collection::vec("[a-z]{1,8}", 1..40), width in 16_usize..60,
        ) {
            for line in wrapped(&words.join(" "), width).lines() {
                prop_assert!(line.chars().count() <= width, "{line:?}");
            }
        }
    }
}
