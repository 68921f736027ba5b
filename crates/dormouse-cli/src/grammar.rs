//! Numbers, names and lists in sentences.

use dormouse_contracts::{Attribution, EntityId};
use dormouse_text::escape_id;

/// A number and what it counts: `1 memory`, `2 memories`.
pub(crate) fn counted(count: impl Into<u128>, one: &str, many: &str) -> String {
    match count.into() {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// A name with an id, so that it cannot be mistaken for another person's: `Alice (player:alice)`.
pub(crate) fn identified(name: &str, id: Option<&EntityId>) -> String {
    match id {
        Some(id) => format!("{name} ({})", escape_id(id.as_str())),
        None => name.to_owned(),
    }
}

/// Who something comes from, in words. A name without an id is quoted, since anybody can be called "the assistant".
pub(crate) fn attributed(from: &Attribution) -> String {
    match from {
        Attribution::Myself => "the assistant".to_owned(),
        Attribution::Entity { id, name } => identified(name, Some(id)),
        Attribution::Named(name) => format!("{name:?}"),
        Attribution::Surroundings => "the surroundings".to_owned(),
        Attribution::Several => "several sources".to_owned(),
        Attribution::Unknown => "someone".to_owned(),
    }
}

/// Names as in a sentence: `Orla`, `Orla and Wick`, `Orla, Quince and Wick`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A pose as others see it: the name and the words, without a space if the words continue the name itself.
pub(crate) fn posed(name: &str, words: &str) -> String {
    let gap = if words.starts_with(['\'', '’', ',']) {
        ""
    } else {
        " "
    };
    format!("{name}{gap}{words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_everything_else_plural() {
        let memories = |count: u32| counted(count, "memory", "memories");
        assert_eq!(
            [memories(0), memories(1), memories(2)],
            ["0 memories", "1 memory", "2 memories"]
        );
    }

    #[test]
    fn names_are_listed_with_commas_and_a_final_and() {
        let names = ["Orla", "Quince", "Wick"].map(str::to_owned);
        let lists: Vec<_> = (0..=3).map(|count| listed(&names[..count])).collect();
        assert_eq!(
            lists,
            ["nobody", "Orla", "Orla and Quince", "Orla, Quince and Wick"]
        );
    }

    #[test]
    fn a_pose_begins_with_the_name() {
        assert_eq!(posed("Alice", "smiles."), "Alice smiles.");
        assert_eq!(posed("Alice", "'s cup is empty."), "Alice's cup is empty.");
    }
}
