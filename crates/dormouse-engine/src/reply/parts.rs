//! A long text as several acts.

/// What stands behind words that go on, though nobody knows how or nobody hears it.
pub(crate) const CUT_OFF: &str = " …";
/// What stands behind an answer that was longer than the assistant may say.
const LEFT_OUT: &str = " … (There is more, but it is too long to say.)";
/// A sentence that ends before this share of a part is no place to divide it, in percent: the part would be too short.
const SHORTEST: usize = 25;

/// Divides a text into at most `most` parts of at most `longest` characters each, at the ends of sentences where
/// there are any, else between words, else between characters. No part is blank.
///
/// A text that needs more parts is cut at the end of the last one, and says so.
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

/// The beginning of a text, with a mark behind it where there is room for one.
fn cut(text: &str, longest: usize) -> String {
    let marks = [LEFT_OUT, CUT_OFF];
    // Only a mark that leaves most of the part to the words.
    let mark = marks
        .into_iter()
        .find(|mark| mark.chars().count() * 4 <= longest);
    let mark = mark.unwrap_or_default();
    let (part, _) = divided(text, longest - mark.chars().count());
    part.trim_end().to_owned() + mark
}

/// Divides a text behind at most `longest` characters.
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

/// Where the character number `count` begins, if there is one.
fn place(text: &str, count: usize) -> Option<usize> {
    text.char_indices().nth(count).map(|(at, _)| at)
}

/// The last places so far where a sentence and a word ended.
#[derive(Default)]
struct Ends {
    sentence: Option<usize>,
    word: Option<usize>,
    /// Whether the sentence is over if white space follows.
    is_over: bool,
    /// Whether it is over whatever follows.
    is_closed: bool,
}

impl Ends {
    fn take(&mut self, at: usize, c: char) {
        if self.is_closed {
            self.sentence = Some(at);
        }
        // Of these no white space stands behind.
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
