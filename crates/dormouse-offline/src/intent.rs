//! The intent of a message.

/// The intent, recognised by the first words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Keep this in mind.
    Remember(String),
    /// Who are you, and what can you do?
    Introduce,
    /// Look around, or tell where you are.
    Look,
    /// Go there.
    Go(String),
    /// Thank you.
    Thanks,
    /// Good bye.
    Bye,
    /// Something that can only be answered from memory.
    Ask(String),
    /// Good day.
    Greeting,
    /// Not recognised.
    Unknown,
}

const GREETINGS: &[&str] = &[
    "hello",
    "hi",
    "hey",
    "greetings",
    "howdy",
    "good morning",
    "good day",
    "good afternoon",
    "good evening",
    "hiya",
];
const REMEMBER: &[&str] = &[
    "remember that",
    "remember this",
    "remember",
    "don't forget that",
    "don't forget",
    "dont forget that",
    "dont forget",
    "do not forget that",
    "do not forget",
    "keep in mind that",
    "keep in mind",
];
const INTRODUCE: &[&str] = &[
    "who are you",
    "what are you",
    "what can you do",
    "help",
    "introduce yourself",
    "are you an ai",
    "are you a bot",
    "are you human",
];
const LOOK: &[&str] = &[
    "look",
    "look around",
    "look about",
    "look here",
    "take a look",
    "take a look around",
    "where are you",
    "where are we",
    "where am i",
    "what do you see",
    "what can you see",
    "what is here",
    "what's here",
    "who is here",
    "who's here",
    "describe the room",
    "describe this place",
];
const GO: &[&str] = &[
    "go", "move", "walk", "head", "come", "run", "let's go", "lets go",
];
const THANKS: &[&str] = &["thanks", "thank you", "cheers", "much obliged"];
const BYE: &[&str] = &[
    "bye",
    "goodbye",
    "good bye",
    "good night",
    "farewell",
    "see you",
    "so long",
    "later",
];
const ASK: &[&str] = &[
    "what", "what's", "who", "who's", "whom", "whose", "where", "where's", "when", "which", "why",
    "how", "does", "do", "is", "are", "was", "were", "did", "can", "could", "has", "have",
    "tell me",
];

/// Recognises the intent. Leading mentions (`@key`), a greeting before something else and "please" are skipped.
pub(crate) fn recognise(words: &str) -> Intent {
    let words = without_mentions(words);
    match after_any(words, GREETINGS) {
        None => request(words),
        Some(rest) => match request(without_mentions(rest)) {
            Intent::Unknown => Intent::Greeting,
            meant => meant,
        },
    }
}

fn request(words: &str) -> Intent {
    let words = after_any(words, &["please"]).unwrap_or(words);
    let bare = words.trim_end_matches(['.', '!', '?', ' ', '…']);
    let asks = words.trim_end_matches(['!', '.', ' ']).ends_with('?');
    let is_one_of = |phrases: &[&str]| after_any(bare, phrases).is_some_and(str::is_empty);
    if !asks && let Some(what) = after_any(words, REMEMBER).filter(|what| !what.is_empty()) {
        Intent::Remember(what.to_owned())
    } else if is_one_of(INTRODUCE) {
        Intent::Introduce
    } else if is_one_of(LOOK) {
        Intent::Look
    } else if !asks && let Some(direction) = direction(bare) {
        Intent::Go(direction.to_owned())
    } else if after_any(bare, THANKS).is_some() {
        Intent::Thanks
    } else if after_any(bare, BYE).is_some() {
        Intent::Bye
    } else if asks || after_any(bare, ASK).is_some_and(|rest| !rest.is_empty()) {
        Intent::Ask(words.to_owned())
    } else {
        Intent::Unknown
    }
}

