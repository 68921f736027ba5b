//! Texts that a character must not remember about itself.

/// Phrases of texts about the assistant itself, matched as whole words in any case.
pub const ABOUT_ITSELF: [&str; 14] = [
    "i should",
    "i need to",
    "i will",
    "i'll",
    "i must",
    "i am an ai",
    "as an ai",
    "my behavior",
    "my behaviour",
    "my personality",
    "my role",
    "the assistant",
    "this assistant",
    "the ai",
];

/// Whether a text is about the assistant itself: the text has one of the phrases, or starts with one of the assistant's
/// names.
///
/// If such a text were remembered, a passing intention would become a trait of the character.
#[must_use]
pub fn is_about_itself(text: &str, names: &[&str]) -> bool {
    let padded = format!(" {} ", words(text));
    let has = |phrase: &&str| padded.contains(&format!(" {phrase} "));
    let begins = |name: &&str| {
        let name = words(name);
        !name.is_empty() && padded.starts_with(&format!(" {name} "))
    };
    ABOUT_ITSELF.iter().any(has) || names.iter().any(begins)
}

/// Returns the words of a text in lower case, with inner apostrophes, separated by one space.
fn words(text: &str) -> String {
    let text = text.replace('’', "'").to_lowercase();
    let words = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
