//! References to turns: "D3:7" is turn 7 of session 3.
//!
//! Published evidence is not always clean: it can have several references in one string, extra colons and leading
//! zeros. All of these are accepted.

/// A session and a turn.
pub(super) type Named = (u64, u64);

/// Every turn that a text refers to, in order.
pub(super) fn named(text: &str) -> Vec<Named> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(['D', 'd']) {
        rest = after;
        if let Some((name, after)) = name(rest) {
            names.push(name);
            rest = after;
        }
    }
    names
}

/// The reference after the letter, if there is one, and the rest of the text.
fn name(text: &str) -> Option<(Named, &str)> {
    let text = text.strip_prefix(':').unwrap_or(text);
    let (session, rest) = number(text)?;
    let (turn, rest) = number(rest.strip_prefix(':')?)?;
    Some(((session, turn), rest))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_names_are_parsed_in_every_spelling() {
        assert_eq!(named("D3:7"), [(3, 7)]);
        assert_eq!(
            named("D1:2; D1:3,D2:4 D5:6"),
            [(1, 2), (1, 3), (2, 4), (5, 6)]
        );
        assert_eq!(named("D1:2D1:3"), [(1, 2), (1, 3)]);
        assert_eq!(named("D:11:26"), [(11, 26)]);
        assert_eq!(named("D30:05"), [(30, 5)]);
    }

    #[test]
    fn a_text_that_is_not_a_turn_name_is_ignored() {
        for text in [
            "",
            "D",
            "D:",
            "D3",
            "D3:",
            "3:7",
            "Ddd:D",
            "D99999999999999999999:1",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
    }
}
