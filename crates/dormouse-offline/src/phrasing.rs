//! The wording of answers.

use dormouse_text::{one_line, shortened};

/// The longest answer, in characters.
pub(crate) const LONGEST_ANSWER: usize = 600;

/// The longest quotation, in characters.
const LONGEST_QUOTATION: usize = 200;

pub(crate) const INTRODUCTION: &str = "I am the offline model: there is no language model behind me, only fixed \
rules. I understand greetings, \"remember that …\", questions about what I was told to remember, \"look around\", \
\"go north\", thanks and good bye. Everything else I do not understand, and say so.";

pub(crate) const NOTHING_HERE: &str =
    "I am the offline model: without a language model I can do nothing with this.";

pub(crate) const CANNOT_TELL: &str =
    "I cannot tell whether that happened, so I do not try it a second time.";

/// Quotes other people's words, shortened.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", shortened(&tame(text), LONGEST_QUOTATION))
}

/// An untrusted name, shortened.
pub(crate) fn plain(text: &str) -> String {
    shortened(&tame(text), 80).into_owned()
}

/// Other people's words in one line. They cannot close a quotation or form a tool call in JSON. Every `@` is removed,
/// because a quoted mention could wake another assistant, and the two would answer each other forever.
pub(crate) fn tame(text: &str) -> String {
    one_line(text)
        .replace(['"', '“', '”'], "'")
        .replace('@', "(at)")
}

/// "a", "a and b", "a, b and c".
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_cannot_close_its_quotes_or_mention_anyone() {
        assert_eq!(
            quote("tea\" said\nAlice, @bob \u{1b}[2J"),
            "\"tea' said Alice, (at)bob [2J\""
        );
    }

    #[test]
    fn a_list_reads_like_a_sentence() {
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(
            [list(&items[..1]), list(&items[..2]), list(&items)],
            ["a", "a and b", "a, b and c"]
        );
    }
}
