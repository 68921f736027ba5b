//! Characters that are invisible or that change how other characters are displayed.

/// Whether a character is invisible, or affects the display of other characters.
///
/// These are the control characters (C0, DEL, C1), the line and paragraph separators, every
/// [default-ignorable](is_default_ignorable) code point (joiners, variation selectors, bidirectional controls, tags,
/// fillers), blank characters that Unicode does not count as white space, and noncharacters. White space other than
/// tabs and line ends is not hidden.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    // Most characters of most texts, which are searched whole.
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    character.is_control()
        || is_default_ignorable(character)
        || is_noncharacter(character)
        || matches!(character,
            '\u{2028}' | '\u{2029}'
            // The blank braille pattern, the null notehead, and the annotation and hieroglyph controls are invisible,
            // too.
            | '\u{2800}' | '\u{fff9}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1d159}')
}

/// Whether a character has the Unicode property `Default_Ignorable_Code_Point`. A program that does not support such a
/// character displays nothing for it.
#[must_use]
pub fn is_default_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_noncharacter(character: char) -> bool {
    let code = u32::from(character);
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// Whether a text shows nothing: it is empty, or consists of white space and [hidden](is_hidden) characters.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_hidden(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_ignorable_characters_are_those_of_unicodes_own_data() {
        for character in '\0'..=char::MAX {
            // By UTS 39, a skeleton leaves out exactly the default-ignorable characters.
            let text = character.to_string();
            let is_left_out = unicode_security::skeleton(&text).next().is_none();
            assert_eq!(
                is_default_ignorable(character),
                is_left_out,
                "{character:?}"
            );
        }
    }

    #[test]
    fn invisible_characters_are_hidden_and_written_ones_are_not() {
        let named = "\u{0}\u{1b}\u{7f}\u{9b}\u{ad}\u{200b}\u{200c}\u{200d}\u{202e}\u{2066}\u{feff}\u{3164}\u{115f}\
            \u{1160}\u{fe0f}\u{34f}\u{17b4}\u{2800}\u{ffa0}\u{180e}\u{e0041}\u{e0100}\u{2028}\u{fffe}\u{10ffff}";
        assert!(named.chars().all(is_hidden));
        let seen = "aé日本ש한🫖👩 \u{a0}\u{3000}\u{301}\u{94d}-'’·";
        assert_eq!(seen.chars().find(|c| is_hidden(*c)), None);
    }

    #[test]
    fn a_text_without_visible_characters_is_blank() {
        for text in [
            "",
            " \n\t",
            "\u{200b}",
            "\u{3164}\u{2800} \u{fe0f}",
            "\u{a0}\u{3000}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "\u{200d}x\u{200d}", "🫖", "."] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
