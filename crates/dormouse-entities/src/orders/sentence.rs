//! Splits a text into sentences of plain words for matching.

/// Words that may precede the actual sentence.
const OPENERS: [&str; 23] = [
    "please", "ok", "okay", "and", "but", "so", "also", "hey", "hi", "hello", "well", "just", "oh",
    "yes", "no", "right", "kindly", "listen", "look", "remember", "btw", "actually", "then",
];

/// Words that are not names, even before a comma.
const CUES: [&str; 4] = ["always", "never", "don't", "stop"];

/// A sentence without its opening words.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    /// The original text, without the final mark.
    pub(super) text: &'a str,
    /// Its words in lower case, without openers and punctuation.
    pub(super) words: Vec<String>,
    /// The number of words before the first comma; all words without a comma.
    pub(super) before_comma: usize,
    /// Whether it contains "please".
    pub(super) is_polite: bool,
}

/// The statements of a text, without questions and quotations.
pub(super) fn statements(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    text.lines()
        .flat_map(split)
        .filter_map(|(text, end)| (end != Some('?')).then_some(text))
        .filter(|text| !text.starts_with(['"', '“', '\'', '‘', '>', '«', '„', '*']))
        .filter_map(read)
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

/// The end of the first sentence and its mark, which white space or the end follows. `?!` counts as a question.
fn first_end(text: &str) -> Option<(usize, char)> {
    text.char_indices().find_map(|(at, c)| {
        let rest = text.get(at..)?;
        let after = rest.trim_start_matches(['.', '!', '?', ';', '…']);
        let is_end = matches!(c, '.' | '!' | '?' | ';' | '…')
            && after.chars().next().is_none_or(char::is_whitespace);
        let marks = rest.get(..rest.len() - after.len())?;
        is_end.then_some((at, if marks.contains('?') { '?' } else { c }))
    })
}

fn read(text: &str) -> Option<Sentence<'_>> {
    let mut words: Vec<(String, bool)> = text
        .split_whitespace()
        .map(|word| (plain(word), word.ends_with([',', ':', '–', '—'])))
        .filter(|(word, _)| !word.is_empty())
        .collect();
    let is_polite = words.iter().any(|(word, _)| word == "please");
    words.drain(..openers(&words));
    let before_comma = words
        .iter()
        .position(|(_, comma)| *comma)
        .map_or(words.len(), |place| place + 1);
    let words: Vec<_> = words.into_iter().map(|(word, _)| word).collect();
    (!words.is_empty()).then_some(Sentence {
        text,
        words,
        before_comma,
        is_polite,
    })
}

/// The number of opening words, including the name of the listener.
fn openers(words: &[(String, bool)]) -> usize {
    let mut count = 0;
    let mut named = false;
    while let Some(rest @ [(word, comma), ..]) = words.get(count..) {
        let by_the_way = ["by", "the", "way"];
        if OPENERS.contains(&word.as_str()) {
            count += 1;
        } else if rest
            .iter()
            .map(|(word, _)| word.as_str())
            .take(3)
            .eq(by_the_way)
        {
            count += 3;
        } else if *comma && !named && words.len() > count + 1 && !CUES.contains(&word.as_str()) {
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
    match word {
        "dont" => "don't".to_owned(),
        "cant" => "can't".to_owned(),
        word => word.to_owned(),
    }
}
