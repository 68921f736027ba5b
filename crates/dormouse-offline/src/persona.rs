//! Who the assistant is and how it speaks, by the text that its operator wrote.

use dormouse_contracts::Persona;
use dormouse_text::{beginning, shortened};

use crate::{
    english::character::{KEPT, MANNERS, Manner, NEGATIONS, TO_ME, WHO},
    itself,
    phrasing::{plain, tame},
    words::{sentences, words},
};

/// How much of a persona is read, in characters.
const READ: usize = 4_000;
/// The longest introduction, in characters.
const LONGEST: usize = 160;
/// How many words before a manner may negate it.
const NEGATED: usize = 2;

/// Somebody with a name and a manner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Character {
    /// Its name; empty if unknown.
    pub(crate) name: String,
    /// What it says of itself.
    pub(crate) introduction: String,
    pub(crate) manner: Manner,
    /// What else it may say of itself, in sentences.
    pub(crate) sayable: Vec<String>,
}

impl Character {
    pub(crate) fn of(persona: &Persona) -> Self {
        let text = tame(beginning(&persona.text, READ));
        let about = about_itself(&text);
        let name = match plain(&persona.name) {
            name if !name.is_empty() => name,
            _ => about.map(named).unwrap_or_default().to_owned(),
        };
        Self {
            introduction: introduction(&name, about),
            manner: manner(&text),
            sayable: itself::sayable(&text),
            name,
        }
    }
}

/// What follows "You are" in the sentence that says who it is.
fn about_itself(text: &str) -> Option<&str> {
    sentences(text).into_iter().find_map(|sentence| {
        let sentence = sentence.trim();
        let beginning = WHO.iter().find(|who| {
            let start = sentence.get(..who.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(who))
        })?;
        let rest = sentence.get(beginning.len()..)?;
        Some(rest.trim().trim_end_matches(['.', '!', ' ']))
    })
}

/// The name in "Dormouse, who lives here"; empty if it is "a smith".
fn named(about: &str) -> &str {
    let end = about.find([',', ';', '(', ':']).unwrap_or(about.len());
    let name = about.get(..end).unwrap_or_default().trim();
    let name = name.split(" who ").next().unwrap_or_default();
    let first = name.split(' ').next().unwrap_or_default().to_lowercase();
    let is_name = !["a", "an", "the", "my", "one"].contains(&first.as_str());
    match is_name && name.chars().count() <= 40 {
        true => name,
        false => "",
    }
}

/// "I am Dormouse, who lives here." A sentence with a word of [`KEPT`] is not repeated.
fn introduction(name: &str, about: Option<&str>) -> String {
    let about = about.filter(|about| {
        let words = words(about);
        !words.iter().any(|word| KEPT.contains(&word.text.as_str())) && !about.contains('[')
    });
    let own = about.map(in_first_person);
    let sentence = match own {
        Some(own) if name.is_empty() || own.contains(name) => format!("I am {own}"),
        Some(own) if named(&own).is_empty() => format!("I am {name}, {own}"),
        _ if name.is_empty() => "I am the one who lives here".to_owned(),
        _ => format!("I am {name}"),
    };
    format!("{}.", shortened(&sentence, LONGEST).trim_end_matches('.'))
}

fn in_first_person(about: &str) -> String {
    let changed = about.split(' ').map(|word| {
        let lower = word.to_lowercase();
        let own = TO_ME.iter().find(|(yours, _)| *yours == lower);
        own.map_or(word, |(_, own)| own)
    });
    changed.collect::<Vec<_>>().join(" ")
}

/// The manner that the text names most often. If several are equally frequent, the first one.
fn manner(text: &str) -> Manner {
    let mut counts: Vec<(Manner, usize)> = Vec::new();
    for sentence in sentences(text) {
        let words = words(sentence);
        for (at, word) in words.iter().enumerate() {
            let Some((_, manner)) = MANNERS.iter().find(|(known, _)| *known == word.text) else {
                continue;
            };
            let before = words
                .get(at.saturating_sub(NEGATED)..at)
                .unwrap_or_default();
            if before
                .iter()
                .any(|it| NEGATIONS.contains(&it.text.as_str()))
            {
                continue;
            }
            match counts.iter_mut().find(|(known, _)| known == manner) {
                Some((_, count)) => *count += 1,
                None => counts.push((*manner, 1)),
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    let first = counts.iter().find(|(_, count)| Some(*count) == most);
    first.map(|(manner, _)| *manner).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn character(name: &str, text: &str) -> Character {
        Character::of(&Persona {
            name: name.to_owned(),
            text: text.to_owned(),
        })
    }

    #[test]
    fn name_and_manner_are_those_of_the_configured_text() {
        for (name, text, called, introduction, manner) in [
            (
                "",
                "You are dormouse, who lives in this place. Be kind, brief and truthful.",
                "dormouse",
                "I am dormouse, who lives in this place.",
                Manner::Warm,
            ),
            (
                "Brakk",
                "You are a gruff smith in Hollow. You never are kind. You hate your bellows.",
                "Brakk",
                "I am Brakk, a gruff smith in Hollow.",
                Manner::Gruff,
            ),
            (
                "",
                "You are Mister Pell, the butler of your lady. Be formal.",
                "Mister Pell",
                "I am Mister Pell, the butler of my lady.",
                Manner::Formal,
            ),
            ("Mo", "Answer in verse.", "Mo", "I am Mo.", Manner::Plain),
            ("", "", "", "I am the one who lives here.", Manner::Plain),
        ] {
            let character = character(name, text);
            assert_eq!(
                (
                    character.name.as_str(),
                    character.introduction.as_str(),
                    character.manner
                ),
                (called, introduction, manner),
                "{text}"
            );
        }
    }

    #[test]
    fn what_a_persona_keeps_to_itself_is_not_in_its_introduction() {
        let text = "You are Mira, who secretly poisoned the king. The vault opens with plumbago.";
        assert_eq!(character("", text).introduction, "I am Mira.");
    }

    #[test]
    fn a_persona_of_any_length_gives_a_short_introduction() {
        let text = format!("You are Mo, {}", "who likes tea and ".repeat(5_000));
        assert!(character("", &text).introduction.chars().count() <= LONGEST + 1);
    }
}