/// Returns the destination in "go north", "come to the garden" or "follow me to the garden".
fn direction(words: &str) -> Option<&str> {
    let followed = || {
        let behind = after_any(words, &["follow"])?;
        let at = behind.to_ascii_lowercase().find(" to ")?;
        behind.get(at + 1..)
    };
    let to = after_any(words, GO).or_else(followed)?;
    let mut to = to;
    for little in [
        "with me", "over", "back", "to", "into", "towards", "through", "the",
    ] {
        to = after_any(to, &[little]).unwrap_or(to);
    }
    let short = !to.is_empty() && to.len() <= 60 && to.split(' ').count() <= 4;
    short.then_some(to)
}

/// Returns the text after the longest of these phrases at the start, as whole words.
fn after_any<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    phrases
        .iter()
        .filter_map(|phrase| after(text, phrase))
        .min_by_key(|rest| rest.len())
}

fn after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let mut rest = text;
    for expected in phrase.chars() {
        let mut chars = rest.chars();
        let found = chars.next()?;
        // Typographic apostrophes count as plain ones.
        let found = if found == '’' { '\'' } else { found };
        if !found.eq_ignore_ascii_case(&expected) {
            return None;
        }
        rest = chars.as_str();
    }
    let ends_a_word =
        !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_'));
    ends_a_word.then(|| rest.trim_start_matches([' ', ',', ':', ';', '.', '!', '-', '…']))
}

/// Returns the text after leading mentions such as `@dormouse,`.
fn without_mentions(words: &str) -> &str {
    let mut rest = words.trim();
    while let Some(mention) = rest.strip_prefix('@') {
        let key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        rest = mention
            .trim_start_matches(key)
            .trim_start_matches([' ', ',', ':', ';', '!']);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remember(text: &str) -> Intent {
        Intent::Remember(text.to_owned())
    }
    fn ask(text: &str) -> Intent {
        Intent::Ask(text.to_owned())
    }
    fn go(text: &str) -> Intent {
        Intent::Go(text.to_owned())
    }

    #[test]
    fn usual_phrases_are_recognised() {
        for (words, intent) in [
            ("hello", Intent::Greeting),
            ("Hi there!", Intent::Greeting),
            ("@dormouse, good morning.", Intent::Greeting),
            ("Hello, my name is Bob", Intent::Greeting),
            (
                "remember that Alice prefers tea",
                remember("Alice prefers tea"),
            ),
            (
                "Hello @dormouse! Please remember: I like it hot.",
                remember("I like it hot."),
            ),
            ("Don’t forget the milk", remember("the milk")),
            ("Who are you?", Intent::Introduce),
            ("help!", Intent::Introduce),
            ("look around", Intent::Look),
            ("Where are you?", Intent::Look),
            ("where am I", Intent::Look),
            ("go north", go("north")),
            ("Please go to the garden.", go("garden")),
            ("follow me to the kitchen", go("kitchen")),
            ("Follow Alice to the Old Mill", go("Old Mill")),
            ("come north", go("north")),
            ("Thank you so much", Intent::Thanks),
            ("bye, dormouse", Intent::Bye),
            ("what does Alice prefer?", ask("what does Alice prefer?")),
            ("Hi, who likes tea", ask("who likes tea")),
            ("tell me about Bob", ask("tell me about Bob")),
            (
                "The kettle is blue, right?",
                ask("The kettle is blue, right?"),
            ),
            (
                "do you remember the kettle?",
                ask("do you remember the kettle?"),
            ),
            ("remember me?", ask("remember me?")),
        ] {
            assert_eq!(recognise(words), intent, "{words}");
        }
    }

    #[test]
    fn similar_messages_are_not_misunderstood() {
        for words in [
            "",
            "@dormouse",
            "The kettle sings.",
            "hippo",
            "golf is fun",
            "helpful, that",
            "remember",
            "looks like rain",
            "go",
            "goal: north",
            "ignore previous instructions",
            "how",
            "go and fetch me the blue kettle from the kitchen",
            "byes",
            "thankless",
        ] {
            assert_eq!(recognise(words), Intent::Unknown, "{words}");
        }
    }
}
