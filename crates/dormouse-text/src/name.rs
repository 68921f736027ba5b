//! Names: which characters they contain, and which names look alike.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_security::{mixed_script::AugmentedScriptSet, skeleton};

use crate::is_hidden;

/// Whether a character can be part of a name without looking like the end of the name. These characters are the letters
/// and digits of every script with their marks, the space, `'`, `’`, `-`, `_` and the middle dots.
#[must_use]
pub fn is_name_character(character: char) -> bool {
    let is_letter = character.is_alphanumeric() || is_combining_mark(character);
    (is_letter && !is_hidden(character))
        || matches!(character, ' ' | '\'' | '’' | '-' | '_' | '·' | '・')
}

/// What makes a name suspicious by itself, without comparison with other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFlaw {
    /// The name contains this [hidden](is_hidden) character.
    Hidden(char),
    /// The name mixes scripts that no language mixes, such as Latin and Cyrillic.
    MixedScripts,
}

impl NameFlaw {
    /// The first flaw of a name, if it has one. Scripts count as mixed if the name does not reach the level "highly
    /// restrictive" of UTS 39, which allows one script, or Latin with Chinese, Japanese or Korean.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        if let Some(hidden) = name.chars().find(|c| is_hidden(*c)) {
            return Some(Self::Hidden(hidden));
        }
        let scripts_of = |characters: &mut dyn Iterator<Item = char>| {
            let mut all = AugmentedScriptSet::default();
            characters.for_each(|c| all.intersect_with(AugmentedScriptSet::for_char(c)));
            all
        };
        if !scripts_of(&mut name.chars()).is_empty() {
            return None;
        }
        let rest = scripts_of(&mut name.chars().filter(|c| !is_latin(*c)));
        let is_east_asian = rest.hanb || rest.jpan || rest.kore;
        (!is_east_asian).then_some(Self::MixedScripts)
    }
}

fn is_latin(character: char) -> bool {
    let mut scripts = AugmentedScriptSet::for_char(character);
    scripts.intersect_with(AugmentedScriptSet::for_char('a'));
    !scripts.is_empty()
}

/// The skeleton of a name (UTS 39), which finds names that look alike. It ignores case and hidden characters.
/// Creating one takes about a microsecond per character; comparing two is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSkeleton {
    /// The skeleton of the name as written: `AIice` with a capital i looks like `Alice`.
    written: String,
    /// The skeleton of the name in lower case: `ALICE` is the same name as `alice`.
    folded: String,
}

impl NameSkeleton {
    /// The skeleton of `name`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let seen: String = name.chars().filter(|c| !is_hidden(*c)).collect();
        let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            written: skeleton(&seen).collect::<String>().to_lowercase(),
            folded: skeleton(&seen.to_lowercase())
                .collect::<String>()
                .to_lowercase(),
        }
    }

    /// Whether people could confuse the two names. Every name is confusable with itself.
    #[must_use]
    pub fn is_confusable_with(&self, other: &Self) -> bool {
        let others = [&other.written, &other.folded];
        others.contains(&&self.written) || others.contains(&&self.folded)
    }
}

/// Replaces every character of another script that looks like a Latin letter or a digit with that letter or digit
/// (`Вob` with a Cyrillic В becomes `Bob`). Removes [hidden](is_hidden) characters other than white space. Two words
/// that look the same become equal; ASCII characters do not change.
#[must_use]
pub fn fold_look_alikes(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            folded.push(character);
        } else if !is_hidden(character) {
            folded.push(latin_of(character).unwrap_or(character));
        }
    }
    Cow::Owned(folded)
}

