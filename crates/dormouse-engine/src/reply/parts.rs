//! Dividing a long text into several acts.

/// Appended to words whose rest is unknown or was not heard.
pub(crate) const CUT_OFF: &str = " …";
/// Appended to an answer that is longer than the assistant may say.
const LEFT_OUT: &str = " … (There is more, but it is too long to say.)";
/// A text is not divided after a sentence that ends before this percentage of a part: the part would be too short.
const SHORTEST: usize = 25;

/// Divides a text into at most `most` parts of at most `longest` characters each: at the ends of sentences if possible,
/// otherwise between words, otherwise between characters. No part is blank.
///
/// A text that needs more parts is cut at the end of the last one, and a note says so.
pub(crate) fn parts(text: &str, longest: usize, most: usize) -> Vec<String> {
    let (longest, most) = (longest.max(1), most.max(1));
    let mut rest = text.trim();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let is_last = parts.len() + 1 == most;
        if is_last && place(rest, longest).is_some() {
            parts.push(cut(rest, longest));
            break;
        }
        let (part, behind) = divided(rest, longest);
        parts.push(part.trim_end().to_owned());
        rest = behind.trim_start();
    }
    parts
}

/// The beginning of a text, followed by a mark that something is left out, if there is room.
fn cut(text: &str, longest: usize) -> String {
    let marks = [LEFT_OUT, CUT_OFF];
    // A mark is used only if it leaves most of the part to the words.
    let mark = marks
        .into_iter()
        .find(|mark| mark.chars().count() * 4 <= longest);
    let mark = mark.unwrap_or_default();
    let (part, _) = divided(text, longest - mark.chars().count());
    part.trim_end().to_owned() + mark
}

/// Divides a text after at most `longest` characters.
fn divided(text: &str, longest: usize) -> (&str, &str) {
    let Some(end) = place(text, longest) else {
        return (text, "");
    };
    let shortest = place(text, longest * SHORTEST / 100).unwrap_or(0);
    let mut ends = Ends::default();
    for (at, c) in text.char_indices().take_while(|(at, _)| *at <= end) {
        ends.take(at, c);
    }
    let [sentence, word] = [ends.sentence, ends.word].map(|at| at.filter(|at| *at > shortest));
    text.split_at(sentence.or(word).unwrap_or(end))
}

/// The byte position of character number `count`, if there is one.
fn place(text: &str, count: usize) -> Option<usize> {
    text.char_indices().nth(count).map(|(at, _)| at)
}

/// The last positions so far at which a sentence and a word ended.
#[derive(Default)]
struct Ends {
    sentence: Option<usize>,
    word: Option<usize>,
    /// Whether the sentence is over if white space follows.
    is_over: bool,
    /// Whether the sentence is over no matter what follows.
    is_closed: bool,
}

impl Ends {
    fn take(&mut self, at: usize, c: char) {
        if self.is_closed {
            self.sentence = Some(at);
        }
        // These characters end a sentence without white space after them.
        self.is_closed = matches!(c, '。' | '！' | '？');
        if c.is_whitespace() {
            self.word = Some(at);
            if self.is_over || c == '\n' {
                self.sentence = Some(at);
            }
            self.is_over = false;
        } else if !matches!(c, '"' | '\'' | '”' | '’' | '»' | ')' | ']') {
            self.is_over = matches!(c, '.' | '!' | '?' | '…' | ':' | ';');
        }
    }
}

#[cfg(test)]
mod tests;
