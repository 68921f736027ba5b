//! Names and ids without anything that could be taken for a part of the line they stand in.

/// The longest name or id that is shown, in characters.
const LIMIT: usize = 64;

/// A name in one line: without quotation marks, brackets, commas, characters that cannot be seen, and those that
/// look like one of these. May come out empty.
pub(super) fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| !is_mark(*c) && !is_invisible(*c));
    // Every kind of white space, line ends included, is one space.
    let kept = kept.collect::<String>();
    let words = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept: String = words
        .chars()
        .filter(|c| !c.is_control())
        .take(LIMIT)
        .collect();
    kept.trim_end().to_owned()
}

/// The marks the first line of a message is made of, and their look-alikes. An apostrophe is part of many a name.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '"' | '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>' | ',' | '\\' | '`'
            | '«' | '»' | '“'..='‟' | '‚' | '‹' | '›' | '″' | '‶' | 'ʺ' | 'ˮ' | '״'
            | '\u{2045}' | '\u{2046}' | '\u{207d}' | '\u{207e}' | '\u{208d}' | '\u{208e}'
            | '\u{2308}'..='\u{230b}' | '\u{2329}' | '\u{232a}' | '\u{2768}'..='\u{2775}'
            | '\u{27e6}'..='\u{27ef}' | '\u{2983}'..='\u{2998}' | '\u{3008}'..='\u{3011}'
            | '\u{3014}'..='\u{301f}' | '、' | '،' | '\u{fe10}' | '\u{fe11}' | '\u{fe35}'..='\u{fe48}'
            | '\u{fe50}' | '\u{fe51}' | '\u{fe59}'..='\u{fe5e}' | '＂' | '（' | '）' | '，' | '［' | '］'
            | '｛' | '｝' | '＜' | '＞' | '｟' | '｠' | '｢' | '｣' | '､'
    )
}

/// Characters that take no room, or turn the direction of writing.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}
