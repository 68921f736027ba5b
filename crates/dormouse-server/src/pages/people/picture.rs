//! People around a resident, as a picture. The distance shows how well somebody is known, the colour who is liked, and
//! the line who is trusted.

use std::f64::consts::TAU;

use dormouse_text::{escape_hidden, shortened};
use maud::{Markup, html};

use crate::pages::words::counted;

/// How many people the picture has. With more, names would cover each other.
const MOST: usize = 16;

/// The size of the picture.
const SIZE: (f64, f64) = (640.0, 420.0);

/// The distance from the middle of somebody who is not known at all, across and down.
const FAR: (f64, f64) = (240.0, 165.0);

/// The distance of somebody who could not be known better, as a share of `FAR`.
const CLOSEST: f64 = 0.38;

/// From which value on somebody counts as liked, and below its negative as disliked.
const NOTICED: f64 = 0.1;

/// How many characters of a name are written.
const NAME: usize = 18;

/// The relationship of the resident with somebody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Person<'a> {
    pub(super) name: &'a str,
    /// -1 to 1.
    pub(super) likes: f64,
    /// 0 to 1.
    pub(super) trusts: f64,
    /// 0 to 1.
    pub(super) knows: f64,
    /// How many turns of conversation there were.
    pub(super) turns: u64,
}

impl Person<'_> {
    fn feeling(&self) -> &'static str {
        match self.likes {
            likes if likes >= NOTICED => "liked",
            likes if likes <= -NOTICED => "disliked",
            _ => "neutral",
        }
    }

    /// How large its circle is: it grows with the logarithm of the turns.
    fn radius(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a size for the eye")]
        let turns = self.turns as f64;
        (8.0 + 2.5 * turns.ln_1p()).min(26.0)
    }

    /// The position of the circle, if it is number `place` of `count` circles around the middle.
    fn position(&self, place: usize, count: usize) -> (f64, f64) {
        #[expect(clippy::cast_precision_loss, reason = "both are at most MOST")]
        let angle = TAU * (place as f64 / count.max(1) as f64 - 0.25);
        let distance = 1.0 - self.knows.clamp(0.0, 1.0) * (1.0 - CLOSEST);
        let (middle, far) = (middle(), FAR);
        (
            middle.0 + far.0 * distance * angle.cos(),
            middle.1 + far.1 * distance * angle.sin(),
        )
    }
}

fn middle() -> (f64, f64) {
    (SIZE.0 / 2.0, SIZE.1 / 2.0)
}

/// Draws the first of these people around the one who knows them. Each leads to its card, `#whoN`.
pub(super) fn draw(own_name: &str, people: &[Person<'_>]) -> Markup {
    let shown = people.get(..MOST).unwrap_or(people);
    let placed: Vec<_> = shown
        .iter()
        .enumerate()
        .map(|(place, it)| (it, it.position(place, shown.len())))
        .collect();
    let (x, y) = middle();
    html! {
        @if !placed.is_empty() {
            figure.around {
                svg viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } role="img" aria-label="How it stands with people; the cards below have the numbers" {
                    @for (it, at) in &placed {
                        line data-feeling=(it.feeling()) x1=(tenth(x)) y1=(tenth(y)) x2=(tenth(at.0)) y2=(tenth(at.1))
                            stroke-width=(tenth(0.5 + 4.5 * it.trusts.clamp(0.0, 1.0))) {}
                    }
                    circle.own cx=(tenth(x)) cy=(tenth(y)) r="28" {}
                    text.own x=(tenth(x)) y=(tenth(y + 46.0)) { (name(own_name)) }
                    @for (place, (it, at)) in placed.iter().enumerate() {
                        a href={ "#who" (place) } tabindex="-1" {
                            title { (escape_hidden(it.name)) ": " (it.feeling()) ", trust " (format!("{:.2}", it.trusts)) ", " (counted(it.turns, "turn", "turns")) }
                            circle data-feeling=(it.feeling()) cx=(tenth(at.0)) cy=(tenth(at.1)) r=(tenth(it.radius())) {}
                            text x=(tenth(at.0)) y=(tenth(at.1 + it.radius() + 15.0)) { (name(it.name)) }
                        }
                    }
                }
                figcaption.key {
                    span data-feeling="liked" { "liked" }
                    span data-feeling="neutral" { "neither" }
                    span data-feeling="disliked" { "disliked" }
                    span.quiet { "Close: known well. A thick line: trusted. A large circle: many turns of conversation." }
                    @if people.len() > MOST { span.quiet { "Only the first " (MOST) " are drawn." } }
                }
            }
        }
    }
}

fn name(name: &str) -> String {
    escape_hidden(&shortened(name, NAME)).into_owned()
}

fn tenth(number: f64) -> String {
    format!("{number:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRANGER: Person<'_> = Person {
        name: "Ann",
        likes: 0.0,
        trusts: 0.5,
        knows: 0.0,
        turns: 0,
    };

    fn distance(person: &Person<'_>, place: usize, count: usize) -> f64 {
        let (at, middle) = (person.position(place, count), middle());
        ((at.0 - middle.0) / FAR.0).hypot((at.1 - middle.1) / FAR.1)
    }

    #[test]
    fn who_is_known_better_is_closer_and_everybody_is_inside_the_picture() {
        let knows = [0.0, 0.25, 0.5, 1.0].map(|knows| Person { knows, ..STRANGER });
        for place in 0..MOST {
            let distances = knows.map(|person| distance(&person, place, MOST));
            assert!(
                distances.is_sorted_by(|far, close| far > close),
                "{distances:?}"
            );
            for person in &knows {
                let (x, y) = person.position(place, MOST);
                assert!((40.0..=SIZE.0 - 40.0).contains(&x) && (30.0..=SIZE.1 - 40.0).contains(&y));
            }
        }
    }

    #[test]
    fn a_picture_has_a_circle_for_each_and_escapes_names() {
        let hostile = Person {
            name: "<script>\u{202e}",
            likes: -0.5,
            ..STRANGER
        };
        let liked = Person {
            likes: 0.5,
            ..STRANGER
        };
        let drawn = draw("Hare", &[STRANGER, hostile, liked]).into_string();
        assert_eq!(drawn.matches("<circle").count(), 4, "{drawn}");
        for feeling in ["liked", "neutral", "disliked"] {
            assert!(
                drawn.contains(&format!("<circle data-feeling=\"{feeling}\"")),
                "{drawn}"
            );
        }
        assert!(!drawn.contains("<script"), "{drawn}");
        assert!(drawn.contains("\\u{202e}"), "{drawn}");
        assert_eq!(draw("Hare", &[]).into_string(), "");
    }
}
