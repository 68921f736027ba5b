//! How things are put into words for a model.
//!
//! A message has one line that the world vouches for, in brackets, and then what somebody wrote, each line
//! behind `> `. Nothing that is written can look like the first line.

use dormouse_contracts::{Attested, Perception, SourceKind, Trust};

/// The longest name that is shown, in characters.
const NAME_LIMIT: usize = 64;

/// A message as the model reads it. Of its words no more than `max_chars` characters are shown.
pub(crate) fn perception(perception: &Perception, trust: Trust, max_chars: usize) -> String {
    let mut text = headline(&perception.attested, trust);
    let words = perception.words.as_claimed();
    let shown: String = words.chars().take(max_chars).collect();
    for line in shown.split(is_line_break) {
        text.push_str("\n> ");
        text.extend(line.chars().map(visible));
    }
    if shown.len() < words.len() {
        text.push_str(&format!(
            "\n(the message goes on for {} more bytes, which are not shown)",
            words.len() - shown.len()
        ));
    }
    text
}

fn headline(attested: &Attested, trust: Trust) -> String {
    let how = match &attested.source {
        SourceKind::Whisper => "whisper".to_owned(),
        SourceKind::Page => "page".to_owned(),
        SourceKind::Addressed => "words".to_owned(),
        SourceKind::Channel(channel) => format!("channel {}", plain(channel.as_str())),
        SourceKind::Say => "say".to_owned(),
        SourceKind::Pose => "pose".to_owned(),
        SourceKind::Emit => "emit".to_owned(),
        SourceKind::CommandOutput => "output".to_owned(),
        _ => "message".to_owned(),
    };
    let sender = &attested.sender;
    let id = sender
        .id()
        .map(|id| format!(" ({})", plain(id.as_str())))
        .unwrap_or_default();
    format!(
        "[{how} from {}{id}, trust {trust}, {}]",
        plain(sender.name()),
        attested.at
    )
}

/// A name without anything that could end the first line or look like a part of it.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control() && !"[](){}<>\u{2028}\u{2029}".contains(*c))
        .take(NAME_LIMIT)
        .collect()
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn visible(c: char) -> char {
    if c.is_control() && c != '\t' {
        '\u{fffd}'
    } else {
        c
    }
}
