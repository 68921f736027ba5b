//! Splits a text into sentences of plain words for matching.

/// Words that may precede the actual sentence.
#[rustfmt::skip]
const OPENERS: [&str; 34] = [
    "please", "ok", "okay", "and", "but", "so", "also", "hey", "hi", "hello", "well", "just", "oh", "yes", "right",
    "kindly", "listen", "look", "btw", "actually", "then", "thanks", "sorry", "honestly", "lastly", "lol", "haha", "k", "yeah", "yep", "yo", "oi",
    "hmm", "um",
];

/// Openers only before a pause: "no, always knock" opens with them, and "no jokes" and "remember that" do not.
const OPENERS_BEFORE_PAUSE: [&str; 3] = ["no", "remember", "note"];

/// Words that are not names, even before a comma.
#[rustfmt::skip]
const CUES: [&str; 16] = [
    "always", "never", "don't", "stop", "again", "rule", "rules", "condition", "reminder", "request", "language", "tone",
    "length", "format", "style", "units",
];

/// Other spellings of words that matter here: in short messages, old, American, or mistyped.
#[rustfmt::skip]
const SPELLINGS: [(&str, &str); 37] = [
    ("dont", "don't"), ("cant", "can't"), ("wont", "won't"), ("shouldnt", "shouldn't"), ("doesnt", "doesn't"),
    ("didnt", "didn't"), ("cannot", "can't"), ("isnt", "isn't"), ("im", "i'm"), ("ive", "i've"), ("id", "i'd"),
    ("lets", "let's"), ("whats", "what's"), ("u", "you"), ("ur", "your"), ("ure", "you're"), ("youre", "you're"),
    ("r", "are"), ("pls", "please"), ("plz", "please"), ("plase", "please"), ("pleas", "please"), ("plese", "please"),
    ("thx", "thanks"), ("ty", "thanks"), ("w", "with"), ("abt", "about"), ("em", "them"), ("thou", "you"), ("ye", "you"), ("shalt", "shall"),
    ("favorite", "favourite"), ("alergic", "allergic"), ("allways", "always"), ("alway", "always"), ("neve", "never"),
    ("rember", "remember"),
];

/// Pairs of words that also have a short form.
#[rustfmt::skip]
const CONTRACTED: [(&str, &str, &str); 15] = [
    ("i", "am", "i'm"), ("i", "would", "i'd"), ("we", "are", "we're"), ("you", "are", "you're"), ("it", "is", "it's"),
    ("do", "not", "don't"), ("does", "not", "doesn't"), ("can", "not", "can't"), ("should", "not", "shouldn't"),
    ("must", "not", "mustn't"), ("will", "not", "won't"), ("there", "is", "there's"), ("we", "would", "we'd"),
    ("it", "would", "it'd"), ("need", "not", "needn't"),
];

/// A word of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// In lower case with straight apostrophes, without surrounding punctuation.
    pub(super) plain: String,
    /// Whether it is written with a capital letter.
    pub(super) is_capital: bool,
    /// Whether a comma, a colon or a dash follows.
    pub(super) has_pause: bool,
    /// Whether it is a colon.
    pub(super) has_colon: bool,
    /// Where it ends in the text of its sentence, in bytes.
    pub(super) end: usize,
}

/// A sentence without its opening words.
#[derive(Clone, Debug)]
pub(super) struct Sentence<'a> {
    /// The original text, without the final mark.
    pub(super) text: &'a str,
    /// Its words, without openers.
    pub(super) words: Vec<Word>,
    /// Whether it ends with a question mark.
    pub(super) is_question: bool,
    /// Whether it contains "please".
    pub(super) is_polite: bool,
}

impl Sentence<'_> {
    /// The words in lower case.
    pub(super) fn plain(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.plain.as_str()).collect()
    }
}

/// The sentences of a text, without quotations.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    text.lines()
        .flat_map(split)
        .filter(|(text, _)| !text.starts_with(['"', '“', '\'', '‘', '>', '«', '„', '*']))
        .filter_map(|(text, end)| read(text, end == Some('?')))
}

/// The sentences of a line, each with the character that ends it.
fn split(line: &str) -> Vec<(&str, Option<char>)> {
    let mut sentences = Vec::new();
    let mut rest = line;
    while let Some((length, end)) = first_end(rest) {
        let (sentence, further) = rest.split_at(length);
        sentences.push((sentence.trim(), Some(end)));
        rest = further.trim_start_matches(['.', '!', '?', ';', '…']);
    }
    sentences.push((rest.trim(), None));
    sentences.retain(|(sentence, _)| !sentence.is_empty());
    sentences
}

