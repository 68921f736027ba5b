//! Texts, times and numbers on pages.

use dormouse_contracts::{Attribution, Seq, Timestamp, Trust};
use dormouse_text::{escape_hidden, shortened};
use maud::{Markup, html};

/// Words that somebody else wrote. Their writing direction does not change the text around them, and hidden characters
/// are shown.
pub(super) fn outside(text: &str) -> Markup {
    html! { bdi { (escape_hidden(text)) } }
}

/// The same, cut to so many characters.
pub(super) fn beginning(text: &str, characters: usize) -> Markup {
    outside(&shortened(text, characters))
}

/// A text of several lines.
pub(super) fn passage(text: &str) -> Markup {
    html! { div.passage dir="auto" { (escape_hidden(text)) } }
}

/// A number and what it counts.
pub(super) fn counted(count: impl Into<u128>, one: &str, many: &str) -> String {
    match count.into() {
        1 => format!("1 {one}"),
        count => format!("{} {many}", grouped(count)),
    }
}

/// A number with its thousands apart.
pub(super) fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A moment, to the second, in UTC. The script of the pages puts it in the zone of the browser.
pub(super) fn moment(at: Timestamp) -> Markup {
    let text = at.to_string();
    let day = text.get(..10).unwrap_or(&text);
    let time = text.get(11..19).unwrap_or("");
    html! { time datetime=(text) { (day) " " (time) } }
}

/// A moment with its zone.
pub(super) fn moment_in_zone(at: Timestamp) -> Markup {
    html! { (moment(at)) " " span.zone { "UTC" } }
}

/// The time of day.
pub(super) fn clock(at: Timestamp) -> Markup {
    let text = at.to_string();
    html! { time datetime=(text) title=(text) { (text.get(11..19).unwrap_or(&text)) } }
}

/// The day, as in `2026-11-28`.
pub(super) fn day(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..10).unwrap_or(&text).to_owned()
}

/// How long something lasted.
pub(super) fn lasted(milliseconds: f64) -> String {
    match milliseconds {
        under if under < 1.0 => "under 1 ms".to_owned(),
        few if few < 1_000.0 => format!("{few:.0} ms"),
        many if many < 60_000.0 => format!("{:.1} s", many / 1_000.0),
        most => format!("{:.0} min", most / 60_000.0),
    }
}

/// A link to an event of the log.
pub(super) fn event(key: &str, seq: Seq) -> Markup {
    html! { a.event href={ "/a/" (key) "/event/" (seq) "/" } { "#" (seq) } }
}

/// How far something is believed, as a number and as a picture.
pub(super) fn trust(trust: Trust) -> Markup {
    html! { span.trust title="how far it is believed, 0 to 1" { (meter(trust.score().into(), 0.0, 1.0)) " " (trust) } }
}

/// A value between two bounds, for the eye. Its number is next to it.
pub(super) fn meter(value: f64, least: f64, most: f64) -> Markup {
    let (value, most) = (value - least, most - least);
    html! { progress.meter value=(format!("{value:.3}")) max=(most) aria-hidden="true" {} }
}

/// Who something comes from.
pub(super) fn attributed(from: &Attribution) -> Markup {
    html! {
        @match from {
            Attribution::Myself => { "itself" }
            Attribution::Entity { id, name } => { (outside(name)) " " span.quiet { "(" (outside(id.as_str())) ")" } }
            Attribution::Named(name) => { "“" (outside(name)) "”" }
            Attribution::Surroundings => { "its surroundings" }
            Attribution::Several => { "several sources" }
            Attribution::Unknown => { "nobody in particular" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        let numbers = [0_u32, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn words_of_others_are_escaped_and_hidden_characters_are_shown() {
        let hostile = "<script>alert(1)</script>\u{202e}\"'&";
        let shown = outside(hostile).into_string();
        assert!(!shown.contains("<script"), "{shown}");
        assert!(shown.contains("\\u{202e}"), "{shown}");
    }
}
