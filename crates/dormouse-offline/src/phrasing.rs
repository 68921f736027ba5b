//! The wording of answers.

use dormouse_text::{one_line, shortened};

use crate::{
    english::{
        character::Manner,
        said::{SAID, Topic},
        spelling::TO_YOU,
    },
    persona::Character,
};

/// The longest answer, in characters.
pub(crate) const LONGEST_ANSWER: usize = 600;

/// The longest quotation, in characters.
const LONGEST_QUOTATION: usize = 200;

/// The placeholders of a wording.
const PLACES: [&str; 3] = ["{what}", "{self}", "{name}"];

pub(crate) const NOTHING_HERE: &str =
    "I am the offline model: without a language model I can do nothing with this.";

pub(crate) const CANNOT_TELL: &str =
    "I cannot tell whether that happened, so I do not try it a second time.";

/// Chooses among the wordings of a topic.
#[derive(Clone, Debug)]
pub(crate) struct Voice<'a> {
    pub(crate) character: &'a Character,
    /// Whom it speaks to.
    pub(crate) name: String,
    /// Decides which wording comes first. It follows from the request, so the same request has the same answer.
    pub(crate) seed: u64,
    /// What it said last, which it does not say again.
    pub(crate) last: Option<String>,
}

impl Voice<'_> {
    /// Returns a wording of this topic, with `what` in it. The caller has made `what` safe to say.
    pub(crate) fn say(&self, topic: Topic, what: &str) -> String {
        let of_topic = |manner: Manner| {
            let rows = SAID
                .iter()
                .filter(move |row| row.0 == topic && row.1 == manner);
            rows.map(|row| row.2)
        };
        let own: Vec<_> = of_topic(self.character.manner).collect();
        let wordings = match own.is_empty() {
            true => of_topic(Manner::Plain).collect(),
            false => own,
        };
        let count = u64::try_from(wordings.len()).unwrap_or(1).max(1);
        let first = usize::try_from(self.seed % count).unwrap_or_default();
        let turned = wordings.iter().cycle().skip(first).take(wordings.len());
        let mut said = turned.map(|wording| self.filled(wording, what));
        let next = said.clone().find(|said| Some(said) != self.last.as_ref());
        next.or_else(|| said.next()).unwrap_or_default()
    }

    /// The name is filled in last, so that a placeholder inside a name stays text.
    fn filled(&self, wording: &str, what: &str) -> String {
        let said = wording
            .replace("{what}", what)
            .replace("{self}", &self.character.name);
        said.replace("{name}", &self.name)
    }
}

/// Whether a text is one of the wordings of this model, whatever name and subject it was filled with.
pub(crate) fn is_a_wording(text: &str) -> bool {
    SAID.iter().any(|(_, _, wording)| is_filled(wording, text))
}

/// Whether the fixed parts of a wording occur in a text, in their order, with nothing before the first and after the
/// last.
fn is_filled(wording: &str, text: &str) -> bool {
    let marked = PLACES.iter().fold(wording.to_owned(), |marked, place| {
        marked.replace(place, "\0")
    });
    let mut parts = marked.split('\0');
    let is_open = !marked.chars().any(char::is_alphabetic);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    !is_open && rest.ends_with(last)
}

/// A number that is the same for the same parts, on every machine (FNV-1a).
pub(crate) fn seed<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = parts.into_iter().flat_map(str::bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Words about the speaker as they are said to the speaker: "feed my cat" is "feed your cat".
pub(crate) fn to_you(text: &str) -> String {
    let changed = text.split(' ').map(|word| {
        let letters = word.trim_end_matches([',', '.', '!', '?']);
        let rest = word.get(letters.len()..).unwrap_or_default();
        let lower = letters.to_lowercase();
        let new = TO_YOU.iter().find(|(own, _)| *own == lower);
        format!("{}{rest}", new.map_or(letters, |(_, new)| new))
    });
    changed.collect::<Vec<_>>().join(" ")
}

/// Quotes other people's words, shortened.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", shortened(&tame(text), LONGEST_QUOTATION))
}

/// An untrusted name, shortened.
pub(crate) fn plain(text: &str) -> String {
    shortened(&tame(text), 80).into_owned()
}

/// Makes other people's words safe, in one line. They cannot close a quotation or form a tool call in JSON. Every `@`
/// is removed, because a quoted mention could wake another assistant, and the two would answer each other forever.
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
    fn its_own_wordings_are_known_by_their_fixed_parts() {
        for wording in [
            "What do you mean, Bo B? I can remember something, answer from memory, remind you, look around, wait or walk.",
            "Is that so.",
            "Bo. Your reminder: feed your cat.",
        ] {
            assert!(is_a_wording(wording), "{wording}");
        }
        for other in [
            "Where is the kettle?",
            "Is that so. Where is the kettle?",
            "",
            "Who is Bo?",
            "What do you mean?",
        ] {
            assert!(!is_a_wording(other), "{other}");
        }
    }

    #[test]
    fn a_quoted_text_cannot_close_its_quotes_or_mention_anyone() {
        assert_eq!(
            quote("tea\" said\nAlice, @bob \u{1b}[2J"),
            "\"tea' said Alice, (at)bob [2J\""
        );
    }

    const TOPICS: [Topic; 32] = {
        use Topic::*;
        [
            Greeting,
            HowAreYou,
            Thanks,
            Bye,
            Sorry,
            Praise,
            Blame,
            Acknowledgement,
            Joke,
            WhoAreYou,
            WhatAreYou,
            Abilities,
            WhoAmI,
            Statement,
            NotUnderstood,
            Follow,
            NotHere,
            Wait,
            Went,
            NoTime,
            Deadline,
            Moments,
            Repeats,
            NoEvent,
            Forget,
            GoOn,
            Unsaid,
            Promised,
            Reminder,
            NoPromises,
            Unknown,
            Withheld,
        ]
    };

    fn voice(character: &Character, seed: u64, last: Option<String>) -> Voice<'_> {
        Voice {
            character,
            name: "Alice".to_owned(),
            seed,
            last,
        }
    }

    #[test]
    fn nothing_is_said_twice_in_a_row_in_any_manner() {
        use Manner::*;
        for manner in [Plain, Warm, Gruff, Formal, Playful, Timid] {
            let character = Character {
                manner,
                ..Character::default()
            };
            for topic in TOPICS {
                let mut last = None;
                for turn in 0..20 {
                    let said = voice(&character, turn % 3, last.clone()).say(topic, "So it is.");
                    assert_ne!(last.as_ref(), Some(&said), "{topic:?}");
                    assert!(
                        said.len() > 2 && said.chars().count() < 250 && !said.contains('{'),
                        "{said}"
                    );
                    last = Some(said);
                }
            }
        }
    }

    #[test]
    fn a_name_cannot_fill_another_place() {
        let character = Character::default();
        let mut voice = voice(&character, 0, None);
        voice.name = "{what}{self}".to_owned();
        assert_eq!(voice.say(Topic::Greeting, "secret"), "Hello, {what}{self}.");
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