/// The end of the first sentence and its mark, which white space or the end follows. `?!` counts as a question, and the dot
/// of "Ms. Reyes" as part of the sentence.
fn first_end(text: &str) -> Option<(usize, char)> {
    text.char_indices().find_map(|(at, c)| {
        if !matches!(c, '.' | '!' | '?' | ';' | '…') {
            return None;
        }
        let rest = text.get(at..)?;
        let after = rest.trim_start_matches(['.', '!', '?', ';', '…']);
        let is_end = after.chars().next().is_none_or(char::is_whitespace);
        let marks = rest.get(..rest.len() - after.len())?;
        if !is_end || marks == "." && is_title(text.get(..at)?) && !after.trim().is_empty() {
            return None;
        }
        Some((at, if marks.contains('?') { '?' } else { c }))
    })
}

/// Whether a text ends with a form of address that is written with a dot.
fn is_title(before: &str) -> bool {
    let last = before.rsplit(char::is_whitespace).next();
    last.is_some_and(|word| ["Mr", "Mrs", "Ms", "Dr", "Prof", "St"].contains(&word))
}

fn read(text: &str, is_question: bool) -> Option<Sentence<'_>> {
    let mut end = 0;
    let mut words: Vec<Word> = Vec::new();
    for word in text.split_whitespace() {
        let further = text.get(end..).and_then(|rest| rest.find(word));
        end += further.unwrap_or_default() + word.len();
        let is_dash = matches!(word, "-" | "–" | "—");
        let plain = plain(word);
        if is_dash && let Some(before) = words.last_mut() {
            before.has_pause = true;
        }
        if plain.is_empty() {
            continue;
        }
        words.push(Word {
            plain,
            is_capital: word
                .chars()
                .find(|c| c.is_alphanumeric())
                .is_some_and(char::is_uppercase),
            has_pause: word.ends_with([',', ':', '–', '—']),
            has_colon: word.ends_with(':'),
            end,
        });
    }
    contract(&mut words);
    // Short messages ask without a question mark: "can you always …".
    let asks = |words: &[Word]| {
        let mut words = words.iter().map(|word| word.plain.as_str());
        let modal = words
            .next()
            .is_some_and(|word| ["can", "could", "would", "will"].contains(&word));
        modal && words.next() == Some("you")
    };
    let is_polite = words.iter().any(|word| word.plain == "please");
    words.drain(..openers(&words));
    let is_question = is_question || asks(&words);
    (!words.is_empty()).then_some(Sentence {
        text,
        words,
        is_question,
        is_polite,
    })
}

/// Writes pairs such as "do not" as one word, so that later rules know one form.
fn contract(words: &mut Vec<Word>) {
    let mut place = 1;
    while let Some(second) = words.get(place) {
        let first = words.get(place - 1);
        let pair = first.and_then(|first| {
            let mut pairs = CONTRACTED.iter();
            pairs.find(|(a, b, _)| !first.has_pause && first.plain == *a && second.plain == *b)
        });
        if let Some((.., short)) = pair {
            let second = words.remove(place);
            if let Some(first) = words.get_mut(place - 1) {
                *first = Word {
                    plain: (*short).to_owned(),
                    is_capital: first.is_capital,
                    ..second
                };
            }
        } else {
            place += 1;
        }
    }
}

/// The number of opening words, including the name of the listener.
fn openers(words: &[Word]) -> usize {
    let mut count = 0;
    let mut named = false;
    while let Some(rest @ [first, ..]) = words.get(count..) {
        let word = first.plain.as_str();
        let by_the_way = ["by", "the", "way"];
        let is_opener =
            OPENERS.contains(&word) || first.has_pause && OPENERS_BEFORE_PAUSE.contains(&word);
        if is_opener {
            count += 1;
        } else if rest
            .iter()
            .map(|word| word.plain.as_str())
            .take(3)
            .eq(by_the_way)
        {
            count += 3;
        } else if first.has_pause
            && !named
            && rest.get(1).is_some_and(|next| next.plain != "please")
            && !CUES.contains(&word)
        {
            named = true;
            count += 1;
        } else {
            break;
        }
    }
    count
}

/// A word in lower case with straight apostrophes, without surrounding punctuation.
fn plain(word: &str) -> String {
    let word = word.to_lowercase().replace(['’', 'ʼ', '`'], "'");
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let mut spellings = SPELLINGS.iter();
    let known = spellings.find(|(written, _)| *written == word);
    known.map_or(word, |(_, plain)| plain).to_owned()
}
