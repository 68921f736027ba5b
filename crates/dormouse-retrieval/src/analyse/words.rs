//! Splits text into words.

use std::ops::ControlFlow;

use super::fold::fold;

/// Longer words are cut: they are not words of a language, and no query contains them in full.
const MAX_WORD_BYTES: usize = 64;

/// The class of a character for the scanner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Part of a word.
    Letter,
    /// A letter of a script that writes no spaces between words.
    Dense,
    /// A token by itself.
    Emoji,
    /// Half of a flag emoji.
    Flag,
    /// A modifier of the character before it.
    Ignored,
    /// A sign between a word and its ending.
    Apostrophe,
    /// A separator of words.
    Gap,
}

/// Calls `each` with every word of `text` in order, in lower case without accents, until `each` breaks.
pub(crate) fn each_word(
    text: &str,
    mut each: impl FnMut(&str) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut scanner = Scanner::default();
    for character in text.chars() {
        scanner.take(character, &mut each)?;
    }
    scanner.flush(&mut each)
}

#[derive(Default)]
struct Scanner {
    word: String,
    /// The last character of a run without spaces, and whether a pair with it was emitted.
    dense: Option<(char, Emitted)>,
    flag: Option<char>,
    /// The part of a word after an apostrophe, if there is one; `word` is then the part before it.
    ending: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Emitted {
    No,
    Yes,
}

impl Scanner {
    fn take(
        &mut self,
        character: char,
        each: &mut impl FnMut(&str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match class(character) {
            Class::Letter => {
                self.flush_dense(each)?;
                let word = self.ending.as_mut().unwrap_or(&mut self.word);
                if word.len() < MAX_WORD_BYTES {
                    fold(character, word);
                }
                ControlFlow::Continue(())
            }
            Class::Dense => {
                self.flush_word(each)?;
                self.pair(character, each)
            }
            Class::Emoji => {
                self.flush(each)?;
                each(character.encode_utf8(&mut [0; 4]))
            }
            Class::Flag => {
                self.flush_word(each)?;
                self.flush_dense(each)?;
                let Some(first) = self.flag.take() else {
                    self.flag = Some(character);
                    return ControlFlow::Continue(());
                };
                each(&String::from_iter([first, character]))
            }
            Class::Ignored => ControlFlow::Continue(()),
            Class::Apostrophe if !self.word.is_empty() && self.ending.is_none() => {
                self.ending = Some(String::new());
                ControlFlow::Continue(())
            }
            Class::Apostrophe | Class::Gap => self.flush(each),
        }
    }

    fn pair(
        &mut self,
        character: char,
        each: &mut impl FnMut(&str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((before, _)) = self.dense.replace((character, Emitted::No)) else {
            return ControlFlow::Continue(());
        };
        self.dense = Some((character, Emitted::Yes));
        let mut pair = [0; 8];
        let first = before.encode_utf8(&mut pair).len();
        let mut text = String::with_capacity(first + character.len_utf8());
        text.push(before);
        text.push(character);
        each(&text)
    }

    fn flush(&mut self, each: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        self.flag = None;
        self.flush_word(each)?;
        self.flush_dense(each)
    }

    fn flush_dense(&mut self, each: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        match self.dense.take() {
            Some((single, Emitted::No)) => each(single.encode_utf8(&mut [0; 4])),
            Some((_, Emitted::Yes)) | None => ControlFlow::Continue(()),
        }
    }

    fn flush_word(&mut self, each: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let ending = self.ending.take();
        if self.word.is_empty() {
            return ControlFlow::Continue(());
        }
        if let Some(ending) = ending {
            contract(&mut self.word, &ending);
        }
        let flow = each(&self.word);
        self.word.clear();
        flow
    }
}

/// Removes a contracted "not" from a word: "didn't" becomes "did". Other endings ("Alice's", "we'll") are dropped.
fn contract(word: &mut String, ending: &str) {
    if ending != "t" || word.len() < 3 || !word.ends_with('n') {
        return;
    }
    match word.as_str() {
        "can" => {}
        "won" => "will".clone_into(word),
        "shan" => "shall".clone_into(word),
        _ => {
            word.pop();
        }
    }
}

fn class(character: char) -> Class {
    if character.is_ascii_alphanumeric() {
        return Class::Letter;
    }
    match character {
        '\'' | '\u{2018}' | '\u{2019}' | '\u{2bc}' => Class::Apostrophe,
        c if c.is_ascii() => Class::Gap,
        // Combining accents; soft hyphen, joiners and marks of direction; variation selectors; skin tones.
        '\u{300}'..='\u{36f}'
        | '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0000}'..='\u{e007f}' => Class::Ignored,
        '\u{1f1e6}'..='\u{1f1ff}' => Class::Flag,
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}' => {
            Class::Emoji
        }
        // Thai to Burmese, Khmer; Hangul; Kana and Han.
        '\u{e01}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30fa}'
        | '\u{30fc}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => Class::Dense,
        // The virama and dots of Indic scripts, and the vowel points of Hebrew and Arabic, occur inside words.
        '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}'
        | '\u{acd}' | '\u{b3c}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{ccd}' | '\u{d4d}'
        | '\u{dca}' => Class::Letter,
        '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' => Class::Ignored,
        c if c.is_alphanumeric() => Class::Letter,
        _ => Class::Gap,
    }
}