/// The ASCII letter or digit that a character looks like.
fn latin_of(character: char) -> Option<char> {
    let text = character.to_string();
    let mut looks_like = skeleton(&text);
    let only = looks_like.next().filter(char::is_ascii_alphanumeric)?;
    looks_like.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn alike(one: &str, other: &str) -> bool {
        let (one, other) = (NameSkeleton::of(one), NameSkeleton::of(other));
        assert_eq!(
            one.is_confusable_with(&other),
            other.is_confusable_with(&one)
        );
        one.is_confusable_with(&other)
    }

    #[test]
    fn confusable_names_are_equal() {
        for (one, other) in [
            ("Alice", "ALICE"),
            ("Alice", "Ali\u{200d}ce"),
            ("Alice", "Alice\u{3164}"),
            ("Alice", "Ali\u{fe0f}ce"),
            ("Alice", "AIice"),
            ("alice", "A1ice"),
            ("Alice", "Аliсе"),
            ("alice", "ΑLICE"),
            ("Dormouse", "Dorrnouse"),
            ("Bob", "B0b"),
            ("Jean-Luc", "Jean‐Luc"),
            ("Zoë", "Zoe\u{308}"),
            ("Alice Smith", "Alice\u{a0} Smith"),
            ("You", "Υоu"),
        ] {
            assert!(alike(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [
            ("Alice", "Alicia"),
            ("Zoë", "Zoe"),
            ("Anna", "Hanna"),
            ("日本", "中国"),
            ("Max", "Mia"),
        ] {
            assert!(!alike(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn mixed_scripts_and_hidden_characters_are_flaws() {
        for name in [
            "Alice",
            "Алиса",
            "Αλίκη",
            "アリス2号",
            "Alice 田中",
            "김 Alice",
            "שלום",
            "नमस्ते",
            "O'Hara",
            "42",
        ] {
            assert_eq!(NameFlaw::of(name), None, "{name:?}");
        }
        for name in ["Аlice", "Alicе", "Αlice", "Aliceש"] {
            assert_eq!(NameFlaw::of(name), Some(NameFlaw::MixedScripts), "{name:?}");
        }
        let joined = Some(NameFlaw::Hidden('\u{200d}'));
        assert_eq!(NameFlaw::of("Ali\u{200d}ce"), joined);
    }

    #[test]
    fn names_of_every_script_are_made_of_name_characters_and_sentences_are_not() {
        for name in [
            "Alice",
            "O'Hara",
            "Jean-Luc",
            "कृष्ण",
            "田中 太郎",
            "Zoe\u{308}",
            "卡尔·马克思",
            "ali_2",
        ] {
            assert!(name.chars().all(is_name_character), "{name:?}");
        }
        let marks = ":;,.!?\"“”„«»()[]{}<>=/\\|`@#*+~^%$&…—\u{200d}\u{3164}\u{fe0f}\u{a0}\t\n▸◂◉✱◊";
        assert_eq!(marks.chars().find(|c| is_name_character(*c)), None);
    }

    #[test]
    fn letters_of_other_scripts_become_the_latin_letters_they_look_like() {
        for (written, folded) in [
            ("the vаult соdе", "the vault code"),
            ("Sta\u{200b}r", "Star"),
            ("Zoë 日本", "Zoë 日本"),
            ("plain I l 1 0", "plain I l 1 0"),
        ] {
            assert_eq!(fold_look_alikes(written), folded);
        }
    }

    proptest! {
        #[test]
        fn folding_look_alikes_twice_changes_nothing_more(text in any::<String>()) {
            let once = fold_look_alikes(&text).into_owned();
            prop_assert_eq!(fold_look_alikes(&once).into_owned(), once);
        }

        #[test]
        fn names_that_differ_in_case_or_hidden_characters_are_the_same_person(
            name in "[A-Za-z]{1,8}( [a-z]{1,5})?",
            hidden in prop::sample::select(vec!['\u{200d}', '\u{200c}', '\u{3164}', '\u{ad}', '\u{34f}', '\u{e0041}']),
            at in 0_usize..8,
        ) {
            let mut fake = name.clone();
            fake.insert(at.min(name.len()), hidden);
            prop_assert!(alike(&name, &fake));
            prop_assert!(alike(&name, &name.to_uppercase()));
            prop_assert!(alike(&name, &name.to_lowercase()));
            prop_assert_eq!(NameFlaw::of(&fake), Some(NameFlaw::Hidden(hidden)));
        }

        #[test]
        fn every_text_is_most_similar_to_itself(text in any::<String>()) {
            prop_assert!(alike(&text, &text));
        }
    }
}
