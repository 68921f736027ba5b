//! Names without anything that could be mistaken for a part of their line.

use dormouse_text::{beginning, one_line};

/// The longest name that is shown, in characters.
const LIMIT: usize = 64;

/// A name on one line: without quotation marks, brackets, commas, invisible characters, and characters that look like
/// one of these. The result may be empty.
pub(super) fn plain(name: &str) -> String {
    let kept: String = name.chars().filter(|c| !is_mark(*c)).collect();
    beginning(&one_line(&kept), LIMIT).trim_end().to_owned()
}

/// The marks in the first line of a message, and characters that look like them. Many names contain an apostrophe, so
/// it is allowed.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '"' | '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>' | ',' | ';' | '\\' | '`'
            | '«' | '»' | '“'..='‟' | '‚' | '‹' | '›' | '″' | '‶' | 'ʺ' | 'ˮ' | '״'
            | '\u{2045}' | '\u{2046}' | '\u{207d}' | '\u{207e}' | '\u{208d}' | '\u{208e}'
            | '\u{2308}'..='\u{230b}' | '\u{2329}' | '\u{232a}' | '\u{2768}'..='\u{2775}'
            | '\u{27e6}'..='\u{27ef}' | '\u{2983}'..='\u{2998}' | '\u{3008}'..='\u{3011}'
            | '\u{3014}'..='\u{301f}' | '、' | '،' | '\u{fe10}' | '\u{fe11}' | '\u{fe35}'..='\u{fe48}'
            | '\u{fe50}' | '\u{fe51}' | '\u{fe59}'..='\u{fe5e}' | '＂' | '（' | '）' | '，' | '［' | '］'
            | '｛' | '｝' | '＜' | '＞' | '｟' | '｠' | '｢' | '｣' | '､'
    )
}
